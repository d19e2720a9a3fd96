"""A job is a function by name with plain arguments; its answer is a plain value, or the reason why there is none.

Jobs and answers travel between processes and machines as JSON, and into the journal (`store`) as lines of it. Nothing
here runs anything: `workers` does, in processes of their own.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

GIB = 1 << 30
MEMORY = 4 * GIB  # bytes a process may take, unless somebody says otherwise
INTERRUPTED = "not run: the run was interrupted"
SAID_IN_A_ROW = 160  # characters of what a job printed that follow its reason

# How the reasons begin of what was begun and came to no good end; others say why a cell was never tried
DEADLY = ("timed out", "killed by", "ended by itself", "ran out of memory")  # what ends a process
FAILURES = (*DEADLY, "raised", "failed", "gave back", "not run")


@dataclass(frozen=True)
class Limits:
    """What a process of a run may take at most."""

    memory: int = MEMORY  # bytes; 0: no limit
    seconds: float = math.inf  # for one cell; many have less


NO_LIMITS = Limits()  # but those of the stages


@dataclass(frozen=True)
class Job:
    """A function by name, its arguments (plain data), what it may take, and whose code it runs."""

    function: str  # "module:function"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 120.0  # seconds
    memory: int = MEMORY  # bytes
    owner: str = ""  # the method whose code runs; "" is ours. A process serves one owner
    alone: bool = False  # whether it is timed: nothing else of ours should run on its machine meanwhile


@dataclass(frozen=True)
class Answer:
    """What came of a job; ``reason`` is "" exactly when there is a value."""

    value: Any = None
    reason: str = ""
    said: str = ""  # the last lines it printed
    host: str = ""
    seconds: float = math.nan

    @property
    def why(self) -> str:
        """The reason, with the end of what it said: one line for a table."""
        said = " ".join(self.said.split())
        if not self.reason or not said:
            return self.reason
        return f"{self.reason}; it said: {said if len(said) <= SAID_IN_A_ROW else '...' + said[-SAID_IN_A_ROW:]}"

    @property
    def deadly(self) -> bool:
        """Whether its process did not survive the job."""
        return self.reason.startswith(DEADLY)


Ask = Callable[[str, Sequence[Job]], list[Answer]]  # runs the jobs of a stage, which has a name


def here() -> str:
    """The name of this machine."""
    return platform.node() or "unknown"


def one_line(error: BaseException, longest: int = 300) -> str:
    """An exception as one line of text."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # somebody else's exception: its text is code too
        text = "(which cannot be printed)"
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= longest else text[: longest - 3] + "..."


def size_text(size: int) -> str:
    """Bytes in a unit that suits them: "4 GiB", "512 MiB"."""
    for scale, unit in ((GIB, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size} B"


def dumps(value: Any) -> str:
    """Write plain data as JSON that any reader takes, on one line, keys sorted; NaN and infinities as strings.

    They become "=nan", "=inf", "=-inf", and text that begins with "=" gets one more, so that `loads` gives back what
    was written. Raises `TypeError` or `ValueError` for what is not plain data.
    """
    return json.dumps(_encoded(value), sort_keys=True, allow_nan=False, separators=(",", ":"))


def loads(text: str) -> Any:
    """The reverse of `dumps`."""
    return _decoded(json.loads(text))


def _encoded(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return f"={float(value)!r}"
    if isinstance(value, str):
        return f"={value}" if value.startswith("=") else value
    if isinstance(value, Mapping):
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            raise TypeError(f"keys must be text to be written as JSON, got {wrong!r}")
        return {key: _encoded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(item) for item in value]
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("="):
        return value[1:] if value.startswith("==") else float(value[1:])
    if isinstance(value, dict):
        return {key: _decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return value
