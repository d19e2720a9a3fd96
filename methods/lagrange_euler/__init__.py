"""Lagrange-Euler: the closed form of the equations of motion, with its three terms formed and multiplied out.

    M(q) a + C(q, v) v + g(q) = tau                                                                                 (1)

As the textbooks derive it from kinetic and potential energy (Siciliano, Sciavicco, Villani, Oriolo, Robotics,
Springer 2009, section 7.1; Murray, Li, Sastry, 1994, chapter 4), with the geometric Jacobians of the bodies' centres of
mass in world axes. Column s is

    (V_s, e_s) = (e_s x (c - x_s), e_s)      rotation about the axis e_s through x_s
               = (e_s, 0)                    translation along it                                                   (2)

    M_rs = sum over bodies of  m V_r . V_s + e_r . I e_s                                                            (3)
    g_r  = - sum over bodies of  m g . V_r                                                                          (4)

External wrenches are projected in the same way and added to g. Lagrange's equations give C by the Christoffel symbols
of M,

    c_rsk = (dM_rs/dq_k + dM_rk/dq_s - dM_sk/dq_r) / 2                                                              (5)

For a body made of particles at x_p these are the sum of m_p dx_p/dq_r . d2x_p/dq_s dq_k, hence

    C_rs = sum over particles of  m_p J_pr . d(J_ps)/dt                                                             (6)
         = sum over bodies of  m V_r . Vdot_s + e_r . (I edot_s + (S e_s) x w),     S = tr(I)/2 1 - I               (7)

S being the second moment of mass. (7) is computed: the same numbers as from the n^3 symbols, in n^3 operations
instead of n^4. The particle form also serves where v is not the derivative of coordinates, as for spherical and free
joints, and Christoffel's formula does not hold. Always dM/dt = C + C^T, so dM/dt - 2 C is skew.

Cost: O(n d^2), d the degrees of freedom between a body and the ground, so O(n^3) for a chain. It is included for
comparison and for its C. Forward dynamics solves (1) with M by L D L^T. The equation numbers are those of this
docstring, not the books'.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.lagrange_euler.equations import coriolis_matrix, forward_dynamics, inverse_dynamics, mass_matrix
from dynbench.methods.lagrange_euler.jacobians import BODY, FREEDOM
from dynbench.robots.robot import Robot


class LagrangeEuler(KernelMethod):
    """The closed form M a + C v + g, in O(n d^2); its C has the property that dM/dt - 2 C is skew.

    Equations: (1)-(7)
    """

    name: ClassVar[str] = "lagrange-euler"
    title: ClassVar[str] = "Lagrange-Euler (closed form)"
    reference: ClassVar[str] = "Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 7.1"
    cost: ClassVar[str] = "O(n d^2)"
    springs: ClassVar[bool] = True  # as external wrenches, see `dynbench.methods.springs`
    loops: ClassVar[bool] = True  # by projection, see `dynbench.methods.loops`
    kernels: ClassVar = {
        "inverse_dynamics": inverse_dynamics,
        "forward_dynamics": forward_dynamics,
        "mass_matrix": mass_matrix,
        "coriolis_matrix": coriolis_matrix,
    }

    def work_size(self, robot: Robot, quantity: str) -> int:
        matrices = 2 * robot.nv**2 if quantity in ("inverse_dynamics", "forward_dynamics") else 0
        return (robot.n + 1) * BODY + robot.nv * FREEDOM + matrices
