"""What must hold for one method alone, state by state.

Identities of mechanics (judged for exact methods, reported for the others):

    M is symmetric, M is positive definite
    the columns of inverse dynamics, as a function of a, are M
    forward dynamics undoes inverse dynamics
    C(q, v) v, which is unique although C is not, is the bias less gravity, damping and friction; dM/dt - 2 C is skew
    the parts of the joint reactions that do work are the joint forces less armature, damping and friction
    the regressor times the inertial parameters is the joint forces, less armature, damping and friction
    derivatives are those of the same kernel on dual numbers, and of a plain Newton-Euler by complex steps
    power: tau . v is the rate of change of Robot.energy, which is computed from velocities alone, plus what damping
    and friction of the joints take (Robot.dissipation)

and of a well-behaved function: a batch gives what its states give one by one and what a longer batch gives (of more
than a thousand states too), the unchecked handle gives what the call gives, one wrench for a batch what the same for
each state gives, a second call and the thousandth give the same bits whatever was called in between and in how many
threads, ``out`` is filled, and inputs are not changed. Invariants over time, through an integrator, are in `motion`;
their rows come last. Of robots with rotors one more row is reported: what armatures in their place leave out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from dynbench.benchmarks.checks import derivatives, motion
from dynbench.benchmarks.checks.agreement import (
    NOT_EXACT,
    SOLVED,
    WITH_WRENCHES,
    Case,
    Measurement,
    NotApplicable,
    relative,
    tolerance,
    worst_state,
)
from dynbench.benchmarks.checks.sampling import Sample
from dynbench.benchmarks.results.rows import AS_ARMATURE, Row, judge
from dynbench.methods import rotors
from dynbench.methods.base import DERIVATIVES, Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots import extras, kinematics
from dynbench.robots.errors import RobotError
from dynbench.robots.robot import FloatArray
from dynbench.robots.rotors import rotors_of

COLUMN_STATES = 8  # nv calls a state
CALLED_STATES = 27  # for invariants of several calls with the same states
LONG_BATCH = 1029  # states
MANY_CALLS = 1100
MAX_SECONDS = 0.5  # for many calls or a long batch of one quantity; methods in plain Python get fewer and shorter ones
SINGLE_STATES = 13  # one call a state; no multiple of eight, so that the last block of a batch is not full
RATE_STEP = 0.0005  # over sum |v|: the time step of differences, see `power_balance`
DIFFERENCE = "tolerance 1e-8: a difference over a step of 0.0005 / sum |v|"


@dataclass(frozen=True)
class Invariant:
    """Something that must hold, and the quantities that it is about."""

    name: str
    quantity: str
    needs: tuple[str, ...]
    measure: Callable[[Solver, Sample, float], Measurement]
    mechanics: bool = True  # False: it holds for approximate methods too
    whole: bool = False  # at all states even so


def invariants(sample: Sample, solver: Solver, cond: float) -> list[Row]:
    """Return a row for each invariant whose quantities the method computes; ``cond`` is the condition of M.

    Those of one instant first, then what a free motion keeps (`motion`).
    """
    exact, rows = solver.method.exact, _at_an_instant(sample, solver, cond, INVARIANTS)
    if "forward_dynamics" in solver.computes:
        moved, first = cache(partial(motion.free_motion, solver, sample)), sample.first(motion.STATES)
        for kept in motion.KEPT:
            if kept.applies(sample.robot):
                what = ("forward_dynamics", kept.name)
                rows.append(_row(first, solver, what, lambda kept=kept: motion.drift(kept, moved()), held=exact))  # type: ignore[misc]
    if "inverse_dynamics" in solver.computes and rotors_of(sample.robot):
        row = _row(sample, solver, ("inverse_dynamics", AS_ARMATURE), partial(without_rotors, solver, sample), False)
        rows.append(replace(row, reason="reported: two models of the robot") if row.status == "reported" else row)
    return rows


def derivative_checks(sample: Sample, solver: Solver, cond: float) -> list[Row]:
    """Return the rows of derivatives alone: all invariants that traced code has of its own."""
    return _at_an_instant(sample, solver, cond, OF_DERIVATIVES)


def _at_an_instant(sample: Sample, solver: Solver, cond: float, chosen: Sequence[Invariant]) -> list[Row]:
    exact, called = solver.method.exact, sample.first(CALLED_STATES)
    return [
        _row(
            sample,
            solver,
            (one.quantity, one.name),
            partial(one.measure, solver, sample if one.mechanics or one.whole else called, cond),
            held=exact or not one.mechanics,
        )
        for one in chosen
        if set(one.needs) <= set(solver.computes)
    ]


def _row(sample: Sample, solver: Solver, what: tuple[str, str], measure: Callable[[], Measurement], held: bool) -> Row:
    """Return the row of a quantity and an invariant: its value, or why there is none."""
    head = (sample.robot.name, solver.method.name, *what)
    row = Row(*head, None, "", "failed", "not evaluated", states=len(sample), seed=sample.seed)
    try:
        found = measure()
    except NotApplicable as reason:
        return replace(row, status="unsupported", reason=str(reason))
    except Exception as error:
        return replace(row, reason=f"{type(error).__name__}: {error}")
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


def _largest(
    sample: Sample, quantity: str, errors: FloatArray, pair: tuple[FloatArray, FloatArray], limit: float, why: str
) -> Measurement:
    """Return the largest of the errors (K,), with its state and the pair of results there; NaN counts as infinite."""
    errors = np.where(np.isfinite(errors), errors, np.inf)
    k = int(np.argmax(errors))
    worst = worst_state(sample, Case(quantity), k, pair[0][k], pair[1][k])
    return Measurement(float(errors[k]), limit, why, worst=worst)


def _compared(sample: Sample, quantity: str, x: FloatArray, y: FloatArray, limit: float, why: str) -> Measurement:
    errors = relative(x.reshape(len(x), -1), y.reshape(len(y), -1))
    return _largest(sample, quantity, errors, (x, y), limit, why)


def _positive(x: FloatArray) -> FloatArray:
    return np.where(x > 0.0, x, 1.0)


def symmetric(solver: Solver, sample: Sample, cond: float) -> Measurement:
    M = solver.mass_matrix(sample.q)
    return _compared(sample, "mass_matrix", M, np.swapaxes(M, 1, 2), 1e-12, "tolerance 1e-12: sums in another order")


def positive_definite(solver: Solver, sample: Sample, cond: float) -> Measurement:
    M = solver.mass_matrix(sample.q)
    smallest = np.array([_smallest_eigenvalue(m) for m in M])
    bad = ~(smallest > 0.0)
    state = int(np.argmax(bad)) if bad.any() else int(np.argmin(smallest))
    worst = worst_state(sample, Case("mass_matrix"), state, M[state], smallest[state : state + 1])
    return Measurement(float(bad.sum()), 0.0, "every eigenvalue must be positive", "states", worst)


def _smallest_eigenvalue(m: FloatArray) -> float:
    """Of the symmetric part scaled to a unit diagonal, so that units cancel; NaN if it cannot be scaled."""
    d = np.sqrt(np.where(np.diag(m) > 0.0, np.diag(m), np.nan))
    with np.errstate(invalid="ignore"):
        scaled = (m + m.T) / (2.0 * np.outer(d, d))
    return float(np.linalg.eigvalsh(scaled)[0]) if np.isfinite(scaled).all() else np.nan


def forward_undoes_inverse(solver: Solver, sample: Sample, cond: float) -> Measurement:
    tau = solver.inverse_dynamics(sample.q, sample.v, sample.a)
    a = solver.forward_dynamics(sample.q, sample.v, tau)
    # At rest a is a difference of what the force and the weight would give alone, so errors are relative to that.
    alone = np.abs(solver.forward_dynamics(sample.q, sample.v, np.zeros_like(tau))).max(axis=1)
    scale = np.maximum(np.abs(sample.a).max(axis=1), alone)
    errors = np.abs(a - sample.a).max(axis=1) / _positive(scale)
    # Rounding tau by one unit moves a by the condition of M; both directions round.
    limit, why = tolerance(noise=0.0, cond=10.0 * cond)
    return _largest(sample, "forward_dynamics", errors, (a, sample.a), limit, why)


def columns_are_mass(solver: Solver, sample: Sample, cond: float) -> Measurement:
    if not sample.robot.is_tree:
        raise NotApplicable("with closed loops the accelerations are not free, so M has no such columns")
    nv, K = sample.robot.nv, min(COLUMN_STATES, len(sample))
    q, v = np.repeat(sample.q[:K], nv + 1, axis=0), np.zeros((K * (nv + 1), nv))
    a = np.tile(np.vstack([np.zeros(nv), np.eye(nv)]), (K, 1))
    tau = solver.inverse_dynamics(q, v, a).reshape(K, nv + 1, nv)
    columns = np.swapaxes(tau[:, 1:] - tau[:, :1], 1, 2).reshape(K, -1)
    M = solver.mass_matrix(sample.q[:K]).reshape(K, -1)
    # The differences are of numbers as large as the weight, so errors are relative to that.
    scale = np.maximum(np.abs(tau).max(axis=(1, 2)), np.abs(M).max(axis=1))
    errors = np.abs(columns - M).max(axis=1) / scale
    why = "tolerance 1e-11 of the largest force: a difference"
    return _largest(sample, "mass_matrix", errors, (columns, M), 1e-11, why)


def coriolis_force(solver: Solver, sample: Sample, cond: float) -> Measurement:
    force = np.einsum("kij,kj->ki", solver.coriolis_matrix(sample.q, sample.v), sample.v)
    gravity = solver.bias(sample.q, np.zeros_like(sample.v))
    h = solver.bias(sample.q, sample.v) - extras.losses(sample.robot, sample.v)
    return _compared(sample, "bias", force + gravity, h, 1e-11, "tolerance 1e-11: a sum over all columns of C")


def mass_rate_is_skew(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """Compare the symmetric part of 2 C with dM/dt along v, by a five-point difference as in `power_balance`."""
    robot, q, v = sample.robot, sample.q, sample.v
    if not robot.is_tree:
        raise NotApplicable("with closed loops M is that of the actuated coordinates, C that of all")
    h = RATE_STEP / np.maximum(1.0, np.abs(v).sum(axis=1))
    M = {k: solver.mass_matrix(robot.integrate(q, k * h[:, None] * v)) for k in (-2, -1, 1, 2)}
    slope = (8.0 * (M[1] - M[-1]) - (M[2] - M[-2])) / (12.0 * h[:, None, None])
    C = solver.coriolis_matrix(q, v)
    scale = np.maximum(np.abs(C).max(axis=(1, 2)), np.abs(M[1]).max(axis=(1, 2)) * RATE_STEP / h)
    errors = np.abs(C + np.swapaxes(C, 1, 2) - slope).max(axis=(1, 2)) / _positive(scale)
    return _largest(sample, "coriolis_matrix", errors, (C, slope), 1e-8, DIFFERENCE)


def reactions_carry_forces(solver: Solver, sample: Sample, cond: float) -> Measurement:
    robot = sample.robot
    if not robot.is_tree or robot.is_elastic:
        raise NotApplicable("joint forces are projections of joint reactions in rigid trees only")
    passed = solver.reactions(sample.q, sample.v, sample.a)
    # what a motor spends on its rotor and on friction does not reach the body
    tau = solver.inverse_dynamics(sample.q, sample.v, sample.a) - extras.forces(robot, sample.v, sample.a)
    axes = (kinematics.joint_motion(robot, i, sample.q)[2] for i in range(robot.n))
    along = np.concatenate([np.einsum("sij,si->sj", S, passed[:, i]) for i, S in enumerate(axes)], axis=1)
    # A sum of products with the whole reaction, so errors are relative to that.
    errors = np.abs(along - tau).max(axis=1) / np.maximum(np.abs(passed).max(axis=(1, 2)), 1e-300)
    why = "tolerance 1e-11 of the largest reaction: a projection"
    return _largest(sample, "reactions", errors, (along, tau), 1e-11, why)


def regressor_gives_forces(solver: Solver, sample: Sample, cond: float) -> Measurement:
    robot = sample.robot
    if robot.has_springs or (robot.has_extras and not robot.is_tree):
        raise NotApplicable("a regressor is of rigid bodies alone, and the joint forces are also those of other parts")
    Y, theta = solver.regressor(sample.q, sample.v, sample.a), robot.inertial_parameters()
    tau = solver.inverse_dynamics(sample.q, sample.v, sample.a)
    if robot.has_extras:
        tau = tau - extras.forces(robot, sample.v, sample.a)
    # A sum of 10 n products that may cancel, so errors are relative to the sum of their sizes.
    errors = np.abs(Y @ theta - tau).max(axis=1) / _positive((np.abs(Y) @ np.abs(theta)).max(axis=1))
    why = "tolerance 1e-12 of the sum of absolute terms: a sum over all parameters"
    return _largest(sample, "regressor", errors, (Y @ theta, tau), 1e-12, why)


def derivatives_by(
    route: str, quantity: str, solver: Solver, sample: Sample, cond: float
) -> Measurement:
    """Compare derivatives with one of the two ways of `checks.derivatives`, at the first states."""
    few = sample.first(derivatives.STATES)
    inputs = few.inputs(quantity)
    if route == derivatives.DUAL_NUMBERS:
        right = derivatives.by_dual_numbers(solver, quantity, inputs)
    else:
        right = derivatives.by_complex_steps(sample.robot, quantity, inputs)
    limit, why = tolerance(noise=0.0, cond=cond if quantity in SOLVED else 0.0)
    return _compared(few, quantity, solver.whole(quantity)(**inputs), right, limit, f"{why}, at {len(few)} states")


def power_balance(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """Compare tau . v with the rate of energy along q(t) = q + t v, v(t) = v + t a, by a five-point difference, plus
    what is dissipated.

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
        raise NotApplicable(str(error)) from error
    slope = (8.0 * (energy[1] - energy[-1]) - (energy[2] - energy[-2])) / (12.0 * h)
    scale = np.abs(tau * v[:, robot.actuated]).sum(axis=1) + rate * np.abs(energy[1])
    slope = slope + np.asarray(robot.dissipation(q, v))
    errors = np.abs(power - slope) / _positive(scale)
    return _largest(sample, "inverse_dynamics", errors, (power, slope), 1e-8, DIFFERENCE)


