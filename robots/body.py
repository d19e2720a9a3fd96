"""The description of a robot (`Body`, `Loop`), and its parts as stored in a Robot (`Frame`, `Loops`, `Elastic`).

Frames, units and the meaning of a placement are stated once, in `dynbench.robots.robot`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, IntArray, frozen, numbers
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import KIND_OF, Fixed, Free, Joint
from dynbench.robots.text import name_error

Placement: TypeAlias = tuple[ArrayLike, ArrayLike]

IDENTITY: Placement = (np.eye(3), np.zeros(3))
EXTRAS = ("armature", "damping", "friction")  # numbers of a joint that act on its own coordinates only


@dataclass(frozen=True, eq=False, kw_only=True)
class Body:
    """One rigid body and the joint that connects it to its parent.

    Parameters
    ----------
    name : str
        Unique within the robot.
    joint : Revolute, Prismatic, Spherical, Free or Fixed
        Motion relative to the parent. Its name defaults to the body's.
    parent : str or None
        Name of the parent body; None is the ground.
    placement : (R, p), shapes (3, 3) and (3,)
        Joint frame in the parent body's frame at zero, metres: ``x_parent = R x_child + p``.
    mass : float
        Kilograms. A massless body is allowed if a descendant has mass.
    com : array_like, shape (3,)
        Centre of mass in body axes, metres.
    inertia : array_like, shape (3, 3), or (3,) for a diagonal one
        About the centre of mass, body axes, kg m^2.
    armature : float
        Inertia of the joint's rotor, gear ratio squared included, kg m^2 (kg for a prismatic joint): tau gets
        ``armature a``. Revolute, prismatic and spherical joints only, as for the next two.
    damping : float
        Viscous coefficient of the joint, N m s/rad (N s/m): tau gets ``damping v``.
    friction : float
        Coulomb friction of the joint, N m (N): tau gets ``friction sign(v)``, zero at rest.
    """

    name: str
    joint: Joint
    parent: str | None = None
    placement: Placement = IDENTITY
    mass: float = 0.0
    com: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    rotation: FloatArray = field(init=False, repr=False)
    translation: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        owner = f"body {self.name!r}"
        refused = name_error("a body's name", self.name)
        if refused is not None:
            raise RobotError(refused)
        if type(self.joint) is not Fixed and type(self.joint) not in KIND_OF:
            raise RobotError(
                f"{owner}: joint is {self.joint!r}, expected Revolute(axis), Prismatic(axis), Spherical(), "
                "Free() or Fixed()"
            )
        rotation, translation = _placement(owner, "placement", self.placement)
        inertia = numbers(owner, "inertia", self.inertia, (3, 3), (3,))
        stored = {
            "rotation": rotation,
            "translation": translation,
            "placement": (rotation, translation),
            "mass": float(numbers(owner, "mass", self.mass, ())),
            "com": frozen(numbers(owner, "com", self.com, (3,)), np.float64),
            "inertia": frozen(inertia if inertia.ndim == 2 else np.diag(inertia), np.float64),
        }
        stored |= {name: _extra(self, name) for name in EXTRAS}
        for name, value in stored.items():
            object.__setattr__(self, name, value)

    @property
    def joint_name(self) -> str:
        """Name of the joint: its own, or the body's."""
        return self.name if self.joint.name is None else self.joint.name


@dataclass(frozen=True, eq=False, kw_only=True)
class Loop:
    """A closure: a frame on ``body1`` and a frame on ``body2`` that coincide in the components ``closes``.

    Parameters
    ----------
    body1, body2 : str or None
        Names of the two bodies; None is the ground.
    placement1, placement2 : (R, p), shapes (3, 3) and (3,)
        The closure frame in each body's frame, metres.
    closes : six bools
        Which of the relative components, in axes of the first frame, are held at zero: translation
        x, y, z, rotation x, y, z. The default closes a ball joint; with two rotations it is a hinge about
        the third axis, with one a universal joint (`dynbench.robots.loops.closures` has the equations).
    """

    body1: str | None
    body2: str | None
    placement1: Placement = IDENTITY
    placement2: Placement = IDENTITY
    closes: Sequence[bool] = (True, True, True, False, False, False)

    def __post_init__(self) -> None:
        owner = f"loop between {self.body1!r} and {self.body2!r}"
        closes = tuple(bool(row) for row in self.closes)
        if len(closes) != 6 or not any(closes):
            raise RobotError(f"{owner}: closes is {self.closes!r}, expected six bools, one of them true")
        object.__setattr__(self, "closes", closes)
        object.__setattr__(self, "placement1", _placement(owner, "placement1", self.placement1))
        object.__setattr__(self, "placement2", _placement(owner, "placement2", self.placement2))


