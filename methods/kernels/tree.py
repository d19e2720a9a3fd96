"""The packed tree: one row of doubles per body, every one-axis joint re-framed so that its axis is +z.

Re-framing rotates the body frame by a constant A (``x_body = A x_packed``) with A z = axis. It is done once, when a
robot is prepared, so that no formulation has to handle a general axis in every state. Wrenches are given and returned
in the robot's own body axes, so the row keeps A.

Row 0 is the ground (its P slot holds gravity), row i + 1 is body i, and PARENT is a row number: every row from 1 to n
has a parent.
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
    splat3,
)
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

# Slots of a row: offset of the first number (and how many there are)
KIND, PARENT, IQ, IV = 0, 1, 2, 3
E = 4  # joint frame in the parent body's frame at zero: rotation (9), then
P = 13  # translation (3)
MASS = 16
H = 17  # first moment of mass: mass times centre of mass (3)
J = 20  # inertia about the body frame's origin (6: xx xy xz yy yz zz)
A = 26  # the re-framing (9)
LEAF = 35  # 1 if the body carries no other body
LAST = 36  # 1 if it is the last child of its parent, hence the first that an inward sweep visits
COM = 37  # centre of mass (3)
I_MAX = 40  # inertia about it as I_MAX 1 - a a^T - b b^T (`principal`): the largest principal moment,
I_AXES = 41  # a (3) and b (2, the third is zero)
SUBTREE_MASS = 46  # mass of the body and of all bodies it carries
ROOT = 47  # row of the root: the body on the path from this one to the ground whose parent is the ground
# A segment is a run of rows in which each is the parent of the next. The root is not part of it.
SEGMENT_START = 48  # first velocity of the body's segment
SEGMENT_PARENT = 49  # row of the body that carries the segment; 0 if that is the root
I_COM = 50  # inertia about the centre of mass (6)
SECOND_MOMENT = 56  # second moments of mass about the body frame's origin, tr(J)/2 1 - J (6)
ARMATURE = 62  # inertia of the joint's rotor, for kernels that eliminate joint after joint
ROTOR = 63  # 1 if it is not zero
ROW = 64

REVOLUTE, PRISMATIC, SPHERICAL, FREE = (int(kind) for kind in JointKind)
UPPER = np.triu_indices(3)  # how the six numbers of a symmetric matrix are ordered: xx xy xz yy yz zz


def axis_frame(axis: FloatArray) -> FloatArray:
    """A rotation that maps z to ``axis``; a signed permutation if the axis is a coordinate axis."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def principal(inertia: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return m, a, b with inertia = m 1 - a a^T - b b^T and b[2] = 0: rotating two vectors costs less than a matrix.

    m is the largest principal moment; a and b are in the plane of the other two principal axes.
    """
    moments, axes = np.linalg.eigh(inertia)
    a, b = ((moments[2] - moments[:2]) ** 0.5 * axes[:, :2]).T
    size = np.hypot(a[2], b[2])
    if size > 0.0:  # a rotation of a and b into each other leaves a a^T + b b^T unchanged
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
        largest, a, b = principal(about_com)
        row = rows[i + 1]
        row[KIND], row[PARENT], row[IQ], row[IV] = robot.kind[i], robot.parent[i] + 1, robot.iq[i], robot.iv[i]
        row[E : E + 9] = (parent.T @ robot.rotation[i] @ turn).ravel()
        row[P : P + 3] = parent.T @ robot.translation[i]
        row[MASS] = robot.mass[i]
        row[H : H + 3] = robot.mass[i] * com
        row[J : J + 6] = at_origin[UPPER]
        row[A : A + 9] = turn.ravel()
        row[COM : COM + 3] = com
        row[I_COM : I_COM + 6] = about_com[UPPER]
        row[SECOND_MOMENT : SECOND_MOMENT + 6] = (np.trace(at_origin) / 2 * np.eye(3) - at_origin)[UPPER]
        row[I_MAX], row[I_AXES : I_AXES + 3], row[I_AXES + 3 : I_AXES + 5] = largest, a, b[:2]
        row[ARMATURE], row[ROTOR] = robot.armature[i], robot.armature[i] > 0.0
        row[LEAF] = i not in robot.parent
        row[LAST] = robot.parent[i] not in robot.parent[i + 1 :]
        frames.append(turn)
    fill_tree_slots(rows)
    return rows.ravel()


def fill_tree_slots(rows: FloatArray) -> None:
    """Fill the slots that depend on the whole tree: subtree masses, roots and segments."""
    for i in range(len(rows) - 1, 0, -1):
        rows[i, SUBTREE_MASS] += rows[i, MASS]
        rows[int(rows[i, PARENT]), SUBTREE_MASS] += rows[i, SUBTREE_MASS]
    for i, row in enumerate(rows[1:], start=1):
        parent = int(row[PARENT])
        row[ROOT] = rows[parent, ROOT] if parent > 0 else i
        if parent == 0:
            row[SEGMENT_START] = row[IV] + axis_count(int(row[KIND]))
        elif parent == i - 1:
            row[SEGMENT_START], row[SEGMENT_PARENT] = rows[parent, SEGMENT_START], rows[parent, SEGMENT_PARENT]
        else:
            row[SEGMENT_START], row[SEGMENT_PARENT] = row[IV], parent if rows[parent, PARENT] > 0 else 0


@generic
def body_count(model: Buffer) -> int:
    return int(model.size // ROW) - 1


@generic
def kind(model: Buffer, i: int) -> int:
    """The kind of the joint of row ``i``: REVOLUTE, PRISMATIC, SPHERICAL or FREE."""
    return index(model, i * ROW + KIND)


@generic
def parent(model: Buffer, i: int) -> int:
    """The row of the parent of row ``i``; 0 is the ground."""
    return index(model, i * ROW + PARENT)


@generic
def iq(model: Buffer, i: int) -> int:
    """Where the configuration of the joint of row ``i`` begins in q."""
    return index(model, i * ROW + IQ)


@generic
def iv(model: Buffer, i: int) -> int:
    """Where the velocity of the joint of row ``i`` begins in v."""
    return index(model, i * ROW + IV)


@generic
def velocity_end(model: Buffer, i: int) -> int:
    """One past the last velocity of the joint of row ``i`` in v."""
    return iv(model, i) + axis_count(kind(model, i))


@generic
def velocity_count(model: Buffer) -> int:
    """The length nv of v."""
    return velocity_end(model, body_count(model))


@generic
def is_leaf(model: Buffer, i: int) -> bool:
    """Whether row ``i`` carries no other body."""
    return index(model, i * ROW + LEAF) == 1


@generic
def is_last_child(model: Buffer, i: int) -> bool:
    """Whether row ``i`` is the last child of its parent, hence the first that an inward sweep visits."""
    return index(model, i * ROW + LAST) == 1


@generic
def has_rotor(model: Buffer, i: int) -> bool:
    """Whether the joint of row ``i`` has an armature; if so, it is number ``i * ROW + ARMATURE`` of the model."""
    return index(model, i * ROW + ROTOR) == 1


@generic
def root(model: Buffer, i: int) -> int:
    """The row of the root that carries row ``i``."""
    return index(model, i * ROW + ROOT)


@generic
def segment_start(model: Buffer, i: int) -> int:
    """The first velocity of the segment of row ``i``."""
    return index(model, i * ROW + SEGMENT_START)


@generic
def segment_parent(model: Buffer, i: int) -> int:
    """The row that carries the segment of row ``i``; 0 if that is the root."""
    return index(model, i * ROW + SEGMENT_PARENT)


@generic
def axis_count(joint: int) -> int:
    """How many degrees of freedom a joint of this kind has."""
    if joint == SPHERICAL:
        return 3
    return 6 if joint == FREE else 1


@generic
def first_axis(joint: int) -> int:
    """The first axis of a joint of this kind, the others follow: 0 to 2 along x, y, z, 3 to 5 about them."""
    if joint == REVOLUTE:
        return 5
    if joint == PRISMATIC:
        return 2
    return 3 if joint == SPHERICAL else 0


@generic
def pose(tag: Tag, model: Buffer, i: int, q: Buffer) -> tuple[Matrix, Vector]:
    """Rotation and origin of body row ``i`` in its parent's frame: x_parent = R x + p."""
    joint = kind(model, i)
    j = iq(model, i)
    e = const9(model, i * ROW + E)
    p = const3(model, i * ROW + P)
    if joint == REVOLUTE:
        s, c = sincos(load(tag, q, j))
        return rotate_z(tag, e, s, c), splat3(tag, p)
    if joint == PRISMATIC:
        d = load(tag, q, j)
        R = splat3(tag, e[:3]) + splat3(tag, e[3:6]) + splat3(tag, e[6:])
        return R, (p[0] + e[2] * d, p[1] + e[5] * d, p[2] + e[8] * d)
    if joint == SPHERICAL:
        x = from_quaternion(load(tag, q, j), load(tag, q, j + 1), load(tag, q, j + 2), load(tag, q, j + 3))
        return matmul(e, x), splat3(tag, p)
    x = from_quaternion(load(tag, q, j + 3), load(tag, q, j + 4), load(tag, q, j + 5), load(tag, q, j + 6))
    return matmul(e, x), add(p, mul(e, load3(tag, q, j)))


@generic
def gravity(model: Buffer) -> Vector:
    return const3(model, P)


@generic
def ground_acceleration(tag: Tag, model: Buffer) -> Vector:
    """Gravity as an acceleration of the ground: an acceleration -g of everything has the effect of gravity g."""
    g = gravity(model)
    return (splat(tag, -g[0]), splat(tag, -g[1]), splat(tag, -g[2]))


@generic
def into_packed(model: Buffer, i: int, x: Vector) -> Vector:
    """A vector given in body axes, in the packed (re-framed) axes of row ``i``."""
    return mulT(const9(model, i * ROW + A), x)


@generic
def from_packed(model: Buffer, i: int, x: Vector) -> Vector:
    """A vector in the packed axes of row ``i``, in the body's own axes."""
    return mul(const9(model, i * ROW + A), x)
