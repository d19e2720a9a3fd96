"""Newton-Euler in plain numpy, one state at a time: the expected numbers, and wrong ones on purpose.

It uses no kernel and is not compiled. Each field of `Terms` is a factor of one term of the equations. At their defaults
the equations are right; a field at another value is a common mistake, and a method that gives the same wrong numbers
has made that mistake: see `mistakes`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynbench.robots.joints import JointKind
from dynbench.robots.kinematics import joint_motion, motion_subspace
from dynbench.robots.robot import FloatArray, Robot


@dataclass(frozen=True)
class Terms:
    """Factors of the terms, 1 where they are right; flags of mistakes, False where they are not made."""

    gravity: float = 1.0
    centripetal: float = 1.0  # w x (w x r)
    relative: float = 1.0  # w x (velocity in the joint): Coriolis
    gyroscopic: float = 1.0  # w x I w
    com: float = 1.0  # offset of the centre of mass
    parallel_axis: float = 1.0  # inertia from the centre of mass to the frame's origin
    lever: float = 1.0  # p x f, of a force that a body passes to its parent
    carried: float = 1.0  # the wrench that a body passes to its parent
    outward_transposed: bool = False
    inward_transposed: bool = False
    packed_transposed: bool = False  # inward, in joint axes turned to z, as kernels have them
    swapped: bool = False  # force along a revolute axis, moment about a prismatic one
    last_left_out: bool = False
    wrench: float = 1.0
    wrench_world: bool = False
    wrench_moment_first: bool = False


RIGHT = Terms()


def inverse_dynamics(
    robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None = None, by: Terms = RIGHT
) -> tuple[FloatArray, FloatArray]:
    """Return the generalized force, shape (nv,), and the wrench of each joint on its body, shape (n, 6).

    For trees of rigid bodies. ``wrench`` has shape (n, 6), or is None. The state may be complex: complex steps give
    derivatives.
    """
    kind = np.result_type(q, v, a)
    w, wd, acc = (np.zeros((robot.n + 1, 3), kind) for _ in range(3))  # the last row is the ground: its index is -1
    acc[-1] = -by.gravity * robot.gravity
    f, n = np.zeros((robot.n + 1, 3), kind), np.zeros((robot.n + 1, 3), kind)
    world = np.tile(np.eye(3, dtype=kind), (robot.n + 1, 1, 1))
    frames = [_axis_to_z(axis) if axis.any() else np.eye(3) for axis in (*robot.axis, np.zeros(3))]
    joints = []
    for i, parent in enumerate(robot.parent):  # outward: velocities, accelerations, and the wrench each body needs
        R, p, S = _joint(robot, i, q)
        here = slice(robot.iv[i], robot.iv[i] + S.shape[1])
        joints.append((R, p, S, here))
        world[i] = world[parent] @ R
        back = R if by.outward_transposed else R.T
        slide, turn = np.split(S @ v[here], 2)
        pushed, spun = np.split(S @ a[here], 2)
        before = back @ w[parent]
        w[i] = before + turn
        wd[i] = back @ wd[parent] + by.relative * cross(w[i], turn) + spun
        centre = by.centripetal * cross(w[parent], cross(w[parent], p))
        acc[i] = back @ (acc[parent] + cross(wd[parent], p) + centre) + pushed
        acc[i] += by.relative * cross(w[i] + before, slide)
        f[i], n[i] = _body(robot, i, w[i], wd[i], acc[i], by)
        if wrench is not None:
            outer = np.roll(wrench[i], 3) if by.wrench_moment_first else wrench[i]
            turned = world[i].T if by.wrench_world else np.eye(3)
            f[i] -= by.wrench * turned @ outer[:3]
            n[i] -= by.wrench * turned @ outer[3:]
    if by.last_left_out:
        f[robot.n - 1] = n[robot.n - 1] = 0.0
    tau = np.zeros(robot.nv, kind)
    for i in reversed(range(robot.n)):  # inward: each joint takes its part of the wrench and passes on the rest
        R, p, S, here = joints[i]
        one_axis = S.shape[1] == 1
        tau[here] = (np.roll(S, 3, axis=0) if by.swapped and one_axis else S).T @ np.concatenate([f[i], n[i]])
        forth = R.T if by.inward_transposed else R
        if by.packed_transposed:
            turn = frames[robot.parent[i]] @ frames[i].T
            forth = turn @ R.T @ turn
        passed = forth @ f[i]
        f[robot.parent[i]] += by.carried * passed
        n[robot.parent[i]] += by.carried * (forth @ n[i] + by.lever * cross(p, passed))
    return tau, np.concatenate([f, n], axis=1)[: robot.n]


def _joint(robot: Robot, i: int, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the pose of a body in its parent's frame and the motions of its joint; q may be complex."""
    if robot.kind[i] != JointKind.REVOLUTE:
        R, p, S = (x[0] for x in joint_motion(robot, i, q[None]))
        return R, p, S
    S, angle = motion_subspace(robot, i), q[robot.iq[i]]
    across = np.array([cross(robot.axis[i], e) for e in np.eye(3)]).T
    turn = np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * across @ across
    return robot.rotation[i] @ turn, robot.translation[i], S


def _body(
    robot: Robot, i: int, w: FloatArray, wd: FloatArray, acc: FloatArray, by: Terms
) -> tuple[FloatArray, FloatArray]:
    """Newton's and Euler's equations of one body about its frame's origin, body axes."""
    m, c, I = robot.mass[i], by.com * robot.com[i], robot.inertia[i]
    swing = cross(wd, c) + by.centripetal * cross(w, cross(w, c))
    own = I @ wd + by.gyroscopic * cross(w, I @ w)
    return m * (acc + swing), own + m * cross(c, acc + by.parallel_axis * swing)


def cross(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the cross product of two 3-vectors; numpy's own takes ten times as long."""
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])


def _axis_to_z(axis: FloatArray) -> FloatArray:
    """Return a rotation whose third column is ``axis``, with the same choice of the others as the packed kernels."""
    x = cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, cross(axis, x), axis])
