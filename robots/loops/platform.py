"""The state of a parallel robot from the motion of its platform: inverse kinematics of any robot with loops.

The platform's pose adds six equations (three in the plane) to those of the loops; they are solved in short steps from
home. Rates and accelerations follow from linear equations.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.errors import StateError
from dynbench.robots.kinematics import accelerations
from dynbench.robots.loops.assembly import check_reached, start_from, step_count
from dynbench.robots.loops.closures import ancestors, frames_at, jacobian_at, joint_twists, residual_at, second_at
from dynbench.robots.loops.newton import CLOSED, RANK, Equations, solve

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

SINGULAR = 1e-5  # of the largest singular value
POSSIBLE = 1e-7  # relative residual above which the legs cannot follow a platform motion
PLANAR: IntArray = np.array([0, 1, 5])  # x, y and the turn about z


def state_from_platform(
    robot: "Robot",
    pose: Any,
    twist: Any = None,
    acceleration: Any = None,
    guess: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the state (q, v, a) in which the platform moves as given; one state, or a batch.

    Parameters
    ----------
    pose
        In space ``(R, p)``: rotation of the platform body (3, 3) and position of its centre of mass (3,), world axes.
        In the x-y plane ``(x, y, phi)``. Batches have one more axis in front.
    twist, acceleration
        In space six numbers, or a pair (linear, angular): of the centre of mass, world axes. In the plane the rates
        of x, y, phi. Default: zero.
    guess : array_like, shape (nq,) or (N, nq)
        Configurations to start from; default the robot's home.

    Raises
    ------
    StateError
        If the robot has no platform, the pose is out of reach or singular, or the legs cannot follow the motion.
    """
    if robot.platform < 0:
        raise StateError(f"robot {robot.name!r} has no platform; name a body with Robot.from_bodies(..., platform=)")
    planar = not (isinstance(pose, tuple | list) and len(pose) == 2)
    R, p, single = _planar_pose(robot, pose) if planar else _spatial_pose(robot, pose)
    parts = PLANAR if planar else np.arange(6)
    if not planar and guess is None and _has_stewart_legs(robot):
        from dynbench.robots.families.stewart_legs import platform_state

        given = [
            _motion(robot, *pair, parts, len(p), single) for pair in (("twist", twist), ("acceleration", acceleration))
        ]
        states = platform_state(robot, (R, p), *given)
        return (states[0][0], states[1][0], states[2][0]) if single else states
    q = _move_to_pose(robot, start_from(robot, guess, len(p)), R, p, parts, single)
    equations = _equations(robot, R, p, parts)
    J = equations(q)[1]
    inverse = np.linalg.pinv(J, rcond=RANK)
    _check_regular(robot, J, single, equations)
    zero = np.zeros((len(p), J.shape[1]))
    m = J.shape[1] - len(parts)
    zero[:, m:] = _motion(robot, "twist", twist, parts, len(p), single)
    v = np.einsum("scm,sm->sc", inverse, zero)
    _check_possible(robot, J, v, zero, "twist", single)
    at = frames_at(robot, q)
    target = np.zeros_like(zero)
    target[:, m:] = _motion(robot, "acceleration", acceleration, parts, len(p), single)
    target[:, m:] -= _platform_acceleration(robot, q, v, at.R, at.p)[:, parts]
    target[:, :m] = -second_at(robot, q, v, np.zeros_like(v), at)
    a = np.einsum("scm,sm->sc", inverse, target)
    _check_possible(robot, J, a, target, "acceleration", single)
    return (q[0], v[0], a[0]) if single else (q, v, a)


def _has_stewart_legs(robot: "Robot") -> bool:
    """Return whether the legs have a closed form, which is about a thousand times faster than Newton's iteration."""
    from dynbench.robots.families.stewart_legs import parts

    return len(robot.loops.body1) == 6 and not isinstance(parts(robot), str)


def _move_to_pose(
    robot: "Robot", q: FloatArray, R: FloatArray, p: FloatArray, parts: IntArray, single: bool
) -> FloatArray:
    from scipy.spatial.transform import Rotation

    R0, c0 = _pose(robot, q)
    turn = Rotation.from_matrix(R @ R0.transpose(0, 2, 1)).as_rotvec()
    shift = p - c0
    if len(parts) == 3:
        shift[:, 2], turn[:, :2] = 0.0, 0.0
    size = max(float(np.abs(robot.translation).max()), 1e-3)
    steps = step_count(max(np.abs(turn).max(), np.abs(shift).max() / size))
    for s in range(1, steps + 1):
        part = s / steps
        here = Rotation.from_rotvec(part * turn).as_matrix() @ R0 if s < steps else R
        q, worst = solve(robot, q, _equations(robot, here, c0 + part * shift, parts))
        if not (worst < CLOSED).any():
            break
    check_reached(robot, worst, single, "this platform pose")
    return q


