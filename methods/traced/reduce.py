"""The same robot in numbers that leave fewer operations, for joint-space quantities: frames are no longer the robot's.

`tidy`: numbers that differ from 0 and 1 by rounding alone (from angles such as pi/2 in files) become 0 and 1.

`align`, for trees: the frame of a body on a one-axis joint may have its origin anywhere on the axis, and its x axis
anywhere across it. The origin goes to the foot of the common normal with the parent's axis, so that p = (a, 0, b); x
goes along the common normal to the axis of the body's heaviest child, so that the rotation to it is one about x, and
then one about z. That about z is added to the joint's coordinate.

`regroup`: of a body on a revolute joint, what is symmetric about the axis, but for its moment about it, might as well
belong to the parent: the torque is the same. Mass, h_z and diag(J, J, 0) go there. The rows are no bodies then (first
moments without mass), so they serve kernels that read mass, first moment and inertia at the origin, and those only.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dynbench.methods.kernels import tree
from dynbench.methods.kernels.tree import PRISMATIC, REVOLUTE, SPHERICAL
from dynbench.robots.robot import FloatArray, Robot

ROUNDING = 1e-15  # relative to the largest number of its kind
MOMENTS = (slice(tree.H, tree.H + 3), slice(tree.J, tree.J + 6))


def snapped(x: FloatArray, size: float | FloatArray) -> FloatArray:
    """Return x with numbers below rounding, for numbers of that size, as zero."""
    return np.where(np.abs(x) < ROUNDING * size, 0.0, x)


def snapped_rotation(R: FloatArray) -> FloatArray:
    """Return rotations with entries within rounding of 0, 1 and -1 as these."""
    R = snapped(R, 1.0)
    return np.where(np.abs(np.abs(R) - 1.0) < ROUNDING, np.sign(R), R)


def tidy(robot: Robot) -> Robot:
    """Return the robot without the traces of rounding in its numbers."""
    loops = robot.loops
    reach = max(np.abs(robot.translation).max(initial=0.0), np.abs(robot.com).max(initial=0.0))
    largest = np.abs(robot.inertia).max(axis=(1, 2), keepdims=True, initial=0.0)
    return dataclasses.replace(
        robot,
        axis=snapped_rotation(robot.axis),
        rotation=snapped_rotation(robot.rotation),
        translation=snapped(robot.translation, reach),
        com=snapped(robot.com, reach),
        inertia=snapped(robot.inertia, largest),
        gravity=snapped(robot.gravity, np.abs(robot.gravity).max()),
        loops=loops._replace(
            rotation1=snapped_rotation(loops.rotation1),
            rotation2=snapped_rotation(loops.rotation2),
            translation1=snapped(loops.translation1, reach),
            translation2=snapped(loops.translation2, reach),
        ),
    )


def turn_z(angle: float) -> FloatArray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def one_axis(robot: Robot, i: int) -> bool:
    return i >= 0 and robot.kind[i] in (REVOLUTE, PRISMATIC)


def align(robot: Robot) -> tuple[Robot, dict[int, float]]:
    """Return a tree with the same joint-space dynamics in frames that leave zeros, and what to add to q, by index."""
    n = robot.n
    children: list[list[int]] = [[] for _ in range(n)]
    carried = np.ones(n)
    for i in range(n - 1, -1, -1):
        if robot.parent[i] >= 0:
            children[robot.parent[i]].insert(0, i)
            carried[robot.parent[i]] += carried[i]
    # the axis of each one-axis joint in its parent body's frame, and in its own; a frame with it for z
    along = np.einsum("nij,nj->ni", robot.rotation, robot.axis)
    frames = [tree.axis_frame(robot.axis[i]) if one_axis(robot, i) else np.eye(3) for i in range(n)]
    slide = _feet(robot, along)
    turn = _x_axes(robot, along, frames, slide, children, carried)
    plain = tree.axis_frame(np.array([0.0, 0.0, 1.0]))  # what packing makes of an axis z, which is to be undone
    change = [frames[i] @ turn_z(turn[i]) @ plain.T if one_axis(robot, i) else np.eye(3) for i in range(n)]
    shift = slide[:, None] * robot.axis
    roots = np.flatnonzero(robot.parent < 0)
    ground = np.eye(3)
    if len(roots) == 1 and one_axis(robot, int(roots[0])):
        ground = robot.rotation[roots[0]] @ change[roots[0]] @ plain
    rotation, translation, offsets = np.empty((n, 3, 3)), np.empty((n, 3)), {}
    for i in range(n):
        parent = int(robot.parent[i])
        before, moved = (ground, np.zeros(3)) if parent < 0 else (change[parent], shift[parent])
        rotation[i] = snapped_rotation(before.T @ robot.rotation[i] @ change[i])
        translation[i] = before.T @ (robot.translation[i] + robot.rotation[i] @ shift[i] - moved)
        if robot.kind[i] == REVOLUTE:
            angle = _last_turn(rotation[i], plain, _plain_of(robot, parent, plain))
            if angle:
                offsets[int(robot.iq[i])] = angle
                rotation[i] = rotation[i] @ plain @ turn_z(-angle) @ plain.T
    turned = np.stack(change)
    aligned = dataclasses.replace(
        robot,
        axis=np.where(np.abs(robot.axis).sum(axis=1, keepdims=True) > 0.0, np.array([0.0, 0.0, 1.0]), 0.0),
        rotation=rotation,
        translation=translation,
        com=np.einsum("nji,nj->ni", turned, robot.com - shift),
        inertia=np.einsum("nji,njk,nkl->nil", turned, robot.inertia, turned),
        gravity=ground.T @ robot.gravity,
        frames=(),
    )
    return tidy(aligned), offsets


def _plain_of(robot: Robot, parent: int, plain: FloatArray) -> FloatArray:
    return plain if one_axis(robot, parent) else np.eye(3)


def _feet(robot: Robot, along: FloatArray) -> FloatArray:
    """How far along its axis each revolute joint's origin is to be moved."""
    slide = np.zeros(robot.n)
    for i in range(robot.n):
        parent = int(robot.parent[i])
        if robot.kind[i] != REVOLUTE or parent < 0:
            continue
        z, p = along[i], robot.translation[i] - slide[parent] * robot.axis[parent]
        if one_axis(robot, parent):
            up = robot.axis[parent]
            across, away = z - (z @ up) * up, p - (p @ up) * up
            if across @ across > 1e-12:  # the point of the axis nearest to the parent's axis
                slide[i] = -(away @ across) / (across @ across)
                continue
        slide[i] = -(p @ z)  # parallel axes, or a parent without one: the point nearest to the parent's origin
    return slide


