"""What must hold for one method alone, state by state, whatever other methods say.

Identities of mechanics (judged for exact methods, reported for the others):

    M is symmetric, M is positive definite
    the columns of inverse dynamics, as a function of a, are M
    forward dynamics undoes inverse dynamics
    C(q, v) v, which is unique although C is not, is the bias less gravity; dM/dt - 2 C is skew
    the parts of the joint reactions that do work are the joint forces
    power: tau . v is the rate of change of Robot.energy, which is computed from velocities alone

and of a well-behaved function: a batch gives what its states give one by one and what a longer batch gives, a second
call gives the same bits whatever was asked in between and in how many threads, ``out`` is filled, and inputs are left
as they were. What holds over time and not at an instant, through an integrator, is in `motion`; its rows come after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from dynbench.benchmarks.checks import motion
from dynbench.benchmarks.checks.agreement import NOT_EXACT, Case, numbers, relative, tolerance, worst_state
from dynbench.benchmarks.checks.finding import Absent, Finding
from dynbench.benchmarks.checks.sampling import Sample
from dynbench.benchmarks.results.rows import Row, Worst, judge
from dynbench.methods.base import Solver
from dynbench.robots import kinematics
from dynbench.robots.errors import RobotError
from dynbench.robots.robot import FloatArray

COLUMN_STATES = 8  # nv calls a state
CALLED_STATES = 27  # for what several calls with the same states must share
SINGLE_STATES = 13  # one call a state; no multiple of eight, so that the last block of a batch is not full
RATE_STEP = 0.0005  # over sum |v|: the time step of differences, see `power_balance`


@dataclass(frozen=True)
class Invariant:
    """Something that must hold, and which quantities it takes to see it."""

    name: str
    quantity: str
    needs: tuple[str, ...]
    find: Callable[[Solver, Sample, float], Finding]
    mechanics: bool = True  # False: it holds for approximate methods too


def invariants(sample: Sample, solver: Solver, cond: float) -> list[Row]:
    """Return a row for each invariant whose quantities the method computes; ``cond`` is the condition of M.

    Those of one instant first, then what a free motion keeps (`motion`).
    """
    exact, called = solver.method.exact, sample.first(CALLED_STATES)
    rows = [
        _row(
            sample,
            solver,
            (invariant.quantity, invariant.name),
            partial(invariant.find, solver, sample if invariant.mechanics else called, cond),
            held=exact or not invariant.mechanics,
        )
        for invariant in INVARIANTS
        if set(invariant.needs) <= set(solver.computes)
    ]
    if "forward_dynamics" in solver.computes:
        moved = cache(partial(motion.free_motion, solver, sample))
        rows += [
            _row(
                sample.first(motion.STATES),
                solver,
                ("forward_dynamics", kept.name),
                lambda kept=kept: motion.found(kept, moved()),  # type: ignore[misc]
                held=exact,
            )
            for kept in motion.KEPT
            if kept.applies(sample.robot)
        ]
    return rows


def _row(sample: Sample, solver: Solver, what: tuple[str, str], find: Callable[[], Finding], held: bool) -> Row:
    """The row of a quantity and a measure: the finding, or why there is none."""
    row = Row(
        robot=sample.robot.name,
        method=solver.method.name,
        quantity=what[0],
        measure=what[1],
        value=None,
        unit="",
        status="failed",
        reason="not evaluated",
        states=len(sample),
        seed=sample.seed,
    )
    try:
        return judged(row, find(), held)
    except Absent as absent:
        return replace(row, status="unsupported", reason=str(absent))
    except Exception as error:
        return replace(row, reason=f"{type(error).__name__}: {error}")


def judged(row: Row, found: Finding, held: bool) -> Row:
    """The row with what was found in it."""
    return replace(
        row,
        value=found.value,
        unit=found.unit,
        status=judge(found.value, found.tolerance, held),
        reason=found.why if held else NOT_EXACT,
        tolerance=found.tolerance if held else None,
        noise=found.noise,
        worst=found.worst,
    )


def symmetric(solver: Solver, sample: Sample, cond: float) -> Finding:
    M = solver.mass_matrix(sample.q)
    return _compared(sample, "mass_matrix", M, np.swapaxes(M, 1, 2), 1e-12, "tolerance 1e-12: sums in another order")


def positive_definite(solver: Solver, sample: Sample, cond: float) -> Finding:
    M = solver.mass_matrix(sample.q)
    smallest = np.array([_smallest_eigenvalue(m) for m in M])
    bad = ~(smallest > 0.0)
    state = int(np.argmax(bad)) if bad.any() else int(np.argmin(smallest))
    worst = worst_state(sample, Case("mass_matrix"), state, M[state], smallest[state : state + 1])
    return Finding(float(bad.sum()), 0.0, "every eigenvalue must be positive", "states", worst)


def _smallest_eigenvalue(m: FloatArray) -> float:
    """Of the symmetric part scaled to a unit diagonal, so that units drop out; NaN for what has no such."""
    d = np.sqrt(np.where(np.diag(m) > 0.0, np.diag(m), np.nan))
    with np.errstate(invalid="ignore"):
        scaled = (m + m.T) / (2.0 * np.outer(d, d))
    return float(np.linalg.eigvalsh(scaled)[0]) if np.isfinite(scaled).all() else np.nan


def forward_undoes_inverse(solver: Solver, sample: Sample, cond: float) -> Finding:
    tau = solver.inverse_dynamics(sample.q, sample.v, sample.a)
    a = solver.forward_dynamics(sample.q, sample.v, tau)
    # Rounding tau by one unit moves a by the condition of M; both directions round.
    limit, why = tolerance(noise=0.0, cond=10.0 * cond)
    return _compared(sample, "forward_dynamics", a, sample.a, limit, why)


def columns_are_mass(solver: Solver, sample: Sample, cond: float) -> Finding:
    if not sample.robot.is_tree:
        raise Absent("with closed loops the accelerations are not free, so M has no such columns")
    nv, K = sample.robot.nv, min(COLUMN_STATES, len(sample))
    q, v = np.repeat(sample.q[:K], nv + 1, axis=0), np.zeros((K * (nv + 1), nv))
    a = np.tile(np.vstack([np.zeros(nv), np.eye(nv)]), (K, 1))
    tau = solver.inverse_dynamics(q, v, a).reshape(K, nv + 1, nv)
    columns = np.swapaxes(tau[:, 1:] - tau[:, :1], 1, 2).reshape(K, -1)
    M = solver.mass_matrix(sample.q[:K]).reshape(K, -1)
    # The differences are of numbers as large as the weight, so that is what they are relative to.
    scale = np.maximum(np.abs(tau).max(axis=(1, 2)), np.abs(M).max(axis=1))
    errors = np.abs(columns - M).max(axis=1) / scale
    state = int(np.argmax(errors))
    worst = worst_state(sample, Case("mass_matrix"), state, columns[state], M[state])
    return Finding(float(errors[state]), 1e-11, "tolerance 1e-11 of the largest force: a difference", worst=worst)


def coriolis_force(solver: Solver, sample: Sample, cond: float) -> Finding:
    force = np.einsum("kij,kj->ki", solver.coriolis_matrix(sample.q, sample.v), sample.v)
    gravity = solver.bias(sample.q, np.zeros_like(sample.v))
    h = solver.bias(sample.q, sample.v)
    return _compared(sample, "bias", force + gravity, h, 1e-11, "tolerance 1e-11: a sum over all columns of C")


def mass_rate_is_skew(solver: Solver, sample: Sample, cond: float) -> Finding:
    """Compare the symmetric part of 2 C with dM/dt along v, by a five-point difference as in `power_balance`."""
    robot, q, v = sample.robot, sample.q, sample.v
    if not robot.is_tree:
        raise Absent("with closed loops M is that of the actuated coordinates, C that of all")
    h = RATE_STEP / np.maximum(1.0, np.abs(v).sum(axis=1))
    M = {k: solver.mass_matrix(robot.integrate(q, k * h[:, None] * v)) for k in (-2, -1, 1, 2)}
    slope = (8.0 * (M[1] - M[-1]) - (M[2] - M[-2])) / (12.0 * h[:, None, None])
    C = solver.coriolis_matrix(q, v)
    scale = np.maximum(np.abs(C).max(axis=(1, 2)), np.abs(M[1]).max(axis=(1, 2)) * RATE_STEP / h)
    errors = np.abs(C + np.swapaxes(C, 1, 2) - slope).max(axis=(1, 2)) / np.where(scale > 0.0, scale, 1.0)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    k = int(np.argmax(errors))
    worst = worst_state(sample, Case("coriolis_matrix"), k, C[k], slope[k])
    return Finding(float(errors[k]), 1e-8, "tolerance 1e-8: a difference over a step of 0.0005 / sum |v|", worst=worst)


def reactions_carry_forces(solver: Solver, sample: Sample, cond: float) -> Finding:
    robot = sample.robot
    if not robot.is_tree or robot.is_elastic:
        raise Absent("joint forces are projections of joint reactions in rigid trees only")
    passed = solver.reactions(sample.q, sample.v, sample.a)
    tau = solver.inverse_dynamics(sample.q, sample.v, sample.a)
    worked = [
        np.einsum("sij,si->sj", kinematics.joint_motion(robot, i, sample.q)[2], passed[:, i]) for i in range(robot.n)
    ]
    # A sum of products with the whole reaction, so that is what it is relative to.
    along = np.concatenate(worked, axis=1)
    errors = np.abs(along - tau).max(axis=1) / np.maximum(np.abs(passed).max(axis=(1, 2)), 1e-300)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    k = int(np.argmax(errors))
    worst = worst_state(sample, Case("reactions"), k, along[k], tau[k])
    return Finding(float(errors[k]), 1e-11, "tolerance 1e-11 of the largest reaction: a projection", worst=worst)


def power_balance(solver: Solver, sample: Sample, cond: float) -> Finding:
    """Compare tau . v with the rate of energy along q(t) = q + t v, v(t) = v + t a, by a five-point difference.

    Its error is h^4 E^(5) / 30 + eps E / h. With the rate of change w = sum |v| bounding how fast bodies turn, the step
    h = 0.0005 / w makes both about 1e-12 of E w, the first 1e-10 for an arm that is nearly retracted. The tolerance
    1e-8 is far above them, and far below any wrong term of the equations of motion.
    """
    robot, q, v, a = sample.robot, sample.q, sample.v, sample.a
    tau = solver.inverse_dynamics(q, v, a)
    power = np.einsum("kj,kj->k", tau, v[:, robot.actuated])
    rate = np.maximum(1.0, np.abs(v).sum(axis=1))
    h = RATE_STEP / rate
    try:
        energy = {
            k: np.asarray(robot.energy(robot.integrate(q, k * h[:, None] * v), v + k * h[:, None] * a))
            for k in (-2, -1, 1, 2)
        }
    except RobotError as error:
        raise Absent(str(error)) from error
    slope = (8.0 * (energy[1] - energy[-1]) - (energy[2] - energy[-2])) / (12.0 * h)
    scale = np.abs(tau * v[:, robot.actuated]).sum(axis=1) + rate * np.abs(energy[1])
    errors = np.abs(power - slope) / np.where(scale > 0.0, scale, 1.0)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    k = int(np.argmax(errors))
    worst = worst_state(sample, Case("inverse_dynamics"), k, power[k : k + 1], slope[k : k + 1])
    return Finding(float(errors[k]), 1e-8, "tolerance 1e-8: a difference over a step of 0.0005 / sum |v|", worst=worst)


def batch_equals_singles(solver: Solver, sample: Sample, cond: float) -> Finding:
    K = min(SINGLE_STATES, len(sample))
    found = []
    for quantity in solver.computes:
        call, inputs = getattr(solver, quantity), sample.inputs(quantity)
        whole, part = call(**inputs)[:K], call(**{name: x[:K] for name, x in inputs.items()})
        singles = np.array([call(**{name: x[k] for name, x in inputs.items()}) for k in range(K)])
        limit, why = 1e-13, "tolerance 1e-13: the same operations, contracted differently by the compiler"
        if quantity == "forward_dynamics":
            limit, why = tolerance(noise=0.0, cond=10.0 * cond)
        found += [_compared(sample, quantity, one, two, limit, why) for one, two in ((part, singles), (part, whole))]
    return max(found, key=lambda finding: finding.value / finding.tolerance)


def deterministic(solver: Solver, sample: Sample, cond: float) -> Finding:
    changed = 0
    for quantity in solver.computes:
        call = getattr(solver, quantity)
        first = call(**sample.inputs(quantity))
        call(**{name: x[::-1].copy() for name, x in sample.inputs(quantity).items()})  # leaves other numbers behind
        changed += int(first.tobytes() != call(**sample.inputs(quantity)).tobytes())
    return Finding(float(changed), 0.0, "two calls must give the same bits", "quantities")


def threads_change_nothing(solver: Solver, sample: Sample, cond: float) -> Finding:
    changed = 0
    for quantity in solver.computes:
        one, two = (getattr(solver, quantity)(**sample.inputs(quantity), threads=n) for n in (1, 2))
        changed += int(one.tobytes() != two.tobytes())
    return Finding(float(changed), 0.0, "two threads must give the bits of one", "quantities")


def out_is_filled(solver: Solver, sample: Sample, cond: float) -> Finding:
    unfilled = 0
    for quantity in solver.computes:
        call = getattr(solver, quantity)
        wanted = call(**sample.inputs(quantity))
        out = np.full_like(wanted, np.nan)
        given = call(**sample.inputs(quantity), out=out)
        unfilled += int(given is not out or out.tobytes() != wanted.tobytes())
    return Finding(float(unfilled), 0.0, "out= must be filled with the result, and returned", "quantities")


def inputs_untouched(solver: Solver, sample: Sample, cond: float) -> Finding:
    touched = 0
    for quantity in solver.computes:
        before, given = sample.inputs(quantity), sample.inputs(quantity)
        getattr(solver, quantity)(**given)
        touched += sum(x.tobytes() != given[name].tobytes() for name, x in before.items())
    return Finding(float(touched), 0.0, "a method must not write to its arguments", "arguments")


def _compared(sample: Sample, quantity: str, x: FloatArray, y: FloatArray, limit: float, why: str) -> Finding:
    rows_x, rows_y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    errors = relative(rows_x, rows_y)
    k = int(np.argmax(errors))
    worst = Worst(k, {n: numbers(a[k]) for n, a in sample.inputs(quantity).items()}, numbers(x[k]), numbers(y[k]))
    return Finding(float(errors[k]), limit, why, worst=worst)


INVARIANTS = (
    # first, since a method that writes to its arguments breaks all that comes after it
    Invariant("inputs untouched", "", (), inputs_untouched, mechanics=False),
    Invariant("M symmetric", "mass_matrix", ("mass_matrix",), symmetric),
    Invariant("M positive definite", "mass_matrix", ("mass_matrix",), positive_definite),
    Invariant("columns are M", "inverse_dynamics", ("inverse_dynamics", "mass_matrix"), columns_are_mass),
    Invariant(
        "forward undoes inverse",
        "forward_dynamics",
        ("inverse_dynamics", "forward_dynamics"),
        forward_undoes_inverse,
    ),
    Invariant("C v is bias less gravity", "coriolis_matrix", ("coriolis_matrix", "bias"), coriolis_force),
    Invariant("M rate - 2 C skew", "coriolis_matrix", ("coriolis_matrix", "mass_matrix"), mass_rate_is_skew),
    Invariant(
        "reactions carry the forces",
        "reactions",
        ("reactions", "inverse_dynamics"),
        reactions_carry_forces,
    ),
    Invariant("power balance", "inverse_dynamics", ("inverse_dynamics",), power_balance),
    Invariant("batch equals singles", "", (), batch_equals_singles, mechanics=False),
    Invariant("same bits twice", "", (), deterministic, mechanics=False),
    Invariant("same bits in two threads", "", (), threads_change_nothing, mechanics=False),
    Invariant("out is filled", "", (), out_is_filled, mechanics=False),
)
