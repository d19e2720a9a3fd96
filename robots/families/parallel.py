"""Robots with closed loops: planar 3RRR, four-bar, five-bar, delta. All are spanning trees plus point closures.

The planar ones move in the x-y plane of space: revolute axes are z, and a closure holds x and y only, so no
closure is redundant. Inertias are given as the moment about z; the other two are half of it, as for a flat body.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, numbers, repeated
from dynbench.robots.body import Body, Loop, Placement
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import Prismatic, Revolute
from dynbench.robots.robot import Robot
from dynbench.robots.rotations import about_z

Z = (0.0, 0.0, 1.0)
IN_PLANE = (True, True, False, False, False, False)


def planar_3rrr(
    base_points: ArrayLike | None = None,
    platform_points: ArrayLike | None = None,
    link1: Mapping[str, ArrayLike] | None = None,
    link2: Mapping[str, ArrayLike] | None = None,
    platform_mass: float = 8.0,
    platform_inertia: float = 0.0817,
    elbow: ArrayLike = 1.0,
    gravity: ArrayLike = (0.0, 0.0),
    name: str = "3rrr",
) -> Robot:
    """Return a planar parallel robot: three legs of two links, driven at the base, carry a platform.

    Coordinates: for each leg the angle of link 1 from the x axis and of link 2 from link 1, then x, y of the platform's
    centre of mass and its angle. The default is the robot of Raoofian, Taghvaeipour and Kamali Eigoli (2017), table 1.

    Parameters
    ----------
    base_points : array_like, shape (3, 2)
        Motor axes in the plane, metres. Default: a triangle of side 1.2 m about the origin.
    platform_points : array_like, shape (3, 2)
        Where the legs meet the platform, from its centre of mass, platform axes. Default: side 0.4 m.
    link1, link2 : mapping
        ``length`` (3,), ``mass`` (3,), ``com`` (3, 2) in link axes (x along the link), ``inertia`` (3,) about the com.
    platform_mass, platform_inertia : float
        Kilograms, and kg m^2 about the centre of mass.
    elbow : array_like, scalar or shape (3,)
        Sign of sin(theta2) of each leg: its assembly mode.
    gravity : array_like, shape (2,)
        In the plane, m/s^2.
    """
    corners = np.deg2rad([210.0, 330.0, 90.0])
    triangle = np.column_stack([np.cos(corners), np.sin(corners)]) / np.sqrt(3.0)
    owner = f"robot {name!r}"
    base = numbers(owner, "base_points", 1.2 * triangle if base_points is None else base_points, (3, 2))
    tips = numbers(owner, "platform_points", 0.4 * triangle if platform_points is None else platform_points, (3, 2))
    first = _links(name, "link1", link1, 0.4, 3.0)
    second = _links(name, "link2", link2, 0.6, 4.0)
    sides = np.sign(repeated(owner, "elbow", elbow, 3))
    if not sides.all():
        raise RobotError(f"robot {name!r}: elbow is {elbow!r}, expected the signs +1 or -1")
    bodies, loops = [], []
    for j, leg in enumerate(("I", "II", "III")):
        bodies += [
            _link(f"link1-{leg}", None, base[j], first, j),
            _link(f"link2-{leg}", f"link1-{leg}", (first["length"][j], 0.0), second, j),
        ]
        tip = _at((second["length"][j], 0.0))
        # Body 2 is the leg: a multiplier is the force on its tip from the platform.
        loops.append(
            Loop(body1="platform", body2=f"link2-{leg}", placement1=_at(tips[j]), placement2=tip, closes=IN_PLANE)
        )
    bodies += [
        Body(name="slide-x", joint=Prismatic((1, 0, 0), name="platform-x")),
        Body(name="slide-y", parent="slide-x", joint=Prismatic((0, 1, 0), name="platform-y")),
        Body(
            name="platform",
            parent="slide-y",
            joint=Revolute(Z, name="platform-angle"),
            mass=platform_mass,
            inertia=_flat(platform_inertia),
        ),
    ]
    home = _home_3rrr(name, base, tips, first["length"], second["length"], sides)
    return _planar(name, bodies, loops, ["link1-I", "link1-II", "link1-III"], home, gravity, platform="platform")


def four_bar(
    ground: float = 1.0,
    lengths: ArrayLike = (0.4, 0.9, 0.8),
    mass: ArrayLike = (1.0, 2.0, 1.6),
    gravity: ArrayLike = (0.0, -9.81),
    name: str = "four-bar",
) -> Robot:
    """Return a four-bar linkage of uniform rods: crank (driven), coupler, rocker, in the x-y plane.

    Parameters
    ----------
    ground : float
        Distance from the crank's axis, at the origin, to the rocker's, on the x axis, metres.
    lengths, mass : array_like, shape (3,)
        Of crank, coupler and rocker. The default is a crank-rocker: the crank turns all the way round.
    """
    length, mass = (numbers(f"robot {name!r}", *pair, (3,)) for pair in (("lengths", lengths), ("mass", mass)))
    rods = _rods(length, mass)
    bodies = [
        _link("crank", None, (0.0, 0.0), rods, 0),
        _link("coupler", "crank", (length[0], 0.0), rods, 1),
        _link("rocker", None, (ground, 0.0), rods, 2),
    ]
    ends = _at((length[1], 0.0)), _at((length[2], 0.0))
    loop = Loop(body1="rocker", body2="coupler", placement1=ends[1], placement2=ends[0], closes=IN_PLANE)
    return _planar(name, bodies, [loop], ["crank"], [1.0, -0.7, 1.6], gravity)


def five_bar(
    ground: float = 0.3,
    lengths: ArrayLike = (0.25, 0.35, 0.25, 0.35),
    mass: ArrayLike = (0.8, 0.6, 0.8, 0.6),
    gravity: ArrayLike = (0.0, -9.81),
    name: str = "five-bar",
) -> Robot:
    """Return a five-bar linkage of uniform rods in the x-y plane: two driven cranks whose couplers meet in a pin.

    Parameters
    ----------
    ground : float
        Distance between the two motors on the x axis, metres, the first at the origin.
    lengths, mass : array_like, shape (4,)
        Of crank and coupler of the first arm, then of the second.
    """
    length, mass = (numbers(f"robot {name!r}", *pair, (4,)) for pair in (("lengths", lengths), ("mass", mass)))
    rods = _rods(length, mass)
    bodies = [
        _link("crank1", None, (0.0, 0.0), rods, 0),
        _link("coupler1", "crank1", (length[0], 0.0), rods, 1),
        _link("crank2", None, (ground, 0.0), rods, 2),
        _link("coupler2", "crank2", (length[2], 0.0), rods, 3),
    ]
    loop = Loop(
        body1="coupler1",
        body2="coupler2",
        placement1=_at((length[1], 0.0)),
        placement2=_at((length[3], 0.0)),
        closes=IN_PLANE,
    )
    return _planar(name, bodies, [loop], ["crank1", "crank2"], [2.4, -1.4, 0.7, 1.4], gravity)


def delta(
    base_radius: float = 0.2,
    arm_length: float = 0.3,
    rod_length: float = 0.6,
    platform_radius: float = 0.05,
    arm_mass: float = 0.5,
    rod_mass: float = 0.2,
    platform_mass: float = 0.4,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    name: str = "delta",
) -> Robot:
    """Return a delta robot: three driven arms and rods carry a platform that does not turn, below the base.

    Each parallelogram is modelled as one rod on a universal joint, with the mass of both rods, and the platform only
    translates along x, y, z, as the parallelograms make it. Ball closures connect rods and platform.

    Parameters
    ----------
    base_radius, platform_radius : float
        From the centre to the motor axes and to the rods' ends, metres.
    arm_length, rod_length, arm_mass, rod_mass, platform_mass : float
        Uniform thin bodies.
    """
    bodies, loops = [], []
    for j in range(3):
        turn = about_z(2.0 * np.pi * j / 3.0)  # x outward, y tangential
        arm, rod = arm_mass * arm_length**2 / 12.0, rod_mass * rod_length**2 / 12.0
        bodies += [
            Body(
                name=f"arm{j + 1}",
                joint=Revolute((0, 1, 0)),
                placement=(turn, base_radius * turn[:, 0]),
                mass=arm_mass,
                com=(arm_length / 2.0, 0.0, 0.0),
                inertia=(1e-2 * arm, arm, arm),
            ),
            Body(
                name=f"cross{j + 1}",
                parent=f"arm{j + 1}",
                joint=Revolute((0, 1, 0)),
                placement=(np.eye(3), (arm_length, 0.0, 0.0)),
            ),
            Body(
                name=f"rod{j + 1}",
                parent=f"cross{j + 1}",
                joint=Revolute((1, 0, 0)),
                mass=rod_mass,
                com=(0.0, 0.0, -rod_length / 2.0),
                inertia=(rod, rod, 1e-2 * rod),
            ),
        ]
        loops.append(
            Loop(
                body1="platform",
                body2=f"rod{j + 1}",
                placement1=(np.eye(3), platform_radius * turn[:, 0]),
                placement2=(np.eye(3), (0.0, 0.0, -rod_length)),
            )
        )
    disc = platform_mass * max(platform_radius, 1e-3) ** 2
    bodies += [
        Body(name="slide-x", joint=Prismatic((1, 0, 0), name="platform-x")),
        Body(name="slide-y", parent="slide-x", joint=Prismatic((0, 1, 0), name="platform-y")),
        Body(
            name="platform",
            parent="slide-y",
            joint=Prismatic((0, 0, 1), name="platform-z"),
            mass=platform_mass,
            inertia=(disc / 4.0, disc / 4.0, disc / 2.0),
        ),
    ]
    # arms level, rods leaning inward
    inward = base_radius + arm_length - platform_radius
    if not abs(inward) < rod_length:
        raise RobotError(f"robot {name!r}: rods of {rod_length} m do not reach the platform from level arms")
    lean = float(np.arcsin(inward / rod_length))
    home = [0.0, lean, 0.0] * 3 + [0.0, 0.0, -rod_length * float(np.cos(lean))]
    return Robot.from_bodies(
        name,
        bodies,
        gravity=gravity,
        loops=loops,
        actuated=["arm1", "arm2", "arm3"],
        platform="platform",
        home=home,
    )


def _planar(
    name: str,
    bodies: list[Body],
    loops: list[Loop],
    actuated: list[str],
    home: ArrayLike,
    gravity: ArrayLike,
    platform: str | None = None,
) -> Robot:
    """Return a robot in the x-y plane, with gravity of shape (2,)."""
    in_space = (*numbers(f"robot {name!r}", "gravity", gravity, (2,)), 0.0)
    return Robot.from_bodies(name, bodies, in_space, loops, actuated, platform=platform, home=home)


def _home_3rrr(
    name: str, base: FloatArray, tips: FloatArray, l1: FloatArray, l2: FloatArray, sides: FloatArray
) -> FloatArray:
    """Return the configuration in which the legs are farthest from stretched and from folded.

    If the legs are well bent there, the platform is at the centroid of the base, with angle zero.
    """
    span = np.ptp(base, axis=0).max()
    grid = np.linspace(-0.5, 0.5, 11) * span
    angles = np.linspace(-np.pi, np.pi, 16, endpoint=False)
    x, y, phi = (axis.ravel() for axis in np.meshgrid(grid, grid, angles, indexing="ij"))
    middle = np.array([*base.mean(axis=0), 0.0])
    pose = np.vstack([middle, np.column_stack([x, y, phi]) + middle])
    c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    R = np.stack([c, -s, s, c], axis=1).reshape(-1, 2, 2)
    P = pose[:, None, :2] + np.einsum("sij,lj->sli", R, tips) - base
    cos2 = ((P**2).sum(axis=2) - l1**2 - l2**2) / (2.0 * l1 * l2)
    bend = np.sqrt(np.maximum(0.0, 1.0 - cos2**2)).min(axis=1)
    k = 0 if bend[0] > 0.3 else int(bend.argmax())
    if bend[k] < 0.05:
        raise RobotError(
            f"robot {name!r}: the legs cannot reach the platform in any pose; expected longer links or closer points"
        )
    theta2 = sides * np.arccos(cos2[k])
    theta1 = np.arctan2(P[k, :, 1], P[k, :, 0]) - np.arctan2(l2 * np.sin(theta2), l1 + l2 * np.cos(theta2))
    return np.concatenate([np.column_stack([theta1, theta2]).ravel(), pose[k]])


def _links(
    name: str, argument: str, given: Mapping[str, ArrayLike] | None, length: float, mass: float
) -> dict[str, FloatArray]:
    """Return the three links of one kind as arrays, uniform rods by default."""
    shapes = {"length": (3,), "mass": (3,), "com": (3, 2), "inertia": (3,)}
    if given is None:
        return _rods(np.full(3, length), np.full(3, mass))
    if set(given) != set(shapes):
        raise RobotError(f"robot {name!r}: {argument} has {sorted(given)}, expected {sorted(shapes)}")
    return {key: numbers(f"robot {name!r}", f"{argument} {key}", given[key], shape) for key, shape in shapes.items()}


def _rods(length: FloatArray, mass: FloatArray) -> dict[str, FloatArray]:
    com = np.column_stack([length / 2.0, np.zeros_like(length)])
    return {"length": length, "mass": mass, "com": com, "inertia": mass * length**2 / 12.0}


def _link(name: str, parent: str | None, at: Any, links: Mapping[str, FloatArray], j: int) -> Body:
    return Body(
        name=name,
        parent=parent,
        joint=Revolute(Z),
        placement=_at(at),
        mass=float(links["mass"][j]),
        com=(*links["com"][j], 0.0),
        inertia=_flat(float(links["inertia"][j])),
    )


def _flat(moment: float) -> tuple[float, float, float]:
    return (0.5 * moment, 0.5 * moment, moment)


def _at(point: Any) -> Placement:
    return np.eye(3), (float(point[0]), float(point[1]), 0.0)
