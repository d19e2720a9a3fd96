"""Motions of the nodes, and the recursions over them."""

from __future__ import annotations

from typing import Any

from dynbench.methods.constraint_embedding.nodes import (
    ACTUATORS,
    BLOCK,
    BODIES,
    CAREFUL,
    COORDINATES,
    COUNT,
    FREEDOMS,
    LISTS,
    PLACE,
    RANK,
    ROWS,
    SCRATCH,
    STARTS,
    UP,
    WRENCHES,
    B,
    P,
    S,
    X,
    Z,
)
from dynbench.methods.kernels import closure, pseudo_inverse, spatial
from dynbench.methods.kernels.closure import (
    BASIS,
    EQUATIONS,
    FULL,
    INNER,
    JACOBIAN,
    METHOD,
    NA,
    NV,
    OWN,
    RATE,
    SOLVED,
    TABLE,
    TREE,
    fill_rates,
    part,
)
from dynbench.methods.kernels.free_motions import SINGULAR
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.mass_metric import FOLLOWING
from dynbench.methods.kernels.nominal import NEAR, closed, closed_motion
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.projection import moving, nan_if_invalid, no_mass, reduced_mass, refuse
from dynbench.methods.kernels.pseudo_inverse import leading
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, generic, index, load, splat, store
from dynbench.methods.kernels.spatial import (
    add_scaled,
    power,
    recenter,
    store_inertia,
    store_unit_motion,
    store_wrench,
)
from dynbench.methods.kernels.tree import axis_count, first_axis, kind

UNHELD = 1e-12  # 1 over the largest inverse pivot of Z_aa, the square of a condition
REGULAR, ANY, DAMPED = 0, 1, 2  # states: regular ones, all, and all with the demands of the loops damped

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None
body_wrenches: Any = spatial.body_wrenches


# ---------------------------------------------------------------------- quantities


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    bad = closed(tag, model, q, work, NEAR)
    fill_rates(tag, model, v, work)
    bad = bad + opening(tag, model, v, work) * NEAR
    wrenches = part(tag, model, work, OWN)[index(model, index(model, TABLE) + WRENCHES) * len(tag) :]
    body_wrenches(tag, model[index(model, METHOD) :], q, v, None, wrench, wrenches, part(tag, model, work, INNER))
    bad = bad + recursion(tag, model, tau, wrenches, out, work)
    refuse(tag, out, index(model, NV), bad)


