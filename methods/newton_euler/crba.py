"""Mass matrix: the composite-rigid-body algorithm (Featherstone 2008, table 6.2).

Everything is expressed in the frame of the root, the body that hangs on the ground: M does not depend on the root's own
pose, no wrench needs turning on its way inward, and far from the world's origin no digits are lost. Unit motions are
(angular e, linear l at the root's origin), wrenches (f, n about it).
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import about_origin, mul2
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, index, load, sincos, splat, store
from dynbench.methods.kernels.sweeps import joint_force
from dynbench.methods.kernels.tree import (
    COM,
    HOLD,
    IQ,
    IV,
    KIND,
    LAST,
    LEAF,
    LESS,
    LIMB,
    LOAD,
    MASS,
    MOST,
    PARENT,
    REVOLUTE,
    ROOT,
    ROW,
    E,
    P,
    axis_count,
    body_count,
    first_axis,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Symmetric,
    Vector,
    add,
    addsym,
    const3,
    const9,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    mulT,
    scale,
    store3,
    store6,
    store9,
    sym,
    zero3,
)

# Rows of bodies: pose in the root's frame; first moment and inertia of all that the body carries. Behind them the unit
# motions of all freedoms, so that those of a limb follow each other.
ROT, POS, C_H, C_J, BODY, AXIS = 0, 9, 12, 15, 21, 6
WORK = BODY + 6 * AXIS  # a body has six freedoms at most


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    bodies = body_count(model)
    nv = index(model, bodies * ROW + IV) + axis_count(index(model, bodies * ROW + KIND))
    axes = work[(bodies + 1) * BODY * len(tag) :]
    turns(tag, model, q, work)
    # outward: poses, unit motions
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work, axes)
        if index(model, i * ROW + LEAF) == 1:
            store3(tag, work, i * BODY + C_H, zero3(tag))
            store3(tag, work, i * BODY + C_J, zero3(tag))
            store3(tag, work, i * BODY + C_J + 3, zero3(tag))
    # inward: composites, and the force it takes to accelerate each freedom of the joint below
    for i in range(bodies, 0, -1):
        h, inertia = about_root(tag, model, i, work)
        h = add(h, load3(tag, work, i * BODY + C_H))
        inertia = addsym(inertia, load6(tag, work, i * BODY + C_J))
        m = const(model, i * ROW + LOAD)
        first = index(model, i * ROW + IV)
        for row in range(first, first + axis_count(index(model, i * ROW + KIND))):
            e = load3(tag, axes, row * AXIS)
            l = load3(tag, axes, row * AXIS + 3)
            f = add(scale(m, l), cross(e, h))
            n = add(sym(inertia, e), cross(h, l))
            fill_row(tag, model, i, row, nv, f, n, axes, out)
        u = index(model, i * ROW + PARENT) * BODY
        if u > 0:
            if index(model, i * ROW + LAST) == 0:
                h = add(h, load3(tag, work, u + C_H))
                inertia = addsym(inertia, load6(tag, work, u + C_J))
            store3(tag, work, u + C_H, h)
            store6(tag, work, u + C_J, inertia)


@generic
def turns(tag: Tag, model: Buffer, q: Buffer, work: Buffer) -> None:
    """Sine and cosine of all revolute joints, in the place of the rotation that `place` makes of them.

    A loop of its own: that one's body would have to wait for each, and to put aside what it has when one is large.
    """
    for i in range(1, body_count(model) + 1):
        if index(model, i * ROW + KIND) == REVOLUTE:
            s, c = sincos(load(tag, q, index(model, i * ROW + IQ)))
            store(tag, work, i * BODY, s)
            store(tag, work, i * BODY + 1, c)


@generic
def place(tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer, axes: Buffer) -> None:
    """Pose of body row ``i`` in its root's frame, a row of the rotation at a time: more would not fit 16 registers.
    Then the unit motions of its joint."""
    u = index(model, i * ROW + PARENT) * BODY
    o = i * BODY
    if u == 0:
        zero, one = splat(tag, 0.0), splat(tag, 1.0)
        store9(tag, work, o + ROT, (one, zero, zero, zero, one, zero, zero, zero, one))
        store3(tag, work, o + POS, zero3(tag))
        unit_motions(tag, model, i, work, axes)
    elif index(model, i * ROW + KIND) == REVOLUTE:
        s, c = load(tag, work, o), load(tag, work, o + 1)
        frame, p = const9(model, i * ROW + E), const3(model, i * ROW + P)
        at = index(model, i * ROW + IV) * AXIS
        for k in range(3):
            a = load3(tag, work, u + ROT + 3 * k)
            x = mulT(frame, a)
            store(tag, work, o + POS + k, load(tag, work, u + POS + k) + dot(a, p))
            store3(tag, work, o + ROT + 3 * k, (x[0] * c + x[1] * s, x[1] * c - x[0] * s, x[2]))
            store(tag, axes, at + k, x[2])
        store3(tag, axes, at + 3, cross(load3(tag, work, o + POS), load3(tag, axes, at)))
    else:
        R, p = pose(tag, model, i, q)
        for k in range(3):
            a = load3(tag, work, u + ROT + 3 * k)
            store(tag, work, o + POS + k, load(tag, work, u + POS + k) + dot(a, p))
            store3(tag, work, o + ROT + 3 * k, mulT(R, a))
        unit_motions(tag, model, i, work, axes)


@generic
def unit_motions(tag: Tag, model: Buffer, i: int, work: Buffer, axes: Buffer) -> None:
    """Unit motions of the joint's freedoms: along (axis 0 to 2) or about (3 to 5) the body's axes."""
    kind = index(model, i * ROW + KIND)
    for k in range(axis_count(kind)):
        at = (index(model, i * ROW + IV) + k) * AXIS
        axis = first_axis(kind) + k
        x = i * BODY + ROT + axis % 3
        e = (load(tag, work, x), load(tag, work, x + 3), load(tag, work, x + 6))
        if axis > 2:
            store3(tag, axes, at, e)
            store3(tag, axes, at + 3, cross(load3(tag, work, i * BODY + POS), e))
        else:
            store3(tag, axes, at, zero3(tag))
            store3(tag, axes, at + 3, e)


@generic
def about_root(tag: Tag, model: Buffer, i: int, work: Buffer) -> tuple[Vector, Symmetric]:
    """One body's first moment and inertia about the root's origin."""
    o = i * ROW
    R = load9(tag, work, i * BODY + ROT)
    r = add(load3(tag, work, i * BODY + POS), mul(R, const3(model, o + COM)))
    h = scale(const(model, o + MASS), r)
    # turning the two vectors takes 15 multiplications, R J R^T 45
    a = mul(R, const3(model, o + LESS))
    b = mul2(R, (const(model, o + LESS + 3), const(model, o + LESS + 4)))
    return h, about_origin(const(model, o + MOST), a, b, r, h)


@generic
def fill_row(
    tag: Tag, model: Buffer, i: int, row: int, nv: int, f: Vector, n: Vector, axes: Buffer, out: Buffer
) -> None:
    """Row ``row`` of M up to the diagonal: a wrench against all unit motions down to the root.

    Limb by limb, not body by body: going from parent to parent, each step would have to wait for the last. Coordinates
    on other branches are passed over: their entries are zero (`kernels.triangle`).
    """
    # a wrench in the root's frame has the forces of the root's joint as components
    joint_force(tag, model, index(model, i * ROW + ROOT), f, n, out, row * nv)
    last = row
    while i > 0:
        for c in range(index(model, i * ROW + LIMB), last + 1):
            x = dot(load3(tag, axes, c * AXIS), n) + dot(load3(tag, axes, c * AXIS + 3), f)
            store(tag, out, row * nv + c, x)
        i = index(model, i * ROW + HOLD)
        last = index(model, i * ROW + IV) + axis_count(index(model, i * ROW + KIND)) - 1
