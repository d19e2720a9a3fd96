"""Moore-Penrose inverse of given rank over the generic scalar, by a complete orthogonal decomposition.

For a matrix B (m x n, by rows) of rank r, which is a number of the mechanism and is not decided at the state,

    B = R Q,   Q Q^T = 1                    the first r directions of a Gram-Schmidt process on the rows of B
    R = U T,   U^T U = 1, T triangular      the same on the columns of R (m x r), if r < m
    B^+ = Q^T R^-1 (r = m),  Q^T T^-1 U^T (r < m),   B^+ B = Q^T Q

(Golub, Van Loan, Matrix Computations, section 5.4). If all rows are independent, r = m, they are taken in their order,
without a comparison, so that the code can be traced; otherwise the row with most left is next, lane by lane, as
`leading` does.

Damped, B^+ x fades smoothly where singular values s become small. With S = B B^T + mu 1,

    y = 0;   three times  y += B^T S^-1 (x - B y)                                                                    (1)

is B^+ x with the factor 1 - (mu / (mu + s^2))^3 on each s: 1 to rounding at regular positions.

``factor`` holds Q (r n), R (m r), and if r < m the columns of U (r m) and T (r r): ``size(m, n, r)`` scalars.
"""

from __future__ import annotations

from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, choose, load, splat, sqrt, store

ROUNDS = 3  # of (1); one leaves a bias of mu / s^2


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
    """Fill w (r) with B^+ x = Q^T w, damped as in (1).

    For a careful decomposition and demands x that can be met. ``S`` has room for m m scalars, ``spare`` for m; mu is
    ``damping`` times the trace of B B^T.
    """
    R = factor[r * n * len(tag) :]
    damped_gram(tag, R, m, r, S, damping)
    rounds(tag, R, m, r, S, x, w, spare)


@called
def damped_gram(tag: Tag, B: Buffer, m: int, n: int, S: Buffer, damping: float) -> None:
    """S of (1), factorised; mu is ``damping`` times the trace of B B^T."""
    trace = splat(tag, 0.0)
    for k in range(m):
        for j in range(k + 1):
            store(tag, S, k * m + j, inner_product(tag, B, k * n, B, j * n, n))
        trace = trace + load(tag, S, k * m + k)
    for k in range(m):
        store(tag, S, k * m + k, load(tag, S, k * m + k) + trace * damping)
    ldlt(tag, S, 0, m)


@called
def rounds(tag: Tag, B: Buffer, m: int, n: int, S: Buffer, x: Buffer, y: Buffer, spare: Buffer) -> None:
    """(1): y (n) of x (m), S factorised; ``spare`` has room for m scalars."""
    clear(tag, y, 0, n)
    for _ in range(ROUNDS):
        for k in range(m):
            store(tag, spare, k, load(tag, x, k) - inner_product(tag, B, k * n, y, 0, n))
        ldlt_solve(tag, S, 0, m, spare, 0)
        for i in range(n):
            total = load(tag, y, i)
            for k in range(m):
                total = total + load(tag, B, k * n + i) * load(tag, spare, k)
            store(tag, y, i, total)


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

