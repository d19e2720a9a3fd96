"""Inverse dynamics with 3x3 rotations and separate origins, equations (8) to (17) of the package's docstring."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.tree import (
    FREE,
    MASS,
    PRISMATIC,
    REVOLUTE,
    ROW,
    SECOND_MOMENT,
    SUBTREE_MASS,
    H,
    P,
    axis_count,
    body_count,
    first_axis,
    gravity,
    into_packed,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    acceleration_field,
    add,
    add3,
    column,
    const3,
    const6,
    cross,
    dot,
    identity,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    scale,
    splat3,
    store3,
    store9,
    sym,
    zero3,
)

# What a work row holds, by offset: the pose in the parent (r behind R); W, W', W'' and o''; D^T and e; c
ROT, POS, W, W1, W2, O2, D, E, C = 0, 9, 12, 21, 30, 39, 42, 51, 54
WORK = 57


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    zero = splat(tag, 0.0)
    store9(tag, work, W, identity(tag))
    store9(tag, work, W1, (zero, zero, zero, zero, zero, zero, zero, zero, zero))
    store9(tag, work, W2, (zero, zero, zero, zero, zero, zero, zero, zero, zero))
    store3(tag, work, O2, zero3(tag))
    for i in range(1, body_count(model) + 1):
        outward(tag, model, i, q, v, a, wrench, work)
    for i in range(body_count(model), 0, -1):
        joint_forces(tag, model, i, out, work)
        inward(tag, model, i, work)


@generic
def outward(
    tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer
) -> None:
    """From the ground to the tips: rotations, origins, their derivatives, and the body's own e and D."""
    R, r = pose(tag, model, i, q)
    R1, R2, twice, slide = derivatives(tag, model, i, R, v, a)
    o, u = i * WORK, parent(model, i) * WORK
    store9(tag, work, o + ROT, R)
    store3(tag, work, o + POS, r)
    m, h, E_moment = const(model, i * ROW + MASS), const3(model, i * ROW + H), const6(model, i * ROW + SECOND_MOMENT)
    for k in range(3):
        w = load3(tag, work, u + W + 3 * k)
        w1 = load3(tag, work, u + W1 + 3 * k)
        w2 = load3(tag, work, u + W2 + 3 * k)
        # (10) o''
        o2 = load(tag, work, u + O2 + k) + dot(w2, r)
        if kind(model, i) == PRISMATIC or kind(model, i) == FREE:
            o2 = o2 + dot(w1, twice) + dot(w, slide)
        # (9) row k of W, W', W''
        store3(tag, work, o + W + 3 * k, mulT(R, w))
        store3(tag, work, o + W1 + 3 * k, add(mulT(R, w1), mulT(R1, w)))
        w2 = add(add(mulT(R, w2), scale(2.0, mulT(R1, w1))), mulT(R2, w))
        store3(tag, work, o + W2 + 3 * k, w2)
        store(tag, work, o + O2 + k, o2)
        # (12), (13) the body's own part; E W''^T has the rows E w2 when transposed
        store(tag, work, o + E + k, m * o2 + dot(w2, h))
        store3(tag, work, o + D + 3 * k, add(scale(o2, h), sym(E_moment, w2)))
    store3(tag, work, o + C, splat3(tag, h))
    if wrench is not None:
        f = into_packed(model, i, load3(tag, wrench, 6 * i - 6))
        n = scale(0.5, into_packed(model, i, load3(tag, wrench, 6 * i - 3)))
        for k in range(3):
            # (17): the transpose of -n~/2 W^T has the rows -n x w / 2
            w = load3(tag, work, o + W + 3 * k)
            store(tag, work, o + E + k, load(tag, work, o + E + k) - dot(w, f))
            add3(tag, work, o + D + 3 * k, cross(n, w))