@generic
def accelerate(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """For integrators: a state on the loops."""
    fill_rates(tag, model, v, work)
    wrenches = part(tag, model, work, OWN)[index(model, index(model, TABLE) + WRENCHES) * len(tag) :]
    body_wrenches(tag, model[index(model, METHOD) :], q, v, None, wrench, wrenches, part(tag, model, work, INNER))
    recursion(tag, model, tau, wrenches, out, work)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """tau = W^T (M a + h), (10)"""
    own, inner, full = model[index(model, METHOD) :], part(tag, model, work, INNER), part(tag, model, work, FULL)
    bad = closed_motion(tag, model, q, v, a, work) + all_motions(tag, model, work)
    tree_inverse_dynamics(tag, own, q, v, a, wrench, full, inner)
    project(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def bias(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(10) at u' = 0, where a is a_0."""
    own, inner, full = model[index(model, METHOD) :], part(tag, model, work, INNER), part(tag, model, work, FULL)
    bad = closed(tag, model, q, work, NEAR) + moving(tag, model, v, work, NEAR)
    bad = bad + all_motions(tag, model, work)
    start = part(tag, model, work, SOLVED)
    clear(tag, start, 0, index(model, NV))
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        if index(model, at + ROWS) > 0:
            a0 = inside(tag, model, at, A0, work)
            for i in range(index(model, at + COORDINATES)):
                store(tag, start, coordinate(model, at, i), load(tag, a0, i))
    tree_inverse_dynamics(tag, own, q, v, start, wrench, full, inner)
    project(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """W^T M W, (10)"""
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    nv, na = index(model, NV), index(model, NA)
    bad = closed(tag, model, q, work, NEAR)
    clear(tag, part(tag, model, work, RATE), 0, index(model, EQUATIONS))
    bad = bad + all_motions(tag, model, work)
    basis = part(tag, model, work, BASIS)
    clear(tag, basis, 0, na * nv)
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        W, n = inside(tag, model, at, MOTIONS, work), index(model, at + COORDINATES)
        for c in range(index(model, at + FREEDOMS)):
            row = actuator(model, at, c, 1) * nv
            if index(model, at + ROWS) > 0:
                for i in range(n):
                    store(tag, basis, row + coordinate(model, at, i), load(tag, W, c * n + i))
            else:
                store(tag, basis, row + coordinate(model, at, c), splat(tag, 1.0))
    tree_mass_matrix(tag, own, q, no_mass(tag, model, work), inner)
    reduced_mass(tag, model, out, work)
    refuse(tag, out, na * na, bad)


@generic
def project(tag: Tag, model: Buffer, full: Buffer, out: Buffer, work: Buffer, zero: Scalar) -> None:
    """W^T r, node by node, (10)"""
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        W, n = inside(tag, model, at, MOTIONS, work), index(model, at + COORDINATES)
        for c in range(index(model, at + FREEDOMS)):
            total = zero
            if index(model, at + ROWS) > 0:
                for i in range(n):
                    total = total + load(tag, W, c * n + i) * load(tag, full, coordinate(model, at, i))
            else:
                total = total + load(tag, full, coordinate(model, at, c))
            store(tag, out, actuator(model, at, c, 1), total)


# ---------------------------------------------------------------------- nodes: what is where

H, MOTIONS, A0, INERTIA, COUPLING, FORCES = range(6)  # parts of a node's workspace: H, W (by columns), a_0, D, U, e


@generic
def record(model: Buffer, k: int) -> int:
    """Where the record of node ``k`` begins."""
    table = index(model, TABLE)
    return table + index(model, table + STARTS + k)


@generic
def coordinate(model: Buffer, at: int, i: int) -> int:
    """Coordinate ``i`` of a node, an index into v."""
    return index(model, at + LISTS + 2 * index(model, at + BODIES) + i)


@generic
def row(model: Buffer, at: int, k: int) -> int:
    """Row ``k`` of a node, a row of A."""
    return index(model, at + LISTS + 2 * index(model, at + BODIES) + index(model, at + COORDINATES) + k)


@generic
def independent(model: Buffer, at: int, c: int) -> int:
    """Which of a node's coordinates is number ``c`` of u."""
    before = 2 * index(model, at + BODIES) + index(model, at + COORDINATES) + index(model, at + ROWS)
    return index(model, at + LISTS + before + c)


@generic
def actuator(model: Buffer, at: int, k: int, which: int) -> int:
    """Actuator ``k`` of a node: which of its coordinates (``which`` 0), which force (1)."""
    before = 2 * index(model, at + BODIES) + index(model, at + COORDINATES) + index(model, at + ROWS)
    return index(model, at + LISTS + before + index(model, at + FREEDOMS) + 2 * k + which)


@generic
def inside(tag: Tag, model: Buffer, at: int, which: int, work: Buffer) -> Buffer:
    """One of the parts of a node's workspace."""
    f, n = index(model, at + FREEDOMS), index(model, at + COORDINATES)
    begin = index(model, at + PLACE)
    if which > H:
        begin += 6 * f * index(model, at + BODIES)
    if which > MOTIONS:
        begin += n * f
    if which > A0:
        begin += n
    if which > INERTIA:
        begin += f * f
    if which > COUPLING:
        begin += 6 * f
    return part(tag, model, work, OWN)[begin * len(tag) :]


# ---------------------------------------------------------------------- motions


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


# ---------------------------------------------------------------------- recursion


@called
def recursion(tag: Tag, model: Buffer, tau: Buffer, wrenches: Buffer, out: Buffer, work: Buffer) -> Scalar:
    """Accelerations under ``tau``: from the tips to the base (4) to (7), and back (8)."""
    packed = model[TREE : index(model, closure.CLOSURES)]
    blocks, count = part(tag, model, work, OWN), index(model, index(model, TABLE) + COUNT)
    bad = splat(tag, 0.0)
    clear(tag, blocks, X, 6)
    recenter(tag, index(model, closure.BODIES), work)
    for i in range(1, index(model, closure.BODIES) + 1):
        store_inertia(tag, packed, work, i, blocks, i * BLOCK + P)
        store_wrench(tag, work, i, wrenches, blocks, i * BLOCK + Z)
        for k in range(axis_count(kind(packed, i))):
            store_unit_motion(tag, work, i, first_axis(kind(packed, i)) + k, blocks, i * BLOCK + S + 6 * k)
    for k in range(count - 1, -1, -1):
        at = record(model, k)
        if index(model, at + ROWS) > 0:
            bad = bad + motions(tag, model, at, work)
        embed(tag, model, at, work)
        eliminate(tag, model, at, tau, work)
    for k in range(count):
        release(tag, model, record(model, k), out, work)
    return bad


@generic
def embed(tag: Tag, model: Buffer, at: int, work: Buffer) -> None:
    """H_i and b_i of the bodies of a node, (2)."""
    packed = model[TREE : index(model, closure.CLOSURES)]
    blocks, bodies = part(tag, model, work, OWN), index(model, at + BODIES)
    f, n, looped = index(model, at + FREEDOMS), index(model, at + COORDINATES), index(model, at + ROWS) > 0
    columns, W = inside(tag, model, at, H, work), inside(tag, model, at, MOTIONS, work)
    a0 = inside(tag, model, at, A0, work)
    first = 0
    for b in range(bodies):
        i, before = index(model, at + LISTS + b), index(model, at + LISTS + bodies + b)
        o = i * BLOCK
        axes = axis_count(kind(packed, i))
        if looped:
            clear(tag, blocks, o + B, 6)
            if before >= 0:
                p = index(model, at + LISTS + before) * BLOCK
                for k in range(6):
                    store(tag, blocks, o + B + k, load(tag, blocks, p + B + k))
            for k in range(axes):
                add_scaled(tag, load(tag, a0, first + k), blocks, o + S + 6 * k, blocks, o + B)
        for c in range(f):
            to = 6 * (b * f + c)
            if looped:
                clear(tag, columns, to, 6)
                if before >= 0:
                    for k in range(6):
                        store(tag, columns, to + k, load(tag, columns, 6 * (before * f + c) + k))
                for k in range(axes):
                    add_scaled(tag, load(tag, W, c * n + first + k), blocks, o + S + 6 * k, columns, to)
            else:
                for k in range(6):
                    store(tag, columns, to + k, load(tag, blocks, o + S + 6 * c + k))
        first += axes


@generic
def eliminate(tag: Tag, model: Buffer, at: int, tau: Buffer, work: Buffer) -> None:
    """U and D (4), e (5), then the parent's P (6) and z (7), of one node."""
    blocks, bodies = part(tag, model, work, OWN), index(model, at + BODIES)
    f, n, looped = index(model, at + FREEDOMS), index(model, at + COORDINATES), index(model, at + ROWS) > 0
    columns, W = inside(tag, model, at, H, work), inside(tag, model, at, MOTIONS, work)
    D, U, e = (
        inside(tag, model, at, INERTIA, work), inside(tag, model, at, COUPLING, work),
        inside(tag, model, at, FORCES, work),
    )  # fmt: skip
    up = index(model, at + UP) * BLOCK
    clear(tag, D, 0, f * f)
    clear(tag, U, 0, 6 * f)
    clear(tag, e, 0, f)
    for k in range(index(model, at + ACTUATORS)):
        i, force = actuator(model, at, k, 0), load(tag, tau, actuator(model, at, k, 1))
        if looped:
            for c in range(f):
                store(tag, e, c, load(tag, e, c) + load(tag, W, c * n + i) * force)
        else:
            store(tag, e, i, force)
    spare = blocks  # the ground's P
    for b in range(bodies):
        o = index(model, at + LISTS + b) * BLOCK
        if looped:  # P b + z in the place of z
            times(tag, blocks, o + P, blocks, o + B, spare, 0)
            for k in range(6):
                store(tag, blocks, o + Z + k, load(tag, blocks, o + Z + k) + load(tag, spare, k))
        for c in range(f):
            here = 6 * (b * f + c)
            times(tag, blocks, o + P, columns, here, spare, 0)
            store(tag, e, c, load(tag, e, c) - power(tag, columns, here, blocks, o + Z))
            for k in range(6):
                store(tag, U, 6 * c + k, load(tag, U, 6 * c + k) + load(tag, spare, k))
            for d in range(c, f):
                more = power(tag, columns, 6 * (b * f + d), spare, 0)
                store(tag, D, d * f + c, load(tag, D, d * f + c) + more)
    ldlt(tag, D, 0, f)
    if up > 0:
        for b in range(bodies):
            o = index(model, at + LISTS + b) * BLOCK
            for j in range(6):
                store(tag, blocks, up + Z + j, load(tag, blocks, up + Z + j) + load(tag, blocks, o + Z + j))
                for k in range(j + 1):
                    to = P + 6 * j + k
                    store(tag, blocks, up + to, load(tag, blocks, up + to) + load(tag, blocks, o + to))
        y = part(tag, model, work, FULL)
        for c in range(f):
            store(tag, y, c, load(tag, e, c))
        ldlt_solve(tag, D, 0, f, y, 0)
        for c in range(f):
            add_scaled(tag, load(tag, y, c), U, 6 * c, blocks, up + Z)
        for j in range(6):
            for c in range(f):
                store(tag, y, c, load(tag, U, 6 * c + j))
            ldlt_solve(tag, D, 0, f, y, 0)
            for k in range(j + 1):
                to = up + P + 6 * j + k
                total = load(tag, blocks, to)
                for c in range(f):
                    total = total - load(tag, y, c) * load(tag, U, 6 * c + k)
                store(tag, blocks, to, total)


@generic
def release(tag: Tag, model: Buffer, at: int, out: Buffer, work: Buffer) -> None:
    """(8) of one node, then (3)."""
    blocks, bodies = part(tag, model, work, OWN), index(model, at + BODIES)
    f, n, looped = index(model, at + FREEDOMS), index(model, at + COORDINATES), index(model, at + ROWS) > 0
    columns, W = inside(tag, model, at, H, work), inside(tag, model, at, MOTIONS, work)
    a0, u = inside(tag, model, at, A0, work), inside(tag, model, at, FORCES, work)
    U, up = inside(tag, model, at, COUPLING, work), index(model, at + UP) * BLOCK
    if up > 0:
        for c in range(f):
            store(tag, u, c, load(tag, u, c) - power(tag, U, 6 * c, blocks, up + X))
    ldlt_solve(tag, inside(tag, model, at, INERTIA, work), 0, f, u, 0)
    for i in range(n):
        if looped:
            total = load(tag, a0, i)
            for c in range(f):
                total = total + load(tag, W, c * n + i) * load(tag, u, c)
            store(tag, out, coordinate(model, at, i), total)
        else:
            store(tag, out, coordinate(model, at, i), load(tag, u, i))
    for b in range(bodies):
        o = index(model, at + LISTS + b) * BLOCK
        for k in range(6):
            store(tag, blocks, o + X + k, load(tag, blocks, up + X + k))
            if looped:
                store(tag, blocks, o + X + k, load(tag, blocks, o + X + k) + load(tag, blocks, o + B + k))
        for c in range(f):
            add_scaled(tag, load(tag, u, c), columns, 6 * (b * f + c), blocks, o + X)


@generic
def times(tag: Tag, P: Buffer, at: int, x: Buffer, to: int, out: Buffer, there: int) -> None:
    """out = P x, P symmetric, lower triangle alone."""
    for j in range(6):
        total = load(tag, P, at + 6 * j) * load(tag, x, to)
        for k in range(1, 6):
            total = total + load(tag, P, at + (6 * j + k if k <= j else 6 * k + j)) * load(tag, x, to + k)
        store(tag, out, there + j, total)
