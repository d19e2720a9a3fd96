"""dynibo as a method: a young engine in Rust that reads URDF files only.

X. Xue, dynibo (version 0.5), https://github.com/xiaojie-xue/dynibo, MIT. A URDF file is written for each robot, without
mimic joints, and loaded. What differs from `dynbench.robots.robot`; R is the rotation of a free base:

    joints        dynibo: revolute and prismatic ones, and a free base; numbered breadth first
    gravity       dynibo: always 9.80665 m/s^2 along -z. On a fixed base the file is written in another unit of length,
                  in which the robot's gravity has this value, and its base is turned. A free base gets the difference
                  as an acceleration
    wrenches      dynibo: a load is what the link exerts, the opposite of an external wrench
    free base     dynibo: not among the coordinates, but a pose, a twist and an acceleration (angular before linear) of
                  its origin in world axes: R w, R v, and R a, R (a + w x v). Forces are R tau
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL, converted
from dynbench.robots import quaternion
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

GRAVITY = 9.80665  # m/s^2, along -z
KINDS = {JointKind.REVOLUTE: "continuous", JointKind.PRISMATIC: "prismatic"}


def refused_joint(robot: Robot) -> str | None:
    """Return which joint an engine with revolute and prismatic joints and one free base does not have; None if none."""
    free = robot.kind[0] == JointKind.FREE
    for i in range(int(free), robot.n):
        if robot.kind[i] not in KINDS:
            what = JointKind(robot.kind[i]).name.lower()
            return f"it has revolute and prismatic joints and a free base, joint {robot.joint_names[i]!r} is {what}"
    if free and np.count_nonzero(robot.parent < 0) > 1:
        return "it has one base, and this robot has a free body beside other bodies on the ground"
    return None


class Dynibo(Method):
    """RNEA, ABA and composite inertias of dynibo, one state at a time."""

    name: ClassVar[str] = "dynibo"
    title: ClassVar[str] = "dynibo (RNEA, ABA in Rust)"
    reference: ClassVar[str] = "Xue, dynibo, https://github.com/xiaojie-xue/dynibo, version 0.5, 2026"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n)"
    requires: ClassVar[tuple[str, ...]] = ("dynibo",)
    extras: ClassVar[bool] = True  # added to its results
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {  # of a free base q is (its state, q), else (q,)
        ("inverse_dynamics", "single"): "robot.inverse_dynamics(*q, v, a, out=out)",
        ("forward_dynamics", "single"): "robot.forward_dynamics(*q, v, tau, out=out)",
        ("mass_matrix", "single"): "robot.mass_matrix(*q, out=M)",
        NULL_CALL: "robot.joint_count",
    }

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot) or refused_joint(robot)
        if reason is not None:
            return reason
        free = robot.kind[0] == JointKind.FREE
        if free and robot.mass[0] <= 0.0:
            return "it rejects a free base without mass"
        if not free and not robot.gravity.any():
            return "its gravity cannot be switched off on a fixed base"
        return None

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        engine = Engine(import_module("dynibo"), robot)
        functions = {name: getattr(engine, name) for name in self.computes}
        return function_solver(self, robot, functions, engine.work.robot, own_names=engine.own_names)


def urdf(robot: Robot, metre: float) -> str:
    """Return the robot as URDF, lengths multiplied by ``metre``; joints and links are named by their numbers."""
    free = robot.kind[0] == JointKind.FREE
    lines = ['<robot name="robot">'] + ([] if free else ['<link name="world"/>'])
    for i in range(robot.n):
        J = robot.inertia[i] * metre**2
        moments = " ".join(f'i{"xyz"[r]}{"xyz"[c]}="{float(J[r, c])!r}"' for r in range(3) for c in range(r, 3))
        lines.append(
            f'<link name="body{i}"><inertial><origin xyz="{_numbers(robot.com[i] * metre)}" rpy="0 0 0"/>'
            f'<mass value="{float(robot.mass[i])!r}"/><inertia {moments}/></inertial></link>'
        )
        if i == 0 and free:
            continue
        parent = f"body{robot.parent[i]}" if robot.parent[i] >= 0 else "world"
        angles = roll_pitch_yaw(robot.rotation[i])
        limit = '<limit lower="-1e9" upper="1e9" effort="1e9" velocity="1e9"/>'
        lines.append(
            f'<joint name="joint{i}" type="{KINDS[JointKind(robot.kind[i])]}">'
            f'<origin xyz="{_numbers(robot.translation[i] * metre)}" rpy="{_numbers(angles)}"/>'
            f'<parent link="{parent}"/><child link="body{i}"/><axis xyz="{_numbers(robot.axis[i])}"/>{limit}</joint>'
        )
    return "\n".join([*lines, "</robot>"])


def _numbers(x: FloatArray) -> str:
    return " ".join(repr(float(value)) for value in x)


def roll_pitch_yaw(R: FloatArray) -> FloatArray:
    """Return the angles of R = Rz(yaw) Ry(pitch) Rx(roll), to rounding at any pitch: roll is of what yaw leaves."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.array([roll, pitch, yaw])


def breadth_first(robot: Robot) -> list[int]:
    """Return the bodies in dynibo's order of joints."""
    order = [i for i in range(robot.n) if robot.parent[i] < 0]
    for body in order:  # the list grows while it is read
        order.extend(i for i in range(robot.n) if robot.parent[i] == body)
    return order


def upright(gravity: FloatArray) -> FloatArray:
    """Return the rotation that turns gravity to -z; the identity if it is there already."""
    down = gravity / np.linalg.norm(gravity)
    if np.array_equal(down, [0.0, 0.0, -1.0]):
        return np.eye(3)
    x = np.cross(down, np.eye(3)[np.argmin(np.abs(down))])
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(-down, x), -down])


