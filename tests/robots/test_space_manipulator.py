"""Free-floating robots with arms: positions of the bodies, motion of the joints, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.robots import (
    ArmLink,
    JointKind,
    RobotError,
    kinematics,
    load,
    quaternion,
    random_space_manipulator,
    space_manipulator,
)
from dynbench.robots.families.trees import random_rotation

ROD = {"mass": 2.0, "inertia": [0.3, 0.3, 0.1], "to_joint": [0.1, 0.2, 0.3], "to_com": [0.0, 0.0, 0.5]}


def arm(*links: ArmLink):
    return space_manipulator(base_mass=10.0, base_inertia=[1.0, 2.0, 2.5], arms=[links])


def test_centres_of_mass_are_joint_to_joint_sums_of_the_given_vectors() -> None:
    rng = np.random.default_rng(0)
    turns = [random_rotation(rng) for _ in range(3)]
    given = [{"to_joint": rng.normal(size=3), "to_com": rng.normal(size=3)} for _ in range(3)]
    robot = arm(*(ArmLink(**{**ROD, **g}, orientation=R) for g, R in zip(given, turns, strict=True)))
    q = robot.sample(1)[0][0]
    rotations, origins = kinematics.poses(robot, q)
    centres = origins + np.einsum("bij,bj->bi", rotations, robot.com)
    place, R = q[:3], quaternion.matrix(q[3:7])  # the base's frame is at its centre of mass
    np.testing.assert_allclose(centres[0], place, atol=1e-15)
    for i, (g, turn) in enumerate(zip(given, turns, strict=True), start=1):
        place = place + R @ g["to_joint"]
        R = R @ turn @ quaternion.matrix(q[3 + 4 * i : 7 + 4 * i])
        place = place + R @ g["to_com"]
        np.testing.assert_allclose(rotations[i], R, atol=1e-14)
        np.testing.assert_allclose(centres[i], place, atol=1e-14)


def test_names_kinds_and_order() -> None:
    links = [ArmLink(**ROD, axes=[[0, 0, 2]]), ArmLink(**ROD, axes=[[1, 0, 0], [1, 1, 0]]), ArmLink(**ROD)]
    robot = space_manipulator(base_mass=10.0, base_inertia=np.eye(3), arms=[links, links[2:]])
    assert robot.body_names == (
        "base", "arm1_link1", "arm1_link2_cross", "arm1_link2", "arm1_link3", "arm2_link1",
    )  # fmt: skip
    assert robot.joint_names == (
        "base", "arm1_joint1", "arm1_joint2a", "arm1_joint2b", "arm1_joint3", "arm2_joint1",
    )  # fmt: skip
    kinds = [JointKind.FREE, *[JointKind.REVOLUTE] * 3, *[JointKind.SPHERICAL] * 2]
    assert robot.kind.tolist() == kinds
    assert robot.parent.tolist() == [-1, 0, 1, 2, 3, 0]
    assert robot.mass.tolist() == [10.0, 2.0, 0.0, 2.0, 2.0, 2.0]
    assert not robot.gravity.any()


def test_two_axes_turn_first_about_the_first() -> None:
    first, second = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0]) / np.sqrt(2)  # not orthogonal
    robot = arm(ArmLink(**ROD, axes=[3 * first, second]))
    q = robot.neutral()
    q[7:] = 0.4, -1.1
    turn = quaternion.matrix(quaternion.exponential(0.4 * first)) @ quaternion.matrix(
        quaternion.exponential(-1.1 * second)
    )
    np.testing.assert_allclose(kinematics.poses(robot, q)[0][2], turn, atol=1e-15)


@pytest.mark.parametrize(("name", "direction", "attachments"), [
    ("space-dual-arm", (1, -1), [[0, 0, 0.5], [0, 0, -0.5]]),
    ("space-dual-arm-parallel", (1, 1), [[0.5, 0, 0], [-0.5, 0, 0]]),
])  # fmt: skip
def test_the_papers_robot(name, direction, attachments) -> None:
    robot = load(name)
    assert robot.name == name
    assert robot.body_names == ("base", "arm1_link1", "arm1_link2", "arm2_link1", "arm2_link2")
    assert robot.mass.sum() == pytest.approx(645.08)
    assert (robot.nq, robot.nv) == (23, 18)
    _, p = kinematics.poses(robot, robot.neutral())
    np.testing.assert_allclose(p[[1, 3]], attachments)
    for a, sign in enumerate(direction):
        np.testing.assert_allclose(p[2 + 2 * a] - p[1 + 2 * a], [0, 0, sign])  # a link is R + r = 1 m long
        np.testing.assert_allclose(robot.com[1 + 2 * a], [0, 0, 0.5 * sign])


def test_random_ones_are_seeded_and_have_the_requested_joints() -> None:
    robot = random_space_manipulator(arms=3, links=[1, 4, 2], seed=5, freedoms=(2,))
    assert robot == random_space_manipulator(arms=3, links=[1, 4, 2], seed=5, freedoms=(2,))
    assert robot != random_space_manipulator(arms=3, links=[1, 4, 2], seed=6, freedoms=(2,))
    assert robot.nv == 6 + 2 * 7
    assert {name.split("_")[0] for name in robot.body_names} == {"base", "arm1", "arm2", "arm3"}
    for i in np.flatnonzero(robot.mass == 0.0):
        between = robot.axis[i] @ robot.axis[i + 1]
        assert 0.05 < abs(between) < 0.8  # neither orthogonal nor parallel


def test_arms_of_the_zoo_have_a_ball_and_a_hinge_each_and_are_added_one_by_one() -> None:
    robot, smaller = load("space-arms-3"), load("space-arms-2")
    kinds = [JointKind.FREE, *[JointKind.SPHERICAL, JointKind.REVOLUTE] * 3]
    assert robot.kind.tolist() == kinds
    assert (robot.nq, robot.nv) == (7 + 3 * 5, 6 + 3 * 4)
    assert robot.parent.tolist() == [-1, 0, 1, 0, 3, 0, 5]
    assert not robot.gravity.any()
    np.testing.assert_array_equal(robot.inertia[:5], smaller.inertia)
    np.testing.assert_array_equal(robot.translation[:5], smaller.translation)


def test_an_arm_of_a_hundred_spherical_joints_is_a_robot() -> None:
    assert random_space_manipulator(arms=1, links=100, freedoms=(3,)).nv == 306


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: space_manipulator(1.0, [1, 1, 1], arms=[[ArmLink(**ROD)], []]), "arm 2 has no links"),
        (lambda: space_manipulator(1.0, [1, 1, 1], arms=[["link"]]), "arm 1, link 1 is 'link', expected an ArmLink"),
        (lambda: ArmLink(**ROD, axes=[[0, 0, 1], [0, 0, -2]]), "are parallel, expected different directions"),
        (lambda: ArmLink(**ROD, axes=[[0, 0, 0]]), "other than zero"),
        (lambda: ArmLink(**ROD, axes=[[0, 0, np.nan]]), "finite"),
        (lambda: ArmLink(**ROD, axes=np.eye(3)), r"axes has shape \(3, 3\), expected \(1, 3\) or \(2, 3\)"),
        (lambda: ArmLink(**{**ROD, "to_com": [1, 2]}), r"to_com has shape \(2,\), expected \(3,\)"),
        (lambda: ArmLink(**{**ROD, "to_joint": "far"}), "to_joint is 'far', expected"),
        (lambda: arm(ArmLink(**ROD, orientation=2 * np.eye(3))), "'arm1_link1': placement rotation is not orthonormal"),
        (lambda: arm(ArmLink(**{**ROD, "mass": -1.0})), "'arm1_link1'"),
        (lambda: arm(ArmLink(**{**ROD, "inertia": [1, 1, 3]})), "triangle inequality"),
        (lambda: random_space_manipulator(arms=2, links=[1]), "links is .*, expected one number or 2"),
        (lambda: random_space_manipulator(arms=0), "expected a whole number >= 1"),
        (lambda: random_space_manipulator(freedoms=(4,)), "expected some of 1, 2, 3"),
    ],
)
def test_bad_descriptions_are_rejected_by_name(build, message) -> None:
    with pytest.raises(RobotError, match=message):
        build()
