"""Forward dynamics by eliminating arm after arm: M a = b with the zeros of M between arms kept.

    (M_00 - sum_j M_0j M_jj^-1 M_j0) a_0 = b_0 - sum_j M_0j M_jj^-1 b_j,       a_j = M_jj^-1 (b_j - M_j0 a_0)

Coordinates are eliminated one at a time from the tips to the base (M = L^T D L), and a coordinate couples only with
those between it and the ground. So there is no fill-in between arms or between branches of an arm, and what remains at
the end of all arms is the base's 6 x 6 block above.
"""

from __future__ import annotations

from dynbench.methods.boltzmann_hamel.model import body_count, velocity_count
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store
from dynbench.methods.kernels.tree import iv, parent, velocity_end


@generic
def last_coordinate(model: Buffer, i: int) -> int:
    """The last coordinate of row ``i``; -1 for the ground."""
    return velocity_end(model, i) - 1 if i > 0 else -1


@generic
def inner(model: Buffer, i: int, k: int) -> tuple[int, int]:
    """The row and index of the coordinate after ``k`` of row ``i`` on the path to the ground; -1 at the ground."""
    if k > iv(model, i):
        return i, k - 1
    return parent(model, i), last_coordinate(model, parent(model, i))


@generic
def solve(tag: Tag, model: Buffer, M: Buffer, at: int, x: Buffer) -> None:
    """Replace ``x`` by M^-1 x. M, by rows from M[at] on, is overwritten (only its lower half is read)."""
    nv = velocity_count(model)
    bodies = body_count(model)
    for i in range(bodies, 0, -1):
        for k in range(velocity_end(model, i) - 1, iv(model, i) - 1, -1):
            eliminate(tag, model, i, k, M, at, nv, x)
    for i in range(1, bodies + 1):
        for k in range(iv(model, i), velocity_end(model, i)):
            substitute(tag, model, i, k, M, at + k * nv, x)


@generic
def eliminate(tag: Tag, model: Buffer, i: int, k: int, M: Buffer, at: int, nv: int, x: Buffer) -> None:
    """Eliminate coordinate ``k`` from the equations of all coordinates between it and the ground."""
    row = at + k * nv
    pivot = 1.0 / load(tag, M, row + k)
    known = load(tag, x, k)
    r, c = inner(model, i, k)
    while c >= 0:
        factor = load(tag, M, row + c) * pivot
        store(tag, x, c, load(tag, x, c) - factor * known)
        p, d = r, c
        while d >= 0:
            here = at + c * nv + d
            store(tag, M, here, load(tag, M, here) - factor * load(tag, M, row + d))
            p, d = inner(model, p, d)
        r, c = inner(model, r, c)
    store(tag, M, row + k, pivot)


@generic
def substitute(tag: Tag, model: Buffer, i: int, k: int, M: Buffer, row: int, x: Buffer) -> None:
    """Solve for coordinate ``k`` from those between it and the ground, which are already known."""
    left = load(tag, x, k)
    r, c = inner(model, i, k)
    while c >= 0:
        left = left - load(tag, M, row + c) * load(tag, x, c)
        r, c = inner(model, r, c)
    store(tag, x, k, left * load(tag, M, row + k))
