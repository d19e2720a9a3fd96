"""Closed loops by their nominal rank: kernels for every state of every mechanism, around a method's tree kernels.

`projection` divides by a square part of A that is chosen once; this module does without the choice. With all m rows
of the loops (redundant ones too, scaled by one length), r their nominal rank, M = L D L^T and B = A L^-T D^-1/2,

    sharp(x) = M^-1 A^T (A M^-1 A^T)^+ x        the smallest change in the mass metric with A y = x              (1)
    a = P M^-1 (B tau - h) - sharp(A' v)        P: the complement of the r leading directions of B                (2)
    q <- q - sharp(c),   v <- v - sharp(A v)                                                                      (3)

The r directions are the first r of a Gram-Schmidt process with column pivoting, however small the last is: the rank is
a number of the mechanism, so no tolerance decides what moves, and through singular positions the velocity continues.
Only what the loops demand (c, A v, A' v) is damped there,

    S = B B^T + mu 1,   y = 0;   three times  y += B^T S^-1 (x - B y);   sharp(x) = L^-T D^-1/2 y                   (4)

which is the factor 1 - (mu / (mu + s^2))^3 on each singular value s: 1 to rounding at regular positions. Pivots are
chosen lane by lane (`choose`), sizes and trip counts are those of the robot: lanes of states run the same instructions.
(1), (2) and (4) are in `mass_metric`, the directions in `free_motions`, (3) in `following`.

Where the spanning tree's M is singular (massless legs), M + b A^T A and h + b A^T A' v take the place of M and h, which
changes no motion on the loops.

Inverse dynamics needs no M: with Z the null space of A (nv x dof) and the actuators' columns of it, X = Z_act^T,
Z^T (M a + h) = X tau has the solution of least weighted norm; with more actuators than freedoms it is one of many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.methods.kernels import closure
from dynbench.methods.kernels.closure import (
    ACTUATED,
    ACTUATION,
    BASIS,
    BODIES,
    DEFLATED,
    DIRECTIONS,
    DOF,
    EQUATIONS,
    FREE_MOTIONS,
    FULL,
    GRAM,
    INNER,
    JACOBIAN,
    MASS,
    MASSLESS,
    METHOD,
    NA,
    NQ,
    NV,
    OWN,
    RANK,
    RATE,
    RESIDUAL,
    ROOTS,
    SOLVED,
    SPARE,
    TABLE,
    THOROUGH,
    WEIGHTED,
    WEIGHTS,
    WORK,
    fill_equations,
    part,
)
from dynbench.methods.kernels.free_motions import SINGULAR, actuator_forces, complement, directions, free_motions
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.mass_metric import EXACT, acceleration, least_norm, weigh
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.projection import (
    OFF,
    PARAMETERS,
    accelerating,
    moving,
    nan_if_invalid,
    no_mass,
    project,
    reduced_mass,
    refuse,
)
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, index, load, store
from dynbench.robots.errors import RobotError
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.validate import check_movable

NEAR = 1.0 / closure.FAR**2  # residuals are over the length of the loops here

NOTHING: FloatArray = np.zeros(0)

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None
tree_regressor: Any = None


def pack(
    robot: Robot, method: FloatArray, thorough: bool = False, own: int = 0, table: FloatArray = NOTHING
) -> FloatArray:
    """Return the model: that of `closure` with all rows, translations over one length, and the weights of actuators.

    ``thorough``: `following` closes the loops to rounding, as for accepted states; stages need less. ``own`` and
    ``table``: workspace and numbers of a formulation that has its own operators.
    """
    found, m = robot.loop_analysis, len(robot.loop_rows.closure)
    scale = np.where(robot.loop_rows.turn == 0, 1.0 / found.length, 1.0)
    weights = np.ones(len(robot.actuated)) if not robot.force_weights.size else np.asarray(robot.force_weights)
    model = closure.pack(robot, np.concatenate([table, 1.0 / np.sqrt(weights), method]), np.arange(m), scale)
    model[TABLE] = model[METHOD]
    model[WEIGHTS] = model[TABLE] + len(table)
    model[METHOD] = model[WEIGHTS] + len(weights)
    model[RANK], model[DOF], model[NQ], model[MASSLESS] = found.rank, found.dof, robot.nq, not invertible(robot)
    model[THOROUGH] = thorough
    for slot, start in zip(PARTS, layout(robot, own), strict=True):
        model[slot] = start
    return model


PARTS = (RESIDUAL, JACOBIAN, RATE, FULL, SOLVED, SPARE, BASIS, MASS, ROOTS, WEIGHTED, GRAM, DEFLATED, DIRECTIONS,
         FREE_MOTIONS, ACTUATION, OWN, INNER)  # fmt: skip


def layout(robot: Robot, own: int = 0) -> list[int]:
    """Return where each of `PARTS` begins in the workspace; the last is what is left for the method's own kernels."""
    n, nv, na, m = robot.n, robot.nv, len(robot.actuated), len(robot.loop_rows.closure)
    r, dof = robot.loop_analysis.rank, robot.loop_analysis.dof
    sizes = [WORK * (n + 1), m, m * nv, m, nv, nv + m, 3 * nv + 2 * m, max(na, dof) * nv, nv * nv, nv + 1, m * nv,
             m * m, max(m, nv) * nv, r * nv, dof * nv, dof * (na + dof + 1), own]  # fmt: skip
    return [int(start) for start in np.cumsum(sizes)]


