"""Udwadia and Kalaba: the equation of constrained motion in closed form, by a Moore-Penrose inverse.

F. E. Udwadia, R. E. Kalaba, A new perspective on constrained motion, Proceedings of the Royal Society of London A 439,
1992, 407-410. By Gauss's principle constraints change the free accelerations as little as possible in the metric of the
mass matrix. With constraints A a = b, here A the Jacobian of all loop closures and b = -A' v,

    a_s = M^-1 (B tau - h)                             accelerations of the free system, here of the spanning tree  (1)
    a = a_s + M^-1/2 (A M^-1/2)^+ (b - A a_s)          the equation of Udwadia and Kalaba                           (2)
    Q_c = M^1/2 (A M^-1/2)^+ (b - A a_s)               force of the constraints                                     (3)

No multipliers, and no independent rows: (3) is unique where multipliers are not, so redundant loops need no care. Any L
with M = L L^T takes the place of M^1/2; with the triangular one and C = A L^-T,

    L^T a = (1 - C^+ C) L^-1 (B tau - h) + C^+ b                                                                    (4)

C^+ is that of the mechanism's nominal rank (`kernels.pseudo_inverse`): its rank is no matter of a tolerance. Where M is
singular (massless bodies) M + s A^T A and B tau - h + s A^T b take the place of M and B tau - h, with any s > 0
(F. E. Udwadia, P. Phohomsiri, Explicit equations of motion for constrained mechanical systems with singular mass
matrices, Proceedings of the Royal Society A 462, 2006):

    (M + s A^T A) a_s = B tau - h + s A^T b                                                                         (5)

Inverse dynamics, bias and mass matrix are (4) for a system whose only inertias are at the actuators
(`kernels.constrained`). M and h of the spanning tree are those of `newton_euler`. Equation numbers are those of this
docstring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dynbench.methods.constraints import QUANTITIES_BY_OPERATOR, ConstraintMethod
from dynbench.methods.generic_code import Kernel
from dynbench.methods.kernels import pseudo_inverse
from dynbench.methods.kernels.closure import (
    DEFLATED,
    EQUATIONS,
    MASS,
    NV,
    OWN,
    RANK,
    SPARE,
    WEIGHTED,
    part,
)
from dynbench.methods.kernels.free_motions import SINGULAR
from dynbench.methods.kernels.mass_metric import half, half_transposed, less_demand, whiten
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, index, load, splat, store
from dynbench.robots.robot import Robot

UNHELD = 1e-12  # 1 over the largest ratio of diagonal and pivot of M + s A^T A, the square of a condition


@called
def prepare(tag: Tag, model: Buffer, work: Buffer, augmented: bool) -> Scalar:
    """Factorise M, or (5) with M + s A^T A, as L L^T; decompose C = A L^-T."""
    nv, m, r = index(model, NV), index(model, EQUATIONS), index(model, RANK)
    M, spare = part(tag, model, work, MASS), part(tag, model, work, SPARE)
    C = part(tag, model, work, WEIGHTED)
    bad = splat(tag, 0.0)
    whiten(tag, model, work, augmented)
    if augmented:  # diagonal over pivot: row i of L times the pivots before it, over pivot i
        for i in range(nv):
            x = splat(tag, 1.0)
            for k in range(i):
                l = load(tag, M, i * nv + k)
                x = x + l * l * (load(tag, M, i * nv + i) / load(tag, M, k * nv + k))
            bad = bad + x * UNHELD
    near = pseudo_inverse.decompose(
        tag, C, m, nv, r, part(tag, model, work, OWN), part(tag, model, work, DEFLATED), spare, False
    )
    return bad + near * (SINGULAR * SINGULAR)


@called
def solve(
    tag: Tag, model: Buffer, force: Buffer, rate: Buffer, out: Buffer, work: Buffer, augmented: bool
) -> Scalar:
    """(2) in the form (4), b = -rate; L^T a_s of (1) takes the place of the force."""
    nv, m, r = index(model, NV), index(model, EQUATIONS), index(model, RANK)
    Q, w = part(tag, model, work, OWN), part(tag, model, work, SPARE)
    if augmented:
        less_demand(tag, model, rate, force, work)  # (5)
    half(tag, model, force, 0, work)
    # C^+ b and C^+ C, both of the rows Q
    pseudo_inverse.solve(tag, m, nv, r, Q, rate, w)
    for k in range(r):
        along = inner_product(tag, Q, k * nv, force, 0, nv) + load(tag, w, k)
        for i in range(nv):
            store(tag, force, i, load(tag, force, i) - along * load(tag, Q, k * nv + i))
    for i in range(nv):
        store(tag, out, i, load(tag, force, i))
    half_transposed(tag, model, out, work)
    return splat(tag, 0.0)


class UdwadiaKalaba(ConstraintMethod):
    """Forward and inverse dynamics of robots with loops by the Moore-Penrose inverse of their constraints.

    The integrators' equations of motion, `kernels.following`, are (4) with demands b damped near singular positions.

    Equations: (1), (2), (4), (5)
    """

    name: ClassVar[str] = "udwadia-kalaba"
    title: ClassVar[str] = "Udwadia-Kalaba (Moore-Penrose inverse)"
    reference: ClassVar[str] = "Udwadia and Kalaba, Proc. R. Soc. Lond. A 439 (1992)"
    cost: ClassVar[str] = "O(n^3 + m n^2), m loop equations"
    kernels: ClassVar[Mapping[str, Kernel]] = QUANTITIES_BY_OPERATOR
    operator: ClassVar[Mapping[str, Kernel]] = {"prepare": prepare, "solve": solve}

    def own_size(self, robot: Robot) -> int:
        return pseudo_inverse.size(len(robot.loop_rows.closure), robot.nv, robot.loop_analysis.rank)
