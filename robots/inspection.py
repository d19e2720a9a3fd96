"""``robot.inspect()``: what was read of a robot, what was not used, and what looks wrong. Nothing here is an error.

Judged are the links as a file describes them, before those on fixed joints are merged; of a robot without a file, its
bodies. Thresholds are wide: a robot that is built as described should not be suspected.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynbench.robots import couplings, kinematics, rotors
from dynbench.robots.arrays import FloatArray
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.origin import Limits, Link, Origin
from dynbench.robots.text import visible
from dynbench.robots.validate import unphysical

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

LONG = 20.0  # m: a link longer than that is in millimetres, or a crane
HEAVY = 2e4  # kg/m^3: denser than any metal of use
LIGHT = 1.0  # kg/m^3: lighter than air
GYRATION = 4.0  # radius of gyration over the largest dimension of a link: at most 0.5 for a rigid rod
SMALL = 0.1  # m: size of a link about which nothing is known
SLIGHT = 0.1  # kg: below, numbers of links on fixed joints are not judged
THIN = 1e-3  # the same, smallest
PRODUCT = 0.05  # product of inertia over the largest moment, from which its sign is judged


@dataclass(frozen=True)
class Inspection:
    """What `Robot.inspect` found; prints as text, and as HTML in notebooks."""

    robot: str
    facts: tuple[tuple[str, str], ...]  # a name and a sentence
    bodies: tuple[tuple[str, ...], ...]  # rows of a table, without its head
    frames: tuple[tuple[str, str], ...]  # frame, and the body that carries it
    ignored: tuple[str, ...]
    suspicions: tuple[str, ...]

    HEAD = ("body", "parent", "joint", "kind", "mass kg", "com m", "limits", "extras")

    def __str__(self) -> str:
        lines = [f"{self.robot}", ""]
        width = max(len(name) for name, _ in self.facts)
        lines += [f"  {name:{width}}  {sentence}" for name, sentence in self.facts]
        rows = [self.HEAD, *self.bodies]
        widths = [max(len(row[k]) for row in rows) for k in range(len(self.HEAD))]
        padded = (" ".join(f" {x:{w}}" for x, w in zip(row, widths, strict=True)) for row in rows)
        lines += ["", *(f" {row}".rstrip() for row in padded)]
        if self.frames:
            lines += ["", "frames: " + ", ".join(f"{name} on {body}" for name, body in self.frames)]
        lines += ["", "ignored: " + ("; ".join(self.ignored) or "nothing")]
        lines += ["", "suspicious:" if self.suspicions else "suspicious: nothing"]
        return "\n".join(lines + [f"  {sentence}" for sentence in self.suspicions])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        facts = "".join(row(fact, "td") for fact in self.facts)
        table = row(self.HEAD, "th") + "".join(row(body, "td") for body in self.bodies)
        lists = "".join(
            f"<p>{name}: {html.escape('; '.join(items)) or 'nothing'}</p>"
            for name, items in (
                ("frames", [f"{frame} on {body}" for frame, body in self.frames]),
                ("ignored", self.ignored),
                ("suspicious", self.suspicions),
            )
        )
        return f"<h4>{html.escape(self.robot)}</h4><table>{facts}</table><table>{table}</table>{lists}"


def inspect(robot: Robot) -> Inspection:
    """Return what is known of a robot."""
    origin = robot.origin or Origin("", "", links=tuple(_bodies(robot)))
    names = (*robot.body_names, "the ground")  # index -1 is the ground
    frames = tuple((frame.name, names[frame.body]) for frame in robot.frames)
    bodies = tuple(_row(robot, i, names, origin) for i in range(robot.n))
    found = [*origin.suspicions, *(said for link in origin.links for said in suspicions(link))]
    found += unphysical(robot.body_names, robot.inertia)
    facts = tuple((name, visible(sentence)) for name, sentence in _facts(robot, origin))
    ignored, suspected = (tuple(map(visible, lines)) for lines in (origin.ignored, found))
    return Inspection(robot.name, facts, bodies, frames, ignored, suspected)


def _bodies(robot: Robot) -> list[Link]:
    offset = np.linalg.norm(robot.translation, axis=1)
    spinning = rotors.rotors_of(robot)
    return [
        Link(
            name,
            float(robot.mass[i]),
            robot.com[i],
            robot.inertia[i],
            float(offset[i]),
            float(offset[robot.parent == i].max(initial=0.0)),
        )
        for i, name in enumerate(robot.body_names)
        if i not in spinning
    ]


def _facts(robot: Robot, origin: Origin) -> list[tuple[str, str]]:
    facts = [("file", f"{origin.source} ({origin.format})")] if origin.source else []
    facts += [("base", origin.base or ("floating" if robot.is_floating else "fixed"))]
    facts += [("size", f"{robot.n} bodies, nq {robot.nq}, nv {robot.nv}")]
    if len(robot.loops.body1):
        closing = f"{len(robot.loops.body1)} closures, {robot.loop_analysis.rank} independent equations"
        facts += [("loops", f"{closing}, {len(robot.actuated)} actuated coordinates")]
    spinning = rotors.rotors_of(robot)
    for one, i in zip(couplings.described(robot), robot.couplings.joint, strict=True):
        if i in spinning:
            felt, on = rotors.felt_inertia(robot, int(i)), (*robot.body_names, "the ground")[robot.parent[i]]
            turns = f"{one.multiplier:.6g} times {one.follows}, {felt / one.multiplier**2:.4g} kg m^2, on {on}"
            facts += [("rotor", f"{one.joint} turns {turns}; as armature {felt:.4g}")]
            continue
        facts += [("coupling", f"{one.joint} = {one.multiplier:.6g} {one.follows} + {one.offset:.6g}")]
    facts += [("mass", f"{robot.mass.sum():.6g} kg")]
    if not robot.is_elastic:
        centre = kinematics.com(robot, robot.home)
        where = "at zero" if robot.is_tree else "at home"
        facts += [("centre of mass", f"({_numbers(centre)}) m {where}, world axes")]
    facts += [("gravity", f"({_numbers(robot.gravity)}) m/s^2")]
    for name, unit in (("armature", "kg m^2 or kg"), ("damping", "N m s/rad or N s/m"), ("friction", "N m or N")):
        values = getattr(robot, name)
        if values.any():
            some = values[values > 0]
            facts += [(name, f"{len(some)} joints, {some.min():g} to {some.max():g} {unit}")]
    if origin.locked:
        facts += [("locked", ", ".join(origin.locked))]
    if robot.frames:
        facts += [("merged", f"{len(robot.frames)} links on fixed joints are parts of others, and frames")]
    return facts


def _row(robot: Robot, i: int, names: tuple[str, ...], origin: Origin) -> tuple[str, ...]:
    kind = JointKind(int(robot.kind[i]))
    about = f" about ({_numbers(robot.axis[i])})" if kind == JointKind.REVOLUTE else ""
    along = f" along ({_numbers(robot.axis[i])})" if kind == JointKind.PRISMATIC else ""
    extras = [f"{key} {value:g}" for key in ("armature", "damping", "friction") if (value := getattr(robot, key)[i])]
    return (
        robot.body_names[i],
        names[robot.parent[i]],
        robot.joint_names[i],
        f"{kind.name.lower()}{about}{along}",
        f"{robot.mass[i]:.6g}",
        _numbers(robot.com[i]),
        _shown(origin.limits.get(robot.joint_names[i])) if NV[kind] == 1 else "",
        ", ".join(extras),
    )


def _shown(limits: Limits | None) -> str:
    if limits is None or limits.lower is None or limits.upper is None:
        return ""
    return f"{limits.lower:g} to {limits.upper:g}"


def _numbers(values: FloatArray) -> str:
    return ", ".join(f"{x + 0.0:.4g}" for x in values)


def suspicions(link: Link) -> list[str]:
    """Return what looks wrong in one link, a sentence each."""
    said = []
    owner = f"link '{link.name}'"
    reach = float(np.linalg.norm(link.com))
    if link.offset > LONG:
        said.append(f"{owner} is {link.offset:g} m from its parent; millimetres?")
    if reach > LONG:
        said.append(f"{owner} has its centre of mass {reach:g} m from its origin; millimetres?")
    largest = float(np.abs(link.inertia).max())
    if link.mass == 0.0:
        if largest > 0.0:
            said.append(f"{owner} has an inertia (up to {largest:.3g} kg m^2) but no mass")
        return said
    if not link.moves and link.mass < SLIGHT:
        return said  # a sensor or a placeholder
    if largest == 0.0 and link.moves:
        said.append(f"{owner} has mass {link.mass:g} kg but no inertia: a point mass")
        return said
    size = _size(link)
    radius = float(np.sqrt(np.linalg.eigvalsh(link.inertia)[-1].clip(0.0) / link.mass))
    if size > 0.0 and link.moves and not THIN < radius / size < GYRATION:
        said.append(
            f"{owner} has a radius of gyration of {radius:.3g} m, {radius / size:.3g} times its size of {size:.3g} m: "
            "its inertia is of another scale than its mass"
        )
    if link.shapes:
        said += _against_shapes(link, owner)
    return said


def _size(link: Link) -> float:
    """The largest dimension known of a link: of its shapes, or how far its centre of mass and other joints are."""
    if link.shapes:
        return max(float(shape.size.max()) for shape in link.shapes)
    return max(float(np.linalg.norm(link.com)), link.offset, link.reach, SMALL)


def _against_shapes(link: Link, owner: str) -> list[str]:
    """Compare mass and inertia with the boxes, cylinders and spheres of the link, as if they were solid and uniform."""
    said = []
    volumes = np.array([float(np.prod(shape.size)) for shape in link.shapes])
    if not (volumes > 0.0).all():
        return [f"{owner} has a shape without volume"]
    density = link.mass / volumes.sum()
    if density > HEAVY:
        said.append(f"{owner} would have a density of {density:.3g} kg/m^3, denser than metal; grams?")
    if density < LIGHT:
        said.append(f"{owner} would have a density of {density:.3g} kg/m^3, lighter than air; tonnes?")
    centre = np.einsum("k,ki->i", volumes, np.array([shape.centre for shape in link.shapes])) / volumes.sum()
    solid = np.zeros((3, 3))
    for volume, shape in zip(volumes, link.shapes, strict=True):
        arm = shape.centre - centre
        own = shape.rotation @ np.diag(shape.gyration) @ shape.rotation.T
        solid += volume / volumes.sum() * (own + arm @ arm * np.eye(3) - np.outer(arm, arm))
    solid *= link.mass
    size = max(float(shape.size.max()) for shape in link.shapes)
    if float(np.linalg.norm(link.com - centre)) > 2.0 * size:
        said.append(f"{owner} has its centre of mass {np.linalg.norm(link.com - centre):.3g} m from its shapes")
    for (r, c), name in (((0, 1), "ixy"), ((0, 2), "ixz"), ((1, 2), "iyz")):
        given, expected = link.inertia[r, c], solid[r, c]
        large = PRODUCT * np.diag(solid).max()
        if abs(expected) > large and abs(given) > PRODUCT * np.diag(link.inertia).max() and given * expected < 0.0:
            said.append(
                f"{owner} has {name} {given:.3g} kg m^2, but its shapes have {expected:.3g}: a product of inertia of "
                "the wrong sign?"
            )
    return said
