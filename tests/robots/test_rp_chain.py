"""The revolute-prismatic chain: positions and masses of its rods, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import JointKind, RobotError, kinematics
from dynbench.robots.families.rp_chain import INERTIAS, ORIENTATIONS


def test_the_papers_robot():
    robot = robots.load("rp3")
    assert robot.joint_names == ("q1", "l1", "q2", "l2", "q3", "l3")
    assert robot.kind.tolist() == [JointKind.REVOLUTE, JointKind.PRISMATIC] * 3
    np.testing.assert_allclose(robot.mass, [0, 2, 0, 2, 0, 2])
    np.testing.assert_allclose(robot.gravity, [0, -10, 0])
    own = 2 / 12 * np.diag([0, 1, 1]) + 0.0008 * np.eye(3)
    np.testing.assert_allclose(robot.inertia[1::2], [own] * 3, rtol=1e-15)
    # zero potential at the first joint: the rods' centres are at heights 0, 0 and l_3 - L/2
    start = np.array([0, 0.4, 0, 0.25, np.pi / 2, 0.25])
    assert robot.energy(start, np.zeros(6)) == pytest.approx(2 * 10 * -0.25)


def test_the_tip_of_each_rod_is_its_extension_along_its_own_axis():
    C = np.array([robots.random_rotation(np.random.default_rng(seed)) for seed in range(3)])
    robot = robots.rp_chain([1.0, 1.2, 0.8], [1, 2, 3], np.tile(0.01 * np.eye(3), (3, 1, 1)), C)
    q = np.array([0.3, 0.4, -1.1, 0.9, 2.0, 0.1])
    R, p = kinematics.poses(robot, q)
    turn, tip = np.eye(3), np.zeros(3)
    for i in range(3):
        c, s = np.cos(q[2 * i]), np.sin(q[2 * i])
        turn = turn @ C[i] @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        tip = tip + q[2 * i + 1] * turn[:, 0]
        np.testing.assert_allclose(R[2 * i + 1], turn, atol=1e-15)
        np.testing.assert_allclose(p[2 * i + 1], tip, atol=1e-15)


def test_the_inertia_is_that_of_slices():
    """Sum over a thousand short pieces of the rod, each with its own rotary inertia."""
    J = robots.random_inertia(np.random.default_rng(1), 1.0, 0.3)
    robot = robots.rp_chain([1.5], [2.0], [J])
    s = (np.arange(1000) + 0.5) / 1000 * 1.5  # distance from the tip
    x, dm = -s, 2.0 * 1.5 / 1000
    about_com = x - robot.com[1, 0]
    np.testing.assert_allclose(dm * x.sum() / robot.mass[1], robot.com[1, 0], rtol=1e-12)
    slices = dm * (about_com**2).sum() * np.diag([0, 1, 1]) + 1.5 * J
    np.testing.assert_allclose(slices, robot.inertia[1], rtol=1e-5)


def test_families_of_the_zoo():
    assert robots.load("rp-5") == robots.random_rp_chain(5)
    short, long = robots.random_rp_chain(2), robots.random_rp_chain(6)
    np.testing.assert_array_equal(short.inertia, long.inertia[:4])
    for orientation in ORIENTATIONS:
        for inertia in INERTIAS:
            robot = robots.random_rp_chain(3, 1, orientation, inertia)
            planar = np.array_equal(robot.rotation[::2], np.tile(np.eye(3), (3, 1, 1)))
            assert planar == (orientation == "planar")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": [1.0, 0.0]}, r"length\[1\] is 0.0, expected a positive number"),
        ({"density": [1.0]}, r"density has shape \(1,\), expected \(2,\)"),
        ({"density": [1.0, np.nan]}, r"density\[1\] is nan"),
        ({"inertia_density": np.eye(3)}, r"inertia_density has shape \(3, 3\), expected \(2, 3, 3\)"),
        ({"orientation": np.ones((2, 3, 3))}, "not orthonormal"),
        ({"inertia_density": -np.tile(np.eye(3), (2, 1, 1))}, "inertia"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, message):
    good = {"length": [1.0, 1.0], "density": [1.0, 1.0], "inertia_density": np.tile(0.01 * np.eye(3), (2, 1, 1))}
    robots.rp_chain(**good)
    with pytest.raises(RobotError, match=message):
        robots.rp_chain(**{**good, **arguments})


def test_a_kind_of_chain_that_does_not_exist():
    with pytest.raises(RobotError, match="got 'helical', expected one of planar, twisted, random"):
        robots.random_rp_chain(2, orientation="helical")
    with pytest.raises(RobotError, match="whole number >= 1"):
        robots.random_rp_chain(0)
