"""Inertial parameters: ten numbers per body, in which the joint forces are linear, and the matrix of this map.

    theta = (m, m c_x, m c_y, m c_z, J_xx, J_xy, J_yy, J_xz, J_yz, J_zz)        mass, first moment, inertia

in body axes, J about the origin of the body's frame. This is Pinocchio's order. With w, w' and a_o the angular
velocity, the angular acceleration and the acceleration of the origin less gravity, body axes, a body requires the
wrench

    f = m a_o + (w'~ + w~ w~) h,     n = h x a_o + J w' + w x J w,     h = m c

which is a matrix K (6, 10) times theta; the rows of the regressor Y are J^T K, J the Jacobian of the body:
tau = Y theta. Armature, damping and friction of joints and springs between bodies are not in it: it is of the rigid
bodies alone.

`regressor` is in numpy, for identification of small robots and as a check of compiled ones; solvers have it in machine
code.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import kinematics
from dynbench.robots.arrays import FloatArray
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import NV
from dynbench.robots.loops import closures
from dynbench.robots.states import check_state

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

PARAMETERS = ("m", "mx", "my", "mz", "Jxx", "Jxy", "Jyy", "Jxz", "Jyz", "Jzz")
COUNT = len(PARAMETERS)
LOWER = (np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2]))  # xx xy yy xz yz zz


def inertial_parameters(robot: "Robot") -> FloatArray:
    """Return the ten parameters of every body, shape (10 n,)."""
    _rigid(robot)
    theta = np.empty((robot.n, COUNT))
    theta[:, 0] = robot.mass
    theta[:, 1:4] = robot.mass[:, None] * robot.com
    square = np.einsum("bi,bi->b", robot.com, robot.com)
    moved = square[:, None, None] * np.eye(3) - robot.com[:, :, None] * robot.com[:, None, :]
    about_origin = robot.inertia + robot.mass[:, None, None] * moved
    theta[:, 4:] = about_origin[:, LOWER[0], LOWER[1]]
    return theta.ravel()


def parameter_names(robot: "Robot") -> tuple[str, ...]:
    """Return a name for each of the 10 n parameters, such as ``Jxy[forearm]``."""
    return tuple(f"{name}[{body}]" for body in robot.body_names for name in PARAMETERS)


def spatial_inertia(theta: FloatArray) -> FloatArray:
    """Return the 6 x 6 inertia of parameters, shape (..., 10): twist (linear, angular) to momentum, at the origin."""
    found = np.zeros((*theta.shape[:-1], 6, 6))
    found[..., range(3), range(3)] = theta[..., :1]
    h = skew(theta[..., 1:4])
    found[..., :3, 3:], found[..., 3:, :3] = -h, h
    found[..., 3 + LOWER[0], 3 + LOWER[1]] = theta[..., 4:]
    found[..., 3 + LOWER[1], 3 + LOWER[0]] = theta[..., 4:]
    return found


def from_spatial_inertia(inertia: FloatArray) -> FloatArray:
    """Return the ten parameters of a 6 x 6 inertia: the reverse of `spatial_inertia`."""
    h = np.array([inertia[5, 1], inertia[3, 2], inertia[4, 0]])
    return np.concatenate([inertia[:1, 0], h, inertia[3 + LOWER[0], 3 + LOWER[1]]])


def skew(x: FloatArray) -> FloatArray:
    """Return x~, shape (..., 3, 3): x~ y = x cross y."""
    found = np.zeros((*x.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        found[..., i, j], found[..., j, i] = -x[..., k], x[..., k]
    return found


def regressor(robot: "Robot", q: ArrayLike, v: ArrayLike, a: ArrayLike) -> FloatArray:
    """Return Y, shape (nv, 10 n) or (N, nv, 10 n): the forces of the tree are Y times `inertial_parameters`.

    Loops are left out of account: with them, the rows are those of all coordinates of the spanning tree.
    """
    _rigid(robot)
    (q, v, a), single = check_state(robot, q=q, v=v, a=a)
    q, v, a = np.atleast_2d(q), np.atleast_2d(v), np.atleast_2d(a)
    R, p = kinematics._poses(robot, q)
    _, angular, acc, alpha = kinematics.accelerations(robot, R, p, q, v, a)
    local = (np.einsum("sbji,sbj->sbi", R, x) for x in (angular, alpha, acc - robot.gravity))
    K = body_rows(*local)
    blocks = np.zeros((len(q), robot.nv, robot.n, COUNT))
    for i in range(robot.n):
        j = i
        while j >= 0:
            S = kinematics.motion_subspace(robot, j)
            turn = np.einsum("ski,skj->sij", R[:, i], R[:, j])  # from axes of j to those of i
            lever = np.einsum("ski,sk->si", R[:, j], p[:, i] - p[:, j])  # from j to i, axes of j
            linear = turn @ (S[:3] - skew(lever) @ S[3:])
            twist = np.concatenate([linear, turn @ S[3:]], axis=1)
            blocks[:, robot.iv[j] : robot.iv[j] + NV[robot.kind[j]], i] = twist.transpose(0, 2, 1) @ K[:, i]
            j = int(robot.parent[j])
    Y = blocks.reshape(len(q), robot.nv, COUNT * robot.n)
    return Y[0] if single else Y


def body_rows(w: FloatArray, wd: FloatArray, acc: FloatArray) -> FloatArray:
    """Return K, shape (..., 6, 10): the wrench that a body requires (force, moment) is K times its parameters."""
    K = np.zeros((*w.shape[:-1], 6, COUNT))
    K[..., :3, 0] = acc
    K[..., :3, 1:4] = skew(wd) + skew(w) @ skew(w)
    K[..., 3:, 1:4] = -skew(acc)
    K[..., 3:, 4:] = _of_inertia(wd) + skew(w) @ _of_inertia(w)
    return K


def free_regressor(robot: "Robot", q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
    """Return Y of a batch along the motions that loops leave free, shape (N, dof, 10 n); of a tree, Y itself.

    The motions are an orthonormal basis of the null space of the loops' Jacobian, so that no choice of actuators
    matters.
    """
    Y = regressor(robot, q, v, a)
    if robot.is_tree:
        return Y
    _, _, right = np.linalg.svd(closures.jacobian(robot, q))
    return np.asarray(right[:, robot.loop_analysis.rank :] @ Y)


def _of_inertia(x: FloatArray) -> FloatArray:
    """Return L, shape (..., 3, 6): J x = L (J_xx, J_xy, J_yy, J_xz, J_yz, J_zz)."""
    L = np.zeros((*x.shape[:-1], 3, 6))
    for k, (i, j) in enumerate(zip(*LOWER, strict=True)):
        L[..., i, k] += x[..., j]
        if i != j:
            L[..., j, k] += x[..., i]
    return L


def _rigid(robot: "Robot") -> None:
    if robot.is_elastic:
        raise RobotError(f"robot {robot.name!r} has elastic links; inertial parameters are those of rigid bodies")
