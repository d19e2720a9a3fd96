"""The packed robot: joint screws, poses and inertias in the zero configuration, (2) of the package's docstring.

Row 0 is the ground, whose SCREW slot has gravity; row i + 1 is body i, and PARENT is a row. Vectors are in world axes,
from the zero position of the root's origin.
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels import tree
from dynbench.methods.kernels.scalar import Buffer, generic, index, with_globals
from dynbench.methods.kernels.tree import IQ, IV, KIND, PARENT, PRISMATIC, REVOLUTE, axis_count, principal
from dynbench.robots import kinematics
from dynbench.robots.robot import FloatArray, Robot

# What a row holds, by offset, after KIND, PARENT, IQ and IV of the packed tree
SCREW = 4  # eta (3), omega (3) of a joint with one axis
HOME = 10  # rotation (9) and origin (3) of the body frame at zero
MASS = 22
COM = 23  # centre of mass at zero (3)
I_MAX, I_AXES = 26, 27  # inertia about it, I_MAX 1 - a a^T - b b^T: a (3), b (3)
# A run is a series of rows in which each is the parent of the next
RUN, CARRIER = 33, 34  # the first velocity of the row's run, and the row that carries the run
ROW = 35


def pack(robot: Robot) -> FloatArray:
    """Return the robot's numbers as one flat array, (n + 1) ROW doubles."""
    rows = np.zeros((robot.n + 1, ROW))
    rows[0, SCREW : SCREW + 3] = robot.gravity
    R, p = kinematics.poses(robot, robot.neutral())
    start = np.zeros_like(p)  # where the root of each body is
    for i in range(robot.n):
        parent = int(robot.parent[i])
        start[i] = p[i] if parent < 0 else start[parent]
        axis, at, row = R[i] @ robot.axis[i], p[i] - start[i], rows[i + 1]
        row[KIND], row[PARENT], row[IQ], row[IV] = robot.kind[i], parent + 1, robot.iq[i], robot.iv[i]
        # (2) Y = Ad(H) S
        if robot.kind[i] == REVOLUTE:
            row[SCREW : SCREW + 6] = *np.cross(at, axis), *axis
        elif robot.kind[i] == PRISMATIC:
            row[SCREW : SCREW + 3] = axis
        row[HOME : HOME + 9], row[HOME + 9 : HOME + 12] = R[i].ravel(), at
        row[MASS] = robot.mass[i]
        row[COM : COM + 3] = at + R[i] @ robot.com[i]
        begins = parent < 0 or parent + 1 != i
        row[RUN], row[CARRIER] = (robot.iv[i], parent + 1) if begins else (rows[i, RUN], rows[i, CARRIER])
        row[I_MAX], row[I_AXES : I_AXES + 3], row[I_AXES + 3 : I_AXES + 6] = principal(R[i] @ robot.inertia[i] @ R[i].T)
    return rows.ravel()


# Rows begin as those of the packed tree do: its accessors, with the length of these rows
_accessors = (tree.body_count, tree.kind, tree.parent, tree.iv)
body_count, kind, parent, iv = (
    generic(with_globals(accessor, f"{__name__}.{accessor.__name__}", __name__, {"ROW": ROW}))
    for accessor in _accessors
)


@generic
def freedoms(model: Buffer, i: int) -> int:
    """How many degrees of freedom the joint of row i has."""
    return axis_count(kind(model, i))


@generic
def run_start(model: Buffer, i: int) -> int:
    """The first velocity of the run of row i."""
    return index(model, i * ROW + RUN)


@generic
def carrier(model: Buffer, i: int) -> int:
    """The row that carries the run of row i; 0 is the ground."""
    return index(model, i * ROW + CARRIER)
