"""Inverse dynamics with 4x4 transforms, equations (1) to (7) and (17) of the package's docstring."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.tree import (
    FREE,
    MASS,
    PRISMATIC,
    REVOLUTE,
    ROW,
    SECOND_MOMENT,
    H,
    P,
    axis_count,
    body_count,
    first_axis,
    into_packed,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.vectors import const3, const6, cross, dot, load3, scale, zero3

Vector4 = tuple[Scalar, Scalar, Scalar, Scalar]
Matrix4 = tuple[Vector4, Vector4, Vector4, Vector4]  # by rows

# What a work row holds, by offset: A; W, W', W''; the transpose of D; c
A, W, W1, W2, D, C = 0, 16, 32, 48, 64, 80
WORK = 84


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    for k in range(16):
        store(tag, work, W + k, splat(tag, 1.0 if k % 5 == 0 else 0.0))
        store(tag, work, W1 + k, splat(tag, 0.0))
        store(tag, work, W2 + k, splat(tag, 0.0))
    for i in range(1, body_count(model) + 1):
        outward(tag, model, i, q, v, a, wrench, work)
    for i in range(body_count(model), 0, -1):
        joint_forces(tag, model, i, out, work)
        inward(tag, model, i, work)


@generic
def outward(
    tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer
) -> None:
    """From the ground to the tips: transforms, their derivatives, and the body's own D."""
    transform, first, second = derivatives(tag, model, i, q, v, a)
    inertia = pseudo_inertia(tag, model, i)
    o, u = i * WORK, parent(model, i) * WORK
    for k in range(4):
        w = load4(tag, work, u + W + 4 * k)
        w1 = load4(tag, work, u + W1 + 4 * k)
        w2 = load4(tag, work, u + W2 + 4 * k)
        # (2), (3), (4) row k of W, W', W''
        store4(tag, work, o + W + 4 * k, times(w, transform))
        store4(tag, work, o + W1 + 4 * k, add4(times(w1, transform), times(w, first)))
        w2 = add4(add4(times(w2, transform), scale4(2.0, times(w1, first))), times(w, second))
        store4(tag, work, o + W2 + 4 * k, w2)
        # (5) the body's own part: row k of W'' J
        store4(tag, work, o + D + 4 * k, times(w2, inertia))
        store4(tag, work, o + A + 4 * k, row4(transform, k))
        store(tag, work, o + C + k, row4(inertia, k)[3])
    if wrench is not None:
        f = into_packed(model, i, load3(tag, wrench, 6 * i - 6))
        n = scale(0.5, into_packed(model, i, load3(tag, wrench, 6 * i - 3)))
        for k in range(3):
            # (17): the transpose of [-n~/2; f^T] W^T has the rows (-n x w / 2, f . w)
            w3 = load3(tag, work, o + W + 4 * k)
            x = cross(n, w3)
            add4_to(tag, work, o + D + 4 * k, (x[0], x[1], x[2], -dot(w3, f)))


@generic
def derivatives(tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, a: Buffer) -> tuple[Matrix4, Matrix4, Matrix4]:
    """(1): A, A', A''."""
    R, r = pose(tag, model, i, q)
    zero, one = splat(tag, 0.0), splat(tag, 1.0)
    last = (zero, zero, zero, zero)
    transform = ((R[0], R[1], R[2], r[0]), (R[3], R[4], R[5], r[1]), (R[6], R[7], R[8], r[2]), (zero, zero, zero, one))
    joint, j = kind(model, i), iv(model, i)
    if joint == REVOLUTE:
        # dA/dq = A z^ and d2A/dq2 = A z^ z^: columns of A in another order
        rate, second = load(tag, v, j), load(tag, a, j)
        square = rate * rate
        A1 = (
            (rate * R[1], -(rate * R[0]), zero, zero),
            (rate * R[4], -(rate * R[3]), zero, zero),
            (rate * R[7], -(rate * R[6]), zero, zero),
            last,
        )
        A2 = (
            (second * R[1] - square * R[0], -(second * R[0] + square * R[1]), zero, zero),
            (second * R[4] - square * R[3], -(second * R[3] + square * R[4]), zero, zero),
            (second * R[7] - square * R[6], -(second * R[6] + square * R[7]), zero, zero),
            last,
        )
        return transform, A1, A2
    if joint == PRISMATIC:
        rate, second = load(tag, v, j), load(tag, a, j)
        A1 = ((zero, zero, zero, rate * R[2]), (zero, zero, zero, rate * R[5]), (zero, zero, zero, rate * R[8]), last)
        A2 = (
            (zero, zero, zero, second * R[2]),
            (zero, zero, zero, second * R[5]),
            (zero, zero, zero, second * R[8]),
            last,
        )
        return transform, A1, A2
    at = j + 3 if joint == FREE else j
    x, y = zero3(tag), zero3(tag)
    if joint == FREE:
        x, y = load3(tag, v, j), load3(tag, a, j)
    w, wd = load3(tag, v, at), load3(tag, a, at)
    twist = ((zero, -w[2], w[1], x[0]), (w[2], zero, -w[0], x[1]), (-w[1], w[0], zero, x[2]), last)
    change = ((zero, -wd[2], wd[1], y[0]), (wd[2], zero, -wd[0], y[1]), (-wd[1], wd[0], zero, y[2]), last)
    square4 = product(twist, twist)
    change = (
        add4(square4[0], change[0]),
        add4(square4[1], change[1]),
        add4(square4[2], change[2]),
        add4(square4[3], change[3]),
    )
    return transform, product(transform, twist), product(transform, change)


