"""Factors of a tree's mass matrix that keep its zeros: M = L^T D L, L unit lower triangular.

Coordinates of different branches do not couple, and neither do they in L (Featherstone, Rigid Body Dynamics Algorithms,
2008, section 6.5): row k of L has entries for the coordinates between k and the ground alone. These are contiguous by
segments (`tree`), the root's coming last. Matrices are nv x nv by rows in a flat buffer, of which only the lower
triangle is read.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, load, store
from dynbench.methods.kernels.tree import (
    body_count,
    iv,
    root,
    segment_parent,
    segment_start,
    velocity_count,
    velocity_end,
)

COLUMNS = 4  # right-hand sides at a time: an entry of L is loaded once for all of them


@generic
def factorise(tag: Tag, model: Buffer, M: Buffer) -> None:
    """Leave L below the diagonal of M and 1/D on it."""
    nv = velocity_count(model)
    for i in range(body_count(model), 0, -1):
        base = root(model, i)
        for k in range(velocity_end(model, i) - 1, iv(model, i) - 1, -1):
            inverse = 1.0 / load(tag, M, k * (nv + 1))
            store(tag, M, k * (nv + 1), inverse)
            at, end = i, k
            while at > 0:
                begin = segment_start(model, at)
                for r in range(end - 1, begin - 1, -1):
                    x = load(tag, M, k * nv + r) * inverse
                    subtract(tag, M, r * nv, k * nv, begin, r + 1, x)
                    subtract_rest(tag, model, M, nv, r, k, segment_parent(model, at), base, x)
                    store(tag, M, k * nv + r, x)
                at = segment_parent(model, at)
                end = velocity_end(model, at)
            end = k if i == base else velocity_end(model, base)
            for r in range(end - 1, iv(model, base) - 1, -1):
                x = load(tag, M, k * nv + r) * inverse
                subtract(tag, M, r * nv, k * nv, iv(model, base), r + 1, x)
                store(tag, M, k * nv + r, x)


@generic
def subtract(tag: Tag, M: Buffer, to: int, row: int, begin: int, end: int, x: Scalar) -> None:
    """M[to + c] -= x M[row + c]"""
    for c in range(begin, end):
        store(tag, M, to + c, load(tag, M, to + c) - x * load(tag, M, row + c))


@generic
def subtract_rest(
    tag: Tag, model: Buffer, M: Buffer, nv: int, r: int, k: int, at: int, base: int, x: Scalar
) -> None:
    """Row r -= x row k, from the segment that ends with body ``at`` to the ground."""
    while at > 0:
        subtract(tag, M, r * nv, k * nv, segment_start(model, at), velocity_end(model, at), x)
        at = segment_parent(model, at)
    subtract(tag, M, r * nv, k * nv, iv(model, base), velocity_end(model, base), x)


@generic
def solve_columns(tag: Tag, model: Buffer, M: Buffer, X: Buffer, count: int, spare: Buffer) -> None:
    """X = -M^-1 X for ``count`` matrices nv x nv by rows, one after the other; ``spare`` holds 4 nv numbers.

    M is what `factorise` leaves.
    """
    nv = velocity_count(model)
    last = count * nv - 1
    for first in range(0, last + 1, COLUMNS):
        for j in range(COLUMNS):
            c = min(first + j, last)
            at = c // nv * nv * nv + c % nv
            for r in range(nv):
                store(tag, spare, r * COLUMNS + j, -load(tag, X, at + r * nv))
        solve_some(tag, model, M, nv, spare)
        for j in range(min(COLUMNS, last + 1 - first)):
            at = (first + j) // nv * nv * nv + (first + j) % nv
            for r in range(nv):
                store(tag, X, at + r * nv, load(tag, spare, r * COLUMNS + j))


@generic
def solve_some(tag: Tag, model: Buffer, M: Buffer, nv: int, x: Buffer) -> None:
    """Solve M y = x for four right-hand sides, coordinate by coordinate in x, which y replaces."""
    bodies = body_count(model)
    for i in range(bodies, 0, -1):
        base = root(model, i)
        for k in range(velocity_end(model, i) - 1, iv(model, i) - 1, -1):
            y = load4(tag, x, k)
            at, end = i, k
            while at > 0:
                for c in range(segment_start(model, at), end):
                    store4(tag, x, c, less(load4(tag, x, c), load(tag, M, k * nv + c), y))
                at = segment_parent(model, at)
                end = velocity_end(model, at)
            for c in range(iv(model, base), k if i == base else velocity_end(model, base)):
                store4(tag, x, c, less(load4(tag, x, c), load(tag, M, k * nv + c), y))
            d = load(tag, M, k * (nv + 1))
            store4(tag, x, k, (y[0] * d, y[1] * d, y[2] * d, y[3] * d))
    for i in range(1, bodies + 1):
        base = root(model, i)
        for k in range(iv(model, i), velocity_end(model, i)):
            y = load4(tag, x, k)
            at, end = i, k
            while at > 0:
                for c in range(segment_start(model, at), end):
                    y = less(y, load(tag, M, k * nv + c), load4(tag, x, c))
                at = segment_parent(model, at)
                end = velocity_end(model, at)
            for c in range(iv(model, base), k if i == base else velocity_end(model, base)):
                y = less(y, load(tag, M, k * nv + c), load4(tag, x, c))
            store4(tag, x, k, y)


Four = tuple[Scalar, Scalar, Scalar, Scalar]


@generic
def load4(tag: Tag, x: Buffer, k: int) -> Four:
    at = k * COLUMNS
    return (load(tag, x, at), load(tag, x, at + 1), load(tag, x, at + 2), load(tag, x, at + 3))


@generic
def store4(tag: Tag, x: Buffer, k: int, y: Four) -> None:
    at = k * COLUMNS
    store(tag, x, at, y[0])
    store(tag, x, at + 1, y[1])
    store(tag, x, at + 2, y[2])
    store(tag, x, at + 3, y[3])


@generic
def less(x: Four, l: Scalar, y: Four) -> Four:
    """x - l y"""
    return (x[0] - l * y[0], x[1] - l * y[1], x[2] - l * y[2], x[3] - l * y[3])
