"""Newton-Euler: the recursive algorithms of the textbooks, on trees with any joints.

Inverse dynamics (`rnea`), mass matrix (`crba`) and forward dynamics (`aba`) after R. Featherstone, Rigid Body Dynamics
Algorithms, Springer 2008, written with 3-vectors and 3x3 blocks in body axes. Accelerations are those of the frame
origins, not spatial ones, which avoids multiplications by structural zeros. The lines of the book's tables, in its
symbols (X: transform from the parent p, its transpose to it; x, x*: cross products), and the names in the code; the
numbers are those of this docstring.

    table 5.1, recursive Newton-Euler                         names here
    (1)  v = X v_p + S q'                                     w; linear velocities are not needed
    (2)  a = X a_p + S q'' + S' q' + v x S q'                 wd, acc: angular acceleration, acceleration of the origin
    (3)  f = I a + v x* I v - f_ext                           f, n: force, moment about the frame origin
    (4)  tau = S^T f                                          joint_force
    (5)  f_p += X^T f                                         inward

    table 6.2, composite rigid bodies
    (6)  I^c_p += X^T I^c X, starting from I                  m, h, inertia: mass, first moment, inertia
    (7)  F = I^c S                                            f, n
    (8)  H_ij = H_ji = S_j^T F, with F moved inward to j      fill_row; all in the frame of the root

    table 7.1, articulated bodies
    (9)  c = v x S q' + S' q'                                 zw, za, as parts of wd and acc
    (10) I^A = I,  p^A = v x* I v - f_ext                     A, B, C and f, n
    (11) U = I^A S                                            uf, un, one freedom at a time
    (12) D = S^T U                                            d; inverse = 1/D
    (13) u = tau - S^T p^A                                    left
    (14) I^a = I^A - U D^-1 U^T                               A, B, C
    (15) p^a = p^A + I^a c + U D^-1 u                         f, n
    (16) I^A_p += X^T I^a X,  p^A_p += X^T p^a                IA, IB, IC and BF, BN of the parent
    (17) a' = X a_p + c                                       acc, wd
    (18) q'' = D^-1 (u - U^T a')                              a
    (19) a = a' + S q''                                       acc, wd

    regressor, tau = Y theta, theta = (m, h, J) of all bodies: see the docstring of `regressor`
    (41) f = a_o m + B h,   B = w'~ + w~ w~                   acceleration_field
    (42) n = -a_o~ h + G J,   G = L(w') + w~ L(w)             inertia_field
    (43) Y_ji = (l . a_o, B^T l + a_o x e, G^T e)             fill_columns
    (44) e = R^T e_j,   l = R^T (l_j + e_j x r)               the unit motion of joint j, at body i in its axes

S are the unit axes of a joint, +z if it has one axis (`kernels.tree`). Derivatives are in `derivatives`.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels import sweeps
from dynbench.methods.newton_euler import aba, crba, derivatives, regressor, rnea
from dynbench.robots.robot import Robot


class NewtonEuler(TreeMethod):
    """RNEA, CRBA and ABA: O(n), O(n d) and O(n), d the depth of the tree.

    Equations: (1)-(19), (41)-(44)
    """

    name: ClassVar[str] = "newton-euler"
    title: ClassVar[str] = "Newton-Euler (RNEA, CRBA, ABA)"
    reference: ClassVar[str] = "Featherstone, Rigid Body Dynamics Algorithms (2008), tables 5.1, 6.2, 7.1"
    cost: ClassVar[str] = "O(n)"
    rotors: ClassVar[bool] = True
    kernels: ClassVar = {
        "inverse_dynamics": rnea.inverse_dynamics,
        "mass_matrix": crba.mass_matrix,
        "forward_dynamics": aba.forward_dynamics,
        "reactions": rnea.reactions,
        "inverse_dynamics_derivatives": derivatives.inverse_dynamics_derivatives,
        "forward_dynamics_derivatives": derivatives.forward_dynamics_derivatives,
        "regressor": regressor.regressor,
    }
    work: ClassVar = {
        "inverse_dynamics": sweeps.WORK,
        "mass_matrix": crba.WORK,
        "forward_dynamics": aba.WORK,
        "reactions": sweeps.WORK,
        "inverse_dynamics_derivatives": derivatives.WORK,
        "forward_dynamics_derivatives": max(aba.WORK, derivatives.WORK),
        "regressor": regressor.WORK,
    }

    def work_size(self, robot: Robot, quantity: str) -> int:
        dense = robot.nv * (robot.nv + 1) if quantity == "forward_dynamics_derivatives" else 0  # M, a column
        return dense + super().work_size(robot, quantity)
