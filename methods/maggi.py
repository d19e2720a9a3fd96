"""Maggi's equations: loops by the null space of their constraints, on any formulation of the tree.

G. A. Maggi, 1896 and 1901; A. Laulusa, O. A. Bauchau, Review of classical approaches for constraint enforcement in
multibody systems, Journal of Computational and Nonlinear Dynamics 3(1), 2008. Velocities that satisfy the loops are N u
with free u. Projecting the tree's equations on N removes the loop forces, and leaves as many equations as there are
degrees of freedom. Equation numbers are those of this docstring.

M and b are mass matrix and bias of the spanning tree (here of `newton_euler`), A the Jacobian of the loops, g = A' v;
B selects the actuated coordinates (index a), d are the others.

    A v = 0,   A a + g = 0                                                                  (1)
    v = N u,   A N = 0                                      u: any independent speeds       (2)
    N_a = 1,   N_d = -A_d^-1 A_a                            u = actuated speeds             (3)
    N^T (M a + b - B tau) = 0                               Maggi                           (4)
    tau = N^T (M a + b)                                     since N^T B = 1 by (3)          (5)
    a = N u' + c,   c_a = 0,   c_d = -A_d^-1 g              c = N' u without forming N'     (6)
    (N^T M N) u' = tau - N^T (M c + b)                                                      (7)

Where A_d is singular, with redundant loops and with more actuators than freedoms, u are other speeds: N is orthonormal
in the metric of M, and c the smallest acceleration with A c = -g in that metric, which is orthogonal to N,

    N^T M N = 1,   u' = N^T (B tau - b)                                                     (8)

and inverse dynamics solves (4) for the tau of least norm. Integrators use (8) too, so that they pass singular
positions (`kernels.following`).
"""

from __future__ import annotations

from typing import Any, ClassVar

from dynbench.methods.base import Solver
from dynbench.methods.constraints import ConstraintMethod
from dynbench.methods.kernels.closure import (
    BASIS,
    DIRECTIONS,
    DOF,
    FORCES,
    FREE_MOTIONS,
    FULL,
    INNER,
    MASS,
    MASSLESS,
    METHOD,
    NA,
    NV,
    RANK,
    RATE,
    REDUCED,
    SOLVED,
    part,
)
from dynbench.methods.kernels.free_motions import null_space
from dynbench.methods.kernels.linear import add_transposed_product, ldlt, ldlt_solve, subtract_from
from dynbench.methods.kernels.mass_metric import applied, half_transposed, less_demand, sharp
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.projection import (
    basis,
    close_motion,
    close_near,
    mass_matrix,
    nan_if_invalid,
    no_mass,
    particular,
    project,
    reduced_mass,
)
from dynbench.methods.kernels.scalar import Buffer, Tag, called, generic, index, load, store
from dynbench.methods.loops import around, looped_solver
from dynbench.methods.newton_euler import crba, rnea
from dynbench.robots.robot import Robot

tree_inverse_dynamics: Any = rnea.inverse_dynamics
tree_mass_matrix: Any = crba.mass_matrix


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    zero = nan_if_invalid(close_motion(tag, model, q, v, a, work))  # (1)
    basis(tag, model, work)  # (2), (3)
    full = part(tag, model, work, FULL)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    project(tag, model, full, out, work, zero)  # (5), which solves (4)


@generic
def bias(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer) -> None:
    """(5) at u' = 0, where a is c of (6)."""
    c, full = part(tag, model, work, MASS), part(tag, model, work, FULL)
    zero = nan_if_invalid(close_near(tag, model, q, v, work))
    basis(tag, model, work)
    particular(tag, model, c, work)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, c, wrench, full, part(tag, model, work, INNER))
    project(tag, model, full, out, work, zero)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    nv, na = index(model, NV), index(model, NA)
    zero = nan_if_invalid(close_near(tag, model, q, v, work))
    basis(tag, model, work)
    N, u, reduced = part(tag, model, work, BASIS), part(tag, model, work, FORCES), part(tag, model, work, REDUCED)
    full, own, inner = part(tag, model, work, FULL), model[index(model, METHOD) :], part(tag, model, work, INNER)
    particular(tag, model, out, work)  # (6) c
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    project(tag, model, full, u, work, zero)
    subtract_from(tag, tau, u, na)  # (7)
    tree_mass_matrix(tag, own, q, no_mass(tag, model, work), inner)
    reduced_mass(tag, model, reduced, work)
    ldlt(tag, reduced, 0, na)
    ldlt_solve(tag, reduced, 0, na, u, 0)
    add_transposed_product(tag, N, na, nv, u, out)  # (6) a = c + N u'


