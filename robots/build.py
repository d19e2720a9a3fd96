"""Build the arrays of a Robot from a list of bodies.

Three steps: sort the bodies so that parents come before children (otherwise keeping the given order),
merge every body on a Fixed joint into the one that carries it, and stack the rest.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.body import EXTRAS, Body, Coupling, Couplings, Frame, Loop, Loops, Spring, Springs
from dynbench.robots.couplings import coupling_arrays
from dynbench.robots.errors import RobotError, RobotWarning, near
from dynbench.robots.joints import KIND_OF, NV, Fixed, Prismatic, Revolute
from dynbench.robots.validate import check_inertials, check_placements, unphysical

EYE = np.eye(3)


class Carrier(NamedTuple):
    """The moving body (-1 = ground) that carries a described body, and the latter's frame in it."""

    body: int
    rotation: FloatArray
    translation: FloatArray


GROUND = Carrier(-1, EYE, np.zeros(3))


def robot_fields(
    name: str,
    bodies: Iterable[Body],
    gravity: ArrayLike,
    loops: Sequence[Loop],
    actuated: Sequence[str | int] | IntArray | None,
    strict: bool,
    platform: str | None = None,
    springs: Sequence[Spring] = (),
    couplings: Sequence[Coupling] = (),
) -> dict[str, Any]:
    """Return the arguments of `Robot` for a list of bodies; see `Robot.from_bodies`."""
    ordered = parents_first(name, list(bodies))
    _check_described(name, ordered, strict)

    moving: list[Body] = []
    parent: list[int] = []
    placed: list[tuple[FloatArray, FloatArray]] = []
    inertial: list[tuple[float, FloatArray, FloatArray]] = []
    frames: list[Frame] = []
    carriers: dict[str | None, Carrier] = {None: GROUND}
    for body in ordered:
        on = carriers[body.parent]
        rotation = on.rotation @ nearest_rotation(body.rotation)
        translation = on.rotation @ body.translation + on.translation
        described = (float(body.mass), np.asarray(body.com), _symmetric(np.asarray(body.inertia)))
        if isinstance(body.joint, Fixed):
            carriers[body.name] = Carrier(on.body, rotation, translation)
            frames.append(Frame(body.name, on.body, rotation, translation))
            if on.body >= 0:
                inertial[on.body] = merged(inertial[on.body], described, rotation, translation)
        else:
            carriers[body.name] = Carrier(len(moving), EYE, np.zeros(3))
            moving.append(body)
            parent.append(on.body)
            placed.append((rotation, translation))
            inertial.append(described)
    if not moving:
        raise RobotError(f"robot {name!r}: no body moves, expected at least one joint that is not Fixed")

    kind = np.array([KIND_OF[type(body.joint)] for body in moving])
    joint_names = tuple(body.joint_name for body in moving)
    coupled = coupling_arrays(name, couplings, joint_names, kind)
    return {
        "name": name,
        "body_names": tuple(body.name for body in moving),
        "joint_names": joint_names,
        "parent": parent,
        "kind": kind,
        "axis": [_unit_axis(name, body) for body in moving],
        "rotation": [rotation for rotation, _ in placed],
        "translation": [translation for _, translation in placed],
        "mass": [mass for mass, _, _ in inertial],
        "com": [com for _, com, _ in inertial],
        "inertia": [inertia for _, _, inertia in inertial],
        **{name: [getattr(body, name) for body in moving] for name in EXTRAS},
        "gravity": gravity,
        "frames": tuple(frames),
        "loops": loop_arrays(name, loops, carriers),
        "couplings": coupled,
        "actuated": actuated_indices(name, joint_names, kind, bool(loops), coupled, actuated),
        "platform": platform_index(name, platform, carriers),
        "springs": spring_arrays(name, springs, carriers),
    }


