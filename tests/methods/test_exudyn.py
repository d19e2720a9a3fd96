"""What is peculiar to Exudyn: its kinematic tree turns and slides about its own axes alone."""

from __future__ import annotations

import numpy as np
import pytest
from round_trip import assert_agree

from dynbench import robots
from dynbench.methods.peers.exudyn import Engine
from dynbench.robots import kinematics
from dynbench.robots.families.trees import KINDS, random_tree

exudyn = pytest.importorskip("exudyn")
if not hasattr(exudyn, "ComputeItemType"):
    pytest.skip("this exudyn does not give the mass matrix of an object", allow_module_level=True)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, 0, -1], [0.6, 0.0, 0.8]])
@pytest.mark.parametrize("joint", [robots.Revolute, robots.Prismatic])
def test_every_axis_keeps_its_direction(joint, axis):
    box = {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5]}
    bodies = [
        robots.Body(name="one", joint=joint(axis), **box),
        robots.Body(name="two", parent="one", joint=joint(axis), placement=(np.eye(3), [1.0, 2.0, 3.0]), **box),
    ]
    assert_agree("exudyn", robots.Robot.from_bodies("two", bodies, gravity=(1.0, -2.0, -9.0)), seed=1)


def test_the_links_are_where_ours_are():
    """A round trip through the engine's own kinematics."""
    robot = random_tree(9, seed=4, kinds=KINDS[:2])
    q, v, _ = robot.sample(1, seed=2)
    engine = Engine(robot)
    engine.bias(q[0], v[0], None)
    R, p = kinematics.poses(robot, q)
    for i, (where, attitude) in enumerate(engine.work.sensors):
        found = np.reshape(engine.work.system.GetSensorValues(attitude), (3, 3)) @ engine.turns[i].T
        np.testing.assert_allclose(found, R[0, i], atol=1e-13)
        np.testing.assert_allclose(engine.work.system.GetSensorValues(where), p[0, i], atol=1e-12)
