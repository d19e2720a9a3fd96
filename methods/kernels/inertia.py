"""Inertias seen from another frame: rigid (mass, first moment, inertia) and articulated (three 3x3 blocks)."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Scalar, Tag, generic, splat
from dynbench.methods.kernels.vectors import Matrix, Symmetric, Vector, add, cross, dot, mul, scale, sym, transpose


@generic
def shifted_moment(m: Scalar, h: Vector, p: Vector) -> Vector:
    """First moment about another origin, same axes; ``p`` leads from there to the old one."""
    return add(h, scale(m, p))


@generic
def parallel_axis(J: Symmetric, m: Scalar, h: Vector, p: Vector) -> Symmetric:
    """Inertia about another origin, same axes; ``p`` leads from there to the old one, h is the old first moment.

    J' = J + (2 p.h + m p.p) 1 - (p h^T + h p^T) - m p p^T, with t = h + m p.
    """
    t = shifted_moment(m, h, p)
    trace = dot(p, h) + dot(p, t)
    return (
        J[0] + trace - p[0] * h[0] - t[0] * p[0],
        J[1] - p[0] * h[1] - t[0] * p[1],
        J[2] - p[0] * h[2] - t[0] * p[2],
        J[3] + trace - p[1] * h[1] - t[1] * p[1],
        J[4] - p[1] * h[2] - t[1] * p[2],
        J[5] + trace - p[2] * h[2] - t[2] * p[2],
    )


@generic
def about_origin(largest: Scalar, a: Vector, b: Vector, r: Vector, h: Vector) -> Symmetric:
    """Inertia about the origin of a body whose centre of mass is at ``r`` and whose first moment is ``h`` = m r.

    About the centre of mass it is largest 1 - a a^T - b b^T; the parallel-axis theorem adds (r.h) 1 - r h^T.
    """
    k = largest + dot(r, h)
    return (
        k - a[0] * a[0] - b[0] * b[0] - r[0] * h[0],
        -(a[0] * a[1]) - b[0] * b[1] - r[0] * h[1],
        -(a[0] * a[2]) - b[0] * b[2] - r[0] * h[2],
        k - a[1] * a[1] - b[1] * b[1] - r[1] * h[1],
        -(a[1] * a[2]) - b[1] * b[2] - r[1] * h[2],
        k - a[2] * a[2] - b[2] * b[2] - r[2] * h[2],
    )


@generic
def full(S: Symmetric) -> Matrix:
    """All nine numbers of a symmetric matrix."""
    return (S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5])


@generic
def times_cross(A: Matrix, p: Vector) -> Matrix:
    """A [p], where [p] x = p cross x"""
    return (
        A[1] * p[2] - A[2] * p[1],
        A[2] * p[0] - A[0] * p[2],
        A[0] * p[1] - A[1] * p[0],
        A[4] * p[2] - A[5] * p[1],
        A[5] * p[0] - A[3] * p[2],
        A[3] * p[1] - A[4] * p[0],
        A[7] * p[2] - A[8] * p[1],
        A[8] * p[0] - A[6] * p[2],
        A[6] * p[1] - A[7] * p[0],
    )


@generic
def less_outer(S: Symmetric, a: Vector, b: Vector) -> Symmetric:
    """S - a b^T, for parallel a and b"""
    return (
        S[0] - a[0] * b[0],
        S[1] - a[0] * b[1],
        S[2] - a[0] * b[2],
        S[3] - a[1] * b[1],
        S[4] - a[1] * b[2],
        S[5] - a[2] * b[2],
    )


@generic
def inertia_times(m: Scalar, h: Vector, J: Symmetric, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
    """(m v + w x h; J w + h x v): momentum of a body in motion, wrench of one that accelerates, about one origin."""
    return add(scale(m, linear), cross(angular, h)), add(sym(J, angular), cross(h, linear))


@generic
def unit_translation(tag: Tag, m: Scalar, h: Vector, axis: int) -> tuple[Vector, Vector]:
    """`inertia_times` of a unit motion along x, y or z (axis 0 to 2)."""
    zero = splat(tag, 0.0)
    if axis == 2:
        return (zero, zero, m), (h[1], -h[0], zero)
    if axis == 1:
        return (zero, m, zero), (-h[2], zero, h[0])
    return (m, zero, zero), (zero, h[2], -h[1])


@generic
def less_axis(
    A: Symmetric, B: Matrix, C: Symmetric, f: Vector, n: Vector, sf: Vector, sn: Vector
) -> tuple[Symmetric, Matrix, Symmetric]:
    """An articulated inertia less u s^T, where u = (f; n) is what it takes for one axis, and s = u / D."""
    rest = (
        B[0] - sf[0] * n[0], B[1] - sf[0] * n[1], B[2] - sf[0] * n[2],
        B[3] - sf[1] * n[0], B[4] - sf[1] * n[1], B[5] - sf[1] * n[2],
        B[6] - sf[2] * n[0], B[7] - sf[2] * n[1], B[8] - sf[2] * n[2],
    )  # fmt: skip
    return less_outer(A, sf, f), rest, less_outer(C, sn, n)


@generic
def shift_articulated(
    p: Vector, A: Symmetric, B: Matrix, C: Symmetric
) -> tuple[Symmetric, Matrix, Symmetric]:
    """An articulated inertia f = A acc + B wd, n = B^T acc + C wd, about the parent's origin; all in its axes.

    acc_child = acc + wd x p and n_parent = n + p x f give B' = B - A [p], C' = C - B^T [p] + [p] B'.
    """
    X = times_cross(full(A), p)
    D = (
        B[0] - X[0],
        B[1] - X[1],
        B[2] - X[2],
        B[3] - X[3],
        B[4] - X[4],
        B[5] - X[5],
        B[6] - X[6],
        B[7] - X[7],
        B[8] - X[8],
    )
    # with Y = B^T [p] and Z = B'^T [p] = -([p] B')^T: C' = C - Y - Z^T, symmetric
    Y = times_cross(transpose(B), p)
    Z = times_cross(transpose(D), p)
    E = (
        C[0] - Y[0] - Z[0],
        C[1] - Y[1] - Z[3],
        C[2] - Y[2] - Z[6],
        C[3] - Y[4] - Z[4],
        C[4] - Y[5] - Z[7],
        C[5] - Y[8] - Z[8],
    )
    return A, D, E


# The same for matrices whose last column (and for symmetric ones also row) is zero ----------------------------------


@generic
def mul2(B: Matrix, a: tuple[Scalar, ...]) -> Vector:
    """B a"""
    return (B[0] * a[0] + B[1] * a[1], B[3] * a[0] + B[4] * a[1], B[6] * a[0] + B[7] * a[1])


@generic
def mul2T(B: Matrix, a: Vector) -> tuple[Scalar, Scalar]:
    """The first two numbers of B^T a, the third is zero"""
    return (B[0] * a[0] + B[3] * a[1] + B[6] * a[2], B[1] * a[0] + B[4] * a[1] + B[7] * a[2])


@generic
def turned2(R: Matrix, B: Matrix) -> Matrix:
    """R B R^T"""
    x = mul(R, (B[0], B[3], B[6]))
    y = mul(R, (B[1], B[4], B[7]))
    return (
        x[0] * R[0] + y[0] * R[1],
        x[0] * R[3] + y[0] * R[4],
        x[0] * R[6] + y[0] * R[7],
        x[1] * R[0] + y[1] * R[1],
        x[1] * R[3] + y[1] * R[4],
        x[1] * R[6] + y[1] * R[7],
        x[2] * R[0] + y[2] * R[1],
        x[2] * R[3] + y[2] * R[4],
        x[2] * R[6] + y[2] * R[7],
    )


@generic
def congruence2(R: Matrix, J: Symmetric) -> Symmetric:
    """R J R^T, six numbers"""
    x = (R[0] * J[0] + R[1] * J[1], R[0] * J[1] + R[1] * J[3])
    y = (R[3] * J[0] + R[4] * J[1], R[3] * J[1] + R[4] * J[3])
    z = (R[6] * J[0] + R[7] * J[1], R[6] * J[1] + R[7] * J[3])
    return (
        x[0] * R[0] + x[1] * R[1],
        x[0] * R[3] + x[1] * R[4],
        x[0] * R[6] + x[1] * R[7],
        y[0] * R[3] + y[1] * R[4],
        y[0] * R[6] + y[1] * R[7],
        z[0] * R[6] + z[1] * R[7],
    )
