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

This is for regular states: where the actuated coordinates do not determine the motion, A_d is singular.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.base import Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import KernelRun
from dynbench.methods.kernels import closure, tree
from dynbench.methods.kernels.closure import BASIS, FORCES, FULL, INNER, MASS, METHOD, NA, NEAR, NV, REDUCED, part
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.projection import (
    basis,
    close,
    close_motion,
    inner_product,
    moving,
    nan_if_invalid,
    particular,
    reduced_mass,
)
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, store
from dynbench.methods.newton_euler import NewtonEuler, crba, rnea
from dynbench.robots.robot import FloatArray, Robot


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    zero = nan_if_invalid(close_motion(tag, model, q, v, a, work))  # (1)
    basis(tag, model, work)  # (2), (3)
    project(tag, model, q, v, a, wrench, out, work, zero)


@generic
def bias(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer) -> None:
    """(5) at u' = 0, where a is c of (6)."""
    off, c = const(model, NEAR), part(tag, model, work, MASS)
    zero = nan_if_invalid(close(tag, model, q, work, off) + moving(tag, model, v, work, off))
    basis(tag, model, work)
    particular(tag, model, c, work)
    project(tag, model, q, v, c, wrench, out, work, zero)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """N^T M N of (7)."""
    zero = nan_if_invalid(close(tag, model, q, work, const(model, NEAR)))
    basis(tag, model, work)
    project_mass(tag, model, q, out, work)
    for k in range(index(model, NA) * index(model, NA)):
        store(tag, out, k, load(tag, out, k) + zero)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    off, nv, na = const(model, NEAR), index(model, NV), index(model, NA)
    zero = nan_if_invalid(close(tag, model, q, work, off) + moving(tag, model, v, work, off))
    basis(tag, model, work)
    N, u, reduced = part(tag, model, work, BASIS), part(tag, model, work, FORCES), part(tag, model, work, REDUCED)
    particular(tag, model, out, work)  # (6) c
    project(tag, model, q, v, out, wrench, u, work, zero)
    for j in range(na):  # (7)
        store(tag, u, j, load(tag, tau, j) - load(tag, u, j))
    project_mass(tag, model, q, reduced, work)
    ldlt(tag, reduced, 0, na)
    ldlt_solve(tag, reduced, 0, na, u, 0)
    for j in range(na):  # (6) a = c + N u'
        for i in range(nv):
            store(tag, out, i, load(tag, out, i) + load(tag, N, j * nv + i) * load(tag, u, j))


@generic
def project(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer, zero: Scalar
) -> None:
    """(5), which solves (4): tau = N^T (M a + b), with M a + b the inverse dynamics of the tree."""
    full, N, nv = part(tag, model, work, FULL), part(tag, model, work, BASIS), index(model, NV)
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    rnea.inverse_dynamics(tag, own, q, v, a, wrench, full, inner)
    for j in range(index(model, NA)):
        store(tag, out, j, zero + inner_product(tag, N, j * nv, full, 0, nv))


@generic
def project_mass(tag: Tag, model: Buffer, q: Buffer, reduced: Buffer, work: Buffer) -> None:
    """N^T M N of (7)."""
    M = part(tag, model, work, MASS)
    clear(tag, M, 0, index(model, NV) * index(model, NV))
    crba.mass_matrix(tag, model[index(model, METHOD) :], q, M, part(tag, model, work, INNER))
    reduced_mass(tag, model, reduced, work)


class Maggi(KernelMethod):
    """Inverse and forward dynamics of robots with loops, by projection on the null space. Equations: (1)-(7)"""

    name: ClassVar[str] = "maggi"
    title: ClassVar[str] = "Maggi (null space of the loops)"
    reference: ClassVar[str] = "Maggi (1896, 1901); Laulusa and Bauchau, J. Comput. Nonlinear Dyn. 3(1) (2008)"
    cost: ClassVar[str] = "O(n + m^3 + n f), m loop equations, f freedoms"
    loops: ClassVar[bool] = True
    extras: ClassVar[bool] = False
    kernels: ClassVar = {
        "inverse_dynamics": inverse_dynamics,
        "forward_dynamics": forward_dynamics,
        "mass_matrix": mass_matrix,
        "bias": bias,
    }

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is not None:
            return reason
        if robot.is_tree:
            return "maggi is for robots with closed loops; a tree has no constraints to project"
        freedoms = robot.nv - robot.loop_analysis.rank
        if len(robot.actuated) != freedoms:
            return f"maggi needs as many actuators as degrees of freedom, {freedoms}, got {len(robot.actuated)}"
        return None

    def pack(self, robot: Robot) -> FloatArray:
        return closure.pack(robot, tree.pack(robot), robot.loop_analysis.independent)

    def work_size(self, robot: Robot, quantity: str) -> int:
        inner = max(NewtonEuler().work_size(robot, name) for name in ("inverse_dynamics", "mass_matrix"))
        return closure.layout(robot, robot.loop_analysis.rank)[-1] + inner

    def build(self, robot: Robot) -> Solver:
        model = self.pack(robot)
        runs = {
            name: KernelRun(kernel, name, robot, model, self.work_size(robot, name))
            for name, kernel in self.kernels.items()
        }
        calls = {name: runs[name].checked() for name in self.computes}
        return Solver(self, robot, calls, {name: runs[name].unchecked for name in self.computes}, model)
