"""From velocities to rates of coordinates: dq/dt of every joint at once, for one state or a batch.

Quaternions turn by q' = 1/2 q * omega with omega in child axes, the origin of a free joint moves by R v, others add.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dynbench.robots import quaternion
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot


class Places(NamedTuple):
    """Where in q and in v the joints are that turn by a quaternion, and all others."""

    plain_q: IntArray  # (k,)
    plain_v: IntArray
    turn_q: IntArray  # (m, 4) quaternions
    turn_v: IntArray  # (m, 3) their angular velocities
    free: IntArray  # (f,) which of these belong to a free joint; its position and velocity come right before


def rates(robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return dq/dt, shape of q; unit quaternions assumed."""
    if robot.nq == robot.nv:
        return v
    at = _places(robot)
    qd = np.empty(q.shape)
    qd[..., at.plain_q] = v[..., at.plain_v]
    turns = q[..., at.turn_q]
    spin = np.zeros(turns.shape)
    spin[..., :3] = v[..., at.turn_v]
    qd[..., at.turn_q] = 0.5 * quaternion.multiply(turns, spin)
    if len(at.free):
        moved = quaternion.rotate(turns[..., at.free, :], v[..., at.turn_v[at.free] - 3])
        qd[..., at.turn_q[at.free][:, :3] - 3] = moved
    return qd


@lru_cache(maxsize=64)
def _places(robot: Robot) -> Places:
    starts = np.array([start for start, _ in robot.quaternions], dtype=np.int64)
    bodies = np.array([body for _, body in robot.quaternions], dtype=np.int64)
    is_free = robot.kind[bodies] == JointKind.FREE
    turn_q = starts[:, None] + np.arange(4)
    turn_v = (robot.iv[bodies] + 3 * is_free)[:, None] + np.arange(3)
    free = np.flatnonzero(is_free)
    taken_q = np.concatenate([turn_q.ravel(), (turn_q[free][:, :3] - 3).ravel()])
    taken_v = np.concatenate([turn_v.ravel(), (turn_v[free] - 3).ravel()])
    plain_q, plain_v = np.setdiff1d(np.arange(robot.nq), taken_q), np.setdiff1d(np.arange(robot.nv), taken_v)
    return Places(plain_q, plain_v, turn_q, turn_v, free)
