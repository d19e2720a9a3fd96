"""Recognition of Gough-Stewart platforms, and the legs' motion for a given motion of the platform.

`parts` is the inverse of `gough_stewart`: it returns points, masses and inertias from the arrays of a Robot, or the
reason why the robot is not such a platform. `platform_state` is the closed-form inverse kinematics of the
universal-prismatic legs: tree states (q, v, a) that satisfy the loops, from leg lengths and angles, without iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import quaternion
from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.errors import RobotError, StateError
from dynbench.robots.families.gough_stewart import DEGENERATE, LEGS, leg_coordinates, singular_legs, spread
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import Robot

TOLERANCE = 1e-9  # on axes and offsets, when a robot's structure is compared

BALL = (1, 1, 1, 0, 0, 0)
R, P, F = JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FREE


class StewartParts(NamedTuple):
    """The parameters of a Gough-Stewart platform; legs in the order of the actuators."""

    platform: int  # body index
    cross: IntArray  # (6,) body indices
    lower: IntArray
    upper: IntArray
    base_points: FloatArray  # (6, 3) world
    platform_points: FloatArray  # (6, 3) platform frame
    frame: FloatArray  # (6, 3, 3) R0: the universal joint's frame at zero, third column the first axis s
    platform_mass: float
    platform_inertia: FloatArray  # (3, 3)
    lower_mass: FloatArray  # (6,)
    upper_mass: FloatArray
    lower_com: FloatArray  # (6,) from the base joint along u
    upper_com: FloatArray  # (6,) back from the platform joint
    lower_inertia: FloatArray  # (6, 3, 3) about the com, leg axes
    upper_inertia: FloatArray


def parts(robot: Robot) -> StewartParts | str:
    """Return the parts of a Gough-Stewart platform as built by `gough_stewart`, or the reason why ``robot`` is none."""
    if robot.has_couplings:
        return "it has joints that follow others"
    if robot.n != 3 * LEGS + 1 or len(robot.loops.body1) != LEGS or len(robot.actuated) != LEGS:
        return (
            f"it has {robot.n} bodies, {len(robot.loops.body1)} loops and {len(robot.actuated)} actuators; a "
            "Gough-Stewart platform has 19 bodies, 6 loops and 6 actuators"
        )
    free = np.flatnonzero((robot.kind == F) & (robot.parent == -1))
    if len(free) != 1:
        return f"it has {len(free)} free bodies on the ground, expected one, the platform"
    platform = int(free[0])
    if not (_near(robot.rotation[platform], np.eye(3)) and _near(robot.translation[platform], 0.0)):
        return "the platform's free joint is not placed at the world's origin"
    if not _near(robot.com[platform], 0.0):
        return "the platform's frame is not at its centre of mass"
    body_of = {int(robot.iv[i]): i for i in range(robot.n)}
    upper = np.array([body_of.get(int(k), -1) for k in robot.actuated])
    lower = robot.parent[upper]
    cross = np.where(lower >= 0, robot.parent[lower], -1)
    for i in range(LEGS):
        reason = _leg_differs(robot, int(cross[i]), int(lower[i]), int(upper[i]))
        if reason:
            return f"the leg of actuator {i + 1} {reason}"
    points = np.empty((LEGS, 3))
    for i in range(LEGS):
        point = _ball_point(robot, int(upper[i]), platform)
        if point is None:
            return f"the leg of actuator {i + 1} does not end in a ball joint on the platform"
        points[i] = point
    return StewartParts(
        platform, cross, lower, upper,
        robot.translation[cross], points, robot.rotation[cross],
        float(robot.mass[platform]), robot.inertia[platform],
        robot.mass[lower], robot.mass[upper], robot.com[lower, 1], -robot.com[upper, 1],
        robot.inertia[lower], robot.inertia[upper],
    )  # fmt: skip


def _leg_differs(robot: Robot, cross: int, lower: int, upper: int) -> str | None:
    """Return the reason why three bodies are not such a leg, None if they are."""
    chain = [upper, lower, cross]
    if min(chain) < 0 or [robot.kind[i] for i in chain] != [P, R, R] or robot.parent[cross] != -1:
        return "is not ground, revolute, revolute, actuated prismatic"
    if not (_near(robot.axis[chain], [[0, 1, 0], [1, 0, 0], [0, 0, 1]])):
        return "does not have its axes along z, x, y of the leg"
    if not (_near(robot.translation[[lower, upper]], 0.0) and _near(robot.rotation[[lower, upper]], np.eye(3))):
        return "has an offset or a turn between its joints"
    if robot.mass[cross] > 0.0 or robot.inertia[cross].any():
        return "has a body with mass between the axes of its universal joint"
    if not _near(robot.com[[lower, upper]][:, [0, 2]], 0.0):
        return "has a centre of mass off its line"
    return None


def _ball_point(robot: Robot, upper: int, platform: int) -> FloatArray | None:
    """Return the platform point (platform frame) where a leg's tip, the origin of ``upper``, is held."""
    loops = robot.loops
    for k in range(len(loops.body1)):
        if tuple(loops.rows[k]) != BALL:
            continue
        ends = {int(loops.body1[k]): loops.translation1[k], int(loops.body2[k]): loops.translation2[k]}
        if set(ends) == {upper, platform} and _near(ends[upper], 0.0):
            return np.asarray(ends[platform])
    return None


