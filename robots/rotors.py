"""Rotors: motors as bodies of their own, geared to their joints.

An armature is what a joint feels of its rotor: n^2 J, with n the gear ratio and J the rotor's moment of inertia about
its axis. A rotor on a body that turns does more. With u its axis, omega the angular velocity of the body that carries
it and q' the rate of the joint, it adds to the kinetic energy of the robot with the rotor held still

    J n q' (u . omega) + J n^2 q'^2 / 2

and an armature is the second term alone. From the first come a force J n (u . omega') at the joint, and on the carrier
the moment J n q'' along u and the gyroscopic moment J n q' (omega x u).

`with_rotors` makes each rotor a body whose joint follows the geared one (`Coupling`), which is exact. `as_armature`
does the reverse, for comparison.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, IntArray, numbers
from dynbench.robots.body import EXTRAS, Couplings
from dynbench.robots.edit import locked
from dynbench.robots.errors import RobotError, RobotWarning, near
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.robot import Robot
from dynbench.robots.validate import unphysical

SUFFIX = "_rotor"
ROUNDING = 1e-9  # of a rotor's balance and symmetry, relative


@dataclass(frozen=True, eq=False, kw_only=True)
class Rotor:
    """The rotor of a joint's motor, balanced and symmetric about its axis.

    A rotor has no mass of its own: masses of robot files include those of motors. Where it sits does not matter then.

    Parameters
    ----------
    joint : str
        The revolute or prismatic joint that it drives.
    ratio : float
        Turns of the rotor, relative to the body that carries it, for each turn of the joint; radians per metre of a
        prismatic joint. Negative if they turn in opposite senses.
    inertia : float, optional
        Moment of inertia about its axis, kg m^2. Default: the joint's armature / ratio^2.
    body : str, optional
        Body or frame that carries it. Default: the body that the joint is on, or the ground.
    axis : array_like, shape (3,), optional
        Its axis, in axes of the body that carries it (of the ground: the world's). Default: that of the joint at zero.
    included : bool
        Whether the inertia of the body that carries it includes the rotor, held still, as those of robot files do. It
        is then taken from it; otherwise a thin disc is added.
    """

    joint: str
    ratio: float
    inertia: float | None = None
    body: str | None = None
    axis: ArrayLike | None = None
    included: bool = True

    def __post_init__(self) -> None:
        owner = f"rotor of joint {self.joint!r}"
        ratio = float(numbers(owner, "ratio", self.ratio, ()))
        if not np.isfinite(ratio) or ratio == 0.0:
            raise RobotError(f"{owner}: ratio is {ratio:g}, expected a finite number, not zero")
        object.__setattr__(self, "ratio", ratio)
        if self.inertia is not None:
            inertia = float(numbers(owner, "inertia", self.inertia, ()))
            if not 0.0 < inertia < np.inf:
                raise RobotError(f"{owner}: inertia is {inertia:g}, expected a finite number > 0")
            object.__setattr__(self, "inertia", inertia)
        if self.axis is not None:
            axis = numbers(owner, "axis", self.axis, (3,))
            length = float(np.linalg.norm(axis))
            if not 1e-12 < length < np.inf:
                raise RobotError(f"{owner}: axis is {axis.tolist()}, expected finite numbers, not all zero")
            object.__setattr__(self, "axis", axis / length)


def with_rotors(robot: Robot, rotors: Iterable[Rotor], name: str | None = None) -> Robot:
    """Return the robot with rotors as bodies of their own, which take the place of their joints' armatures.

    The rotor of a joint "elbow" is the body "elbow_rotor" on a joint of the same name. The rotors' coordinates are the
    last of q, v and a and follow those of their joints; forces and the mass matrix stay those of the other joints.

    Parameters
    ----------
    rotors : iterable of Rotor
    name : str, optional
        Name of the new robot; by default that of the given one.

    Raises
    ------
    RobotError
        If a rotor is not one of a revolute or prismatic joint, or has more inertia than the body that includes it.
    """
    given = list(rotors)
    if robot.is_elastic:
        raise RobotError(f"robot {robot.name!r} has elastic links, which cannot carry rotors")
    for one in given:
        if not isinstance(one, Rotor):
            raise RobotError(f"robot {robot.name!r}: rotors holds {one!r}, expected robots.Rotor(...)")
    if not given:
        return robot if name is None else dataclasses.replace(robot, name=name)
    armature, inertia = robot.armature.copy(), robot.inertia.copy()
    placed: list[tuple[int, FloatArray, FloatArray]] = []  # carrier, axis, inertia
    coupled: list[tuple[int, float, float]] = []  # leader, multiplier, offset
    for one in given:
        joint = _joint(robot, one)
        carrier, axis, disc = _placed(robot, one, joint)
        if carrier >= 0 and one.included:
            inertia[carrier] -= disc
            _check_left(robot, one, carrier, inertia[carrier])
        armature[joint] = 0.0
        placed.append((carrier, axis, disc))
        coupled.append(_followed(robot, joint, one.ratio))
    count, names = len(given), tuple(f"{one.joint}{SUFFIX}" for one in given)
    carriers, axes, discs = zip(*placed, strict=True)
    none, centres = np.zeros(count), [robot.com[k] if k >= 0 else np.zeros(3) for k in carriers]
    added = {
        "parent": carriers, "kind": [JointKind.REVOLUTE] * count, "axis": axes, "rotation": [np.eye(3)] * count,
        "translation": centres, "mass": none, "com": np.zeros((count, 3)), "inertia": discs,
        **dict.fromkeys(EXTRAS, none),
    }  # fmt: skip
    before = {key: getattr(robot, key) for key in added} | {"armature": armature, "inertia": inertia}
    leader, multiplier, offset = (np.array(column) for column in zip(*coupled, strict=True))
    following = (robot.n + np.arange(count), leader, multiplier, offset)
    return dataclasses.replace(
        robot,
        name=name or robot.name,
        body_names=(*robot.body_names, *names),
        joint_names=(*robot.joint_names, *names),
        home=np.append(robot.home, multiplier * robot.home[robot.iq[leader]] + offset),
        couplings=Couplings(*map(np.concatenate, zip(robot.couplings, following, strict=True))),
        **{key: np.concatenate([before[key], np.array(new)]) for key, new in added.items()},
    )


def as_armature(robot: Robot) -> Robot:
    """Return the robot with its rotors held still on their carriers, and armatures n^2 J in their place."""
    found = rotors_of(robot)
    if not found:
        return robot
    names = [robot.joint_names[i] for i in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # inertias that no body has were warned about before
        still = locked(robot, names)
    armature = still.armature.copy()
    for i in found:
        armature[still.joint_names.index(robot.joint_names[leader_of(robot, i)])] += felt_inertia(robot, i)
    frames = tuple(frame for frame in still.frames if frame.name not in {robot.body_names[i] for i in found})
    return dataclasses.replace(still, armature=armature, frames=frames, origin=robot.origin)


def rotors_of(robot: Robot) -> list[int]:
    """Return the bodies that are rotors: they follow another joint, carry nothing, and are balanced and symmetric."""
    others = [robot.parent, robot.loops.body1, robot.loops.body2, robot.springs.body1, robot.springs.body2]
    carrying = {*np.concatenate(others).tolist(), *(frame.body for frame in robot.frames), robot.platform}
    return [int(i) for i in robot.couplings.joint if int(i) not in carrying and _spins(robot, int(i))]


def felt_inertia(robot: Robot, i: int) -> float:
    """Return n^2 J, the armature that stands for rotor i."""
    moment = robot.axis[i] @ robot.inertia[i] @ robot.axis[i]
    return float(robot.couplings.multiplier[_row(robot, i)] ** 2 * moment)


def leader_of(robot: Robot, i: int) -> int:
    """Return the body whose joint rotor i follows."""
    return int(robot.couplings.leader[_row(robot, i)])


def coordinates(robot: Robot, plain: Robot) -> tuple[IntArray, IntArray]:
    """Return the indices in q and v of the robot that the coordinates of ``plain``, its `as_armature`, have."""
    found = []
    for first, width in ((robot.iq, NQ), (robot.iv, NV)):
        bodies = [robot.joint_names.index(name) for name in plain.joint_names]
        found.append(np.concatenate([np.arange(first[i], first[i] + width[robot.kind[i]]) for i in bodies]))
    return found[0], found[1]


def puma560_geared() -> Robot:
    """Return the Puma 560 with the rotors of its motors.

    Moments of inertia and gear ratios are those that Corke and Armstrong-Helouvry (1994) report. Each rotor turns about
    the axis of its joint, on the link before it, as in most textbooks; in the machine some sit elsewhere.
    """
    from dynbench.robots.zoo import load

    ratios = (-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686)
    moments = (200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6)
    robot = load("puma560")
    rotors = (
        Rotor(joint=joint, ratio=ratio, inertia=moment, included=False)
        for joint, ratio, moment in zip(robot.joint_names, ratios, moments, strict=True)
    )
    return with_rotors(robot, rotors, name="puma560-geared")


def _joint(robot: Robot, one: Rotor) -> int:
    if one.joint not in robot.joint_names:
        hint = near(one.joint, robot.joint_names)
        raise RobotError(f"robot {robot.name!r}: a rotor names {one.joint!r}, which is no moving joint; {hint}")
    i = robot.joint_names.index(one.joint)
    if NV[robot.kind[i]] != 1:
        said = JointKind(int(robot.kind[i])).name.lower()
        raise RobotError(
            f"robot {robot.name!r}: a rotor names {one.joint!r}, a {said} joint; expected a revolute or prismatic one"
        )
    return i


def _placed(robot: Robot, one: Rotor, joint: int) -> tuple[int, FloatArray, FloatArray]:
    """Return the body that carries a rotor, its axis there, and the inertia of a thin disc with its moment J.

    Which symmetric body of that moment is taken from the carrier and put on a bearing does not matter.
    """
    owner = f"robot {robot.name!r}: rotor of joint {one.joint!r}"
    carrier, rotation = int(robot.parent[joint]), np.eye(3)
    if one.body is not None:
        places = {name: (i, np.eye(3)) for i, name in enumerate(robot.body_names)}
        places |= {frame.name: (frame.body, frame.rotation) for frame in robot.frames}
        if one.body not in places:
            raise RobotError(f"{owner}: body is {one.body!r}, which is no body or frame; {near(one.body, places)}")
        carrier, rotation = places[one.body]
    if one.axis is not None:
        axis = rotation @ np.asarray(one.axis)
    elif one.body is None:
        axis = robot.rotation[joint] @ robot.axis[joint]
    else:
        raise RobotError(f"{owner}: expected its axis, since it is on body {one.body!r}")
    axis = axis / np.linalg.norm(axis)
    moment = robot.armature[joint] / one.ratio**2 if one.inertia is None else one.inertia
    if moment == 0.0:
        raise RobotError(f"{owner}: expected its inertia, since the joint has no armature")
    return carrier, axis, 0.5 * moment * (np.eye(3) + np.outer(axis, axis))


def _check_left(robot: Robot, one: Rotor, carrier: int, left: FloatArray) -> None:
    body = [robot.body_names[carrier]]
    wrong = [] if unphysical(body, robot.inertia[carrier][None]) else unphysical(body, left[None])
    if wrong:
        raise RobotError(
            f"robot {robot.name!r}: rotor of joint {one.joint!r}: expected a body that includes the rotor "
            f"(else included=False), but without it {wrong[0]}"
        )


def _followed(robot: Robot, joint: int, ratio: float) -> tuple[int, float, float]:
    """Return the joint that a rotor follows, with multiplier and offset: none that itself follows another."""
    for follower, leader, multiplier, offset in zip(*robot.couplings, strict=True):
        if follower == joint:
            return int(leader), ratio * float(multiplier), ratio * float(offset)
    return joint, ratio, 0.0


def _row(robot: Robot, i: int) -> int:
    return robot.couplings.joint.tolist().index(i)


def _spins(robot: Robot, i: int) -> bool:
    """Whether a body is balanced and symmetric about the axis of its joint, a revolute one without extras."""
    if robot.kind[i] != JointKind.REVOLUTE or any(getattr(robot, name)[i] for name in EXTRAS):
        return False
    axis, com, inertia = robot.axis[i], robot.com[i], robot.inertia[i]
    moment = axis @ inertia @ axis
    across = 0.5 * (np.trace(inertia) - moment)
    symmetric = across * np.eye(3) + (moment - across) * np.outer(axis, axis)
    beside = np.linalg.norm(np.cross(axis, com)) * (robot.mass[i] > 0.0)
    size = np.abs(inertia).max()
    return bool(size > 0.0 and np.abs(inertia - symmetric).max() < ROUNDING * size and beside < ROUNDING)
