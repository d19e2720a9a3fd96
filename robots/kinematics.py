"""Kinematics with numpy: poses, twists, centre of mass, momentum, energy.

Vectorised over a batch of states; loops run over the bodies, outward from the ground. Every function accepts a
single state or a batch and returns the same. No equations of motion are used here, so these quantities are an
independent check of the dynamics.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import quaternion
from dynbench.robots.arrays import FloatArray
from dynbench.robots.elastic import particles
from dynbench.robots.errors import RobotError
from dynbench.robots.extras import losses
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.states import check_state

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


def poses(robot: "Robot", q: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the body frames in world: ``x_world = R x_body + p``.

    Parameters
    ----------
    q : array_like, shape (nq,) or (N, nq)

    Returns
    -------
    R : ndarray, shape (n, 3, 3) or (N, n, 3, 3)
    p : ndarray, shape (n, 3) or (N, n, 3)
    """
    (q,), single = check_state(robot, q=q)
    R, p = _poses(robot, np.atleast_2d(q))
    return (R[0], p[0]) if single else (R, p)


def velocities(robot: "Robot", q: ArrayLike, v: ArrayLike, axes: str = "body") -> FloatArray:
    """Return the twist of every body: linear velocity of its frame origin, then angular velocity.

    Parameters
    ----------
    q : array_like, shape (nq,) or (N, nq)
    v : array_like, shape (nv,) or (N, nv)
    axes : "body" or "world"
        Axes in which both vectors are resolved; the point is the body's origin either way.

    Returns
    -------
    ndarray, shape (n, 6) or (N, n, 6)
    """
    if axes not in ("body", "world"):
        raise ValueError(f"axes is {axes!r}, expected 'body' or 'world'")
    (q, v), single = check_state(robot, q=q, v=v)
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    R, p = _poses(robot, q)
    linear, angular = _velocities(robot, R, p, q, v)
    if axes == "body":
        linear, angular = (np.einsum("sbji,sbj->sbi", R, x) for x in (linear, angular))
    twist = np.concatenate([linear, angular], axis=-1)
    return twist[0] if single else twist


def com(robot: "Robot", q: ArrayLike) -> FloatArray:
    """Return the centre of mass of the robot in world, shape (3,) or (N, 3), metres."""
    (q,), single = check_state(robot, q=q)
    R, p = _poses(robot, np.atleast_2d(q))
    centre = np.einsum("b,sbi->si", robot.mass, _centres(robot, R, p)) / robot.mass.sum()
    return np.asarray(centre[0] if single else centre)


def momentum(robot: "Robot", q: ArrayLike, v: ArrayLike) -> FloatArray:
    """Return the linear momentum, then the angular momentum about the world origin, world axes.

    Returns
    -------
    ndarray, shape (6,) or (N, 6); kg m/s and kg m^2/s
    """
    (q, v), single = check_state(robot, q=q, v=v)
    R, p = _poses(robot, np.atleast_2d(q))
    c, c_dot, angular = _centre_motion(robot, R, p, np.atleast_2d(q), np.atleast_2d(v))
    linear_momenta = robot.mass[:, None] * c_dot
    spins = np.einsum("sbij,bjk,sblk,sbl->sbi", R, robot.inertia, R, angular, optimize=True)
    moments = np.cross(c, linear_momenta) + spins
    total = np.concatenate([linear_momenta.sum(axis=1), moments.sum(axis=1)], axis=-1)
    return total[0] if single else total


def kinetic_energy(robot: "Robot", q: ArrayLike, v: ArrayLike) -> float | FloatArray:
    """Return the kinetic energy in joules: a float, or shape (N,) for a batch."""
    (q, v), single = check_state(robot, q=q, v=v)
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    energies = particles.kinetic(robot, q, v) if robot.is_elastic else _kinetic(robot, *_poses(robot, q), q, v)
    energies = energies + _rotors(robot, v)
    return float(energies[0]) if single else energies


def potential_energy(robot: "Robot", q: ArrayLike) -> float | FloatArray:
    """Return the potential energy in joules, zero at the world origin: a float, or shape (N,)."""
    (q,), single = check_state(robot, q=q)
    q = np.atleast_2d(q)
    energies = particles.potential(robot, q) if robot.is_elastic else _potential(robot, *_poses(robot, q))
    return float(energies[0]) if single else energies


