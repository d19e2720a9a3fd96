"""The paper's coordinates q = [X, Y, Z, alpha, beta, gamma] and the platform's motion in them.

The platform's rotation is R = R_y(beta) R_x(alpha) R_z(gamma), (1): gamma is about the platform's own normal. (The
prose says "about fixed X, then fixed Y, finally about Z", which would be another rotation; the equation is used.) The
angles are singular at cos alpha = 0: functions that need rates or angles raise an error at alpha = +-90 degrees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.robots.errors import StateError
from dynbench.robots.robot import FloatArray

SINGULAR = 1e-7  # smallest cos alpha


def rotation(angles: FloatArray) -> FloatArray:
    """Return R = R_y(beta) R_x(alpha) R_z(gamma), shape (..., 3, 3), for alpha, beta, gamma (..., 3): (1), (2).

    Erratum: entry (1, 2) is printed -cos(gamma) sin(gamma) + ..., it is -cos(beta) sin(gamma) + ...
    """
    (sa, sb, sg), (ca, cb, cg) = _sines(angles)
    rows = [
        [cb * cg + sa * sb * sg, -cb * sg + sa * sb * cg, ca * sb],
        [ca * sg, ca * cg, -sa],
        [-sb * cg + sa * cb * sg, sb * sg + sa * cb * cg, ca * cb],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angles(R: FloatArray) -> FloatArray:
    """Return alpha, beta, gamma (..., 3) of rotations (..., 3, 3), with cos alpha > 0.

    Raises
    ------
    StateError
        At cos alpha = 0, where beta and gamma are angles about the same axis.
    """
    cosine = np.hypot(R[..., 1, 0], R[..., 1, 1])
    _refuse(cosine)
    alpha = np.arctan2(-R[..., 1, 2], cosine)
    return np.stack([alpha, np.arctan2(R[..., 0, 2], R[..., 2, 2]), np.arctan2(R[..., 1, 0], R[..., 1, 1])], axis=-1)


def rate_matrix(angles: FloatArray) -> FloatArray:
    """Return E, shape (..., 3, 3): the angular velocity in world axes is E [alpha', beta', gamma'], (12).

    Erratum, of notation: (12) and (13) use one symbol, but (13) is the same vector in platform axes.
    """
    (sa, sb, _), (ca, cb, _) = _sines(angles)
    o, i = np.zeros_like(sa), np.ones_like(sa)
    rows = [[cb, o, sb * ca], [o, i, -sa], [-sb, o, cb * ca]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rate_matrix_rate(angles: FloatArray, rates: FloatArray) -> FloatArray:
    """Return dE/dt, shape (..., 3, 3)."""
    (sa, sb, _), (ca, cb, _) = _sines(angles)
    ad, bd, _ = np.moveaxis(rates, -1, 0)
    o = np.zeros_like(sa)
    rows = [
        [-sb * bd, o, cb * bd * ca - sb * sa * ad],
        [o, o, -ca * ad],
        [-cb * bd, o, -sb * bd * ca - cb * sa * ad],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def platform_motion(
    x: FloatArray, xd: FloatArray, xdd: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray]:
    """Return pose (R, p), twist and acceleration (linear, angular; world axes) from coordinates (..., 6)."""
    E, Ed = rate_matrix(x[..., 3:]), rate_matrix_rate(x[..., 3:], xd[..., 3:])
    w = _times(E, xd[..., 3:])
    wd = _times(E, xdd[..., 3:]) + _times(Ed, xd[..., 3:])
    twist, acceleration = np.concatenate([xd[..., :3], w], axis=-1), np.concatenate([xdd[..., :3], wd], axis=-1)
    return (rotation(x[..., 3:]), x[..., :3]), twist, acceleration


def twist_matrix(x: FloatArray) -> FloatArray:
    """Return diag(1, E), shape (..., 6, 6): the platform's twist (world axes) per rate of the coordinates.

    Raises
    ------
    StateError
        At cos alpha = 0, where rates of the angles do not give every angular velocity.
    """
    _refuse(np.cos(x[..., 3]))
    D = np.broadcast_to(np.eye(6), (*x.shape[:-1], 6, 6)).copy()
    D[..., 3:, 3:] = rate_matrix(x[..., 3:])
    return D


def _sines(angles: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
    parts = np.moveaxis(angles, -1, 0)
    return [np.sin(part) for part in parts], [np.cos(part) for part in parts]


def _times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _refuse(cosine: Any) -> None:
    if np.any(np.abs(cosine) < SINGULAR):
        raise StateError(
            "the platform's angles are singular: cos alpha = 0 (alpha = +-90 degrees), beta and gamma are angles about "
            "the same axis; use tree states and twist_mass_matrix there, which have no angles"
        )
