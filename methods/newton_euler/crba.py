"""Mass matrix: the composite-rigid-body algorithm (Featherstone 2008, table 6.2).

Everything is expressed in the frame of the root, the body that hangs on the ground: M does not depend on the root's own
pose, no wrench needs turning on its way inward, and far from the world's origin no digits are lost. Unit motions are
(angular e, linear l at the root's origin), wrenches (f, n about it).
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import shifted_inertia, shifted_moment
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.tree import (
    IV,
    KIND,
    LIMB,
    MASS,
    PARENT,
    ROW,
    H,
    J,
    axis_count,
    body_count,
    first_axis,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    add3,
    addsym,
    const3,
    const6,
    cross,
    dot,
    load3,
    load6,
    load9,
    matmul,
    mul,
    scale,
    store3,
    store6,
    store9,
    sym,
    zero3,
)

# Rows of bodies: pose in the root's frame; the composite body's mass, first moment, inertia. Behind them the unit
# motions of all freedoms, so that those of a limb follow each other.
ROT, POS, C_MASS, C_H, C_J, BODY, AXIS = 0, 9, 12, 13, 16, 22, 6
WORK = BODY + 6 * AXIS  # a body has six freedoms at most


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    bodies = body_count(model)
    nv = index(model, bodies * ROW + IV) + axis_count(index(model, bodies * ROW + KIND))
    axes = work[(bodies + 1) * BODY * len(tag) :]
    # outward: poses, unit motions, every body as the first part of its composite
    for i in range(1, bodies + 1):
        R, p = root_pose(tag, model, i, q, work)
        store9(tag, work, i * BODY + ROT, R)
        store3(tag, work, i * BODY + POS, p)
        unit_motions(tag, model, i, R, p, axes)
        start_composite(tag, model, i, R, p, work)
    # inward: composites, and the force it takes to accelerate each freedom of the joint below
    for i in range(bodies, 0, -1):
        o = i * BODY
        m = load(tag, work, o + C_MASS)
        h = load3(tag, work, o + C_H)
        inertia = load6(tag, work, o + C_J)
        first = index(model, i * ROW + IV)
        for row in range(first, first + axis_count(index(model, i * ROW + KIND))):
            e = load3(tag, axes, row * AXIS)
            l = load3(tag, axes, row * AXIS + 3)
            f = add(scale(m, l), cross(e, h))
            n = add(sym(inertia, e), cross(h, l))
            fill_row(tag, model, i, row, nv, f, n, axes, out)
        u = index(model, i * ROW + PARENT) * BODY
        if u > 0:
            store(tag, work, u + C_MASS, load(tag, work, u + C_MASS) + m)
            add3(tag, work, u + C_H, h)
            store6(tag, work, u + C_J, addsym(load6(tag, work, u + C_J), inertia))


@generic
def root_pose(tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer) -> tuple[Matrix, Vector]:
    """Pose of body row ``i`` in its root's frame."""
    u = index(model, i * ROW + PARENT) * BODY
    if u == 0:
        zero, one = splat(tag, 0.0), splat(tag, 1.0)
        return (one, zero, zero, zero, one, zero, zero, zero, one), zero3(tag)
    R, p = pose(tag, model, i, q)
    above = load9(tag, work, u + ROT)
    return matmul(above, R), add(load3(tag, work, u + POS), mul(above, p))


@generic
def unit_motions(tag: Tag, model: Buffer, i: int, R: Matrix, p: Vector, axes: Buffer) -> None:
    """Unit motions of the joint's freedoms: along (axis 0 to 2) or about (3 to 5) the body's axes."""
    kind = index(model, i * ROW + KIND)
    for k in range(axis_count(kind)):
        at = (index(model, i * ROW + IV) + k) * AXIS
        axis = first_axis(kind) + k
        e = zero3(tag)
        if axis == 0 or axis == 3:
            l = (R[0], R[3], R[6])
        elif axis == 1 or axis == 4:
            l = (R[1], R[4], R[7])
        else:
            l = (R[2], R[5], R[8])
        if axis > 2:
            e = l
            l = cross(p, e)
        store3(tag, axes, at, e)
        store3(tag, axes, at + 3, l)


@generic
def start_composite(tag: Tag, model: Buffer, i: int, R: Matrix, p: Vector, work: Buffer) -> None:
    m = const(model, i * ROW + MASS)
    h = mul(R, const3(model, i * ROW + H))
    inertia = const6(model, i * ROW + J)
    store(tag, work, i * BODY + C_MASS, m)
    store3(tag, work, i * BODY + C_H, shifted_moment(m, h, p))
    store6(tag, work, i * BODY + C_J, shifted_inertia(R, inertia, m, h, p))


@generic
def fill_row(
    tag: Tag, model: Buffer, i: int, row: int, nv: int, f: Vector, n: Vector, axes: Buffer, out: Buffer
) -> None:
    """Row ``row`` of M up to the diagonal, and its mirror image: a wrench against all unit motions down to the root.

    Limb by limb, not body by body: going from parent to parent, each step would have to wait for the last.
    """
    last = row
    while i > 0:
        head = index(model, i * ROW + LIMB)
        first = index(model, head * ROW + IV)
        for c in range(first, last + 1):
            x = dot(load3(tag, axes, c * AXIS), n) + dot(load3(tag, axes, c * AXIS + 3), f)
            store(tag, out, row * nv + c, x)
            store(tag, out, c * nv + row, x)
        i = index(model, head * ROW + PARENT)
        last = -1
        if i > 0:
            last = index(model, i * ROW + IV) + axis_count(index(model, i * ROW + KIND)) - 1
        for c in range(last + 1, first):  # coordinates on other branches
            store(tag, out, row * nv + c, splat(tag, 0.0))
            store(tag, out, c * nv + row, splat(tag, 0.0))
