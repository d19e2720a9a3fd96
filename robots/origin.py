"""Where a robot comes from: what a file says besides the dynamics, and what of it is not used.

An `Origin` is for people (`Robot.inspect`): it is no part of a robot's identity, and no number is computed from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dynbench.robots.arrays import FloatArray


class Limits(NamedTuple):
    """Limits of a joint; None where there are none. They are not used in the dynamics."""

    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None


class Shape(NamedTuple):
    """A primitive shape of a link: its frame in the link's, its size along its axes, and its radii of gyration."""

    rotation: FloatArray  # (3, 3)
    centre: FloatArray  # (3,)
    size: FloatArray  # (3,) of the box around it, metres
    gyration: FloatArray  # (3,) squared radii of gyration about its axes, m^2


@dataclass(frozen=True)
class Link:
    """A link as a file describes it, before links on fixed joints are merged."""

    name: str
    mass: float
    com: FloatArray
    inertia: FloatArray  # about the com, link axes
    offset: float  # distance of its joint from the parent's, metres
    reach: float = 0.0  # largest distance of a child's joint from its own, metres
    shapes: tuple[Shape, ...] = ()
    moves: bool = True  # False: on a fixed joint


@dataclass(frozen=True)
class Origin:
    """What is known of a robot's file."""

    source: str  # path
    format: str  # "URDF", "MJCF", "robot file"
    base: str = ""  # why the base is fixed or floats
    locked: tuple[str, ...] = ()  # joints held at zero on request
    ignored: tuple[str, ...] = ()  # what the file has and the robot has not
    suspicions: tuple[str, ...] = ()  # found while reading
    links: tuple[Link, ...] = ()
    limits: Mapping[str, Limits] = field(default_factory=dict)
