"""Screws and products of exponentials, in the spatial representation; with the time derivative of the forces.

F. C. Park, J. E. Bobrow, S. R. Ploen, A Lie group formulation of robot dynamics, International Journal of Robotics
Research 14(6), 1995; A. Mueller, Screw and Lie group theory in multibody dynamics, Multibody System Dynamics, 2018, and
An O(n)-algorithm for the higher-order kinematics and inverse dynamics of serial manipulators using spatial
representation of twists, IEEE Robotics and Automation Letters, 2021. Trees, spherical and free joints are added here;
equation numbers are those of this docstring.

**Geometry.** Joints are described by their screws Y = (eta; omega) in the zero configuration, world axes: no link
frames. The pose of a body relative to its zero pose is a product of exponentials along its path,

    exp(Y q) = [1 + s omega~ + (1 - c) omega~ omega~,  s eta + (1 - c) omega x eta]    rotation, s = sin q, c = cos q
    exp(Y q) = [1, q eta]                                                              translation               (1)
    Y = Ad(H) S,                   H the pose at zero, S the unit motions of the joint in body axes              (2)
    g = g_p exp(Y q)               g = g_p H (joint motion) H^-1 for spherical and free joints                   (3)
    J = Ad(g) Y,   I = Ad(g)^-T I_0 Ad(g)^-1      joint screw and inertia now; for one axis Ad(g_p) Y is the same  (4)

with |omega| = 1, eta orthogonal to it, and Ad(R, r)(v; w) = (R v + r x R w; R w).

**Dynamics.** All twists (v; w) and wrenches (f; n) are in world axes about one point that is fixed in the world.
Recursions are then sums without transforms, and J' = V x J. With x = J q', y = J q'', z = J q''' (q' and its
derivatives are the components of v, a, jerk), V x (v; w) and V x* (f; n) the products of twists with twists and
wrenches:

    V = V_p + x                                                                                                  (5)
    A = A_p + y + V x x                                         ground: A = (-g; 0)                              (6)
    B = B_p + z + 2 V x y + A x x + V x (V x x)                 ground: B = 0                                    (7)
    f = I A + V x* I V - f_ext                                                                                   (8)
    f' = I (B - V x A) + 2 V x* I A + A x* I V + V x* (V x* I V) - V x* f_ext                                    (9)
    F = f + sum F_c                F' = f' + sum F_c'                                                            (10)
    tau = J^T F                                                                                                  (11)
    tau' = J^T (F' - V x* F)                                                                                     (12)
    M_ij = J_i^T (sum of I over all bodies from i on) J_j       j on the path of i                               (13)

The gravity of (6) is valid in (7) and (9) too. External wrenches are constant in body axes. The fixed point is where
the origin of the root (the first body of the path) is in the zero configuration, for a root with a free joint where it
is now: far from the world's origin no digits are lost.

(12) is the second-order inverse dynamics that control of robots with elastic joints needs:
``solver.inverse_dynamics_rate(q, v, a, jerk)`` returns tau and tau'.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from dynbench.methods import validation
from dynbench.methods.base import Solver
from dynbench.methods.generic_code import GenericCode
from dynbench.methods.kernel_method import KernelMethod, TreeMethod
from dynbench.methods.screw import dynamics, model
from dynbench.methods.threads import in_threads
from dynbench.robots.robot import FloatArray, Robot


class Screw(TreeMethod):
    """Inverse dynamics and its time derivative in O(n), mass matrix in O(n d). Equations: (1)-(13)"""

    name: ClassVar[str] = "screw"
    title: ClassVar[str] = "Screws (product of exponentials)"
    reference: ClassVar[str] = (
        "Park, Bobrow, Ploen, A Lie group formulation of robot dynamics (1995); Mueller (2018, 2021); numbered in "
        "methods/screw"
    )
    cost: ClassVar[str] = "O(n)"
    kernels: ClassVar = {"inverse_dynamics": dynamics.inverse_dynamics, "mass_matrix": dynamics.mass_matrix}
    work: ClassVar = {"inverse_dynamics": dynamics.WORK, "mass_matrix": dynamics.MATRIX_WORK}

    def pack(self, robot: Robot) -> FloatArray:
        return model.pack(robot)

    def direct_solver(self, robot: Robot) -> Solver:
        made = KernelMethod.direct_solver(self, robot)  # not super(): self may be the method under springs
        if robot.has_springs:  # the rate does not have their forces
            return made
        calls = {name: getattr(made, name) for name in self.computes}
        return ScrewSolver(self, robot, calls, made._handles, made.model)


class ScrewSolver(Solver):
    """The common quantities of a tree, and the time derivative of the joint forces."""

    def inverse_dynamics_rate(
        self, q: Any, v: Any, a: Any, jerk: Any, wrench: Any = None, threads: int | None = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return the joint forces and their time derivatives, (nv,) or (N, nv) each.

        Parameters
        ----------
        q : array, shape (nq,) or (N, nq)
        v, a, jerk : array, shape (nv,) or (N, nv)
            Velocities and the first and second derivatives of their components.
        wrench : array, shape (n, 6) or (N, n, 6), optional
            External wrenches, constant in body axes.
        threads : int or None
            For batches, as for all quantities.
        """
        count = validation.thread_count(threads)
        (q, v, a, jerk), rows, single = validation.check(self.robot, ("q", "v", "a", "jerk"), (q, v, a, jerk), wrench)
        both = np.concatenate([a, jerk], axis=1)
        out = np.empty((len(q), 2, self.robot.nv))
        if len(q):
            in_threads(self._rate.batch(rows is not None), [q, v, both, rows, out.reshape(len(q), -1)], len(q), count)
        return (out[0, 0], out[0, 1]) if single else (out[:, 0], out[:, 1])

    @functools.cached_property
    def _rate(self) -> RateCode:
        return RateCode(self.robot, self.model)


class RateCode(GenericCode):
    """The kernel of tau and tau': a and jerk stand side by side in the place of a."""

    def __init__(self, robot: Robot, packed: FloatArray) -> None:
        size = dynamics.RATE_WORK * (robot.n + 1)
        super().__init__(dynamics.inverse_dynamics_rate, "state", robot, packed, size, "a", (2, robot.nv))

    @functools.cached_property
    def _numbers(self) -> FloatArray:
        from dynbench.methods.kernels.compiled import header

        nv, quaternions = self.robot.nv, [j for j, _ in self.robot.quaternions]
        none = np.empty(0, dtype=np.int64)
        lengths = (self.size, self.robot.nq, nv, 2 * nv, 2 * nv)
        return header(self.model, *lengths, quaternions, none, 6 * self.robot.n)
