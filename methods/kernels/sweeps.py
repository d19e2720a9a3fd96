"""Sweeps over the tree that several formulations share.

`outward` computes velocities and accelerations from the ground to the tips and, for every body, the force and moment
that its motion requires (minus d'Alembert's inertia wrench, external wrenches subtracted). A formulation then uses
these wrenches in its own way: accumulate them inward (Newton-Euler), project them on partial velocities (Kane), ...

Work rows (one per packed row, so row 0 is the ground): all vectors in the row's own packed axes, about its origin.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.tree import (
    MASS,
    PRISMATIC,
    REVOLUTE,
    ROW,
    SPHERICAL,
    H,
    J,
    body_count,
    ground_acceleration,
    into_packed,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    const3,
    const6,
    cross,
    load3,
    mul,
    mulT,
    scale,
    store3,
    store9,
    sub,
    sym,
    zero3,
)

# Slots of a work row: offset of the first number (and how many there are)
ROT = 0  # rotation to the parent (9)
POS = 9  # origin in the parent's frame (3)
W = 12  # angular velocity (3)
WD = 15  # angular acceleration (3)
ACC = 18  # acceleration of the origin, with gravity as acceleration -g of the ground (3)
F = 21  # force (3) and
N = 24  # moment about the origin (3) on the body
WORK = 27


@generic
def outward(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer) -> None:
    """Fill the work rows: pose, velocity, acceleration, and the wrench that each body requires."""
    start(tag, model, work)
    for i in range(1, body_count(model) + 1):
        R, p = pose(tag, model, i, q)
        o = i * WORK
        store9(tag, work, o + ROT, R)
        store3(tag, work, o + POS, p)
        u = parent(model, i) * WORK
        w, wd, acc = move(tag, model, i, v, a, R, p, work, o, u)
        f, n = body_wrench(model, i, w, wd, acc)
        f, n = external(tag, model, i, wrench, f, n)
        store3(tag, work, o + F, f)
        store3(tag, work, o + N, n)


@generic
def move(
    tag: Tag, model: Buffer, i: int, v: Buffer, a: Buffer, R: Matrix, p: Vector, work: Buffer, o: int, u: int
) -> tuple[Vector, Vector, Vector]:
    """Fill and return W, WD and ACC of the work row at ``o`` from those of the parent's at ``u``."""
    w_parent = load3(tag, work, u + W)
    wd_parent = load3(tag, work, u + WD)
    # parent's motion seen at this origin, own axes
    w = mulT(R, w_parent)
    wd = mulT(R, wd_parent)
    at_origin = add(load3(tag, work, u + ACC), add(cross(wd_parent, p), cross(w_parent, cross(w_parent, p))))
    acc = mulT(R, at_origin)
    w, wd, acc = add_joint_motion(tag, model, i, v, a, w, wd, acc)
    store3(tag, work, o + W, w)
    store3(tag, work, o + WD, wd)
    store3(tag, work, o + ACC, acc)
    return w, wd, acc


@generic
def add_joint_motion(
    tag: Tag, model: Buffer, i: int, v: Buffer, a: Buffer, w: Vector, wd: Vector, acc: Vector
) -> tuple[Vector, Vector, Vector]:
    """Add the motion of the joint of row ``i`` to that of the parent, which is given at the joint in the row's axes.

    Returns angular velocity, angular acceleration and acceleration of the origin. ``a`` may be None for zero.
    """
    joint = kind(model, i)
    j = iv(model, i)
    if joint == REVOLUTE:
        rate = load(tag, v, j)
        wd = (wd[0] + w[1] * rate, wd[1] - w[0] * rate, wd[2] + given(tag, a, j))
        w = (w[0], w[1], w[2] + rate)
    elif joint == PRISMATIC:
        twice = load(tag, v, j) * 2.0
        acc = (acc[0] + w[1] * twice, acc[1] - w[0] * twice, acc[2] + given(tag, a, j))
    elif joint == SPHERICAL:
        rates = load3(tag, v, j)
        wd = add(wd, add(cross(w, rates), given3(tag, a, j)))
        w = add(w, rates)
    else:
        linear = load3(tag, v, j)
        rates = load3(tag, v, j + 3)
        # 2 w_parent x v + w_relative x v = (w_parent + w) x v
        carried = cross(add(w, add(w, rates)), linear)
        acc = add(acc, add(carried, given3(tag, a, j)))
        wd = add(wd, add(cross(w, rates), given3(tag, a, j + 3)))
        w = add(w, rates)
    return w, wd, acc


