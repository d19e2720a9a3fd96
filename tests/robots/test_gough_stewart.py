"""The Gough-Stewart platform: geometry, tree and loops, closed-form states, and bad input that is named."""

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import quaternion
from dynbench.robots.errors import RobotError, StateError
from dynbench.robots.families.gough_stewart import frame_to_axis, gough_stewart, hexagon, triangle
from dynbench.robots.families.random_stewart import random_gough_stewart, random_platform_states
from dynbench.robots.families.stewart_legs import StewartParts, parts, platform_state, require_parts
from dynbench.robots.kinematics import accelerations, poses, velocities


def test_the_papers_points():
    base, plate = hexagon(), triangle()
    np.testing.assert_allclose(base[:3, :2], [[0.259808, 0.05], [-0.086603, 0.25], [-0.173205, 0.2]], atol=1e-6)
    np.testing.assert_allclose(plate[[0, 2], :2], [[0.057735, 0.1], [-0.115470, 0.0]], atol=1e-6)
    sides = np.linalg.norm(base - np.roll(base, -1, axis=0), axis=1)
    np.testing.assert_allclose(sides, [0.4, 0.1, 0.4, 0.1, 0.4, 0.1])  # each pair of legs on a long side
    np.testing.assert_array_equal(plate[::2], plate[1::2])


def test_the_zoos_robot_is_the_papers():
    robot = robots.load("gough-stewart")
    assert robot == robots.gough_stewart()
    assert (robot.n, robot.nv, len(robot.actuated), robot.loop_analysis.dof) == (19, 24, 6, 6)
    assert [robot.joint_names[i] for i in range(robot.n) if robot.iv[i] in robot.actuated] == [
        f"leg{k}_length" for k in range(1, 7)
    ]
    np.testing.assert_allclose(robot.gravity, [0, 0, -9.8066])


def test_parts_are_the_arguments():
    rng = np.random.default_rng(0)
    robot = random_gough_stewart(3)
    found = require_parts(robot)
    again = gough_stewart(
        found.base_points, found.platform_points, found.platform_mass, found.platform_inertia,
        found.lower_mass, found.upper_mass, found.lower_com, found.upper_com, found.lower_inertia, found.upper_inertia,
        universal_axis=rng.uniform(0.1, 3.0, (6, 1)) * found.frame[:, :, 2], gravity=robot.gravity,
        home=(quaternion.matrix(robot.home[21:25]), robot.home[18:21]), name=robot.name,
    )  # fmt: skip
    for field, value in parts(again)._asdict().items():
        np.testing.assert_allclose(value, getattr(found, field), atol=1e-14, err_msg=field)


@pytest.mark.parametrize("layout", ["6-6", "6-3"])
def test_closed_form_states_are_on_the_loops(layout):
    """Positions, velocities and accelerations of both sides of each ball joint, by forward kinematics of the tree."""
    robot = random_gough_stewart(5, layout)
    rng = np.random.default_rng(5)
    q, _, _ = random_platform_states(robot, 20, seed=5)
    pose = (quaternion.matrix(q[:, 21:25]), q[:, 18:21])
    twist, acceleration = rng.standard_normal((20, 6)), 10.0 * rng.standard_normal((20, 6))
    q, v, a = platform_state(robot, pose, twist, acceleration)
    R, p = poses(robot, q)
    loops = robot.loops
    arm = np.einsum("nkij,kj->nki", R[:, loops.body2], loops.translation2)
    linear, w, acc, alpha = accelerations(robot, R, p, q, v, a)
    w2 = w[:, loops.body2]
    np.testing.assert_allclose(p[:, loops.body1], p[:, loops.body2] + arm, atol=1e-14)
    np.testing.assert_allclose(linear[:, loops.body1], linear[:, loops.body2] + np.cross(w2, arm), atol=1e-13)
    carried = np.cross(alpha[:, loops.body2], arm) + np.cross(w2, np.cross(w2, arm))
    np.testing.assert_allclose(acc[:, loops.body1], acc[:, loops.body2] + carried, atol=1e-11)
    moving = velocities(robot, q, v, axes="world")[:, robot.platform]
    np.testing.assert_allclose(moving, twist, atol=1e-13)
    np.testing.assert_allclose(acc[:, robot.platform], acceleration[:, :3], atol=1e-12)
    np.testing.assert_allclose(alpha[:, robot.platform], acceleration[:, 3:], atol=1e-12)


def test_robot_state_from_platform_is_the_closed_form():
    robot = robots.load("gough-stewart")
    x = np.array([0.2, -0.1, 0.3])
    pose = (quaternion.matrix(quaternion.exponential(x)), np.array([-0.08, 0.03, 0.72]))
    twist, acceleration = np.arange(1.0, 7.0) / 5.0, np.arange(6.0) - 2.0
    expected = platform_state(robot, pose, twist, acceleration)
    for got, closed in zip(robot.state_from_platform(pose, twist, acceleration), expected, strict=True):
        np.testing.assert_array_equal(got, closed)
    found = robot.state_from_platform(pose, twist, acceleration, guess=robot.home)  # by Newton's steps, as any robot
    whole_turns = (found[0] - expected[0]) / (2.0 * np.pi)  # the loops are closed step by step, angles may go on
    np.testing.assert_allclose(whole_turns, np.round(whole_turns), atol=1e-9)
    np.testing.assert_allclose(found[0][robot.actuated], expected[0][robot.actuated], atol=1e-9)
    for got, closed in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(got, closed, atol=1e-9)


