"""Moore-Penrose inverse of given rank over the generic scalar, by a complete orthogonal decomposition.

For a matrix B (m x n, by rows) of rank r, which is a number of the mechanism and is not decided at the state,

    B = R Q,   Q Q^T = 1                    the first r directions of a Gram-Schmidt process on the rows of B
    R = U T,   U^T U = 1, T triangular      the same on the columns of R (m x r), if r < m
    B^+ = Q^T R^-1 (r = m),  Q^T T^-1 U^T (r < m),   B^+ B = Q^T Q

(Golub, Van Loan, Matrix Computations, section 5.4). If all rows are independent, r = m, they are taken in their order,
without a comparison, so that the code can be traced; otherwise the row with most left is next, lane by lane
(`nominal.leading`).

``factor`` holds Q (r n), R (m r), and if r < m the columns of U (r m) and T (r r): ``size(m, n, r)`` scalars.
"""

from __future__ import annotations

from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.nominal import ROUNDS, leading
from dynbench.methods.kernels.projection import inner_product
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, load, splat, sqrt, store


def size(m: int, n: int, r: int) -> int:
    """Number of scalars in a decomposition."""
    return r * n + m * r + (r * m + r * r if r < m else 0)


@called
def decompose(
    tag: Tag, B: Buffer, m: int, n: int, r: int, factor: Buffer, left: Buffer, spare: Buffer, careful: bool
) -> Scalar:
    """Decompose B; return about 1 over the squared ratio of its last to its first singular value.

    ``left`` has room for m n scalars, ``spare`` for n + m. ``careful``: for positions near singular ones, each
    direction is made orthogonal to the others twice.
    """
    R = factor[r * n * len(tag) :]
    if r == m and not careful:
        squares = splat(tag, 0.0)
        inverses = splat(tag, 0.0)
        for k in range(m):
            for i in range(n):
                x = load(tag, B, k * n + i)
                squares = squares + x * x
                store(tag, factor, k * n + i, x)
            for j in range(k):
                y = inner_product(tag, factor, j * n, factor, k * n, n)
                store(tag, R, k * r + j, y)
                for i in range(n):
                    at = k * n + i
                    store(tag, factor, at, load(tag, factor, at) - y * load(tag, factor, j * n + i))
            square = inner_product(tag, factor, k * n, factor, k * n, n)
            inverse = 1.0 / square
            inverses = inverses + inverse
            store(tag, R, k * r + k, sqrt(square))
            scale = sqrt(inverse)
            for i in range(n):
                store(tag, factor, k * n + i, load(tag, factor, k * n + i) * scale)
        return squares * inverses
    for k in range(m * n):
        store(tag, left, k, load(tag, B, k))
    ratio = leading(tag, left, m, n, r, factor, spare)
    for k in range(m):
        for j in range(r):
            store(tag, R, k * r + j, inner_product(tag, factor, j * n, B, k * n, n))
    if r < m:
        U = factor[(r * n + m * r) * len(tag) :]
        T = factor[(r * n + 2 * m * r) * len(tag) :]
        for j in range(r):
            for k in range(m):
                store(tag, U, j * m + k, load(tag, R, k * r + j))
            for i in range(j):
                y = inner_product(tag, U, i * m, U, j * m, m)
                store(tag, T, i * r + j, y)
                for k in range(m):
                    store(tag, U, j * m + k, load(tag, U, j * m + k) - y * load(tag, U, i * m + k))
            square = inner_product(tag, U, j * m, U, j * m, m)
            store(tag, T, j * r + j, sqrt(square))
            scale = sqrt(1.0 / square)
            for k in range(m):
                store(tag, U, j * m + k, load(tag, U, j * m + k) * scale)
    return 1.0 / (ratio * ratio + 1e-300)


@called
def solve(tag: Tag, m: int, n: int, r: int, factor: Buffer, x: Buffer, w: Buffer) -> None:
    """Fill w (r) with B^+ x = Q^T w."""
    if r == m:
        R = factor[r * n * len(tag) :]
        for k in range(m):
            y = load(tag, x, k)
            for j in range(k):
                y = y - load(tag, R, k * r + j) * load(tag, w, j)
            store(tag, w, k, y / load(tag, R, k * r + k))
    else:
        U = factor[(r * n + m * r) * len(tag) :]
        T = factor[(r * n + 2 * m * r) * len(tag) :]
        for j in range(r - 1, -1, -1):
            y = inner_product(tag, U, j * m, x, 0, m)
            for i in range(j + 1, r):
                y = y - load(tag, T, j * r + i) * load(tag, w, i)
            store(tag, w, j, y / load(tag, T, j * r + j))


@called
def solve_damped(
    tag: Tag, m: int, n: int, r: int, factor: Buffer, x: Buffer, w: Buffer, damping: float, S: Buffer, spare: Buffer
) -> None:
    """Fill w (r) with B^+ x = Q^T w, singular values s damped by 1 - (mu / (mu + s^2))^3; see (4) of `nominal`.

    For a careful decomposition and demands x that can be met. ``S`` has room for m m scalars, ``spare`` for m; mu is
    ``damping`` times the trace of B B^T.
    """
    R = factor[r * n * len(tag) :]
    trace = splat(tag, 0.0)
    for k in range(m):
        for j in range(k + 1):
            store(tag, S, k * m + j, inner_product(tag, R, k * r, R, j * r, r))
        trace = trace + load(tag, S, k * m + k)
    for k in range(m):
        store(tag, S, k * m + k, load(tag, S, k * m + k) + trace * damping)
    ldlt(tag, S, 0, m)
    clear(tag, w, 0, r)
    for _ in range(ROUNDS):
        for k in range(m):
            store(tag, spare, k, load(tag, x, k) - inner_product(tag, R, k * r, w, 0, r))
        ldlt_solve(tag, S, 0, m, spare, 0)
        for j in range(r):
            y = load(tag, w, j)
            for k in range(m):
                y = y + load(tag, R, k * r + j) * load(tag, spare, k)
            store(tag, w, j, y)
