"""The motions of the nodes that the loops allow: W and a_0, (1) and (9)."""

from __future__ import annotations

from dynbench.methods.constraint_embedding.nodes import (
    A0,
    CAREFUL,
    COORDINATES,
    COUNT,
    FREEDOMS,
    MOTIONS,
    RANK,
    ROWS,
    SCRATCH,
    coordinate,
    independent,
    inside,
    record,
    row,
)
from dynbench.methods.kernels import pseudo_inverse
from dynbench.methods.kernels.closure import JACOBIAN, NV, OWN, RATE, TABLE, part
from dynbench.methods.kernels.free_motions import SINGULAR
from dynbench.methods.kernels.linear import ldlt, ldlt_solve
from dynbench.methods.kernels.mass_metric import FOLLOWING
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.pseudo_inverse import leading
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, generic, index, load, splat, store

UNHELD = 1e-12  # 1 over the largest inverse pivot of Z_aa, the square of a condition
REGULAR, ANY, DAMPED = 0, 1, 2  # states: regular ones, all, and all with the demands of the loops damped


@generic
def opening(tag: Tag, model: Buffer, v: Buffer, work: Buffer) -> Scalar:
    """|A v|^2 over 1 + |v|^2, node by node."""
    nv, A = index(model, NV), part(tag, model, work, JACOBIAN)
    total = splat(tag, 0.0)
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        for j in range(index(model, at + ROWS)):
            x = splat(tag, 0.0)
            for i in range(index(model, at + COORDINATES)):
                c = coordinate(model, at, i)
                x = x + load(tag, A, row(model, at, j) * nv + c) * load(tag, v, c)
            total = total + x * x
    return total / (1.0 + inner_product(tag, v, 0, v, 0, nv))


@generic
def all_motions(tag: Tag, model: Buffer, work: Buffer) -> Scalar:
    """W and a_0 of all nodes that have loops, (1)."""
    bad = splat(tag, 0.0)
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        if index(model, at + ROWS) > 0:
            bad = bad + motions(tag, model, at, work)
    return bad


@called
def motions(tag: Tag, model: Buffer, at: int, work: Buffer) -> Scalar:
    """W and a_0 of one node by (9); return how near to singular it is, above 1: too near."""
    nv, A, rate = index(model, NV), part(tag, model, work, JACOBIAN), part(tag, model, work, RATE)
    n, m, r = index(model, at + COORDINATES), index(model, at + ROWS), index(model, at + RANK)
    f, states = index(model, at + FREEDOMS), index(model, index(model, TABLE) + CAREFUL)
    W, a0 = inside(tag, model, at, MOTIONS, work), inside(tag, model, at, A0, work)
    lanes, longer = len(tag), max(m, n)
    A_G = part(tag, model, work, OWN)[index(model, index(model, TABLE) + SCRATCH) * lanes :]
    g = A_G[m * n * lanes :]
    Q = g[m * lanes :]
    left = Q[(r * n + m * r + (r * m + r * r if r < m else 0)) * lanes :]
    spare = left[longer * n * lanes :]
    Z_n = spare[(n + longer) * lanes :]
    Z_aa = Z_n[n * n * lanes :]
    damped = Z_aa[f * f * lanes :]
    w = damped[m * m * lanes :]
    for k in range(m):
        store(tag, g, k, load(tag, rate, row(model, at, k)))
        for i in range(n):
            store(tag, A_G, k * n + i, load(tag, A, row(model, at, k) * nv + coordinate(model, at, i)))
    near = pseudo_inverse.decompose(tag, A_G, m, n, r, Q, left, spare, states != REGULAR)
    if states == DAMPED:
        pseudo_inverse.solve_damped(tag, m, n, r, Q, g, w, FOLLOWING, damped, spare)
    else:
        pseudo_inverse.solve(tag, m, n, r, Q, g, w)
    for i in range(n):
        total = splat(tag, 0.0)
        for k in range(r):
            total = total - load(tag, Q, k * n + i) * load(tag, w, k)
        store(tag, a0, i, total)
    for i in range(n):
        for j in range(n):
            total = splat(tag, 1.0 if i == j else 0.0)
            for k in range(r):
                total = total - load(tag, Q, k * n + i) * load(tag, Q, k * n + j)
            store(tag, Z_n, i * n + j, total)
    bad = near * (SINGULAR * SINGULAR)
    if states != REGULAR:  # an orthonormal basis of the null space
        leading(tag, Z_n, n, n, f, W, spare)
    else:
        for c in range(f):
            for d in range(c + 1):
                at_n = independent(model, at, c) * n + independent(model, at, d)
                store(tag, Z_aa, c * f + d, load(tag, Z_n, at_n))
        ldlt(tag, Z_aa, 0, f)
        for c in range(f):
            bad = bad + load(tag, Z_aa, c * f + c) * UNHELD
        for i in range(n):
            for c in range(f):
                store(tag, spare, c, load(tag, Z_n, i * n + independent(model, at, c)))
            ldlt_solve(tag, Z_aa, 0, f, spare, 0)
            for c in range(f):
                store(tag, W, c * n + i, load(tag, spare, c))
        for c in range(f):
            for d in range(f):
                store(tag, W, c * n + independent(model, at, d), splat(tag, 1.0 if c == d else 0.0))
        for c in range(f):
            excess = load(tag, a0, independent(model, at, c))
            for i in range(n):
                store(tag, a0, i, load(tag, a0, i) - excess * load(tag, W, c * n + i))
    return bad
