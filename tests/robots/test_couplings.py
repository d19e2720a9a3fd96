"""Joints that follow others: what is stored, states, files, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from coupled import COUPLINGS, bodies, coupled, reduction

from dynbench import robots
from dynbench.robots import Coupling, Robot, RobotError
from dynbench.robots.files.robotfile import read_robot, write_robot


def test_a_joint_that_follows_a_follower_follows_the_last():
    robot = coupled()
    found = {robot.joint_names[i]: (robot.joint_names[j], k, x) for i, j, k, x in zip(*robot.couplings, strict=True)}
    assert found == {"slide": ("elbow", -1.4, 0.3), "wrist": ("elbow", 2.0, 0.0)}
    assert not robot.is_tree
    assert robot.actuated.tolist() == [0, 1, 4, 5, 6]
    assert repr(robot) == "<Robot 'coupled': 5 bodies, nq=8, nv=7, fixed base, 2 couplings>"
    assert robot.loop_analysis.dof == 5


def test_home_has_the_leaders_at_zero_and_the_followers_where_they_belong():
    robot = coupled(base=True)
    expected = robot.neutral()
    expected[robot.iq[robot.body_index("slide")]] = 0.3
    np.testing.assert_array_equal(robot.home, expected)


@pytest.mark.parametrize("base", [False, True])
def test_states_satisfy_the_couplings(base):
    robot = coupled(base)
    q, v, a = robot.sample(20, seed=1)
    assert np.abs(robot.loop_residual(q)).max() < 1e-15
    W = reduction(robot)
    for x in (v, a):
        np.testing.assert_allclose(x, x[:, robot.actuated] @ W.T, atol=1e-14)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ W, 0.0, atol=1e-15)
    np.testing.assert_array_equal(robot.loop_rate(q, v), 0.0)
    moved = robot.integrate(q, 0.3 * v)
    assert np.abs(robot.loop_residual(moved)).max() < 1e-13


def test_project_and_close_bring_a_state_back():
    robot = coupled()
    q, v, a = (x[0] for x in robot.sample(1, seed=2))
    off = q + 0.05 * np.arange(8) * (np.arange(8) < 4)
    for found in (robot.project(off), robot.close(off)):
        assert np.abs(robot.loop_residual(found)).max() < 1e-12
    np.testing.assert_array_equal(robot.close(off)[:2], off[:2])
    q2, v2, a2 = robot.project(q, v + 0.1, a + 0.1)
    assert np.abs(robot.loop_jacobian(q2) @ v2).max() < 1e-12
    assert np.abs(robot.loop_jacobian(q2) @ a2).max() < 1e-12


def test_couplings_beside_loops():
    """A four-bar with a pointer that turns twice as fast as its rocker."""
    four = robots.load("four-bar")
    pointer = robots.Body(name="pointer", parent="crank", joint=robots.Revolute([0, 0, 1]), mass=0.1, inertia=[1, 1, 1])
    robot = Robot.from_bodies(
        "geared",
        [*robots.edit.bodies(four), pointer],
        gravity=four.gravity,
        loops=robots.edit.loops(four),
        actuated=[four.joint_names[int(four.actuated[0])]],
        home=[*four.home, 2 * four.home[2]],
        couplings=[Coupling(joint="pointer", follows=four.joint_names[2], multiplier=2.0)],
    )
    assert robot.loop_analysis.dof == 1
    q, v, a = robot.sample(5, seed=0)
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    np.testing.assert_allclose(q[:, 3], 2 * q[:, 2], atol=1e-9)
    np.testing.assert_allclose(v[:, 3], 2 * v[:, 2], atol=1e-9)
    np.testing.assert_allclose(a[:, 3], 2 * a[:, 2], atol=1e-8)
    assert repr(robot).endswith("1 loops, 1 couplings>")


def test_they_are_part_of_what_a_robot_is(tmp_path):
    robot = coupled()
    other = Robot.from_bodies("coupled", bodies(), couplings=COUPLINGS[1:])
    assert robot != other
    assert pickle.loads(pickle.dumps(robot)) == robot
    write_robot(robot, tmp_path / "robot.toml")
    assert read_robot(tmp_path / "robot.toml") == robot
    assert "slide = -1.4 elbow + 0.3" in str(robot.inspect())


def test_locking():
    robot = coupled()
    less = robots.edit.locked(robot, ["slide"])
    assert less.joint_names == ("shoulder", "elbow", "wrist", "ball")
    assert [less.joint_names[i] for i in less.couplings.joint] == ["wrist"]
    assert robots.edit.locked(robot, ["slide", "wrist"]).is_tree
    with pytest.raises(RobotError, match="joint 'slide' follows 'elbow', which is locked; lock it too"):
        robots.edit.locked(robot, ["elbow", "wrist"])


@pytest.mark.parametrize(
    ("couplings", "message"),
    [
        ([Coupling(joint="wrist", follows="elbou")], "names 'elbou', which is no moving joint; did you mean 'elbow'"),
        ([Coupling(joint="ball", follows="elbow")], "names 'ball', a spherical joint; expected a revolute"),
        ([Coupling(joint="wrist", follows="elbow")] * 2, "joint 'wrist' has two couplings"),
        (
            [Coupling(joint="wrist", follows="elbow"), Coupling(joint="elbow", follows="wrist")],
            "follow each other in a circle: elbow -> wrist -> elbow",
        ),
        ([("wrist", "elbow")], r"expected robots.Coupling\(...\)"),
    ],
)
def test_wrong_couplings_are_refused(couplings, message):
    with pytest.raises(RobotError, match=message):
        Robot.from_bodies("wrong", bodies(), couplings=couplings)


def test_wrong_numbers_are_refused():
    with pytest.raises(RobotError, match="coupling of joint 'a': it follows itself"):
        Coupling(joint="a", follows="a")
    with pytest.raises(RobotError, match="coupling of joint 'a': multiplier is inf, expected a finite number"):
        Coupling(joint="a", follows="b", multiplier=np.inf)
