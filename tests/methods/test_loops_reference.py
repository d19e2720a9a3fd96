"""Closed loops of the virtual-spring paper's 3RRR, against the forty samples of the reference file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from looped import every_way, relative, solver

from dynbench import robots

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "virtual-spring-denoc.json").read_text())


def reference(key: str) -> np.ndarray:
    return np.array([sample[key] for sample in REFERENCE["samples"]])


@pytest.fixture(scope="module")
def paper():
    robot = robots.load("3rrr")
    pose = ("platform_pose_x_y_phi", "platform_velocity", "platform_acceleration")
    return robot, *robot.state_from_platform(*(reference(key) for key in pose))


def test_the_reference_robot_is_the_papers(paper):
    robot, q, v, a = paper
    given = REFERENCE["mechanism"]
    assert robot.translation[[0, 2, 4], :2] == pytest.approx(np.array(given["base_points"]), abs=1e-12)
    for number, value in (("theta1", q[:, :6:2]), ("theta1_rate", v[:, :6:2]), ("theta1_accel", a[:, :6:2])):
        assert relative(value, reference(number)) < 1e-12
    assert robot.energy(q, v) == pytest.approx(reference("kinetic_energy"), rel=1e-10)


@every_way
def test_the_forty_reference_samples(way, paper):
    robot, q, v, a = paper
    solve = solver(way, robot)
    tau = solve.inverse_dynamics(q, v, a)
    assert relative(tau, reference("motor_torques")) < 1e-9
    assert relative(solve.forward_dynamics(q, v, reference("motor_torques")), a) < 1e-9
    if way != "denoc, multipliers":
        # theta_P = 0 along the path: platform axes are world axes
        tip = reference("force_platform_on_link2").reshape(-1, 6)
        assert relative(solve.multipliers(q, v, a), tip) < 1e-9
        wrench = solve.reactions(q, v, a)
        for body, key in ((0, "force_ground_on_link1"), (1, "force_link1_on_link2")):
            angle = q[:, 0:6:2] + (q[:, 1:6:2] if body else 0.0)
            mine = (wrench[:, body:6:2, 0] + 1j * wrench[:, body:6:2, 1]) * np.exp(1j * angle)
            judge = reference(key)[..., 0] + 1j * reference(key)[..., 1]
            assert np.abs(mine - judge).max() < 1e-9 * np.abs(judge).max()
