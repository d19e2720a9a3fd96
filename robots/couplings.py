"""Couplings: joints that follow others, ``q[joint] = multiplier q[follows] + offset`` (mimic joints of URDF).

A coupling is one more equation of the loops, linear and without a closure: its residual is q_j - k q_i - offset, its
row of the Jacobian has 1 and -k, and its rate is zero. Everything that holds for closed loops holds for couplings. A
joint that follows one that follows another is stored as following the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynbench.robots.arrays import FloatArray, IntArray, frozen
from dynbench.robots.body import Coupling, Couplings
from dynbench.robots.errors import RobotError, near
from dynbench.robots.joints import NV, JointKind

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


def coupling_arrays(
    name: str, couplings: Sequence[Coupling], joint_names: tuple[str, ...], kind: IntArray
) -> Couplings | None:
    """Return the couplings of a description as arrays, each on a joint that follows none; None if there are none."""
    if not couplings:
        return None
    given: dict[int, tuple[int, float, float]] = {}
    for coupling in couplings:
        if not isinstance(coupling, Coupling):
            raise RobotError(f"robot {name!r}: couplings holds {coupling!r}, expected robots.Coupling(...)")
        ends = []
        for joint in (coupling.joint, coupling.follows):
            if joint not in joint_names:
                hint = near(joint, joint_names)
                raise RobotError(f"robot {name!r}: a coupling names {joint!r}, which is no moving joint; {hint}")
            ends.append(joint_names.index(joint))
            if NV[kind[ends[-1]]] != 1:
                said = JointKind(int(kind[ends[-1]])).name.lower()
                raise RobotError(
                    f"robot {name!r}: a coupling names {joint!r}, a {said} joint; expected a revolute or prismatic one"
                )
        if ends[0] in given:
            raise RobotError(f"robot {name!r}: joint {coupling.joint!r} has two couplings, expected one")
        given[ends[0]] = ends[1], coupling.multiplier, coupling.offset
    found = []
    for follower in sorted(given):
        leader, multiplier, offset = given[follower]
        passed = [follower]
        while leader in given:
            passed.append(leader)
            if leader in passed[:-1]:
                cycle = " -> ".join(joint_names[i] for i in passed)
                raise RobotError(f"robot {name!r}: couplings follow each other in a circle: {cycle}")
            leader, factor, more = given[leader]
            multiplier, offset = multiplier * factor, multiplier * more + offset
        found.append((follower, leader, multiplier, offset))
    columns = list(zip(*found, strict=True))
    return Couplings(
        np.array(columns[0], dtype=np.int64), np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.float64), np.array(columns[3], dtype=np.float64),
    )  # fmt: skip


def check_couplings(robot: Robot) -> None:
    """Raise a RobotError if the arrays of couplings are not those of joints with one coordinate each."""
    joint, leader, multiplier, offset = robot.couplings
    shapes = {np.shape(x) for x in robot.couplings}
    if len(shapes) > 1 or len(joint.shape) != 1:
        raise RobotError(f"robot {robot.name!r}: couplings have shapes {sorted(shapes)}, expected one length for all")
    bodies = np.concatenate([joint, leader])
    if ((bodies < 0) | (bodies >= robot.n)).any() or (NV[robot.kind[bodies]] != 1).any():
        raise RobotError(f"robot {robot.name!r}: couplings are of joints {bodies.tolist()}, expected one-axis joints")
    if len(set(joint.tolist())) < len(joint) or set(joint.tolist()) & set(leader.tolist()):
        raise RobotError(f"robot {robot.name!r}: couplings of joints {joint.tolist()} follow others that follow")
    if not (np.isfinite(multiplier).all() and np.isfinite(offset).all()):
        raise RobotError(f"robot {robot.name!r}: multipliers and offsets of couplings must be finite")


def rows(robot: Robot) -> FloatArray:
    """Return the rows of the Jacobian, shape (c, nv)."""
    A = np.zeros((len(robot.couplings.joint), robot.nv))
    each = np.arange(len(A))
    A[each, robot.iv[robot.couplings.joint]] = 1.0
    A[each, robot.iv[robot.couplings.leader]] = -robot.couplings.multiplier
    return frozen(A, np.float64)


def residual(robot: Robot, q: FloatArray) -> FloatArray:
    """Return by how much configurations (N, nq) violate the couplings, shape (N, c)."""
    joint, leader, multiplier, offset = robot.couplings
    return np.asarray(q[:, robot.iq[joint]] - multiplier * q[:, robot.iq[leader]] - offset)


def follow(robot: Robot, q: FloatArray) -> FloatArray:
    """Return configurations (N, nq) with the joints that follow others where they belong."""
    moved = q.copy()
    joint, leader, multiplier, offset = robot.couplings
    moved[:, robot.iq[joint]] = multiplier * q[:, robot.iq[leader]] + offset
    return moved


def follow_rates(robot: Robot, v: FloatArray) -> FloatArray:
    """Return velocities or accelerations (N, nv) with those of joints that follow others."""
    moved = v.copy()
    moved[:, robot.iv[robot.couplings.joint]] = robot.couplings.multiplier * v[:, robot.iv[robot.couplings.leader]]
    return moved


def described(robot: Robot) -> list[Coupling]:
    """Return the couplings of a robot as they are described."""
    names = robot.joint_names
    joint, leader, multiplier, offset = robot.couplings
    return [
        Coupling(joint=names[i], follows=names[j], multiplier=float(k), offset=float(x))
        for i, j, k, x in zip(joint, leader, multiplier, offset, strict=True)
    ]
