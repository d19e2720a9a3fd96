"""Closed loops on top of an engine's tree, where its own solver does not give a quantity: dense algebra in numpy.

The engine gives inverse dynamics and mass matrix of the tree, and its closures as equations of accelerations,
``c'' = A a + rate``. With S the selection of actuated coordinates and lambda the forces of closures:

    inverse dynamics   S^T tau + A^T lambda = inverse dynamics of the tree
    forward dynamics   M a - A^T lambda = S^T tau - bias of the tree,   A a = -rate
    mass matrix        W^T M W, with A W = 0 and unit actuated rows

All are solved by least squares: rows that say nothing new, such as the third component of a point in a plane, do no
harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from dynbench.robots.robot import FloatArray, Robot

SMALLEST = 1e-12  # of singular values, over the largest


class Tree(Protocol):
    """What an engine computes of the tree, one state at a time."""

    def inverse_dynamics(
        self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None
    ) -> FloatArray: ...

    def mass_matrix(self, q: FloatArray) -> FloatArray: ...


Closures = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]  # (q, v) to A (m, nv) and rate (m,)


def refused(robot: Robot) -> str | None:
    """Return why an engine that closes loops by points cannot handle a robot with loops, None if it can."""
    if robot.has_couplings:
        return "its loops are closed by points, and this robot has joints that follow others"
    if np.asarray(robot.loops.rows)[:, 3:].any():
        return "its loops are closed by points, and this robot has closures that hold angles"
    if robot.has_extras:
        return "armature, damping and friction are added to its results, with closed loops they cannot be"
    if len(robot.actuated) != robot.loop_analysis.dof:
        return "it balances as many actuators as there are degrees of freedom, and this robot has another number"
    return None


class DenseLoops:
    """Quantities of a robot with loops, in our coordinates."""

    def __init__(self, robot: Robot, tree: Tree, closures: Closures) -> None:
        self.robot = robot
        self.tree = tree
        self.closures = closures
        self.rest = np.setdiff1d(np.arange(robot.nv), robot.actuated)

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        needed = self.tree.inverse_dynamics(q, v, a, wrench)
        A, _ = self.closures(q, v)
        count = len(self.robot.actuated)
        balance = np.zeros((self.robot.nv, count + len(A)))
        balance[self.robot.actuated, np.arange(count)] = 1.0
        balance[:, count:] = A.T
        return _solved(balance, needed)[:count]

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        nv = self.robot.nv
        forces = -self.tree.inverse_dynamics(q, v, np.zeros(nv), wrench)
        forces[self.robot.actuated] += tau
        M = self.tree.mass_matrix(q)
        A, rate = self.closures(q, v)
        whole = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
        return _solved(whole, np.concatenate([forces, -rate]))[:nv]

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        M = self.tree.mass_matrix(q)
        A, _ = self.closures(q, np.zeros(self.robot.nv))
        active = self.robot.actuated
        W = np.zeros((self.robot.nv, len(active)))
        W[active] = np.eye(len(active))
        W[self.rest] = -_solved(A[:, self.rest], A[:, active])
        return W.T @ M @ W

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        """Actuated coordinates do not accelerate, the others as the loops demand."""
        A, rate = self.closures(q, v)
        a = np.zeros(self.robot.nv)
        a[self.rest] = -_solved(A[:, self.rest], rate)
        return self.inverse_dynamics(q, v, a, wrench)


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=SMALLEST)[0], dtype=np.float64)
