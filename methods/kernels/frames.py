"""Pose, Jacobian and velocity of one frame over the generic scalar: the bodies from the ground to it, and no others.

The kernels have the form "state" of `compiled`; of v and a they take what the header says, none for a pose. What is
packed is a header, the rows from the ground outward, then the tree (`tree.pack`).
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels import tree
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, index, load, store
from dynbench.methods.kernels.tree import axis_count, first_axis, iv, kind
from dynbench.methods.kernels.tree import pose as joint_pose
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    column,
    const3,
    const9,
    cross,
    identity,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    scale,
    store3,
    store9,
    sub,
    zero3,
)
from dynbench.robots.body import Frame
from dynbench.robots.robot import FloatArray, Robot

# Header: whether twists are in the frame's own axes, nv, number of rows on the way, where the tree begins; the frame's
# rotation and origin in its body
LOCAL, NV, COUNT, TREE, R, P = 0, 1, 2, 3, 4, 13
PATH = 16

WORK = 12  # per row: rotation and origin in world


def pack(robot: Robot, frame: Frame, local: bool) -> FloatArray:
    """Return header, way and tree as one flat array."""
    packed, way, i = tree.pack(robot), [], frame.body
    while i >= 0:
        way.append(i + 1.0)
        i = int(robot.parent[i])
    turn = np.eye(3)
    if frame.body >= 0:
        turn = packed.reshape(-1, tree.ROW)[frame.body + 1, tree.A : tree.A + 9].reshape(3, 3)
    place = [*(turn.T @ frame.rotation).ravel(), *(turn.T @ frame.translation)]
    return np.concatenate([[local, robot.nv, len(way), PATH + len(way)], place, way[::-1], packed])


@generic
def place(tag: Tag, model: Buffer, q: Buffer, work: Buffer) -> tuple[Matrix, Vector]:
    """Fill rotation and origin of the bodies on the way, in world; return those of the frame."""
    packed = model[index(model, TREE) :]
    outer, origin = identity(tag), zero3(tag)
    for k in range(index(model, COUNT)):
        turn, shift = joint_pose(tag, packed, index(model, PATH + k), q)
        if k == 0:
            outer, origin = turn, shift
        else:
            origin = add(origin, mul(outer, shift))
            outer = matmul(outer, turn)
        store9(tag, work, k * WORK, outer)
        store3(tag, work, k * WORK + 9, origin)
    return matmul(outer, const9(model, R)), add(origin, mul(outer, const3(model, P)))


@generic
def on_path(tag: Tag, model: Buffer, k: int, origin: Vector, work: Buffer) -> tuple[int, int, Matrix, Vector]:
    """Body ``k`` on the way: kind and first velocity of its joint, rotation, and the vector from it to ``origin``."""
    packed, i = model[index(model, TREE) :], index(model, PATH + k)
    arm = sub(origin, load3(tag, work, k * WORK + 9))
    return kind(packed, i), iv(packed, i), load9(tag, work, k * WORK), arm


@generic
def pose(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer) -> None:
    """R by rows, then p: x_world = R x_frame + p"""
    rotation, origin = place(tag, model, q, work)
    store9(tag, out, 0, rotation)
    store3(tag, out, 9, origin)


@generic
def jacobian(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """J by rows: three of linear, three of angular velocity"""
    rotation, origin = place(tag, model, q, work)
    nv = index(model, NV)
    clear(tag, out, 0, 6 * nv)
    for k in range(index(model, COUNT)):
        joint, j, outer, arm = on_path(tag, model, k, origin, work)
        for n in range(axis_count(joint)):
            axis = first_axis(joint) + n
            e = column(outer, axis % 3)
            linear = e if axis < 3 else cross(e, arm)
            if index(model, LOCAL) == 1:
                linear, e = mulT(rotation, linear), mulT(rotation, e)
            for r in range(3):
                store(tag, out, r * nv + j + n, linear[r])
                if axis >= 3:
                    store(tag, out, (r + 3) * nv + j + n, e[r])


@generic
def velocity(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """The twist J v, without J"""
    rotation, origin = place(tag, model, q, work)
    linear, angular = zero3(tag), zero3(tag)
    for k in range(index(model, COUNT)):
        joint, j, outer, arm = on_path(tag, model, k, origin, work)
        for n in range(axis_count(joint)):
            axis = first_axis(joint) + n
            e = scale(load(tag, v, j + n), column(outer, axis % 3))
            if axis < 3:
                linear = add(linear, e)
            else:
                linear = add(linear, cross(e, arm))
                angular = add(angular, e)
    if index(model, LOCAL) == 1:
        linear, angular = mulT(rotation, linear), mulT(rotation, angular)
    store3(tag, out, 0, linear)
    store3(tag, out, 3, angular)