def _near(value: FloatArray, expected: ArrayLike) -> bool:
    return bool(np.abs(value - np.asarray(expected)).max() <= TOLERANCE)


def require_parts(robot: Robot) -> StewartParts:
    """Return `parts`, or raise a RobotError with the reason."""
    found = parts(robot)
    if isinstance(found, str):
        raise RobotError(f"robot {robot.name!r} is not a Gough-Stewart platform: {found}")
    return found


def check_legs(robot: Robot, at: StewartParts, leg: FloatArray) -> None:
    """Raise a StateError that names the leg if one has no length or lies along its first universal axis.

    Parameters
    ----------
    leg : ndarray, shape (N, 6, 3)
        From base joint to platform joint, world axes.
    """
    length = np.linalg.norm(leg, axis=-1)
    off_axis = np.linalg.norm(np.cross(leg, at.frame[:, :, 2]), axis=-1)
    size = spread(at.base_points)
    for state in np.flatnonzero(((length <= DEGENERATE * size) | (off_axis <= DEGENERATE * length)).any(axis=1)):
        for i, reason in singular_legs(at.frame, leg[state], size):
            raise StateError(f"leg {i + 1} of robot {robot.name!r} {reason}, in state {state}; expected a regular pose")


def platform_state(
    robot: Robot,
    pose: tuple[ArrayLike, ArrayLike],
    twist: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the tree state (q, v, a) of a Gough-Stewart platform whose platform moves as given.

    Parameters
    ----------
    pose : (R, p), shapes (3, 3) and (3,), or (N, 3, 3) and (N, 3)
        Of the platform (its centre of mass) in the world.
    twist, acceleration : array_like, shape (6,) or (N, 6)
        Linear, then angular, of the platform's centre of mass, world axes; default zero.

    Returns
    -------
    q, v, a : ndarray, shapes (nq,), (nv,), (nv,), or (N, ...)

    Raises
    ------
    StateError
        If a leg has no length or lies along its first universal axis; names the leg.
    """
    at = require_parts(robot)
    rotation, position = (np.asarray(x, dtype=np.float64) for x in pose)
    single = position.ndim == 1
    rotation, position = rotation.reshape(-1, 3, 3), np.atleast_2d(position)
    N = len(position)
    still = np.zeros((N, 6))
    t = still if twist is None else np.broadcast_to(np.atleast_2d(np.asarray(twist, dtype=np.float64)), (N, 6))
    b = still if acceleration is None else np.broadcast_to(np.atleast_2d(np.asarray(acceleration, float)), (N, 6))
    linear, w, acc, alpha = t[:, :3], t[:, 3:], b[:, :3], b[:, 3:]

    # the platform joints, world axes
    r = np.einsum("nij,kj->nki", rotation, at.platform_points)
    leg = position[:, None] + r - at.base_points
    check_legs(robot, at, leg)
    turned = np.cross(w[:, None], r)
    VT = linear[:, None] + turned
    AT = acc[:, None] + np.cross(alpha[:, None], r) + np.cross(w[:, None], turned)

    # lengths and universal-joint angles, then everything in leg axes, where the leg is along y
    first, second, length = leg_coordinates(at.frame, leg)
    s1, c1, s2, c2 = np.sin(first), np.cos(first), np.sin(second), np.cos(second)
    zero = np.zeros_like(s1)
    turn = np.stack([c1, -s1 * c2, s1 * s2, s1, c1 * c2, -c1 * s2, zero, s2, c2], axis=-1).reshape(N, LEGS, 3, 3)
    leg_frame = at.frame @ turn
    V, A = (np.einsum("nkji,nkj->nki", leg_frame, x) for x in (VT, AT))
    rate = V[..., 1]
    second_rate, first_rate = V[..., 2] / length, -V[..., 0] / (length * c2)
    wx, wy, wz = second_rate, first_rate * s2, first_rate * c2
    wx_dot = (A[..., 2] - 2.0 * rate * wx) / length - wy * wz
    wz_dot = -(A[..., 0] + 2.0 * rate * wz) / length + wx * wy
    rate_dot = A[..., 1] + length * (wx * wx + wz * wz)
    first_rate_dot = (wz_dot + first_rate * second_rate * s2) / c2

    q, v, a = np.empty((N, robot.nq)), np.empty((N, robot.nv)), np.empty((N, robot.nv))
    for bodies, angle, velocity, change in (
        (at.cross, first, first_rate, first_rate_dot),
        (at.lower, second, second_rate, wx_dot),
        (at.upper, length, rate, rate_dot),
    ):
        q[:, robot.iq[bodies]], v[:, robot.iv[bodies]], a[:, robot.iv[bodies]] = angle, velocity, change
    j, k = int(robot.iq[at.platform]), int(robot.iv[at.platform])
    q[:, j : j + 3], q[:, j + 3 : j + 7] = position, quaternion.from_matrix(rotation)
    body = [np.einsum("nji,nj->ni", rotation, x) for x in (linear, w, acc - np.cross(w, linear), alpha)]
    v[:, k : k + 3], v[:, k + 3 : k + 6], a[:, k : k + 3], a[:, k + 3 : k + 6] = body
    return (q[0], v[0], a[0]) if single else (q, v, a)
