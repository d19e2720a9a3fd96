"""The Gough-Stewart paper's misprinted equations, as printed: what they do to the leg forces.

Massless legs, in a few lines of numpy apart from the methods: F = H^-T W with the platform's own wrench W, and a
choice of what the platform's vertices are turned by.
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.lagrange_stewart.coordinates import platform_motion, rotation
from dynbench.robots.families.stewart_legs import require_parts
from dynbench.robots.robot import FloatArray, Robot

Motion = tuple[FloatArray, FloatArray, FloatArray]


def printed_rotation(angles: FloatArray) -> FloatArray:
    """Return (2) as printed: entry (1, 2) has cos(gamma) for cos(beta)."""
    R = rotation(angles)
    beta, gamma = angles[..., 1], angles[..., 2]
    R[..., 0, 1] += (np.cos(beta) - np.cos(gamma)) * np.sin(gamma)
    return R


def printed_determinant() -> float:
    """Return the determinant of the printed matrix at alpha, beta, gamma = 0.3, 0.4, 0.5; a rotation's is 1."""
    return float(np.linalg.det(printed_rotation(np.array([0.3, 0.4, 0.5]))))


def massless_forces(robot: Robot, motion: Motion, turn: FloatArray) -> FloatArray:
    """Return the leg forces (N, 6) with the vertices at P + turn T; ``turn`` (N, 3, 3) should be R."""
    at = require_parts(robot)
    (R, p), twist, acceleration = platform_motion(*motion)
    r = np.einsum("nij,kj->nki", turn, at.platform_points)
    leg = p[:, None] + r - at.base_points
    u = leg / np.linalg.norm(leg, axis=-1, keepdims=True)
    H = np.concatenate([u, np.cross(r, u)], axis=-1)
    inertia = R @ at.platform_inertia @ np.swapaxes(R, 1, 2)
    w, wd = twist[:, 3:], acceleration[:, 3:]
    moment = np.einsum("nij,nj->ni", inertia, wd) + np.cross(w, np.einsum("nij,nj->ni", inertia, w))
    W = np.concatenate([at.platform_mass * (acceleration[:, :3] - robot.gravity), moment], axis=1)
    return np.asarray(np.linalg.solve(np.swapaxes(H, 1, 2), W[..., None])[..., 0])


def force_error(robot: Robot, misprint: str, motion: Motion) -> float:
    """Return the largest force error (N) that a misprint causes: "rotation", entry (1, 2), or "vertex", R omitted."""
    angles = motion[0][:, 3:]
    turn = printed_rotation(angles) if misprint == "rotation" else np.broadcast_to(np.eye(3), (len(angles), 3, 3))
    right = massless_forces(robot, motion, rotation(angles))
    return float(np.abs(massless_forces(robot, motion, turn) - right).max())
