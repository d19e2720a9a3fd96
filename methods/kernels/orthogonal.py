"""Square linear systems over the generic scalar: modified Gram-Schmidt, B = Q R.

Elimination needs pivots chosen by comparison, and the lanes of a pack may need different ones; with a fixed order there
are small pivots at ordinary configurations. Gram-Schmidt needs no comparison and, with the right-hand side treated as
one more column, is backward stable for B x = b, and for B^T x = b in the form below (Bjorck, Numerical Methods for
Least Squares Problems, 1996, sections 2.4.4 and 2.4.5). Columns of Q are not normalised and R has a unit
diagonal, which saves the square roots.

``factor`` is a buffer of n x n numbers for Q (column k from k n on), n x n for R (r_ik at n n + i n + k), n for 1/d,
d_k the squared length of column k of Q: ``size(n)`` in all.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, load, splat, store


def size(n: int) -> int:
    """Number of scalars in a factorisation."""
    return 2 * n * n + n


@generic
def inner_product(tag: Tag, x: Buffer, at: int, y: Buffer, to: int, count: int) -> Scalar:
    """Of ``count`` numbers of x from ``at`` and of y from ``to``."""
    total = load(tag, x, at) * load(tag, y, to)
    for k in range(1, count):
        total = total + load(tag, x, at + k) * load(tag, y, to + k)
    return total


@generic
def factorise(tag: Tag, factor: Buffer, n: int) -> Scalar:
    """Factorise the matrix whose columns are stored in the place of Q; return an estimate of its condition.

    That is the sum of all squared entries times the sum of 1/d, about the squared condition number: n^2 for an
    orthogonal matrix, infinite for a singular one.
    """
    inverses = 2 * n * n
    entries = splat(tag, 0.0)
    total = splat(tag, 0.0)
    for k in range(n):
        for j in range(n):
            x = load(tag, factor, k * n + j)
            entries = entries + x * x
        for i in range(k):
            r = along(tag, factor, n, i, factor, k * n)
            store(tag, factor, n * n + i * n + k, r)
            subtract(tag, factor, n, i, r, factor, k * n)
        d = splat(tag, 0.0)
        for j in range(n):
            x = load(tag, factor, k * n + j)
            d = d + x * x
        inverse = 1.0 / d
        store(tag, factor, inverses + k, inverse)
        total = total + inverse
    return entries * total


@generic
def along(tag: Tag, factor: Buffer, n: int, k: int, x: Buffer, at: int) -> Scalar:
    """Component of a vector along column k of Q, in units of the column."""
    return inner_product(tag, factor, k * n, x, at, n) * load(tag, factor, 2 * n * n + k)


@generic
def subtract(tag: Tag, factor: Buffer, n: int, k: int, s: Scalar, x: Buffer, at: int) -> None:
    """x -= s q_k"""
    for j in range(n):
        store(tag, x, at + j, load(tag, x, at + j) - s * load(tag, factor, k * n + j))


@generic
def solve(tag: Tag, factor: Buffer, n: int, x: Buffer, at: int, spare: Buffer) -> None:
    """Solve B y = x; y replaces the n numbers of x from ``at`` on. ``spare`` holds n numbers."""
    for k in range(n):
        s = along(tag, factor, n, k, x, at)
        store(tag, spare, k, s)
        subtract(tag, factor, n, k, s, x, at)
    for k in range(n - 1, -1, -1):
        y = load(tag, spare, k)
        for i in range(k + 1, n):
            y = y - load(tag, factor, n * n + k * n + i) * load(tag, x, at + i)
        store(tag, x, at + k, y)


@generic
def solve_transposed(tag: Tag, factor: Buffer, n: int, x: Buffer, at: int, spare: Buffer) -> None:
    """Solve B^T y = x; y replaces the n numbers of x from ``at`` on. ``spare`` holds n numbers."""
    for k in range(n):
        y = load(tag, x, at + k)
        for i in range(k):
            y = y - load(tag, factor, n * n + i * n + k) * load(tag, spare, i)
        store(tag, spare, k, y)
    for k in range(n):
        store(tag, x, at + k, splat(tag, 0.0))
    for k in range(n - 1, -1, -1):
        missing = load(tag, spare, k) * load(tag, factor, 2 * n * n + k) - along(tag, factor, n, k, x, at)
        subtract(tag, factor, n, k, -missing, x, at)