def parents_first(name: str, bodies: list[Body]) -> list[Body]:
    """Return the bodies with every parent before its children, otherwise in the given order."""
    by_name: dict[str, Body] = {}
    for body in bodies:
        if not isinstance(body, Body):
            raise RobotError(f"robot {name!r}: bodies holds {body!r}, expected robots.Body(...)")
        if body.name in by_name:
            raise RobotError(f"robot {name!r}: two bodies are named {body.name!r}")
        by_name[body.name] = body
    ordered: dict[str, Body] = {}
    for body in bodies:
        # The branch from this body down to one already placed, or to the ground.
        branch: dict[str, Body] = {}
        link: Body | None = body
        while link is not None and link.name not in ordered:
            if link.name in branch:
                cycle = [*list(branch)[list(branch).index(link.name) :], link.name]
                path = " -> ".join(cycle)
                raise RobotError(f"robot {name!r}: body {link.name!r} is its own ancestor: {path}")
            branch[link.name] = link
            if link.parent is not None and link.parent not in by_name:
                raise RobotError(
                    f"robot {name!r}: body {link.name!r} has parent {link.parent!r}, which no body defines; "
                    + near(link.parent, by_name)
                )
            link = None if link.parent is None else by_name[link.parent]
        ordered.update(reversed(branch.items()))
    return list(ordered.values())


def merged(
    body: tuple[float, FloatArray, FloatArray],
    other: tuple[float, FloatArray, FloatArray],
    rotation: FloatArray,
    translation: FloatArray,
) -> tuple[float, FloatArray, FloatArray]:
    """Return mass, com and inertia of ``body`` with ``other`` welded on at (rotation, translation).

    Inertias are about the respective centre of mass; the parallel-axis terms of two bodies add up
    to one term, with the reduced mass and the distance between the two centres.
    """
    (mass1, com1, inertia1), (mass2, com2, inertia2) = body, other
    com2 = rotation @ com2 + translation
    inertia2 = _symmetric(rotation @ inertia2 @ rotation.T)
    mass = mass1 + mass2
    if mass == 0.0:
        return 0.0, com1, inertia1 + inertia2
    d = com2 - com1
    steiner = mass1 * mass2 / mass * (d @ d * EYE - np.outer(d, d))
    return mass, com1 + mass2 / mass * d, inertia1 + inertia2 + steiner


def _carrier(name: str, what: str, body: str | None, carriers: dict[str | None, Carrier]) -> Carrier:
    """Return what carries ``body``; ``what`` says in an error how the body is used."""
    if body in carriers:
        return carriers[body]
    known = [other for other in carriers if other is not None]
    raise RobotError(f"robot {name!r}: {what} on body {body!r}, which no body defines; " + near(str(body), known))


def _one_body(name: str, what: str, ends: Loop | Spring) -> RobotError:
    return RobotError(
        f"robot {name!r}: {what} joins {ends.body1!r} and {ends.body2!r}, which do not move relative to each other; "
        "expected two different moving bodies, or one and the ground"
    )


def loop_arrays(name: str, loops: Sequence[Loop], carriers: dict[str | None, Carrier]) -> Loops | None:
    """Return the closures as arrays, on the moving bodies that carry them (None when there are none)."""
    if not loops:
        return None
    ends: list[list[tuple[int, FloatArray, FloatArray]]] = [[], []]
    for number, loop in enumerate(loops):
        if not isinstance(loop, Loop):
            raise RobotError(f"robot {name!r}: loops holds {loop!r}, expected robots.Loop(...)")
        sides = ((loop.body1, loop.placement1), (loop.body2, loop.placement2))
        for end, (body, placement) in zip(ends, sides, strict=True):
            on = _carrier(name, f"loop {number} closes", body, carriers)
            rotation, translation = np.asarray(placement[0]), np.asarray(placement[1])
            check_placements(name, [f"loop {number} on {body!r}"], rotation[None], translation[None])
            rotation = on.rotation @ nearest_rotation(rotation)
            end.append((on.body, rotation, on.rotation @ translation + on.translation))
        if ends[0][-1][0] == ends[1][-1][0]:
            raise _one_body(name, f"loop {number}", loop)
    one, two = (list(zip(*end, strict=True)) for end in ends)
    rows = np.array([loop.closes for loop in loops], dtype=np.int64)
    return Loops(
        np.array(one[0]), np.array(two[0]),
        np.array(one[1]), np.array(one[2]), np.array(two[1]), np.array(two[2]), rows,
    )  # fmt: skip