def test_leg_frame_is_the_documented_one():
    """x = u x s, y = u, z = x x y."""
    robot = random_gough_stewart(8)
    q, _, _ = random_platform_states(robot, 5, seed=1)
    R, p = poses(robot, q)
    at = require_parts(robot)
    for i in range(6):
        s, B = at.frame[i, :, 2], at.base_points[i]
        u = (p[:, at.upper[i]] - B) / np.linalg.norm(p[:, at.upper[i]] - B, axis=1, keepdims=True)
        x = np.cross(u, s)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        for body in (at.lower[i], at.upper[i]):
            np.testing.assert_allclose(R[:, body], np.stack([x, u, np.cross(x, u)], axis=-1), atol=1e-13)


@pytest.mark.parametrize("axis", [[0, 0, 1], [0, 0, -1], [1, 0, 0], [1, 2, -3], [0.1, -0.2, -5]])
def test_frame_to_axis(axis):
    s = np.array(axis, dtype=float)
    R = frame_to_axis("robot", "leg", s)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(R[:, 2], s / np.linalg.norm(s), atol=1e-15)
    assert np.linalg.det(R) > 0
    np.testing.assert_array_equal(frame_to_axis("robot", "leg", np.array([0.0, 0.0, 2.0])), np.eye(3))


# Bad input -----------------------------------------------------------------------------------------------------------


def test_two_identical_legs_are_named():
    base, plate = hexagon(), triangle()
    base[4] = base[5]
    with pytest.raises(RobotError, match="leg5 and leg6 have the same base point"):
        gough_stewart(base, plate)


@pytest.mark.parametrize(
    ("argument", "value", "match"),
    [
        ("base_points", np.zeros((6, 3)), "base_points all coincide"),
        ("platform_points", np.outer(np.arange(6.0), [1, 2, 3]), "platform_points all lie on one line"),
        ("base_points", np.zeros((5, 3)), r"base_points has shape \(5, 3\), expected \(6, 3\)"),
        ("lower_mass", [1.0, 2.0], r"lower_mass has shape \(2,\)"),
        ("upper_com", np.nan, "upper_com is nan, expected finite"),
        ("universal_axis", [0.0, 0.0, 0.0], "universal_axis of leg1 is"),
        ("lower_mass", -1.0, "leg1_lower.*mass is -1"),
        ("platform_inertia", np.diag([1.0, 1.0, 5.0]), "platform.*triangle inequality"),
    ],
)
def test_bad_arguments_are_named(argument, value, match):
    with pytest.raises(RobotError, match=match):
        gough_stewart(**{argument: value})


def test_a_leg_of_zero_length_is_named():
    base, plate = hexagon(), triangle()
    with pytest.raises(StateError, match=r"leg 3 of robot .* has length 0 m"):
        robots.load("gough-stewart").state_from_platform((np.eye(3), base[2] - plate[2]))
    with pytest.raises(RobotError, match=r"at home, leg 3 has length 0 m"):
        gough_stewart(home=(np.eye(3), base[2] - plate[2]))


def test_a_vertical_leg_with_a_vertical_first_axis_is_named():
    base, plate = hexagon(), triangle()
    above = base[4] - plate[4] + np.array([0.0, 0.0, 0.7])
    with pytest.raises(StateError, match=r"leg 5 of robot .* lies along the first axis \[0.0, 0.0, 1.0\]"):
        robots.load("gough-stewart").state_from_platform((np.eye(3), above))
    # any other first axis will do
    q, _, _ = platform_state(gough_stewart(universal_axis=[1.0, 0.0, 0.0]), (np.eye(3), above))
    np.testing.assert_allclose(q[[12, 13, 14]], [0.0, 0.0, 0.7], atol=np.pi)


def test_a_singular_pose_is_rejected_by_the_loops():
    """Turned by 90 degrees about its normal, the platform can no longer be held (Fichter's singularity)."""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(RobotError, match="singular"):
        gough_stewart(home=(turn, [0.0, 0.0, 0.7]))


# Robots that are not Gough-Stewart platforms --------------------------------------------------------------------------


def test_other_robots_are_distinguished():
    assert "19 bodies, 6 loops and 6 actuators" in parts(robots.load("panda"))
    assert isinstance(parts(robots.load("gough-stewart")), StewartParts)
    with pytest.raises(RobotError, match="robot 'two-link' is not a Gough-Stewart platform"):
        require_parts(robots.load("two-link"))


@pytest.mark.parametrize(
    ("body", "change", "reason"),
    [
        ("platform", {"com": [0.0, 0.0, 0.1]}, "frame is not at its centre of mass"),
        ("leg3_lower", {"com": [0.01, 0.1, 0.0]}, "leg of actuator 3 has a centre of mass off its line"),
        ("leg2_cross", {"mass": 0.1}, "leg of actuator 2 has a body with mass between"),
        ("leg4_upper", {"translation": [0.0, 0.0, 0.01]}, "leg of actuator 4 has an offset"),
    ],
)
def test_almost_a_platform(body, change, reason):
    import dataclasses

    robot = robots.load("gough-stewart")
    i = robot.body_index(body)
    fields = {}
    for name, value in change.items():
        array = getattr(robot, name).copy()
        array[i] = value
        fields[name] = array
    assert reason in parts(dataclasses.replace(robot, **fields))
