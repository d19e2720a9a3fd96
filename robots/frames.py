"""Named frames: poses, Jacobians and velocities, and wrenches given in them.

A frame is one that a file names (a body on a Fixed joint, `Robot.frames`) or a body's own. All functions accept a
single state or a batch. Twists and wrenches are linear (force), then angular (moment), at the frame's origin.
`dynbench.methods.frame` computes the same in machine code.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray
from dynbench.robots.body import Frame
from dynbench.robots.errors import RobotError, StateError, UnknownNameError, near
from dynbench.robots.kinematics import joint_motion
from dynbench.robots.states import check_state

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

Axes = Literal["world", "local"]


def names(robot: "Robot") -> tuple[str, ...]:
    """Return the names of all frames: the bodies', then those fixed to a body."""
    return (*robot.body_names, *(frame.name for frame in robot.frames))


def find(robot: "Robot", name: str) -> Frame:
    """Return the frame of a body, or the one fixed to a body, that is called ``name``."""
    for frame in robot.frames:
        if frame.name == name:
            return frame
    if name in robot.body_names:
        return Frame(name, robot.body_names.index(name), np.eye(3), np.zeros(3))
    raise UnknownNameError(f"robot {robot.name!r} has no frame or body {name!r}; {near(str(name), names(robot))}")


def pose(robot: "Robot", name: str, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return R, shape (3, 3) or (N, 3, 3), and p, (3,) or (N, 3): ``x_world = R x_frame + p``."""
    frame = find(robot, name)
    (q,), single = check_state(robot, q=q)
    _, R, p = _chain(robot, frame, np.atleast_2d(q))
    return (R[0], p[0]) if single else (R, p)


def jacobian(robot: "Robot", name: str, q: ArrayLike, axes: Axes = "world") -> FloatArray:
    """Return J, shape (6, nv) or (N, 6, nv): the frame's twist is J v; see `velocity` for its axes."""
    frame, turn = find(robot, name), is_local(axes)
    (q,), single = check_state(robot, q=q)
    J = _jacobian(robot, frame, np.atleast_2d(q), turn)
    return J[0] if single else J


def velocity(robot: "Robot", name: str, q: ArrayLike, v: ArrayLike, axes: Axes = "world") -> FloatArray:
    """Return the frame's twist, shape (6,) or (N, 6): velocity of its origin, then angular velocity.

    ``axes`` are those of the world, or of the frame itself ("local").
    """
    frame, turn = find(robot, name), is_local(axes)
    (q, v), single = check_state(robot, q=q, v=v)
    twist = np.einsum("sij,sj->si", _jacobian(robot, frame, np.atleast_2d(q), turn), np.atleast_2d(v))
    return np.asarray(twist[0] if single else twist)


def body_wrenches(robot: "Robot", wrenches: Mapping[str, Any], N: int, single: bool) -> FloatArray:
    """Return external wrenches given by frame or body as an array, shape (n, 6) or (N, n, 6).

    Parameters
    ----------
    wrenches : mapping from name to array_like, shape (6,), or for a batch also (N, 6)
        Force, then moment, in the axes and at the origin of the frame.
    N, single
        Number of states, and whether a single one is meant.
    """
    batch = any(np.ndim(wrench) > 1 for wrench in wrenches.values())
    found = np.zeros((N, robot.n, 6) if batch and not single else (1, robot.n, 6))
    for name, wrench in wrenches.items():
        frame = find(robot, name)
        expected = "(6,)" if single else f"(6,) or ({N}, 6)"
        try:
            given = np.asarray(wrench, dtype=np.float64)
        except (TypeError, ValueError):
            raise StateError(f"wrench[{name!r}] is {wrench!r:.60}, expected numbers of shape {expected}") from None
        if given.shape != (6,) and (single or given.shape != (N, 6)):
            raise StateError(
                f"wrench[{name!r}] has shape {given.shape}, robot {robot.name!r} needs {expected}: force, then moment"
            )
        if not np.isfinite(given).all():
            raise StateError(f"wrench[{name!r}] is {given.tolist()!r:.80}, robot {robot.name!r} needs finite numbers")
        if frame.body < 0:
            raise StateError(f"wrench[{name!r}] acts on the ground, expected a frame on a moving body")
        force, moment = given[..., :3] @ frame.rotation.T, given[..., 3:] @ frame.rotation.T
        found[:, frame.body, :3] += force
        found[:, frame.body, 3:] += moment + np.cross(frame.translation, force)
    return found if batch and not single else found[0]


def is_local(axes: str) -> bool:
    """Whether twists are wanted in the frame's own axes."""
    if axes not in ("world", "local"):
        raise StateError(f"axes is {axes!r}, expected 'world' or 'local'")
    return axes == "local"


def _chain(
    robot: "Robot", frame: Frame, q: FloatArray
) -> tuple[list[tuple[int, FloatArray, FloatArray, FloatArray]], FloatArray, FloatArray]:
    """Return (body, R, p, S) of every body from the ground to the frame's, in world, and the frame's R and p."""
    if robot.is_elastic:
        raise RobotError(f"robot {robot.name!r} has elastic links; its frames depend on their deformation")
    path, i = [], frame.body
    while i >= 0:
        path.append(i)
        i = int(robot.parent[i])
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    bodies = []
    for i in reversed(path):
        turn, shift, S = joint_motion(robot, i, q)
        p = p + np.einsum("sij,sj->si", R, shift)
        R = R @ turn
        bodies.append((i, R, p, S))
    return bodies, R @ frame.rotation, p + R @ frame.translation


def _jacobian(robot: "Robot", frame: Frame, q: FloatArray, local: bool) -> FloatArray:
    bodies, R, p = _chain(robot, frame, q)
    J = np.zeros((len(q), 6, robot.nv))
    for i, turn, origin, S in bodies:
        angular = turn @ S[:, 3:]
        here = slice(robot.iv[i], robot.iv[i] + S.shape[2])
        J[:, :3, here] = turn @ S[:, :3] + np.cross(angular, (p - origin)[:, :, None], axis=1)
        J[:, 3:, here] = angular
    if local:
        back = R.transpose(0, 2, 1)
        J[:, :3], J[:, 3:] = back @ J[:, :3], back @ J[:, 3:]
    return J
