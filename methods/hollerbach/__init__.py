"""Hollerbach's recursive Lagrangian dynamics, with 4x4 transforms and with 3x3 rotations.

J. M. Hollerbach, A recursive Lagrangian formulation of manipulator dynamics and a comparative study of dynamics
formulation complexity, IEEE Transactions on Systems, Man, and Cybernetics SMC-10(11), 1980. Lagrange's equations with
the kinetic energy 1/2 tr(W' J W'^T) of transform matrices W are a double sum of traces. The second derivative of W is
found from the ground outward (Waters), the sum over outer bodies from the tips inward (Hollerbach): O(n). The source is
for serial chains of one-coordinate joints; trees, spherical and free joints are added here. Equation numbers are those
of this docstring; a prime is a time derivative, p the parent of body i, c its children.

**4x4 matrices.** A = [R r; 0 1] leads from body i to its parent, W from body i to the world. x^ = [w~ v; 0 0] is the
matrix of a twist (v; w) in body axes; x is the joint's velocity, y its acceleration, G_k its unit motion k (constant).
The pseudo-inertia of a body is J = [E h; h^T m], with E = int r r^T dm, h = int r dm; gravity is g.

    A' = A x^          A'' = A (x^ x^ + y^)           one coordinate: dA/dq q', d2A/dq2 q'^2 + dA/dq q''        (1)
    W = W_p A                                         W = 1 for the ground                                      (2)
    W' = W_p' A + W_p A'                              0 for the ground                                          (3)
    W'' = W_p'' A + 2 W_p' A' + W_p A''               0 for the ground                                          (4)
    D = J W''^T + sum A_c D_c                         int r r''^T dm of all bodies from i on                    (5)
    c = (h; m) + sum A_c c_c                          first moment and mass of all bodies from i on             (6)
    tau_k = tr(W G_k D) - (g; 0)^T W G_k c            W G_k is dW/dq_k                                          (7)

For a spherical or free joint W G_k is the variation of W along quasi-velocity k. (7) is then d'Alembert's principle,
the sum of dr . (r'' - g) dm, as a trace; it needs no derivative of the energy, hence no terms of Hamel.

**3x3 matrices.** W is the rotation to world axes, o the origin of body i in the world; x = (v_x; w_x), y = (v_y; w_y).

    R' = R w_x~        R'' = R (w_x~ w_x~ + w_y~)                                                               (8)
    W = W_p R          W' = W_p' R + W_p R'           W'' = W_p'' R + 2 W_p' R' + W_p R''                       (9)
    o'' = o_p'' + W_p'' r + 2 W_p' R v_x + W_p R (v_y + w_x x v_x)                                              (10)
    M = m + sum M_c                                   constant: in the packed tree                              (11)
    e = m o'' + W'' h + sum e_c                       world axes                                                (12)
    D = h o''^T + E W''^T + sum (R_c D_c + r_c e_c^T)                                                           (13)
    c = h + sum (R_c c_c + M_c r_c)                                                                             (14)
    rotation about a:       tau = tr(W a~ D) - g^T W a~ c                                                       (15)
    translation along a:    tau = (W a) . (e - M g)                                                             (16)

**External wrenches.** A force f and a moment n on a body at its origin, body axes, take away from its load

    D: [-n~/2; f^T] W^T (4x4),   -n~/2 W^T (3x3)      e: W f                                                    (17)

because tr(w~ n~) = -2 w . n. Every row of W, W', W'', o'' and every column of D, e belongs to one world axis, and these
do not mix before the trace: the kernels work row by row, and keep the transpose of D. Products are computed in full,
zeros of A' and A'' included, since that is the cost of the matrix representation which the source compares. There is no
angular velocity, cross product, force or moment of a body in this formulation: replacing W'' by W (w~ w~ + w'~) turns
it into Newton-Euler (Silver, 1982).
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.hollerbach import rotations, transforms
from dynbench.methods.kernel_method import TreeMethod

PAPER = "Hollerbach, A recursive Lagrangian formulation of manipulator dynamics (IEEE Trans. SMC-10, 1980)"


class Hollerbach(TreeMethod):
    """Inverse dynamics in O(n) with 3x3 rotations. Equations: (8)-(17)"""

    name: ClassVar[str] = "hollerbach"
    title: ClassVar[str] = "Hollerbach (recursive Lagrangian, 3x3)"
    reference: ClassVar[str] = f"{PAPER}, 3x3 matrices; numbered in methods/hollerbach"
    cost: ClassVar[str] = "O(n)"
    kernels: ClassVar = {"inverse_dynamics": rotations.inverse_dynamics}
    work: ClassVar = {"inverse_dynamics": rotations.WORK}


class Hollerbach4x4(TreeMethod):
    """Inverse dynamics in O(n) with 4x4 transforms. Equations: (1)-(7), (17)"""

    name: ClassVar[str] = "hollerbach-4x4"
    title: ClassVar[str] = "Hollerbach (recursive Lagrangian, 4x4)"
    reference: ClassVar[str] = f"{PAPER}, 4x4 matrices; numbered in methods/hollerbach"
    cost: ClassVar[str] = "O(n)"
    kernels: ClassVar = {"inverse_dynamics": transforms.inverse_dynamics}
    work: ClassVar = {"inverse_dynamics": transforms.WORK}
