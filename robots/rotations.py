"""Rotation matrices, active: about one axis, and from roll, pitch, yaw."""

import math
from collections.abc import Sequence

import numpy as np

from dynbench.robots.arrays import FloatArray


def about_x(angle: float) -> FloatArray:
    """Return the rotation by ``angle`` (radians) about x, shape (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_z(angle: float) -> FloatArray:
    """Return the rotation by ``angle`` (radians) about z, shape (3, 3)."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def from_rpy(rpy: Sequence[float]) -> FloatArray:
    """Return Rz(yaw) Ry(pitch) Rx(roll), shape (3, 3): rotations about the fixed axes x, y, z, in radians."""
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
