"""Joint extras by coordinate: armature, viscous damping, Coulomb friction. Their meaning: `dynbench.robots.robot`."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynbench.robots.arrays import FloatArray, frozen
from dynbench.robots.body import EXTRAS
from dynbench.robots.joints import NV

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


class Extras(NamedTuple):
    """Coefficients of each coordinate, shapes (nv,); those of modal coordinates and free joints are zero."""

    armature: FloatArray
    damping: FloatArray
    friction: FloatArray


def by_coordinate(robot: "Robot") -> Extras:
    """Return the coefficients of the joints, repeated for each of their coordinates."""
    found = [np.zeros(robot.nv) for _ in EXTRAS]
    for i, start in enumerate(robot.iv):
        for array, name in zip(found, EXTRAS, strict=True):
            array[start : start + NV[robot.kind[i]]] = getattr(robot, name)[i]
    return Extras(*(frozen(array, np.float64) for array in found))


def losses(robot: "Robot", v: FloatArray) -> FloatArray:
    """Return the forces that damping and friction take, ``damping v + friction sign(v)``, shape of ``v``."""
    return np.asarray(robot.extras.damping * v + robot.extras.friction * np.sign(v))


def forces(robot: "Robot", v: FloatArray, a: FloatArray) -> FloatArray:
    """Return what the extras add to the joint forces, ``armature a + damping v + friction sign(v)``."""
    return np.asarray(robot.extras.armature * a + losses(robot, v))