def _x_axes(
    robot: Robot,
    along: FloatArray,
    frames: list[FloatArray],
    slide: FloatArray,
    children: list[list[int]],
    carried: FloatArray,
) -> FloatArray:
    """By which angle about its axis each frame is to be turned."""
    turn = np.zeros(robot.n)
    for i in range(robot.n):
        if not one_axis(robot, i) or not children[i]:
            continue
        child = max(children[i], key=lambda k: carried[k])
        z = frames[i].T @ along[child]
        if one_axis(robot, child) and np.hypot(z[0], z[1]) > 1e-9:
            angle = np.arctan2(z[0], -z[1])  # z = Rz(angle) Rx(b) e_z
        else:
            p = robot.translation[child] + slide[child] * along[child] - slide[i] * robot.axis[i]
            p = frames[i].T @ p
            angle = np.arctan2(p[1], p[0]) if np.hypot(p[0], p[1]) > 1e-12 else 0.0
        # half a turn changes signs only, which cost nothing
        turn[i] = angle - np.pi if angle > np.pi / 2 + 1e-9 else angle + np.pi if angle <= -np.pi / 2 + 1e-9 else angle
    return turn


def _last_turn(rotation: FloatArray, plain: FloatArray, before: FloatArray) -> float:
    """The last of the angles in Rz Rx Rz, as the packed frames see it; 0 where quarter turns leave zeros anyway."""
    e = before.T @ rotation @ plain
    tilted = np.hypot(e[0, 2], e[1, 2]) > 1e-9
    angle = np.arctan2(e[2, 0], e[2, 1]) if tilted else np.arctan2(e[1, 0], e[0, 0])
    quarters = angle / (np.pi / 2)
    return 0.0 if abs(quarters - round(quarters)) < 1e-9 else float(angle)


def regroup(packed: FloatArray) -> FloatArray:
    """Return the packed tree with inertial parameters moved towards the ground wherever torques allow it."""
    rows = packed.reshape(-1, tree.ROW).copy()
    for i in range(len(rows) - 1, 0, -1):
        row, parent = rows[i], int(rows[i, tree.PARENT])
        e, p = row[tree.E : tree.E + 9].reshape(3, 3), row[tree.P : tree.P + 3]
        h, inertia, mass = np.zeros(3), np.zeros((3, 3)), 0.0
        sizes = [(part, np.abs(row[part]).max()) for part in MOMENTS]
        if row[tree.KIND] == REVOLUTE:
            z, j = e[:, 2], row[tree.J + 3]
            mass, h, inertia = row[tree.MASS], row[tree.H + 2] * z, j * (np.eye(3) - np.outer(z, z))
            row[[tree.MASS, tree.H + 2, tree.J + 3]] = 0.0
            row[tree.J] -= j
        elif row[tree.KIND] == PRISMATIC:  # it does not turn against its parent
            inertia = e @ _symmetric(row[tree.J : tree.J + 6]) @ e.T
            row[tree.J : tree.J + 6] = 0.0
        elif row[tree.KIND] == SPHERICAL:
            mass = row[tree.MASS]
            row[tree.MASS] = 0.0
        if parent > 0:
            if row[tree.KIND] != PRISMATIC:
                cross = 2.0 * (p @ h) * np.eye(3) - np.outer(p, h) - np.outer(h, p)
                inertia = inertia + cross + mass * (p @ p * np.eye(3) - np.outer(p, p))
                h = h + mass * p
            up = rows[parent]
            up[tree.MASS] += mass
            up[tree.H : tree.H + 3] += h
            up[tree.J : tree.J + 6] += inertia[tree.UPPER]
        for part, size in sizes:
            row[part] = snapped(row[part], size)
        inertia = _symmetric(row[tree.J : tree.J + 6])
        second = np.trace(inertia) / 2 * np.eye(3) - inertia
        row[tree.SECOND_MOMENT : tree.SECOND_MOMENT + 6] = snapped(second, sizes[1][1])[tree.UPPER]
    return rows.ravel()


def _symmetric(x: FloatArray) -> FloatArray:
    full = np.zeros((3, 3))
    full[tree.UPPER] = x
    return full + np.triu(full, 1).T