def invertible(robot: Robot) -> bool:
    """Whether the inertia matrix of the spanning tree, loops cut, is positive definite."""
    try:
        check_movable(robot)
    except RobotError:
        return False
    return True


# ---------------------------------------------------------------------- quantities


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(2), smooth near the loops; NaN far from them, and where the mechanism is singular."""
    bad = closed(tag, model, q, work, NEAR)
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    full = part(tag, model, work, FULL)
    tree_mass_matrix(tag, own, q, no_mass(tag, model, work), inner)
    weigh(tag, model, work, EXACT)
    ratio = directions(tag, model, WEIGHTED, work)
    bad = bad + moving(tag, model, v, work, NEAR)
    bad = bad + SINGULAR * SINGULAR / (ratio * ratio)
    clear(tag, out, 0, index(model, NV))
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    acceleration(tag, model, tau, full, out, work)
    refuse(tag, out, index(model, NV), bad)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """X tau = Z^T (M a + h), the solution of least weighted norm."""
    bad = closed_motion(tag, model, q, v, a, work) + free_motions(tag, model, work)
    full = part(tag, model, work, FULL)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    actuator_forces(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def regressor(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """The actuator forces of each column of the tree's regressor, which is at the beginning of the inner workspace."""
    zero = nan_if_invalid(closed_motion(tag, model, q, v, a, work) + free_motions(tag, model, work))
    nv, width = index(model, NV), PARAMETERS * index(model, BODIES)
    Y = part(tag, model, work, INNER)
    tree_regressor(tag, model[index(model, METHOD) :], q, v, a, None, Y, Y[nv * width * len(tag) :])
    full, forces = part(tag, model, work, FULL), part(tag, model, work, SOLVED)
    for c in range(width):
        for i in range(nv):
            store(tag, full, i, load(tag, Y, i * width + c))
        actuator_forces(tag, model, full, forces, work, zero)
        for j in range(index(model, NA)):
            store(tag, out, j * width + c, load(tag, forces, j))


@generic
def bias(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Actuator forces when the actuated coordinates do not accelerate; as many actuators as freedoms."""
    bad = closed(tag, model, q, work, NEAR) + moving(tag, model, v, work, NEAR)
    bad = bad + free_motions(tag, model, work)
    complement(tag, model, work)
    nv, na, actuated = index(model, NV), index(model, NA), index(model, ACTUATED)
    W = part(tag, model, work, BASIS)
    start = part(tag, model, work, SOLVED)
    full = part(tag, model, work, FULL)
    least_norm(tag, model, part(tag, model, work, RATE), start, work)
    for i in range(nv):  # a_0 = -A^+ A' v, then without the part of the actuated coordinates
        total = -load(tag, start, i)
        for j in range(na):
            total = total + load(tag, W, j * nv + i) * load(tag, start, index(model, actuated + j))
        store(tag, full, i, total)
    for i in range(nv):
        store(tag, start, i, load(tag, full, i))
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, start, wrench, full, part(tag, model, work, INNER))
    project(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """W^T M W, with as many actuators as freedoms."""
    bad = closed(tag, model, q, work, NEAR) + free_motions(tag, model, work)
    complement(tag, model, work)
    tree_mass_matrix(tag, model[index(model, METHOD) :], q, no_mass(tag, model, work), part(tag, model, work, INNER))
    reduced_mass(tag, model, out, work)
    refuse(tag, out, index(model, NA) * index(model, NA), bad)


# ---------------------------------------------------------------------- states


@generic
def closed(tag: Tag, model: Buffer, q: Buffer, work: Buffer, off: float) -> Scalar:
    """Place the bodies, fill residual and A; return how far from the loops q is, 1 at the tolerance."""
    fill_equations(tag, model, q, work)
    c = part(tag, model, work, RESIDUAL)
    return inner_product(tag, c, 0, c, 0, index(model, EQUATIONS)) * off


@generic
def closed_motion(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, work: Buffer) -> Scalar:
    """`closed`, then fill A' v; return how far from the loops q, v and a are, 1 at the tolerance."""
    bad = closed(tag, model, q, work, OFF) + moving(tag, model, v, work, OFF)
    return bad + accelerating(tag, model, v, a, work)
