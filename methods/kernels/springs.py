"""Springs and dampers between points of two bodies, as external wrenches of any tree formulation.

With d the vector from point 1 to point 2, l its length and l' = d . d' / l, the force k (l - l_0) + c l' pulls the
points together. The kernels below add these forces, at the bodies' frame origins and in body axes, to the external
wrenches and call a method's own kernel, for which ``tree_kernel`` stands (`dynbench.methods.springs` makes a copy
for each).

The model is a header with the slots of `closure`, the packed tree, one record per spring, and the method's own model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.methods.kernels import tree
from dynbench.methods.kernels.closure import (
    BODIES,
    CLOSURES,
    COUNT,
    INNER,
    METHOD,
    POS,
    ROT,
    TREE,
    WORK,
    WRENCH,
    external_wrenches,
    move,
    part,
    place,
    point,
)
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, index, sqrt
from dynbench.methods.kernels.tree import ROW, from_packed
from dynbench.methods.kernels.vectors import add, add3, const3, cross, dot, load3, load9, mul, mulT, scale, sub
from dynbench.robots.robot import FloatArray, Robot

BODY1, BODY2, POINT1, POINT2, STIFFNESS, DAMPING, REST = 0, 1, 2, 5, 8, 9, 10
RECORD = 11

tree_kernel: Any = None


def pack(robot: Robot, method: FloatArray) -> FloatArray:
    """Return header, tree, springs and the method's own model as one flat array."""
    packed = tree.pack(robot)
    frames = np.concatenate([np.eye(3)[None], packed.reshape(-1, ROW)[1:, tree.A : tree.A + 9].reshape(-1, 3, 3)])
    springs = robot.springs
    records = np.zeros((len(springs.body1), RECORD))
    for side, body, points in ((0, springs.body1, springs.point1), (1, springs.body2, springs.point2)):
        records[:, BODY1 + side] = body + 1
        records[:, POINT1 + 3 * side : POINT1 + 3 * side + 3] = np.einsum("kji,kj->ki", frames[body + 1], points)
    records[:, STIFFNESS], records[:, DAMPING] = springs.stiffness, springs.damping
    records[:, REST] = springs.rest_length
    header = np.zeros(TREE)
    header[CLOSURES] = TREE + packed.size
    header[METHOD] = header[CLOSURES] + records.size
    header[COUNT], header[BODIES] = len(records), robot.n
    header[WRENCH] = WORK * (robot.n + 1)
    header[INNER] = size(robot)
    return np.concatenate([header, packed, records.ravel(), method])


def size(robot: Robot) -> int:
    """Return how many scalars of workspace come before the method's own."""
    return WORK * (robot.n + 1) + 6 * robot.n


@generic
def state(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """A method's inverse or forward dynamics, or reactions, under the springs."""
    outer = external_wrenches(tag, model, wrench, work)
    place(tag, model, q, work)
    move(tag, model, v, work)
    add_forces(tag, model, work, outer)
    tree_kernel(tag, model[index(model, METHOD) :], q, v, a, outer, out, part(tag, model, work, INNER))


@generic
def motion(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """A quantity that forces do not change: Coriolis matrix, regressor."""
    tree_kernel(tag, model[index(model, METHOD) :], q, v, a, wrench, out, part(tag, model, work, INNER))


@generic
def configuration(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """A quantity of q alone: the mass matrix."""
    tree_kernel(tag, model[index(model, METHOD) :], q, out, part(tag, model, work, INNER))


@generic
def add_forces(tag: Tag, model: Buffer, work: Buffer, wrench: Buffer) -> None:
    """Add the springs' forces to the wrenches; the bodies move."""
    packed = model[TREE : index(model, CLOSURES)]
    for k in range(index(model, COUNT)):
        at = index(model, CLOSURES) + k * RECORD
        one, two = index(model, at + BODY1), index(model, at + BODY2)
        arm1 = mul(load9(tag, work, one * WORK + ROT), const3(model, at + POINT1))
        arm2 = mul(load9(tag, work, two * WORK + ROT), const3(model, at + POINT2))
        p1 = add(load3(tag, work, one * WORK + POS), arm1)
        p2 = add(load3(tag, work, two * WORK + POS), arm2)
        v1, _a1 = point(tag, work, one, p1)
        v2, _a2 = point(tag, work, two, p2)
        d = sub(p2, p1)
        length = sqrt(dot(d, d) + 1e-300)  # points that coincide: no direction, hence no force
        rate = dot(d, sub(v2, v1)) / length
        pull = const(model, at + STIFFNESS) * (length - const(model, at + REST)) + const(model, at + DAMPING) * rate
        f = scale(pull / length, d)  # on point 1; point 2 has the opposite
        for side in range(2):
            i = one if side == 0 else two
            sign = 1.0 if side == 0 else -1.0
            if i > 0:
                R = load9(tag, work, i * WORK + ROT)
                arm = arm1 if side == 0 else arm2
                add3(tag, wrench, 6 * i - 6, scale(sign, from_packed(packed, i, mulT(R, f))))
                add3(tag, wrench, 6 * i - 3, scale(sign, from_packed(packed, i, mulT(R, cross(arm, f)))))
