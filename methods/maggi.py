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
from dynbench.methods.kernel_run import KernelRun, MotionRun
from dynbench.methods.kernels import closure, tree
from dynbench.methods.kernels.closure import (
    BASIS,
    DEPENDENT,
    EQUATIONS,
    FACTOR,
    FORCES,
    FULL,
    INNER,
    JACOBIAN,
    KEPT,
    MASS,
    METHOD,
    NA,
    NV,
    RATE,
    REDUCED,
    RESIDUAL,
    equations,
    move,
    part,
    place,
    rates,
)
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.orthogonal import factorise
from dynbench.methods.kernels.projection import OFF, SINGULAR, basis, inner_product, particular, reduced_mass, valid
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, index, load, splat, store
from dynbench.methods.newton_euler import NewtonEuler, crba, rnea
from dynbench.robots.robot import FloatArray, Robot


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    zero = valid(constrain(tag, model, q, v, a, work))
    project(tag, model, q, v, a, wrench, out, work, zero)


@generic
def bias(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer) -> None:
    """(5) at u' = 0, where a is c of (6)."""
    zero = valid(constrain(tag, model, q, v, None, work))
    c = part(tag, model, work, MASS)
    particular(tag, model, c, work)
    project(tag, model, q, v, c, wrench, out, work, zero)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """N^T M N of (7)."""
    zero = valid(constrain(tag, model, q, None, None, work))
    project_mass(tag, model, q, out, work)
    for k in range(index(model, NA) * index(model, NA)):
        store(tag, out, k, load(tag, out, k) + zero)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    zero = valid(constrain(tag, model, q, v, None, work))
    nv, na = index(model, NV), index(model, NA)
    N, u, reduced = part(tag, model, work, BASIS), part(tag, model, work, FORCES), part(tag, model, work, REDUCED)
    # (6) c, then (7)
    particular(tag, model, out, work)
    project(tag, model, q, v, out, wrench, u, work, zero)
    for j in range(na):
        store(tag, u, j, load(tag, tau, j) - load(tag, u, j))
    project_mass(tag, model, q, reduced, work)
    ldlt(tag, reduced, 0, na)
    ldlt_solve(tag, reduced, 0, na, u, 0)
    for j in range(na):  # (6) a = c + N u'
        for i in range(nv):
            store(tag, out, i, load(tag, out, i) + load(tag, N, j * nv + i) * load(tag, u, j))


@generic
def constrain(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, work: Buffer) -> Scalar:
    """Fill A, g and N; return a measure that is above 1 if the state misses (1) or is singular. v, a may be None."""
    A, c, g = part(tag, model, work, JACOBIAN), part(tag, model, work, RESIDUAL), part(tag, model, work, RATE)
    nv, r, dependent = index(model, NV), index(model, KEPT), index(model, DEPENDENT)
    place(tag, model, q, work)
    equations(tag, model, work, c, A)
    bad = inner_product(tag, c, 0, c, 0, index(model, EQUATIONS)) * OFF
    if v is not None:
        move(tag, model, v, work)
        rates(tag, model, work, g)
        speed, slip, slip2 = inner_product(tag, v, 0, v, 0, nv), splat(tag, 0.0), splat(tag, 0.0)
        for k in range(r):  # (1)
            x = inner_product(tag, A, k * nv, v, 0, nv)
            slip = slip + x * x
            if a is not None:
                y = inner_product(tag, A, k * nv, a, 0, nv) + load(tag, g, k)
                slip2 = slip2 + y * y
        bad = bad + slip * OFF / (1.0 + speed)
        if a is not None:
            bad = bad + slip2 * OFF / (1.0 + inner_product(tag, a, 0, a, 0, nv) + speed * speed)
    factor = part(tag, model, work, FACTOR)
    for k in range(r):
        for j in range(r):
            store(tag, factor, k * r + j, load(tag, A, k * nv + index(model, dependent + j)))
    bad = bad + factorise(tag, factor, r) * SINGULAR
    basis(tag, model, work)  # (2), (3)
    return bad


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

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        model = self.pack(robot)
        runs: dict[str, KernelRun | MotionRun] = {}
        for name, kernel in self.kernels.items():
            run = KernelRun(kernel, name, robot, model, self.work_size(robot, name))
            runs[name] = MotionRun(run, name) if name == "bias" else run
        calls = {name: runs[name].checked() for name in self.computes}
        return Solver(self, robot, calls, {name: runs[name].unchecked for name in self.computes}, model)
