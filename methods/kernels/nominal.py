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

Where the spanning tree's M is singular (massless legs), M + b A^T A and h + b A^T A' v take the place of M and h, which
changes no motion on the loops.

Inverse dynamics needs no M: with Z the null space of A (nv x dof) and the actuators' columns of it, X = Z_act^T,
Z^T (M a + h) = X tau has the solution of least weighted norm; with more actuators than freedoms it is one of many.

`follow` is for integrators: it moves a state onto the loops before it evaluates the accelerations, so that stages of a
step off the loops have smooth derivatives.
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
    TREE,
    WEIGHTED,
    WEIGHTS,
    WORK,
    equations,
    move,
    part,
    place,
    rates,
)
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.projection import OFF, PARAMETERS, inner_product, nan_if_invalid, reduced_mass
from dynbench.methods.kernels.scalar import (
    Buffer,
    Scalar,
    Tag,
    any_above,
    called,
    choose,
    const,
    generic,
    index,
    load,
    splat,
    sqrt,
    store,
)
from dynbench.methods.kernels.tree import FREE, SPHERICAL, iq, iv, kind
from dynbench.methods.kernels.vectors import add, cross, from_quaternion, load3, mul, scale, store3
from dynbench.robots.errors import RobotError
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.validate import check_movable

# mu of (4) over the trace of B B^T. While a motion is followed: (1e-4)^2. Rounding moves a state off its branch by
# about EPS / d^3 at a distance d from a singular position, so the damping must begin above EPS^(1/3) = 6e-6; and it
# must have ended, (1e-4 / s)^6 < 1e-12, where s > 1e-2. For the accelerations of one state: (1e-6)^2.
FOLLOWING, EXACT = 1e-8, 1e-12
NEAR = 1.0 / closure.FAR**2  # residuals are over the length of the loops here
ROUNDS = 3  # of (4); one leaves a bias of mu / s^2
SINGULAR = 1e-4  # least ratio of singular values at which one state has accelerations of its own: 1e-12 of (4) is left
CLOSED, NEARLY = 1e-15, 1e-10  # over the length of the loops: residuals that a further Newton step is taken for
ACCEPTED = 3  # Newton steps at an accepted state, each for residuals above CLOSED
STAGE = 2  # and at a stage, the second for residuals above NEARLY

NOTHING: FloatArray = np.zeros(0)

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None
tree_regressor: Any = None


def pack(
    robot: Robot, method: FloatArray, thorough: bool = False, own: int = 0, table: FloatArray = NOTHING
) -> FloatArray:
    """Return the model: that of `closure` with all rows, translations over one length, and the weights of actuators.

    ``thorough``: `follow` closes the loops to rounding, as for accepted states; stages need less. ``own`` and
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
    M, full = part(tag, model, work, MASS), part(tag, model, work, FULL)
    clear(tag, M, 0, index(model, NV) * index(model, NV))
    tree_mass_matrix(tag, own, q, M, inner)
    weigh(tag, model, work, EXACT)
    ratio = directions(tag, model, WEIGHTED, work)
    bad = bad + moving(tag, model, v, work, NEAR)
    bad = bad + SINGULAR * SINGULAR / (ratio * ratio)
    clear(tag, out, 0, index(model, NV))
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    acceleration(tag, model, tau, full, out, work)
    zero = nan_if_invalid(bad)
    for i in range(index(model, NV)):
        store(tag, out, i, load(tag, out, i) + zero)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """X tau = Z^T (M a + h), the solution of least weighted norm."""
    bad = closed(tag, model, q, work, OFF) + moving(tag, model, v, work, OFF)
    bad = bad + accelerating(tag, model, v, a, work)
    bad = bad + free_motions(tag, model, work)
    full = part(tag, model, work, FULL)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    actuator_forces(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def regressor(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """The actuator forces of each column of the tree's regressor, which is at the beginning of the inner workspace."""
    bad = closed(tag, model, q, work, OFF) + moving(tag, model, v, work, OFF)
    bad = bad + accelerating(tag, model, v, a, work)
    bad = bad + free_motions(tag, model, work)
    zero = nan_if_invalid(bad)
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
    zero = nan_if_invalid(bad)
    for j in range(na):
        store(tag, out, j, zero + inner_product(tag, W, j * nv, full, 0, nv))


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """W^T M W, with as many actuators as freedoms."""
    bad = closed(tag, model, q, work, NEAR)
    bad = bad + free_motions(tag, model, work)
    complement(tag, model, work)
    nv, na = index(model, NV), index(model, NA)
    M = part(tag, model, work, MASS)
    clear(tag, M, 0, nv * nv)
    tree_mass_matrix(tag, model[index(model, METHOD) :], q, M, part(tag, model, work, INNER))
    reduced_mass(tag, model, out, work)
    zero = nan_if_invalid(bad)
    for k in range(na * na):
        store(tag, out, k, load(tag, out, k) + zero)


