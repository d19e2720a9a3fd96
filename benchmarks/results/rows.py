"""What a run finds, as frozen rows: one measurement each, a number or the reason why there is none.

All measurements have the same columns, so that they concatenate, filter and write to one table. A row knows nothing of
robots and methods but their names: reports are made from rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import files

# agrees, differs: within, or beyond, its tolerance. reported: a number without a tolerance. unsupported: there is no
# number, for the reason given. failed: there is none because something raised.
Status = Literal["agrees", "differs", "reported", "unsupported", "failed"]
AS_ARMATURE = "armatures for rotors"  # measure: how much forces change if armatures take the place of rotors; reported
OUTCOMES = {"differs": Outcome.DISAGREED, "unsupported": Outcome.UNSUPPORTED, "failed": Outcome.FAILED}

# Invariants of derivatives, see `checks.derivatives`
DUAL_NUMBERS, COMPLEX_STEPS = "derivatives by dual numbers", "derivatives by complex steps"


@dataclass(frozen=True)
class Worst:
    """The state with the largest error: enough to run it again, and both results."""

    state: int  # index into the sample
    inputs: dict[str, tuple[float, ...]]  # q, v, a (or tau), wrench
    value: tuple[float, ...]  # by the row's method, flat
    other: tuple[float, ...]  # by the other, or what the invariant wants


@dataclass(frozen=True)
class Row:
    """One measurement."""

    robot: str
    method: str
    quantity: str
    measure: str  # what was measured: "error", "noise floor", the name of an invariant, ...
    value: float | None
    unit: str
    status: Status
    reason: str = ""  # why there is no value, or where the tolerance comes from
    other: str = ""  # the method it was compared with
    tolerance: float | None = None
    noise: float | None = None  # the smaller noise floor of the two
    states: int | None = None
    seed: int | None = None
    worst: Worst | None = None
    code: str = ""  # tier of machine code; "" for engines and plain Python
    other_code: str = ""
    ended: Outcome | None = None  # how its job ended, where that is more than the status tells

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError(f"{self.robot}, {self.method}, {self.quantity}, {self.measure}: neither value nor reason")

    @property
    def outcome(self) -> Outcome:
        """How it ended: follows from the status unless ``ended`` says more."""
        return self.ended or OUTCOMES.get(self.status, Outcome.NUMBER)

    @property
    def ok(self) -> bool:
        """Whether a run with this row may call itself in agreement."""
        return not self.outcome.failure


def judge(value: float, tolerance: float, held: bool = True) -> Status:
    """Compare a value with its tolerance; NaN is never within."""
    if not held:
        return "reported"
    return "agrees" if value <= tolerance else "differs"


def row_from(data: Mapping[str, Any]) -> Row:
    """Return the row of what `dataclasses.asdict` made of it."""
    worst, ended = data.get("worst"), data.get("ended")
    return Row(**{**data, "worst": worst and Worst(**worst), "ended": ended and Outcome(ended)})


def write_json(path: Path, rows: Iterable[Row], **about: Any) -> None:
    """Write all rows, with their worst states, and what the run was."""
    content = {**about, "rows": [asdict(row) for row in rows]}
    files.write_json(path, plain(content), indent=1)


def plain(value: Any) -> Any:
    """The value with NaN and infinities, which JSON does not have, as strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
