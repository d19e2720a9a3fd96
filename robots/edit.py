"""Robots made of robots: joints locked, a floating base fixed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from dynbench.robots import couplings
from dynbench.robots.body import EXTRAS, Body, Coupling, Loop, Spring
from dynbench.robots.errors import RobotError, UnknownNameError, near
from dynbench.robots.joints import NQ, NV, Fixed, Free, Joint, JointKind, Prismatic, Revolute, Spherical
from dynbench.robots.sources import Options

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


def locked(robot: Robot, joints: Collection[str], base: str | None = None) -> Robot:
    """Return the robot with joints held at zero (of quaternions: at no rotation); their bodies become frames.

    Parameters
    ----------
    joints : names of joints
    base : str, optional
        What to say of the base, see `Origin`.
    """
    from dynbench.robots.robot import Robot

    for name in joints:
        if name not in robot.joint_names:
            hint = near(name, robot.joint_names)
            raise UnknownNameError(f"robot {robot.name!r} has no joint {name!r} to lock; {hint}")
    if robot.is_elastic:
        raise RobotError(f"robot {robot.name!r} has elastic links, whose joints cannot be locked")
    kept = [k for i in range(robot.n) if robot.joint_names[i] not in joints for k in _coordinates(robot, i)]
    lost = sorted(set(robot.actuated.tolist()) - set(kept))
    arguments: dict[str, Any] = {"couplings": _couplings(robot, joints)}
    if len(robot.loops.body1):
        if lost:
            raise RobotError(
                f"robot {robot.name!r} has loops, and joints that are actuated cannot be locked: "
                f"{', '.join(sorted(joints))}"
            )
        arguments["actuated"] = [kept.index(k) for k in robot.actuated.tolist()]
        moving = [i for i in range(robot.n) if robot.joint_names[i] not in joints]
        arguments["home"] = np.concatenate([robot.home[robot.iq[i] :][: NQ[robot.kind[i]]] for i in moving])
        if robot.force_weights.size:
            arguments["force_weights"] = robot.force_weights
    if robot.platform >= 0:
        arguments["platform"] = robot.body_names[robot.platform]
    origin = robot.origin
    if origin is not None:
        origin = dataclasses.replace(origin, locked=(*origin.locked, *joints), base=base or origin.base)
    return Robot.from_bodies(
        robot.name,
        bodies(robot, joints),
        gravity=robot.gravity,
        loops=loops(robot),
        springs=springs(robot),
        strict=False,
        origin=origin,
        **arguments,
    )


def edited(robot: Robot, options: Options) -> Robot:
    """Return a robot with its base fixed or joints locked, as far as that can be done without its file."""
    if options.base == "floating" and not robot.is_floating:
        raise RobotError(
            f"robot {robot.name!r} cannot float: its description has no base body; expected a URDF file, or a robot "
            "file whose base is a body on a free joint"
        )
    if options.mimic is not None:
        raise RobotError(f"robot {robot.name!r}: mimic is {options.mimic!r}, which is for URDF and MJCF files only")
    if options.base == "fixed":
        robot = fixed_base(robot)
    return locked(robot, options.locked) if options.locked else robot


def fixed_base(robot: Robot) -> Robot:
    """Return the robot with its free joints on the ground held at zero; the robot itself if there are none."""
    free = np.flatnonzero((robot.kind == JointKind.FREE) & (robot.parent < 0))
    if not len(free):
        return robot
    return locked(robot, [robot.joint_names[i] for i in free], base="fixed, as asked for")


def bodies(robot: Robot, fixed: Collection[str] = ()) -> list[Body]:
    """Return the description of a robot, with the joints ``fixed`` on Fixed joints, and its frames."""
    names = (*robot.body_names, None)
    found = []
    for i, name in enumerate(robot.body_names):
        stays = robot.joint_names[i] in fixed
        extras = {} if stays else {key: float(getattr(robot, key)[i]) for key in EXTRAS}
        found.append(
            Body(
                name=name,
                parent=names[robot.parent[i]],
                joint=Fixed(name=robot.joint_names[i]) if stays else joint(robot, i),
                placement=(robot.rotation[i], robot.translation[i]),
                mass=float(robot.mass[i]),
                com=robot.com[i],
                inertia=robot.inertia[i],
                **extras,
            )
        )
    placed = ((frame, (frame.rotation, frame.translation)) for frame in robot.frames)
    found += [Body(name=x.name, parent=names[x.body], joint=Fixed(), placement=at) for x, at in placed]
    return found


def joint(robot: Robot, i: int) -> Joint:
    """Return the joint of body i as it is described."""
    name = robot.joint_names[i]
    match JointKind(int(robot.kind[i])):
        case JointKind.REVOLUTE:
            return Revolute(robot.axis[i], name=name)
        case JointKind.PRISMATIC:
            return Prismatic(robot.axis[i], name=name)
        case JointKind.SPHERICAL:
            return Spherical(name=name)
        case _:
            return Free(name=name)


def loops(robot: Robot) -> list[Loop]:
    """Return the closures of a robot as they are described."""
    names, given = (*robot.body_names, None), robot.loops
    return [
        Loop(
            body1=names[given.body1[k]],
            body2=names[given.body2[k]],
            placement1=(given.rotation1[k], given.translation1[k]),
            placement2=(given.rotation2[k], given.translation2[k]),
            closes=tuple(bool(row) for row in given.rows[k]),
        )
        for k in range(len(given.body1))
    ]


def springs(robot: Robot) -> list[Spring]:
    """Return the springs of a robot as they are described."""
    names, given = (*robot.body_names, None), robot.springs
    return [
        Spring(
            body1=names[given.body1[k]],
            body2=names[given.body2[k]],
            point1=given.point1[k],
            point2=given.point2[k],
            stiffness=float(given.stiffness[k]),
            damping=float(given.damping[k]),
            rest_length=float(given.rest_length[k]),
        )
        for k in range(len(given.body1))
    ]


def _couplings(robot: Robot, locked: Collection[str]) -> list[Coupling]:
    """Return the couplings that are left when joints are locked; one that follows a locked joint cannot move."""
    left = [one for one in couplings.described(robot) if one.joint not in locked]
    for one in left:
        if one.follows in locked:
            raise RobotError(
                f"robot {robot.name!r}: joint {one.joint!r} follows {one.follows!r}, which is locked; lock it too"
            )
    return left


def _coordinates(robot: Robot, i: int) -> range:
    return range(int(robot.iv[i]), int(robot.iv[i] + NV[robot.kind[i]]))
