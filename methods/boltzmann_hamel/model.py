"""The robot as the paper sees it: the packed tree with centres of mass, and an order in which subtrees are contiguous.

The rows are those of `kernels.tree`. Their slots COM and I_COM hold what the paper calls R_i, the vector from the joint
to the centre of mass, and I_i, the inertia about the centre of mass. The paper's r_{i-1}, from the parent's centre of
mass to the joint, is P_i - R_{i-1}, since P is measured from the parent's joint. After the rows come three lists:

    ORDER   rows in depth-first order, so that a row is followed by its subtree
    FIRST   the position of a row in that order, and
    LAST    the position of the last row of its subtree
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels import tree
from dynbench.methods.kernels.scalar import Buffer, generic, index
from dynbench.methods.kernels.tree import COM, ROW, P, parent, velocity_end
from dynbench.methods.kernels.vectors import Vector, const3, sub
from dynbench.robots.robot import FloatArray, IntArray, Robot

LISTS = 3


def pack(robot: Robot) -> FloatArray:
    """Return rows and lists as one flat array, ``(n + 1) * (ROW + LISTS)`` doubles."""
    return np.concatenate([tree.pack(robot), depth_first(robot).ravel()])


def depth_first(robot: Robot) -> IntArray:
    """Return ORDER, FIRST and LAST of all rows, the ground's included, shape (LISTS, n + 1)."""
    carried: list[list[int]] = [[] for _ in range(robot.n + 1)]
    for i, carrier in enumerate(robot.parent):
        carried[carrier + 1].append(i + 1)
    order: list[int] = []
    waiting = [0]
    while waiting:
        row = waiting.pop()
        order.append(row)
        waiting += reversed(carried[row])
    first = np.argsort(order)
    last = first.copy()
    for row in reversed(order[1:]):
        carrier = robot.parent[row - 1] + 1
        last[carrier] = max(last[carrier], last[row])
    return np.array([order, first, last], dtype=np.int64)


@generic
def body_count(model: Buffer) -> int:
    return int(model.size // (ROW + LISTS)) - 1


@generic
def velocity_count(model: Buffer) -> int:
    return velocity_end(model, body_count(model))


@generic
def visited(model: Buffer, k: int) -> int:
    """The row at position ``k`` of the depth-first order."""
    return index(model, (body_count(model) + 1) * ROW + k)


@generic
def first_place(model: Buffer, i: int) -> int:
    """The position of row ``i`` in the depth-first order."""
    return index(model, (body_count(model) + 1) * (ROW + 1) + i)


@generic
def last_place(model: Buffer, i: int) -> int:
    """The position of the last row of the subtree of row ``i``."""
    return index(model, (body_count(model) + 1) * (ROW + 2) + i)


@generic
def com_to_joint(model: Buffer, i: int) -> Vector:
    """r_{i-1}: from the parent's centre of mass to the joint of row ``i``, parent's axes."""
    return sub(const3(model, i * ROW + P), const3(model, parent(model, i) * ROW + COM))

