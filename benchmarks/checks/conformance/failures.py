"""What an exception out of somebody's method means: the sentence, where in their file, and the likely cause."""

from __future__ import annotations

import inspect
import re
import traceback
from pathlib import Path

from dynbench.methods.base import Method
from dynbench.robots.errors import DynbenchError

# What the message says -> what is likely
CAUSES = {
    r"of shape \((\d+), 1\).*says \(\1,\)": "wrong shape: a column was returned, not a vector; tau.ravel() is one",
    r"of shape .* the contract says": "wrong shape: one number per coordinate in v is wanted, in that order",
    r"positional arguments? but \d+ (was|were) given": (
        "the functions given to function_solver take (q, v, a, wrench); wrench is None or has shape (n, 6)"
    ),
    r"takes? .*wrench|unexpected keyword argument 'wrench'": "the functions take wrench by position, as the last one",
    r"must say the workspace": "a TreeMethod names its workspace for every kernel: work = {'inverse_dynamics': WORK}",
    r"[Uu]nbound|[Uu]ndefined|[Uu]ntyped global name": "a name is not defined in the module, or is not marked @generic",
    r"Cannot unify": "a variable has two types in two branches; splat(tag, 0.0), zero3(tag) are zeros of its type",
    r"assignment destination is read-only|read-only": "mutated input: a function writes to q, v, a, or to the robot",
    r"could not broadcast|shapes? .* not aligned|mismatch in its core dimension": (
        "wrong shape: q has robot.nq numbers, v, a and tau have robot.nv; they differ for spherical and free joints"
    ),
    r"index \d+ is out of bounds": (
        "wrong index: a joint's numbers start at robot.iq[i] in q and at robot.iv[i] in v, not at i"
    ),
    r"got an unexpected keyword argument": "options are fields of a frozen dataclass",
}


def explain(error: BaseException, method: Method) -> tuple[str, str]:
    """Return what was raised, with the line of the method's file where it was, and the likely cause or ""."""
    said = " ".join(str(error).split())
    if type(error).__module__.startswith("numba"):
        said = _of_numba(str(error))
    sentence = said if isinstance(error, DynbenchError) else f"{type(error).__name__}: {said}"
    cause = next((words for pattern, words in CAUSES.items() if re.search(pattern, said)), "")
    if not cause and type(error).__module__.startswith("numba"):
        cause = "it does not compile; NUMBA_DISABLE_JIT=1 runs it as plain Python, where the message is clearer"
    return f"{sentence[:400]}{_where(error, method)}", cause


def _of_numba(text: str) -> str:
    """The line of a numba error that says something, and where."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith(("Failed in", "During", "-"))), text)
    place = next((line for line in lines if line.startswith("File ")), "")
    return f"{first} ({place})" if place else first


def _where(error: BaseException, method: Method) -> str:
    """The last line of the method's own package that was running."""
    try:
        home = Path(inspect.getfile(type(method)))
    except (TypeError, OSError):
        return ""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent == home.parent]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}: {frames[-1].line})" if frames else ""
