"""How many times faster than another engine: ours over the engine's own call, on the same robot, states and clock.

A peer is measured by its own call (modes ``engine`` and ``engine-batch`` of `cases`), not through our wrapper. With
threads there is no such mode, and the peer's time is that of its batch call through the wrapper, whose cost is spread
over rows; an engine of a plugin has only its wrapper. Most engines have no call for a batch: there it is a loop in
Python. ``peer_call`` names which of these was timed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dynbench.benchmarks.processes.outcomes import Outcome, WithOutcome
from dynbench.benchmarks.results.verdicts import COMPARED_WITH, HEADLINE_ROWS, verdict
from dynbench.benchmarks.timing import engines
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Timing

# of ours -> of the peer
AGAINST = {"call": "engine", "unchecked": "engine", "batch": "engine-batch", "threads": "threads"}

# Targets of newton-euler against Pinocchio, by the widest vector instructions of the processor
HEADLINE_ROBOTS = ("panda", "chain-30", "talos")
TARGETS: dict[tuple[str, str], dict[str, float]] = {
    ("inverse_dynamics", "batch"): {"AVX2": 10.0, "AVX-512": 15.0},
    ("forward_dynamics", "batch"): {"AVX2": 8.0, "AVX-512": 12.0},
    ("mass_matrix", "batch"): {"AVX2": 8.0, "AVX-512": 8.0},
    ("inverse_dynamics", "unchecked"): {"AVX2": 1.5, "AVX-512": 1.5},
    ("inverse_dynamics", "call"): {"AVX2": 1 / 1.3, "AVX-512": 1 / 1.3},
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
    ratio: float = math.nan
    noise: float = math.nan
    verdict: str = ""
    peer_call: str = ""
    target: float = math.nan  # NaN where none was set
    reason: str = ""
    outcome: Outcome = Outcome.NUMBER

    @property
    def met(self) -> str:
        """Whether the target is reached: "yes", "no", "within the noise", or "" where there is none."""
        if self.reason or math.isnan(self.target):
            return ""
        return {"slower": "yes", "faster": "no"}.get(verdict(self.ratio, self.target, self.noise), "within the noise")


def ratios(timings: Sequence[Timing], peers: Sequence[str], instructions: str) -> list[Ratio]:
    """Return the ratio of every timed cell of ours to every peer that was timed on the same."""
    times = {
        (t.cell.robot, t.cell.method, t.cell.quantity, t.cell.mode, t.cell.rows): t for t in timings if not t.cell.again
    }
    found = []
    for timing in times.values():
        cell = timing.cell
        if cell.method in peers or cell.method == "null" or cell.mode not in AGAINST:
            continue
        for peer in peers:
            mode = AGAINST[cell.mode]
            modes = [m for m in (mode, COMPARED_WITH.get(mode)) if m]
            tried = (times.get((cell.robot, peer, cell.quantity, m, cell.rows)) for m in modes)
            other = next((its for its in tried if its is not None), None)
            if other is None:
                continue
            head = (cell.robot, cell.quantity, cell.mode, cell.rows, cell.method, peer)
            target = _target(cell.robot, cell.quantity, cell.mode, cell.rows, instructions)
            if cell.method != "newton-euler" or peer != "pinocchio":
                target = math.nan
            absent, how = timing if timing.reason else other, "" if other.reason else peer_call(other.cell)
            if absent.reason:
                missing = Ratio(*head, peer_call=how, target=target, reason=absent.reason, outcome=absent.outcome)
                found.append(missing)
            else:
                noise = max(timing.noise, other.noise)
                judged = verdict(timing.seconds, other.seconds, noise)
                found.append(Ratio(*head, other.seconds / timing.seconds, noise, judged, how, target))
    return found


def peer_call(cell: Cell) -> str:
    """Return which call of a peer was timed in a cell."""
    if not cell.mode.startswith("engine"):
        return "our wrapper"
    if cell.mode == "engine":
        return "its own call"
    return "its own batch call" if engines.batched(cell.method, cell.quantity) else "its own call in a loop in Python"


def headline(found: Sequence[Ratio]) -> list[Ratio]:
    """The ratios of trees that have a target, robots in the order of `HEADLINE_ROBOTS`."""
    chosen = [ratio for ratio in found if not math.isnan(ratio.target) and ratio.robot in HEADLINE_ROBOTS]
    order = list(TARGETS)
    return sorted(chosen, key=lambda r: (HEADLINE_ROBOTS.index(r.robot), order.index((r.quantity, r.mode))))


def _target(robot: str, quantity: str, mode: str, rows: int, instructions: str) -> float:
    if robot not in HEADLINE_ROBOTS or (mode in PANDA_ONLY and robot != "panda"):
        return math.nan
    if mode == "batch" and rows != HEADLINE_ROWS:
        return math.nan
    return TARGETS.get((quantity, mode), {}).get(instructions, math.nan)