class Workspace(threading.local):
    """dynibo's mutable data, one per thread: a robot on the same model."""

    def __init__(self, robot: Any) -> None:
        self.robot = robot.fork()


class Engine:
    """Functions of one state, in our coordinates."""

    def __init__(self, dynibo: Any, robot: Robot) -> None:
        self.dynibo = dynibo
        self.robot = robot
        self.free = bool(robot.kind[0] == JointKind.FREE)
        size = 1.0 if self.free else float(np.linalg.norm(robot.gravity)) / GRAVITY  # metres in a unit of length there
        order = breadth_first(robot)[int(self.free) :]
        self.q, self.v = robot.iq[order], robot.iv[order]
        slides = robot.kind[order] == JointKind.PRISMATIC
        self.unit = np.where(slides, size, 1.0)  # coordinates here over those there
        self.force = np.where(slides, size, size**2)  # forces here over those there
        self.size = size
        kind = dynibo.FloatingRobot if self.free else dynibo.Robot
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(urdf(robot, 1.0 / size), encoding="utf-8")
            made = kind.from_urdf(str(path))
        if not self.free:
            turned = quaternion.from_matrix(upright(robot.gravity))
            made.set_base_frame(dynibo.Pose((0.0, 0.0, 0.0), tuple(map(float, turned))))
        self.work = Workspace(made)
        self.link = [made.link_id(f"body{i}") for i in range(robot.n)]
        self.lift = np.array([0.0, 0.0, -GRAVITY]) - robot.gravity  # what a free base accelerates more

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        state, speed, rate = self.theirs(q, v, a)
        return self._forces(q, self.work.robot.inverse_dynamics(*state, speed, rate, self._loads(wrench)))

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        state, speed, forces = self.theirs(q, v, tau=tau)
        found = self.work.robot.forward_dynamics(*state, speed, forces, self._loads(wrench))
        a = np.empty(self.robot.nv)
        a[self.v] = found[6 * self.free :] * self.unit
        if self.free:
            R = self._turn(q)
            a[:3] = R.T @ (found[3:6] - self.lift) - np.cross(v[3:6], v[:3])
            a[3:6] = R.T @ found[:3]
        return a

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        (state,) = self.theirs(q)
        count = len(self.v) + 6 * self.free
        there = np.reshape(self.work.robot.mass_matrix(*state), (count, count))
        turn = np.zeros((count, self.robot.nv))  # velocities there from ours; energy there is in other units too
        turn[6 * self.free + np.arange(len(self.v)), self.v] = 1.0 / self.unit
        if self.free:
            turn[:3, 3:6] = turn[3:6, :3] = self._turn(q)
        return turn.T @ there @ turn * self.size**2

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        return self.inverse_dynamics(q, v, np.zeros(self.robot.nv), wrench)

    def theirs(
        self, q: FloatArray, v: FloatArray | None = None, a: FloatArray | None = None, tau: FloatArray | None = None
    ) -> list[Any]:
        """Return those of q, v, a, tau that are given in dynibo's coordinates; the first is (base, q), or (q,)."""
        found: list[Any] = [(q[self.q] / self.unit,)]
        found += [x[self.v] / self.unit for x in (v, a) if x is not None]
        if tau is not None:
            found.append(tau[self.v] / self.force)
        if self.free:
            R = self._turn(q)
            found[0] = (self._base(R, q, v, a), *found[0])
            if tau is not None:
                found[-1] = np.concatenate([R @ tau[3:6], R @ tau[:3], found[-1]])
        return found

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `Dynibo.own_calls` stand for."""
        nv = self.robot.nv
        names = {"robot": self.work.robot, "out": np.zeros(nv), "M": np.zeros(nv * nv)}
        return {**names, **converted(self.theirs, quantity, inputs)}

    def _turn(self, q: FloatArray) -> FloatArray:
        """The rotation of the free base."""
        return self.robot.rotation[0] @ quaternion.matrix(q[3:7])  # type: ignore[no-any-return]

    def _base(self, R: FloatArray, q: FloatArray, v: FloatArray | None, a: FloatArray | None) -> Any:
        """The state of the free base, with gravity's difference in its acceleration."""
        twist, rate = self.dynibo.Twist((0.0,) * 3, (0.0,) * 3), self.dynibo.Twist((0.0,) * 3, tuple(self.lift))
        if v is not None:
            twist = self.dynibo.Twist(tuple(R @ v[3:6]), tuple(R @ v[:3]))
            if a is not None:
                linear = R @ (a[:3] + np.cross(v[3:6], v[:3])) + self.lift
                rate = self.dynibo.Twist(tuple(R @ a[3:6]), tuple(linear))
        where = self.robot.translation[0] + self.robot.rotation[0] @ q[:3]
        return self.dynibo.BaseState(self.dynibo.Pose(tuple(where), tuple(quaternion.from_matrix(R))), twist, rate)

    def _forces(self, q: FloatArray, there: FloatArray) -> FloatArray:
        tau = np.empty(self.robot.nv)
        tau[self.v] = there[6 * self.free :] * self.force
        if self.free:
            R = self._turn(q)
            tau[:3], tau[3:6] = R.T @ there[3:6], R.T @ there[:3]
        return tau

    def _loads(self, wrench: FloatArray | None) -> Any:
        """External wrenches at the body frames' origins, body axes, as dynibo's loads."""
        if wrench is None:
            return None
        scaled = -wrench / np.repeat([self.size, self.size**2], 3)
        return [self.dynibo.Load(link, tuple(x[3:]), tuple(x[:3])) for link, x in zip(self.link, scaled, strict=True)]
