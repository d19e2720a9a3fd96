"""Mass matrix: the composite-rigid-body algorithm (Featherstone 2008, table 6.2).

Everything is expressed in the frame of the root, the body attached to the ground: M does not depend on the root's own
pose, wrenches are not rotated on the way inward, and no digits are lost far from the world's origin. Unit motions are
(angular e, linear l at the root's origin), wrenches (f, n about it).
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import about_origin, inertia_times, mul2
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load, sincos, store
from dynbench.methods.kernels.sweeps import joint_force
from dynbench.methods.kernels.tree import (
    COM,
    I_AXES,
    I_MAX,
    MASS,
    REVOLUTE,
    ROW,
    SUBTREE_MASS,
    E,
    P,
    axis_count,
    body_count,
    first_axis,
    iq,
    is_last_child,
    is_leaf,
    iv,
    kind,
    parent,
    pose,
    root,
    segment_parent,
    segment_start,
    velocity_count,
    velocity_end,
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
    identity,
    load3,
    load6,
    load9,
    mul,
    mulT,
    scale,
    store3,
    store6,
    store9,
    zero3,
)

# Rows of bodies: pose in the root's frame, first moment and inertia of the body's subtree. After them the unit motions
# of all axes, so that those of a segment are contiguous.
ROT, POS, C_H, C_J, BODY, AXIS = 0, 9, 12, 15, 21, 6
WORK = BODY + 6 * AXIS  # a body has six freedoms at most


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    bodies = body_count(model)
    nv = velocity_count(model)
    axes = work[(bodies + 1) * BODY * len(tag) :]
    turns(tag, model, q, work)
    # outward: poses, unit motions
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work, axes)
        if is_leaf(model, i):
            store3(tag, work, i * BODY + C_H, zero3(tag))
            store3(tag, work, i * BODY + C_J, zero3(tag))
            store3(tag, work, i * BODY + C_J + 3, zero3(tag))
    # inward: composites, and the force it takes to accelerate each freedom of the joint below
    for i in range(bodies, 0, -1):
        h, inertia = about_root(tag, model, i, work)
        # (6) I^c
        h = add(h, load3(tag, work, i * BODY + C_H))
        inertia = addsym(inertia, load6(tag, work, i * BODY + C_J))
        m = const(model, i * ROW + SUBTREE_MASS)
        for row in range(iv(model, i), velocity_end(model, i)):
            e = load3(tag, axes, row * AXIS)
            l = load3(tag, axes, row * AXIS + 3)
            # (7) F = I^c S
            f, n = inertia_times(m, h, inertia, l, e)
            fill_row(tag, model, i, row, nv, f, n, axes, out)
        u = parent(model, i) * BODY
        if u > 0:
            if not is_last_child(model, i):
                h = add(h, load3(tag, work, u + C_H))
                inertia = addsym(inertia, load6(tag, work, u + C_J))
            store3(tag, work, u + C_H, h)
            store6(tag, work, u + C_J, inertia)


@generic
def turns(tag: Tag, model: Buffer, q: Buffer, work: Buffer) -> None:
    """Sine and cosine of all revolute joints, stored in the slot of the rotation that `place` computes from them.

    A separate loop: in the loop of `place` the libm fallback of `sincos` would spill registers.
    """
    for i in range(1, body_count(model) + 1):
        if kind(model, i) == REVOLUTE:
            s, c = sincos(load(tag, q, iq(model, i)))
            store(tag, work, i * BODY, s)
            store(tag, work, i * BODY + 1, c)


@generic
def place(tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer, axes: Buffer) -> None:
    """Pose of body row ``i`` in its root's frame, then the unit motions of its joint.

    One row of the rotation at a time, because more would not fit in 16 registers.
    """
    u = parent(model, i) * BODY
    o = i * BODY
    if u == 0:
        store9(tag, work, o + ROT, identity(tag))
        store3(tag, work, o + POS, zero3(tag))
        unit_motions(tag, model, i, work, o, axes)
    elif kind(model, i) == REVOLUTE:
        s, c = load(tag, work, o), load(tag, work, o + 1)
        frame, p = const9(model, i * ROW + E), const3(model, i * ROW + P)
        at = iv(model, i) * AXIS
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
        unit_motions(tag, model, i, work, o, axes)


@generic
def unit_motions(tag: Tag, model: Buffer, i: int, work: Buffer, o: int, axes: Buffer) -> None:
    """Unit motions of the joint: along (axis 0 to 2) or about (3 to 5) the body's axes; its pose is in work[o:]."""
    joint = kind(model, i)
    for k in range(axis_count(joint)):
        at = (iv(model, i) + k) * AXIS
        axis = first_axis(joint) + k
        x = o + ROT + axis % 3
        e = (load(tag, work, x), load(tag, work, x + 3), load(tag, work, x + 6))
        if axis > 2:
            store3(tag, axes, at, e)
            store3(tag, axes, at + 3, cross(load3(tag, work, o + POS), e))
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
    # rotating the two vectors takes 15 multiplications, R J R^T 45
    a = mul(R, const3(model, o + I_AXES))
    b = mul2(R, (const(model, o + I_AXES + 3), const(model, o + I_AXES + 4)))
    return h, about_origin(const(model, o + I_MAX), a, b, r, h)


@generic
def fill_row(
    tag: Tag, model: Buffer, i: int, row: int, nv: int, f: Vector, n: Vector, axes: Buffer, out: Buffer
) -> None:
    """Row ``row`` of M up to the diagonal: the product of a wrench with all unit motions down to the root.

    The loop is over segments, not over parents, where each step would depend on the one before. Coordinates on other
    branches are skipped: their entries are zero (`kernels.triangle`).
    """
    # (8) H_ij = S_j^T F; in the root's frame the components of the wrench are the forces of the root's joint
    joint_force(tag, model, root(model, i), f, n, out, row * nv)
    end = row + 1
    while i > 0:
        for c in range(segment_start(model, i), end):
            x = dot(load3(tag, axes, c * AXIS), n) + dot(load3(tag, axes, c * AXIS + 3), f)
            store(tag, out, row * nv + c, x)
        i = segment_parent(model, i)
        end = velocity_end(model, i)
