"""One method at the states of one robot: the numbers that pairs are compared by, and the method's own invariants.

This is all of a check that runs a method's code. `evaluate` is a job (see `workers`), so that it runs in a process of
the method's own: what hangs or crashes at a rare state costs that method's rows. The numbers come back as plain data,
and `agreement` compares them elsewhere. The states are drawn anew in every process, from their seed; what depends on
other methods, the forces that go with the accelerations and the condition of M, comes in from outside: `reference` is
the job that finds these.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynbench import methods
from dynbench import robots as machines
from dynbench.benchmarks.checks.agreement import CASES, Case, Evaluation, condition, values_of
from dynbench.benchmarks.checks.invariants import invariants
from dynbench.benchmarks.checks.sampling import Sample, draw, moved, with_forces
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.rows import Row, row_from, row_plain
from dynbench.methods.base import Method, Solver
from dynbench.robots.robot import FloatArray, Robot

FLOOR = "it is the floor of the timing tables: it computes nothing, and is compared with nothing"
BY_LABEL = {case.label: case for case in CASES}
SLOWEST = 2.0  # seconds for the states of one case; slower methods are left out of the robots that follow


@dataclass(frozen=True)
class Evaluated:
    """What came of one method on one robot."""

    numbers: Evaluation
    rows: list[Row] = field(default_factory=list)  # of its invariants, or the one that says why there are none


def prepared(method: Method, robot: Robot, quantities: Iterable[str] | None = None) -> Solver | Row:
    """Return a solver that admits to these quantities (default: all), or the row that says why there is none.

    What is not asked for need not be compiled.
    """
    reason = FLOOR if method.floor else method.supports(robot)
    if reason is not None:
        return Row(robot.name, method.name, "", "supports", None, "", "unsupported", reason)
    try:
        solver = method.prepare(robot)
    except Exception as error:  # anybody's plugin: named, and the others go on
        return Row(robot.name, method.name, "", "prepare", None, "", "failed", f"{type(error).__name__}: {error}")
    solver.method = method  # which may have handed out the solver of another: the rows are its own
    if quantities is not None:
        wanted = set(quantities)
        solver.computes = tuple(quantity for quantity in solver.computes if quantity in wanted)
    return solver


def evaluated(sample: Sample, solver: Solver, cond: float) -> Evaluated:
    """Return the numbers of all cases and the rows of the invariants."""
    return Evaluated(values_of(sample, moved(sample), solver, CASES), invariants(sample, solver, cond))


def reference(robot: str, method: str, quantities: list[str], states: int, seed: int) -> dict[str, Any]:
    """Return what a method gives for all others to use: forces at the states, and the condition of M.

    Returns
    -------
    dict
        ``tau``: packed array (states, actuated), None if the method gives no finite ones; ``condition``: 0 if it
        gives no M.
    """
    solver = prepared(methods.get(method), machines.load(robot), quantities)
    if isinstance(solver, Row):
        return {"tau": None, "condition": 0.0}
    sample = draw(solver.robot, states, seed)
    found = with_forces(sample, [solver])
    return {"tau": None if found is sample else packed(found.tau), "condition": condition(found, [solver])}


def evaluate(
    robots: list[str],
    method: str,
    quantities: list[str],
    states: int,
    seed: int,
    tau: list[str | None],
    condition: list[float],
    brief: bool = False,
) -> list[dict[str, Any]]:
    """Evaluate a method on robots, one after the other; plain data for each, as `evaluation` reads it.

    Parameters
    ----------
    tau, condition : list
        Of `reference`, for each robot.
    brief : bool
        Neither wrenches nor invariants, and what takes too long is not tried on the robots that follow: for families.
    """
    made = methods.get(method)
    slow: dict[str, float] = {}
    found = []
    for source, forces, cond in zip(robots, tau, condition, strict=True):
        solver = prepared(made, machines.load(source), quantities)
        if isinstance(solver, Row):
            found.append(_plain(Evaluated(Evaluation(made.name, made.exact), [solver])))
            continue
        sample = with_tau(draw(solver.robot, states, seed), forces)
        one = _briefly(sample, solver, quantities, slow) if brief else evaluated(sample, solver, cond)
        found.append(_plain(one))
    return found


def _briefly(sample: Sample, solver: Solver, quantities: Sequence[str], slow: dict[str, float]) -> Evaluated:
    nearby, numbers = moved(sample), Evaluation(solver.method.name, solver.method.exact)
    rows = []
    for quantity in quantities:
        if quantity in slow:
            said = f"{len(sample)} states took {slow[quantity]:.2g} s on a smaller robot: not tried"
            rows.append(_untried(sample.robot.name, solver.method.name, quantity, said))
            continue
        start = time.perf_counter()
        one = values_of(sample, nearby, solver, [Case(quantity)])
        if time.perf_counter() - start > SLOWEST:
            slow[quantity] = time.perf_counter() - start
        numbers.values.update(one.values)
        numbers.failures.update(one.failures)
    return Evaluated(numbers, rows)


def _untried(robot: str, method: str, quantity: str, reason: str) -> Row:
    return Row(robot, method, quantity, "error", None, "relative", "unsupported", reason, ended=Outcome.LEFT_OUT)


def with_tau(sample: Sample, forces: str | None) -> Sample:
    """The sample with the forces of `reference`."""
    return sample if forces is None else replace(sample, tau=unpacked(forces, len(sample)))


def packed(array: FloatArray) -> str:
    """An array of numbers as text: its bytes, little-endian doubles, in base 64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode("ascii")


def unpacked(text: str, rows: int) -> FloatArray:
    """The reverse of `packed`, for an array of two axes."""
    return np.frombuffer(base64.b64decode(text), dtype="<f8").reshape(rows, -1).astype(np.float64)


def _plain(one: Evaluated) -> dict[str, Any]:
    return {
        "values": {case.label: [packed(x) for x in pair] for case, pair in one.numbers.values.items()},
        "failures": {case.label: reason for case, reason in one.numbers.failures.items()},
        "rows": [row_plain(row) for row in one.rows],
    }


def evaluation(data: Mapping[str, Any], method: Method, states: int) -> Evaluated:
    """Read what `evaluate` gave for one robot."""
    numbers = Evaluation(method.name, method.exact)
    for label, (here, there) in data["values"].items():
        numbers.values[BY_LABEL[label]] = unpacked(here, states), unpacked(there, states)
    numbers.failures.update({BY_LABEL[label]: reason for label, reason in data["failures"].items()})
    return Evaluated(numbers, [row_from(row) for row in data["rows"]])
