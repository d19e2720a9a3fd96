"""How many times faster than Pinocchio on closed loops: batch inverse dynamics by `denoc`, one thread.

Pinocchio has no inverse dynamics of robots with loops; the code that its users write in Python is timed instead, see
`pinocchio_loops`. Both are called in turns on the same states (`rounds`), each as an A/A pair.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results import tables
from dynbench.benchmarks.results.verdicts import interval_verdict
from dynbench.benchmarks.timing import calibration
from dynbench.benchmarks.timing.quiet import Group, resolution
from dynbench.benchmarks.timing.ratios import Ratio
from dynbench.benchmarks.timing.rounds import Budget, Stopwatch
from dynbench.methods.peers.pinocchio_loops import PinocchioLoops
from dynbench.robots.errors import DynbenchError

ROBOTS = ("3rrr", "four-bar", "five-bar", "delta")
TARGETS = {"3rrr": 20.0}
METHOD, PEER, QUANTITY = "denoc", "pinocchio", "inverse_dynamics"
MODE = "loops"  # a separate mode: a batch against a script, not against a call of the engine
ROUTE = "its RNEA and constraint Jacobian, a dense solve in numpy"
ROWS, ENGINE_ROWS, DISTINCT = 1000, 64, 16  # few distinct states: closing their loops is slow
BUDGET = Budget(rounds=20, least=8, seconds=1.5)
AGREE = 1e-9  # largest difference relative to the largest force; beyond it nothing is timed


def loop_ratios(names: Sequence[str] = ROBOTS, seed: int = 0) -> list[Ratio]:
    """Return the ratio of each robot, or the reason why there is none."""
    return [_ratio(name, seed) for name in names]


def job(names: Sequence[str] = ROBOTS, seed: int = 0) -> list[dict[str, Any]]:
    """The same as plain data, without NaN (a job of `workers`); `from_job` is the reverse."""
    rows = [dataclasses.asdict(ratio) for ratio in loop_ratios(names, seed)]
    return [{key: value for key, value in row.items() if value == value} for row in rows]


def from_job(rows: Sequence[dict[str, Any]]) -> list[Ratio]:
    """The ratios that `job` returned."""
    return [Ratio(**{**row, "outcome": Outcome(row["outcome"])}) for row in rows]


def absent(names: Sequence[str], missing: Missing) -> list[Ratio]:
    """The rows of robots that were not timed."""
    return [_none(name, *missing) for name in names]


def screen(found: Sequence[Ratio], targets: bool = False) -> str:
    """The ratios on loops as text, "" if there are none."""
    mine = [r for r in found if r.mode == MODE]
    rows = [
        [
            f"{r.robot} {r.quantity}, batch of {r.rows}",
            *((str(r.outcome), "-") if r.reason else (f"{r.ratio:.0f}", f"{r.low:.0f} to {r.high:.0f}")),
            *((f"{r.target:.0f}" if r.target == r.target else "-", r.met or "-") if targets else ()),
        ]
        for r in mine
    ]
    heads = ["", "times faster", "95 % interval", *(("target", "met") if targets else ())]
    title = f"{METHOD} on closed loops beside a script around {PEER} ({ROUTE}; not a call of the engine)"
    return title + "\n" + tables.aligned(heads, rows, "  ") if rows else ""


def _none(name: str, outcome: Outcome, reason: str) -> Ratio:
    head = (name, QUANTITY, MODE, ROWS, METHOD, PEER)
    return Ratio(*head, peer_call=ROUTE, target=TARGETS.get(name, math.nan), reason=reason, outcome=outcome)


def _ratio(name: str, seed: int) -> Ratio:
    try:
        robot = robots.load(name)
        solver = methods.get(METHOD).prepare(robot)
        engine = PinocchioLoops(robot)
    except ImportError:
        return _none(name, Outcome.UNSUPPORTED, "pinocchio is not installed")
    except DynbenchError as error:
        return _none(name, Outcome.UNSUPPORTED, str(error))
    drawn = robot.sample(DISTINCT, seed=seed)
    q, v, a = (np.ascontiguousarray(np.resize(x, (ROWS, x.shape[1]))) for x in drawn)
    out = solver.inverse_dynamics(q, v, a)
    states = [(q[k], v[k], a[k]) for k in range(ENGINE_ROWS)]
    apart = np.abs(np.array([engine.inverse_dynamics(*x) for x in states]) - out[:ENGINE_ROWS]).max()
    if not apart <= AGREE * np.abs(out).max():
        return _none(name, Outcome.DISAGREED, f"they disagree by {apart:.1e}: not timed")

    def ours() -> None:
        solver.inverse_dynamics(q, v, a, out=out)

    def theirs() -> None:
        for x in states:
            engine.inverse_dynamics(*x)

    watch = Stopwatch(calibration.remembered())
    rounds = watch.measure([ours, ours, theirs, theirs], BUDGET)
    group = Group([rounds], watch.best, least=BUDGET.least)
    noise = resolution([group.ratio(1, 0).value, group.ratio(3, 2).value])
    scale = ROWS / ENGINE_ROWS
    quiet, shared = group.ratio(2, 0).times(scale).widened(noise), group.shared_ratio(2, 0).times(scale)
    reason = group.disturbance(0) or group.disturbance(2)
    judged = "" if reason else interval_verdict(quiet.low, quiet.high)
    head = (name, QUANTITY, MODE, ROWS, METHOD, PEER, quiet.value, quiet.low, quiet.high, shared.value, judged, ROUTE)
    outcome = Outcome.DISTURBED if reason else Outcome.NUMBER
    return Ratio(*head, TARGETS.get(name, math.nan), reason, outcome)
