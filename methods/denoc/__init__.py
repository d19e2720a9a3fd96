"""DeNOC: the decoupled natural orthogonal complement, t = N_l N_d v.

Newton-Euler equations of all bodies, M t' + Omega M t = w, are projected on the motions the joints allow, T = N_l N_d:
constraint wrenches do no work there and drop out. N_l is block lower triangular (rigid-body transport), N_d block
diagonal (joint axes), so every product is a sweep over the tree.

Source: A. Raoofian, A. Taghvaeipour, A. Kamali Eigoli, "A Modification in the Decoupled Natural Orthogonal Complement
Method, Using Virtual Spring Concepts", Modares Mechanical Engineering 17(6), 2017, listed in
docs/methods/virtual-spring-denoc.md;
S. K. Saha, "A decomposition of the manipulator inertia matrix", IEEE Trans. Robotics and Automation 13(2), 1997
(U D U^T).

erratum: the wrench is printed [f; tau] below eq. (1), it is [n; f], dual to [omega; v].
erratum: printed T v = N_d v + N_f v (eqs. 6, 7) is the product N_l N_d v.

Closed loops: cut, then either eliminate the dependent rates (minimal order), or keep them and solve for multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from dynbench.methods.base import Solver
from dynbench.methods.denoc import forward, inertia, inverse, loops, model
from dynbench.methods.extras import extended
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.loops import around, looped_solver
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import Robot


@dataclass(frozen=True)
class Denoc(KernelMethod):
    """Inverse and forward dynamics O(n), inertia matrix O(n d), convective matrix O(n^2).

    Parameters
    ----------
    loops_by : "elimination" or "multipliers"
        How closed loops are treated: eliminate the dependent rates (W^T I W, minimal order), or keep all coordinates
        and solve for the multipliers (A I^-1 A^T).

    Equations: (1)-(7), (10), (14)-(19), (21), (23), (26), (29)
    """

    name: ClassVar[str] = "denoc"
    title: ClassVar[str] = "DeNOC"
    reference: ClassVar[str] = "Raoofian, Taghvaeipour, Kamali Eigoli (2017), eqs. (1)-(29); Saha (1997)"
    cost: ClassVar[str] = "O(n)"
    springs: ClassVar[bool] = True  # as external wrenches, see `dynbench.methods.springs`
    loops: ClassVar[bool] = True
    rotors: ClassVar[bool] = True
    kernels: ClassVar = {
        "inverse_dynamics": inverse.inverse_dynamics,
        "forward_dynamics": forward.forward_dynamics,
        "mass_matrix": inertia.mass_matrix,
        "coriolis_matrix": inertia.coriolis_matrix,
        "reactions": inverse.reactions,
    }
    loops_by: Literal["elimination", "multipliers"] = "elimination"

    def __post_init__(self) -> None:
        if self.loops_by not in ("elimination", "multipliers"):
            raise MethodError(f"denoc: expected loops_by 'elimination' or 'multipliers', got {self.loops_by!r}")

    def supports(self, robot: Robot) -> str | None:
        if self.loops_by == "multipliers" and not robot.is_tree and not loops.invertible(robot):
            return "the inertia matrix of its spanning tree is singular: its loops need loops_by='elimination'"
        if self.loops_by == "multipliers" and not robot.is_tree and robot.has_extras:
            return "loops_by='multipliers' does not handle armature, damping or friction of joints"
        return super().supports(robot)

    def work_size(self, robot: Robot, quantity: str) -> int:
        rows = {"forward_dynamics": forward.WORK, "mass_matrix": inertia.COMPOSITE}.get(quantity, model.WORK)
        return rows * (robot.n + 1) + (robot.nv if quantity == "coriolis_matrix" else 0)

    def build(self, robot: Robot) -> Solver:
        if robot.is_tree or robot.has_springs:
            return super().build(robot)
        if self.loops_by == "elimination":
            made, by_elimination = extended(self, robot), loops.inverse_by_elimination
            if robot.has_extras:
                by_elimination = around(by_elimination, __name__, inverse_dynamics=made.kernels["inverse_dynamics"])
            solver = looped_solver(made, robot, {"inverse_dynamics": by_elimination})
            solver.method = self
            return solver
        return looped_solver(self, robot, {"forward_dynamics": loops.forward_by_multipliers})
