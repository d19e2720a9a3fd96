"""A small package with an engine of its own, for robots of one joint, and the calls that its users write."""

from __future__ import annotations

import numpy as np

from dynbench.methods import Method, function_solver


class Pendulum:
    """An engine: degrees instead of radians, a batch in columns."""

    def __init__(self, robot):
        r = robot.com[0]
        self.inertia = robot.inertia[0] + robot.mass[0] * (r @ r * np.eye(3) - np.outer(r, r))
        self.robot = robot

    def torque(self, degrees, acceleration):
        axis, turn = self.robot.axis[0], np.deg2rad(degrees)
        K = np.cross(np.eye(3), axis)  # K x = axis x x
        R = self.robot.rotation[0] @ (np.eye(3) + np.sin(turn) * K + (1.0 - np.cos(turn)) * K @ K)
        weight = self.robot.mass[0] * np.cross(self.robot.com[0], R.T @ self.robot.gravity)
        return np.array([axis @ self.inertia @ axis * np.deg2rad(acceleration) - axis @ weight])

    def torques(self, degrees, accelerations, out):
        for k in range(degrees.shape[1]):
            out[:, k] = self.torque(degrees[0, k], accelerations[0, k])


class Theirs(Method):
    """The engine as a method."""

    name, title, reference, cost, contract = "theirs", "Their engine", "a test", "O(1)", 1
    computes = ("inverse_dynamics", "bias")
    own_calls = {  # noqa: RUF012  (as the author of a plugin would write it)
        ("inverse_dynamics", "single"): "engine.torque(q, a)",
        ("inverse_dynamics", "batch"): "engine.torques(q, a, out.T)",
        ("bias", "single"): "engine.torque(q, 0.0)",
    }

    def supports(self, robot):
        return super().supports(robot) or (None if robot.n == 1 and robot.nv == 1 else "it is for robots of one joint")

    def prepare(self, robot):
        self.require(robot)
        engine = Pendulum(robot)

        def inverse_dynamics(q, v, a, wrench):
            tau = engine.torque(np.rad2deg(q[0]), np.rad2deg(a[0]))
            return tau if wrench is None else tau - robot.axis[0] @ wrench[0, 3:]

        def own_names(quantity, inputs, threads):
            degrees = dict(zip(("q", "v", "a"), map(np.rad2deg, inputs), strict=False))
            if threads is None:
                return {"engine": engine, **{name: x[:, 0] for name, x in degrees.items()}}
            columns = {name: x.T for name, x in degrees.items()}
            return {"engine": engine, **columns, "out": np.zeros((len(inputs[0]), 1))}

        return function_solver(self, robot, {"inverse_dynamics": inverse_dynamics}, own_names=own_names)
