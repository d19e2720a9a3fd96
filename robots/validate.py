"""Validation of robots: finite numbers, physical inertias, and inertia for every joint motion.

Tolerances are relative. `ROUNDING` allows for digits lost when numbers are written to a file.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynbench.robots.arrays import FloatArray
from dynbench.robots.body import EXTRAS
from dynbench.robots.couplings import check_couplings
from dynbench.robots.elastic.validate import check_elastic
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.kinematics import joint_motion
from dynbench.robots.states import LARGEST, sample_configurations
from dynbench.robots.text import name_error

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

ROUNDING = 1e-6  # of rotation matrices, inertia symmetry, principal moments
MAX_VALUE = LARGEST  # far above any robot
FINITE = f"finite numbers below {MAX_VALUE:g}"
SINGULAR = 1e-12  # relative to the inertia that a joint moves; rounding errors are about 1e-16


def check_inertials(
    robot: str, names: Sequence[str], mass: FloatArray, com: FloatArray, inertia: FloatArray
) -> None:
    """Raise a RobotError unless masses, coms and inertias are finite, masses >= 0, inertias symmetric."""
    for what, values in (("mass", mass), ("com", com), ("inertia", inertia)):
        check_finite(robot, names, what, values)
    for i in _where(mass < 0):
        raise RobotError(f"robot {robot!r}: body {names[i]!r}: mass is {mass[i]:g}, expected >= 0")
    skew = np.abs(inertia - inertia.transpose(0, 2, 1)).max(axis=(1, 2))
    for i in _where(skew > ROUNDING * np.abs(inertia).max(axis=(1, 2))):
        raise RobotError(
            f"robot {robot!r}: body {names[i]!r}: inertia is not symmetric, by {skew[i]:g}: "
            f"{inertia[i].tolist()}"
        )


def unphysical(names: Sequence[str], inertia: FloatArray) -> list[str]:
    """Return a message for every inertia, shape (n, 3, 3), that no rigid body can have."""
    messages = []
    principal = np.linalg.eigvalsh(0.5 * (inertia + inertia.transpose(0, 2, 1)))
    for name, moments in zip(names, principal, strict=True):
        low, middle, high = moments
        shown = f"({low:.6g}, {middle:.6g}, {high:.6g})"
        if low < -ROUNDING * np.abs(moments).max():
            messages.append(
                f"body {name!r}: inertia is not positive semidefinite, its principal moments are {shown}"
            )
        elif low + middle < (1.0 - ROUNDING) * high:
            messages.append(
                f"body {name!r}: inertia has principal moments {shown}, which no body has: the largest "
                "exceeds the sum of the other two (triangle inequality)"
            )
    return messages


def check_placements(robot: str, names: Sequence[str], rotation: FloatArray, translation: FloatArray) -> None:
    """Raise a RobotError unless every placement is a rotation and a finite translation."""
    check_finite(robot, names, "placement rotation", rotation)
    check_finite(robot, names, "placement translation", translation)
    off = np.abs(rotation.transpose(0, 2, 1) @ rotation - np.eye(3)).max(axis=(1, 2))
    for i in _where(off > ROUNDING):
        raise RobotError(
            f"robot {robot!r}: body {names[i]!r}: placement rotation is not orthonormal, R^T R differs from "
            f"the identity by {off[i]:.2g}: {rotation[i].tolist()}"
        )
    for i in _where(np.linalg.det(rotation) < 0):
        raise RobotError(
            f"robot {robot!r}: body {names[i]!r}: placement rotation is a reflection, its determinant is -1, "
            f"expected +1: {rotation[i].tolist()}"
        )


def check_finite(robot: str, names: Sequence[str], what: str, values: FloatArray) -> None:
    """Raise a RobotError, naming the body, unless all ``values`` are finite and below `MAX_VALUE`."""
    bad = ~(np.abs(values) < MAX_VALUE)
    for i in _where(np.any(bad.reshape(len(names), -1), axis=1)):
        shown = values[i].tolist()
        raise RobotError(f"robot {robot!r}: body {names[i]!r}: {what} is {shown}, expected {FINITE}")


def check_robot(robot: "Robot") -> None:
    """Raise a RobotError unless the arrays of ``robot`` are consistent and physical."""
    _check_shapes(robot)
    name, n = robot.name, robot.n
    if not (np.abs(robot.gravity) < MAX_VALUE).all():
        raise RobotError(f"robot {name!r}: gravity is {robot.gravity.tolist()}, expected {FINITE}")
    for what, names in (("bodies", robot.body_names), ("joints", robot.joint_names)):
        twice = sorted({entry for entry in names if names.count(entry) > 1}) if len(set(names)) < n else []
        if twice:
            raise RobotError(f"robot {name!r}: two {what} are named {twice[0]!r}")
    for i in _where((robot.parent < -1) | (robot.parent >= np.arange(n))):
        raise RobotError(
            f"robot {name!r}: body {robot.body_names[i]!r} has parent index {robot.parent[i]}, "
            f"expected -1 (ground) or a body before it (< {i})"
        )
    has_axis = robot.kind <= JointKind.PRISMATIC
    expected = np.where(has_axis, 1.0, 0.0)
    check_finite(name, robot.body_names, "joint axis", robot.axis)
    for i in _where(np.abs(np.linalg.norm(robot.axis, axis=1) - expected) > 1e-12):
        raise RobotError(
            f"robot {name!r}: body {robot.body_names[i]!r}: joint axis is {robot.axis[i].tolist()}, "
            f"expected length {expected[i]:g}"
        )
    check_placements(name, robot.body_names, robot.rotation, robot.translation)
    check_inertials(name, robot.body_names, robot.mass, robot.com, robot.inertia)
    _check_extras(robot)
    check_couplings(robot)
    _check_actuated(robot)
    if robot.is_elastic and robot.has_springs:
        raise RobotError(f"robot {name!r}: springs between bodies and elastic links cannot be combined")
    # With loops or elastic links, a joint that moves no inertia by itself may still be well posed.
    if robot.is_elastic:
        check_elastic(robot)
    elif robot.is_tree:
        check_movable(robot)


def check_movable(robot: "Robot") -> None:
    """Raise a RobotError unless every joint moves some inertia, so that M can be positive definite.

    One inward sweep of articulated-body inertias (Featherstone 2008, chapter 7) at a fixed random
    configuration: M is positive definite exactly when every S^T I_A S is. This also detects two
    collinear axes with no inertia between them, which the mass of the subtree does not show.
    """
    q = sample_configurations(robot, 1, np.random.default_rng(7))
    rows = zip(robot.mass, robot.com, robot.inertia, strict=True)
    articulated = np.stack([spatial_inertia(*row) for row in rows])
    composite = articulated.copy()
    for i in range(robot.n - 1, -1, -1):
        R, p, S = (array[0] for array in joint_motion(robot, i, q))
        scale = np.sqrt(np.maximum(np.repeat([composite[i, 0, 0], np.trace(composite[i, 3:, 3:])], 3), 0.0))
        D = S.T @ articulated[i] @ S + robot.armature[i] * np.eye(S.shape[1])
        moved = np.sqrt((np.abs(S).T @ scale) ** 2 + robot.armature[i])
        if not moved.all() or np.linalg.eigvalsh(D / np.outer(moved, moved))[0] < SINGULAR:
            raise RobotError(
                f"robot {robot.name!r}: body {robot.body_names[i]!r}: joint {robot.joint_names[i]!r} "
                f"({JointKind(robot.kind[i]).name.lower()}) moves a subtree of mass {composite[i, 0, 0]:g} "
                "with no inertia in (some of) its directions; the equations of motion would be singular"
            )
        parent = robot.parent[i]
        if parent >= 0:
            # W^T W stays symmetric; U D^-1 U^T does only up to rounding, which 50 spherical joints amplify
            W = np.linalg.solve(np.linalg.cholesky(D), S.T @ articulated[i])
            X = _motion_from_parent(R, p)
            articulated[parent] += X.T @ (articulated[i] - W.T @ W) @ X
            composite[parent] += X.T @ composite[i] @ X


def spatial_inertia(mass: float, com: FloatArray, inertia: FloatArray) -> FloatArray:
    """Return the 6x6 inertia about the body's origin that maps a twist (linear, angular) to its momentum."""
    c = _cross_matrix(com)
    top = np.hstack([mass * np.eye(3), -mass * c])
    return np.vstack([top, np.hstack([mass * c, inertia - mass * c @ c])])


