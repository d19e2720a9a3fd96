"""The right equations of another robot: gravity, placements, inertias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.robots.robot import Robot
from faults.planting import add, of_another_robot


def diagonals(robot: Robot) -> Any:
    return robot.inertia * np.eye(3)


def outer(robot: Robot) -> Any:
    return robot.mass[:, None, None] * np.einsum("ni,nj->nij", robot.com, robot.com)


def steiner(robot: Robot) -> Any:
    squares = robot.mass * (robot.com**2).sum(axis=1)
    return squares[:, None, None] * np.eye(3) - outer(robot)


def last_halved(values: Any) -> Any:
    values = values.copy()
    values[-1] *= 0.5
    return values


ROBOT_FAULTS: dict[str, dict[str, Callable[[Robot], Any]]] = {
    "no gravity": {"gravity": lambda r: np.zeros(3)},
    "gravity upwards": {"gravity": lambda r: -r.gravity},
    "gravity of magnitude 9.8 down, whatever the robot says": {"gravity": lambda r: np.array([0.0, 0.0, -9.8])},
    "placements transposed": {"rotation": lambda r: np.swapaxes(r.rotation, 1, 2)},
    "translations in the child's axes": {"translation": lambda r: np.einsum("nji,nj->ni", r.rotation, r.translation)},
    "joint axes reversed": {"axis": lambda r: -r.axis},
    "centres of mass ignored": {"com": lambda r: np.zeros_like(r.com)},
    "centres of mass on the other side": {"com": lambda r: -r.com},
    "products of inertia dropped": {"inertia": diagonals},
    "products of inertia with the other sign": {"inertia": lambda r: 2.0 * diagonals(r) - r.inertia},
    "parallel axes with c c^T added": {"inertia": lambda r: r.inertia + 2.0 * outer(r)},
    "parallel axes counted twice": {"inertia": lambda r: r.inertia + steiner(r)},
    "rotary inertia a thousand times too small": {"inertia": lambda r: 0.001 * r.inertia},
    "half the mass of the last body": {"mass": lambda r: last_halved(r.mass)},
    "model stored in float32": {"com": lambda r: r.com.astype(np.float32), "mass": lambda r: r.mass.astype(np.float32)},
}
for label, fields in ROBOT_FAULTS.items():
    add(label, of_another_robot(**fields))
