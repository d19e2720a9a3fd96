"""Chains of elastic arms that turn about their joints and slide through rigid sleeves.

Source: Korayem, Shafei and co-workers, *Application of 3x3 rotation matrices in deriving the inverse dynamic equations
of elastic robotic manipulators with revolute-prismatic joints*, Modares Mechanical Engineering 13(1), 2013.

    tip of arm i-1  --Revolute z-->  sleeve i (massless)  --Prismatic x-->  arm i, whose frame is at its deformed tip

Coordinates are q_1, l_1, amplitudes of arm 1, q_2, l_2, ...: the angle, the length outside the sleeve, and one number
for each mode (`robots.elastic.modes`). The part inside the sleeve, of length L - l, is straight. With all amplitudes
zero, the robot is a chain of rigid rods, `rigid_twin`.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, repeated
from dynbench.robots.body import Body, Elastic, no_modes
from dynbench.robots.elastic.modes import DIRECTIONS
from dynbench.robots.errors import RobotError
from dynbench.robots.families.trees import check_size
from dynbench.robots.joints import Prismatic, Revolute
from dynbench.robots.robot import Robot
from dynbench.robots.rotations import about_x

GRAVITY = (0.0, 0.0, -9.81)
Mode = tuple[str, int]


def elastic_rp_chain(
    length: ArrayLike,
    density: ArrayLike,
    modes: Sequence[Sequence[Mode]],
    mouth: ArrayLike | None = None,
    bending_z: ArrayLike | None = None,
    bending_y: ArrayLike | None = None,
    axial: ArrayLike | None = None,
    torsion: ArrayLike | None = None,
    section_inertia: ArrayLike | None = None,
    twist: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
    name: str = "elastic-rp-chain",
) -> Robot:
    """Return a chain of n elastic arms, each turning with and sliding through its sleeve.

    Parameters are given per arm, shape (n,), or as one number for all arms.

    Parameters
    ----------
    length : array_like
        L of the arms, metres; the length outside the sleeve, l, is between 0 and L.
    density : array_like
        Mass per length, kg/m.
    modes : n sequences of (direction, order)
        For each arm at least one: direction "y" or "z" (bending in the x-y, x-z plane), "x" (longitudinal) or "t"
        (torsion), order 1, 2, ...; for example ``[[("y", 1), ("y", 2)], [("z", 1)]]``.
    mouth : array_like, optional
        From the revolute axis to the mouth of the sleeve, metres; default: L, a sleeve as long as its arm.
    bending_z, bending_y : array_like, optional
        Bending stiffness EI of the y modes and of the z modes, N m^2; needed with such modes.
    axial, torsion : array_like, optional
        EA in N and GJ in N m^2, of the x and of the t modes.
    section_inertia : array_like, shape (n, 3, 3) or (3, 3), optional
        Rotary inertia per length, kg m; default: none. Torsion at the end of the chain needs it.
    twist : array_like, optional
        Angle about the tip's x axis (the world's, for the first) at which each revolute axis is mounted, rad;
        default: 0.
    gravity : array_like, shape (3,)
        World axes, m/s^2.

    Raises
    ------
    RobotError
        If there are no modes, a length, density or required stiffness is not positive, or the mass matrix would be
        singular (torsion without inertia, the same mode twice).
    """
    n = _count(name, modes)
    numbers = {
        what: repeated(f"robot {name!r}", what, 0.0 if value is None else value, n)
        for what, value in {
            "length": length, "mouth": length if mouth is None else mouth, "density": density, "bending_z": bending_z,
            "bending_y": bending_y, "axial": axial, "torsion": torsion, "twist": twist,
        }.items()
    }  # fmt: skip
    rotary = np.zeros((3, 3)) if section_inertia is None else section_inertia
    section = repeated(f"robot {name!r}", "section_inertia", rotary, n, (3, 3))
    for what in ("length", "density"):
        for i in np.flatnonzero(~(numbers[what] > 0)):
            raise RobotError(f"robot {name!r}: {what}[{i}] is {numbers[what][i]:g}, expected a positive number")
    twists = numbers.pop("twist")
    rows = [(2 * i + 1, *_mode(name, i, mode)) for i in range(n) for mode in modes[i]]
    body, direction, order = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    arms = Elastic(body, direction, order, 2 * np.arange(n) + 1, **numbers, section_inertia=section)
    rigid = Robot.from_bodies(name, _bodies(arms, twists), gravity=gravity)
    return _with_arms(rigid, arms, name)


def rigid_twin(robot: Robot) -> Robot:
    """Return the robot with its arms rigid: the limit of infinite stiffness, coordinates q_1, l_1, q_2, ..."""
    return _with_arms(robot, no_modes(), f"{robot.name}-rigid")


def _with_arms(robot: Robot, arms: Elastic, name: str) -> Robot:
    of_size: dict[str, Any] = {"actuated": None, "home": None}  # recomputed for the new number of coordinates
    return dataclasses.replace(robot, name=name, elastic=arms, **of_size)


def elastic_rp1(modes: int = 2, name: str = "elastic-rp1") -> Robot:
    """Return the paper's robot: one steel arm in the horizontal plane, with the given number of bending modes.

    Which numbers are given in the surviving text, inferred or chosen is listed in the scenario of the paper
    (`dynbench.benchmarks.papers.gibbs_appell_elastic`).
    """
    check_size("elastic_rp1", modes)
    area, second_moment = 4e-4, 0.08 * 0.005**3 / 12  # an 80 mm x 5 mm strip, bent over its 5 mm
    return elastic_rp_chain(
        length=[1.0],
        density=[7850.0 * area],
        bending_z=[2e11 * second_moment],
        modes=[[("y", k + 1) for k in range(modes)]],
        gravity=(0.0, 0.0, -10.0),  # across the plane of motion
        name=name,
    )


def elastic_rp_family(n: int, seed: int = 0, modes: Sequence[Mode] = (("y", 1), ("z", 1))) -> Robot:
    """Return a random spatial chain of n arms; of the same seed, a longer one starts with the arms of a shorter one."""
    check_size("elastic_rp_family", n)
    rng = np.random.default_rng(seed)
    low, high = np.array([0.6, 1.0, 80.0, 80.0, 2e3, 20.0, -2.0]), np.array([1.2, 3.0, 200.0, 200.0, 6e3, 60.0, 2.0])
    drawn = rng.uniform(low, high, (n, len(low)))
    length, density, bending_z, bending_y, axial, torsion, twist = drawn.T
    return elastic_rp_chain(
        length=length,
        density=density,
        bending_z=bending_z,
        bending_y=bending_y,
        axial=axial,
        torsion=torsion,
        section_inertia=density[:, None, None] * np.diag([4e-3, 2e-3, 2e-3]),
        modes=[list(modes)] * n,
        twist=twist,
        gravity=(0.4, -9.7, 0.9),  # oblique, so that all components matter
        name=f"elastic-rp-{n}" if seed == 0 else f"elastic-rp-{n}-seed{seed}",
    )


def elastic_modes(n: int, seed: int = 0) -> Robot:
    """Return the first arm of `elastic_rp_family` alone, with modes y, z, x and t of the orders 1 to n, at most 50."""
    check_size("elastic_modes", n)
    modes = [(direction, order) for order in range(1, n + 1) for direction in "yzxt"]
    name = f"elastic-modes-{n}" if seed == 0 else f"elastic-modes-{n}-seed{seed}"
    return dataclasses.replace(elastic_rp_family(1, seed, modes), name=name)


def _bodies(arms: Elastic, twists: FloatArray) -> list[Body]:
    bodies: list[Body] = []
    for i, (L, mu) in enumerate(zip(arms.length, arms.density, strict=True)):
        slender = mu * L**3 / 12 * np.diag([0.0, 1.0, 1.0])
        bodies += [
            Body(
                name=f"sleeve{i + 1}",
                parent=f"arm{i}" if i else None,
                joint=Revolute([0, 0, 1], name=f"q{i + 1}"),
                placement=(about_x(twists[i]), np.zeros(3)),
            ),
            Body(
                name=f"arm{i + 1}",
                parent=f"sleeve{i + 1}",
                joint=Prismatic([1, 0, 0], name=f"l{i + 1}"),
                placement=(np.eye(3), [arms.mouth[i], 0, 0]),
                mass=mu * L,
                com=[-L / 2, 0, 0],
                inertia=slender + L * arms.section_inertia[i],
            ),
        ]
    return bodies


def _count(name: str, modes: Sequence[Sequence[Mode]]) -> int:
    if isinstance(modes, str) or not isinstance(modes, Sequence) or len(modes) == 0:
        raise RobotError(f"robot {name!r}: modes is {modes!r}, expected a list of (direction, order) for each arm")
    for i, given in enumerate(modes):
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) == 0:
            raise RobotError(
                f"robot {name!r}: arm {i + 1} has no modes (modes[{i}] is {given!r}), expected at least one, such as "
                "('y', 1); for a chain of rigid arms use rp_chain"
            )
    return len(modes)


def _mode(name: str, i: int, mode: Mode) -> tuple[int, int]:
    try:
        direction, order = mode
        return DIRECTIONS[direction], int(order)
    except (TypeError, ValueError, KeyError):
        raise RobotError(
            f"robot {name!r}: arm {i + 1} has the mode {mode!r}, expected (direction, order) with direction 'y', 'z' "
            "(bending), 'x' (longitudinal) or 't' (torsion), and order 1, 2, ..."
        ) from None
