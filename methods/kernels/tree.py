"""The packed tree: one row of doubles per body, every one-axis joint re-framed so that its axis is +z.

Re-framing turns the body frame by a constant rotation A (``x_body = A x_packed``) with A z = axis. It is done once,
when a robot is prepared, and saves the general axis in every state; all formulations get it. Wrenches come in and go
out in the robot's own body axes, so A is kept in the row.

Row 0 is the ground (its P slot holds gravity), row i + 1 is body i, and PARENT is a row number: a sweep over rows
1..n never asks whether there is a parent.
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels.scalar import Buffer, Tag, generic, index, load, sincos, splat
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    const3,
    const9,
    from_quaternion,
    load3,
    matmul,
    mul,
    mulT,
    rotate_z,
)
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

# What a row holds, by offset
KIND, PARENT, IQ, IV = 0, 1, 2, 3
E = 4  # joint frame in the parent body's frame at zero: rotation (9), then
P = 13  # translation (3)
MASS = 16
H = 17  # mass times centre of mass (3)
J = 20  # inertia about the body frame's origin (6: xx xy xz yy yz zz)
A = 26  # the re-framing (9)
LEAF = 35  # 1 if no body hangs on this one
LAST = 36  # 1 if it is the last of its parent's children, hence the first that an inward sweep meets
COM = 37  # centre of mass (3)
MOST = 40  # inertia about it as MOST 1 - a a^T - b b^T (`principal`): the largest principal moment,
LESS = 41  # a (3) and b (2, the third is zero)
LOAD = 46  # mass of the body and of all that it carries
ROOT = 47  # the row of the body on the ground that carries it
LIMB = 48  # the first coordinate of its limb, a run of rows in which each is the parent of the next; not of the root
HOLD = 49  # the row of the body that its limb hangs on; 0 if that is the root
ROW = 50

REVOLUTE, PRISMATIC, SPHERICAL, FREE = (int(kind) for kind in JointKind)


def axis_frame(axis: FloatArray) -> FloatArray:
    """A rotation that takes z to ``axis``; a signed permutation when the axis is a coordinate axis."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def principal(inertia: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return m, a, b with inertia = m 1 - a a^T - b b^T and b[2] = 0: two vectors are turned faster than a matrix.

    m is the largest principal moment; a and b lie in the plane of the other two axes, along which it is less.
    """
    moments, axes = np.linalg.eigh(inertia)
    a, b = ((moments[2] - moments[:2]) ** 0.5 * axes[:, :2]).T
    size = np.hypot(a[2], b[2])
    if size > 0.0:  # turning a and b into each other changes no sum
        a, b = (a[2] * a + b[2] * b) / size, (a[2] * b - b[2] * a) / size
        b[2] = 0.0
    return float(moments[2]), a, b


def pack(robot: Robot) -> FloatArray:
    """Return the packed tree of ``robot``, flat, ``(n + 1) * ROW`` doubles."""
    rows = np.zeros((robot.n + 1, ROW))
    rows[0, P : P + 3] = robot.gravity
    frames = [np.eye(3)]  # A of the ground and of each body
    for i in range(robot.n):
        one_axis = robot.kind[i] in (REVOLUTE, PRISMATIC)
        turn = axis_frame(robot.axis[i]) if one_axis else np.eye(3)
        parent = frames[robot.parent[i] + 1]
        com = turn.T @ robot.com[i]
        about_com = turn.T @ robot.inertia[i] @ turn
        at_origin = about_com + robot.mass[i] * (com @ com * np.eye(3) - np.outer(com, com))
        most, a, b = principal(about_com)
        row = rows[i + 1]
        row[KIND], row[PARENT], row[IQ], row[IV] = robot.kind[i], robot.parent[i] + 1, robot.iq[i], robot.iv[i]
        row[E : E + 9] = (parent.T @ robot.rotation[i] @ turn).ravel()
        row[P : P + 3] = parent.T @ robot.translation[i]
        row[MASS] = robot.mass[i]
        row[H : H + 3] = robot.mass[i] * com
        row[J : J + 6] = at_origin[np.triu_indices(3)]
        row[A : A + 9] = turn.ravel()
        row[COM : COM + 3] = com
        row[MOST], row[LESS : LESS + 3], row[LESS + 3 : LESS + 5] = most, a, b[:2]
        row[LEAF] = i not in robot.parent
        row[LAST] = robot.parent[i] not in robot.parent[i + 1 :]
        frames.append(turn)
    hang(rows)
    return rows.ravel()


def hang(rows: FloatArray) -> None:
    """Fill in what the rows say of bodies together: what each carries, and the limbs between it and the ground."""
    for i in range(len(rows) - 1, 0, -1):
        rows[i, LOAD] += rows[i, MASS]
        rows[int(rows[i, PARENT]), LOAD] += rows[i, LOAD]
    for i, row in enumerate(rows[1:], start=1):
        parent = int(row[PARENT])
        row[ROOT] = rows[parent, ROOT] if parent > 0 else i
        if parent == 0:
            row[LIMB] = row[IV] + axis_count(int(row[KIND]))
        elif parent == i - 1:
            row[LIMB], row[HOLD] = rows[parent, LIMB], rows[parent, HOLD]
        else:
            row[LIMB], row[HOLD] = row[IV], parent if rows[parent, PARENT] > 0 else 0


@generic
def body_count(model: Buffer) -> int:
    return int(model.size // ROW) - 1


@generic
def axis_count(kind: int) -> int:
    """How many freedoms a joint has."""
    if kind == SPHERICAL:
        return 3
    return 6 if kind == FREE else 1


@generic
def first_axis(kind: int) -> int:
    """The first of a joint's freedoms, counted x, y, z along (0 to 2) and about (3 to 5); the others follow it."""
    if kind == REVOLUTE:
        return 5
    if kind == PRISMATIC:
        return 2
    return 3 if kind == SPHERICAL else 0


