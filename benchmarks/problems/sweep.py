"""One problem by one method over integrators and tolerances: digits, evaluations, CPU time, energy, singular positions.

Digits are -log10 of the largest error of the outputs over the times that are compared. Stages of closed loops are moved
onto the loops and accepted steps closed to rounding (`simulation.simulate`). CPU time is that of the whole run: scipy's
integrator in Python around compiled equations, without compiling. A run that ends early is a result too: how far it
came, its energy and the reason.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.benchmarks.processes.outcomes import Outcome, WithOutcome
from dynbench.benchmarks.simulation.simulate import Trajectory, simulate
from dynbench.benchmarks.simulation.work_precision import options
from dynbench.methods.base import Method, Solver
from dynbench.robots.errors import DynbenchError

ATOL = 0.1  # atol over rtol
LIMIT, QUICK_LIMIT = 1_000_000, 300_000  # right-hand sides of a run
BUDGET, QUICK_BUDGET = 120.0, 30.0  # CPU seconds of all runs of a problem by a method
WARM = 1e-6  # of the horizon: a first run, which compiles and is not timed
REPEATS, SHORT = 3, 0.2  # a run of fewer seconds is repeated, and the least time counts
QUICK_STRIDE = 2  # a quick sweep takes every other tolerance, the tightest among them
TOO_MANY = "more than"  # how the reason of a run begins that reached its limit of right-hand sides
SMALLEST = 1e-17  # error of an exact answer, so that it has a number of digits


@dataclass(frozen=True)
class Run(WithOutcome):
    """One run, a row of problems.csv."""

    problem: str
    robot: str
    method: str
    options: str = ""
    solver: str = ""
    rtol: float = math.nan
    step: float = math.nan  # s, of integrators with a fixed one
    horizon: float = math.nan  # s
    reached: float = math.nan  # s
    error: float = math.nan
    digits: float = math.nan
    evaluations: int | None = None
    cpu: float = math.nan  # s
    energy_error: float = math.nan  # J
    singular: int | None = None
    reason: str = ""
    outcome: Outcome = Outcome.NUMBER


def runs(problem: Problem, method: Method, quick: bool = False) -> list[Run]:
    """Run a problem by a method with all its integrators and tolerances."""
    head = (problem.name, problem.robot.name, method.name)
    refused = why_not(problem, method)
    if refused:
        return [Run(*head, reason=refused, outcome=Outcome.UNSUPPORTED)]
    return list(_swept(problem, method, quick))


def why_not(problem: Problem, method: Method) -> str:
    """Return why a method does not apply to a problem; "" if it does."""
    if method.floor:
        return "it computes nothing"
    if "forward_dynamics" not in method.computes:
        return f"{method.name} does not compute forward_dynamics"
    return method.supports(problem.robot) or ""


def _swept(problem: Problem, method: Method, quick: bool) -> Iterator[Run]:
    solver = method.prepare(problem.robot)
    limit, budget = (QUICK_LIMIT, QUICK_BUDGET) if quick else (LIMIT, BUDGET)
    used = 0.0
    rtols = problem.rtols[:: -QUICK_STRIDE][::-1] if quick else problem.rtols
    for name in problem.solvers:
        per_evaluation = 0.0
        for rtol in rtols:
            head = (problem.name, problem.robot.name, method.name, options(method), name, rtol)
            left = budget - used
            most = limit if per_evaluation == 0.0 else min(limit, int(left / per_evaluation))
            if left <= 0.0 or most < 1:
                reason = f"left out: the runs before took {used:.0f} s, expected at most {budget:.0f} s"
                yield Run(*head, horizon=problem.horizon, reason=reason, outcome=Outcome.LEFT_OUT)
                continue
            found, spent = timed(problem, solver, name, rtol, most)
            used += spent
            if found.evaluations:
                per_evaluation = spent / found.evaluations
            yield found


def timed(problem: Problem, solver: Solver, name: str, rtol: float, limit: int) -> tuple[Run, float]:
    """Return a run and the CPU time that was spent on it."""
    begin = time.process_time()
    head = (problem.name, problem.robot.name, solver.method.name, options(solver.method), name, rtol)

    def once(part: float = 1.0) -> tuple[Trajectory, float]:
        horizon = part * problem.horizon
        times = problem.times if part == 1.0 else np.array([horizon])
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers that overflow in a step that is then rejected
            found = simulate(
                solver, problem.q0, problem.v0, problem.force, horizon, times=times, integrator=name, rtol=rtol,
                atol=ATOL * rtol, limit=limit, partial=True,
            )  # fmt: skip
        return found, time.process_time() - start

    try:
        once(WARM)
        begin = time.process_time()
        found, seconds = once()
        spent = seconds
        if seconds < SHORT and not found.reason:
            for _ in range(REPEATS - 1):
                again = once()[1]
                seconds, spent = min(seconds, again), spent + again
    except (ArithmeticError, ValueError, DynbenchError) as raised:  # implicit integrators refuse NaN
        reason = f"{type(raised).__name__}: {raised}"
        return Run(*head, horizon=problem.horizon, reason=reason), time.process_time() - begin
    reason = found.reason or ("" if np.isfinite(found.q).all() else "a state is not finite")
    ended = Outcome.NUMBER if not reason else Outcome.LEFT_OUT if reason.startswith(TOO_MANY) else Outcome.FAILED
    error = math.nan if reason else judged(problem, found)
    kept = np.isin(found.t, problem.times) if problem.energy is not None else np.isfinite(found.q).all(axis=1)
    energy = problem.energy_error(found.q[kept], found.v[kept], found.t[kept]) if kept.any() else math.nan
    run = Run(
        *head, horizon=problem.horizon, reached=float(found.t[-1]), error=error, digits=digits(error),
        evaluations=found.evaluations, cpu=seconds, energy_error=energy, singular=len(found.singular), reason=reason,
        outcome=ended,
    )  # fmt: skip
    return run, spent


def judged(problem: Problem, found: Trajectory) -> float:
    """Return the largest error over the times that are compared."""
    return max(problem.error(float(t), q, v) for t, q, v in zip(found.t, found.q, found.v, strict=True))


def digits(error: float) -> float:
    """Return how many digits an error leaves."""
    return -math.log10(max(error, SMALLEST)) if math.isfinite(error) else math.nan
