"""A job is a function by name with plain arguments; its answer is a plain value, or the reason why there is none.

Jobs and answers are sent between processes and machines as JSON, and stored in the journal as lines of JSON. This
module runs nothing: `workers` runs jobs, in separate processes.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynbench.benchmarks.processes.outcomes import Missing, Outcome, WithOutcome
from dynbench.robots.text import clipped

GIB = 1 << 30
MEMORY = 4 * GIB  # default limit of a process, bytes
INTERRUPTED = Missing(Outcome.INTERRUPTED, "not run: the run was interrupted")
OUTPUT_IN_REASON = 160  # characters of what a job printed that are added to its reason


@dataclass(frozen=True)
class Limits:
    """Upper limits for each process of a run."""

    memory: int = MEMORY  # bytes; 0: no limit
    seconds: float = math.inf  # for one cell; most stages set less


NO_LIMITS = Limits()  # only those that the stages set


@dataclass(frozen=True)
class Job:
    """A function by name, its arguments (plain data), its limits, and the owner of the code that it runs."""

    function: str  # "module:function"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 120.0  # seconds
    memory: int = MEMORY  # bytes
    owner: str = ""  # the plugin or engine whose code runs; "" is dynbench itself. A process serves one owner
    alone: bool = False  # whether it is timed: no other job may run on its machine at the same time
    fresh: bool = False  # whether it needs a new process, since earlier jobs may change what is timed


@dataclass(frozen=True)
class Answer(WithOutcome):
    """The result of a job: a value, or the reason why there is none."""

    value: Any = None
    reason: str = ""
    output: str = ""  # the last lines it printed
    host: str = ""
    seconds: float = math.nan
    outcome: Outcome = Outcome.NUMBER

    @property
    def why(self) -> str:
        """The reason, with the end of what it printed: one line for a table."""
        output = " ".join(self.output.split())
        if not self.reason or not output:
            return self.reason
        shown = output if len(output) <= OUTPUT_IN_REASON else "..." + output[-OUTPUT_IN_REASON:]
        return f"{self.reason}; it printed: {shown}"

    @property
    def missing(self) -> Missing | None:
        """Why there is no value; None if there is one."""
        return Missing(self.outcome, self.why) if self.reason else None


Ask = Callable[[str, Sequence[Job]], list[Answer]]  # runs the jobs of a named stage


def here() -> str:
    """The name of this machine."""
    return platform.node() or "unknown"


def one_line(error: BaseException, longest: int = 300) -> str:
    """An exception as one line of text."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # the exception of a plugin: its __str__ is the plugin's code too
        text = "(which cannot be printed)"
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return clipped(text, longest)


def size_text(size: int) -> str:
    """Bytes in a unit that suits them: "4 GiB", "512 MiB"."""
    for scale, unit in ((GIB, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size} B"


def dumps(value: Any) -> str:
    """Write plain data as JSON that any reader takes, on one line, keys sorted; NaN and infinities as strings.

    They become "=nan", "=inf", "=-inf", and text that begins with "=" gets one more, so that `loads` restores what was
    written. Raises `TypeError` or `ValueError` for what is not plain data.
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
