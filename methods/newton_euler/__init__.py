"""Newton-Euler: the recursive algorithms of the textbooks, on trees with any joints.

Inverse dynamics (`rnea`), mass matrix (`crba`) and forward dynamics (`aba`) after R. Featherstone, Rigid Body Dynamics
Algorithms, Springer 2008, written with 3-vectors and 3x3 blocks in body axes. Accelerations are those of the frame
origins, not spatial ones, which avoids multiplications by structural zeros.

    Featherstone    here
    S_i             the joint's unit axes; +z for one-axis joints (`kernels.tree`)
    I_i, I_i^c      mass, first moment h and inertia about the frame origin
    I_i^A           blocks A, B, C
    f_i             f, n: force, moment about the frame origin
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels import sweeps
from dynbench.methods.newton_euler import aba, crba, rnea


class NewtonEuler(TreeMethod):
    """RNEA, CRBA and ABA: O(n), O(n d) and O(n), d the depth of the tree."""

    name: ClassVar[str] = "newton-euler"
    title: ClassVar[str] = "Newton-Euler (RNEA, CRBA, ABA)"
    reference: ClassVar[str] = "Featherstone, Rigid Body Dynamics Algorithms (2008), tables 5.1, 6.2, 7.1"
    cost: ClassVar[str] = "O(n)"
    kernels: ClassVar = {
        "inverse_dynamics": rnea.inverse_dynamics,
        "mass_matrix": crba.mass_matrix,
        "forward_dynamics": aba.forward_dynamics,
        "reactions": rnea.reactions,
    }
    work: ClassVar = {
        "inverse_dynamics": sweeps.WORK,
        "mass_matrix": crba.WORK,
        "forward_dynamics": aba.WORK,
        "reactions": sweeps.WORK,
    }
