"""The mass matrix: of the platform's twist (6 x 6, world axes), and of the leg lengths.

The legs' inertias K, reduced to their platform joints, are added to that of the platform:
M = diag(m 1, R I R^T) + sum A^T K A with A = [1, -[r]]. In the paper's coordinates, M of (10) is
diag(1, E)^T M diag(1, E); in the actuated ones it is H^-T M H^-1.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import SINGULAR
from dynbench.methods.kernels.inertia import full, times_cross
from dynbench.methods.kernels.orthogonal import factorise, inner_product, solve_transposed
from dynbench.methods.kernels.projection import nan_if_invalid, refuse
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add3,
    addsym,
    congruence,
    const6,
    from_quaternion,
    load3,
    load6,
    load9,
    scale,
    store3,
    store6,
    store9,
    transpose,
)
from dynbench.methods.lagrange_stewart.inverse import leg_pose, off_legs, store_column
from dynbench.methods.lagrange_stewart.legs import leg_mass
from dynbench.methods.lagrange_stewart.model import HEAD, INERTIA, IQ, LEG, LEGS, MASS, SIZE

# Work: the blocks (6, 9 and 6 numbers), M by rows, H^-1 by columns, the factorised H^T, spare numbers
TOP, CORNER, SPIN = 0, 6, 15
BY_ROWS = 21
INVERSE = BY_ROWS + 36
FACTOR = INVERSE + 36
SPARE = FACTOR + 78
WORK = SPARE + 6


@generic
def start_mass(tag: Tag, model: Buffer, R: Matrix, work: Buffer) -> None:
    """Store the platform's own part, from (11): m 1 and R I R^T."""
    m = const(model, MASS)
    store6(tag, work, TOP, (m, 0.0, 0.0, m, 0.0, m))
    store9(tag, work, CORNER, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store6(tag, work, SPIN, congruence(R, const6(model, INERTIA)))


@generic
def add_leg_mass(tag: Tag, K: Symmetric, r: Vector, work: Buffer) -> None:
    """Add A^T K A with A = [1, -[r]], the leg's inertia at its platform joint reduced to the platform: (28), (29)."""
    X = times_cross(full(K), r)
    Y = times_cross(transpose(X), r)
    store6(tag, work, TOP, addsym(load6(tag, work, TOP), K))
    add3(tag, work, CORNER, (-X[0], -X[1], -X[2]))
    add3(tag, work, CORNER + 3, (-X[3], -X[4], -X[5]))
    add3(tag, work, CORNER + 6, (-X[6], -X[7], -X[8]))
    store6(tag, work, SPIN, addsym(load6(tag, work, SPIN), (Y[0], Y[1], Y[2], Y[4], Y[5], Y[8])))


@generic
def by_rows(tag: Tag, work: Buffer, out: Buffer, at: int) -> None:
    """Write the blocks as a 6 x 6 matrix by rows, from out[at] on."""
    a = load6(tag, work, TOP)
    b = load9(tag, work, CORNER)
    c = load6(tag, work, SPIN)
    store6(tag, out, at, (a[0], a[1], a[2], b[0], b[1], b[2]))
    store6(tag, out, at + 6, (a[1], a[3], a[4], b[3], b[4], b[5]))
    store6(tag, out, at + 12, (a[2], a[4], a[5], b[6], b[7], b[8]))
    store6(tag, out, at + 18, (b[0], b[3], b[6], c[0], c[1], c[2]))
    store6(tag, out, at + 24, (b[1], b[4], b[7], c[1], c[3], c[4]))
    store6(tag, out, at + 30, (b[2], b[5], b[8], c[2], c[4], c[5]))


@generic
def composite(tag: Tag, model: Buffer, q: Buffer, out: Buffer, at: int, work: Buffer) -> Scalar:
    """Fill M by rows from out[at] on, and the columns of H^T; return a measure that is below 1 for valid states."""
    j = index(model, IQ)
    R = from_quaternion(load(tag, q, j + 3), load(tag, q, j + 4), load(tag, q, j + 5), load(tag, q, j + 6))
    P = load3(tag, q, j)
    start_mass(tag, model, R, work)
    factor = work[len(tag) * FACTOR :]
    apart = splat(tag, 0.0)
    nearest = splat(tag, 0.0)
    for i in range(LEGS):
        o = HEAD + i * LEG
        leg, r, _L, s2, _c2, over_L, over_c, opened, near = leg_pose(tag, model, o, q, R, P)
        apart += opened
        nearest += near
        add_leg_mass(tag, congruence(leg, leg_mass(tag, model, o, over_L, s2, over_c)), r, work)
        store_column(tag, model, factor, i, leg, r)
    by_rows(tag, work, out, at)
    return off_legs(model, apart, nearest)


@generic
def twist_mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """M for the platform's velocity and angular velocity, world axes. It is defined at a singular H too."""
    refuse(tag, out, 36, composite(tag, model, q, out, 0, work))


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """H^-T M H^-1: the inertia of the whole robot in the actuated coordinates, the leg lengths."""
    bad = composite(tag, model, q, work, BY_ROWS, work)
    factor = work[len(tag) * FACTOR :]
    zero = nan_if_invalid(bad + SINGULAR * factorise(tag, factor, 6))
    spare = work[len(tag) * SPARE :]
    for i in range(LEGS):
        x = INVERSE + 6 * i
        for k in range(6):
            store(tag, work, x + k, splat(tag, 1.0) if k == i else splat(tag, 0.0))
        twist_of_lengths(tag, model, factor, work, x, spare)
    for c in range(LEGS):
        for k in range(6):
            store(tag, spare, k, inner_product(tag, work, BY_ROWS + 6 * k, work, INVERSE + 6 * c, 6))
        for r in range(c, LEGS):
            entry = inner_product(tag, work, INVERSE + 6 * r, spare, 0, 6) + zero
            store(tag, out, 6 * r + c, entry)
            store(tag, out, 6 * c + r, entry)


@generic
def twist_of_lengths(tag: Tag, model: Buffer, factor: Buffer, x: Buffer, at: int, spare: Buffer) -> None:
    """Solve H t = x for a factorised H^T; the twist t replaces x."""
    solve_transposed(tag, factor, 6, x, at, spare)
    store3(tag, x, at + 3, scale(1.0 / const(model, SIZE), load3(tag, x, at + 3)))
