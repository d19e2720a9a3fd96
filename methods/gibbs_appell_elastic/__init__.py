"""Recursive Gibbs-Appell for chains of elastic arms on revolute-prismatic joints, with 3x3 rotations only.

M. H. Korayem, A. M. Shafei and co-workers, Modares Mechanical Engineering 13(1), 2013. Most displayed equations of the
surviving text are lost; what is here is a reconstruction from the assumptions, the structure, the paper's (52),
(64) to (66) and (68), and the rigid sister paper (`gibbs_appell_rp`). The numbers (E..) are those of the list in
docs/methods/gibbs-appell-elastic.md, which has every equation written out; "paper (..)" are the paper's own numbers.

    (E1)             A_i, mounting and joint rotation                       `recursion.turn`
    (E2)-(E8)        positions of particles, mode shapes                    `dynbench.robots.elastic`
    (E9)-(E12b)      velocity and acceleration relative to the sleeve       `arm.amplitudes`, `arm.modal`, `model`
    (E13)-(E17)      tip: position, angles, rotation, nu                    `tip`
    (E18)-(E23)      motion from arm to arm, paper (50)-(52)                `recursion.outward`
    (E24)-(E31)      Gibbs function, strain energy, S_i, T_i                `arm.own_terms`
    (E32)-(E36)      chi, phi, forces, paper (64)-(68)                      `recursion.inward`
    (E37), (E38)     Q_if, Q'_i                                             `arm.own_terms`
    (E39)            mass matrix, bias, forward dynamics                    `recursion`
    (E40)-(E47)      one planar arm in closed form: a test of the method    `tests/robots/test_elastic.py`

    paper         here
    q, delta, l   the robot's order per arm: angle, length outside the sleeve, amplitudes
    B_0 .. B_9    mass, and r, w, wd integrated with each weight of `model`
    phi, chi      phi, chi
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from dynbench.methods.gibbs_appell_elastic import model, recursion
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import FloatArray, Robot


@dataclass(frozen=True)
class GibbsAppellElastic(KernelMethod):
    """O(n m^2) inverse dynamics of n arms with m modes each; mass matrix by columns, forward dynamics by solving.

    Parameters
    ----------
    tip_rotation : "exp" or "linear"
        Rotation of a tip relative to its sleeve: exact, or the paper's I + theta~, which is correct to first order.
    slope_rate_of_l : bool
        Whether the slope of a tip, y'(1)/l, changes when the arm slides. The paper's equations omit this term.
    mouth_flux : bool
        Whether to include the momentum that particles gain when they cross the mouth of a sleeve, (E27). It is zero
        for bending; longitudinal and torsion modes have a slope at the mouth.

    With the defaults the results equal those of Lagrange's equations to rounding. With any other value the method is
    not exact, and energy is not conserved.

    Equations: (E1), (E9)-(E11), (E12a), (E12b), (E13), (E14a), (E14b), (E15)-(E18), (E20)-(E39)
    """

    tip_rotation: Literal["exp", "linear"] = "exp"
    slope_rate_of_l: bool = True
    mouth_flux: bool = True

    name: ClassVar[str] = "gibbs-appell-elastic"
    title: ClassVar[str] = "Gibbs-Appell, elastic R-P chain"
    reference: ClassVar[str] = "Korayem, Shafei et al., Modares Mechanical Engineering 13(1), 2013, eqs. (47)-(68)"
    cost: ClassVar[str] = "O(n m^2)"
    elastic: ClassVar[bool] = True
    kernels: ClassVar = {
        "inverse_dynamics": recursion.inverse_dynamics,
        "mass_matrix": recursion.mass_matrix,
        "forward_dynamics": recursion.forward_dynamics,
    }

    def __post_init__(self) -> None:
        if self.tip_rotation not in ("exp", "linear"):
            raise MethodError(
                f"method {self.name!r}: tip_rotation is {self.tip_rotation!r}, expected 'exp' or 'linear'"
            )
        if (self.tip_rotation, self.slope_rate_of_l, self.mouth_flux) != ("exp", True, True):
            object.__setattr__(self, "exact", False)

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is None and not robot.is_elastic:
            reason = f"{self.name} is for chains of elastic arms (elastic_rp_chain), this robot is rigid"
        return reason

    def pack(self, robot: Robot) -> FloatArray:
        return model.pack(robot, self.tip_rotation == "exp", self.slope_rate_of_l, self.mouth_flux)

    def work_size(self, robot: Robot, quantity: str) -> int:
        return recursion.work_size(len(robot.elastic.arm), robot.nv, quantity)
