"""The kinds of campaigns; each function here is the job of one block (see `processes.jobs`).

A block is a robot or scenario, a method with its options, and some cells: their remaining coordinates, in the order of
``axes``. The function returns one dictionary for each cell, with numbers for the columns ``measured`` or with a
``reason``. What is costly and common to cells (a prepared method, a tight reference run) is made once in a block.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.results.schema import OPERATIONS
from dynbench.methods.base import Solver
from dynbench.robots.errors import DynbenchError
from dynbench.robots.robot import FloatArray

Result = dict[str, Any]
FREE = "free motion"  # the scenario of a robot


@dataclass(frozen=True)
class Kind:
    """One kind of campaign."""

    function: str
    axes: tuple[str, ...]  # coordinates of a cell in its block
    columns: tuple[str, ...]  # of the robot or scenario
    common: tuple[str, ...]  # keys of the file that every job gets
    measured: tuple[str, ...]  # columns that a result fills
    block: int  # most cells of a job: many, so that a job costs little; few, so that little is lost with it
    keys: tuple[str, ...]  # of the file, besides those all kinds have


KINDS = {
    "agreement": Kind(
        f"{__name__}:agreement",
        axes=("seed", "quantity"),
        columns=("robot",),
        common=("reference", "states"),
        measured=("error", "noise", "tolerance", "state", "status"),
        block=256,
        keys=("robots", "quantities", "reference", "states", "seeds"),
    ),
    "counts": Kind(
        f"{__name__}:counts",
        axes=("quantity",),
        columns=("robot",),
        common=(),
        measured=OPERATIONS,
        block=16,
        keys=("robots", "quantities"),
    ),
    "simulation": Kind(
        f"{__name__}:simulation",
        axes=("seed", "solver", "rtol"),
        columns=("scenario", "robot"),
        common=("reference", "horizon", "limit"),
        measured=("atol", "error", "unit", "evaluations", "seconds"),
        block=32,
        keys=("robots", "scenarios", "solver", "rtol", "reference", "horizon", "limit", "seeds"),
    ),
}


def agreement(
    robot: str, method: str, options: Mapping[str, Any], reference: str, states: int, cells: Sequence[tuple[int, str]]
) -> list[Result]:
    """Compare a method with the reference at the states of each seed, by the rules of ``dynbench check``."""
    from dynbench.benchmarks.checks.check import CheckSettings, Comparison, check

    pair: list[Solver] = []
    for name, chosen in ((reference, ()), (method, _frozen(options))):
        solver = _prepared(robot, name, chosen)
        if isinstance(solver, Missing):
            return [{"status": "unsupported", **solver._asdict()} for _ in cells]
        pair.append(solver)
    found: list[Result] = []
    for seed, group in itertools.groupby(cells, key=lambda cell: cell[0]):
        quantities = [quantity for _, quantity in group]
        rows = check([Comparison(pair[0].robot, pair)], CheckSettings(quantities, states, seed, brief=True))
        found += [_result(rows, quantity, method, reference) for quantity in quantities]
    return found


def _result(rows: Sequence[Row], quantity: str, method: str, reference: str) -> Result:
    """Return the comparison of a quantity, or why there is none: the method's own reason first."""
    about = [row for row in rows if row.quantity == quantity]
    for row in about:
        if row.other:
            state = row.worst.state if row.worst is not None else None
            number = {"error": row.value, "noise": row.noise, "tolerance": row.tolerance, "state": state}
            return {**number, "status": row.status, "outcome": row.outcome, "reason": row.reason}
    for row in rows:
        if row.measure == "sample":
            return {"status": row.status, "outcome": row.outcome, "reason": row.reason}
    for name in (method, reference):
        of = [row for row in about if row.method == name]
        for row in of:
            if row.status == "failed":
                return {"status": "failed", **Missing(Outcome.FAILED, f"raised {row.reason}")._asdict()}
        if not of:
            missing = Missing(Outcome.UNSUPPORTED, f"{name} does not compute {quantity}")
            return {"status": "unsupported", **missing._asdict()}
    raise AssertionError(f"{quantity} of {method} and {reference} has neither a number nor a reason")


def _frozen(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in options.items())


