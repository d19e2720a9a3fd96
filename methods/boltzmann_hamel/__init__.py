"""Boltzmann-Hamel: Lagrange's equations in quasi-coordinates, for free-floating robots with arms, and for trees.

After A. Khoshnood, S. Heidari Someeh, M. R. Hosseini Nami, "A Recursive Algorithm to Exploit a Multiple-Arm Space
Manipulator Equations of Motion by the Lagrange Method in terms of Quasi-Coordinates" (in Persian), with its errata.
All its equations are listed in docs/methods/boltzmann-hamel.md.

Instead of derivatives of coordinates the velocities are

    V0, omega0      of the base, base axes
    omega_i         of link i relative to the link before it, axes of link i (no angles, hence no singularity)

and Lagrange's equations read, with K the kinetic energy,

    (d/dt + [[omega0]]) dK/dV0                        = F0        (19)
    (d/dt + [[omega0]]) dK/domega0 + [[V0]] dK/dV0    = M0        (20)
    (d/dt + [[omega_i]]) dK/domega_i + E_i            = M_i       (21)

Joints with fewer than three freedoms take the components of (21) along them; a joint with two axes is two links, the
first without mass. Two forms give the same numbers: `momentum` sums E_i in closed form, `recursions` follows the paper
and is the method ``boltzmann-hamel-recursions``.

    paper                   here
    C_{i-1}^i               transpose of the rotation R in `kinematics`
    r_{i-1}, R_i            `model.com_to_joint`, COM
    V_i, Omega_i            `kinematics.at_com`, OMEGA
    alpha, beta, n_beta     rows of the tree: branches inside an arm are allowed, and a base that is fixed
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dynbench.methods.boltzmann_hamel import composite, model, momentum, partials, recursions
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import Kernel
from dynbench.robots.errors import UnknownNameError, near
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

KERNELS: dict[str, dict[str, Kernel]] = {
    "momentum": {
        "inverse_dynamics": momentum.inverse_dynamics,
        "mass_matrix": composite.mass_matrix,
        "forward_dynamics": momentum.forward_dynamics,
    },
    "recursions": {
        "inverse_dynamics": recursions.inverse_dynamics,
        "mass_matrix": partials.mass_matrix,
        "forward_dynamics": recursions.forward_dynamics,
    },
}
COSTS = {"momentum": "O(n)", "recursions": "O(n^2) an arm"}
ROWS = {"momentum": momentum.WORK, "recursions": partials.WORK}


@dataclass(frozen=True)
class BoltzmannHamel(KernelMethod):
    """Inverse dynamics O(n) (``form="momentum"``) or O(n^2) an arm (``"recursions"``); forward by eliminating arms.

    Equations: (3), (13), (19)-(22), (24), (25), (27)-(37), (39)-(53)
    """

    name: ClassVar[str] = "boltzmann-hamel"
    title: ClassVar[str] = "Boltzmann-Hamel (quasi-coordinates)"
    reference: ClassVar[str] = (
        "Khoshnood, Heidari Someeh, Hosseini Nami, Lagrange in quasi-coordinates, eqs. (19)-(53), corrected"
    )
    cost: ClassVar[str] = COSTS["momentum"]
    springs: ClassVar[bool] = True  # as external wrenches, see `dynbench.methods.springs`
    kernels: ClassVar = KERNELS["momentum"]

    form: str = "momentum"

    def __post_init__(self) -> None:
        if self.form not in KERNELS:
            raise UnknownNameError(f"method {self.name!r} has no form {self.form!r}; {near(self.form, KERNELS)}")
        # The class describes the default form, an instance its own.
        object.__setattr__(self, "kernels", KERNELS[self.form])
        object.__setattr__(self, "cost", COSTS[self.form])

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is not None:
            return reason
        for joint, kind, parent in zip(robot.joint_names, robot.kind, robot.parent, strict=True):
            if kind == JointKind.PRISMATIC:
                return f"its joints only turn, and joint {joint!r} is prismatic"
            if kind == JointKind.FREE and parent >= 0:
                return f"only a base floats, and the free joint {joint!r} is inside an arm"
        return None

    def pack(self, robot: Robot) -> FloatArray:
        return model.pack(robot)

    def work_size(self, robot: Robot, quantity: str) -> int:
        matrix = robot.nv * robot.nv if quantity == "forward_dynamics" else 0
        return (robot.n + 1) * ROWS[self.form] + matrix


@dataclass(frozen=True)
class BoltzmannHamelRecursions(BoltzmannHamel):
    """The paper's own algorithm, A and B by the recursions (47)-(53): inverse dynamics O(n^2) an arm.

    Equations: (47)-(53)
    """

    name: ClassVar[str] = "boltzmann-hamel-recursions"
    title: ClassVar[str] = "Boltzmann-Hamel (the paper's recursions)"
    cost: ClassVar[str] = COSTS["recursions"]
    kernels: ClassVar = KERNELS["recursions"]

    form: str = "recursions"

    def __post_init__(self) -> None:
        if self.form != "recursions":
            raise UnknownNameError(f"method {self.name!r} has the form 'recursions' only, got {self.form!r}")
        super().__post_init__()
