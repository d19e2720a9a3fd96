"""Free-floating robots: a base with any number of arms, and joints with 1, 2 or 3 rotational degrees of freedom.

The terms are those of Khoshnood, Heidari Someeh and Hosseini Nami's recursive algorithm for multiple-arm space
manipulators. A link is described by

    to_joint    r_{i-1}: from the parent's centre of mass to the joint, parent axes (the base's for a first link)
    to_com      R_i: from the joint to the link's own centre of mass, link axes

The result is an ordinary robot: the base's frame is at its centre of mass, a link's frame at its joint. A joint
with two axes is modelled as two revolute joints with a massless cross between them, about the first axis and then about
the second; the axes need not be orthogonal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, frozen, numbers
from dynbench.robots.body import Body
from dynbench.robots.errors import RobotError
from dynbench.robots.families.trees import check_size, random_direction, random_inertia, random_rotation
from dynbench.robots.joints import Free, Joint, Revolute, Spherical
from dynbench.robots.robot import Robot

PARALLEL = 1e-6  # sine of the angle below which two axes count as parallel: M would be singular to 1e-12
FREEDOMS = (1, 2, 3)


@dataclass(frozen=True, eq=False, kw_only=True)
class ArmLink:
    """One link of an arm, and its joint.

    Parameters
    ----------
    mass : float
        Kilograms.
    inertia : array_like, shape (3, 3), or (3,) for a diagonal one
        About the centre of mass, link axes, kg m^2.
    to_joint : array_like, shape (3,)
        From the parent's centre of mass to the joint, parent axes, metres.
    to_com : array_like, shape (3,)
        From the joint to the link's centre of mass, link axes, metres.
    axes : array_like, shape (1, 3) or (2, 3), optional
        Axes of the joint in link axes, any length: the first turns first. None: a spherical joint.
    orientation : array_like, shape (3, 3), optional
        Rotation from link axes to parent axes when the joint is at zero; default: the identity.
    """

    mass: float
    inertia: ArrayLike
    to_joint: ArrayLike
    to_com: ArrayLike
    axes: ArrayLike | None = None
    orientation: ArrayLike | None = None

    def __post_init__(self) -> None:
        checked = {
            "to_joint": numbers("ArmLink", "to_joint", self.to_joint, (3,)),
            "to_com": numbers("ArmLink", "to_com", self.to_com, (3,)),
            "axes": None if self.axes is None else _axes(self.axes),
            "orientation": numbers(
                "ArmLink", "orientation", np.eye(3) if self.orientation is None else self.orientation, (3, 3)
            ),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, None if value is None else frozen(value, np.float64))

    @property
    def freedoms(self) -> int:
        """Number of rotational degrees of freedom of the joint."""
        return 3 if self.axes is None else len(np.asarray(self.axes))


def space_manipulator(
    base_mass: float,
    base_inertia: ArrayLike,
    arms: Sequence[Sequence[ArmLink]],
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    name: str = "space-manipulator",
) -> Robot:
    """Return a free-floating base with arms; bodies ``base``, ``arm1_link1``, ``arm1_link2``, ``arm2_link1``, ...

    Parameters
    ----------
    base_mass : float
        Kilograms.
    base_inertia : array_like, shape (3, 3), or (3,) for a diagonal one
        About the base's centre of mass, kg m^2; the base's frame is there.
    arms : sequence of sequences of ArmLink
        Each arm from its first link to its last.
    gravity : array_like, shape (3,)
        World axes, m/s^2; default zero.

    Raises
    ------
    RobotError
        If an arm has no links, the axes of a joint are parallel, or a body is not physical.
    """
    bodies = [Body(name="base", joint=Free(), mass=base_mass, inertia=base_inertia)]
    for a, arm in enumerate(arms, start=1):
        links = list(arm)
        if not links:
            raise RobotError(f"robot {name!r}: arm {a} has no links, expected at least one ArmLink")
        parent, to_com = "base", np.zeros(3)  # where the parent's centre of mass is in its own frame
        for i, link in enumerate(links, start=1):
            if not isinstance(link, ArmLink):
                raise RobotError(f"robot {name!r}: arm {a}, link {i} is {link!r}, expected an ArmLink")
            bodies += _link_bodies(link, f"arm{a}_link{i}", f"arm{a}_joint{i}", parent, to_com)
            parent, to_com = f"arm{a}_link{i}", np.asarray(link.to_com)
    return Robot.from_bodies(name, bodies, gravity=gravity)


def _link_bodies(link: ArmLink, name: str, joint: str, parent: str, parent_com: FloatArray) -> list[Body]:
    """Return the link, after the massless cross of its joint if that has two axes."""
    joints: list[Joint] = [Spherical(joint)]
    if link.axes is not None:
        joints = [Revolute(axis, joint) for axis in np.asarray(link.axes)]
    placement: tuple[ArrayLike, ArrayLike] = (np.asarray(link.orientation), parent_com + np.asarray(link.to_joint))
    bodies = []
    if len(joints) == 2:
        joints = [Revolute(axis, f"{joint}{end}") for axis, end in zip(np.asarray(link.axes), "ab", strict=True)]
        bodies = [Body(name=f"{name}_cross", parent=parent, joint=joints[0], placement=placement)]
        parent, placement = f"{name}_cross", (np.eye(3), np.zeros(3))
    return [
        *bodies,
        Body(
            name=name,
            parent=parent,
            joint=joints[-1],
            placement=placement,
            mass=link.mass,
            com=link.to_com,
            inertia=link.inertia,
        ),
    ]


def _axes(axes: ArrayLike) -> FloatArray:
    """Return the axes as unit rows."""
    rows = numbers("ArmLink", "axes", axes, (1, 3), (2, 3))
    lengths = np.linalg.norm(rows, axis=1)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise RobotError(f"ArmLink: axes are {rows.tolist()}, expected vectors of finite length other than zero")
    unit: FloatArray = rows / lengths[:, None]
    if len(unit) == 2 and np.linalg.norm(np.cross(*unit)) < PARALLEL:
        raise RobotError(
            f"ArmLink: the two axes {rows.tolist()} are parallel, expected different directions (or a single axis)"
        )
    return unit


# ---------------------------------------------------------------------- the paper's robot, and random ones


def space_dual_arm() -> Robot:
    """Return the paper's robot (table 1): two arms of two cylinders on spherical joints, the arms opposed along z.

    Table 1 gives magnitudes only. The links' inertias are those of cylinders along z, and with all angles zero all
    axes are parallel: the arms either point away from each other (here) or lie side by side
    (`space_dual_arm_parallel`).
    """
    up = np.array([0.0, 0.0, 0.5])
    return _dual_arm("space-dual-arm", [(up, up), (-up, -up)])


def space_dual_arm_parallel() -> Robot:
    """Return the paper's robot with both arms along +z, attached at x = 0.5 m and x = -0.5 m."""
    side, up = np.array([0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5])
    return _dual_arm("space-dual-arm-parallel", [(side, up), (-side, up)])