@called
def acceleration(tag: Tag, model: Buffer, tau: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """(6) with (8); M is factorised, its directions of the loops and g are found, ``force`` holds b."""
    smallest(tag, model, tau, force, out, work)
    null_space(tag, model, work)
    add_free_motion(tag, model, force, out, work)


@called
def acceleration_followed(tag: Tag, model: Buffer, tau: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """`acceleration` for integrators, with N orthogonal to the loops' directions to rounding.

    `null_space` leaves 1e-16 over the largest entry of N, 2e-15 with 80 loop equations, which is noise in how the loops
    are kept: near singular positions the step size followed it, with 2.5 times the evaluations.
    """
    smallest(tag, model, tau, force, out, work)
    null_space(tag, model, work)
    nv, Q, N = index(model, NV), part(tag, model, work, DIRECTIONS), part(tag, model, work, FREE_MOTIONS)
    for j in range(index(model, DOF)):
        for k in range(index(model, RANK)):
            x = inner_product(tag, Q, k * nv, N, j * nv, nv)
            for i in range(nv):
                store(tag, N, j * nv + i, load(tag, N, j * nv + i) - x * load(tag, Q, k * nv + i))
    add_free_motion(tag, model, force, out, work)


@generic
def smallest(tag: Tag, model: Buffer, tau: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """c of (6) and (8) to ``out``, and B tau - b in the place of b."""
    rate, c = part(tag, model, work, RATE), part(tag, model, work, SOLVED)
    applied(tag, model, tau, force)
    if index(model, MASSLESS) == 1:
        less_demand(tag, model, rate, force, work)
    sharp(tag, model, rate, c, work)
    for i in range(index(model, NV)):
        store(tag, out, i, -load(tag, c, i))


@generic
def add_free_motion(tag: Tag, model: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """out += N u', (8)"""
    nv, N = index(model, NV), part(tag, model, work, FREE_MOTIONS)
    for k in range(index(model, DOF)):
        row = N[k * nv * len(tag) :]
        half_transposed(tag, model, row, work)
        u = inner_product(tag, row, 0, force, 0, nv)
        for i in range(nv):
            store(tag, out, i, load(tag, out, i) + u * load(tag, row, i))


class Maggi(ConstraintMethod):
    """Inverse and forward dynamics of robots with loops, by projection on the null space. Equations: (1)-(8)"""

    name: ClassVar[str] = "maggi"
    title: ClassVar[str] = "Maggi (null space of the loops)"
    reference: ClassVar[str] = "Maggi (1896, 1901); Laulusa and Bauchau, J. Comput. Nonlinear Dyn. 3(1) (2008)"
    cost: ClassVar[str] = "O(n + m^3 + n f), m loop equations, f freedoms"
    kernels: ClassVar = {
        "inverse_dynamics": inverse_dynamics,
        "forward_dynamics": forward_dynamics,
        "mass_matrix": mass_matrix,  # N^T M N of (7)
        "bias": bias,
    }
    following: ClassVar = {"acceleration": acceleration_followed}

    def own_size(self, robot: Robot) -> int:
        return 0

    def build(self, robot: Robot) -> Solver:
        names = self.names(robot)
        own = {quantity: around(kernel, __name__, **names) for quantity, kernel in self.kernels.items()}
        solver = looped_solver(self.spanning_tree(robot), robot, own, {"acceleration": acceleration}, self)
        solver.follow = self.followed(robot, names)
        return solver
