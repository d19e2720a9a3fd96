"""Accelerations by recursion over the nodes, (2) to (8)."""

from __future__ import annotations

from dynbench.methods.constraint_embedding.motions import motions
from dynbench.methods.constraint_embedding.nodes import (
    A0,
    ACTUATORS,
    BLOCK,
    BODIES,
    COORDINATES,
    COUNT,
    COUPLING,
    FORCES,
    FREEDOMS,
    INERTIA,
    LISTS,
    MOTIONS,
    ROWS,
    UP,
    B,
    H,
    P,
    S,
    X,
    Z,
    actuator,
    coordinate,
    inside,
    record,
)
from dynbench.methods.kernels import closure
from dynbench.methods.kernels.closure import FULL, OWN, TABLE, TREE, part
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
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
