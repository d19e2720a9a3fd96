"""Lagrange's equations of elastic chains from the positions of particles alone: slow, an independent check.

The arms are divided into particles (`dynbench.robots.elastic.particles`), which gives the Lagrangian T - V without
formulas for velocities or accelerations. With J_j = d(velocity)/d(v_j) the partial velocities of the particles and p_j
the generalized momenta,

    p_j   = sum m v . J_j                                     (1)
    tau_j = d p_j / dt - d(T - V) / d q_j                     (2)
    M_jk  = sum m J_j . J_k                                   (3)
    a     = M^-1 (tau - h),   h = tau at a = 0                (4)

where the sums include the rotary inertia of the sections, and external wrenches are subtracted from (2). Derivatives
are complex steps: f(x + i h) = f(x) + i h f'(x), with h so small that nothing is lost by truncation or rounding. The
method shares the assumptions of `gibbs_appell_elastic` (material points, shapes in s/l, rotation of the tip) and none
of its equations. The numbers are those of this docstring.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dynbench.methods.base import Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.robots.elastic import particles
from dynbench.robots.robot import FloatArray, Robot

STEP = 1e-40  # of the complex steps; its square is negligible beside any number here


class LagrangeElastic(Method):
    """O(n^2 (n + m)) with a large constant: about a millisecond per arm and coordinate.

    Equations: (1)-(4)
    """

    name: ClassVar[str] = "lagrange-elastic"
    title: ClassVar[str] = "Lagrange, elastic R-P chain (particles, complex step)"
    reference: ClassVar[str] = (
        "Lagrange's equations; kinematics of Korayem, Shafei et al., Modares Mech. Eng. 13(1), 2013"
    )
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n^2 (n + m))"
    elastic: ClassVar[bool] = True

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is None and not robot.is_elastic:
            reason = f"{self.name} is for chains of elastic arms (elastic_rp_chain), this robot is rigid"
        return reason

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)

        def inverse_dynamics(q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
            # (2), less the external wrenches
            return momentum_rate(robot, q, v, a) - slope(robot, q, v) - pushed(robot, q, wrench)

        def mass_matrix(q: FloatArray) -> FloatArray:
            return inertia(robot, q)

        def forward_dynamics(q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
            # (4)
            bias = inverse_dynamics(q, v, np.zeros(robot.nv), wrench)
            return np.asarray(np.linalg.solve(inertia(robot, q), tau - bias), dtype=np.float64)

        return function_solver(
            self,
            robot,
            {
                "inverse_dynamics": inverse_dynamics,
                "mass_matrix": mass_matrix,
                "forward_dynamics": forward_dynamics,
            },
        )


def momentum_rate(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
    """Return d p_j / dt along the motion with p_j by (1), shape (nv,)."""
    later_q, later_v = (np.tile(x + 1j * STEP * xd, (robot.nv, 1)) for x, xd in ((q, v), (v, a)))
    partial = particles.motion(robot, later_q, np.eye(robot.nv))
    return np.asarray(particles.pairing(particles.motion(robot, later_q, later_v), partial).imag / STEP)


def slope(robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return d(T - V) / d q_j of (2), shape (nv,)."""
    aside = q + 1j * STEP * np.eye(robot.nv)
    moving = particles.motion(robot, aside, np.tile(v, (robot.nv, 1)))
    kinetic = 0.5 * particles.pairing(moving, moving)
    lagrangian = kinetic - particles.weight(robot, moving) - particles.strain(robot, aside)
    return np.asarray(lagrangian.imag / STEP)


def inertia(robot: Robot, q: FloatArray) -> FloatArray:
    """Return the mass matrix (3): the products of all partial velocities, shape (nv, nv)."""
    partial = particles.motion(robot, np.tile(q, (robot.nv, 1)), np.eye(robot.nv))
    linear = np.einsum("rk,rki,cki->rc", partial.mass, partial.velocity, partial.velocity)
    return np.asarray(linear + np.einsum("rki,rkij,ckj->rc", partial.spin, partial.section, partial.spin))


def pushed(robot: Robot, q: FloatArray, wrench: FloatArray | None) -> FloatArray:
    """Return the generalized force of external wrenches (n, 6), body axes at the body frames, shape (nv,)."""
    if wrench is None:
        return np.zeros(robot.nv)
    frames = particles.motion(robot, np.tile(q, (robot.nv, 1)), np.eye(robot.nv))
    R, turning = frames.rotation.value, frames.rotation.rate
    spin = R.swapaxes(-1, -2) @ turning
    omega = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
    velocity = np.einsum("rbji,rbj->rbi", R, frames.origin.rate)
    return np.asarray(np.einsum("rbi,bi->r", velocity, wrench[:, :3]) + np.einsum("rbi,bi->r", omega, wrench[:, 3:]))