def _equations(robot: "Robot", R: FloatArray, p: FloatArray, parts: IntArray) -> Equations:
    """Return the loops and the platform's pose as equations."""
    moves = ancestors(robot)[robot.platform]

    def equations(q: FloatArray) -> tuple[FloatArray, FloatArray]:
        at = frames_at(robot, q)
        body, centre = _platform(robot, at.R, at.p)
        E = body @ R.transpose(0, 2, 1)
        off = 0.5 * np.stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]], axis=1)
        residual = np.concatenate([centre - p, off], axis=1)[:, parts]
        linear, angular = joint_twists(robot, q, at.R, at.p)
        columns = np.concatenate([linear + np.cross(angular, centre[:, None]), angular], axis=2)
        rows = (moves[None, :, None] * columns).transpose(0, 2, 1)[:, parts]
        return (
            np.concatenate([residual_at(robot, at), residual], axis=1),
            np.concatenate([jacobian_at(robot, q, at), rows], axis=1),
        )

    return equations


def _platform(robot: "Robot", R: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    i = robot.platform
    return R[:, i], p[:, i] + R[:, i] @ robot.com[i]


def _pose(robot: "Robot", q: FloatArray) -> tuple[FloatArray, FloatArray]:
    at = frames_at(robot, q)
    return _platform(robot, at.R, at.p)


def _platform_acceleration(robot: "Robot", q: FloatArray, v: FloatArray, R: FloatArray, p: FloatArray) -> FloatArray:
    """Return the platform's acceleration (centre of mass, angular) at zero ``a``, world axes, shape (N, 6)."""
    i = robot.platform
    _, w, acc, alpha = (x[:, i] for x in accelerations(robot, R[:, :-1], p[:, :-1], q, v, np.zeros_like(v)))
    r = R[:, i] @ robot.com[i]
    return np.concatenate([acc + np.cross(alpha, r) + np.cross(w, np.cross(w, r)), alpha], axis=1)


def _planar_pose(robot: "Robot", pose: Any) -> tuple[FloatArray, FloatArray, bool]:
    array = _numbers(robot, "pose", pose)
    if array.ndim not in (1, 2) or array.shape[-1] != 3:
        raise StateError(
            f"pose has shape {array.shape}, robot {robot.name!r} needs (x, y, phi), shape (3,) or (N, 3), or (R, p)"
        )
    x, y, phi = np.atleast_2d(array).T
    c, s, o = np.cos(phi), np.sin(phi), np.zeros_like(phi)
    R = np.stack([c, -s, o, s, c, o, o, o, o + 1.0], axis=1).reshape(-1, 3, 3)
    return R, np.stack([x, y, o], axis=1), array.ndim == 1


def _spatial_pose(robot: "Robot", pose: Any) -> tuple[FloatArray, FloatArray, bool]:
    R, p = (_numbers(robot, "pose", x) for x in pose)
    if p.ndim not in (1, 2) or p.shape[-1] != 3 or R.shape != (*p.shape, 3):
        raise StateError(
            f"pose has R of shape {R.shape} and p of shape {p.shape}, robot {robot.name!r} needs (3, 3) and (3,), or "
            "(N, 3, 3) and (N, 3)"
        )
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max()
    if off > 1e-6 or np.any(np.linalg.det(R) < 0.0):
        raise StateError(f"pose of robot {robot.name!r}: R is not a rotation, R^T R differs from 1 by {off:.2g}")
    return R.reshape(-1, 3, 3), p.reshape(-1, 3), p.ndim == 1


def _motion(robot: "Robot", name: str, value: Any, parts: IntArray, N: int, single: bool) -> FloatArray:
    if value is None:
        return np.zeros((N, len(parts)))
    if isinstance(value, tuple | list) and len(value) == 2:
        value = np.concatenate([_numbers(robot, name, x) for x in value], axis=-1)
    array = _numbers(robot, name, value)
    expected = (len(parts),) if single else (N, len(parts))
    if array.shape != expected:
        raise StateError(f"{name} has shape {array.shape}, robot {robot.name!r} needs {expected}, to match the pose")
    return array.reshape(N, len(parts))


def _numbers(robot: "Robot", name: str, value: Any) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"{name} is {value!r:.60}, robot {robot.name!r} needs numbers") from None
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise StateError(f"{name} of robot {robot.name!r} contains {bad}, expected finite numbers")
    return array


def _check_regular(robot: "Robot", J: FloatArray, single: bool, equations: Equations) -> None:
    """Raise a StateError where the rank of the equations is lower than at home."""
    at_home = np.linalg.svd(equations(np.tile(robot.home, (len(J), 1)))[1][:1], compute_uv=False)[0]
    rank = int((at_home > SINGULAR * at_home[0]).sum())
    s = np.linalg.svd(J, compute_uv=False)
    bad = s[:, rank - 1] < SINGULAR * s[:, 0]
    if bad.any():
        where = "" if single else f" (state {int(np.argmax(bad))})"
        raise StateError(
            f"robot {robot.name!r}: this platform pose{where} is singular: the platform's motion does not determine "
            "that of the legs"
        )


def _check_possible(robot: "Robot", J: FloatArray, x: FloatArray, target: FloatArray, name: str, single: bool) -> None:
    left = np.abs(np.einsum("smc,sc->sm", J, x) - target).max(axis=1)
    bad = left > POSSIBLE * (1.0 + np.abs(target).max(axis=1))
    if bad.any():
        k = int(np.argmax(bad))
        where = "" if single else f"[{k}]"
        raise StateError(
            f"{name}{where}: the platform of robot {robot.name!r} cannot follow it at this pose, the residual "
            f"is {left[k]:.3g}"
        )