def _dual_arm(name: str, arms: Sequence[tuple[FloatArray, FloatArray]]) -> Robot:
    """Arms given by their attachment on the base and by half a link, the paper's R = r."""
    built = [
        [ArmLink(mass=61.27, inertia=[5.144, 5.144, 0.076], to_joint=r, to_com=half) for r in (attachment, half)]
        for attachment, half in arms
    ]
    return space_manipulator(base_mass=400.0, base_inertia=[900.0] * 3, arms=built, name=name)


def random_space_manipulator(
    arms: int = 2,
    links: int | Sequence[int] = 2,
    seed: int = 0,
    freedoms: Sequence[int] = FREEDOMS,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> Robot:
    """Return a random free-floating robot for testing: full inertias, oblique axes, rotated zero poses.

    Parameters
    ----------
    arms : int
    links : int, or one int per arm
    seed : int
    freedoms : sequence of 1, 2, 3
        Joints to draw from; the two axes of a joint are not orthogonal.
    """
    check_size("random_space_manipulator: arms", arms)
    counts = [links] * arms if isinstance(links, int) else list(links)
    if len(counts) != arms:
        raise RobotError(f"random_space_manipulator: links is {links!r}, expected one number or {arms}")
    if not freedoms or any(k not in FREEDOMS for k in freedoms):
        raise RobotError(f"random_space_manipulator: freedoms is {freedoms!r}, expected some of 1, 2, 3")
    rng = np.random.default_rng(seed)
    built = [[_random_link(rng, int(rng.choice(freedoms))) for _ in range(count)] for count in counts]
    base_mass = rng.uniform(2.0, 6.0)
    shape = "+".join(map(str, counts))
    return space_manipulator(
        base_mass=base_mass,
        base_inertia=random_inertia(rng, base_mass),
        arms=built,
        gravity=gravity,
        name=f"space-{shape}-seed{seed}",
    )


def space_arms(n: int, seed: int = 0) -> Robot:
    """Return a random free-floating base with n arms: each has a 3-DoF shoulder and a 1-DoF elbow.

    A larger one of the same seed starts with the arms of the smaller one.
    """
    check_size("space_arms", n)
    rng = np.random.default_rng(seed)
    base_mass = rng.uniform(2.0, 6.0)
    base_inertia = random_inertia(rng, base_mass)
    return space_manipulator(
        base_mass=base_mass,
        base_inertia=base_inertia,
        arms=[[_random_link(rng, 3), _random_link(rng, 1)] for _ in range(n)],
        name=f"space-arms-{n}" if seed == 0 else f"space-arms-{n}-seed{seed}",
    )


def _random_link(rng: np.random.Generator, freedoms: int) -> ArmLink:
    mass = rng.uniform(0.5, 2.0)
    first = random_direction(rng)
    across = np.cross(first, random_direction(rng))
    # 40 to 90 degrees between the axes: oblique, but far from parallel
    tilt = rng.uniform(0.7, 1.5)
    second = np.cos(tilt) * first + np.sin(tilt) * across / np.linalg.norm(across)
    return ArmLink(
        mass=mass,
        inertia=random_inertia(rng, mass),
        to_joint=rng.uniform(0.1, 0.4) * random_direction(rng),
        to_com=rng.uniform(0.1, 0.3) * random_direction(rng),
        axes={1: [first], 2: [first, second], 3: None}[freedoms],
        orientation=random_rotation(rng),
    )
