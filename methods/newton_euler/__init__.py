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

S are the unit axes of a joint, +z if it has one axis (`kernels.tree`).

Derivatives (`derivatives`, after Carpentier and Mansard 2018 and Singh, Russell and Wensing 2022) are in the frame of
the root: twists (v; w) with the linear part at its origin, wrenches (f; n) about it. s is the unit motion of an axis, x
the sum of s q' of a joint. Outward, from the parent's V_p and A_p (ground: 0 and (-g; 0)):

    (20) s'  = V_p x s                              the rate of the axis, as the parent carries it
    (21) s'' = A_p x s + V_p x s'
    (22) V = V_p + x
    (23) A = A_p + sum of (s q'' + s' q')           since V x x = V_p x x
    (24) c = s' + V x s                             2 s' for joints with one axis
    (25) F = I A + V x* I V - f_ext                 f_ext is constant in body axes
    (26) l = m v + w x h,  N = w~ E + h~ v~         h, E: first and second moments of mass

Twelve numbers are all there is in D = V x* I - I V x + (y -> y x* I V), and D sees angular parts alone:

    (27) D (y; z) = -2 (l x z; N z),    D^T (y; z) = (0; 2 l x y - 2 N^T z)

Inward, with m, h, I, l, N and F summed over the subtree of the body, for each of its axes s:

    (28) t1 = I s
    (29) t2 = D^T s
    (30) t3 = D s' + I s'' + s x* F
    (31) t4 = D s + I c

and for each axis r of the body itself and of all bodies on the path to the ground, i being the coordinate of s:

    (32) d tau_i / d q_r = t2 . r' + t1 . r''
    (33) d tau_r / d q_i = r . t3                   not for r of the same joint
    (34) d tau_i / d v_r = t2 . r  + t1 . c_r
    (35) d tau_r / d v_i = r . t4                   not for r of the same joint
    (36) M_ir = t1 . r

Forward dynamics, at the accelerations a that it gives, with factors of M that keep the zeros of branches:

    (37) d a / d q = -M^-1 d tau / d q,     d a / d v = -M^-1 d tau / d v

The regressor, tau = Y theta with theta = (m, h, J) of all bodies (see `regressor`):

    (41) f = a_o m + B h,   B = w'~ + w~ w~                   acceleration_field
    (42) n = -a_o~ h + G J,   G = L(w') + w~ L(w)             inertia_field
    (43) Y_ji = (l . a_o, B^T l + a_o x e, G^T e)             fill_columns
    (44) e = R^T e_j,   l = R^T (l_j + e_j x r)               the unit motion of joint j, at body i in its axes
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels import sweeps
from dynbench.methods.newton_euler import aba, crba, derivatives, regressor, rnea
from dynbench.robots.robot import Robot


class NewtonEuler(TreeMethod):
    """RNEA, CRBA and ABA: O(n), O(n d) and O(n), d the depth of the tree; derivatives in O(n d).

    Equations: (1)-(37), (41)-(44)
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
