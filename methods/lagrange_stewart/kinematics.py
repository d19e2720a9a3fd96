"""Kinematics of the Gough-Stewart platform in numpy: leg lengths (3), (4), Jacobians (5) to (8), and their inversion.

For one pose or a batch. The kernels compute the same equations themselves and do not call these functions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import quaternion
from dynbench.robots.errors import StateError
from dynbench.robots.families.stewart_legs import StewartParts, check_legs
from dynbench.robots.robot import FloatArray, Robot

SINGULAR = 1e-9  # smallest singular value of H, moments divided by the platform's size
ITERATIONS = 40
CLOSE = 1e-13  # error of the lengths, in base radii, at which Newton's iteration ends
ACCEPTED = 1e-9  # largest error that is accepted when the iteration makes no more progress


def arms_and_legs(at: StewartParts, R: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return r_i = R T_i and L_i u_i = P + r_i - B_i, shapes (..., 6, 3): (3), (4), (20), (21).

    Erratum: (3), (25) and (26) use one symbol for T_j and R T_j.
    """
    r = np.einsum("...ij,kj->...ki", R, at.platform_points)
    return r, p[..., None, :] + r - at.base_points


def leg_lengths(robot: Robot, at: StewartParts, R: FloatArray, p: FloatArray) -> FloatArray:
    """Return the six lengths (4), shape (..., 6): inverse kinematics. For a singular leg, raise a StateError."""
    _, legs = arms_and_legs(at, R, p)
    check_legs(robot, at, legs.reshape(-1, 6, 3))
    return np.asarray(np.linalg.norm(legs, axis=-1))


def twist_jacobian(at: StewartParts, R: FloatArray, p: FloatArray) -> FloatArray:
    """Return H, shape (..., 6, 6): length rates per platform twist, [u_i, r_i x u_i] by rows; J (8) is H diag(1, E)."""
    r, legs = arms_and_legs(at, R, p)
    u = legs / np.linalg.norm(legs, axis=-1, keepdims=True)
    return np.concatenate([u, np.cross(r, u)], axis=-1)


def vertex_jacobians(at: StewartParts, R: FloatArray, p: FloatArray, E: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the paper's factors for one pose: J1 (6, 18) of (5) and J2 (18, 6) of (6); L' = J1 J2 q' = J q', (7), (8).

    There is one block of three columns per leg. The paper has nine columns, one block per vertex: with two legs on a
    vertex, its columns are sums of pairs of these.
    """
    r, legs = arms_and_legs(at, R, p)
    u = legs / np.linalg.norm(legs, axis=-1, keepdims=True)
    J1 = np.zeros((6, 18))
    J2 = np.zeros((18, 6))
    for i in range(6):
        J1[i, 3 * i : 3 * i + 3] = u[i]
        J2[3 * i : 3 * i + 3, :3] = np.eye(3)
        J2[3 * i : 3 * i + 3, 3:] = np.cross(E.T, r[i]).T  # (w x r) for the three columns w of E: -[r] E
    return J1, J2


def smallest_singular_value(at: StewartParts, H: FloatArray) -> FloatArray:
    """Return the smallest singular value of H (..., 6, 6), moments divided by the platform's size: dimensionless."""
    size = np.sqrt((at.platform_points**2).sum(axis=1).mean())
    scaled = H / np.array([1.0, 1.0, 1.0, size, size, size])
    return np.asarray(np.linalg.svd(scaled, compute_uv=False)[..., -1])


def forward_kinematics(
    robot: Robot, at: StewartParts, lengths: ArrayLike, guess: tuple[ArrayLike, ArrayLike]
) -> tuple[FloatArray, FloatArray]:
    """Return the pose (R, p) near ``guess`` that has the given leg lengths (6,), by Newton's iteration on the twist.

    Raises
    ------
    StateError
        If the iteration does not converge: the lengths are impossible, the guess is too far, or the pose is singular.
    """
    target = np.asarray(lengths, dtype=np.float64)
    if target.shape != (6,) or not np.isfinite(target).all() or target.min() <= 0.0:
        raise StateError(f"lengths are {target.tolist()}, robot {robot.name!r} needs six positive numbers, metres")
    R, p = (np.array(x, dtype=np.float64) for x in guess)
    reach = float(np.linalg.norm(at.base_points - at.base_points.mean(axis=0), axis=1).max())
    best = np.inf
    for k in range(ITERATIONS):
        error = target - leg_lengths(robot, at, R, p)
        worst = float(np.abs(error).max())
        if worst <= CLOSE * reach or (worst <= ACCEPTED * reach and worst >= best):
            return R, p
        best = min(best, worst)
        H = twist_jacobian(at, R, p)
        if smallest_singular_value(at, H) < SINGULAR:
            raise StateError(
                f"forward kinematics of robot {robot.name!r} reached a singular pose in step {k} (p = {p.tolist()}), "
                f"with an error of {worst:.3g} m in the leg lengths; try another guess"
            )
        step: FloatArray = np.asarray(np.linalg.solve(H, error), dtype=np.float64)
        # limit a step to a fifth of the base radius and 0.3 rad: far from the solution Newton's steps are too large
        step /= max(1.0, float(np.abs(step[:3]).max()) / (0.2 * reach), float(np.abs(step[3:]).max()) / 0.3)
        p = p + step[:3]
        R = quaternion.matrix(quaternion.exponential(step[3:])) @ R
    raise StateError(
        f"forward kinematics of robot {robot.name!r} did not converge in {ITERATIONS} steps: leg lengths "
        f"{target.tolist()} are missed by at least {best:.3g} m; expected reachable lengths, or a closer guess"
    )
