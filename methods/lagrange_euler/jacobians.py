"""Jacobians of the bodies' centres of mass, in world axes: columns (V_s, e_s), and the rates of the axes."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store
from dynbench.methods.kernels.tree import axis_count, body_count, first_axis, iv, kind, parent, pose
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    column,
    cross,
    dot,
    identity,
    load3,
    load9,
    matmul,
    mul,
    scale,
    store3,
    store9,
    sub,
    zero3,
)

# Work rows of bodies: rotation to the world, origin and its velocity, angular velocity
ROT, X, XD, W, BODY = 0, 9, 12, 15, 18
# Work rows of joint axes, after them: axis and its rate, and linear velocity of the current body per unit rate
AXIS, RATE, V, FREEDOM = 0, 3, 6, 9


@generic
def freedom_row(model: Buffer, s: int) -> int:
    return (body_count(model) + 1) * BODY + s * FREEDOM


@generic
def place(tag: Tag, model: Buffer, q: Buffer, v: Buffer, work: Buffer) -> None:
    """Outward: poses and joint axes in the world; with ``v``, also their rates."""
    store9(tag, work, ROT, identity(tag))
    store3(tag, work, X, zero3(tag))
    store3(tag, work, XD, zero3(tag))
    store3(tag, work, W, zero3(tag))
    for i in range(1, body_count(model) + 1):
        u = parent(model, i) * BODY
        R, p = pose(tag, model, i, q)
        R_parent = load9(tag, work, u + ROT)
        R = matmul(R_parent, R)
        arm = mul(R_parent, p)
        store9(tag, work, i * BODY + ROT, R)
        store3(tag, work, i * BODY + X, add(load3(tag, work, u + X), arm))
        joint = kind(model, i)
        first = iv(model, i)
        for k in range(axis_count(joint)):
            store3(tag, work, freedom_row(model, first + k) + AXIS, column(R, (first_axis(joint) + k) % 3))
        if v is not None:
            w = load3(tag, work, u + W)
            xd = add(load3(tag, work, u + XD), cross(w, arm))
            for k in range(axis_count(joint)):
                motion = scale(load(tag, v, first + k), load3(tag, work, freedom_row(model, first + k) + AXIS))
                if first_axis(joint) + k < 3:
                    xd = add(xd, motion)
                else:
                    w = add(w, motion)
            store3(tag, work, i * BODY + XD, xd)
            store3(tag, work, i * BODY + W, w)
            # the axes are fixed in the body
            for k in range(axis_count(joint)):
                s = freedom_row(model, first + k)
                store3(tag, work, s + RATE, cross(w, load3(tag, work, s + AXIS)))


@generic
def jacobian(tag: Tag, model: Buffer, i: int, c: Vector, work: Buffer) -> None:
    """Velocity of the centre of mass of body ``i`` per unit rate of each joint axis between it and the ground."""
    # (2) V_s
    while i > 0:
        joint = kind(model, i)
        for k in range(axis_count(joint)):
            o = freedom_row(model, iv(model, i) + k)
            e = load3(tag, work, o + AXIS)
            if first_axis(joint) + k > 2:
                e = cross(e, sub(c, load3(tag, work, i * BODY + X)))
            store3(tag, work, o + V, e)
        i = parent(model, i)


@generic
def project(
    tag: Tag, model: Buffer, i: int, f: Vector, n: Vector, work: Buffer, out: Buffer, at: int, step: int
) -> None:
    """out[at + r step] += V_r . f + e_r . n for the joint axes r from joint ``i`` to the ground."""
    while i > 0:
        joint = kind(model, i)
        for k in range(axis_count(joint)):
            r = iv(model, i) + k
            o = freedom_row(model, r)
            x = load(tag, out, at + r * step) + dot(load3(tag, work, o + V), f)
            if first_axis(joint) + k > 2:
                x = x + dot(load3(tag, work, o + AXIS), n)
            store(tag, out, at + r * step, x)
        i = parent(model, i)
