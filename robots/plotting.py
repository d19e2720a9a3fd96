"""``robot.plot(q)``: a stick figure with matplotlib, for a look at what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import kinematics
from dynbench.robots.arrays import FloatArray
from dynbench.robots.errors import StateError
from dynbench.robots.joints import JointKind

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

LINK, JOINT, MASS, FRAME = "#1f4e79", "#1f4e79", "#b5651d", "#888888"
AXES = ("#c0392b", "#27ae60", "#2c6fbb")  # x, y, z of a frame


def plot(robot: Robot, q: ArrayLike | None = None, ax: Any = None, frames: bool = True) -> Any:
    """Draw the robot in one configuration and return the matplotlib axes.

    Lines connect a body's joint with those of its children and with its centre of mass (a circle whose area is its
    mass); dots are joints, small crosses of three colours the named frames.

    Parameters
    ----------
    q : array_like, shape (nq,), optional
        Default: the robot's home.
    ax : matplotlib 3-D axes, optional
    frames : bool
        Whether to draw the named frames on moving bodies.
    """
    q = np.asarray(robot.home if q is None else q, dtype=np.float64)
    if q.ndim != 1:
        raise StateError(f"q has shape {q.shape}, expected one state ({robot.nq},)")
    R, p = kinematics.poses(robot, q)
    centres = p + np.einsum("bij,bj->bi", R, robot.com)
    if ax is None:
        from matplotlib import pyplot  # so that notebooks show it, and pyplot.show() does in a script

        ax = pyplot.figure(figsize=(5.0, 5.0)).add_subplot(projection="3d")
    for i, parent in enumerate(robot.parent):
        if robot.kind[i] != JointKind.FREE:
            _line(ax, p[parent] if parent >= 0 else np.zeros(3), p[i], LINK if parent >= 0 else FRAME)
        if robot.mass[i] > 0.0:
            _line(ax, p[i], centres[i], LINK, width=0.8)
    ax.scatter(*p.T, s=12, color=JOINT, depthshade=False)
    heavy = robot.mass > 0.0
    size = 120.0 * robot.mass[heavy] / robot.mass.max()
    ax.scatter(*centres[heavy].T, s=size, color=MASS, alpha=0.5, depthshade=False)
    points = np.vstack([p, centres, np.zeros((0 if robot.is_floating else 1, 3))])
    span = max(float(np.ptp(points, axis=0).max()), 1e-3)
    for frame in robot.frames if frames else ():
        if frame.body >= 0:
            at, turn = p[frame.body] + R[frame.body] @ frame.translation, R[frame.body] @ frame.rotation
            for k, colour in enumerate(AXES):
                _line(ax, at, at + 0.04 * span * turn[:, k], colour, width=1.0)
    for k in range(len(robot.loops.body1)):
        ends = [
            (R[body] @ place + p[body]) if body >= 0 else place
            for body, place in (
                (int(robot.loops.body1[k]), robot.loops.translation1[k]),
                (int(robot.loops.body2[k]), robot.loops.translation2[k]),
            )
        ]
        for body, end in zip((robot.loops.body1[k], robot.loops.body2[k]), ends, strict=True):
            if body >= 0:
                _line(ax, p[body], end, LINK)
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for axis, middle in zip("xyz", centre, strict=True):
        getattr(ax, f"set_{axis}lim")(middle - 0.55 * span, middle + 0.55 * span)
        getattr(ax, f"set_{axis}label")(f"{axis} / m")
    ax.set_box_aspect((1, 1, 1))
    ax.set_title(robot.name)
    return ax


def _line(ax: Any, start: FloatArray, end: FloatArray, colour: str, width: float = 2.0) -> None:
    ax.plot(*np.stack([start, end]).T, color=colour, linewidth=width)
