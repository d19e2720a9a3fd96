"""Augmented Lagrangian formulation: penalty and multipliers of the constraints, iterated, with one positive matrix.

E. Bayo, A. Avello, Singularity-free augmented Lagrangian algorithms for constrained multibody dynamics, Nonlinear
Dynamics 5, 1994, 209-231; projections: E. Bayo, R. Ledesma, Augmented Lagrangian and mass-orthogonal projection methods
for constrained multibody dynamics, Nonlinear Dynamics 9, 1996, 113-130. With the loops c(q) = 0, their Jacobian A, all
rows of it, g = A' v, and a penalty alpha (index 1: no terms in c and c'),

    (M + alpha A^T A) a_k+1 = M a_k - alpha A^T g,   M a_0 = B tau - h                                              (1)
    lambda_k+1 = lambda_k - alpha (A a_k+1 + g)                    forces on the tree are A^T lambda                 (2)

Redundant and dependent rows do no harm, and M may be singular if M + alpha A^T A is not. Projections onto the loops, of
least change in the metric of M, are the same iteration:

    (M + alpha A^T A) dq_k+1 = M dq_k - alpha A^T c,   dq_0 = 0;   q <- q + dq                                      (3)
    (M + alpha A^T A) v_k+1 = M v_k,   v_0 the velocity before                                                      (4)

Written with the residual of the equations of motion, rounding in alpha A^T A does not count:

    (M + alpha A^T A) da = B tau - h + A^T (lambda_k - alpha (A a_k + g)) - M a_k,   a_k+1 = a_k + da               (5)

It is a proximal iteration (J. Carpentier, R. Budhiraja, N. Mansard, Proximal and sparse resolution of constrained
dynamic equations, Robotics: Science and Systems, 2021): eliminating a from (5) and (2) leaves, with mu = 1/alpha,

    (A M^-1 A^T + mu 1) (lambda_k+1 - lambda_k) = -(A a_k + g)                                                      (6)

so that after k rounds a direction with singular value s of A M^-1/2 is left with the error (mu / (mu + s^2))^k.

    alpha = `PENALTY` tr M / tr A^T A                                                                               (7)

Where s is small, near a singular position, that error is the free acceleration: it acts there as if the loop were open.
While a motion is followed, (1)-(5) therefore have the rows Q of A = R Q in the place of A (`kernels.regular_rows`,
Q Q^T = 1, as many rows as the nominal rank of the loops), and what the loops demand of these rows, damped near singular
positions, in the place of g; likewise of c in (3) and of A v in (4):

    Q for A,   R^+ g for g                                                                                          (8)

No s of Q M^-1/2 is small, so that the rounds converge everywhere and nothing but the demand is damped.

Inverse dynamics, bias and mass matrix are (5) for a system whose only inertias are at the actuators
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
    DIRECTIONS,
    EQUATIONS,
    JACOBIAN,
    MASS,
    NV,
    OWN,
    RANK,
    RATE,
    SPARE,
    part,
)
from dynbench.methods.kernels.constrained import near_singular
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve, mirror
from dynbench.methods.kernels.mass_metric import applied
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.regular_rows import demand_of_rows, ratio_found, regular_rows
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, generic, index, load, splat, store
from dynbench.robots.robot import Robot

PENALTY = 1e8  # where s > 1e-2 of the largest, four rounds leave 1e-16
ROUNDS = 4
CONVERGED = 1e14  # 1 over the squared relative size of the last correction


@called
def prepare(tag: Tag, model: Buffer, work: Buffer, augmented: bool) -> Scalar:
    """Factorise M + alpha A^T A; return whether the loops are singular."""
    near = near_singular(tag, model, work)
    augment(tag, model, part(tag, model, work, JACOBIAN), index(model, EQUATIONS), work)
    return near


@called
def augment(tag: Tag, model: Buffer, A: Buffer, m: int, work: Buffer) -> None:
    """The matrix of (1), factorised, with the penalty (7), for m rows A; M is there."""
    nv = index(model, NV)
    M, K = part(tag, model, work, MASS), part(tag, model, work, OWN)
    mirror(tag, M, 0, nv)
    total = splat(tag, 0.0)
    for i in range(nv):
        total = total + load(tag, M, i * nv + i)
    alpha = PENALTY * total / inner_product(tag, A, 0, A, 0, m * nv)
    store(tag, K, nv * nv, alpha)
    for i in range(nv):
        for j in range(i + 1):
            x = load(tag, A, i) * load(tag, A, j)
            for k in range(1, m):
                x = x + load(tag, A, k * nv + i) * load(tag, A, k * nv + j)
            store(tag, K, i * nv + j, load(tag, M, i * nv + j) + alpha * x)
    ldlt(tag, K, 0, nv)


@called
def solve(
    tag: Tag, model: Buffer, force: Buffer, rate: Buffer, out: Buffer, work: Buffer, augmented: bool
) -> Scalar:
    """`iterate` with the rows of the loops themselves."""
    return iterate(tag, model, part(tag, model, work, JACOBIAN), index(model, EQUATIONS), force, rate, out, work)


@called
def iterate(
    tag: Tag, model: Buffer, A: Buffer, m: int, force: Buffer, rate: Buffer, out: Buffer, work: Buffer
) -> Scalar:
    """(5) and (2), which is (1) without its rounding and converges as (6) says; returns whether it has converged.

    The last correction is small beside the accelerations, or beside what the forces would cause, |f| / tr M at least:
    where these balance, at rest, the accelerations are rounding.
    """
    nv = index(model, NV)
    M, K = part(tag, model, work, MASS), part(tag, model, work, OWN)
    alpha = load(tag, K, nv * nv)
    x = K[(nv * nv + 1) * len(tag) :]  # right-hand side
    multiplier = K[(nv * nv + 1 + nv) * len(tag) :]
    clear(tag, out, 0, nv)
    clear(tag, multiplier, 0, m)
    last = splat(tag, 0.0)
    for round in range(ROUNDS):
        for k in range(m):  # (2) of the round before, and the part of (5) that has the same form
            demand = load(tag, rate, k)
            if round > 0:
                demand = demand + inner_product(tag, A, k * nv, out, 0, nv)
                store(tag, multiplier, k, load(tag, multiplier, k) - alpha * demand)
            store(tag, multiplier, m + k, load(tag, multiplier, k) - alpha * demand)
        for i in range(nv):
            total = load(tag, force, i)
            if round > 0:
                total = total - inner_product(tag, M, i * nv, out, 0, nv)
            for k in range(m):
                total = total + load(tag, A, k * nv + i) * load(tag, multiplier, m + k)
            store(tag, x, i, total)
        ldlt_solve(tag, K, 0, nv, x, 0)
        last = inner_product(tag, x, 0, x, 0, nv)
        for i in range(nv):
            store(tag, out, i, load(tag, out, i) + load(tag, x, i))
    total = splat(tag, 0.0)
    for i in range(nv):
        total = total + load(tag, M, i * nv + i)
    square = inner_product(tag, out, 0, out, 0, nv) + inner_product(tag, force, 0, force, 0, nv) / (total * total)
    return last * CONVERGED / (square + 1e-200)


# ---------------------------------------------------------------------- for integrators


@called
def weigh(tag: Tag, model: Buffer, work: Buffer, damping: float) -> None:
    """Find the rows of (8), and factorise the matrix of (1), (3) and (4) with them; M and A are there."""
    regular_rows(tag, model, work, damping)
    augment(tag, model, part(tag, model, work, DIRECTIONS), index(model, RANK), work)


@called
def sharp(tag: Tag, model: Buffer, demand: Buffer, out: Buffer, work: Buffer) -> None:
    """-dq of (3) for the demand c; with the demand A v, what (4) takes from v."""
    nv, r = index(model, NV), index(model, RANK)
    force = part(tag, model, work, SPARE)
    negative = force[nv * len(tag) :]
    clear(tag, force, 0, nv)
    demand_of_rows(tag, model, demand, negative, negative[r * len(tag) :], work)
    for k in range(r):
        store(tag, negative, k, -load(tag, negative, k))
    iterate(tag, model, part(tag, model, work, DIRECTIONS), r, force, negative, out, work)


@generic
def acceleration(tag: Tag, model: Buffer, tau: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """(1) with (8)"""
    r, demand = index(model, RANK), part(tag, model, work, SPARE)
    applied(tag, model, tau, force)
    demand_of_rows(tag, model, part(tag, model, work, RATE), demand, demand[r * len(tag) :], work)
    iterate(tag, model, part(tag, model, work, DIRECTIONS), r, force, demand, out, work)


class AugmentedLagrangian(ConstraintMethod):
    """Forward and inverse dynamics of robots with loops by penalty and multipliers, in a fixed number of rounds.

    Equations: (1)-(8)
    """

    name: ClassVar[str] = "augmented-lagrangian"
    title: ClassVar[str] = "Augmented Lagrangian (penalty and multipliers)"
    reference: ClassVar[str] = (
        "Bayo and Avello, Nonlinear Dynamics 5 (1994); Bayo and Ledesma, Nonlinear Dynamics 9 (1996)"
    )
    cost: ClassVar[str] = "O(n^3 + m n^2), m loop equations"
    kernels: ClassVar[Mapping[str, Kernel]] = QUANTITIES_BY_OPERATOR
    operator: ClassVar[Mapping[str, Kernel]] = {"prepare": prepare, "solve": solve}
    following: ClassVar[Mapping[str, Kernel]] = {
        "weigh": weigh, "sharp": sharp, "directions": ratio_found, "acceleration": acceleration,
    }  # fmt: skip

    def own_size(self, robot: Robot) -> int:
        m, nv = len(robot.loop_rows.closure), robot.nv
        return max(nv * nv + 1 + nv + 2 * m, pseudo_inverse.size(m, nv, robot.loop_analysis.rank))