def _motion_from_parent(R: FloatArray, p: FloatArray) -> FloatArray:
    """Return the 6x6 matrix that takes a twist (linear, angular) from parent to child axes and origin."""
    return np.block([[R.T, -R.T @ _cross_matrix(p)], [np.zeros((3, 3)), R.T]])


def _cross_matrix(x: FloatArray) -> FloatArray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _check_shapes(robot: "Robot") -> None:
    n = len(robot.body_names)
    named = [("a robot's name", robot.name), *((f"robot {robot.name!r}: a body's name", x) for x in robot.body_names)]
    named += [(f"robot {robot.name!r}: a joint's name", x) for x in robot.joint_names]
    named += [(f"robot {robot.name!r}: a frame's name", frame.name) for frame in robot.frames]
    for what, name in named:
        refused = name_error(what, name)
        if refused is not None:
            raise RobotError(refused)
    if n == 0:
        raise RobotError(f"robot {robot.name!r}: no body moves, expected at least one")
    shapes = {
        "joint_names": (n,), "parent": (n,), "kind": (n,), "axis": (n, 3), "rotation": (n, 3, 3),
        "translation": (n, 3), "mass": (n,), "com": (n, 3), "inertia": (n, 3, 3), "gravity": (3,),
        "armature": (n,), "damping": (n,), "friction": (n,),
    }  # fmt: skip
    for field, expected in shapes.items():
        if np.shape(getattr(robot, field)) != expected:
            raise RobotError(
                f"robot {robot.name!r}: {field} has shape {np.shape(getattr(robot, field))}, expected {expected}"
            )
    for i in _where((robot.kind < 0) | (robot.kind >= len(NV))):
        raise RobotError(f"robot {robot.name!r}: body {robot.body_names[i]!r}: no joint kind {robot.kind[i]}")


