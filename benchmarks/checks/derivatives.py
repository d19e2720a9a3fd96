"""Derivatives against two independent ways of computing them, at a few states: both take milliseconds or more a state.

dual numbers    the kernel of the quantity itself, in plain Python, on numbers that carry their derivatives; for methods
                made of kernels. It shares the equations of the method with what is checked, not its derivatives.
complex steps   Newton-Euler in plain numpy on complex numbers; for trees of rigid bodies. It shares nothing.

Both are invariants (see `invariants`), of generic and of traced code.
"""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.checks.agreement import NotApplicable
from dynbench.benchmarks.results.rows import COMPLEX_STEPS as COMPLEX_STEPS
from dynbench.benchmarks.results.rows import DUAL_NUMBERS as DUAL_NUMBERS
from dynbench.methods.base import DERIVATIVES, Solver
from dynbench.methods.derived import DualCode, why_not
from dynbench.methods.kernel_run import KernelRun
from dynbench.robots import extras
from dynbench.robots.robot import FloatArray, Robot

STATES = 2


def by_dual_numbers(solver: Solver, quantity: str, inputs: dict[str, FloatArray]) -> FloatArray:
    """Return the derivatives at the states in the rows of ``inputs``, shape (N, 2, n, n)."""
    run, robot = solver.runs.get(DERIVATIVES[quantity]), solver.robot
    if not isinstance(run, KernelRun):
        raise NotApplicable("it is not made of kernels, which dual numbers need")
    reason = why_not(robot)
    if reason is not None:
        raise NotApplicable(reason)
    q, v, last = inputs.values()
    count = len(robot.actuated)
    out = np.full((len(q), 2, count, count), np.nan)
    DualCode(run).batch(False)(q, v, last, None, out)
    return out


def by_complex_steps(robot: Robot, quantity: str, inputs: dict[str, FloatArray]) -> FloatArray:
    """Return the derivatives at the states in the rows of ``inputs``, shape (N, 2, nv, nv).

    Armature, damping and friction are added by their definition: they are linear in v and a.
    """
    if not robot.is_tree or robot.is_elastic or robot.has_springs:
        raise NotApplicable("the independent equations for complex steps are those of trees of rigid bodies")
    return np.array([_at(robot, quantity, *state) for state in zip(*inputs.values(), strict=True)])


def _at(robot: Robot, quantity: str, q: FloatArray, v: FloatArray, last: FloatArray) -> FloatArray:
    """The same at one state; ``last`` is a or tau."""
    from dynbench.benchmarks.checks.conformance.mistakes import NONE, compute, derivatives

    if quantity == "inverse_dynamics_derivatives":
        return derivatives(NONE, robot, q, v, last, None) + _damping(robot)
    M = compute(NONE, "mass_matrix", robot, {"q": q}).reshape(robot.nv, robot.nv) + np.diag(robot.extras.armature)
    bias = compute(NONE, "bias", robot, {"q": q, "v": v}) + extras.losses(robot, v)
    a: FloatArray = np.linalg.solve(M, last - bias).astype(np.float64)
    return np.asarray(-np.linalg.solve(M, derivatives(NONE, robot, q, v, a, None) + _damping(robot)))


def _damping(robot: Robot) -> FloatArray:
    """What joint damping adds to d tau/dq, which is nothing, and to d tau/dv."""
    return np.array([np.zeros((robot.nv, robot.nv)), np.diag(robot.extras.damping)])