def batch_equals_singles(solver: Solver, sample: Sample, cond: float) -> Measurement:
    K = min(SINGLE_STATES, len(sample))
    found = []
    for quantity in solver.computes:
        call, inputs = solver.whole(quantity), sample.inputs(quantity)
        whole, part = call(**inputs)[:K], call(**{name: x[:K] for name, x in inputs.items()})
        singles = np.array([call(**{name: x[k] for name, x in inputs.items()}) for k in range(K)])
        found += [_compared(sample, quantity, part, other, *_rounding(quantity, cond)) for other in (singles, whole)]
    return max(found, key=lambda one: one.value / one.tolerance)


def long_batch_equals_short(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """The states again and again in one long batch."""
    found = []
    for quantity in solver.computes:
        call, inputs = solver.whole(quantity), sample.inputs(quantity)
        start = time.thread_time()
        once = call(**inputs)
        seconds = time.thread_time() - start
        rows = LONG_BATCH if seconds * LONG_BATCH < MAX_SECONDS * len(sample) else 2 * len(sample)
        every = np.arange(rows) % len(sample)
        long = call(**{name: x[every] for name, x in inputs.items()})
        last = long[rows - len(sample) :], once[every[rows - len(sample) :]]
        for x, y in ((long[: len(sample)], once), last):
            found.append(_compared(sample, quantity, x, y, *_rounding(quantity, cond)))
        errors = relative(long.reshape(rows, -1), once[every].reshape(rows, -1))
        if np.argmax(errors) >= len(sample):  # in the middle
            worst = int(np.argmax(errors))
            pair = long[worst : worst + 1], once[every[worst] : every[worst] + 1]
            found.append(_compared(sample, quantity, *pair, *_rounding(quantity, cond)))
    return max(found, key=lambda one: one.value / one.tolerance)


def handles_equal_calls(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """The unchecked handle, which is what is timed, at every state."""
    found = []
    for quantity in solver.computes:
        call, inputs, handle = solver.whole(quantity), sample.inputs(quantity), solver.handle(quantity)
        expected = call(**inputs)
        wrench = [] if set(inputs) == {"q"} else [None]
        given = np.full((len(sample), expected[0].size), np.nan)
        for k in range(len(sample)):
            handle(*(np.ascontiguousarray(x[k]) for x in inputs.values()), *wrench, given[k])
        found.append(_compared(sample, quantity, given.reshape(expected.shape), expected, *_rounding(quantity, cond)))
    return max(found, key=lambda one: one.value / one.tolerance)


def one_wrench_serves_all(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """One set of wrenches for a batch, and the same for each of its states."""
    found = []
    for quantity in WITH_WRENCHES:
        if quantity in solver.computes:
            call, inputs = solver.whole(quantity), sample.inputs(quantity)
            each = np.repeat(sample.wrench[:1], len(sample), axis=0)
            pair = call(**inputs, wrench=sample.wrench[0].copy()), call(**inputs, wrench=each)
            found.append(_compared(sample, quantity, *pair, *_rounding(quantity, cond)))
    if not found:
        raise NotApplicable("it computes nothing that depends on external wrenches")
    return max(found, key=lambda one: one.value / one.tolerance)


def _rounding(quantity: str, cond: float) -> tuple[float, str]:
    """The tolerance of the same operations, contracted differently by the compiler."""
    if quantity in SOLVED:
        return tolerance(noise=0.0, cond=10.0 * cond)
    return 1e-13, "tolerance 1e-13: the same operations, contracted differently by the compiler"


def made_for_this_robot(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """Forces are linear in masses and inertias: a robot of the same name with twice of them needs twice the force."""
    robot, method = sample.robot, solver.method
    if isinstance(method, KernelMethod):
        raise NotApplicable("a method made of kernels packs each robot by itself; `test-method` looks at that")
    if robot.is_elastic or robot.has_springs or robot.has_extras:
        raise NotApplicable("forces that do not come from masses do not double with them")
    heavy = replace(robot, mass=2.0 * robot.mass, inertia=2.0 * robot.inertia)
    if method.supports(heavy) is not None:
        raise NotApplicable("it does not support the robot with twice the masses")
    inputs = sample.inputs("inverse_dynamics")
    pair = 2.0 * solver.inverse_dynamics(**inputs), method.prepare(heavy).inverse_dynamics(**inputs)
    return _compared(sample, "inverse_dynamics", *pair, 1e-10, "tolerance 1e-10: twice the masses, twice the force")


def _counted(solver: Solver, wrong: Callable[[Callable[..., FloatArray], str], int], why: str) -> Measurement:
    """Return the sum of ``wrong(call, quantity)`` over all quantities, which must be 0."""
    count = sum(wrong(solver.whole(quantity), quantity) for quantity in solver.computes)
    return Measurement(float(count), 0.0, why, "quantities")


def deterministic(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        first = call(**sample.inputs(quantity))
        call(**{name: x[::-1].copy() for name, x in sample.inputs(quantity).items()})  # leaves other numbers behind
        return int(first.tobytes() != call(**sample.inputs(quantity)).tobytes())

    return _counted(solver, wrong, "two calls must give the same bits")


def threads_change_nothing(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        one, *others = (call(**sample.inputs(quantity), threads=n) for n in (1, 2, 3, 5))
        return int(any(one.tobytes() != other.tobytes() for other in others))

    return _counted(solver, wrong, "several threads must give the bits of one")


def calls_change_nothing(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """Call number 1000 gives what the first gives; fewer calls of slow methods."""

    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        state = {name: np.ascontiguousarray(x[0]) for name, x in sample.inputs(quantity).items()}
        first = call(**state).tobytes()
        start = time.thread_time()
        for _ in range(MANY_CALLS):
            if call(**state).tobytes() != first:
                return 1
            if time.thread_time() - start > MAX_SECONDS:
                break
        return 0

    return _counted(solver, wrong, f"{MANY_CALLS} calls must give the same bits")


def out_is_filled(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        expected = call(**sample.inputs(quantity))
        for before in (np.nan, 7.0):
            out = np.full_like(expected, before)
            given = call(**sample.inputs(quantity), out=out)
            if given is not out or out.tobytes() != expected.tobytes():
                return 1
        return 0

    return _counted(solver, wrong, "out= must be filled with the result, and returned")


def inputs_untouched(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        before, given = sample.inputs(quantity), sample.inputs(quantity)
        call(**given)
        return sum(x.tobytes() != given[name].tobytes() for name, x in before.items())

    return replace(_counted(solver, wrong, "a method must not write to its arguments"), unit="arguments")


def without_rotors(solver: Solver, sample: Sample) -> Measurement:
    """How much the joint forces change if armatures take the place of rotors."""
    found = rotors.of_states(solver, sample.q, sample.v, sample.a)
    return Measurement(found.difference, np.inf, "")


ID, FD, M = "inverse_dynamics", "forward_dynamics", "mass_matrix"
OF_DERIVATIVES = tuple(
    Invariant(route, quantity, (quantity,), partial(derivatives_by, route, quantity))
    for quantity in DERIVATIVES
    for route in (derivatives.DUAL_NUMBERS, derivatives.COMPLEX_STEPS)
)
INVARIANTS = (
    # first, since a method that writes to its arguments breaks all that comes after it
    Invariant("inputs untouched", "", (), inputs_untouched, mechanics=False),
    Invariant("M symmetric", M, (M,), symmetric),
    Invariant("M positive definite", M, (M,), positive_definite),
    Invariant("columns are M", ID, (ID, M), columns_are_mass),
    Invariant("forward undoes inverse", FD, (ID, FD), forward_undoes_inverse),
    Invariant("C v is bias less gravity", "coriolis_matrix", ("coriolis_matrix", "bias"), coriolis_force),
    Invariant("M rate - 2 C skew", "coriolis_matrix", ("coriolis_matrix", M), mass_rate_is_skew),
    Invariant("reactions carry the forces", "reactions", ("reactions", ID), reactions_carry_forces),
    Invariant("Y theta is tau", "regressor", ("regressor", ID), regressor_gives_forces),
    *OF_DERIVATIVES,
    Invariant("power balance", ID, (ID,), power_balance),
    Invariant("batch equals singles", "", (), batch_equals_singles, mechanics=False),
    Invariant("same bits twice", "", (), deterministic, mechanics=False),
    Invariant("same bits in several threads", "", (), threads_change_nothing, mechanics=False),
    Invariant("same bits after many calls", "", (), calls_change_nothing, mechanics=False),
    Invariant("long batch equals short", "", (), long_batch_equals_short, mechanics=False),
    Invariant("handle equals call", "", (), handles_equal_calls, mechanics=False, whole=True),
    Invariant("one wrench for all states", "", (), one_wrench_serves_all, mechanics=False),
    Invariant("made for this robot", ID, (ID,), made_for_this_robot),
    Invariant("out is filled", "", (), out_is_filled, mechanics=False),
)
