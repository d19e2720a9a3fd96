"""Closed linkages of humanoid legs: an ankle with two cranks and push rods, a knee with a crank and a push rod.

x is forward, y to the left, z up. At zero all joints are as drawn below, and the loops are closed: the lengths of rods
follow from the points that they connect. Numbers are those of an adult-sized leg, made up and round; they are the
defaults of arguments. With ``redundant=True`` there is one more actuator than degrees of freedom.

    knee, from the right                 ankle, from the right and from behind

       hip o                                crank o            o         o     shank, fixed
    crank o|                              <---/  |             |         |
       |   |  thigh                           |  | shank       |  rods   |
       |   |                             rod  |  |             |         |
     rod   |                                  |  |             |         |
       |   |                                  |  o ankle       |    o    |
       o---o knee                             o--+----         o---------o     foot
           |  shank
"""

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, numbers
from dynbench.robots.body import Body, Loop
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import Revolute
from dynbench.robots.robot import Robot

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
SAGITTAL = (True, False, True, False, False, False)
SHORTEST = 1e-6  # m, of a push rod
SLENDER = 1e-3  # moment of a rod about its own axis over that across it


def parallel_ankle(
    crank_points: ArrayLike = ((0.0, 0.05, 0.25), (0.0, -0.05, 0.3)),
    crank_length: float = 0.05,
    foot_points: ArrayLike = ((-0.055, 0.045, -0.02), (-0.055, -0.045, -0.02)),
    foot_mass: float = 1.2,
    foot_com: ArrayLike = (0.04, 0.0, -0.05),
    foot_inertia: ArrayLike = (0.0012, 0.0048, 0.0052),
    crank_mass: float = 0.12,
    rod_mass: float = 0.15,
    redundant: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    name: str = "parallel-ankle",
) -> Robot:
    """Return an ankle with pitch and roll, driven by two cranks in the shank through push rods: 2 degrees of freedom.

    The shank is fixed. The foot is on a universal joint, pitch then roll, at the origin. Each crank turns about y; its
    tip carries a rod by another universal joint, whose other end is a ball joint on the foot.

    Parameters
    ----------
    crank_points : array_like, shape (2, 3)
        Axes of the left and right crank, metres; the cranks point back, along -x.
    crank_length : float
        Metres.
    foot_points : array_like, shape (2, 3)
        Ends of the rods on the foot, foot axes from the ankle.
    foot_mass, foot_com, foot_inertia
        kg, m from the ankle, kg m^2 about the centre of mass.
    crank_mass, rod_mass : float
        Of uniform slender rods.
    redundant : bool
        Whether a motor drives the pitch joint as well.
    """
    owner = f"robot {name!r}"
    cranks = numbers(owner, "crank_points", crank_points, (2, 3))
    ends = numbers(owner, "foot_points", foot_points, (2, 3))
    bodies = [
        Body(name="cross", joint=Revolute(Y, name="pitch")),
        Body(
            name="foot", parent="cross", joint=Revolute(X, name="roll"), mass=foot_mass, com=foot_com,
            inertia=foot_inertia,
        ),
    ]  # fmt: skip
    loops = []
    tip = np.array([-crank_length, 0.0, 0.0])
    for side, at, end in zip(("left", "right"), cranks, ends, strict=True):
        turn, length = _towards(owner, at + tip, end)
        bodies += [
            _rod(f"{side}-crank", None, Revolute(Y), (np.eye(3), at), tip, crank_mass),
            Body(name=f"{side}-rod/y", parent=f"{side}-crank", joint=Revolute(Y), placement=(turn, tip)),
            _rod(
                f"{side}-rod", f"{side}-rod/y", Revolute(X), (np.eye(3), np.zeros(3)),
                np.array([0.0, 0.0, -length]), rod_mass,
            ),
        ]  # fmt: skip
        loops.append(
            Loop(
                body1="foot", body2=f"{side}-rod", placement1=(np.eye(3), end),
                placement2=(np.eye(3), [0.0, 0.0, -length]),
            )
        )  # fmt: skip
    actuated = ["left-crank", "right-crank", *(["pitch"] if redundant else [])]
    nothing = np.zeros(2 + 3 * len(cranks))
    return Robot.from_bodies(name, bodies, gravity, loops, actuated, home=nothing)


