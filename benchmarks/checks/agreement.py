"""Agreement of every pair of methods, on every quantity both compute, at the same seeded states.

The error of a pair at a state is the largest difference, relative to the largest component of that state's vector (of
the matrix, for M), which counts as at least 1e-8 of the largest at any state: the derivative of a pendulum's torque
vanishes where it is level, and what is left there is rounding. Its tolerance is 1e-10, or 100 times the noise floor
(`sampling`) where that is larger; forward dynamics solves with M, so its tolerance also grows with the condition of M.
It is never more than 1e-6. The smaller noise floor of the two methods counts: noise that the robot causes is in both,
and a method that computes in single precision must not widen the tolerance by its own noise.

Traced code is compared with the generic code of the same method, and with the reference: the first exact method that
is not traced. Without generic code beside it, it is compared with all others, as generic code is.

`values_of` evaluates one method. Everything else needs only the numbers, so methods can run in other processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from dynbench.benchmarks.checks.sampling import Sample
from dynbench.benchmarks.results.rows import Row, Worst, judge
from dynbench.benchmarks.tiers import TRACED
from dynbench.methods.base import DERIVATIVES, QUANTITIES, Solver
from dynbench.robots.robot import FloatArray

DEFAULT = 1e-10
TIMES_NOISE = 100.0
TIMES_CONDITION = 10.0
LIMIT = 1e-6
VANISHING = 1e-8  # of the largest component at any state: less than it is rounding in part, more than it is compared
NOT_EXACT = "not exact: its error is reported, not held against it"
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Measurement:
    """A value to be judged, and where it is worst."""

    value: float
    tolerance: float
    why: str
    unit: str = "relative"
    worst: Worst | None = None
    noise: float | None = None  # the part that is not the method's: the error of the integrator


class NotApplicable(Exception):
    """An invariant does not hold for this robot; the reason becomes the row's."""


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
WITH_WRENCHES = ("inverse_dynamics", "forward_dynamics", "bias", "reactions", *DERIVATIVES)
SOLVED = ("forward_dynamics", "forward_dynamics_derivatives")  # quantities that take a solution with M
CASES = (*(Case(quantity) for quantity in COMPARED), *(Case(quantity, wrench=True) for quantity in WITH_WRENCHES))


@dataclass(frozen=True)
class Evaluation:
    """The results of a method at a sample: for each case rows (N, size) and its noise floor, or the failure."""

    name: str
    exact: bool
    values: dict[Case, FloatArray] = field(default_factory=dict)
    noise: dict[Case, float] = field(default_factory=dict)
    failures: dict[Case, str] = field(default_factory=dict)
    code: str = ""  # tier


def values_of(
    sample: Sample, nearby: Sample, solver: Solver, cases: Iterable[Case], code: str = ""
) -> Evaluation:
    """Call a method for the cases that it computes; a failure is kept as text."""
    found = Evaluation(solver.method.name, solver.method.exact, code=code)
    for case in cases:
        if case.quantity in solver.computes:
            try:
                here, there = _rows(sample, solver, case), _rows(nearby, solver, case)
                found.values[case], found.noise[case] = here, float(relative(here, there).max())
            except Exception as error:
                found.failures[case] = f"{type(error).__name__}: {error}"
    return found


def _rows(sample: Sample, solver: Solver, case: Case) -> FloatArray:
    given = np.asarray(solver.whole(case.quantity)(**sample.inputs(case.quantity, case.wrench)), dtype=np.float64)
    expected = (len(sample), *QUANTITIES[case.quantity].shape(sample.robot))
    if given.shape != expected:
        raise ValueError(f"{case.quantity} has shape {given.shape}, expected {expected}")
    return given.reshape(len(sample), -1)


def agreement(sample: Sample, evaluations: Sequence[Evaluation], cond: float) -> list[Row]:
    """Return the noise floor of every method and the error of every pair, by quantity; ``cond`` is that of M."""
    rows: list[Row] = []
    for case in CASES:
        rows += floors(case, sample, evaluations)
        for one, two in pairs([e for e in evaluations if case in e.values]):
            rows.append(compare(case, sample, one, two, cond if case.quantity in SOLVED else 0.0))
    return rows


