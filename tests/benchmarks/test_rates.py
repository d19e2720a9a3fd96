"""Rates of coordinates are the derivative of `Robot.integrate` along the velocity."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import robots
from dynbench.benchmarks.simulation.simulate import rates
from dynbench.robots.families.trees import KINDS, random_tree

ROBOTS = [
    random_tree(9, seed=2, kinds=KINDS),  # free joints in mid-tree
    random_tree(7, seed=1, kinds=KINDS[:3], floating=True),
    robots.load("space-dual-arm"),
    robots.load("panda"),
    robots.load("elastic-rp1"),
]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_they_are_the_derivative_of_integrate(robot):
    q, v, _ = robot.sample(5, seed=0)
    h = 1e-5
    slope = (robot.integrate(q, h * v) - robot.integrate(q, -h * v)) / (2.0 * h)
    np.testing.assert_allclose(rates(robot, q, v), slope, atol=1e-7)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_a_batch_is_its_states(robot):
    q, v, _ = robot.sample(3, seed=1)
    np.testing.assert_array_equal(rates(robot, q, v), [rates(robot, *state) for state in zip(q, v, strict=True)])
