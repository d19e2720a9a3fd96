"""Virtual springs: loops are cut and their ends joined by stiff springs, so that all coordinates are independent.

    c' = A v,   A = dc/dq                                                            (5), (29)
    w_CS = -K^T (K_s c + D_s c')                 wrenches of the springs             (13)
    I a + C v = tau + tau_g + T^T w_CS           every open chain                    (16), all together (18)
              = tau + tau_g - A^T (K_s c + D_s A v)                                  (20)
    lambda ~ -(K_s c + D_s A v)                  in place of the multipliers of      (21)

c are the residuals of the loops (elongations of the springs), K_s their stiffness, K the derivative of c' by the twists
t = T v, and A = K T. The damping D_s is an addition of this project.

Source: A. Raoofian, A. Taghvaeipour, A. Kamali Eigoli, "A Modification in the Decoupled Natural Orthogonal Complement
Method, Using Virtual Spring Concepts", Modares Mechanical Engineering 17(6), 2017. All its equations are listed in
docs/methods/virtual-spring-denoc.md. The same ordinary differential equation is solved in two ways: with DeNOC (the
paper's MDeNOC), and with Lagrange's equations of L = T - V_g - c^T K_s c / 2 (the paper's LVS, after Wang, Gosselin,
Cheng 2002).

erratum: (13) and (20) are printed with +K_s c. A^T K_s c does not change if c is defined with the opposite sign, so the
printed sign is wrong for any definition of c: the spring pushes the ends apart, and the motion diverges.
erratum: "neither the Jacobian nor its rate is needed" is true for the rate (and forward kinematics) only; (20) has A.

States need not satisfy the loops, since the springs act by their elongation. Errors are of order 1/K_s, and -K_s c
oscillates about the reaction without decay unless the springs are damped or start pre-stretched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import Solver
from dynbench.methods.denoc import Denoc
from dynbench.methods.denoc.loops import invertible
from dynbench.methods.extras import extended
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import Kernel
from dynbench.methods.kernels import closure
from dynbench.methods.kernels.closure import (
    FULL,
    INNER,
    JACOBIAN,
    KEPT,
    METHOD,
    NV,
    RESIDUAL,
    SOLVED,
    actuate,
    add_wrenches,
    external_wrenches,
    fill_equations,
    part,
)
from dynbench.methods.kernels.linear import add_transposed_product
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, index, load, store
from dynbench.methods.lagrange_euler import LagrangeEuler
from dynbench.methods.loops import around
from dynbench.methods.springs import sprung_solver
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import FloatArray, Robot

# Before the tree method's own model: stiffness, damping, and a preload per row
STIFFNESS, DAMPING, PRELOAD = 0, 1, 2

tree_forward_dynamics: Any = None
tree_reactions: Any = None


@generic
def spring_forces(tag: Tag, model: Buffer, q: Buffer, v: Buffer, work: Buffer) -> None:
    """Fill c, A = dc/dq (29), and the springs' forces on body 2, one per row: -(K_s c + D_s c'), c' = A v (5)."""
    fill_equations(tag, model, q, work)
    c = part(tag, model, work, RESIDUAL)
    A = part(tag, model, work, JACOBIAN)
    nv, own = index(model, NV), index(model, METHOD)
    force = part(tag, model, work, SOLVED)
    for k in range(index(model, KEPT)):
        stretched = load(tag, c, k) * const(model, own + STIFFNESS)
        rate = inner_product(tag, A, k * nv, v, 0, nv) * const(model, own + DAMPING)
        # (13) erratum: printed with the opposite sign
        store(tag, force, k, const(model, own + PRELOAD + k) - stretched - rate)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(20): the tree's forward dynamics with the forces of actuators and springs."""
    spring_forces(tag, model, q, v, work)
    nv, rows = index(model, NV), index(model, KEPT)
    A = part(tag, model, work, JACOBIAN)
    force = part(tag, model, work, SOLVED)
    full = part(tag, model, work, FULL)
    actuate(tag, model, tau, full)
    # tau + A^T f, f = -(K_s c + D_s A v); (20) erratum: printed with the opposite sign
    add_transposed_product(tag, A, rows, nv, force, full)
    own = model[index(model, METHOD) + PRELOAD + rows :]
    # (16) for each open chain; (18) the chains are branches of one tree
    tree_forward_dynamics(tag, own, q, v, full, wrench, out, part(tag, model, work, INNER))