def pairs(evaluations: Sequence[Evaluation]) -> Iterator[tuple[Evaluation, Evaluation]]:
    """Yield what is compared: all pairs, and traced code with its own generic code and the reference only."""
    generic = {one.name: one for one in evaluations if one.code != TRACED}
    yield from combinations([one for one in evaluations if one.code != TRACED or one.name not in generic], 2)
    for one in (one for one in evaluations if one.code == TRACED and one.name in generic):
        yield generic[one.name], one
        reference = next((other for other in generic.values() if other.exact), None)
        if reference is not None and reference.name != one.name:
            yield reference, one


def floors(case: Case, sample: Sample, evaluations: Sequence[Evaluation]) -> list[Row]:
    """Return a row per method: its noise floor, or the exception it raised."""
    measure = "noise floor with wrenches" if case.wrench else "noise floor"
    found, failed = [], []
    for one in evaluations:
        common: dict[str, Any] = {"states": len(sample), "seed": sample.seed, "code": one.code}
        head = (sample.robot.name, one.name, case.quantity)
        if case in one.values:
            found.append(Row(*head, measure, one.noise[case], "relative", "reported", **common))
        elif case in one.failures:
            failed.append(Row(*head, case.measure, None, "relative", "failed", one.failures[case], **common))
    return found + failed


def compare(case: Case, sample: Sample, one: Evaluation, two: Evaluation, cond: float) -> Row:
    """Return the largest error of a pair of methods, with the state where it is."""
    x, y = one.values[case], two.values[case]
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
        code=one.code,
        other_code=two.code,
    )


def tolerance(noise: float, cond: float = 0.0) -> tuple[float, str]:
    """Return how far two exact methods may differ, relative, and where that number comes from."""
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
    """Largest difference of each row, relative to the row's largest component; NaN or infinity counts as infinite.

    A row that is `VANISHING` beside the others, as derivatives are at some states, is relative to so much of them.
    """
    scale = np.maximum(np.abs(x).max(axis=1, initial=0.0), np.abs(y).max(axis=1, initial=0.0))
    scale = np.maximum(scale, VANISHING * scale[np.isfinite(scale)].max(initial=0.0))
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
            except Exception:  # the case "mass_matrix" reports it
                continue
    return 0.0


def worst_state(sample: Sample, case: Case, state: int, value: FloatArray, other: FloatArray) -> Worst:
    inputs = sample.inputs(case.quantity, case.wrench)
    kept = {name: numbers(array[state]) for name, array in inputs.items()}
    return Worst(state, kept, numbers(value), numbers(other))


def numbers(x: FloatArray) -> tuple[float, ...]:
    return tuple(float(number) for number in np.ravel(x))


def worst_cases(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return, for each robot, pair, quantity and measure, the state with the largest error, as plain data.

    Only the component with the largest difference is kept. Of the inputs, only forces are: robot, number of states,
    seed and index of the state give all others again (`sampling.draw`), wrenches too.
    """
    return [
        _worst_case(row, row.worst) for row in rows if row.other and row.worst is not None and row.value is not None
    ]


def _worst_case(row: Row, worst: Worst) -> dict[str, Any]:
    ours, theirs = np.array(worst.value), np.array(worst.other)
    with np.errstate(invalid="ignore"):
        gap = np.abs(ours - theirs)
    k = int(np.argmax(np.where(np.isfinite(gap), gap, np.inf))) if len(gap) else 0
    names = (
        "robot", "method", "code", "other", "other_code", "quantity", "measure", "value", "states", "seed",
    )  # fmt: skip
    return {
        **{name: getattr(row, name) for name in names},
        "state": worst.state,
        "component": k,
        "ours": float(ours[k]) if len(ours) else None,
        "theirs": float(theirs[k]) if len(theirs) else None,
        "inputs": {name: list(values) for name, values in worst.inputs.items() if name == "tau"},
    }


def largest(
    sample: Sample, quantity: str, errors: FloatArray, pair: tuple[FloatArray, FloatArray], limit: float, why: str
) -> Measurement:
    """Return the largest of the errors (K,), with its state and the pair of results there; NaN counts as infinite."""
    errors = np.where(np.isfinite(errors), errors, np.inf)
    k = int(np.argmax(errors))
    worst = worst_state(sample, Case(quantity), k, pair[0][k], pair[1][k])
    return Measurement(float(errors[k]), limit, why, worst=worst)


def compared(sample: Sample, quantity: str, x: FloatArray, y: FloatArray, limit: float, why: str) -> Measurement:
    """Return the largest relative difference of two arrays of results (K, ...), with its state."""
    errors = relative(x.reshape(len(x), -1), y.reshape(len(y), -1))
    return largest(sample, quantity, errors, (x, y), limit, why)