def _check_extras(robot: "Robot") -> None:
    for what in EXTRAS:
        values = getattr(robot, what)
        check_finite(robot.name, robot.body_names, what, values)
        for i in _where(values < 0):
            raise RobotError(
                f"robot {robot.name!r}: body {robot.body_names[i]!r}: {what} is {values[i]:g}, expected >= 0"
            )
        for i in _where((values > 0) & (robot.kind == JointKind.FREE)):
            raise RobotError(
                f"robot {robot.name!r}: body {robot.body_names[i]!r}: {what} is {values[i]:g}, expected 0: a free "
                "joint has no motor or bearing"
            )


def _check_actuated(robot: "Robot") -> None:
    actuated = robot.actuated
    if robot.is_tree and not np.array_equal(actuated, np.arange(robot.nv)):
        raise RobotError(
            f"robot {robot.name!r}: actuated is {actuated.tolist()}, expected None: every coordinate of a tree "
            "is actuated, only robots with loops or couplings have a choice"
        )
    if np.any((actuated < 0) | (actuated >= robot.nv)) or len(set(actuated.tolist())) < len(actuated):
        raise RobotError(
            f"robot {robot.name!r}: actuated is {actuated.tolist()}, expected different indices into v "
            f"(0 to {robot.nv - 1})"
        )


    weights = robot.force_weights
    if weights.shape not in ((0,), (len(actuated),)) or not ((weights > 0.0) & (weights < MAX_VALUE)).all():
        raise RobotError(
            f"robot {robot.name!r}: force_weights is {weights.tolist()}, expected {len(actuated)} finite numbers > 0, "
            "one for each actuated coordinate"
        )


def _where(condition: NDArray[np.bool_] | np.bool_) -> list[int]:
    return [int(i) for i in np.flatnonzero(condition)]