@generic
def given(tag: Tag, a: Buffer, j: int) -> Scalar:
    """Acceleration ``j``, or zero if ``a`` is None: the result is then the bias."""
    if a is None:
        return splat(tag, 0.0)
    return load(tag, a, j)


@generic
def given3(tag: Tag, a: Buffer, j: int) -> Vector:
    """Accelerations ``j`` to ``j + 2``, or zeros if ``a`` is None."""
    return (given(tag, a, j), given(tag, a, j + 1), given(tag, a, j + 2))


@generic
def start(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Fill the ground's row: at rest, with gravity as its acceleration."""
    store3(tag, work, W, zero3(tag))
    store3(tag, work, WD, zero3(tag))
    store3(tag, work, ACC, ground_acceleration(tag, model))


@generic
def body_wrench(model: Buffer, i: int, w: Vector, wd: Vector, acc: Vector) -> tuple[Vector, Vector]:
    """Newton's and Euler's equations of one body about its frame's origin."""
    o = i * ROW
    h = const3(model, o + H)
    inertia = const6(model, o + J)
    f = add(scale(const(model, o + MASS), acc), add(cross(wd, h), cross(w, cross(w, h))))
    n = add(add(sym(inertia, wd), cross(w, sym(inertia, w))), cross(h, acc))
    return f, n


@generic
def external(
    tag: Tag, model: Buffer, i: int, wrench: Buffer, f: Vector, n: Vector
) -> tuple[Vector, Vector]:
    """The wrench that the joint must supply: the required one minus the external one."""
    if wrench is not None:
        f = sub(f, into_packed(model, i, load3(tag, wrench, 6 * i - 6)))
        n = sub(n, into_packed(model, i, load3(tag, wrench, 6 * i - 3)))
    return f, n


@generic
def velocity_terms(
    tag: Tag, model: Buffer, i: int, R: Matrix, p: Vector, w_parent: Vector, v: Buffer
) -> tuple[Vector, Vector, Vector]:
    """Angular velocity, and the velocity-dependent parts of angular and origin acceleration; own axes."""
    w = mulT(R, w_parent)
    za = mulT(R, cross(w_parent, cross(w_parent, p)))
    joint = kind(model, i)
    j = iv(model, i)
    if joint == REVOLUTE:
        rate = load(tag, v, j)
        return (w[0], w[1], w[2] + rate), (w[1] * rate, -(w[0] * rate), splat(tag, 0.0)), za
    if joint == PRISMATIC:
        twice = load(tag, v, j) * 2.0
        return w, zero3(tag), (za[0] + w[1] * twice, za[1] - w[0] * twice, za[2])
    if joint == SPHERICAL:
        rates = load3(tag, v, j)
        return add(w, rates), cross(w, rates), za
    rates = load3(tag, v, j + 3)
    total = add(w, rates)
    return total, cross(w, rates), add(za, cross(add(w, total), load3(tag, v, j)))


@generic
def to_parent(R: Matrix, p: Vector, f: Vector, n: Vector) -> tuple[Vector, Vector]:
    """A force and the moment about the row's origin, in the parent's axes and about the parent's origin."""
    f = mul(R, f)
    return f, add(mul(R, n), cross(p, f))


@generic
def joint_force(tag: Tag, model: Buffer, i: int, f: Vector, n: Vector, out: Buffer, at: int) -> None:
    """Write the components of a joint's wrench along its axes, the generalized force, from out[at] on."""
    joint = kind(model, i)
    j = at + iv(model, i)
    if joint == REVOLUTE:
        store(tag, out, j, n[2])
    elif joint == PRISMATIC:
        store(tag, out, j, f[2])
    elif joint == SPHERICAL:
        store3(tag, out, j, n)
    else:
        store3(tag, out, j, f)
        store3(tag, out, j + 3, n)
