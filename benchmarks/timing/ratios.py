"""How many times faster than another engine: ours over the engine's own call, on the same robot, states and clock.

A peer is measured by its own calls (modes ``engine``, ``engine-batch`` and ``engine-threads`` of `cases`), not through
our wrapper, if its method offers them. Most engines have no call for a batch: there it is a loop in Python, and with
threads the peer's time is that of our wrapper. ``peer_call`` names which of these was timed, ``expression`` the code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dynbench.benchmarks.processes.outcomes import Outcome, WithOutcome
from dynbench.benchmarks.results.verdicts import (
    COMPARED_WITH,
    HEADLINE_ROWS,
    NO_DIFFERENCE,
    OWN_CALLS,
    interval_verdict,
)
from dynbench.benchmarks.tiers import TRACED, Variant
from dynbench.benchmarks.timing import engines
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Timing, paired

NO_CELL = (Outcome.UNSUPPORTED, Outcome.LEFT_OUT)  # of a method that is never timed there, there is no ratio either

# of ours -> of the peer
AGAINST = {"call": "engine", "unchecked": "engine", "batch": "engine-batch", "threads": "engine-threads"}

# Targets of newton-euler against Pinocchio, by the widest vector instructions of the processor
HEADLINE_ROBOTS = ("panda", "chain-30", "talos")
TARGETS: dict[tuple[str, str], dict[str, float]] = {
    ("inverse_dynamics", "batch"): {"AVX2": 10.0, "AVX-512": 15.0},
    ("forward_dynamics", "batch"): {"AVX2": 8.0, "AVX-512": 12.0},
    ("mass_matrix", "batch"): {"AVX2": 8.0, "AVX-512": 8.0},
    ("inverse_dynamics", "unchecked"): {"AVX2": 1.5, "AVX-512": 1.5},
    ("inverse_dynamics", "call"): {"AVX2": 1 / 1.3, "AVX-512": 1 / 1.3},
}
# Those of its traced code, of inverse and forward dynamics by robot and mode; they were set for AVX2
TRACED_TARGETS: dict[tuple[str, str], dict[str, float]] = {
    (robot, mode): {"inverse_dynamics": inverse, "forward_dynamics": forward}
    for robot, mode, inverse, forward in (
        ("panda", "batch", 30.0, 30.0),
        ("ur5", "batch", 40.0, 40.0),
        ("chain-30", "batch", 18.0, 13.0),
        ("talos", "batch", 20.0, 17.0),
        ("panda", "call", 6.0, 7.0),
        ("talos", "call", 6.0, 6.0),
    )
}
PANDA_ONLY = ("unchecked", "call")  # the cost of one call from Python shows on a small robot


@dataclass(frozen=True)
class Ratio(WithOutcome):
    """Peer's time over the method's: above one, the method is faster."""

    robot: str
    quantity: str
    mode: str
    rows: int
    method: str
    peer: str
    ratio: float = math.nan  # on a quiet core
    low: float = math.nan  # 95 % interval
    high: float = math.nan
    shared: float = math.nan  # the median of paired ratios, on the core as it was
    verdict: str = ""
    peer_call: str = ""
    target: float = math.nan  # NaN where none was set
    reason: str = ""
    outcome: Outcome = Outcome.NUMBER
    code: str = ""  # tier of the method
    expression: str = ""  # of the peer: the code that was timed

    @property
    def met(self) -> str:
        """Whether the target is reached: "yes", "no", "no difference", or "" where there is none."""
        if self.reason or math.isnan(self.target):
            return ""
        return "yes" if self.low > self.target else "no" if self.high < self.target else NO_DIFFERENCE

    @property
    def own_call(self) -> bool:
        """Whether the peer was called as its users call it; only these ratios make headlines."""
        return self.peer_call in OWN_CALLS


def ratios(timings: Sequence[Timing], peers: Sequence[str], instructions: str) -> list[Ratio]:
    """Return the ratio of every timed cell of ours to every peer that was timed in the same rounds."""
    times = {
        (t.cell.robot, t.cell.variant, t.cell.quantity, t.cell.mode, t.cell.rows): t
        for t in timings
        if not t.cell.again
    }
    found = []
    for timing in times.values():
        cell = timing.cell
        if cell.method in peers or cell.method == "null" or cell.mode not in AGAINST or timing.outcome in NO_CELL:
            continue
        for peer in peers:
            mode = AGAINST[cell.mode]
            modes = [m for m in (mode, COMPARED_WITH.get(mode)) if m]
            tried = (times.get((cell.robot, Variant(peer), cell.quantity, m, cell.rows)) for m in modes)
            other = next((its for its in tried if its is not None), None)
            if other is not None:
                found.append(_ratio(timing, other, instructions))
    return found


def _ratio(timing: Timing, other: Timing, instructions: str) -> Ratio:
    cell, peer = timing.cell, other.cell.method
    head = (cell.robot, cell.quantity, cell.mode, cell.rows, cell.method, peer)
    target = _target(cell, instructions)
    if cell.method != "newton-euler" or peer != "pinocchio":
        target = math.nan
    absent, called = timing if timing.reason else other, peer_call(other.cell) if other.rounds else ""
    if not (timing.rounds and other.rounds):
        why, ended, line = absent.reason, absent.outcome, other.expression
        absence = Ratio(*head, peer_call=called, target=target, reason=why, outcome=ended)
        return replace(absence, code=cell.code, expression=line)
    both = paired(other, timing)
    judged = "" if absent.reason else interval_verdict(both.quiet.low, both.quiet.high)
    numbers = (both.quiet.value, both.quiet.low, both.quiet.high, both.shared)
    found = Ratio(*head, *numbers, judged, called, target, absent.reason, absent.outcome)
    return replace(found, code=cell.code, expression=other.expression)


def peer_call(cell: Cell) -> str:
    """Return which call of a peer was timed in a cell."""
    own, batch, loop = OWN_CALLS
    if not cell.mode.startswith("engine"):
        return "our wrapper"
    if cell.mode == "engine":
        return own
    return batch if engines.batched(cell.method, cell.quantity) else loop


def headline(found: Sequence[Ratio]) -> list[Ratio]:
    """The ratios that summaries show: newton-euler beside Pinocchio's own calls, one batch size; a tier at a time.

    Robots in the order of `HEADLINE_ROBOTS` if they are there, else all robots of the run.
    """
    order = list(TARGETS)
    own = [r for r in found if r.own_call and (r.method, r.peer) == ("newton-euler", "pinocchio")]
    own = [r for r in own if (r.quantity, r.mode) in order and r.rows == (HEADLINE_ROWS if r.mode == "batch" else 1)]
    names = [name for name in HEADLINE_ROBOTS if any(r.robot == name for r in own)] or unique(r.robot for r in own)
    chosen = [r for r in own if r.robot in names and (r.mode == "batch" or r.robot == names[0])]
    return sorted(chosen, key=lambda r: (r.code == TRACED, names.index(r.robot), order.index((r.quantity, r.mode))))


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _target(cell: Cell, instructions: str) -> float:
    if cell.mode == "batch" and cell.rows != HEADLINE_ROWS:
        return math.nan
    if cell.code == TRACED:
        known = instructions in ("AVX2", "AVX-512")
        return TRACED_TARGETS.get((cell.robot, cell.mode), {}).get(cell.quantity, math.nan) if known else math.nan
    if cell.robot not in HEADLINE_ROBOTS or (cell.mode in PANDA_ONLY and cell.robot != "panda"):
        return math.nan
    return TARGETS.get((cell.quantity, cell.mode), {}).get(instructions, math.nan)
