"""The parametric robots: seeded, growing, physical, with every joint type."""

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import JointKind
from dynbench.robots.errors import RobotError, UnknownNameError
from dynbench.robots.families.trees import random_inertia, random_rotation

EVERY_KIND = ("revolute", "prismatic", "spherical", "free")


def test_chain_and_tree_have_their_shape():
    assert robots.chain(5).parent.tolist() == [-1, 0, 1, 2, 3]
    assert robots.tree(7).parent.tolist() == [-1, 0, 0, 1, 1, 2, 2]
    assert robots.tree(7, branching=3).parent.tolist() == [-1, 0, 0, 0, 1, 1, 1]
    assert robots.tree(4, branching=1).parent.tolist() == robots.chain(4).parent.tolist()
    assert (robots.chain(5).name, robots.tree(7).name) == ("chain-5", "tree-7")


@pytest.mark.parametrize("family", [robots.chain, robots.tree, robots.random_tree])
def test_seeds(family):
    assert family(6, seed=1) == family(6, seed=1)
    assert family(6, seed=1) != family(6, seed=2)


@pytest.mark.parametrize("family", [robots.chain, robots.tree])
def test_a_longer_robot_starts_with_the_shorter(family):
    short, long = family(4), family(9)
    for field in ("parent", "axis", "rotation", "translation", "mass", "com", "inertia"):
        np.testing.assert_array_equal(getattr(short, field), getattr(long, field)[:4])


def test_nothing_is_aligned():
    """No entry is zero, which could hide an error."""
    robot = robots.chain(20)
    for field in ("axis", "rotation", "com", "inertia"):
        assert np.abs(getattr(robot, field)).min() > 1e-5, field


def test_random_trees_hold_every_joint_type():
    robot = robots.random_tree(4, seed=0, kinds=EVERY_KIND)
    assert sorted(robot.kind) == sorted(JointKind)
    assert not robots.random_tree(12, seed=0).is_floating


def test_floating_trees_have_one_root():
    for seed in range(20):
        robot = robots.random_tree(8, seed=seed, floating=True)
        assert robot.kind[0] == JointKind.FREE
        assert robot.parent.tolist().count(-1) == 1


@pytest.mark.parametrize("floating", [False, True])
def test_massless_bodies_occur_and_are_always_movable(floating):
    """Building raises if the equations of motion would be singular."""
    light = [
        np.sum(robots.random_tree(8, seed=seed, kinds=EVERY_KIND, floating=floating, massless=True).mass == 0)
        for seed in range(60)
    ]
    assert np.mean(np.array(light) > 0) > 0.5
    assert max(light) < 8


def test_random_inertias_satisfy_the_triangle_inequality():
    rng = np.random.default_rng(0)
    for _ in range(200):
        inertia = random_inertia(rng, mass=rng.uniform(0.1, 10))
        low, middle, high = np.linalg.eigvalsh(inertia)
        assert low > 0
        assert low + middle > high
        np.testing.assert_array_equal(inertia, inertia.T)


def test_random_rotations_are_rotations():
    rng = np.random.default_rng(0)
    for _ in range(50):
        R = random_rotation(rng)
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(np.linalg.det(R), 1, atol=1e-14)


def test_pendulum_takes_its_numbers():
    robot = robots.pendulum(length=0.5, mass=3.0, gravity=(0, 0, -1.6))
    assert robot.com.tolist() == [[0, 0, -0.5]]
    assert robot.mass.tolist() == [3.0]
    assert robot.gravity.tolist() == [0, 0, -1.6]


@pytest.mark.parametrize("n", [0, -3, 2.5, float("inf"), float("nan"), "three"])
def test_wrong_sizes(n):
    for family in (robots.chain, robots.tree, robots.random_tree):
        with pytest.raises(RobotError, match="expected a whole number >= 1"):
            family(n)


def test_wrong_options():
    with pytest.raises(RobotError, match="branching is 0"):
        robots.tree(3, branching=0)
    with pytest.raises(UnknownNameError, match="no joint kind is named 'revolut'; did you mean 'revolute'"):
        robots.random_tree(3, kinds=("revolut",))
