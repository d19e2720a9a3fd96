"""Demands of the loops met by the smallest change in the metric of the masses: (1), (2) and (4) of `nominal`.

M, A and A' v are in the workspace; M is overwritten by its factors.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import (
    ACTUATED,
    DIRECTIONS,
    EQUATIONS,
    GRAM,
    JACOBIAN,
    MASS,
    MASSLESS,
    NA,
    NV,
    RANK,
    RATE,
    ROOTS,
    SOLVED,
    SPARE,
    WEIGHTED,
    part,
)
from dynbench.methods.kernels.linear import clear, ldlt
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.pseudo_inverse import damped_gram, rounds
from dynbench.methods.kernels.scalar import Buffer, Tag, called, generic, index, load, splat, sqrt, store

# mu of (4) over the trace of B B^T. While a motion is followed: (1e-4)^2. Rounding moves a state off its branch by
# about EPS / d^3 at a distance d from a singular position, so the damping must begin above EPS^(1/3) = 6e-6; and it
# must have ended, (1e-4 / s)^6 < 1e-12, where s > 1e-2. For the accelerations of one state: (1e-6)^2.
FOLLOWING, EXACT = 1e-8, 1e-12


@called
def whiten(tag: Tag, model: Buffer, work: Buffer, augmented: bool) -> None:
    """Factorise M (``augmented``: with b A^T A, because it may be singular) and fill B; M and A are there."""
    nv, m = index(model, NV), index(model, EQUATIONS)
    A = part(tag, model, work, JACOBIAN)
    M = part(tag, model, work, MASS)
    roots = part(tag, model, work, ROOTS)
    b = splat(tag, 0.0)
    if augmented:
        total = splat(tag, 0.0)
        for i in range(nv):
            total = total + load(tag, M, i * nv + i)
        b = total / inner_product(tag, A, 0, A, 0, m * nv)
        for i in range(nv):
            for j in range(i + 1):
                x = splat(tag, 0.0)
                for k in range(m):
                    x = x + load(tag, A, k * nv + i) * load(tag, A, k * nv + j)
                store(tag, M, i * nv + j, load(tag, M, i * nv + j) + b * x)
    store(tag, roots, nv, b)
    ldlt(tag, M, 0, nv)
    for i in range(nv):
        store(tag, roots, i, sqrt(load(tag, M, i * nv + i)))
    B = part(tag, model, work, WEIGHTED)
    for k in range(m):
        for i in range(nv):
            store(tag, B, k * nv + i, load(tag, A, k * nv + i))
        half(tag, model, B, k * nv, work)


@called
def weigh(tag: Tag, model: Buffer, work: Buffer, damping: float) -> None:
    """`whiten`, and factorise S of (4)."""
    whiten(tag, model, work, index(model, MASSLESS) == 1)
    B, S = part(tag, model, work, WEIGHTED), part(tag, model, work, GRAM)
    damped_gram(tag, B, index(model, EQUATIONS), index(model, NV), S, damping)


@called
def half(tag: Tag, model: Buffer, x: Buffer, at: int, work: Buffer) -> None:
    """x = D^-1/2 L^-1 x"""
    nv = index(model, NV)
    M, roots = part(tag, model, work, MASS), part(tag, model, work, ROOTS)
    for i in range(nv):
        y = load(tag, x, at + i)
        for j in range(i):
            y = y - load(tag, M, i * nv + j) * load(tag, x, at + j)
        store(tag, x, at + i, y)
    for i in range(nv):
        store(tag, x, at + i, load(tag, x, at + i) * load(tag, roots, i))


@called
def half_transposed(tag: Tag, model: Buffer, x: Buffer, work: Buffer) -> None:
    """x = L^-T D^-1/2 x"""
    nv = index(model, NV)
    M, roots = part(tag, model, work, MASS), part(tag, model, work, ROOTS)
    for i in range(nv):
        store(tag, x, i, load(tag, x, i) * load(tag, roots, i))
    for i in range(nv - 1, -1, -1):
        y = load(tag, x, i)
        for j in range(i + 1, nv):
            y = y - load(tag, M, j * nv + i) * load(tag, x, j)
        store(tag, x, i, y)


@called
def demanded(tag: Tag, model: Buffer, rows: int, x: Buffer, y: Buffer, work: Buffer) -> None:
    """(4) without its last step: y of the demand x, for B or A (``rows``), whose S is factorised.

    With redundant rows y is taken along the directions found: off the loops by x the others have singular values of
    order x, and what they demand must not count.
    """
    nv, m = index(model, NV), index(model, EQUATIONS)
    z = part(tag, model, work, SPARE)
    rounds(tag, part(tag, model, work, rows), m, nv, part(tag, model, work, GRAM), x, y, z)
    if index(model, RANK) < m:
        Q = part(tag, model, work, DIRECTIONS)
        clear(tag, z, 0, nv)
        for k in range(index(model, RANK)):
            along = inner_product(tag, Q, k * nv, y, 0, nv)
            for i in range(nv):
                store(tag, z, i, load(tag, z, i) + along * load(tag, Q, k * nv + i))
        for i in range(nv):
            store(tag, y, i, load(tag, z, i))


@called
def sharp(tag: Tag, model: Buffer, x: Buffer, y: Buffer, work: Buffer) -> None:
    """(1) by (4): y (nv) of the demand x (m)."""
    demanded(tag, model, WEIGHTED, x, y, work)
    half_transposed(tag, model, y, work)


@called
def least_norm(tag: Tag, model: Buffer, x: Buffer, y: Buffer, work: Buffer) -> None:
    """y = A^+ x: the same without masses."""
    A, S = part(tag, model, work, JACOBIAN), part(tag, model, work, GRAM)
    damped_gram(tag, A, index(model, EQUATIONS), index(model, NV), S, EXACT)
    demanded(tag, model, JACOBIAN, x, y, work)


@generic
def applied(tag: Tag, model: Buffer, tau: Buffer, force: Buffer) -> None:
    """force = B tau - force"""
    for i in range(index(model, NV)):
        store(tag, force, i, -load(tag, force, i))
    for j in range(index(model, NA)):
        i = index(model, index(model, ACTUATED) + j)
        store(tag, force, i, load(tag, force, i) + load(tag, tau, j))


@generic
def less_demand(tag: Tag, model: Buffer, rate: Buffer, force: Buffer, work: Buffer) -> None:
    """force -= b A^T rate, which goes with M + b A^T A"""
    nv = index(model, NV)
    A = part(tag, model, work, JACOBIAN)
    b = load(tag, part(tag, model, work, ROOTS), nv)
    for i in range(nv):
        total = splat(tag, 0.0)
        for k in range(index(model, EQUATIONS)):
            total = total + load(tag, A, k * nv + i) * load(tag, rate, k)
        store(tag, force, i, load(tag, force, i) - b * total)


@called
def acceleration(tag: Tag, model: Buffer, tau: Buffer, force: Buffer, out: Buffer, work: Buffer) -> None:
    """Fill (2); M is factorised, the directions and A' v are found, ``force`` holds h."""
    nv = index(model, NV)
    rate = part(tag, model, work, RATE)
    x = part(tag, model, work, SOLVED)
    applied(tag, model, tau, force)
    if index(model, MASSLESS) == 1:
        less_demand(tag, model, rate, force, work)
    half(tag, model, force, 0, work)
    Q = part(tag, model, work, DIRECTIONS)
    for k in range(index(model, RANK)):
        y = inner_product(tag, Q, k * nv, force, 0, nv)
        for i in range(nv):
            store(tag, force, i, load(tag, force, i) - y * load(tag, Q, k * nv + i))
    half_transposed(tag, model, force, work)
    sharp(tag, model, rate, x, work)
    for i in range(nv):
        store(tag, out, i, load(tag, force, i) - load(tag, x, i))
