"""The joints that connect bodies, and the number of their coordinates in q and v.

The meaning of the coordinates is stated in `dynbench.robots.robot`.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import IntArray, frozen
from dynbench.robots.errors import RobotError


class JointKind(IntEnum):
    """Codes of the moving joints, as stored in ``Robot.kind``."""

    REVOLUTE = 0
    PRISMATIC = 1
    SPHERICAL = 2
    FREE = 3


NQ: IntArray = frozen([1, 1, 4, 7], np.int64)  # coordinates in q, by JointKind
NV: IntArray = frozen([1, 1, 3, 6], np.int64)  # coordinates in v, by JointKind


@dataclass(frozen=True)
class Revolute:
    """Rotation about ``axis`` (joint frame; any length but zero, the robot stores it as a unit vector)."""

    axis: ArrayLike
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _three_numbers("Revolute", self.axis))


@dataclass(frozen=True)
class Prismatic:
    """Translation along ``axis`` (joint frame; any length but zero, the robot stores it as a unit vector)."""

    axis: ArrayLike
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _three_numbers("Prismatic", self.axis))


@dataclass(frozen=True)
class Spherical:
    """Ball joint: three rotations, no translation."""

    name: str | None = None


@dataclass(frozen=True)
class Free:
    """Six degrees of freedom; with the ground as parent, a floating base."""

    name: str | None = None


@dataclass(frozen=True)
class Fixed:
    """No motion: the body is merged into its parent and kept as a `Frame`."""

    name: str | None = None


Joint: TypeAlias = Revolute | Prismatic | Spherical | Free | Fixed

KIND_OF: dict[type, JointKind] = {
    Revolute: JointKind.REVOLUTE,
    Prismatic: JointKind.PRISMATIC,
    Spherical: JointKind.SPHERICAL,
    Free: JointKind.FREE,
}


def _three_numbers(joint: str, axis: ArrayLike) -> tuple[float, ...]:
    """Return ``axis`` as a tuple, so that joints stay comparable and hashable."""
    try:
        values = np.asarray(axis, dtype=np.float64)
    except (TypeError, ValueError):
        raise RobotError(f"{joint}: axis is {axis!r}, expected three numbers") from None
    if values.shape != (3,):
        raise RobotError(f"{joint}: axis has shape {values.shape}, expected (3,)")
    return tuple(map(float, values))