@generic
def pose(tag: Tag, model: Buffer, i: int, q: Buffer) -> tuple[Matrix, Vector]:
    """Rotation and origin of body row ``i`` in its parent's frame: x_parent = R x + p."""
    o = i * ROW
    kind = index(model, o + KIND)
    j = index(model, o + IQ)
    e = const9(model, o + E)
    p = const3(model, o + P)
    if kind == REVOLUTE:
        s, c = sincos(load(tag, q, j))
        r = rotate_z(e, s, c)
        R = (r[0], r[1], splat(tag, e[2]), r[2], r[3], splat(tag, e[5]), r[4], r[5], splat(tag, e[8]))
        return R, (splat(tag, p[0]), splat(tag, p[1]), splat(tag, p[2]))
    if kind == PRISMATIC:
        d = load(tag, q, j)
        R = (
            splat(tag, e[0]),
            splat(tag, e[1]),
            splat(tag, e[2]),
            splat(tag, e[3]),
            splat(tag, e[4]),
            splat(tag, e[5]),
            splat(tag, e[6]),
            splat(tag, e[7]),
            splat(tag, e[8]),
        )
        return R, (p[0] + e[2] * d, p[1] + e[5] * d, p[2] + e[8] * d)
    if kind == SPHERICAL:
        x = from_quaternion(load(tag, q, j), load(tag, q, j + 1), load(tag, q, j + 2), load(tag, q, j + 3))
        return matmul(e, x), (splat(tag, p[0]), splat(tag, p[1]), splat(tag, p[2]))
    x = from_quaternion(load(tag, q, j + 3), load(tag, q, j + 4), load(tag, q, j + 5), load(tag, q, j + 6))
    return matmul(e, x), add(p, mul(e, load3(tag, q, j)))


@generic
def gravity(model: Buffer) -> Vector:
    return const3(model, P)


@generic
def into_packed(model: Buffer, i: int, x: Vector) -> Vector:
    """A vector given in body axes, in the packed (re-framed) axes of row ``i``."""
    return mulT(const9(model, i * ROW + A), x)


@generic
def from_packed(model: Buffer, i: int, x: Vector) -> Vector:
    """A vector in the packed axes of row ``i``, in the body's own axes."""
    return mul(const9(model, i * ROW + A), x)
