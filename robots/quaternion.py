"""Unit quaternions (x, y, z, w) and the exponentials of SO(3) and SE(3), over the last axis of an array.

All formulas hold at angle zero: sines are divided by their angle with `_over`, and the two coefficients with
cancellation switch to their series (the neglected terms are below 1e-17 of the sum).
"""

import numpy as np

from dynbench.robots.arrays import FloatArray

SERIES = 0.2  # rad; below it the series, whose fifth term is then of relative size 1e-15


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the product a b: the rotation b followed, in fixed axes, by a."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def conjugate(a: FloatArray) -> FloatArray:
    """Return the inverse rotation."""
    return np.asarray(a * np.array([-1.0, -1.0, -1.0, 1.0]))


def rotate(a: FloatArray, x: FloatArray) -> FloatArray:
    """Return the vectors ``x`` (..., 3) rotated by ``a`` (..., 4)."""
    u, w = a[..., :3], a[..., 3:]
    t = 2.0 * np.cross(u, x)
    return np.asarray(x + w * t + np.cross(u, t))


def matrix(a: FloatArray) -> FloatArray:
    """Return the rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    x, y, z, w = np.moveaxis(a, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(R: FloatArray) -> FloatArray:
    """Return the unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3)."""
    xx, yy, zz = (R[..., k, k] for k in range(3))
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    # 4 a a^T; its column with the largest diagonal entry loses no digits
    rows = [[1 + xx - yy - zz, xy, xz, x], [xy, 1 - xx + yy - zz, yz, y], [xz, yz, 1 - xx - yy + zz, z]]
    rows.append([x, y, z, 1 + xx + yy + zz])
    outer = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    a = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    a = a / _length(a)
    return np.where(a[..., 3:] < 0.0, -a, a)


def exponential(w: FloatArray) -> FloatArray:
    """Return the quaternion of the rotation vector ``w`` (..., 3), radians."""
    half = 0.5 * _length(w)
    return np.concatenate([0.5 * _over(np.sin(half), half, 1.0) * w, np.cos(half)], axis=-1)


def logarithm(a: FloatArray) -> FloatArray:
    """Return the rotation vector (..., 3) of a unit quaternion, of length at most pi."""
    a = np.where(a[..., 3:] < 0.0, -a, a)  # a and -a are the same rotation; take the shorter one
    u = a[..., :3]
    s = _length(u)
    return _over(2.0 * np.arctan2(s, a[..., 3:]), s, 2.0) * u


def left_jacobian(w: FloatArray, x: FloatArray) -> FloatArray:
    """Return the displacement of an origin that moves with constant ``x`` in axes turning by ``w``.

    x + (1 - cos t)/t^2 w x x + (t - sin t)/t^3 w x (w x x), with t = |w|.
    """
    t = _length(w)
    half = 0.5 * t
    first = 0.5 * _over(np.sin(half), half, 1.0) ** 2
    series = 1 / 6 - t**2 / 120 + t**4 / 5040 - t**6 / 362880 + t**8 / 39916800
    second = np.where(t < SERIES, series, _over(t - np.sin(t), t**3, 0.0))
    wx = np.cross(w, x)
    return x + first * wx + second * np.cross(w, wx)


def left_jacobian_inverse(w: FloatArray, x: FloatArray) -> FloatArray:
    """Undo `left_jacobian`: x - w x x / 2 + (1 - t/2 cot(t/2))/t^2 w x (w x x)."""
    t = _length(w)
    half = 0.5 * t
    series = 1 / 12 + t**2 / 720 + t**4 / 30240 + t**6 / 1209600 + t**8 / 47900160
    cotangent = _over(np.cos(half), np.sin(half), 0.0)
    second = np.where(t < SERIES, series, _over(1.0 - half * cotangent, t**2, 0.0))
    wx = np.cross(w, x)
    return x - 0.5 * wx + second * np.cross(w, wx)


def _length(x: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.sum(x * x, axis=-1, keepdims=True)))


def _over(a: FloatArray, b: FloatArray, at_zero: float) -> FloatArray:
    """Return a / b, and ``at_zero`` where b is 0."""
    return np.divide(a, b, out=np.full_like(a, at_zero), where=b != 0.0)