@generic
def derivatives(
    tag: Tag, model: Buffer, i: int, R: Matrix, v: Buffer, a: Buffer
) -> tuple[Matrix, Matrix, Vector, Vector]:
    """(8): R' and R'', and for (10) 2 R v_x and R (v_y + w_x x v_x)."""
    joint, j = kind(model, i), iv(model, i)
    zero = splat(tag, 0.0)
    none = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    if joint == REVOLUTE:
        # dR/dq = R z~, d2R/dq2 = R z~ z~: columns of R in another order
        rate, second = load(tag, v, j), load(tag, a, j)
        square = rate * rate
        R1 = (rate * R[1], -(rate * R[0]), zero, rate * R[4], -(rate * R[3]), zero, rate * R[7], -(rate * R[6]), zero)
        R2 = (
            second * R[1] - square * R[0], -(second * R[0] + square * R[1]), zero,
            second * R[4] - square * R[3], -(second * R[3] + square * R[4]), zero,
            second * R[7] - square * R[6], -(second * R[6] + square * R[7]), zero,
        )  # fmt: skip
        return R1, R2, zero3(tag), zero3(tag)
    if joint == PRISMATIC:
        axis = (R[2], R[5], R[8])
        return none, none, scale(2.0 * load(tag, v, j), axis), scale(load(tag, a, j), axis)
    at = j + 3 if joint == FREE else j
    w, wd = load3(tag, v, at), load3(tag, a, at)
    R1 = matmul(R, (zero, -w[2], w[1], w[2], zero, -w[0], -w[1], w[0], zero))
    R2 = matmul(R, acceleration_field(w, wd))
    if joint == FREE:
        x = load3(tag, v, j)
        return R1, R2, scale(2.0, mul(R, x)), mul(R, add(load3(tag, a, j), cross(w, x)))
    return R1, R2, zero3(tag), zero3(tag)


@generic
def joint_forces(tag: Tag, model: Buffer, i: int, out: Buffer, work: Buffer) -> None:
    """(15) and (16) for each freedom of the joint."""
    o = i * WORK
    rotation, c = load9(tag, work, o + W), load3(tag, work, o + C)
    mass = const(model, i * ROW + SUBTREE_MASS)  # (11)
    joint = kind(model, i)
    for k in range(axis_count(joint)):
        axis = first_axis(joint) + k
        force = splat(tag, 0.0)
        if axis < 3:
            along = column(rotation, axis)
            e, g = load3(tag, work, o + E), gravity(model)
            force = dot(along, (e[0] - mass * g[0], e[1] - mass * g[1], e[2] - mass * g[2]))
        else:
            for r in range(3):
                # row r of W a~ (gravity is in the ground's row): two columns of W in the places of each other
                variation = turned(tag, load3(tag, work, o + W + 3 * r), axis)
                force = force + dot(variation, load3(tag, work, o + D + 3 * r))
                force = force - const(model, P + r) * dot(variation, c)
        store(tag, out, iv(model, i) + k, force)


@generic
def turned(tag: Tag, w: Vector, axis: int) -> Vector:
    """A row w times a~, a the unit vector of axis 3, 4 or 5 (about x, y, z)."""
    zero = splat(tag, 0.0)
    if axis == 5:
        return (w[1], -w[0], zero)
    if axis == 4:
        return (-w[2], zero, w[0])
    return (zero, w[2], -w[1])


@generic
def inward(tag: Tag, model: Buffer, i: int, work: Buffer) -> None:
    """From the tips to the ground: add the loads of row i to its parent's."""
    o, u = i * WORK, parent(model, i) * WORK
    if u > 0:
        R, r = load9(tag, work, o + ROT), load3(tag, work, o + POS)
        # (12), (13), (14) what the child adds
        for k in range(3):
            e = load(tag, work, o + E + k)
            store(tag, work, u + E + k, load(tag, work, u + E + k) + e)
            add3(tag, work, u + D + 3 * k, add(mul(R, load3(tag, work, o + D + 3 * k)), scale(e, r)))
        mass = const(model, i * ROW + SUBTREE_MASS)
        add3(tag, work, u + C, add(mul(R, load3(tag, work, o + C)), scale(mass, r)))