def knee_four_bar(
    thigh_length: float = 0.42,
    shank_length: float = 0.4,
    crank_point: ArrayLike = (0.0, 0.0, -0.1),
    crank_length: float = 0.06,
    lever: ArrayLike = (-0.05, 0.0, 0.01),
    mass: ArrayLike = (4.5, 2.4, 0.25, 0.3),
    redundant: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    name: str = "knee-four-bar",
) -> Robot:
    """Return a leg whose knee is driven by a crank in the thigh through a push rod: 2 degrees of freedom with the hip.

    Parameters
    ----------
    thigh_length, shank_length : float
        Hip to knee, knee to ankle, metres, along -z at zero.
    crank_point : array_like, shape (3,)
        Axis of the crank in the thigh, from the hip; the crank points back, along -x. y must be zero.
    crank_length : float
        Metres.
    lever : array_like, shape (3,)
        End of the rod on the shank, from the knee. y must be zero.
    mass : array_like, shape (4,)
        Of thigh, shank, crank and rod, kg: uniform slender rods.
    redundant : bool
        Whether a motor drives the knee joint as well.
    """
    owner = f"robot {name!r}"
    at, end = numbers(owner, "crank_point", crank_point, (3,)), numbers(owner, "lever", lever, (3,))
    for what, point in (("crank_point", at), ("lever", end)):
        if point[1] != 0.0:
            raise RobotError(f"{owner}: {what} is {point.tolist()}, expected y = 0: the linkage is planar")
    thigh, shank, crank, rod = (float(x) for x in numbers(owner, "mass", mass, (4,)))
    knee = np.array([0.0, 0.0, -thigh_length])
    tip = np.array([-crank_length, 0.0, 0.0])
    turn, length = _towards(owner, at + tip, knee + end)
    along = np.array([0.0, 0.0, -length])
    still = (np.eye(3), np.zeros(3))
    bodies = [
        _rod("thigh", None, Revolute(Y, name="hip"), still, knee, thigh),
        _rod("shank", "thigh", Revolute(Y, name="knee"), (np.eye(3), knee), np.array([0.0, 0.0, -shank_length]), shank),
        _rod("crank", "thigh", Revolute(Y), (np.eye(3), at), tip, crank),
        _rod("rod", "crank", Revolute(Y), (turn, tip), along, rod),
    ]
    loop = Loop(
        body1="shank", body2="rod", placement1=(np.eye(3), end), placement2=(np.eye(3), along), closes=SAGITTAL
    )
    actuated = ["hip", "crank", *(["knee"] if redundant else [])]
    return Robot.from_bodies(name, bodies, gravity, [loop], actuated, home=np.zeros(4))


def parallel_ankle_redundant() -> Robot:
    """Return the ankle with a third motor, on its pitch joint."""
    return parallel_ankle(redundant=True, name="parallel-ankle-redundant")


def knee_four_bar_redundant() -> Robot:
    """Return the leg with a third motor, on its knee joint."""
    return knee_four_bar(redundant=True, name="knee-four-bar-redundant")


def _towards(owner: str, start: FloatArray, end: FloatArray) -> tuple[FloatArray, float]:
    """Return a rotation whose -z axis points from start to end, with y as near to y as it can be, and the distance."""
    length = float(np.linalg.norm(end - start))
    if length < SHORTEST:
        raise RobotError(f"{owner}: a rod connects {start.tolist()} with itself, expected two points")
    z = (start - end) / length
    y = np.array(Y) - z[1] * z
    if np.linalg.norm(y) < 1e-3:
        ends = f"from {start.tolist()} to {end.tolist()}"
        raise RobotError(f"{owner}: a rod {ends} is along y, expected another direction")
    y /= np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z]), length


def _rod(
    name: str,
    parent: str | None,
    joint: Revolute,
    placement: tuple[FloatArray, FloatArray],
    end: FloatArray,
    mass: float,
) -> Body:
    """Return a uniform slender rod from the origin of its frame to ``end``."""
    length = float(np.linalg.norm(end))
    axis = np.outer(end, end) / length**2
    inertia = mass * length**2 / 12.0 * (np.eye(3) - (1.0 - SLENDER) * axis)
    return Body(name=name, parent=parent, joint=joint, placement=placement, mass=mass, com=end / 2.0, inertia=inertia)
