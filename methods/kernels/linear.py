"""Small dense linear algebra over the generic scalar: products, and L D L^T without pivoting.

Matrices are n x n by rows in a flat buffer; ``at`` is the index of the first entry. Pivoting would need comparisons,
whose results may differ between the lanes of a pack; a mass matrix is positive definite and needs no pivoting.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, splat, store


@generic
def clear(tag: Tag, x: Buffer, at: int, count: int) -> None:
    """Write zeros."""
    for k in range(at, at + count):
        store(tag, x, k, splat(tag, 0.0))


@generic
def subtract_from(tag: Tag, x: Buffer, y: Buffer, count: int) -> None:
    """y = x - y"""
    for k in range(count):
        store(tag, y, k, load(tag, x, k) - load(tag, y, k))


@generic
def mirror(tag: Tag, A: Buffer, at: int, n: int) -> None:
    """Copy the lower triangle to the upper one."""
    for r in range(n):
        for c in range(r):
            store(tag, A, at + c * n + r, load(tag, A, at + r * n + c))


@generic
def add_product(tag: Tag, A: Buffer, at: int, n: int, x: Buffer, y: Buffer) -> None:
    """y += A x"""
    for r in range(n):
        total = load(tag, y, r)
        for c in range(n):
            total = total + load(tag, A, at + r * n + c) * load(tag, x, c)
        store(tag, y, r, total)


@generic
def add_transposed_product(tag: Tag, A: Buffer, rows: int, n: int, x: Buffer, y: Buffer) -> None:
    """y += A^T x, for a matrix of ``rows`` by n at the beginning of its buffer"""
    for i in range(n):
        total = load(tag, y, i)
        for k in range(rows):
            total = total + load(tag, A, k * n + i) * load(tag, x, k)
        store(tag, y, i, total)


@generic
def ldlt(tag: Tag, A: Buffer, at: int, n: int) -> None:
    """Factorise a symmetric matrix, A = L D L^T, in place; n^3/6 multiplications.

    Only the lower triangle is read. It is left with the unit lower triangular L below the diagonal and 1/D on it.
    """
    for r in range(n):
        row = at + r * n
        # the row of L D: entry c of A minus the contributions of the columns before it
        for c in range(r):
            x = load(tag, A, row + c)
            for k in range(c):
                x = x - load(tag, A, row + k) * load(tag, A, at + c * n + k)
            store(tag, A, row + c, x)
        d = load(tag, A, row + r)
        for c in range(r):
            x = load(tag, A, row + c)
            l = x * load(tag, A, at + c * n + c)
            d = d - x * l
            store(tag, A, row + c, l)
        store(tag, A, row + r, 1.0 / d)


@generic
def ldlt_solve(tag: Tag, A: Buffer, at: int, n: int, x: Buffer, to: int) -> None:
    """Solve A y = x for a matrix factorised by `ldlt`; y replaces the n numbers of x from index ``to`` on."""
    for r in range(n):
        y = load(tag, x, to + r)
        for c in range(r):
            y = y - load(tag, A, at + r * n + c) * load(tag, x, to + c)
        store(tag, x, to + r, y)
    for r in range(n):
        store(tag, x, to + r, load(tag, x, to + r) * load(tag, A, at + r * n + r))
    for r in range(n - 1, -1, -1):
        y = load(tag, x, to + r)
        for c in range(r + 1, n):
            y = y - load(tag, A, at + c * n + r) * load(tag, x, to + c)
        store(tag, x, to + r, y)
