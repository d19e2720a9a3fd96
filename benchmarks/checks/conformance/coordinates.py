"""Ways to misread the coordinates of a state: degrees, another order, another quaternion, axes of the world.

Every function takes the state as it is meant and returns the state as somebody who misreads it sees it; `mistakes`
says in words what the misreading is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dynbench.robots import quaternion
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

State = tuple[FloatArray, FloatArray, FloatArray]


def scaled(of_q: float, of_rates: float, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """Angles, and their rates, times a factor; quaternions and lengths as they are."""
    turning = robot.kind == JointKind.REVOLUTE
    q, v, a = q.copy(), v.copy(), a.copy()
    q[robot.iq[turning]] *= of_q
    v[robot.iv[turning]] *= of_rates
    a[robot.iv[turning]] *= of_rates
    return q, v, a


def every_number(factor: float, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """All of q, v and a times a factor, quaternions unit again."""
    return robot.normalise(factor * q), factor * v, factor * a


def reordered(order: Sequence[int], robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """What somebody whose joints come in another order takes our numbers for."""
    at_q, at_v = blocks(order, robot.iq, NQ[robot.kind]), blocks(order, robot.iv, NV[robot.kind])
    seen = np.empty_like(q), np.empty_like(v), np.empty_like(a)
    for array, at, mine in zip(seen, (at_q, at_v, at_v), (q, v, a), strict=True):
        array[at] = mine
    return robot.normalise(seen[0]), seen[1], seen[2]


def put_in_order(order: Sequence[int], robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """The force, joints in another order."""
    return tau[blocks(order, robot.iv, NV[robot.kind])]


def blocks(order: Sequence[int], first: IntArray, width: IntArray) -> list[int]:
    """Our indices of the coordinates of the joints in ``order``."""
    return [k for i in order for k in range(int(first[i]), int(first[i] + width[i]))]


def rolled(by: int, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """Quaternions with their numbers shifted: x y z w taken for w x y z, or the reverse."""
    q = q.copy()
    for start, _ in robot.quaternions:
        q[start : start + 4] = np.roll(q[start : start + 4], by)
    return q, v, a


def conjugate(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """Quaternions of the inverse rotations."""
    q = q.copy()
    for start, _ in robot.quaternions:
        q[start : start + 3] *= -1.0
    return q, v, a


def free_joints(robot: Robot, q: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """For each free joint its place in v, and its body's rotation to the axes in which its position is given."""
    for i in np.flatnonzero(robot.kind == JointKind.FREE):
        at = robot.iq[i] + 3
        yield int(robot.iv[i]), robot.rotation[i] @ quaternion.matrix(q[at : at + 4])


def from_world(derivatives: bool, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """v and a of free joints taken for world axes; with ``derivatives``, a for the derivative of those."""
    v, a = v.copy(), a.copy()
    for at, R in free_joints(robot, q):
        for x in (v, a):
            x[at : at + 6] = np.concatenate([R.T @ x[at : at + 3], R.T @ x[at + 3 : at + 6]])
        if derivatives:
            a[at : at + 3] -= np.cross(v[at + 3 : at + 6], v[at : at + 3])
    return q, v, a


def to_world(robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """Force and moment of free joints in world axes."""
    tau = tau.copy()
    for at, R in free_joints(robot, q):
        tau[at : at + 6] = np.concatenate([R @ tau[at : at + 3], R @ tau[at + 3 : at + 6]])
    return tau


def classical(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """a of free joints taken for the acceleration of the origin, which has an additional omega x v."""
    a = a.copy()
    for at, _ in free_joints(robot, q):
        a[at : at + 3] -= np.cross(v[at + 3 : at + 6], v[at : at + 3])
    return q, v, a


def halves_swapped(robot: Robot, q: FloatArray, x: FloatArray) -> FloatArray:
    """The six numbers of free joints with angular before linear."""
    x = x.copy()
    for at, _ in free_joints(robot, q):
        x[at : at + 6] = np.roll(x[at : at + 6], 3)
    return x


def angular_first(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """v and a of free joints taken for angular before linear."""
    return q, halves_swapped(robot, q, v), halves_swapped(robot, q, a)
