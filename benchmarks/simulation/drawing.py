"""A moving robot as points and lines, which a page draws without any model of the robot.

A rigid body is a line from its joint to each point fixed to it (the next joints, loop closures, frames), a polygon for
three or more, or a rod about its centre of mass for none. An elastic arm is a polyline, a spring a thin line. Bodies
without mass are not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from dynbench.robots import kinematics
from dynbench.robots.elastic import modes, particles
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

FRAMES = 121  # a few seconds on a screen; more would make the page larger
BEAM = 13  # points along an elastic arm
DIGITS = 4  # of coordinates, metres: a tenth of a millimetre cannot be seen
NEAR = 1e-9


@dataclass
class Drawing:
    """Points over time, and what connects them."""

    points: list[FloatArray] = field(default_factory=list)  # each (K, 3), world, metres
    lines: list[tuple[int, int, str]] = field(default_factory=list)  # "link", "slide" or "ground"
    dots: list[tuple[int, str]] = field(default_factory=list)  # "joint" or "ground"

    def point(self, place: FloatArray) -> int:
        self.points.append(place)
        return len(self.points) - 1

    def polygon(self, corners: list[int], kind: str) -> None:
        self.lines += [(one, two, kind) for one, two in zip(corners, corners[1:] + corners[:1], strict=True)]


def motion(robot: Robot, t: FloatArray, q: FloatArray) -> dict[str, Any]:
    """Return a motion as plain data, thinned to at most `FRAMES` equally spaced frames.

    Parameters
    ----------
    t : ndarray, shape (K,)
        Ascending times, s.
    q : ndarray, shape (K, nq)

    Returns
    -------
    dict
        ``t`` (F,), ``points`` (F, 3 P) flat and rounded, ``lines`` and ``dots`` into the points, ``planar`` when all
        of it stays in the x-y plane.
    """
    frames = np.linspace(t[0], t[-1], min(FRAMES, len(t)))
    chosen = np.unique(np.searchsorted(t, frames).clip(0, len(t) - 1))
    q = q[chosen]
    drawing = _elastic(robot, q) if robot.is_elastic else _rigid(robot, q)
    points = np.stack(drawing.points, axis=1)
    return {
        "t": [float(f"{when:.6g}") for when in t[chosen]],
        "points": (np.round(points.reshape(len(q), -1), DIGITS) + 0.0).tolist(),
        "lines": [list(line) for line in drawing.lines],
        "dots": [list(dot) for dot in drawing.dots],
        "planar": bool(np.abs(points[..., 2]).max() < NEAR),
    }


def _rigid(robot: Robot, q: FloatArray) -> Drawing:
    R, p = kinematics.poses(robot, q)
    drawing = Drawing()
    origins = [drawing.point(p[:, i]) for i in range(robot.n)]
    feet = []
    for i in range(robot.n):
        turning = robot.kind[i] in (JointKind.REVOLUTE, JointKind.SPHERICAL)
        if robot.parent[i] < 0 and turning:
            feet.append(origins[i])
            drawing.dots.append((origins[i], "ground"))
        elif turning:
            drawing.dots.append((origins[i], "joint"))
        if robot.mass[i] > 0.0:
            _body(drawing, robot, R, p, origins, i)
    if len(feet) > 2:
        drawing.polygon(feet, "ground")
    springs = robot.springs
    for k in range(len(springs.body1)):
        ends = ((springs.body1[k], springs.point1[k]), (springs.body2[k], springs.point2[k]))
        one, two = (drawing.point(_placed(R, p, int(body), local)) for body, local in ends)
        drawing.lines.append((one, two, "slide"))
    return drawing


def _placed(R: FloatArray, p: FloatArray, body: int, local: FloatArray) -> FloatArray:
    """Return a point of a body (-1 is the ground) in the world, (K, 3)."""
    return np.broadcast_to(local, (len(p), 3)) if body < 0 else p[:, body] + R[:, body] @ local


def _body(drawing: Drawing, robot: Robot, R: FloatArray, p: FloatArray, origins: list[int], i: int) -> None:
    marks = [drawing.point(p[:, i] + R[:, i] @ local) for local in _marks(robot, i)]
    if len(marks) > 2:
        drawing.polygon(marks, "link")
        return
    drawing.lines += [(origins[i], mark, "link") for mark in marks]
    if not marks and np.abs(robot.com[i]).max() > NEAR:  # a rod about its centre
        drawing.lines.append((origins[i], drawing.point(p[:, i] + R[:, i] @ (2.0 * robot.com[i])), "link"))
    if robot.kind[i] == JointKind.PRISMATIC:
        parent = robot.parent[i]
        ground = np.broadcast_to(robot.translation[i], p[:, i].shape)
        start = ground if parent < 0 else p[:, parent] + R[:, parent] @ robot.translation[i]
        drawing.lines.append((drawing.point(start), origins[i], "slide"))


def _marks(robot: Robot, i: int) -> list[FloatArray]:
    """Return the points fixed to body i away from its origin: joints of children, ends of loops, frames; body axes."""
    loops = robot.loops
    places = [robot.translation[child] for child in np.flatnonzero(robot.parent == i)]
    places += [loops.translation1[k] for k in np.flatnonzero(loops.body1 == i)]
    places += [loops.translation2[k] for k in np.flatnonzero(loops.body2 == i)]
    places += [frame.translation for frame in robot.frames if frame.body == i]
    found: list[FloatArray] = []
    for place in places:
        if np.abs(place).max() > NEAR and all(np.abs(place - other).max() > NEAR for other in found):
            found.append(place)
    return found


def _elastic(robot: Robot, q: FloatArray) -> Drawing:
    arms = robot.elastic
    frames = particles.motion(robot, q, np.zeros((len(q), robot.nv)))
    origin, turn = frames.origin.value, frames.rotation.value
    drawing = Drawing()
    xi = np.linspace(0.0, 1.0, BEAM)
    for k, arm in enumerate(arms.arm):
        sleeve, l = robot.parent[arm], q[:, robot.iq[arm]]
        local = np.zeros((len(q), BEAM, 3))
        local[:, :, 0] = arms.mouth[k] + xi * l[:, None]
        for i, row in enumerate(np.flatnonzero(arms.body == arm)):
            direction = int(arms.direction[row])
            if direction != modes.TORSION:
                form = modes.shape(direction, int(arms.order[row]), xi)
                local[:, :, direction] += q[:, robot.iq[arm] + 1 + i, None] * form
        beam = origin[:, sleeve, None, :] + np.einsum("sij,skj->ski", turn[:, sleeve], local)
        base = drawing.point(origin[:, sleeve])
        chain = [drawing.point(beam[:, j]) for j in range(BEAM)]
        drawing.lines.append((base, chain[0], "slide"))
        drawing.lines += [(one, two, "link") for one, two in pairwise(chain)]
        drawing.dots.append((base, "ground" if k == 0 else "joint"))
    return drawing
