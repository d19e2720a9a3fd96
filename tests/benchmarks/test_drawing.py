"""Robots as points and lines: the lines of a rigid body keep their length, loops meet, elastic arms bend."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dynbench import robots
from dynbench.benchmarks.simulation import drawing
from dynbench.robots import kinematics

RIGID = ("rp3", "space-dual-arm", "3rrr", "gough-stewart")


def points(motion: dict[str, object]) -> np.ndarray:
    found = np.array(motion["points"])
    return found.reshape(len(found), -1, 3)


@pytest.mark.parametrize("name", [*RIGID, "elastic-rp1"])
def test_a_motion_is_plain_small_and_thinned(name: str) -> None:
    robot = robots.load(name)
    q = robot.sample(300, seed=3)[0]
    motion = drawing.motion(robot, np.linspace(0.0, 2.0, 300), q)
    assert len(motion["t"]) == len(motion["points"]) == drawing.FRAMES
    assert (motion["t"][0], motion["t"][-1]) == (0.0, 2.0)
    assert len(json.dumps(motion, allow_nan=False)) < 200_000
    count = points(motion).shape[1]
    assert all(0 <= index < count for one, two, _ in motion["lines"] for index in (one, two))


@pytest.mark.parametrize("name", RIGID)
def test_bodies_are_rigid(name: str) -> None:
    robot = robots.load(name)
    motion = drawing.motion(robot, np.linspace(0.0, 1.0, 40), robot.sample(40, seed=1)[0])
    place = points(motion)
    for one, two, kind in motion["lines"]:
        if kind == "link":
            length = np.linalg.norm(place[:, one] - place[:, two], axis=1)
            assert np.ptp(length) < 5e-4, (one, two)  # coordinates are rounded


def test_legs_reach_the_platform() -> None:
    robot = robots.load("gough-stewart")
    q = robot.sample(5, seed=2)[0]
    motion = drawing.motion(robot, np.linspace(0.0, 1.0, 5), q)
    _, p = kinematics.poses(robot, q)
    corners = points(motion)[:, -3:]  # the plate: three vertices, two legs on each
    for leg in range(6):
        upper = p[:, robot.body_index(f"leg{leg + 1}_upper")]
        assert np.linalg.norm(corners - upper[:, None], axis=2).min(axis=1).max() < 1e-3


def test_an_elastic_arm_ends_at_its_tip() -> None:
    robot = robots.load("elastic-rp1")
    q = np.zeros((2, robot.nq))
    q[:, 1] = 0.5
    q[1, 2] = 0.01
    place = points(drawing.motion(robot, np.array([0.0, 1.0]), q))
    assert np.allclose(place[0, :, 1], 0.0)
    assert np.allclose(place[0, -1, 0], float(robot.elastic.mouth[0]) + 0.5)
    assert abs(place[1, -1, 1]) > 1e-3


def test_springs_and_frames_are_drawn() -> None:
    """The governor: rods that end at their balls, springs as thin lines from the slider to the rods' middles."""
    from dynbench.benchmarks.problems.flyball_governor import robot as governor

    motion = drawing.motion(governor(), np.array([0.0, 1.0]), np.zeros((2, 4)))
    place = points(motion)[0]
    links = [place[[one, two]] for one, two, kind in motion["lines"] if kind == "link"]
    thin = [place[[one, two]] for one, two, kind in motion["lines"] if kind == "slide"]
    tips = sorted(float(ends[1, 0]) for ends in links if abs(ends[1, 0]) > 0.5)
    assert tips == pytest.approx([-0.05 - np.cos(np.pi / 6), 0.05 + np.cos(np.pi / 6)], abs=1e-4)
    lengths = [np.linalg.norm(ends[1] - ends[0]) for ends in thin]
    assert sum(length == pytest.approx(0.5, abs=1e-3) for length in lengths) >= 2
