"""Springs of a robot: built, stored in files, part of the energy, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.robots import Body, Fixed, Prismatic, Robot, RobotError, Spring, read_robot
from dynbench.robots.files.robotfile import write_robot


def sliders(**spring) -> Robot:
    bodies = [
        Body(name="one", joint=Prismatic([1, 0, 0]), mass=1.0),
        Body(name="two", joint=Prismatic([1, 0, 0]), mass=2.0),
        Body(name="hook", parent="two", joint=Fixed(), placement=(np.eye(3), [0.5, 0.0, 0.0])),
    ]
    return Robot.from_bodies("sliders", bodies, springs=[Spring(**{"body1": "one", "body2": "hook", **spring})])


def test_energy_of_a_stretched_spring():
    robot = sliders(stiffness=10.0, rest_length=0.3, point2=[0.1, 0.0, 0.0])
    assert robot.springs.body2[0] == 1  # on the body that carries the hook
    assert robot.energy([0.0, 0.4], [0.0, 0.0]) == pytest.approx(0.5 * 10.0 * 0.7**2)
    assert robot.dissipation([0.0, 0.4], [1.0, 3.0]) == 0.0
    assert sliders(damping=2.0).dissipation([0.0, 0.4], [1.0, 3.0]) == pytest.approx(8.0)


def test_files_keep_springs_and_weights(tmp_path):
    robot = sliders(stiffness=10.0, damping=0.1, rest_length=0.3)
    write_robot(robot, tmp_path / "sliders.toml")
    assert read_robot(tmp_path / "sliders.toml") == robot
    assert robot != sliders(stiffness=10.0, damping=0.1, rest_length=0.31)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"body2": "hok"}, "spring 0 is on body 'hok', which no body defines; did you mean 'hook'"),
        ({"body1": "two"}, "spring 0 joins 'two' and 'hook', which do not move relative to each other"),
        ({"stiffness": -1.0}, "stiffness is -1, expected a finite number >= 0"),
        ({"rest_length": np.inf}, "rest_length"),
        ({"point1": [0.0, 1.0]}, "point1"),
    ],
)
def test_what_is_refused(wrong, message):
    with pytest.raises(RobotError, match=message):
        sliders(**wrong)


def test_a_spring_must_be_one():
    with pytest.raises(RobotError, match=r"springs holds 3, expected robots.Spring"):
        Robot.from_bodies("x", [Body(name="one", joint=Prismatic([1, 0, 0]), mass=1.0)], springs=[3])
