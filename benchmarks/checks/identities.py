"""Identities of mechanics, each of them for one method alone, state by state; `invariants` lists them.

    M is symmetric, M is positive definite
    the columns of inverse dynamics, as a function of a, are M
    forward dynamics undoes inverse dynamics
    C(q, v) v, which is unique although C is not, is the bias less gravity, damping and friction; dM/dt - 2 C is skew
    the parts of the joint reactions that do work are the joint forces less armature, damping and friction
    the regressor times the inertial parameters is the joint forces, less armature, damping and friction
    derivatives are those of the same kernel on dual numbers, and of a plain Newton-Euler by complex steps
    power: tau . v is the rate of change of Robot.energy, which is computed from velocities alone, plus what damping
    and friction of the joints take (Robot.dissipation)
    forces are linear in masses and inertias
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynbench.benchmarks.checks import derivatives
from dynbench.benchmarks.checks.agreement import (
    SOLVED,
    Case,
    Measurement,
    NotApplicable,
    compared,
    largest,
    tolerance,
    worst_state,
)
from dynbench.benchmarks.checks.sampling import Sample
from dynbench.methods import rotors
from dynbench.methods.base import Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots import extras, kinematics
from dynbench.robots.errors import RobotError
from dynbench.robots.robot import FloatArray

COLUMN_STATES = 8  # nv calls a state
RATE_STEP = 0.0005  # over sum |v|: the time step of differences, see `power_balance`
DIFFERENCE = "tolerance 1e-8: a difference over a step of 0.0005 / sum |v|"


def symmetric(solver: Solver, sample: Sample, cond: float) -> Measurement:
    M = solver.mass_matrix(sample.q)
    return compared(sample, "mass_matrix", M, np.swapaxes(M, 1, 2), 1e-12, "tolerance 1e-12: sums in another order")


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
    return largest(sample, "forward_dynamics", errors, (a, sample.a), limit, why)


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
    return largest(sample, "mass_matrix", errors, (columns, M), 1e-11, why)


def coriolis_force(solver: Solver, sample: Sample, cond: float) -> Measurement:
    force = np.einsum("kij,kj->ki", solver.coriolis_matrix(sample.q, sample.v), sample.v)
    gravity = solver.bias(sample.q, np.zeros_like(sample.v))
    h = solver.bias(sample.q, sample.v) - extras.losses(sample.robot, sample.v)
    return compared(sample, "bias", force + gravity, h, 1e-11, "tolerance 1e-11: a sum over all columns of C")


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
    return largest(sample, "coriolis_matrix", errors, (C, slope), 1e-8, DIFFERENCE)


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
    return largest(sample, "reactions", errors, (along, tau), 1e-11, why)


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
    return largest(sample, "regressor", errors, (Y @ theta, tau), 1e-12, why)


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
    return compared(few, quantity, solver.whole(quantity)(**inputs), right, limit, f"{why}, at {len(few)} states")


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
    return largest(sample, "inverse_dynamics", errors, (power, slope), 1e-8, DIFFERENCE)


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
    return compared(sample, "inverse_dynamics", *pair, 1e-10, "tolerance 1e-10: twice the masses, twice the force")


def without_rotors(solver: Solver, sample: Sample) -> Measurement:
    """How much the joint forces change if armatures take the place of rotors."""
    found = rotors.of_states(solver, sample.q, sample.v, sample.a)
    return Measurement(found.difference, np.inf, "")


def _positive(x: FloatArray) -> FloatArray:
    return np.where(x > 0.0, x, 1.0)
