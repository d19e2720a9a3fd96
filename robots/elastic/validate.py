"""Validation of elastic arms: positive stiffness, a chain of sleeves and arms, and inertia in each mode."""

from typing import TYPE_CHECKING

import numpy as np

from dynbench.robots.elastic.modes import DIRECTIONS, MAX_ORDER, TORSION, X, Y, Z
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import JointKind

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

NAMES = {code: name for name, code in DIRECTIONS.items()}
STIFFNESS = {X: "axial", Y: "bending_z", Z: "bending_y", TORSION: "torsion"}


def check_elastic(robot: "Robot") -> None:
    """Raise a RobotError unless ``robot.elastic`` describes sliding elastic arms of a serial chain."""
    arms = robot.elastic
    _check_chain(robot)
    for k, arm in enumerate(arms.arm):
        owner = f"robot {robot.name!r}: {robot.body_names[arm]!r}"
        for what in ("length", "density"):
            value = getattr(arms, what)[k]
            if not (np.isfinite(value) and value > 0):
                raise RobotError(f"{owner}: {what} is {value:g}, expected a positive number")
        if not np.isfinite(arms.mouth[k]):
            raise RobotError(f"{owner}: mouth is {arms.mouth[k]:g}, expected a finite number")
        for what in STIFFNESS.values():
            value = getattr(arms, what)[k]
            if not (np.isfinite(value) and value >= 0):
                raise RobotError(f"{owner}: stiffness {what} is {value:g}, expected a positive number")
        section = arms.section_inertia[k]
        if not np.isfinite(section).all() or not np.allclose(section, section.T, rtol=1e-9, atol=0.0):
            raise RobotError(f"{owner}: section_inertia is {section.tolist()}, expected a symmetric matrix")
        if np.linalg.eigvalsh(section)[0] < -1e-12 * np.abs(section).max():
            raise RobotError(f"{owner}: section_inertia has a negative principal moment: {section.tolist()}")
        _check_modes(robot, k, owner)


def _check_chain(robot: "Robot") -> None:
    """Sleeve (revolute about z), arm (prismatic along x), sleeve, ...: each on the tip of the one before."""
    arms, n = robot.elastic, robot.n
    layout = "expected a chain of sleeves (revolute about z) and elastic arms (prismatic along x); use elastic_rp_chain"
    if not robot.is_tree or not np.array_equal(robot.parent, np.arange(n) - 1) or n % 2:
        raise RobotError(f"robot {robot.name!r} has elastic links but is not a chain, {layout}")
    if not np.array_equal(arms.arm, np.arange(1, n, 2)) or not set(arms.body.tolist()) <= set(arms.arm.tolist()):
        raise RobotError(f"robot {robot.name!r}: elastic arms are the bodies {arms.arm.tolist()}, {layout}")
    kinds, axes = (JointKind.REVOLUTE, JointKind.PRISMATIC), np.eye(3)[[2, 0]]
    for i in range(n):
        place = np.array([arms.mouth[i // 2], 0.0, 0.0]) if i % 2 else np.zeros(3)
        straight = i % 2 == 0 or np.array_equal(robot.rotation[i], np.eye(3))
        if (
            robot.kind[i] != kinds[i % 2]
            or not np.array_equal(robot.axis[i], axes[i % 2])
            or not np.array_equal(robot.translation[i], place)
            or not straight
        ):
            body = robot.body_names[i]
            raise RobotError(f"robot {robot.name!r}: body {body!r} has the wrong joint or placement, {layout}")
    if np.any(robot.mass[::2] > 0):
        raise RobotError(f"robot {robot.name!r}: a sleeve has mass, expected massless sleeves with elastic arms")


def _check_modes(robot: "Robot", k: int, owner: str) -> None:
    arms = robot.elastic
    rows = np.flatnonzero(arms.body == arms.arm[k])
    if len(rows) == 0:
        raise RobotError(f"{owner}: no modes, expected at least one")
    found = [(int(arms.direction[row]), int(arms.order[row])) for row in rows]
    for direction, order in found:
        if direction not in STIFFNESS or not 1 <= order <= MAX_ORDER:
            shown = f"({NAMES.get(direction, direction)!r}, {order})"
            raise RobotError(
                f"{owner}: mode {shown}, expected a direction of x, y, z, t and an order from 1 to {MAX_ORDER}"
            )
        stiffness = STIFFNESS[direction]
        if getattr(arms, stiffness)[k] == 0:
            raise RobotError(
                f"{owner}: stiffness {stiffness} is 0, expected a positive number for the mode "
                f"({NAMES[direction]!r}, {order})"
            )
    for direction, order in set(found):
        if found.count((direction, order)) > 1:
            shown = f"({NAMES[direction]!r}, {order})"
            raise RobotError(f"{owner}: mode {shown} is given twice; the mass matrix would be singular")
    # Without section inertia, torsion modes move only the bodies at the tip, and any two modes move them alike.
    last = arms.arm[k] == robot.n - 1
    turning = sum(direction == TORSION for direction, _ in found)
    if arms.section_inertia[k, 0, 0] == 0 and turning > (0 if last else 1):
        where = "the last arm" if last else "an arm"
        raise RobotError(
            f"{owner}: {turning} torsion mode{'s' if turning > 1 else ''} on {where} without section_inertia about x, "
            "the mass matrix would be singular; expected section_inertia, or no torsion"
        )
