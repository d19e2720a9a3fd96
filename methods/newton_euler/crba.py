"""Mass matrix: the composite-rigid-body algorithm (Featherstone 2008, table 6.2)."""

from __future__ import annotations

from dynbench.methods.kernels.inertia import shifted_inertia, shifted_moment
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.sweeps import joint_force
from dynbench.methods.kernels.tree import IV, KIND, MASS, PARENT, ROW, H, J, axis_count, body_count, first_axis, pose
from dynbench.methods.kernels.vectors import (
    Symmetric,
    Vector,
    add,
    add3,
    addsym,
    const3,
    const6,
    cross,
    load3,
    load6,
    load9,
    mul,
    store3,
    store6,
    store9,
)

# Work rows: pose, then the composite body's mass, first moment and inertia
ROT, POS, C_MASS, C_H, C_J, WORK = 0, 9, 12, 13, 16, 22


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    bodies = body_count(model)
    nv = index(model, bodies * ROW + IV) + axis_count(index(model, bodies * ROW + KIND))
    for k in range(nv * nv):
        store(tag, out, k, splat(tag, 0.0))  # coordinates on different branches do not couple
    for i in range(1, bodies + 1):
        start_composite(tag, model, i, q, work)
    # inward: composites, and below each joint the force it takes to accelerate one of its freedoms
    for i in range(bodies, 0, -1):
        o = i * WORK
        m = load(tag, work, o + C_MASS)
        h = load3(tag, work, o + C_H)
        inertia = load6(tag, work, o + C_J)
        kind = index(model, i * ROW + KIND)
        for k in range(axis_count(kind)):
            f, n = unit_acceleration(tag, m, h, inertia, first_axis(kind) + k)
            carry_column(tag, model, i, f, n, out, nv * (index(model, i * ROW + IV) + k), work)
        u = index(model, i * ROW + PARENT) * WORK
        if u > 0:
            R = load9(tag, work, o + ROT)
            p = load3(tag, work, o + POS)
            h = mul(R, h)
            store(tag, work, u + C_MASS, load(tag, work, u + C_MASS) + m)
            add3(tag, work, u + C_H, shifted_moment(m, h, p))
            shifted = shifted_inertia(R, inertia, m, h, p)
            store6(tag, work, u + C_J, addsym(load6(tag, work, u + C_J), shifted))
    for r in range(nv):
        for c in range(r):
            store(tag, out, c * nv + r, load(tag, out, r * nv + c))


@generic
def start_composite(tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer) -> None:
    """Pose, and the body itself as the first part of its composite."""
    R, p = pose(tag, model, i, q)
    o = i * WORK
    store9(tag, work, o + ROT, R)
    store3(tag, work, o + POS, p)
    store(tag, work, o + C_MASS, const(model, i * ROW + MASS))
    store3(tag, work, o + C_H, const3(model, i * ROW + H))
    store6(tag, work, o + C_J, const6(model, i * ROW + J))


@generic
def unit_acceleration(tag: Tag, m: Scalar, h: Vector, inertia: Symmetric, axis: int) -> tuple[Vector, Vector]:
    """Wrench that gives a body at rest a unit acceleration along x, y, z (axis 0 to 2) or about them (3 to 5)."""
    zero = splat(tag, 0.0)
    if axis == 5:
        return (-h[1], h[0], zero), (inertia[2], inertia[4], inertia[5])
    if axis == 4:
        return (h[2], zero, -h[0]), (inertia[1], inertia[3], inertia[4])
    if axis == 3:
        return (zero, -h[2], h[1]), (inertia[0], inertia[1], inertia[2])
    if axis == 2:
        return (zero, zero, m), (h[1], -h[0], zero)
    if axis == 1:
        return (zero, m, zero), (-h[2], zero, h[0])
    return (m, zero, zero), (zero, h[2], -h[1])


@generic
def carry_column(
    tag: Tag, model: Buffer, i: int, f: Vector, n: Vector, out: Buffer, row: int, work: Buffer
) -> None:
    """Carry a wrench from body ``i`` to the ground; its part along each joint passed is an entry of that row of M."""
    while i > 0:
        joint_force(tag, model, i, f, n, out, row)
        o = i * WORK
        i = index(model, i * ROW + PARENT)
        if i > 0:
            R = load9(tag, work, o + ROT)
            f = mul(R, f)
            n = add(mul(R, n), cross(load3(tag, work, o + POS), f))
