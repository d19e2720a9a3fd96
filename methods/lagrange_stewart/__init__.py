"""Lagrange's equations for the Gough-Stewart platform, with three models of its legs.

S. N. Mostashiri, A. Akbarzadeh Tootoonchi (Ferdowsi University of Mashhad): effect of leg mass in the inverse dynamics
of a 6-DoF Gough-Stewart platform, by the Lagrange method; conference paper, in Persian. All its equations, (1) to (38),
are listed in docs/methods/lagrange-stewart.md.

    paper                               here
    q = [X, Y, Z, alpha, beta, gamma]   x of `solver.StewartSolver`; `coordinates` has (1), (2), (12)
    B_i, T_j, u_i, L_i                  base point, platform point, direction and length of a leg: (3), (4)
    J1, J2, J                           `kinematics`: (5) to (8); H is J without the angles
    M, C, G                             `solver.StewartSolver.equations`: (10)
    K_i, P_i of a leg                   `legs`: (15) to (37), in the form of a force at the platform joint
    theta_z, theta_x                    the leg's first and second angle: (30) to (32)

The methods differ in the model of the legs only. In `lagrange-stewart` a leg is two rigid bodies with full inertias (in
the paper an ADAMS simulation), in `lagrange-stewart-lumped` one sliding point mass, in `lagrange-stewart-massless` it
has no mass. The last two are approximations of the robot, `exact = False`. All three use the same kernels, which branch
on the model.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.lagrange_stewart import forward, inverse, mass, model
from dynbench.methods.lagrange_stewart.run import StewartMethod, StewartRun
from dynbench.methods.lagrange_stewart.solver import StewartSolver
from dynbench.robots.robot import FloatArray, Robot

PAPER = "Mostashiri, Akbarzadeh: Effect of leg mass in the inverse dynamics of a Gough-Stewart platform"


class LagrangeStewart(StewartMethod):
    """Two rigid bodies per leg; exact. There are six legs, so the cost is constant.

    Equations: (1)-(14), (20)-(23), (25), (26), (30)-(32)
    """

    name: ClassVar[str] = "lagrange-stewart"
    title: ClassVar[str] = "Lagrange, Gough-Stewart, full legs"
    reference: ClassVar[str] = f"{PAPER}, equations (1)-(14), legs exact"
    legs: ClassVar[int] = model.FULL
    kernels: ClassVar = {
        "inverse_dynamics": inverse.inverse_dynamics,
        "forward_dynamics": forward.forward_dynamics,
        "mass_matrix": mass.mass_matrix,
        "bias": forward.bias,
    }
    work: ClassVar = {
        "inverse_dynamics": inverse.WORK,
        "forward_dynamics": forward.WORK,
        "mass_matrix": mass.WORK,
        "bias": forward.WORK,
    }

    def pack(self, robot: Robot) -> FloatArray:
        return model.pack(robot, self.legs)

    def work_size(self, robot: Robot, quantity: str) -> int:
        return int(self.work[quantity])

    def build(self, robot: Robot) -> StewartSolver:
        packed = self.pack(robot)
        solver = StewartSolver(self, robot, *self.calls(robot, packed), packed)
        solver.twist_mass_matrix = StewartRun(mass.twist_mass_matrix, "mass_matrix", robot, packed, mass.WORK).checked()
        return solver


class LagrangeStewartLumped(LagrangeStewart):
    """One point mass per leg, at the leg's centre of mass, which slides along the leg as it extends.

    Equations: (1)-(37)
    """

    name: ClassVar[str] = "lagrange-stewart-lumped"
    title: ClassVar[str] = "Lagrange, Gough-Stewart, lumped legs"
    reference: ClassVar[str] = f"{PAPER}, equations (1)-(37)"
    exact: ClassVar[bool] = False
    legs: ClassVar[int] = model.LUMPED


class LagrangeStewartMassless(LagrangeStewart):
    """Legs without mass: inertia and weight of the platform only.

    Equations: (1)-(14), (20)-(23), (25), (26), (30)-(32)
    """

    name: ClassVar[str] = "lagrange-stewart-massless"
    title: ClassVar[str] = "Lagrange, Gough-Stewart, massless legs"
    reference: ClassVar[str] = f"{PAPER}, equations (1)-(14)"
    exact: ClassVar[bool] = False
    legs: ClassVar[int] = model.MASSLESS
