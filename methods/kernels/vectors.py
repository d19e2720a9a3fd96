"""3-vectors, rotations and symmetric 3x3 matrices as tuples of generic scalars.

A vector is ``(x, y, z)``, a matrix nine numbers by rows, a symmetric matrix its six numbers ``xx xy xz yy yz zz``.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store

Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
Symmetric = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]


@generic
def add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@generic
def sub(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@generic
def scale(s: Scalar, a: Vector) -> Vector:
    return (s * a[0], s * a[1], s * a[2])


@generic
def dot(a: Vector, b: Vector) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@generic
def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@generic
def mul(R: Matrix, a: Vector) -> Vector:
    """R a"""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@generic
def mulT(R: Matrix, a: Vector) -> Vector:
    """R^T a"""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@generic
def matmul(A: Matrix, B: Matrix) -> Matrix:
    """A B"""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@generic
def transpose(A: Matrix) -> Matrix:
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


@generic
def sym(J: Symmetric, a: Vector) -> Vector:
    """J a for a symmetric J"""
    return (
        J[0] * a[0] + J[1] * a[1] + J[2] * a[2],
        J[1] * a[0] + J[3] * a[1] + J[4] * a[2],
        J[2] * a[0] + J[4] * a[1] + J[5] * a[2],
    )


@generic
def addsym(a: Symmetric, b: Symmetric) -> Symmetric:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@generic
def add9(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


@generic
def congruence(R: Matrix, J: Symmetric) -> Symmetric:
    """R J R^T, six numbers"""
    # three rows of R J, then the six dot products with rows of R
    x = sym(J, (R[0], R[1], R[2]))
    y = sym(J, (R[3], R[4], R[5]))
    z = sym(J, (R[6], R[7], R[8]))
    return (
        x[0] * R[0] + x[1] * R[1] + x[2] * R[2],
        x[0] * R[3] + x[1] * R[4] + x[2] * R[5],
        x[0] * R[6] + x[1] * R[7] + x[2] * R[8],
        y[0] * R[3] + y[1] * R[4] + y[2] * R[5],
        y[0] * R[6] + y[1] * R[7] + y[2] * R[8],
        z[0] * R[6] + z[1] * R[7] + z[2] * R[8],
    )


@generic
def rotate_z(tag: Tag, E: Matrix, s: Scalar, c: Scalar) -> Matrix:
    """E Rz, for constants E; the third column is E's own."""
    return (
        E[0] * c + E[1] * s, E[1] * c - E[0] * s, splat(tag, E[2]),
        E[3] * c + E[4] * s, E[4] * c - E[3] * s, splat(tag, E[5]),
        E[6] * c + E[7] * s, E[7] * c - E[6] * s, splat(tag, E[8]),
    )  # fmt: skip


@generic
def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Matrix:
    """Rotation matrix of the unit quaternion x y z w, child to parent."""
    x2 = x + x
    y2 = y + y
    z2 = z + z
    xx = x * x2
    yy = y * y2
    zz = z * z2
    xy = x * y2
    xz = x * z2
    yz = y * z2
    wx = w * x2
    wy = w * y2
    wz = w * z2
    return (1.0 - yy - zz, xy - wz, xz + wy, xy + wz, 1.0 - xx - zz, yz - wx, xz - wy, yz + wx, 1.0 - xx - yy)


# Reading and writing them ------------------------------------------------------------------------------------------


@generic
def zero3(tag: Tag) -> Vector:
    return (splat(tag, 0.0), splat(tag, 0.0), splat(tag, 0.0))


@generic
def identity(tag: Tag) -> Matrix:
    zero, one = splat(tag, 0.0), splat(tag, 1.0)
    return (one, zero, zero, zero, one, zero, zero, zero, one)


@generic
def splat3(tag: Tag, a: Vector) -> Vector:
    """Three constants as scalars of the tag's width."""
    return (splat(tag, a[0]), splat(tag, a[1]), splat(tag, a[2]))