def spring_arrays(name: str, springs: Sequence[Spring], carriers: dict[str | None, Carrier]) -> Springs | None:
    """Return the springs as arrays, on the moving bodies that carry them (None when there are none)."""
    if not springs:
        return None
    ends: list[list[tuple[int, FloatArray]]] = [[], []]
    for number, spring in enumerate(springs):
        if not isinstance(spring, Spring):
            raise RobotError(f"robot {name!r}: springs holds {spring!r}, expected robots.Spring(...)")
        for end, (body, point) in zip(
            ends, ((spring.body1, spring.point1), (spring.body2, spring.point2)), strict=True
        ):
            on = _carrier(name, f"spring {number} is", body, carriers)
            end.append((on.body, on.rotation @ np.asarray(point) + on.translation))
        if ends[0][-1][0] == ends[1][-1][0]:
            raise _one_body(name, f"spring {number}", spring)
    one, two = (list(zip(*end, strict=True)) for end in ends)
    return Springs(
        np.array(one[0]), np.array(two[0]), np.array(one[1]), np.array(two[1]),
        np.array([spring.stiffness for spring in springs]), np.array([spring.damping for spring in springs]),
        np.array([spring.rest_length for spring in springs]),
    )  # fmt: skip


def actuated_indices(
    name: str,
    joint_names: tuple[str, ...],
    kind: IntArray,
    has_loops: bool,
    couplings: Couplings | None,
    actuated: Sequence[str | int] | IntArray | None,
) -> list[int] | None:
    """Return the actuated indices into v, from joint names or indices.

    None stands for all of them; with couplings and no loops, for those of joints that follow no other.
    """
    if actuated is None:
        if has_loops:
            raise RobotError(f"robot {name!r} has loops: expected actuated=, joint names or indices into v")
        if couplings is None:
            return None
        followers = (np.cumsum(NV[kind]) - NV[kind])[couplings.joint]
        return [k for k in range(int(NV[kind].sum())) if k not in followers]
    first = dict(zip(joint_names, np.cumsum(NV[kind]) - NV[kind], strict=True))
    indices: list[int] = []
    for entry in actuated:
        if not isinstance(entry, str):
            indices.append(int(entry))
        elif entry in first:
            start = int(first[entry])
            indices.extend(range(start, start + int(NV[kind[joint_names.index(entry)]])))
        else:
            hint = near(entry, joint_names)
            raise RobotError(f"robot {name!r}: actuated has {entry!r}, which is not the name of a joint; {hint}")
    return indices


def platform_index(name: str, platform: str | None, carriers: dict[str | None, Carrier]) -> int:
    """Return the index of the platform's body, -1 without one."""
    if platform is None:
        return -1
    if platform not in carriers:
        known = [other for other in carriers if other is not None]
        hint = near(platform, known)
        raise RobotError(f"robot {name!r}: platform is {platform!r}, which is not the name of a body; {hint}")
    return carriers[platform].body


def nearest_rotation(matrix: FloatArray) -> FloatArray:
    """Return the rotation nearest to a matrix with rounded entries; an exact rotation is returned unchanged."""
    if np.abs(matrix.T @ matrix - EYE).max() < 1e-14:
        return matrix
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ vt)


def _check_described(name: str, bodies: list[Body], strict: bool) -> None:
    """Check every body before merging, which could hide a wrong one."""
    if not bodies:
        raise RobotError(f"robot {name!r}: bodies is empty, expected at least one body that moves")
    names = [body.name for body in bodies]

    def stacked(field: str) -> FloatArray:
        return np.stack([np.asarray(getattr(body, field)) for body in bodies])

    check_placements(name, names, stacked("rotation"), stacked("translation"))
    inertia = stacked("inertia")
    check_inertials(name, names, stacked("mass"), stacked("com"), inertia)
    wrong = unphysical(names, inertia)
    if wrong and strict:
        raise RobotError(f"robot {name!r}: {wrong[0]}")
    if wrong:
        more = f" (and {len(wrong) - 1} more bodies)" if len(wrong) > 1 else ""
        warnings.warn(f"robot {name!r}: {wrong[0]}{more}", RobotWarning, stacklevel=4)


def _symmetric(matrix: FloatArray) -> FloatArray:
    return 0.5 * (matrix + matrix.T)


def _unit_axis(name: str, body: Body) -> FloatArray:
    if not isinstance(body.joint, Revolute | Prismatic):
        return np.zeros(3)
    axis = np.asarray(body.joint.axis, dtype=np.float64)
    length = float(np.linalg.norm(axis))
    if not np.isfinite(length) or length < 1e-12:
        owner = f"robot {name!r}: body {body.name!r}"
        raise RobotError(f"{owner}: joint axis is {axis.tolist()}, expected finite numbers, not all zero")
    # A unit axis is kept bit for bit, so that writing and reading a robot is exact.
    return axis if abs(length - 1.0) < 1e-15 else axis / length