@generic
def follow(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Move a state onto the loops (3), then find its accelerations (2).

    ``out``: accelerations, velocities, configuration, then the residual as given and as left (root of the
    sum of squares, over the length of the loops), that of A v, and the ratio of the last singular value to the first.
    """
    nv, nq, m = index(model, NV), index(model, NQ), index(model, EQUATIONS)
    moved = out[2 * nv * len(tag) :]
    still = out[nv * len(tag) :]
    numbers = out[(2 * nv + nq) * len(tag) :]
    c = part(tag, model, work, RESIDUAL)
    x = part(tag, model, work, SOLVED)
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    M = part(tag, model, work, MASS)
    thorough = index(model, THOROUGH) == 1
    for i in range(nq):
        store(tag, moved, i, load(tag, q, i))
    for k in range(ACCEPTED + 1):
        place(tag, model, moved, work)
        equations(tag, model, moved, work, c, part(tag, model, work, JACOBIAN))
        clear(tag, M, 0, nv * nv)
        tree_mass_matrix(tag, own, moved, M, inner)
        weigh(tag, model, work, FOLLOWING)
        left = sqrt(inner_product(tag, c, 0, c, 0, m))
        if k == 0:
            store(tag, numbers, 0, left)
        store(tag, numbers, 1, left)
        goal = CLOSED if thorough or k == 0 else NEARLY
        if k == (ACCEPTED if thorough else STAGE) or not any_above(left, goal):
            break
        if index(model, RANK) < m:
            directions(tag, model, WEIGHTED, work)
        sharp(tag, model, c, x, work)
        correct(tag, model, moved, x)
    ratio = directions(tag, model, WEIGHTED, work)
    A = part(tag, model, work, JACOBIAN)
    for k in range(m):
        store(tag, c, k, inner_product(tag, A, k * nv, v, 0, nv))
    store(tag, numbers, 2, sqrt(inner_product(tag, c, 0, c, 0, m)))
    store(tag, numbers, 3, ratio)
    sharp(tag, model, c, x, work)
    for i in range(nv):
        store(tag, still, i, load(tag, v, i) - load(tag, x, i))
    accelerate(tag, model, moved, still, tau, wrench, out, work)


@generic
def accelerate(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(2) at a state on the loops, which `weigh` and `directions` have prepared."""
    full = part(tag, model, work, FULL)
    move(tag, model, v, work)
    rates(tag, model, work, part(tag, model, work, RATE))
    clear(tag, out, 0, index(model, NV))
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    acceleration(tag, model, tau, full, out, work)


# ---------------------------------------------------------------------- steps


@generic
def closed(tag: Tag, model: Buffer, q: Buffer, work: Buffer, off: float) -> Scalar:
    """Place the bodies, fill residual and A; return how far from the loops q is, 1 at the tolerance."""
    place(tag, model, q, work)
    c = part(tag, model, work, RESIDUAL)
    equations(tag, model, q, work, c, part(tag, model, work, JACOBIAN))
    return inner_product(tag, c, 0, c, 0, index(model, EQUATIONS)) * off


@generic
def moving(tag: Tag, model: Buffer, v: Buffer, work: Buffer, off: float) -> Scalar:
    """Fill A' v; return how far from the loops v is."""
    move(tag, model, v, work)
    rates(tag, model, work, part(tag, model, work, RATE))
    nv = index(model, NV)
    A = part(tag, model, work, JACOBIAN)
    bad = splat(tag, 0.0)
    for k in range(index(model, EQUATIONS)):
        x = inner_product(tag, A, k * nv, v, 0, nv)
        bad = bad + x * x
    return bad * off / (1.0 + inner_product(tag, v, 0, v, 0, nv))


@called
def accelerating(tag: Tag, model: Buffer, v: Buffer, a: Buffer, work: Buffer) -> Scalar:
    """Return how far from the loops a is."""
    nv = index(model, NV)
    A = part(tag, model, work, JACOBIAN)
    rate = part(tag, model, work, RATE)
    bad = splat(tag, 0.0)
    for k in range(index(model, EQUATIONS)):
        x = load(tag, rate, k) + inner_product(tag, A, k * nv, a, 0, nv)
        bad = bad + x * x
    speed = inner_product(tag, v, 0, v, 0, nv)
    return bad * OFF / (1.0 + inner_product(tag, a, 0, a, 0, nv) + speed * speed)


@called
def whiten(tag: Tag, model: Buffer, work: Buffer, augmented: bool) -> None:
    """Factorise M (``augmented``: with b A^T A, because it may be singular) and fill B; M and A are there."""
    nv, m = index(model, NV), index(model, EQUATIONS)
    A = part(tag, model, work, JACOBIAN)
    M = part(tag, model, work, MASS)
    roots = part(tag, model, work, ROOTS)
    b = splat(tag, 0.0)
    if augmented:
        total = splat(tag, 0.0)
        for i in range(nv):
            total = total + load(tag, M, i * nv + i)
        b = total / inner_product(tag, A, 0, A, 0, m * nv)
        for i in range(nv):
            for j in range(i + 1):
                x = splat(tag, 0.0)
                for k in range(m):
                    x = x + load(tag, A, k * nv + i) * load(tag, A, k * nv + j)
                store(tag, M, i * nv + j, load(tag, M, i * nv + j) + b * x)
    store(tag, roots, nv, b)
    ldlt(tag, M, 0, nv)
    for i in range(nv):
        store(tag, roots, i, sqrt(load(tag, M, i * nv + i)))
    B = part(tag, model, work, WEIGHTED)
    for k in range(m):
        for i in range(nv):
            store(tag, B, k * nv + i, load(tag, A, k * nv + i))
        half(tag, model, B, k * nv, work)


@called
def weigh(tag: Tag, model: Buffer, work: Buffer, damping: float) -> None:
    """`whiten`, and factorise S of (4)."""
    whiten(tag, model, work, index(model, MASSLESS) == 1)
    nv, m = index(model, NV), index(model, EQUATIONS)
    B = part(tag, model, work, WEIGHTED)
    S = part(tag, model, work, GRAM)
    trace = splat(tag, 0.0)
    for k in range(m):
        for j in range(k + 1):
            store(tag, S, k * m + j, inner_product(tag, B, k * nv, B, j * nv, nv))
        trace = trace + load(tag, S, k * m + k)
    for k in range(m):
        store(tag, S, k * m + k, load(tag, S, k * m + k) + trace * damping)
    ldlt(tag, S, 0, m)


@called
def half(tag: Tag, model: Buffer, x: Buffer, at: int, work: Buffer) -> None:
    """x = D^-1/2 L^-1 x"""
    nv = index(model, NV)
    M, roots = part(tag, model, work, MASS), part(tag, model, work, ROOTS)
    for i in range(nv):
        y = load(tag, x, at + i)
        for j in range(i):
            y = y - load(tag, M, i * nv + j) * load(tag, x, at + j)
        store(tag, x, at + i, y)
    for i in range(nv):
        store(tag, x, at + i, load(tag, x, at + i) * load(tag, roots, i))


@called
def half_transposed(tag: Tag, model: Buffer, x: Buffer, work: Buffer) -> None:
    """x = L^-T D^-1/2 x"""
    nv = index(model, NV)
    M, roots = part(tag, model, work, MASS), part(tag, model, work, ROOTS)
    for i in range(nv):
        store(tag, x, i, load(tag, x, i) * load(tag, roots, i))
    for i in range(nv - 1, -1, -1):
        y = load(tag, x, i)
        for j in range(i + 1, nv):
            y = y - load(tag, M, j * nv + i) * load(tag, x, j)
        store(tag, x, i, y)


@called
def rounds(tag: Tag, model: Buffer, rows: int, x: Buffer, y: Buffer, work: Buffer) -> None:
    """(4) without its last step: y of the demand x, for B or A (``rows``), whose S is factorised.

    With redundant rows y is taken along the directions found: off the loops by x the others have singular values of
    order x, and what they demand must not count.
    """
    nv, m = index(model, NV), index(model, EQUATIONS)
    B, S = part(tag, model, work, rows), part(tag, model, work, GRAM)
    z = part(tag, model, work, SPARE)
    clear(tag, y, 0, nv)
    for _ in range(ROUNDS):
        for k in range(m):
            store(tag, z, k, load(tag, x, k) - inner_product(tag, B, k * nv, y, 0, nv))
        ldlt_solve(tag, S, 0, m, z, 0)
        for i in range(nv):
            total = load(tag, y, i)
            for k in range(m):
                total = total + load(tag, B, k * nv + i) * load(tag, z, k)
            store(tag, y, i, total)
    if index(model, RANK) < m:
        Q = part(tag, model, work, DIRECTIONS)
        clear(tag, z, 0, nv)
        for k in range(index(model, RANK)):
            along = inner_product(tag, Q, k * nv, y, 0, nv)
            for i in range(nv):
                store(tag, z, i, load(tag, z, i) + along * load(tag, Q, k * nv + i))
        for i in range(nv):
            store(tag, y, i, load(tag, z, i))


@called
def sharp(tag: Tag, model: Buffer, x: Buffer, y: Buffer, work: Buffer) -> None:
    """(1) by (4): y (nv) of the demand x (m)."""
    rounds(tag, model, WEIGHTED, x, y, work)
    half_transposed(tag, model, y, work)


@called
def least_norm(tag: Tag, model: Buffer, x: Buffer, y: Buffer, work: Buffer) -> None:
    """y = A^+ x: the same without masses."""
    nv, m = index(model, NV), index(model, EQUATIONS)
    A, S = part(tag, model, work, JACOBIAN), part(tag, model, work, GRAM)
    trace = splat(tag, 0.0)
    for k in range(m):
        for j in range(k + 1):
            store(tag, S, k * m + j, inner_product(tag, A, k * nv, A, j * nv, nv))
        trace = trace + load(tag, S, k * m + k)
    for k in range(m):
        store(tag, S, k * m + k, load(tag, S, k * m + k) + trace * EXACT)
    ldlt(tag, S, 0, m)
    rounds(tag, model, JACOBIAN, x, y, work)


@generic
def applied(tag: Tag, model: Buffer, tau: Buffer, force: Buffer) -> None:
    """force = B tau - force"""
    for i in range(index(model, NV)):
        store(tag, force, i, -load(tag, force, i))
    for j in range(index(model, NA)):
        i = index(model, index(model, ACTUATED) + j)
        store(tag, force, i, load(tag, force, i) + load(tag, tau, j))


@generic
def less_demand(tag: Tag, model: Buffer, rate: Buffer, force: Buffer, work: Buffer) -> None:
    """force -= b A^T rate, which goes with M + b A^T A"""
    nv = index(model, NV)
    A = part(tag, model, work, JACOBIAN)
    b = load(tag, part(tag, model, work, ROOTS), nv)
    for i in range(nv):
        total = splat(tag, 0.0)
        for k in range(index(model, EQUATIONS)):
            total = total + load(tag, A, k * nv + i) * load(tag, rate, k)
        store(tag, force, i, load(tag, force, i) - b * total)


@called
def acceleration(tag: Tag, model: Buffer, tau: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """Fill (2); M is factorised, the directions and A' v are found, ``force`` holds h."""
    nv = index(model, NV)
    rate = part(tag, model, work, RATE)
    x = part(tag, model, work, SOLVED)
    applied(tag, model, tau, force)
    if index(model, MASSLESS) == 1:
        less_demand(tag, model, rate, force, work)
    half(tag, model, force, 0, work)
    Q = part(tag, model, work, DIRECTIONS)
    for k in range(index(model, RANK)):
        y = inner_product(tag, Q, k * nv, force, 0, nv)
        for i in range(nv):
            store(tag, force, i, load(tag, force, i) - y * load(tag, Q, k * nv + i))
    half_transposed(tag, model, force, work)
    sharp(tag, model, rate, x, work)
    for i in range(nv):
        store(tag, out, i, load(tag, force, i) - load(tag, x, i))


@called
def directions(tag: Tag, model: Buffer, rows: int, work: Buffer) -> Scalar:
    """Fill the r leading directions of B or A (``rows``), orthonormal; return the last pivot over the first."""
    nv, m, r = index(model, NV), index(model, EQUATIONS), index(model, RANK)
    B, left = part(tag, model, work, rows), part(tag, model, work, DEFLATED)
    for k in range(m * nv):
        store(tag, left, k, load(tag, B, k))
    return leading(tag, left, m, nv, r, part(tag, model, work, DIRECTIONS), part(tag, model, work, SPARE))


@called
def leading(tag: Tag, left: Buffer, m: int, nv: int, r: int, Q: Buffer, x: Buffer) -> Scalar:
    """Gram-Schmidt with pivoting on m vectors of nv numbers, which are used up: the first r directions into Q.

    The pivot is the longest vector left, lane by lane; none is needed if all are taken. Each direction is made
    orthogonal to those before it once more, so that they are orthogonal to rounding also where little is left. ``x``
    has room for nv + m numbers.
    """
    first = splat(tag, 1.0)
    last = splat(tag, 1.0)
    lengths = x[nv * len(tag) :]
    for j in range(m):
        store(tag, lengths, j, inner_product(tag, left, j * nv, left, j * nv, nv))
    for k in range(r):
        longest = splat(tag, -1.0)
        for i in range(nv):
            store(tag, x, i, splat(tag, 0.0))
        for j in range(m if r < m else 0):
            length = load(tag, lengths, j)
            for i in range(nv):
                store(tag, x, i, choose(length, longest, load(tag, left, j * nv + i), load(tag, x, i)))
            longest = choose(length, longest, length, longest)
        if r == m:  # all are taken, in any order
            for i in range(nv):
                store(tag, x, i, load(tag, left, k * nv + i))
            longest = load(tag, lengths, k)
        if k == 0:
            first = longest
            last = longest
        first = choose(longest, first, longest, first)
        last = choose(last, longest, longest, last)
        for i in range(k):
            y = inner_product(tag, Q, i * nv, x, 0, nv)
            for j in range(nv):
                store(tag, x, j, load(tag, x, j) - y * load(tag, Q, i * nv + j))
        # where nothing is left, at exactly singular positions, any direction will do: x / tiny stays finite
        size = 1.0 / sqrt(inner_product(tag, x, 0, x, 0, nv) + 1e-300)
        for j in range(nv):
            store(tag, Q, k * nv + j, load(tag, x, j) * size)
        for j in range(k + 1 if r == m else 0, m if k + 1 < r else 0):
            y = inner_product(tag, Q, k * nv, left, j * nv, nv)
            length = splat(tag, 0.0)
            for i in range(nv):
                z = load(tag, left, j * nv + i) - y * load(tag, Q, k * nv + i)
                store(tag, left, j * nv + i, z)
                length = length + z * z
            store(tag, lengths, j, length)
    return sqrt(last / (first + 1e-300))


@called
def free_motions(tag: Tag, model: Buffer, work: Buffer) -> Scalar:
    """Fill Z, and factorise X of the actuators; return how near the state is to a singular one.

    Z completes the directions of A to an orthonormal basis. X^T = W^-1/2 Z_act = Q R, columns of Q and rows of R.
    """
    nv, na, dof = index(model, NV), index(model, NA), index(model, DOF)
    ratio = directions(tag, model, JACOBIAN, work)
    Q = part(tag, model, work, DIRECTIONS)
    left = part(tag, model, work, DEFLATED)
    for j in range(nv):
        for i in range(nv):
            y = splat(tag, 1.0 if i == j else 0.0)
            for k in range(index(model, RANK)):
                y = y - load(tag, Q, k * nv + j) * load(tag, Q, k * nv + i)
            store(tag, left, j * nv + i, y)
    Z = part(tag, model, work, FREE_MOTIONS)
    leading(tag, left, nv, nv, dof, Z, part(tag, model, work, SPARE))
    weights, actuated = index(model, WEIGHTS), index(model, ACTUATED)
    X = part(tag, model, work, ACTUATION)
    R = X[dof * na * len(tag) :]
    bad = splat(tag, 0.0)
    entries = splat(tag, 0.0)
    for k in range(dof):
        for j in range(na):
            x = load(tag, Z, k * nv + index(model, actuated + j)) * const(model, weights + j)
            entries = entries + x * x
            store(tag, X, k * na + j, x)
    for k in range(dof):
        for _ in range(2):
            for i in range(k):
                y = inner_product(tag, X, i * na, X, k * na, na)
                for j in range(na):
                    store(tag, X, k * na + j, load(tag, X, k * na + j) - y * load(tag, X, i * na + j))
        size = inner_product(tag, X, k * na, X, k * na, na)
        bad = bad + entries / size
        inverse = 1.0 / sqrt(size)
        for j in range(na):
            store(tag, X, k * na + j, load(tag, X, k * na + j) * inverse)
        # a row of X^T times the directions so far: R_ik = q_i . x_k, found again from Z, to rounding
        for i in range(k + 1):
            y = splat(tag, 0.0)
            for j in range(na):
                z = load(tag, Z, k * nv + index(model, actuated + j)) * const(model, weights + j)
                y = y + load(tag, X, i * na + j) * z
            store(tag, R, i * dof + k, y)
    return bad * UNHELD + SINGULAR * SINGULAR / (ratio * ratio)


UNHELD = 1e-12  # squared: 1 / condition of X at which the actuators no longer determine the motion


@called
def actuator_forces(tag: Tag, model: Buffer, full: Buffer, out: Buffer, work: Buffer, zero: Scalar) -> None:
    """tau = W^-1/2 Q R^-T Z^T r"""
    nv, na, dof = index(model, NV), index(model, NA), index(model, DOF)
    Z, X = part(tag, model, work, FREE_MOTIONS), part(tag, model, work, ACTUATION)
    R = X[dof * na * len(tag) :]
    y = part(tag, model, work, SPARE)
    for k in range(dof):
        x = inner_product(tag, Z, k * nv, full, 0, nv)
        for i in range(k):
            x = x - load(tag, R, i * dof + k) * load(tag, y, i)
        store(tag, y, k, x / load(tag, R, k * dof + k))
    weights = index(model, WEIGHTS)
    for j in range(na):
        total = splat(tag, 0.0)
        for k in range(dof):
            total = total + load(tag, X, k * na + j) * load(tag, y, k)
        store(tag, out, j, total * const(model, weights + j) + zero)


@called
def complement(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Fill W = Z Z_act^-1, one column after the other; as many actuators as freedoms."""
    nv, na, dof = index(model, NV), index(model, NA), index(model, DOF)
    Z, X = part(tag, model, work, FREE_MOTIONS), part(tag, model, work, ACTUATION)
    R = X[dof * na * len(tag) :]
    W = part(tag, model, work, BASIS)
    y = part(tag, model, work, SPARE)
    weights = index(model, WEIGHTS)
    for j in range(na):
        for k in range(dof - 1, -1, -1):
            x = load(tag, X, k * na + j) * const(model, weights + j)
            for i in range(k + 1, dof):
                x = x - load(tag, R, k * dof + i) * load(tag, y, i)
            store(tag, y, k, x / load(tag, R, k * dof + k))
        for i in range(nv):
            total = splat(tag, 0.0)
            for k in range(dof):
                total = total + load(tag, Z, k * nv + i) * load(tag, y, k)
            store(tag, W, j * nv + i, total)


@called
def correct(tag: Tag, model: Buffer, q: Buffer, x: Buffer) -> None:
    """q <- q - x, a small change of motion: quaternions to first order, then of unit length."""
    packed = model[TREE : index(model, closure.CLOSURES)]
    for i in range(1, index(model, BODIES) + 1):
        joint = kind(packed, i)
        j, k = iq(packed, i), iv(packed, i)
        if joint in (SPHERICAL, FREE):
            if joint == FREE:
                R = from_quaternion(load(tag, q, j + 3), load(tag, q, j + 4), load(tag, q, j + 5), load(tag, q, j + 6))
                store3(tag, q, j, add(load3(tag, q, j), scale(-1.0, mul(R, load3(tag, x, k)))))
                j += 3
                k += 3
            turn = scale(-0.5, load3(tag, x, k))
            u, w = load3(tag, q, j), load(tag, q, j + 3)
            u1 = add(add(u, scale(w, turn)), cross(u, turn))
            w1 = w - (u[0] * turn[0] + u[1] * turn[1] + u[2] * turn[2])
            size = 1.0 / sqrt(u1[0] * u1[0] + u1[1] * u1[1] + u1[2] * u1[2] + w1 * w1)
            store3(tag, q, j, scale(size, u1))
            store(tag, q, j + 3, w1 * size)
        else:
            store(tag, q, j, load(tag, q, j) - load(tag, x, k))
