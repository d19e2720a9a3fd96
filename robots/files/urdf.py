"""URDF files: ``from_urdf("arm.urdf") -> Robot``.

Read by a small parser based on `defusedxml`: yourdfpy depends on trimesh and others for meshes, which are not needed
here, and urdf-parser-py is no longer maintained.

Read are links with their inertia, and joints with their placements, axes, damping, friction and mimic. Ignored are
meshes, limits, transmissions, extension elements, and the damping and friction of joints of type floating and planar.

* Bodies come depth first, children sorted by the name of their joint. This is Pinocchio's order, so `q`
  is the same (except for continuous joints: one angle here, cosine and sine in Pinocchio).
* ``revolute``, ``continuous``, ``prismatic``, ``floating``, ``fixed`` are joints of the Robot. A ``planar``
  joint becomes two prismatic ones in the plane normal to its axis and a revolute one about it, with massless
  bodies in between.
* The root link is fixed to the ground, or moves by a free joint ``root_joint``; see ``floating_base``.
* A link without <inertial> is massless, which is accepted if a descendant has mass. An <inertial> without <mass> or
  <inertia>, or with an invalid number, is an error.
* Links connected by fixed joints are checked as one body. Sensor and base links often have a placeholder inertia
  (1e-6 in all six entries) that is not physical by itself.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray
from dynbench.robots.body import Body, Coupling
from dynbench.robots.build import merged
from dynbench.robots.errors import RobotError, near
from dynbench.robots.files import urdf_origin
from dynbench.robots.files.urdf_xml import MAX_BODIES, Document, read_xml
from dynbench.robots.joints import Fixed, Free, Joint, Prismatic, Revolute
from dynbench.robots.robot import Robot
from dynbench.robots.rotations import from_rpy

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_NEEDS_AXIS = ("revolute", "continuous", "prismatic", "planar")
_HAS_EXTRAS = ("revolute", "continuous", "prismatic")

Mimic = Literal["coupled", "independent", "refuse"]


def from_urdf(
    path: str | os.PathLike[str],
    floating_base: bool | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    name: str | None = None,
    *,
    mimic: Mimic = "coupled",
    locked: Collection[str] = (),
    strict: bool = True,
    document: Document | None = None,
) -> Robot:
    """Return the robot that a URDF file describes.

    Parameters
    ----------
    path : path of the file
        Expanded URDF; for xacro macros there is `from_xacro`.
    floating_base : bool, optional
        Connect the root link to the ground by a free joint called ``root_joint``, or fix it. By default it is fixed,
        unless the file is one of example-robot-data's that this package loads with a free base.
    gravity : shape (3,)
        Acceleration of gravity, world axes, m/s^2.
    name : str, optional
        Name of the robot; by default the file's own.
    mimic : "coupled", "independent" or "refuse"
        A joint that mimics another follows it by a `Coupling`, gets a coordinate of its own (Pinocchio's default), or
        is an error. On fixed and locked joints <mimic> has no effect.
    locked : names of joints
        Joints held at zero: their links are merged with the parent, as by a fixed joint.
    strict : bool
        Whether an inertia that no rigid body has is an error, or only a RobotWarning.
    document : Document, optional
        The content, if it is not that of the file: an expanded xacro file.

    Raises
    ------
    RobotError
        If the file is invalid; names file, line and element.
    """
    document = document or read_xml(path)
    _check_robot(document)
    if mimic not in get_args(Mimic):
        raise RobotError(f"mimic must be {' or '.join(map(repr, get_args(Mimic)))}, got {mimic!r}")
    floats, why = urdf_origin.base(path, floating_base)
    links = _links(document)
    joints = _joints(document, links, locked, mimic)
    title = name or document.root.get("name") or Path(path).stem
    couplings = _couplings(document, joints) if mimic == "coupled" else []
    try:
        bodies = list(_walk(document, links, joints, floats))
        origin = urdf_origin.origin(document, bodies, why, tuple(locked))
        return Robot.from_bodies(
            title,
            _welded(iter(bodies)),
            gravity=gravity,
            strict=strict,
            origin=origin,
            couplings=couplings,
        )
    except RobotError as error:
        if str(error).startswith(document.path):
            raise
        raise RobotError(f"{document.path}: {error}") from error


@dataclass(frozen=True)
class _Joint:
    name: str
    type: str
    parent: str
    child: str
    placement: tuple[FloatArray, FloatArray]
    axis: FloatArray
    extras: dict[str, float]  # damping and friction
    element: Element


def _check_robot(document: Document) -> None:
    root = document.root
    for element, line in document.lines.items():
        if "xacro}" in element.tag or any("${" in value for value in element.attrib.values()):
            raise RobotError(
                f"{document.path}:{line}: the file contains xacro macros; "
                "expand it first: `xacro FILE > robot.urdf`, or call it .xacro"
            )
    if root.tag.removeprefix(document.namespace) != "robot":
        raise document.error(root, f"the outermost element must be <robot>, got <{root.tag}>")


def _named(document: Document, tag: str) -> dict[str, Element]:
    """Return the elements `tag` of the robot by name, in the order of the file."""
    found: dict[str, Element] = {}
    for element in document.children(document.root, tag):
        name = document.text(element, "name", f"<{tag}>")
        if name in found:
            first = document.lines[found[name]]
            raise document.error(element, f"two {tag}s are called '{name}' (the first is on line {first})")
        found[name] = element
    return found


def _links(document: Document) -> dict[str, dict[str, Any]]:
    """Return mass, com and inertia (the arguments of a Body) of every link."""
    links = {name: _inertial(document, name, link) for name, link in _named(document, "link").items()}
    if not links:
        raise document.error(document.root, "<robot> has no <link>")
    if len(links) > MAX_BODIES:
        raise document.error(document.root, f"<robot> has {len(links)} links, expected at most {MAX_BODIES}")
    return links


def _inertial(document: Document, name: str, link: Element) -> dict[str, Any]:
    owner = f"link '{name}'"
    inertial = document.child(link, "inertial", owner)
    if inertial is None:
        return {}
    owner += ", <inertial>"
    mass = document.required_child(inertial, "mass", owner)
    inertia = document.required_child(inertial, "inertia", owner)
    xx, xy, xz, yy, yz, zz = (
        document.numbers(inertia, key, 1, f"{owner}<inertia>")[0]
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    rotation, com = _origin(document, inertial, owner)
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    kilograms = document.numbers(mass, "value", 1, f"{owner}<mass>")[0]
    if kilograms < 0:
        raise document.error(mass, f"{owner}<mass> must not be negative, got {kilograms:g}")
    return {
        "mass": kilograms,
        "com": com,
        "inertia": rotation @ about_com @ rotation.T,
    }


def _origin(document: Document, element: Element, owner: str) -> tuple[FloatArray, FloatArray]:
    origin = document.child(element, "origin", owner)
    if origin is None:
        return np.eye(3), np.zeros(3)
    owner += "<origin>"
    if origin.get("quat_xyzw") is not None:
        raise document.error(origin, f"{owner} has quat_xyzw, which is not supported; expected rpy")
    zero = (0.0, 0.0, 0.0)
    rpy = document.numbers(origin, "rpy", 3, owner, zero)
    return from_rpy(rpy), np.array(document.numbers(origin, "xyz", 3, owner, zero))


def _joints(
    document: Document, links: Collection[str], locked: Collection[str], mimic: Mimic
) -> list[_Joint]:
    """Return the joints, sorted by name."""
    elements = _named(document, "joint")
    if isinstance(locked, str):
        raise RobotError(f"locked must be a collection of joint names, got the single string '{locked}'")
    for name in locked:
        if name not in elements:
            raise RobotError(f"{document.path}: there is no joint '{name}' to lock; {near(name, elements)}")
    return [_joint(document, name, elements[name], links, name in locked, mimic) for name in sorted(elements)]


def _joint(
    document: Document, name: str, element: Element, links: Collection[str], locked: bool, mimic: Mimic
) -> _Joint:
    owner = f"joint '{name}'"
    kind = document.text(element, "type", owner)
    if kind not in _TYPES:
        raise document.error(element, f"{owner} has type '{kind}', expected one of {', '.join(_TYPES)}")
    ends = {}
    for end in ("parent", "child"):
        ends[end] = document.text(document.required_child(element, end, owner), "link", f"{owner}, <{end}>")
        if ends[end] not in links:
            raise document.error(element, f"{owner} has {end} '{ends[end]}', which no <link> defines")
    follows = document.child(element, "mimic", owner)
    if follows is not None and kind != "fixed" and not locked and mimic == "refuse":
        raise document.error(
            follows,
            f"{owner} mimics '{follows.get('joint')}', which is not an independent joint of a tree; "
            f"lock it (locked=['{name}'], --lock {name}), couple it (mimic='coupled', --mimic coupled) or give it a "
            "coordinate of its own (mimic='independent', --mimic independent)",
        )
    axis = np.zeros(3)
    if kind in _NEEDS_AXIS:
        given = document.child(element, "axis", owner)
        if given is None:
            axis = np.array([1.0, 0.0, 0.0])
        else:
            axis = np.array(document.numbers(given, "xyz", 3, f"{owner}, <axis>"))
            if not axis.any():
                raise document.error(given, f"{owner} has axis '{given.get('xyz')}', expected a direction")
    kind = "fixed" if locked else kind
    placement = _origin(document, element, f"{owner}, ")
    extras = _dynamics(document, element, owner) if kind in _HAS_EXTRAS else {}
    return _Joint(name, kind, ends["parent"], ends["child"], placement, axis, extras, element)


def _couplings(document: Document, joints: list[_Joint]) -> list[Coupling]:
    """Return the couplings of joints that mimic others."""
    moving = {joint.name: joint.type for joint in joints if joint.type != "fixed"}
    found = []
    for joint in joints:
        owner = f"joint '{joint.name}'"
        follows = document.child(joint.element, "mimic", owner)
        if follows is None or joint.name not in moving:
            continue
        leader = document.text(follows, "joint", f"{owner}, <mimic>")
        if leader not in moving:
            hint = near(leader, moving)
            said = f"{owner} mimics '{leader}', which is fixed, locked, or no joint"
            raise document.error(follows, f"{said}; lock '{joint.name}' too, {hint}")
        for name in (joint.name, leader):
            if moving[name] not in _HAS_EXTRAS:
                raise document.error(
                    follows,
                    f"{owner} mimics '{leader}', and '{name}' has type '{moving[name]}'; expected one of "
                    f"{', '.join(_HAS_EXTRAS)}",
                )
        multiplier = document.numbers(follows, "multiplier", 1, f"{owner}, <mimic>", (1.0,))[0]
        offset = document.numbers(follows, "offset", 1, f"{owner}, <mimic>", (0.0,))[0]
        try:
            found.append(Coupling(joint=joint.name, follows=leader, multiplier=multiplier, offset=offset))
        except RobotError as error:
            raise document.error(follows, str(error)) from error
    return found


def _dynamics(document: Document, joint: Element, owner: str) -> dict[str, float]:
    """Return damping and friction of a joint, as arguments of a Body."""
    dynamics = document.child(joint, "dynamics", owner)
    if dynamics is None:
        return {}
    found = {}
    for key in ("damping", "friction"):
        found[key] = document.numbers(dynamics, key, 1, f"{owner}, <dynamics>", (0.0,))[0]
        if found[key] < 0:
            raise document.error(dynamics, f"{owner}, <dynamics> has {key} {found[key]:g}, expected >= 0")
    return found


def _walk(
    document: Document, links: dict[str, dict[str, Any]], joints: list[_Joint], floating_base: bool
) -> Iterator[Body]:
    """Yield the bodies depth first from the root link."""
    above: dict[str, _Joint] = {}
    below: dict[str, list[_Joint]] = {name: [] for name in links}
    for joint in joints:
        if joint.child in above:
            other = above[joint.child].name
            raise document.error(
                joint.element, f"link '{joint.child}' has two parents, by joints '{other}' and '{joint.name}'"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise document.error(document.root, f"expected one link without parent, got {', '.join(roots)}")
    waiting: list[_Joint] = []
    reached = set(roots)
    if roots:
        base = Free(name="root_joint") if floating_base else Fixed()
        yield Body(name=roots[0], parent=None, joint=base, **links[roots[0]])
        waiting = below[roots[0]][::-1]
    while waiting:
        joint = waiting.pop()
        reached.add(joint.child)
        yield from _bodies(joint, links[joint.child])
        waiting += reversed(below[joint.child])
    if len(reached) < len(links):
        cycle = [name for name in links if name not in reached]
        message = f"the joints of these links form a cycle: {', '.join(cycle)}"
        raise document.error(above[cycle[0]].element, message)


def _bodies(joint: _Joint, inertial: dict[str, Any]) -> Iterator[Body]:
    """Yield the body that a joint moves, after the massless ones of a planar joint."""
    name, axis, parent, placement = joint.name, joint.axis, joint.parent, joint.placement
    if joint.type == "planar":
        for letter, direction in zip("xy", _plane(axis), strict=True):
            between = f"{joint.child}/{letter}"
            slide = Prismatic(direction, name=f"{name}/{letter}")
            yield Body(name=between, parent=parent, joint=slide, placement=placement)
            parent, placement = between, (np.eye(3), np.zeros(3))
    motion: Joint
    match joint.type:
        case "fixed":
            motion = Fixed(name=name)
        case "floating":
            motion = Free(name=name)
        case "prismatic":
            motion = Prismatic(axis, name=name)
        case _:
            motion = Revolute(axis, name=name)
    yield Body(name=joint.child, parent=parent, joint=motion, placement=placement, **inertial, **joint.extras)


def _welded(bodies: Iterator[Body]) -> list[Body]:
    """Return the bodies with the inertia of fixed ones moved to the body that carries them."""
    welded: dict[str, Body] = {}
    # the moving body that carries a link (None: the ground), and the link's frame in it
    carriers: dict[str | None, tuple[str | None, FloatArray, FloatArray]]
    carriers = {None: (None, np.eye(3), np.zeros(3))}
    for body in bodies:
        carrier, rotation, translation = carriers[body.parent]
        if not isinstance(body.joint, Fixed):
            carriers[body.name] = (body.name, np.eye(3), np.zeros(3))
            welded[body.name] = body
            continue
        R, p = rotation @ body.rotation, rotation @ body.translation + translation
        carriers[body.name] = (carrier, R, p)
        welded[body.name] = replace(body, mass=0.0, com=np.zeros(3), inertia=np.zeros(3))
        if carrier is not None:
            mass, com, inertia = merged(_inertial_of(welded[carrier]), _inertial_of(body), R, p)
            welded[carrier] = replace(welded[carrier], mass=mass, com=com, inertia=inertia)
    return list(welded.values())


def _inertial_of(body: Body) -> tuple[float, FloatArray, FloatArray]:
    return body.mass, np.asarray(body.com), np.asarray(body.inertia)


def _plane(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two unit vectors that are right-handed with `normal`: x and y when it is z."""
    n = normal / np.linalg.norm(normal)
    # x (or, for a normal near x, y) made normal to n
    x = np.eye(3)[0 if abs(n[0]) < 0.9 else 1]
    first = x - (x @ n) * n
    first /= np.linalg.norm(first)
    return first, np.cross(n, first)
