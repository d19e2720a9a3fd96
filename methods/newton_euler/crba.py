"""Mass matrix: the composite-rigid-body algorithm (Featherstone 2008, table 6.2).

Everything is expressed in the frame of the root, the body that hangs on the ground: M does not depend on the root's own
pose, no wrench needs turning on its way inward, and far from the world's origin no digits are lost. Unit motions are
(angular e, linear l at the root's origin), wrenches (f, n about it).
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import about_origin, mul2
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.sweeps import joint_force
from dynbench.methods.kernels.tree import (
    COM,
    IV,
    KIND,
    LESS,
    LIMB,
    MASS,
    MOST,
    PARENT,
    ROW,
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
    """One body's mass, first moment and inertia about the root's origin."""
    o = i * ROW
    m = const(model, o + MASS)
    r = add(p, mul(R, const3(model, o + COM)))
    h = scale(m, r)
    # turning the two vectors takes 15 multiplications, R J R^T 45
    a = mul(R, const3(model, o + LESS))
    b = mul2(R, (const(model, o + LESS + 3), const(model, o + LESS + 4)))
    store(tag, work, i * BODY + C_MASS, m)
    store3(tag, work, i * BODY + C_H, h)
    store6(tag, work, i * BODY + C_J, about_origin(const(model, o + MOST), a, b, r, h))


@generic
def fill_row(
    tag: Tag, model: Buffer, i: int, row: int, nv: int, f: Vector, n: Vector, axes: Buffer, out: Buffer
) -> None:
    """Row ``row`` of M up to the diagonal: a wrench against all unit motions down to the root.

    Limb by limb, not body by body: going from parent to parent, each step would have to wait for the last. Coordinates
    on other branches are passed over: their entries are zero (`kernels.triangle`).
    """
    last = row
    while i > 0:
        head = index(model, i * ROW + LIMB)
        first = index(model, head * ROW + IV)
        i = index(model, head * ROW + PARENT)
        if i == 0:  # the root: a wrench in its own frame has its joint's forces as components
            joint_force(tag, model, head, f, n, out, row * nv)
            first += axis_count(index(model, head * ROW + KIND))
        for c in range(first, last + 1):
            x = dot(load3(tag, axes, c * AXIS), n) + dot(load3(tag, axes, c * AXIS + 3), f)
            store(tag, out, row * nv + c, x)
        last = index(model, i * ROW + IV) + axis_count(index(model, i * ROW + KIND)) - 1