@dataclass(frozen=True, eq=False, kw_only=True)
class Spring:
    """A spring and damper between a point of ``body1`` and a point of ``body2``, along the line between them.

    With l the distance of the points and l' its rate, the force that pulls them together is
    ``stiffness (l - rest_length) + damping l'``.

    Parameters
    ----------
    body1, body2 : str or None
        Names of the two bodies; None is the ground.
    point1, point2 : array_like, shape (3,)
        In each body's frame (of the ground: the world's), metres.
    stiffness : float
        N/m.
    damping : float
        N s/m.
    rest_length : float
        Distance at which the spring has no force, metres.
    """

    body1: str | None
    body2: str | None
    point1: ArrayLike = (0.0, 0.0, 0.0)
    point2: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    damping: float = 0.0
    rest_length: float = 0.0

    def __post_init__(self) -> None:
        owner = f"spring between {self.body1!r} and {self.body2!r}"
        for name in ("point1", "point2"):
            object.__setattr__(self, name, frozen(numbers(owner, name, getattr(self, name), (3,)), np.float64))
        for name in ("stiffness", "damping", "rest_length"):
            value = float(numbers(owner, name, getattr(self, name), ()))
            if not 0.0 <= value < np.inf:
                raise RobotError(f"{owner}: {name} is {value:g}, expected a finite number >= 0")
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False, kw_only=True)
class Coupling:
    """A joint that follows another, as by a gear, a belt or a four-bar: ``q[joint] = multiplier q[follows] + offset``.

    Parameters
    ----------
    joint, follows : str
        Names of two revolute or prismatic joints.
    multiplier : float
        Of the coordinate that is followed.
    offset : float
        Radians, or metres for a prismatic joint.
    """

    joint: str
    follows: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        owner = f"coupling of joint {self.joint!r}"
        if self.joint == self.follows:
            raise RobotError(f"{owner}: it follows itself, expected another joint")
        for name in ("multiplier", "offset"):
            value = float(numbers(owner, name, getattr(self, name), ()))
            if not np.isfinite(value):
                raise RobotError(f"{owner}: {name} is {value:g}, expected a finite number")
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame fixed to a moving body (index, -1 = ground), made from a body on a Fixed joint."""

    name: str
    body: int
    rotation: FloatArray
    translation: FloatArray


class Loops(NamedTuple):
    """Loop closures as arrays, one row per closure; no rows for a tree."""

    body1: IntArray  # (k,) index of the first body, -1 = ground
    body2: IntArray  # (k,) index of the second body
    rotation1: FloatArray  # (k, 3, 3) closure frame in the first body's frame
    translation1: FloatArray  # (k, 3)
    rotation2: FloatArray  # (k, 3, 3) closure frame in the second body's frame
    translation2: FloatArray  # (k, 3)
    rows: IntArray  # (k, 6) 1 where the relative translation xyz, rotation xyz (first frame's axes) is closed


class Couplings(NamedTuple):
    """Couplings as arrays, one row each; see `Coupling`. No joint that is followed follows another."""

    joint: IntArray  # (c,) index of the body whose joint follows
    leader: IntArray  # (c,) index of the body whose joint it follows
    multiplier: FloatArray  # (c,)
    offset: FloatArray  # (c,)


class Springs(NamedTuple):
    """Springs and dampers as arrays, one row each; see `Spring`."""

    body1: IntArray  # (k,) index of the first body, -1 = ground
    body2: IntArray  # (k,)
    point1: FloatArray  # (k, 3) in the first body's frame
    point2: FloatArray  # (k, 3)
    stiffness: FloatArray  # (k,) N/m
    damping: FloatArray  # (k,) N s/m
    rest_length: FloatArray  # (k,) m


class Elastic(NamedTuple):
    """Elastic arms as arrays, one row per mode or per arm; no rows for rigid links.

    An arm is a uniform beam that slides through a rigid sleeve. Its body is on a Prismatic joint along x whose
    coordinate l is the length outside the sleeve, 0 < l < length; only that part bends (`robots.elastic.modes`).
    The body's frame is that of the deformed tip.
    """

    body: IntArray  # (k,) index of the arm the mode belongs to, ascending
    direction: IntArray  # (k,) 0 = axial x, 1 = bending y, 2 = bending z, 3 = torsion
    order: IntArray  # (k,) 1 = first mode of that direction
    arm: IntArray  # (m,) index of each elastic arm, ascending
    length: FloatArray  # (m,) of the whole arm, m
    mouth: FloatArray  # (m,) from the sleeve's frame to its mouth along x, m
    density: FloatArray  # (m,) mass per length, kg/m
    bending_z: FloatArray  # (m,) stiffness EI about z (of the y modes), N m^2
    bending_y: FloatArray  # (m,) stiffness EI about y (of the z modes), N m^2
    axial: FloatArray  # (m,) stiffness EA, N
    torsion: FloatArray  # (m,) stiffness GJ, N m^2
    section_inertia: FloatArray  # (m, 3, 3) rotary inertia per length, kg m


def no_loops() -> Loops:
    """Return the loops of a tree: arrays with zero rows."""
    none, rotation, vector = np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 3))
    return Loops(
        frozen(none, np.int64), frozen(none, np.int64), rotation, vector, rotation, vector,
        frozen(np.zeros((0, 6)), np.int64),
    )  # fmt: skip


def no_couplings() -> Couplings:
    """Return no couplings: arrays with zero rows."""
    none, number = frozen(np.zeros(0), np.int64), frozen(np.zeros(0), np.float64)
    return Couplings(none, none, number, number)


def no_springs() -> Springs:
    """Return no springs: arrays with zero rows."""
    none, number, vector = np.zeros(0), frozen(np.zeros(0), np.float64), frozen(np.zeros((0, 3)), np.float64)
    return Springs(frozen(none, np.int64), frozen(none, np.int64), vector, vector, number, number, number)


def no_modes() -> Elastic:
    """Return the modes of a robot with rigid links: arrays with zero rows."""
    none, number = frozen(np.zeros(0), np.int64), frozen(np.zeros(0), np.float64)
    section = frozen(np.zeros((0, 3, 3)), np.float64)
    return Elastic(none, none, none, none, number, number, number, number, number, number, number, section)


def _placement(owner: str, argument: str, placement: Placement) -> tuple[FloatArray, FloatArray]:
    try:
        rotation, translation = placement
    except (TypeError, ValueError):
        raise RobotError(f"{owner}: {argument} is {placement!r}, expected (R, p)") from None
    return (
        frozen(numbers(owner, f"{argument} rotation", rotation, (3, 3)), np.float64),
        frozen(numbers(owner, f"{argument} translation", translation, (3,)), np.float64),
    )


def _extra(body: Body, name: str) -> float:
    """Return the armature, damping or friction of a body's joint, if it is one that the joint can have."""
    owner = f"body {body.name!r}"
    value = float(numbers(owner, name, getattr(body, name), ()))
    if not 0.0 <= value < np.inf:
        raise RobotError(f"{owner}: {name} is {value:g}, expected a finite number >= 0")
    if value and isinstance(body.joint, Fixed | Free):
        kind = type(body.joint).__name__
        raise RobotError(
            f"{owner}: {name} is {value:g}, expected 0: a {kind} joint has no motor or bearing"
        )
    return value