@functools.lru_cache(maxsize=4)
def _prepared(robot: str, method: str, options: tuple[tuple[str, Any], ...]) -> Solver | Missing:
    """Return a solver, or why there is none; blocks of the same robot and method follow each other."""
    from dynbench.benchmarks.checks.evaluate import prepared

    found = prepared(methods.get(method, **dict(options)), robots.load(robot))
    if not isinstance(found, Row):
        return found
    return Missing(found.outcome, f"raised {found.reason}" if found.outcome.failure else f"{method}: {found.reason}")


def counts(robot: str, method: str, options: Mapping[str, Any], cells: Sequence[tuple[str]]) -> list[Result]:
    """Count the operations of a method's source."""
    from dynbench.benchmarks.timing.counts import count

    made = methods.get(method, **dict(_frozen(options)))
    refused = made.supports(robots.load(robot))
    missing = {q: refused or f"{method} does not compute {q}" for (q,) in cells if refused or q not in made.computes}
    found = count(robot, method, [q for (q,) in cells if q not in missing], dict(options))
    found |= {q: Missing(Outcome.UNSUPPORTED, reason)._asdict() for q, reason in missing.items()}
    return [found[q] for (q,) in cells]


def simulation(
    method: str,
    options: Mapping[str, Any],
    horizon: float,
    limit: int,
    cells: Sequence[tuple[int | None, str, float]],
    reference: str = "",
    robot: str | None = None,
    scenario: str | None = None,
    sources: str = "",
) -> list[Result]:
    """Run a scenario, or the free motion of a robot from a seeded state, and compare its end with a tight run.

    Parameters
    ----------
    scenario : str
        As ``paper/name``; its own first method is then the reference, and its own horizon if ``horizon`` is 0.
    sources : str
        Digest of the scenario's sources, which is part of a cell's key.
    """
    from dynbench.benchmarks.simulation.work_precision import work_precision

    made = methods.get(method, **dict(_frozen(options)))
    found: list[Result] = []
    for seed, group in itertools.groupby(cells, key=lambda cell: cell[0]):
        runs = [(solver, rtol) for _, solver, rtol in group]
        try:
            case, target = _case(robot, scenario, reference, horizon, seed)
            reason = made.supports(case.robot)
            if "forward_dynamics" not in made.computes:
                reason = f"{method} does not compute forward_dynamics"
            missing = Missing(Outcome.UNSUPPORTED, reason) if reason is not None else None
        except (DynbenchError, RuntimeError) as error:
            missing = Missing(Outcome.FAILED, f"no reference: {error}")
        if missing is not None:
            found += [missing._asdict() for _ in runs]
            continue
        for solver, rtol in runs:
            (point,) = work_precision(case, [made], [solver], [rtol], limit, target)
            names = (*KINDS["simulation"].measured, "robot", "horizon", "outcome", "reason")
            found.append({name: getattr(point, name) for name in names} | {"reference": case.method.name})
    return found


@functools.lru_cache(maxsize=4)
def _case(
    robot: str | None, scenario: str | None, reference: str, horizon: float, seed: int | None
) -> tuple[Any, FloatArray]:
    """Return a scenario, and where a tight run of it ends."""
    from dynbench.benchmarks.papers.sweeps import scenarios
    from dynbench.benchmarks.simulation.inputs import Torques
    from dynbench.benchmarks.simulation.scenario import Scenario
    from dynbench.benchmarks.simulation.work_precision import destination

    if scenario is not None:
        paper, _, name = scenario.partition("/")
        case = next(found for found in scenarios(paper) if found.name == name)
        case = replace(case, horizon=horizon) if horizon else case
    else:
        machine = robots.load(str(robot))
        q, v, _ = machine.sample(1, seed=seed or 0, regime="slow")
        still = Torques.constant([0.0] * len(machine.actuated))
        case = Scenario(FREE, "let go at a seeded state", machine, q[0], v[0], horizon, still, methods=(reference,))
    return case, destination(case)


def listed(paper: str) -> dict[str, Any]:
    """Return the scenarios of a paper by name, and a digest of their sources: a job, since it imports the paper."""
    from dynbench.benchmarks.papers.plugins import load
    from dynbench.benchmarks.papers.sweeps import scenarios
    from dynbench.benchmarks.processes.keys import package_digest

    return {"names": [found.name for found in scenarios(paper)], "sources": package_digest(load(paper).__name__)}
