"""Constraint embedding: bodies that loops tie together become one body of a tree, with freedoms of its own.

A. Jain, Multibody graph transformations and analysis, part II: closed-chain constraint embedding, Nonlinear Dynamics
67(3), 2012, 2153-2170; Robot and Multibody Dynamics, Springer 2011. The bodies of a loop, below their common ancestor,
are an aggregate body G; loops that share a joint share it. All bodies of G hang on one body p outside it, so that
aggregates and single bodies form a tree again, and its algorithms are those of trees: the cost grows with the number of
nodes, and with the third power only of what is inside one.

With A_G the rows and columns of the loops' Jacobian that belong to G (no others meet), g = A' v, motions and wrenches
in world axes (`kernels.spatial`), x_i the acceleration of body i less what it is at a = 0, S_j the unit motions of
joint j,

    A_G W = 0,   a_G = W u' + a_0,   A_G a_0 = -g_G               W: motions of G per unit of its own speeds u      (1)
    H_i = sum of S_j W_j,   b_i = sum of S_j a_0j                 over the joints j of G from p to body i           (2)
    x_i = x_p + H_i u' + b_i                                                                                        (3)

P_i and z_i begin as inertia and required wrench of body i and collect those of the nodes it carries. From the tips,

    U = sum of P_i H_i,   D = sum of H_i^T P_i H_i                over the bodies i of G                            (4)
    e = W^T tau_G - sum of H_i^T (P_i b_i + z_i)                                                                    (5)
    P_p += sum of P_i - U D^-1 U^T                                                                                  (6)
    z_p += sum of (P_i b_i + z_i) + U D^-1 e                                                                        (7)

and from the base

    u' = D^-1 (e - U^T x_p),   a_G = W u' + a_0                                                                     (8)

With one body in each node (a tree) this is the articulated-body algorithm, and with one node for all bodies it is
W^T M W u' = W^T (B tau - h - M a_0).
u are the actuated speeds: with Z the projection on the null space of A_G, from the directions of its rows Q
(`kernels.pseudo_inverse`), redundant rows or not,

    Z = 1 - Q^T Q,   W = Z_:a (Z_aa)^-1,   a_0 with a_0a = 0                                                        (9)

Inverse dynamics and mass matrix of a node are those of the tree, projected: tau = W^T (M a + h), W^T M W           (10)

Equation numbers are those of this docstring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dynbench.methods.constraint_embedding import dynamics, motions, nodes
from dynbench.methods.constraints import ConstraintMethod, States
from dynbench.methods.generic_code import Kernel
from dynbench.robots.robot import FloatArray, Robot


class ConstraintEmbedding(ConstraintMethod):
    """Inverse and forward dynamics, the latter by recursion over loops and bodies. Equations: (1)-(10)

    Integrators use the shared projections of `kernels.following`, and these accelerations.
    """

    name: ClassVar[str] = "constraint-embedding"
    title: ClassVar[str] = "Constraint embedding (loops as bodies of a tree)"
    reference: ClassVar[str] = "Jain, Robot and Multibody Dynamics (2011); Nonlinear Dynamics 67 (2012)"
    cost: ClassVar[str] = "O(n + k^3), k joints in a loop"
    extras: ClassVar[bool] = False
    couplings: ClassVar[bool] = False
    kernels: ClassVar[Mapping[str, Kernel]] = {
        "inverse_dynamics": dynamics.inverse_dynamics,
        "forward_dynamics": dynamics.forward_dynamics,
        "mass_matrix": dynamics.mass_matrix,
        "bias": dynamics.bias,
    }
    following: ClassVar[Mapping[str, Kernel]] = {"accelerate": dynamics.accelerate}
    fallbacks: ClassVar[tuple[str, ...]] = ("forward_dynamics",)

    def own_size(self, robot: Robot) -> int:
        return nodes.size(robot)

    def table(self, robot: Robot, states: States = "regular") -> FloatArray:
        allowed = {"regular": motions.REGULAR, "any": motions.ANY, "following": motions.DAMPED}
        return nodes.pack(robot, allowed[states])

    def absent(self, quantity: str, robot: Robot) -> bool:
        many = len(robot.actuated) > robot.loop_analysis.dof
        return (many and quantity == "inverse_dynamics") or super().absent(quantity, robot)
