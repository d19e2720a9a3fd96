"""Newton-Euler in numpy's long double, one state at a time: what engines and our own methods are judged by.

Written apart from the package: it takes the numbers of a Robot and nothing else, with rotations by Rodrigues' formula.
On x86 a long double has 64 bits of mantissa, so results are right to about 1e-18 of their largest term.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.robots.joints import NV, JointKind
from dynbench.robots.robot import FloatArray, Robot

LONG = np.longdouble
Array = np.ndarray[Any, Any]


def cross(x: Array, y: Array) -> Array:
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]], dtype=LONG)


def turned(axis: Array, angle: Any) -> Array:
    """The rotation by an angle about an axis, which is made a unit vector."""
    x, y, z = axis / np.sqrt((axis * axis).sum())
    s, c = np.sin(angle), np.cos(angle)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=LONG)
    return np.eye(3, dtype=LONG) + s * K + (1 - c) * (K @ K)


def of_quaternion(q: Array) -> Array:
    """The rotation of a quaternion x, y, z, w, which is made a unit one."""
    x, y, z, w = q / np.sqrt((q * q).sum())
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=LONG)
    return np.eye(3, dtype=LONG) + 2 * w * K + 2 * (K @ K)


def inverse_dynamics(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, wrench: Any = None) -> Array:
    """Return the generalized force of one state of a tree of rigid bodies without extras, in long double."""
    q, v, a = (np.asarray(x, dtype=LONG) for x in (q, v, a))
    zero = np.zeros(3, dtype=LONG)
    # angular velocity, its derivative, acceleration of the origin; the ground has gravity upwards
    motion = {-1: (zero, zero, -robot.gravity.astype(LONG))}
    joints, needed = [], []
    for i in range(robot.n):
        kind, parent = JointKind(int(robot.kind[i])), int(robot.parent[i])
        at, j = int(robot.iq[i]), int(robot.iv[i])
        R, p = robot.rotation[i].astype(LONG), robot.translation[i].astype(LONG)
        rate, push = v[j : j + NV[kind]], a[j : j + NV[kind]]
        turn, spin, slide, shove = zero, zero, zero, zero
        if kind == JointKind.REVOLUTE:
            axis = robot.axis[i].astype(LONG)
            axis = axis / np.sqrt((axis * axis).sum())
            R, turn, spin = R @ turned(axis, q[at]), axis * rate[0], axis * push[0]
            S = np.concatenate([zero, axis])[:, None]
        elif kind == JointKind.PRISMATIC:
            axis = robot.axis[i].astype(LONG)
            axis = axis / np.sqrt((axis * axis).sum())
            p, slide, shove = p + R @ (axis * q[at]), axis * rate[0], axis * push[0]
            S = np.concatenate([axis, zero])[:, None]
        elif kind == JointKind.SPHERICAL:
            R, turn, spin = R @ of_quaternion(q[at : at + 4]), rate, push
            S = np.vstack([np.zeros((3, 3), dtype=LONG), np.eye(3, dtype=LONG)])
        else:
            p, R = p + R @ q[at : at + 3], R @ of_quaternion(q[at + 3 : at + 7])
            slide, turn, shove, spin = rate[:3], rate[3:], push[:3], push[3:]
            S = np.eye(6, dtype=LONG)
        w0, d0, acc0 = motion[parent]
        carried = R.T @ w0
        w = carried + turn
        d = R.T @ d0 + spin + cross(carried, turn)
        acc = R.T @ (acc0 + cross(d0, p) + cross(w0, cross(w0, p))) + shove
        # v of a free joint is in axes of the body, so a is the derivative of its components
        acc = acc + cross(turn, slide) + 2 * cross(carried, slide)
        motion[i] = (w, d, acc)
        m, c, I = robot.mass[i].astype(LONG), robot.com[i].astype(LONG), robot.inertia[i].astype(LONG)
        f = m * (acc + cross(d, c) + cross(w, cross(w, c)))
        n = I @ d + cross(w, I @ w) + cross(c, f)
        if wrench is not None:
            f, n = f - wrench[i, :3].astype(LONG), n - wrench[i, 3:].astype(LONG)
        needed.append((f, n))
        joints.append((R, p, S, j))
    tau = np.zeros(robot.nv, dtype=LONG)
    for i in reversed(range(robot.n)):
        (f, n), (R, p, S, j), parent = needed[i], joints[i], int(robot.parent[i])
        tau[j : j + S.shape[1]] = S.T @ np.concatenate([f, n])
        if parent >= 0:
            above = needed[parent]
            needed[parent] = (above[0] + R @ f, above[1] + R @ n + cross(p, R @ f))
    return tau