def energy(robot: "Robot", q: ArrayLike, v: ArrayLike) -> float | FloatArray:
    """Return kinetic plus potential energy in joules: a float, or shape (N,) for a batch."""
    (q, v), single = check_state(robot, q=q, v=v)
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    if robot.is_elastic:
        energies = particles.kinetic(robot, q, v) + particles.potential(robot, q)
    else:
        R, p = _poses(robot, q)
        energies = _kinetic(robot, R, p, q, v) + _potential(robot, R, p)
    energies = energies + _rotors(robot, v)
    return float(energies[0]) if single else energies


def motion_subspace(robot: "Robot", i: int) -> FloatArray:
    """Return S, shape (6, k): twist (linear, angular) relative to the parent, child axes, per unit of each v."""
    kind, axis = robot.kind[i], robot.axis[i]
    if kind == JointKind.REVOLUTE:
        return np.concatenate([np.zeros(3), axis])[:, None]
    if kind == JointKind.PRISMATIC:
        return np.concatenate([axis, np.zeros(3)])[:, None]
    return np.eye(6)[:, 3:] if kind == JointKind.SPHERICAL else np.eye(6)


def joint_motion(robot: "Robot", i: int, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return body i's frame in its parent's, and the joint's motion subspace.

    Parameters
    ----------
    q : ndarray, shape (N, nq)

    Returns
    -------
    R, p : ndarray, shapes (N, 3, 3), (N, 3)
        ``x_parent = R x_body + p``.
    S : ndarray, shape (N, 6, k)
        Twist (linear, angular) relative to the parent, child axes, is S times the joint's part of v.
    """
    N, kind, start, axis = len(q), robot.kind[i], robot.iq[i], robot.axis[i]
    turn, shift = np.broadcast_to(np.eye(3), (N, 3, 3)), np.zeros((N, 3))
    S = motion_subspace(robot, i)
    if kind == JointKind.REVOLUTE:
        turn = quaternion.matrix(quaternion.exponential(q[:, start, None] * axis))
    elif kind == JointKind.PRISMATIC:
        shift = q[:, start, None] * axis
    elif kind == JointKind.SPHERICAL:
        turn = quaternion.matrix(q[:, start : start + 4])
    else:
        shift = q[:, start : start + 3]
        turn = quaternion.matrix(q[:, start + 3 : start + 7])
    R = robot.rotation[i] @ turn
    p = shift @ robot.rotation[i].T + robot.translation[i]
    return R, p, np.broadcast_to(S, (N, *S.shape))


def accelerations(
    robot: "Robot", R: FloatArray, p: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return velocities and accelerations of all bodies, world axes, for a batch with poses ``R, p``.

    Returns
    -------
    linear, angular, linear_acceleration, angular_acceleration : ndarray, shapes (N, n, 3)
        Of the frame origins; accelerations are the classical ones, without gravity.
    """
    linear, angular = _velocities(robot, R, p, q, v)
    acc, alpha = np.zeros_like(p), np.zeros_like(p)
    for i, parent in enumerate(robot.parent):
        S = motion_subspace(robot, i)
        here = slice(robot.iv[i], robot.iv[i] + S.shape[1])
        slide, turn = np.split(v[:, here] @ S.T, 2, axis=1)
        slide, turn = (np.einsum("sij,sj->si", R[:, i], x) for x in (slide, turn))
        pushed, spun = np.split(a[:, here] @ S.T, 2, axis=1)
        acc[:, i] = np.einsum("sij,sj->si", R[:, i], pushed) + np.cross(angular[:, i], slide)
        alpha[:, i] = np.einsum("sij,sj->si", R[:, i], spun) + np.cross(angular[:, i], turn)
        if parent >= 0:
            r, w = p[:, i] - p[:, parent], angular[:, parent]
            acc[:, i] += acc[:, parent] + np.cross(alpha[:, parent], r) + np.cross(w, np.cross(w, r) + slide)
            alpha[:, i] += alpha[:, parent]
    return linear, angular, acc, alpha


def _poses(robot: "Robot", q: FloatArray) -> tuple[FloatArray, FloatArray]:
    if robot.is_elastic:
        raise RobotError(
            f"robot {robot.name!r} has elastic links; these kinematics are for rigid bodies only"
        )
    R, p = np.empty((len(q), robot.n, 3, 3)), np.empty((len(q), robot.n, 3))
    for i, parent in enumerate(robot.parent):
        R[:, i], p[:, i], _ = joint_motion(robot, i, q)
        if parent >= 0:
            p[:, i] = p[:, parent] + np.einsum("sij,sj->si", R[:, parent], p[:, i])
            R[:, i] = R[:, parent] @ R[:, i]
    return R, p


def _velocities(
    robot: "Robot", R: FloatArray, p: FloatArray, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return linear velocities of the origins and angular velocities, world axes, shapes (N, n, 3)."""
    linear, angular = np.zeros_like(p), np.zeros_like(p)
    for i, parent in enumerate(robot.parent):
        if parent >= 0:
            angular[:, i] = angular[:, parent]
            linear[:, i] = linear[:, parent] + np.cross(angular[:, parent], p[:, i] - p[:, parent])
        start = robot.iv[i]
        relative = v[:, start : start + NV[robot.kind[i]]] @ motion_subspace(robot, i).T
        linear[:, i] += np.einsum("sij,sj->si", R[:, i], relative[:, :3])
        angular[:, i] += np.einsum("sij,sj->si", R[:, i], relative[:, 3:])
    return linear, angular


def _centres(robot: "Robot", R: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(p + np.einsum("sbij,bj->sbi", R, robot.com))


def _centre_motion(
    robot: "Robot", R: FloatArray, p: FloatArray, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centres of mass, their velocities, and the angular velocities, world axes."""
    linear, angular = _velocities(robot, R, p, q, v)
    c = _centres(robot, R, p)
    return c, linear + np.cross(angular, c - p), angular


def _kinetic(robot: "Robot", R: FloatArray, p: FloatArray, q: FloatArray, v: FloatArray) -> FloatArray:
    _, c_dot, angular = _centre_motion(robot, R, p, q, v)
    body_angular = np.einsum("sbji,sbj->sbi", R, angular)
    spin = np.einsum("sbi,bij,sbj->s", body_angular, robot.inertia, body_angular, optimize=True)
    return np.asarray(0.5 * (np.einsum("b,sbi,sbi->s", robot.mass, c_dot, c_dot, optimize=True) + spin))


def _rotors(robot: "Robot", v: FloatArray) -> FloatArray:
    """Return the kinetic energy of the rotors, shape (N,)."""
    return np.asarray(0.5 * v**2 @ robot.extras.armature)


def _potential(robot: "Robot", R: FloatArray, p: FloatArray) -> FloatArray:
    weight = -np.einsum("b,sbi->si", robot.mass, _centres(robot, R, p)) @ robot.gravity
    if not robot.has_springs:
        return np.asarray(weight)
    stretch = np.linalg.norm(_spring_line(robot, R, p)[0], axis=-1) - robot.springs.rest_length
    return np.asarray(weight + 0.5 * stretch**2 @ robot.springs.stiffness)


def _spring_line(robot: "Robot", R: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, for every spring, the vector from point 1 to 2, and both points from their bodies' origins: (N, k, 3)."""
    ground = np.zeros((len(p), 1, 3))
    R = np.concatenate([R, np.broadcast_to(np.eye(3), (len(p), 1, 3, 3))], axis=1)
    p = np.concatenate([p, ground], axis=1)
    springs = robot.springs
    arms = [
        np.einsum("skij,kj->ski", R[:, body], point)
        for body, point in ((springs.body1, springs.point1), (springs.body2, springs.point2))
    ]
    return p[:, springs.body2] + arms[1] - p[:, springs.body1] - arms[0], arms[0], arms[1]


def dissipation(robot: "Robot", q: ArrayLike, v: ArrayLike) -> float | FloatArray:
    """Return the power lost in joints and in the dampers of springs, watts: a float, or shape (N,) for a batch."""
    (q, v), single = check_state(robot, q=q, v=v)
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    power = np.einsum("si,si->s", losses(robot, v), v)
    if robot.has_springs:
        R, p = _poses(robot, q)
        moving = [np.concatenate([x, np.zeros((len(q), 1, 3))], axis=1) for x in _velocities(robot, R, p, q, v)]
        line, *arms = _spring_line(robot, R, p)
        ends = [
            moving[0][:, body] + np.cross(moving[1][:, body], arm)
            for body, arm in zip((robot.springs.body1, robot.springs.body2), arms, strict=True)
        ]
        length = np.maximum(np.linalg.norm(line, axis=-1), np.finfo(np.float64).tiny)
        rate = np.einsum("ski,ski->sk", line, ends[1] - ends[0]) / length
        power = power + rate**2 @ robot.springs.damping
    return float(power[0]) if single else power