@generic
def load3(tag: Tag, buffer: Buffer, i: int) -> Vector:
    return (load(tag, buffer, i), load(tag, buffer, i + 1), load(tag, buffer, i + 2))


@generic
def store3(tag: Tag, buffer: Buffer, i: int, a: Vector) -> None:
    store(tag, buffer, i, a[0])
    store(tag, buffer, i + 1, a[1])
    store(tag, buffer, i + 2, a[2])


@generic
def add3(tag: Tag, buffer: Buffer, i: int, a: Vector) -> None:
    """buffer[i:i+3] += a"""
    store3(tag, buffer, i, add(load3(tag, buffer, i), a))


@generic
def load6(tag: Tag, buffer: Buffer, i: int) -> Symmetric:
    return (
        load(tag, buffer, i),
        load(tag, buffer, i + 1),
        load(tag, buffer, i + 2),
        load(tag, buffer, i + 3),
        load(tag, buffer, i + 4),
        load(tag, buffer, i + 5),
    )


@generic
def store6(tag: Tag, buffer: Buffer, i: int, a: Symmetric) -> None:
    store(tag, buffer, i, a[0])
    store(tag, buffer, i + 1, a[1])
    store(tag, buffer, i + 2, a[2])
    store(tag, buffer, i + 3, a[3])
    store(tag, buffer, i + 4, a[4])
    store(tag, buffer, i + 5, a[5])


@generic
def load9(tag: Tag, buffer: Buffer, i: int) -> Matrix:
    return (
        load(tag, buffer, i),
        load(tag, buffer, i + 1),
        load(tag, buffer, i + 2),
        load(tag, buffer, i + 3),
        load(tag, buffer, i + 4),
        load(tag, buffer, i + 5),
        load(tag, buffer, i + 6),
        load(tag, buffer, i + 7),
        load(tag, buffer, i + 8),
    )


@generic
def store9(tag: Tag, buffer: Buffer, i: int, R: Matrix) -> None:
    store3(tag, buffer, i, (R[0], R[1], R[2]))
    store3(tag, buffer, i + 3, (R[3], R[4], R[5]))
    store3(tag, buffer, i + 6, (R[6], R[7], R[8]))


@generic
def column(R: Matrix, k: int) -> Vector:
    """A column of a matrix, counted from 0."""
    if k == 2:
        return (R[2], R[5], R[8])
    if k == 1:
        return (R[1], R[4], R[7])
    return (R[0], R[3], R[6])


@generic
def dyad(w: Vector) -> Symmetric:
    """w w^T, six numbers"""
    return (w[0] * w[0], w[0] * w[1], w[0] * w[2], w[1] * w[1], w[1] * w[2], w[2] * w[2])


@generic
def acceleration_field(w: Vector, wd: Vector) -> Matrix:
    """w'~ + w~ w~: times its place, what a point fixed in a frame accelerates by through the frame's rotation"""
    xx, xy, xz, yy, yz, zz = dyad(w)
    return (
        -(yy + zz), xy - wd[2], xz + wd[1],
        xy + wd[2], -(xx + zz), yz - wd[0],
        xz - wd[1], yz + wd[0], -(xx + yy),
    )  # fmt: skip


@generic
def const3(model: Buffer, i: int) -> Vector:
    return (const(model, i), const(model, i + 1), const(model, i + 2))


@generic
def const6(model: Buffer, i: int) -> Symmetric:
    return (
        const(model, i),
        const(model, i + 1),
        const(model, i + 2),
        const(model, i + 3),
        const(model, i + 4),
        const(model, i + 5),
    )


@generic
def const9(model: Buffer, i: int) -> Matrix:
    return (
        const(model, i),
        const(model, i + 1),
        const(model, i + 2),
        const(model, i + 3),
        const(model, i + 4),
        const(model, i + 5),
        const(model, i + 6),
        const(model, i + 7),
        const(model, i + 8),
    )
