"""D'Alembert's principle in numpy: the virtual power of what all bodies need is that of the joint forces.

A method need not know of compilers. dynbench loops over the states of a batch, and its report says so.
"""

import numpy as np

from dynbench.methods import Method, Solver, function_solver
from dynbench.robots import Robot, kinematics


class DAlembert(Method):
    """Inverse dynamics and mass matrix in O(n^2): each body's velocity per unit rate of every joint."""

    name, title, cost, contract = "dalembert", "d'Alembert (numpy)", "O(n^2)", 1
    reference = "d'Alembert's principle in Lagrange's form, virtual velocities for virtual displacements"
    computes = ("inverse_dynamics", "mass_matrix", "bias")

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)

        def inverse_dynamics(q, v, a, wrench):
            needed = inertia_wrenches(robot, q, v, a)
            return np.tensordot(jacobians(robot, q), needed if wrench is None else needed - wrench, 2)

        def mass_matrix(q):
            J = jacobians(robot, q)  # (nv, n, 6)
            return np.einsum("ubi,bij,wbj->uw", J, spatial_inertias(robot), J, optimize=True)

        return function_solver(self, robot, {"inverse_dynamics": inverse_dynamics, "mass_matrix": mass_matrix})


def jacobians(robot, q):
    """Linear and angular velocity of each body per unit of each rate, body axes: (nv, n, 6)."""
    return kinematics.velocities(robot, np.tile(q, (robot.nv, 1)), np.eye(robot.nv))


def inertia_wrenches(robot, q, v, a):
    """Force and moment that each body needs in order to move as it does, at its origin, body axes: (n, 6)."""
    R, p = kinematics.poses(robot, q)
    _, w, acc, alpha = kinematics.accelerations(robot, R[None], p[None], q[None], v[None], a[None])
    w, acc, alpha = (np.einsum("bji,bj->bi", R, x[0]) for x in (w, acc - robot.gravity, alpha))
    c, momentum = robot.com, np.einsum("bij,bj->bi", robot.inertia, w)
    force = robot.mass[:, None] * (acc + np.cross(alpha, c) + np.cross(w, np.cross(w, c)))
    moment = np.einsum("bij,bj->bi", robot.inertia, alpha) + np.cross(w, momentum) + np.cross(c, force)
    return np.hstack([force, moment])


def spatial_inertias(robot):
    """The 6x6 inertia of each body about its origin, force over moment: (n, 6, 6)."""
    C = np.cross(np.eye(3), robot.com[:, None, :])  # C x = c x x
    m = robot.mass[:, None, None]
    top = np.concatenate([m * np.eye(3), -m * C], axis=2)
    return np.concatenate([top, np.concatenate([m * C, robot.inertia - m * C @ C], axis=2)], axis=1)
