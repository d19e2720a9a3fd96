"""Factors of a tree's mass matrix that keep its zeros: M = L^T D L, L unit lower triangular.

Coordinates of different branches do not couple, and neither do they in L (Featherstone, Rigid Body Dynamics Algorithms,
2008, section 6.5): row k of L has entries for the coordinates between k and the ground alone. Matrices are nv x nv by
rows in a flat buffer, of which only the lower triangle is read.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store
from dynbench.methods.kernels.tree import (
    body_count,
    iv,
    parent,
    velocity_count,
    velocity_end,
)


@generic
def factorise(tag: Tag, model: Buffer, M: Buffer) -> None:
    """Leave L below the diagonal of M and 1/D on it."""
    nv = velocity_count(model)
    for i in range(body_count(model), 0, -1):
        for k in range(velocity_end(model, i) - 1, iv(model, i) - 1, -1):
            inverse = 1.0 / load(tag, M, k * (nv + 1))
            store(tag, M, k * (nv + 1), inverse)
            at, end = i, k
            while at > 0:
                for r in range(end - 1, iv(model, at) - 1, -1):
                    x = load(tag, M, k * nv + r) * inverse
                    subtract_row(tag, model, M, nv, k, at, r, x)
                    store(tag, M, k * nv + r, x)
                at = parent(model, at)
                end = velocity_end(model, at)


@generic
def subtract_row(tag: Tag, model: Buffer, M: Buffer, nv: int, k: int, i: int, r: int, x: object) -> None:
    """Row r -= x row k, up to the diagonal of r; r is a coordinate of body i."""
    end = r + 1
    while i > 0:
        for c in range(iv(model, i), end):
            store(tag, M, r * nv + c, load(tag, M, r * nv + c) - x * load(tag, M, k * nv + c))  # type: ignore[operator]
        i = parent(model, i)
        end = velocity_end(model, i)


@generic
def solve(tag: Tag, model: Buffer, M: Buffer, x: Buffer) -> None:
    """Solve M y = x for a matrix factorised by `factorise`; y replaces x."""
    nv, bodies = velocity_count(model), body_count(model)
    for i in range(bodies, 0, -1):
        for k in range(velocity_end(model, i) - 1, iv(model, i) - 1, -1):
            y = load(tag, x, k)
            at, end = i, k
            while at > 0:
                for c in range(iv(model, at), end):
                    store(tag, x, c, load(tag, x, c) - load(tag, M, k * nv + c) * y)
                at = parent(model, at)
                end = velocity_end(model, at)
            store(tag, x, k, y * load(tag, M, k * (nv + 1)))
    for i in range(1, bodies + 1):
        for k in range(iv(model, i), velocity_end(model, i)):
            y = load(tag, x, k)
            at, end = i, k
            while at > 0:
                for c in range(iv(model, at), end):
                    y = y - load(tag, M, k * nv + c) * load(tag, x, c)
                at = parent(model, at)
                end = velocity_end(model, at)
            store(tag, x, k, y)


@generic
def solve_columns(tag: Tag, model: Buffer, M: Buffer, X: Buffer, at: int, count: int, spare: Buffer) -> None:
    """X = -M^-1 X for the nv x count matrix by rows that begins at X[at]; ``spare`` holds nv numbers."""
    nv = velocity_count(model)
    for c in range(count):
        for r in range(nv):
            store(tag, spare, r, -load(tag, X, at + r * count + c))
        solve(tag, model, M, spare)
        for r in range(nv):
            store(tag, X, at + r * count + c, load(tag, spare, r))
