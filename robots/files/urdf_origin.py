"""What a URDF file says besides the dynamics: its base, limits and shapes, what is not used, what looks wrong in it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np

from dynbench.robots.body import Body
from dynbench.robots.files.urdf_xml import Document
from dynbench.robots.joints import Fixed
from dynbench.robots.origin import Limits, Link, Origin, Shape
from dynbench.robots.rotations import from_rpy

# elements that have no effect on the dynamics here, and how they are called
IGNORED = {
    "transmission": "transmissions",
    "gazebo": "<gazebo> elements",
    "safety_controller": "safety controllers",
    "calibration": "calibrations",
    "sensor": "sensors",
    "mesh": "meshes",
    "ros2_control": "<ros2_control> elements",
}
KNOWN_DYNAMICS = {"damping", "friction"}


def base(path: str | os.PathLike[str], floating: bool | None) -> tuple[bool, str]:
    """Return whether the root link floats, and why."""
    from dynbench.robots.files import example_models

    if floating is not None:
        return floating, f"{'floating' if floating else 'fixed'}, as asked for"
    known = example_models.floats(os.fspath(path))
    if known is not None:
        return known, f"{'floating' if known else 'fixed'}, as in example-robot-data"
    return False, "fixed: a URDF file does not say; floating_base=True or --floating-base lets it float"


def origin(document: Document, bodies: Sequence[Body], why: str, locked: tuple[str, ...]) -> Origin:
    """Return what is known of the file; never raises, the robot has been read."""
    links = {link.get("name"): link for link in document.children(document.root, "link")}
    reach: dict[str | None, float] = {}
    for body in bodies:
        reach[body.parent] = max(reach.get(body.parent, 0.0), float(np.linalg.norm(body.translation)))
    described = tuple(
        Link(
            body.name,
            body.mass,
            np.asarray(body.com),
            np.asarray(body.inertia),
            float(np.linalg.norm(body.translation)),
            reach.get(body.name, 0.0),
            _shapes(document, links[body.name]),
            not isinstance(body.joint, Fixed),
        )
        for body in bodies
        if body.name in links
    )
    return Origin(
        source=document.path,
        format="URDF",
        base=why,
        locked=locked,
        ignored=tuple(_ignored(document)),
        suspicions=tuple(_suspicions(document)),
        links=described,
        limits={
            str(joint.get("name")): _limits(limit)
            for joint in document.children(document.root, "joint")
            for limit in document.children(joint, "limit")
        },
    )


def _ignored(document: Document) -> list[str]:
    found = Counter(element.tag.removeprefix(document.namespace) for element in document.lines)
    said = [f"{found[tag]} {what}" for tag, what in IGNORED.items() if found[tag]]
    for joint in document.children(document.root, "joint"):
        for dynamics in document.children(joint, "dynamics"):
            kind, numbers = joint.get("type"), [key for key in KNOWN_DYNAMICS if _number(dynamics, key)]
            if kind in ("floating", "planar", "fixed") and numbers:
                said.append(f"{' and '.join(sorted(numbers))} of the {kind} joint '{joint.get('name')}'")
            others = sorted(set(dynamics.keys()) - KNOWN_DYNAMICS)
            if others:
                said.append(f"attributes {', '.join(others)} of <dynamics> of joint '{joint.get('name')}'")
    return said


def _suspicions(document: Document) -> list[str]:
    said = []
    for kind in ("visual", "collision"):
        named: dict[str, int] = {}
        for element, line in document.lines.items():
            name = element.get("name")
            if element.tag.removeprefix(document.namespace) == kind and name:
                if name in named:
                    said.append(f"line {line}: two <{kind}> elements are called '{name}', also on line {named[name]}")
                named[name] = line
    for joint in document.children(document.root, "joint"):
        revolute, title = joint.get("type") == "revolute", joint.get("name")
        for limit in document.children(joint, "limit"):
            lower, upper, *_ = _limits(limit)
            if lower is not None and upper is not None and lower > upper:
                said.append(f"line {document.lines[limit]}: joint '{title}' has limits {lower:g} to {upper:g}")
            largest = max(abs(lower or 0.0), abs(upper or 0.0))
            if revolute and 30.0 < largest < 1e3:
                turns = largest / (2.0 * np.pi)
                said.append(
                    f"line {document.lines[limit]}: joint '{title}' may turn by {largest:g} rad, {turns:.0f} turns; "
                    "degrees?"
                )
    return said


def _limits(limit: Element) -> Limits:
    return Limits(*(_number(limit, key) for key in ("lower", "upper", "velocity", "effort")))


def _number(element: Element, key: str) -> float | None:
    numbers = _numbers(element.get(key), 1)
    return None if numbers is None else numbers[0]


def _numbers(text: str | None, count: int) -> list[float] | None:
    """Return so many numbers, None if there are not exactly so many: what has no effect is not judged here."""
    try:
        found = [float(part) for part in (text or "").split() if part.isascii() and "_" not in part]
    except ValueError:
        return None
    return found if len(found) == count and np.isfinite(found).all() else None


def _shapes(document: Document, link: Element) -> tuple[Shape, ...]:
    """Return boxes, cylinders and spheres of a link: those of <collision>, else of <visual>."""
    for kind in ("collision", "visual"):
        found = [shape for element in document.children(link, kind) if (shape := _shape(document, element)) is not None]
        if found:
            return tuple(found)
    return ()


def _shape(document: Document, element: Element) -> Shape | None:
    origins = document.children(element, "origin")
    xyz = _numbers(origins[0].get("xyz", "0 0 0"), 3) if origins else [0.0, 0.0, 0.0]
    rpy = _numbers(origins[0].get("rpy", "0 0 0"), 3) if origins else [0.0, 0.0, 0.0]
    geometries = document.children(element, "geometry")
    if xyz is None or rpy is None or len(geometries) != 1:
        return None
    for shape in geometries[0]:
        match shape.tag.removeprefix(document.namespace):
            case "box":
                size = _numbers(shape.get("size"), 3)
            case "sphere":
                radius = _number(shape, "radius")
                size = None if radius is None else [2.0 * radius] * 3
            case "cylinder":
                radius, length = _number(shape, "radius"), _number(shape, "length")
                size = None if radius is None or length is None else [2.0 * radius, 2.0 * radius, length]
            case _:
                size = None
        if size is not None:
            square = np.square(size)
            # of a box about its axes; of round shapes it is right to some 20 %, which is enough to judge by
            gyration = (square.sum() - square) / 12.0
            return Shape(from_rpy(rpy), np.array(xyz), np.array(size), gyration)
    return None
