"""Regressor: the joint forces as a matrix Y times the inertial parameters of the bodies, tau = Y theta.

The ten parameters of a body, theta = (m, h, J), are its mass, first moment and inertia about the origin of its frame
(`robots.inertial` has their order), in the body's own axes. With w, w' and a_o its angular velocity, angular
acceleration and the acceleration of its origin, gravity as -g of the ground, the wrench that it requires is linear in
them:

    (41)  f = a_o m + B h,              B = w'~ + w~ w~
    (42)  n = -a_o~ h + G J,            G = L(w') + w~ L(w),    L(x) J the vector J x, J as six numbers

and a unit motion of joint j moves body i with angular velocity e and velocity l of its origin, so that one row of Y is

    (43)  Y_ji = (l . a_o,   B^T l + a_o x e,   G^T e),         j on the path from the ground to i

in axes of body i. Unit motions are placed in the frame of the root, the body on the ground that carries all of the
path (they do not depend on the root's pose), and turned to each body from there:

    (44)  e = R^T e_j,     l = R^T (l_j + e_j x r)              R, r: body i in the root's frame

The linear form is that of C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of manipulator
loads and links", Int. J. Robotics Research 5(3), 1986. Cost O(n d). External wrenches, armature, damping and friction
of joints do not enter: the regressor is of the rigid bodies alone.
"""

from __future__ import annotations

from dynbench.methods.kernels import sweeps
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, store
from dynbench.methods.kernels.sweeps import ACC, WD, W, start
from dynbench.methods.kernels.tree import (
    ROW,
    A,
    body_count,
    from_packed,
    iv,
    parent,
    pose,
    velocity_count,
    velocity_end,
)
from dynbench.methods.kernels.vectors import (
    Symmetric,
    Vector,
    acceleration_field,
    add,
    const9,
    cross,
    dot,
    dyad,
    identity,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    store3,
    store6,
    store9,
    transpose,
    zero3,
)
from dynbench.methods.newton_euler.crba import AXIS, POS, ROT, unit_motions

# Work rows: pose in the root's frame, then W, WD and ACC as in `sweeps`, all in packed axes; after all rows the unit
# motions of all axes in the root's frame, as in `crba`
BODY = ACC + 3
WORK = BODY + 6 * AXIS  # a body has six freedoms at most

PARAMETERS = 10


@generic
def regressor(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Fill Y, by rows."""
    bodies = body_count(model)
    axes = work[(bodies + 1) * BODY * len(tag) :]
    clear(tag, out, 0, velocity_count(model) * PARAMETERS * bodies)
    start(tag, model, work)
    for i in range(1, bodies + 1):
        move(tag, model, i, q, v, a, work, axes)
    for i in range(1, bodies + 1):
        fill_columns(tag, model, i, axes, out, work)


@generic
def move(
    tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, a: Buffer, work: Buffer, axes: Buffer
) -> None:
    """Outward: velocities, accelerations, and the unit motions of the joint in the frame of the root."""
    o, u = i * BODY, parent(model, i) * BODY
    R, p = pose(tag, model, i, q)
    sweeps.move(tag, model, i, v, a, R, p, work, o, u)
    if u == 0:
        store9(tag, work, o + ROT, identity(tag))
        store3(tag, work, o + POS, zero3(tag))
    else:
        outer = load9(tag, work, u + ROT)
        store9(tag, work, o + ROT, matmul(outer, R))
        store3(tag, work, o + POS, add(load3(tag, work, u + POS), mul(outer, p)))
    unit_motions(tag, model, i, work, o, axes)


@generic
def fill_columns(tag: Tag, model: Buffer, i: int, axes: Buffer, out: Buffer, work: Buffer) -> None:
    """The ten columns of a body: one row for each axis on its path to the ground."""
    o = i * BODY
    w = from_packed(model, i, load3(tag, work, o + W))
    wd = from_packed(model, i, load3(tag, work, o + WD))
    acc = from_packed(model, i, load3(tag, work, o + ACC))
    # (41) B and (42) G
    B = acceleration_field(w, wd)
    Gx, Gy, Gz = inertia_field(w, wd)
    # x_root = R x_own + r, own axes being those in which parameters are given
    R = matmul(load9(tag, work, o + ROT), transpose(const9(model, i * ROW + A)))
    r = load3(tag, work, o + POS)
    width = PARAMETERS * body_count(model)
    at = PARAMETERS * (i - 1)
    j = i
    while j > 0:
        for k in range(iv(model, j), velocity_end(model, j)):
            turn = load3(tag, axes, k * AXIS)
            # (44)
            e = mulT(R, turn)
            l = mulT(R, add(load3(tag, axes, k * AXIS + 3), cross(turn, r)))
            # (43)
            to = k * width + at
            store(tag, out, to, dot(l, acc))
            store3(tag, out, to + 1, add(mulT(B, l), cross(acc, e)))
            store6(tag, out, to + 4, combination(e, Gx, Gy, Gz))
        j = parent(model, j)


@generic
def combination(e: Vector, x: Symmetric, y: Symmetric, z: Symmetric) -> Symmetric:
    """e_x x + e_y y + e_z z, six numbers."""
    return (
        e[0] * x[0] + e[1] * y[0] + e[2] * z[0],
        e[0] * x[1] + e[1] * y[1] + e[2] * z[1],
        e[0] * x[2] + e[1] * y[2] + e[2] * z[2],
        e[0] * x[3] + e[1] * y[3] + e[2] * z[3],
        e[0] * x[4] + e[1] * y[4] + e[2] * z[4],
        e[0] * x[5] + e[1] * y[5] + e[2] * z[5],
    )


@generic
def inertia_field(w: Vector, wd: Vector) -> tuple[Symmetric, Symmetric, Symmetric]:
    """The three rows of G: G J = J w' + w x J w for J = (xx, xy, yy, xz, yz, zz)."""
    xx, xy, xz, yy, yz, zz = dyad(w)
    return (
        (wd[0], wd[1] - xz, -yz, wd[2] + xy, yy - zz, yz),
        (xz, wd[0] + yz, wd[1], zz - xx, wd[2] - xy, -xz),
        (-xy, xx - yy, xy, wd[0] - yz, wd[1] + xz, wd[2]),
    )