@generic
def multipliers(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """The springs' forces, an estimate of the multipliers lambda of (21)."""
    spring_forces(tag, model, q, v, work)
    force = part(tag, model, work, SOLVED)
    for k in range(index(model, KEPT)):
        store(tag, out, k, load(tag, force, k))


@generic
def reactions(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Joint wrenches; the springs' wrenches w_CS = -K^T K_s c (13) replace those of the loops."""
    spring_forces(tag, model, q, v, work)
    outer = external_wrenches(tag, model, wrench, work)
    add_wrenches(tag, model, work, part(tag, model, work, SOLVED), outer)
    own = model[index(model, METHOD) + PRELOAD + index(model, KEPT) :]
    tree_reactions(tag, own, q, v, a, outer, out, part(tag, model, work, INNER))


@dataclass(frozen=True)
class VirtualSpring(KernelMethod):
    """What the two methods share. Closed loops only; no inverse dynamics: springs do not determine actuator forces.

    Parameters
    ----------
    stiffness : float
        K_s of every closed row, N/m (N m/rad for rotations).
    damping : float
        D_s, N s/m; the paper has none.
    prestretch : tuple of float
        Force of each row's spring when the loops are closed, N. With the multipliers at the start of a motion, the
        springs start without oscillation. Default: zero.
    """

    exact: ClassVar[bool] = False
    loops: ClassVar[bool] = True
    reference: ClassVar[str] = "Raoofian, Taghvaeipour, Kamali Eigoli (2017), eqs. (11)-(20)"
    tree: ClassVar[type[KernelMethod]]
    stiffness: float = 1e6
    damping: float = 0.0
    prestretch: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.stiffness) and self.stiffness > 0.0 and 0.0 <= self.damping < np.inf):
            raise MethodError(
                f"{self.name}: stiffness is {self.stiffness!r} and damping {self.damping!r}, expected > 0 and >= 0"
            )

    springs: ClassVar[bool] = True

    def supports(self, robot: Robot) -> str | None:
        if robot.is_tree:
            return "it has no loops"
        if robot.has_couplings:
            return "its virtual springs are for closed loops, and there are joints that follow others"
        if self.prestretch and len(self.prestretch) != len(robot.loop_rows.closure):
            rows = len(robot.loop_rows.closure)
            return f"prestretch has {len(self.prestretch)} numbers, expected {rows}, one per loop row"
        if not invertible(robot):
            return "the inertia matrix of its spanning tree (loops cut) is singular"
        return super().supports(robot)

    def pack(self, robot: Robot) -> FloatArray:
        rows = len(robot.loop_rows.closure)
        springs = [self.stiffness, self.damping, *(self.prestretch or np.zeros(rows))]
        own = np.concatenate([springs, extended(self.tree(), robot).pack(robot)])
        return closure.pack(robot, own, np.arange(rows))

    def work_size(self, robot: Robot, quantity: str) -> int:
        common = closure.layout(robot, len(robot.loop_rows.closure))[-1]
        return common + (extended(self.tree(), robot).work_size(robot, quantity) if quantity != "multipliers" else 0)

    def _forward_with_armature(self) -> bool:
        return True

    def build(self, robot: Robot) -> Solver:
        # the kernels include the virtual springs: no projection on the loops
        made: Any = _Around(self, extended(self.tree(), robot).kernels) if robot.has_extras else self
        solver = (
            sprung_solver(made, robot, direct=True) if robot.has_springs else type(self).direct_solver(made, robot)
        )
        solver.method = self
        return solver


class _Around:
    """A method of virtual springs around a tree method's kernels that include joint extras."""

    def __init__(self, method: VirtualSpring, tree: Mapping[str, Kernel]) -> None:
        self.method, self.home = method, __name__
        self.kernels = dict(method.kernels)
        for quantity, kernel in (("forward_dynamics", forward_dynamics), ("reactions", reactions)):
            if quantity in self.kernels:
                self.kernels[quantity] = around(kernel, __name__, **{f"tree_{quantity}": tree[quantity]})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)


class VirtualSpringDenoc(VirtualSpring):
    """DeNOC with virtual springs (MDeNOC): legs and platform decouple, each right-hand side is O(n).

    Equations: (5), (13), (16), (18), (20), (21), (29)
    """

    name: ClassVar[str] = "virtual-spring-denoc"
    title: ClassVar[str] = "DeNOC, virtual springs"
    cost: ClassVar[str] = "O(n)"
    tree: ClassVar[type[KernelMethod]] = Denoc
    kernels: ClassVar = {
        "forward_dynamics": around(
            forward_dynamics, __name__, tree_forward_dynamics=Denoc.kernels["forward_dynamics"]
        ),
        "reactions": around(reactions, __name__, tree_reactions=Denoc.kernels["reactions"]),
        "multipliers": multipliers,
    }


class VirtualSpringLagrange(VirtualSpring):
    """Lagrange's equations with virtual springs (LVS): the same motion from M a + C v + g and a spring potential.

    Equations: (5), (18), (20), (21), (29)
    """

    name: ClassVar[str] = "virtual-spring-lagrange"
    title: ClassVar[str] = "Lagrange, virtual springs"
    cost: ClassVar[str] = "O(n^3)"
    tree: ClassVar[type[KernelMethod]] = LagrangeEuler
    kernels: ClassVar = {
        "forward_dynamics": around(
            forward_dynamics, __name__, tree_forward_dynamics=LagrangeEuler.kernels["forward_dynamics"]
        ),
        "multipliers": multipliers,
    }
