"""Gibbs-Appell dynamics of any tree: the gradient and the Hessian of the acceleration energy, by recursion.

**Acceleration energy.** A point r of a rigid body (body axes, from the frame's origin) has the acceleration a + W r,
where a is that of the origin and W = w'~ + w~ w~ a 3x3 matrix made of the angular velocity and acceleration. Half the
integral of its square over the mass, Gibbs's function, is

    S = 1/2 m a.a + a . W h + 1/2 tr(W E W^T),    m = int dm,  h = int r dm,  E = int r r^T dm.                  (1)

The second moments E take the place that the inertia tensor has elsewhere. Nothing is left out: the gyroscopic
torque is in W, which holds w~ w~.

**Appell's equations.** Let v be the velocities of all joints; they may be quasi-velocities, such as the
angular velocity of a spherical joint or a free base's velocity in its own axes. Sum S over the bodies; then
the generalized forces are

    tau_j = dS / dv'_j                                                                                            (2)

with v' the derivatives of v's components, the quasi-accelerations. Gravity is put in by measuring accelerations
relative to free fall (the ground accelerates by -g). External forces f and moments n on a body do the virtual
work f . da + n . dw', hence add -f . a - n . w' to S.

**Gradient of one body.** S depends on v' through a and w' alone. From (1), with dW/dw'_k = e_k~,

    S_i = dS/da  = m a + W h,          T_i = dS/dw' = h x a + axial(W E),                                           (3)

where axial(M) = (M_zy - M_yz, M_xz - M_zx, M_yx - M_xy) picks out the skew part twice. With W at hand the
second line takes 18 multiplications; W also gives the next joint's acceleration, a + W p.

**Gradient of the tree.** Joint c, at p in its parent's axes, turned by R (parent from child), moves its body by

    a_c = R^T (a + W p) + ...v'_c,          w'_c = R^T w' + ...v'_c,                                               (4)

so by the chain rule the derivatives of the S of all bodies from c on, by parent's a and w' (joints beyond held), are

    phi = S_i + sum_c R_c phi_c,       chi = T_i + sum_c (R_c chi_c + p_c x R_c phi_c).                             (5)

v'_c enters a_c or w'_c directly: for a revolute joint tau = z . chi, for a prismatic one z . phi, for a spherical one
chi, for a free one phi and chi. An outward sweep for (4), (3), an inward sweep for (5): O(n).

**Hessian.** S is quadratic in v': S = 1/2 v'^T M v' + v'^T h + ..., so M is its second derivative and h, the bias, the
gradient at v' = 0. With all joints beyond held, the quadratic part for all bodies from i on is again (1), with
W = w'~, of one composite body whose integrals

    lambda = m + sum_c lambda_c,   xi = h + sum_c (R xi_c + lambda_c p),                                           (6)
    Sigma  = E + sum_c (R Sigma_c R^T + p (R xi_c)^T + (R xi_c) p^T + lambda_c p p^T)

are found inward. (3) of the composite at one unit quasi-acceleration, then (5) down to the ground, gives a
column of M: O(n d), d the depth of the tree. Forward dynamics solves

    M v' = tau - h.                                                                                               (7)

The idea, S_i, T_i, phi, chi, lambda, xi and the split of S by order in the accelerations are those of Korayem and
Shafei's revolute-prismatic chains (`gibbs_appell_rp`). Equation numbers are those of this docstring;
general joints, trees and the form (1) are not in the paper.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.gibbs_appell import forward, gradient, hessian
from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels import sweeps
from dynbench.robots.robot import Robot


class GibbsAppell(TreeMethod):
    """Gradient and Hessian of the acceleration energy: O(n) inverse dynamics, O(n d) mass matrix, O(n^3) forward.

    Equations: (1)-(7)
    """

    name: ClassVar[str] = "gibbs-appell"
    title: ClassVar[str] = "Gibbs-Appell (acceleration energy)"
    reference: ClassVar[str] = (
        "Appell, Traité de mécanique rationnelle; recursion after Korayem and Shafei (revolute-prismatic chains), "
        "derived for trees in methods/gibbs_appell"
    )
    cost: ClassVar[str] = "O(n)"
    kernels: ClassVar = {
        "inverse_dynamics": gradient.inverse_dynamics,
        "mass_matrix": hessian.mass_matrix,
        "forward_dynamics": forward.forward_dynamics,
    }
    work: ClassVar = {
        "inverse_dynamics": sweeps.WORK,
        "mass_matrix": hessian.WORK,
        "forward_dynamics": sweeps.WORK,
    }

    def work_size(self, robot: Robot, quantity: str) -> int:
        matrix = robot.nv**2 if quantity == "forward_dynamics" else 0
        return super().work_size(robot, quantity) + matrix
