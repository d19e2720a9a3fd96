"""Moving along the configuration manifold: neutral, integrate, difference, normalise.

Revolute and prismatic joints (and elastic modes) add. Spherical joints use the exponential of SO(3),
free joints that of SE(3) with the twist in child axes, as Pinocchio does: `integrate` follows a
constant ``v`` for unit time exactly, for small and for large angles, and `difference` undoes it.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.errors import StateError
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.quaternion import (
    conjugate,
    exponential,
    left_jacobian,
    left_jacobian_inverse,
    logarithm,
    multiply,
    rotate,
)
from dynbench.robots.states import as_array, check_state

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


def neutral(robot: "Robot") -> FloatArray:
    """Return the configuration with every joint at zero (elastic arms half out), shape (nq,)."""
    q = np.zeros(robot.nq)
    q[[start + 3 for start, _ in robot.quaternions]] = 1.0
    q[robot.iq[robot.elastic.arm]] = 0.5 * robot.elastic.length
    return q


def integrate(robot: "Robot", q: ArrayLike, dv: ArrayLike) -> FloatArray:
    """Return the configuration reached from ``q`` when the velocity is ``dv`` for unit time.

    Parameters
    ----------
    q : array_like, shape (nq,) or (N, nq)
        Configuration; quaternions of unit length.
    dv : array_like, shape (nv,) or (N, nv)
        Velocity times time.

    Returns
    -------
    ndarray, shape of q
    """
    (q, dv), _ = check_state(robot, q=q, dv=dv)
    moved = q.copy()
    plain_q, plain_v = plain_coordinates(robot)
    moved[..., plain_q] += dv[..., plain_v]
    for i in _turning(robot):
        jq, jv = robot.iq[i], robot.iv[i]
        if robot.kind[i] == JointKind.FREE:
            linear, angular = dv[..., jv : jv + 3], dv[..., jv + 3 : jv + 6]
            moved[..., jq : jq + 3] += rotate(q[..., jq + 3 : jq + 7], left_jacobian(angular, linear))
            jq += 3
        else:
            angular = dv[..., jv : jv + 3]
        turned = multiply(q[..., jq : jq + 4], exponential(angular))
        moved[..., jq : jq + 4] = turned / np.linalg.norm(turned, axis=-1, keepdims=True)
    return moved


def difference(robot: "Robot", q0: ArrayLike, q1: ArrayLike) -> FloatArray:
    """Return the shortest ``dv`` that takes ``q0`` to ``q1``, so that ``integrate(q0, dv)`` is ``q1``.

    Parameters
    ----------
    q0, q1 : array_like, shape (nq,) or (N, nq)
        Configurations; quaternions of unit length, of either sign.

    Returns
    -------
    ndarray, shape (nv,) or (N, nv)
    """
    (q0, q1), _ = check_state(robot, q0=q0, q1=q1)
    dv = np.empty((*q0.shape[:-1], robot.nv))
    plain_q, plain_v = plain_coordinates(robot)
    dv[..., plain_v] = q1[..., plain_q] - q0[..., plain_q]
    for i in _turning(robot):
        jq, jv = robot.iq[i], robot.iv[i]
        free = robot.kind[i] == JointKind.FREE
        turn = slice(jq + 3, jq + 7) if free else slice(jq, jq + 4)
        back = conjugate(q0[..., turn])
        angular = logarithm(multiply(back, q1[..., turn]))
        if free:
            moved = rotate(back, q1[..., jq : jq + 3] - q0[..., jq : jq + 3])
            dv[..., jv : jv + 3] = left_jacobian_inverse(angular, moved)
            jv += 3
        dv[..., jv : jv + 3] = angular
    return dv


def normalise(robot: "Robot", q: ArrayLike) -> FloatArray:
    """Return a copy of ``q``, shape (nq,) or (N, nq), with quaternions scaled to unit length."""
    array, _ = as_array("q", q, robot.nq, robot)
    array = array.copy()
    for start, i in robot.quaternions:
        part = array[..., start : start + 4]
        length = np.linalg.norm(part, axis=-1, keepdims=True)
        if not length.all():
            raise StateError(
                f"q: the quaternion of joint {robot.joint_names[i]!r} of robot {robot.name!r} is zero "
                "and cannot be normalised"
            )
        part /= length
    return array


def plain_coordinates(robot: "Robot") -> tuple[IntArray, IntArray]:
    """Return the indices into q and into v of the coordinates that are added componentwise."""
    in_q, in_v = np.ones(robot.nq, dtype=bool), np.ones(robot.nv, dtype=bool)
    for i in _turning(robot):
        in_q[robot.iq[i] : robot.iq[i] + NQ[robot.kind[i]]] = False
        in_v[robot.iv[i] : robot.iv[i] + NV[robot.kind[i]]] = False
    return np.flatnonzero(in_q), np.flatnonzero(in_v)


def _turning(robot: "Robot") -> IntArray:
    """Return the bodies whose joint has a quaternion."""
    return np.flatnonzero(robot.kind >= JointKind.SPHERICAL)
