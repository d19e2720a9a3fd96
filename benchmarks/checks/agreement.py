"""Do the methods agree? Every pair of them, on every quantity both compute, at the same seeded states.

The error of a pair at a state is the largest difference, relative to the largest component of that state's vector (of
the matrix, for M). Beside it stands the noise floor of `sampling`: an error of that size says nothing. The tolerance is
1e-10, or 100 times the noise floor where that is larger; forward dynamics solves with M, so it is also allowed what the
condition of M costs. Beyond 1e-6 nothing is excused. Of the two noise floors of a pair the smaller counts: what lies in
the robot both have, and a method that computes in single precision must not excuse itself by its own noise.

`values_of` asks one method for its numbers; all else needs the numbers alone, so that methods can run elsewhere
(`evaluate`) and be compared here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from dynbench.benchmarks.checks.sampling import Sample
from dynbench.benchmarks.results.rows import Row, Worst, judge
from dynbench.methods.base import QUANTITIES, Solver
from dynbench.robots.robot import FloatArray

DEFAULT = 1e-10
TIMES_NOISE = 100.0
TIMES_CONDITION = 10.0
LIMIT = 1e-6
NOT_EXACT = "not exact: its error is reported, not held against it"
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Case:
    """A quantity, with or without external wrenches."""

    quantity: str
    wrench: bool = False

    @property
    def measure(self) -> str:
        return "error with wrenches" if self.wrench else "error"

    @property
    def label(self) -> str:
        return f"{self.quantity} with wrenches" if self.wrench else self.quantity


# A Coriolis matrix is not unique, so there is nothing to compare; see `invariants`.
COMPARED = tuple(quantity for quantity in QUANTITIES if quantity != "coriolis_matrix")
WITH_WRENCHES = ("inverse_dynamics", "forward_dynamics", "bias", "reactions")
CASES = (*(Case(quantity) for quantity in COMPARED), *(Case(quantity, wrench=True) for quantity in WITH_WRENCHES))


@dataclass(frozen=True)
class Evaluation:
    """What a method gave at a sample: for each case rows of numbers, (N, size), here and moved, or the failure."""

    name: str
    exact: bool
    values: dict[Case, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    failures: dict[Case, str] = field(default_factory=dict)

    @functools.cached_property
    def noise(self) -> dict[Case, float]:
        """Its noise floor in each case."""
        return {case: float(relative(here, there).max()) for case, (here, there) in self.values.items()}


def values_of(sample: Sample, nearby: Sample, solver: Solver, cases: Iterable[Case]) -> Evaluation:
    """Call a method for the cases that it computes; where it raises, or gives no numbers, it is named."""
    found = Evaluation(solver.method.name, solver.method.exact)
    for case in cases:
        if case.quantity in solver.computes:
            try:
                found.values[case] = _rows(sample, solver, case), _rows(nearby, solver, case)
            except Exception as error:
                found.failures[case] = f"{type(error).__name__}: {error}"
    return found


def _rows(sample: Sample, solver: Solver, case: Case) -> FloatArray:
    given = np.asarray(getattr(solver, case.quantity)(**sample.inputs(case.quantity, case.wrench)), dtype=np.float64)
    wanted = (len(sample), *QUANTITIES[case.quantity].shape(sample.robot))
    if given.shape != wanted:
        raise ValueError(f"{case.quantity} has shape {given.shape}, wanted {wanted}")
    return given.reshape(len(sample), -1)


def agreement(sample: Sample, evaluations: Sequence[Evaluation], cond: float) -> list[Row]:
    """Return the noise floor of every method and the error of every pair, quantity by quantity.

    Parameters
    ----------
    cond : float
        The condition of M, which errors of forward dynamics are allowed for.
    """
    rows: list[Row] = []
    for case in CASES:
        rows += floors(case, sample, evaluations)
        for one, two in combinations([e for e in evaluations if case in e.values], 2):
            rows.append(compare(case, sample, one, two, cond if case.quantity == "forward_dynamics" else 0.0))
    return rows


def floors(case: Case, sample: Sample, evaluations: Sequence[Evaluation]) -> list[Row]:
    """One row per method: its noise floor, or what it raised."""
    measure = "noise floor with wrenches" if case.wrench else "noise floor"
    robot, N, seed = sample.robot.name, len(sample), sample.seed
    found = [
        Row(robot, one.name, case.quantity, measure, one.noise[case], "relative", "reported", states=N, seed=seed)
        for one in evaluations
        if case in one.values
    ]
    failed = [
        Row(robot, one.name, case.quantity, case.measure, None, "relative", "failed", reason, states=N, seed=seed)
        for one in evaluations
        if (reason := one.failures.get(case)) is not None
    ]
    return found + failed


def compare(case: Case, sample: Sample, one: Evaluation, two: Evaluation, cond: float) -> Row:
    """Return the largest error of a pair of methods, with the state where it is."""
    x, y = one.values[case][0], two.values[case][0]
    errors = relative(x, y)
    state = int(np.argmax(errors))
    noise = min(one.noise[case], two.noise[case])
    limit, why = tolerance(noise, cond)
    held = one.exact and two.exact
    return Row(
        robot=sample.robot.name,
        method=one.name,
        other=two.name,
        quantity=case.quantity,
        measure=case.measure,
        value=float(errors[state]),
        unit="relative",
        status=judge(float(errors[state]), limit, held),
        reason=why if held else NOT_EXACT,
        tolerance=limit if held else None,
        noise=noise,
        states=len(sample),
        seed=sample.seed,
        worst=worst_state(sample, case, state, x[state], y[state]),
    )


def tolerance(noise: float, cond: float = 0.0) -> tuple[float, str]:
    """Return what two exact methods may differ by, relative, and where that number comes from."""
    reasons = {
        DEFAULT: f"tolerance {DEFAULT:g}",
        TIMES_NOISE * noise: f"tolerance {TIMES_NOISE:g} x the noise floor {noise:.1e}",
        TIMES_CONDITION * EPS * cond: f"tolerance {TIMES_CONDITION:g} eps x the condition of M {cond:.1e}",
    }
    largest = max((value for value in reasons if np.isfinite(value)), default=DEFAULT)
    if largest > LIMIT:
        return LIMIT, f"tolerance {LIMIT:g}, the most that is excused ({reasons[largest].partition(' ')[2]})"
    return largest, reasons[largest]


def relative(x: FloatArray, y: FloatArray) -> FloatArray:
    """Largest difference of each row, relative to the row's largest component; NaN or infinity counts as infinite."""
    scale = np.maximum(np.abs(x).max(axis=1, initial=0.0), np.abs(y).max(axis=1, initial=0.0))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(x - y).max(axis=1, initial=0.0)
        errors = np.divide(difference, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return np.where(np.isfinite(difference) & np.isfinite(scale), errors, np.inf)


def condition(sample: Sample, solvers: Iterable[Solver]) -> float:
    """Largest condition number of M scaled to a unit diagonal (units drop out), by the first method that gives M."""
    for solver in solvers:
        if "mass_matrix" in solver.computes and solver.method.exact:
            try:
                M = solver.mass_matrix(sample.q)
                d = np.sqrt(np.einsum("kii->ki", M))
                with np.errstate(invalid="ignore", divide="ignore"):
                    return float(np.linalg.cond(M / (d[:, :, None] * d[:, None, :])).max())
            except Exception:  # the case "mass_matrix" has named it
                continue
    return 0.0


def worst_state(sample: Sample, case: Case, state: int, value: FloatArray, other: FloatArray) -> Worst:
    inputs = sample.inputs(case.quantity, case.wrench)
    kept = {name: numbers(array[state]) for name, array in inputs.items()}
    return Worst(state, kept, numbers(value), numbers(other))


def numbers(x: FloatArray) -> tuple[float, ...]:
    return tuple(float(number) for number in np.ravel(x))
