"""Recursive Gibbs-Appell dynamics of revolute-prismatic chains, as published, with its errors corrected.

Source: M. H. Korayem, A. M. Shafei, "Application of recursive Gibbs-Appell formulation in deriving the motion equation
of revolute-prismatic joints". Equation numbers in comments are the paper's, "erratum" marks where its text is wrong;
one page of it (steps 1 to 4 of the algorithm) is lost in the available copy and was derived anew. `robots.rp_chain`
builds the robots. All equations of the paper are listed in docs/methods/gibbs-appell-rp.md.

The derivatives of the Gibbs function S (the acceleration energy) by the accelerations of joints and extensions are
the generalized forces. Written out with S's dependence on the acceleration r'' of O_i and on w', link by link,
they need 3x3 and 3x1 quantities in local frames only:

    B0 .. B8        integrals over rod i of mass, first and second moments, rotary inertia        step 1   `model`
    A_i, w, w', r'' rotations, angular velocity and acceleration, acceleration of O_i             step 2, 3  `sweeps`
    S_i, T_i        derivatives of link i's S by r''_i and w'_i                                   step 3   `sweeps`
    phi_i, chi_i    the same of all links beyond, brought to link i                               step 4   `sweeps`
    sigma .. lambda second derivatives: the inertia matrix                                        step 5, 6  `inertia`
                    I Theta'' = Re                                                                step 7   `forward`
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.gibbs_appell_rp import forward, inertia, model, sweeps
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.robot import FloatArray, Robot


class GibbsAppellRP(KernelMethod):
    """The paper's algorithm: inverse dynamics O(n), inertia matrix O(n^2), forward dynamics O(n^3).

    Equations: (2), (4), (7)-(19), (21)-(53)
    """

    name: ClassVar[str] = "gibbs-appell-rp"
    title: ClassVar[str] = "Gibbs-Appell, revolute-prismatic chains"
    reference: ClassVar[str] = (
        "Korayem and Shafei, Application of recursive Gibbs-Appell formulation in deriving the motion equation of "
        "revolute-prismatic joints, eqs. (1) to (55)"
    )
    cost: ClassVar[str] = "O(n)"
    springs: ClassVar[bool] = True  # as external wrenches, see `dynbench.methods.springs`
    kernels: ClassVar = {
        "inverse_dynamics": sweeps.inverse_dynamics,
        "mass_matrix": inertia.mass_matrix,
        "forward_dynamics": forward.forward_dynamics,
    }

    def supports(self, robot: Robot) -> str | None:
        return super().supports(robot) or model.why_not(robot)

    def pack(self, robot: Robot) -> FloatArray:
        return model.pack(robot)

    def work_size(self, robot: Robot, quantity: str) -> int:
        n = robot.n // 2
        if quantity == "inverse_dynamics":
            return n * sweeps.SWEEPS
        return n * inertia.WORK + (robot.nv**2 if quantity == "forward_dynamics" else 0)
