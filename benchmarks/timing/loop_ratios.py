"""How many times faster than Pinocchio on closed loops: batch inverse dynamics by `denoc`, one thread, in both tiers.

Pinocchio has no inverse dynamics of robots with loops; the code that its users write in Python is timed instead, see
`pinocchio_loops`. All are called in turns on the same states (`rounds`), each as an A/A pair.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results import tables
from dynbench.benchmarks.results.verdicts import interval_verdict
from dynbench.benchmarks.tiers import TIERS, TRACED, Variant, prepare, why_not_traced
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
MOST_NOISE = 0.15  # between two measurements of the same code; beyond it a ratio is disturbed
AGREE = 1e-9  # largest difference relative to the largest force; beyond it nothing is timed


def loop_ratios(names: Sequence[str] = ROBOTS, seed: int = 0, codes: Sequence[str] = TIERS) -> list[Ratio]:
    """Return the ratio of each robot and tier, or the reason why there is none."""
    return [ratio for name in names for ratio in _ratios(name, seed, codes)]


def job(names: Sequence[str] = ROBOTS, seed: int = 0, codes: Sequence[str] = TIERS) -> list[dict[str, Any]]:
    """The same as plain data, without NaN (a job of `workers`); `from_job` is the reverse."""
    rows = [dataclasses.asdict(ratio) for ratio in loop_ratios(names, seed, codes)]
    return [{key: value for key, value in row.items() if value == value} for row in rows]


def from_job(rows: Sequence[dict[str, Any]]) -> list[Ratio]:
    """The ratios that `job` returned."""
    return [Ratio(**{**row, "outcome": Outcome(row["outcome"])}) for row in rows]


def absent(names: Sequence[str], missing: Missing, codes: Sequence[str] = TIERS) -> list[Ratio]:
    """The rows of robots that were not timed."""
    return [_none(name, code, *missing) for name in names for code in codes]


def screen(found: Sequence[Ratio], targets: bool = False) -> str:
    """The ratios on loops as text, a table for each tier; "" if there are none."""
    mine = [r for r in found if r.mode == MODE]
    codes = dict.fromkeys(r.code for r in mine)
    return "\n\n".join(_screen([r for r in mine if r.code == code], targets) for code in codes)


def _screen(mine: Sequence[Ratio], targets: bool) -> str:
    rows = [
        [
            f"{r.robot} {r.quantity}, batch of {r.rows}",
            *((str(r.outcome), "-") if r.reason else (f"{r.ratio:.0f}", f"{r.low:.0f} to {r.high:.0f}")),
            *((f"{r.target:.0f}" if r.target == r.target else "-", r.met or "-") if targets else ()),
        ]
        for r in mine
    ]
    heads = ["", "times faster", "95 % interval", *(("target", "met") if targets else ())]
    title = f"{Variant(METHOD, mine[0].code).label} on closed loops beside a script around {PEER}"
    return f"{title} ({ROUTE}; not a call of the engine)\n" + tables.aligned(heads, rows, "  ")


def _none(name: str, code: str, outcome: Outcome, reason: str) -> Ratio:
    head = (name, QUANTITY, MODE, ROWS, METHOD, PEER)
    return Ratio(*head, peer_call=ROUTE, target=_target(name, code), reason=reason, outcome=outcome, code=code)


def _target(name: str, code: str) -> float:
    return math.nan if code == TRACED else TARGETS.get(name, math.nan)


def _ratios(name: str, seed: int, codes: Sequence[str]) -> list[Ratio]:
    """The ratios of a robot: all tiers in the same rounds, those that agree."""
    try:
        robot = robots.load(name)
        solvers = {code: prepare(methods.get(METHOD), robot, code) for code in codes}
        engine = PinocchioLoops(robot)
    except ImportError:
        return absent([name], Missing(Outcome.UNSUPPORTED, "pinocchio is not installed"), codes)
    except DynbenchError as error:
        return absent([name], Missing(Outcome.UNSUPPORTED, str(error)), codes)
    drawn = robot.sample(DISTINCT, seed=seed)
    q, v, a = (np.ascontiguousarray(np.resize(x, (ROWS, x.shape[1]))) for x in drawn)
    states = [(q[k], v[k], a[k]) for k in range(ENGINE_ROWS)]
    theirs = np.array([engine.inverse_dynamics(*x) for x in states])
    found: dict[str, Ratio] = {}
    calls: dict[str, Callable[[], Any]] = {}
    for code, solver in solvers.items():
        if code == TRACED and (untraced := why_not_traced(solver, QUANTITY)):
            found[code] = _none(name, code, Outcome.UNSUPPORTED, untraced)
            continue
        out = solver.inverse_dynamics(q, v, a)
        apart = np.abs(theirs - out[:ENGINE_ROWS]).max()
        if apart <= AGREE * np.abs(out).max():
            calls[code] = functools.partial(solver.inverse_dynamics, q, v, a, out=out)
        else:
            found[code] = _none(name, code, Outcome.DISAGREED, f"they disagree by {apart:.1e}: not timed")

    def script() -> None:
        for x in states:
            engine.inverse_dynamics(*x)

    if calls:
        found |= _measured(name, calls, script)
    return [found[code] for code in codes]


def _measured(name: str, calls: Mapping[str, Callable[[], Any]], script: Callable[[], None]) -> dict[str, Ratio]:
    """Measure the tiers and the script in turns; return the ratio of each tier."""
    watch = Stopwatch(calibration.remembered())
    rounds = watch.measure([call for one in (*calls.values(), script) for call in (one, one)], BUDGET)
    group = Group([rounds], watch.best, least=BUDGET.least)
    last = 2 * len(calls)
    noise = resolution([group.ratio(k + 1, k).value for k in range(0, last + 2, 2)])
    scale = ROWS / ENGINE_ROWS
    found = {}
    for place, code in enumerate(calls):
        quiet = group.ratio(last, 2 * place).times(scale).widened(noise)
        shared = group.shared_ratio(last, 2 * place) * scale
        reason = group.disturbance(2 * place) or group.disturbance(last)
        if not reason and noise > MOST_NOISE:
            reason = f"the same code measured twice differs by {100 * noise:.0f} %, more than {100 * MOST_NOISE:.0f} %"
        judged = "" if reason else interval_verdict(quiet.low, quiet.high)
        head = (name, QUANTITY, MODE, ROWS, METHOD, PEER)
        numbers = (quiet.value, quiet.low, quiet.high, shared)
        outcome = Outcome.DISTURBED if reason else Outcome.NUMBER
        found[code] = Ratio(*head, *numbers, judged, ROUTE, _target(name, code), reason, outcome, code)
    return found
