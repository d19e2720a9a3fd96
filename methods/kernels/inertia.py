"""Inertias seen from another frame: rigid (mass, first moment, inertia) and articulated (three 3x3 blocks)."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Scalar, generic
from dynbench.methods.kernels.vectors import Matrix, Symmetric, Vector, add, congruence, dot, matmul, scale, transpose


@generic
def shifted_moment(m: Scalar, h: Vector, p: Vector) -> Vector:
    """First moment about the parent's origin; ``h`` already in the parent's axes."""
    return add(h, scale(m, p))


@generic
def shifted_inertia(R: Matrix, J: Symmetric, m: Scalar, h: Vector, p: Vector) -> Symmetric:
    """Inertia about the parent's origin, parent's axes; ``h`` already in the parent's axes.

    The parallel-axis theorem, J' = R J R^T + (2 p.h + m p.p) 1 - (p h^T + h p^T) - m p p^T, with t = h + m p.
    """
    turned = congruence(R, J)
    t = add(h, scale(m, p))
    trace = dot(p, h) + dot(p, t)
    return (
        turned[0] + trace - p[0] * h[0] - t[0] * p[0],
        turned[1] - p[0] * h[1] - t[0] * p[1],
        turned[2] - p[0] * h[2] - t[0] * p[2],
        turned[3] + trace - p[1] * h[1] - t[1] * p[1],
        turned[4] - p[1] * h[2] - t[1] * p[2],
        turned[5] + trace - p[2] * h[2] - t[2] * p[2],
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
def shifted_articulated(
    R: Matrix, p: Vector, A: Symmetric, B: Matrix, C: Symmetric
) -> tuple[Symmetric, Matrix, Symmetric]:
    """An articulated inertia f = A acc + B wd, n = B^T acc + C wd, in the parent's axes and about its origin."""
    A2 = congruence(R, A)
    B2 = matmul(matmul(R, B), transpose(R))
    C2 = congruence(R, C)
    # acc_child = acc + wd x p and n_parent = n + p x f give B' = B - A [p], C' = C - B^T [p] + [p] B'
    X = times_cross(full(A2), p)
    B3 = (
        B2[0] - X[0],
        B2[1] - X[1],
        B2[2] - X[2],
        B2[3] - X[3],
        B2[4] - X[4],
        B2[5] - X[5],
        B2[6] - X[6],
        B2[7] - X[7],
        B2[8] - X[8],
    )
    # with Y = B2^T [p] and Z = B'^T [p] = -([p] B')^T: C' = C - Y - Z^T, symmetric
    Y = times_cross(transpose(B2), p)
    Z = times_cross(transpose(B3), p)
    C3 = (
        C2[0] - Y[0] - Z[0],
        C2[1] - Y[1] - Z[3],
        C2[2] - Y[2] - Z[6],
        C2[3] - Y[4] - Z[4],
        C2[4] - Y[5] - Z[7],
        C2[5] - Y[8] - Z[8],
    )
    return A2, B3, C3
