"""Work and precision: a scenario over methods, integrators and tolerances, each run with its error and its cost.

Times can only be compared at the same error. The error is that of the final coordinates against a tight run of the
scenario's first method. Where that is exact and another method is not (virtual springs), it is the error of model and
integrator together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynbench import methods
from dynbench.benchmarks.processes.outcomes import Outcome, WithOutcome
from dynbench.benchmarks.simulation.scenario import Recording, Scenario
from dynbench.methods.base import Method
from dynbench.methods.registry import options_of
from dynbench.robots.robot import FloatArray

SOLVERS = ("RK45", "DOP853", "Radau", "BDF", "LSODA")
RTOLS = (1e-3, 1e-5, 1e-7)
QUICK_SOLVERS, QUICK_RTOLS = ("RK45", "LSODA"), (1e-3, 1e-6)
TIGHT = (1e-12, 1e-14)  # rtol and atol of the reference
ATOL = 1e-2  # atol over rtol
LIMIT = 100_000  # right-hand sides of a run
REPEATS, SHORT = 3, 0.2  # a run of fewer seconds is repeated, and the least time counts


@dataclass(frozen=True)
class Point(WithOutcome):
    """One run of a sweep, a row of work_precision.csv: an error and what it cost, or the reason why there is none."""

    scenario: str
    robot: str
    method: str
    options: str
    solver: str
    rtol: float
    atol: float
    horizon: float  # s
    error: float = math.nan  # largest of the final coordinates
    unit: str = "rad, m"
    evaluations: int = 0
    seconds: float = math.nan  # wall clock
    reason: str = ""
    outcome: Outcome = Outcome.NUMBER


def work_precision(
    scenario: Scenario,
    compared: Sequence[str | Method] = (),
    solvers: Sequence[str] = SOLVERS,
    rtols: Sequence[float] = RTOLS,
    limit: int = LIMIT,
    target: FloatArray | None = None,
) -> list[Point]:
    """Sweep a scenario.

    Parameters
    ----------
    compared
        Methods, by name or with options; default the scenario's.
    solvers, rtols
        Integrators and relative tolerances; the absolute one is `ATOL` times that.
    limit : int
        Largest number of right-hand sides of a run; a point beyond has the reason.
    target : ndarray, shape (nq,)
        Where the tight run ends, if that is known.
    """
    if target is None:
        target = destination(scenario)
    return [
        _point(scenario, methods.get(method) if isinstance(method, str) else method, solver, rtol, limit, target)
        for method in compared or scenario.methods
        for solver in solvers
        for rtol in rtols
    ]


def destination(scenario: Scenario) -> FloatArray:
    """Return where a tight run of the scenario's first method ends (nq,)."""
    times = _end(scenario, scenario.method)
    return np.asarray(scenario.run(rtol=TIGHT[0], atol=TIGHT[1], solver="DOP853", times=times).q[-1])


def _end(scenario: Scenario, method: Method) -> FloatArray | None:
    """Return the end as the only time to store; None where the run is machine code and stores its own steps."""
    return None if scenario.compiles(method.prepare(scenario.robot)) else np.array([scenario.horizon])


def _point(scenario: Scenario, method: Method, solver: str, rtol: float, limit: int, target: FloatArray) -> Point:
    head = (scenario.name, scenario.robot.name, method.name, options(method), solver, rtol, ATOL * rtol)

    def once() -> Recording:
        tolerances = {"rtol": rtol, "atol": ATOL * rtol}
        return scenario.run(
            method, solver=solver, **tolerances, times=_end(scenario, method), limit=limit, partial=True
        )

    try:
        found = once()
    except (ArithmeticError, ValueError) as error:  # implicit integrators refuse a NaN, robots a bad state
        return Point(*head, scenario.horizon, reason=f"{type(error).__name__}: {error}")
    reason = found.reason or ("" if np.isfinite(found.q[-1]).all() else "its last state is not finite")
    if reason:
        return Point(*head, scenario.horizon, evaluations=found.evaluations, reason=reason)
    off = float(np.abs(scenario.robot.difference(target, found.q[-1])).max())
    seconds = found.seconds.wall
    if seconds < SHORT:
        seconds = min(seconds, *(once().seconds.wall for _ in range(REPEATS - 1)))
    return Point(*head, scenario.horizon, off, evaluations=found.evaluations, seconds=seconds)


def options(method: Method) -> str:
    """Return the options of a method as text; empty ones are left out."""
    values = {name: getattr(method, name) for name in options_of(method)}
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
        if value not in ((), None)
    )