@generic
def pseudo_inertia(tag: Tag, model: Buffer, i: int) -> Matrix4:
    """J = [E h; h^T m]"""
    m, h, E = const(model, i * ROW + MASS), const3(model, i * ROW + H), const6(model, i * ROW + SECOND_MOMENT)
    return ((E[0], E[1], E[2], h[0]), (E[1], E[3], E[4], h[1]), (E[2], E[4], E[5], h[2]), (h[0], h[1], h[2], m))


@generic
def joint_forces(tag: Tag, model: Buffer, i: int, out: Buffer, work: Buffer) -> None:
    """(7) for each freedom of the joint."""
    o = i * WORK
    c = load4(tag, work, o + C)
    joint = kind(model, i)
    for k in range(axis_count(joint)):
        force = splat(tag, 0.0)
        for r in range(4):
            # row r of W G_k, with row r of the transpose of D: the trace is the sum over all entries
            variation = varied(tag, load4(tag, work, o + W + 4 * r), first_axis(joint) + k)
            force = force + dot4(variation, load4(tag, work, o + D + 4 * r))
            if r < 3:  # gravity is in the ground's row
                force = force - const(model, P + r) * dot4(variation, c)
        store(tag, out, iv(model, i) + k, force)


@generic
def varied(tag: Tag, w: Vector4, axis: int) -> Vector4:
    """A row w times G, the unit motion along (0 to 2) or about (3 to 5) an axis: columns in another order."""
    zero = splat(tag, 0.0)
    if axis == 5:
        return (w[1], -w[0], zero, zero)
    if axis == 4:
        return (-w[2], zero, w[0], zero)
    if axis == 3:
        return (zero, w[2], -w[1], zero)
    return (zero, zero, zero, w[2] if axis == 2 else w[1] if axis == 1 else w[0])


@generic
def inward(tag: Tag, model: Buffer, i: int, work: Buffer) -> None:
    """From the tips to the ground: add D and c of row i to those of its parent."""
    o, u = i * WORK, parent(model, i) * WORK
    if u > 0:
        transform = (
            load4(tag, work, o + A),
            load4(tag, work, o + A + 4),
            load4(tag, work, o + A + 8),
            load4(tag, work, o + A + 12),
        )
        # (5), (6) what the child adds
        for k in range(4):
            add4_to(tag, work, u + D + 4 * k, apply(transform, load4(tag, work, o + D + 4 * k)))
        add4_to(tag, work, u + C, apply(transform, load4(tag, work, o + C)))


# Vectors of four and 4x4 matrices, all products in full -------------------------------------------------------------


@generic
def add4(a: Vector4, b: Vector4) -> Vector4:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])


@generic
def scale4(s: Scalar, a: Vector4) -> Vector4:
    return (s * a[0], s * a[1], s * a[2], s * a[3])


@generic
def dot4(a: Vector4, b: Vector4) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@generic
def apply(M: Matrix4, a: Vector4) -> Vector4:
    """M a"""
    return (dot4(M[0], a), dot4(M[1], a), dot4(M[2], a), dot4(M[3], a))


@generic
def times(a: Vector4, M: Matrix4) -> Vector4:
    """a^T M, a row"""
    return (
        a[0] * M[0][0] + a[1] * M[1][0] + a[2] * M[2][0] + a[3] * M[3][0],
        a[0] * M[0][1] + a[1] * M[1][1] + a[2] * M[2][1] + a[3] * M[3][1],
        a[0] * M[0][2] + a[1] * M[1][2] + a[2] * M[2][2] + a[3] * M[3][2],
        a[0] * M[0][3] + a[1] * M[1][3] + a[2] * M[2][3] + a[3] * M[3][3],
    )


@generic
def product(M: Matrix4, N: Matrix4) -> Matrix4:
    """M N"""
    return (times(M[0], N), times(M[1], N), times(M[2], N), times(M[3], N))


@generic
def row4(M: Matrix4, k: int) -> Vector4:
    """Row k of a matrix."""
    if k == 3:
        return M[3]
    if k == 2:
        return M[2]
    return M[1] if k == 1 else M[0]


@generic
def load4(tag: Tag, buffer: Buffer, i: int) -> Vector4:
    return (load(tag, buffer, i), load(tag, buffer, i + 1), load(tag, buffer, i + 2), load(tag, buffer, i + 3))


@generic
def store4(tag: Tag, buffer: Buffer, i: int, a: Vector4) -> None:
    store(tag, buffer, i, a[0])
    store(tag, buffer, i + 1, a[1])
    store(tag, buffer, i + 2, a[2])
    store(tag, buffer, i + 3, a[3])


@generic
def add4_to(tag: Tag, buffer: Buffer, i: int, a: Vector4) -> None:
    """buffer[i:i+4] += a"""
    store4(tag, buffer, i, add4(load4(tag, buffer, i), a))
