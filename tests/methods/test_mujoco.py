"""What is peculiar to MuJoCo: free bodies, its own order of bodies, and a model with nothing added."""

from __future__ import annotations

import numpy as np
import pytest
from round_trip import assert_agree, tree_of

from dynbench import methods, robots
from dynbench.methods.peers.mujoco import ARENA, convert, order_of
from dynbench.robots import kinematics
from dynbench.robots.robot import Robot

mujoco = pytest.importorskip("mujoco")


def floating_box(placement) -> Robot:
    box = robots.Body(
        name="box", joint=robots.Free(), placement=placement, mass=2.0, com=[0.1, 0.2, 0.3], inertia=[0.3, 0.4, 0.5]
    )
    return robots.Robot.from_bodies("box", [box])


def test_a_free_body_is_mujocos_own_and_a_placed_one_is_slides_and_a_ball():
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for placement, kinds in (
        ((np.eye(3), np.zeros(3)), [mujoco.mjtJoint.mjJNT_FREE]),
        ((turned, [1.0, 2.0, 3.0]), [mujoco.mjtJoint.mjJNT_SLIDE] * 3 + [mujoco.mjtJoint.mjJNT_BALL]),
    ):
        robot = floating_box(placement)
        model = methods.get("mujoco").prepare(robot).model
        assert model.jnt_type.tolist() == [int(kind) for kind in kinds]
        assert_agree("mujoco", robot, seed=1)


def test_the_bodies_are_where_ours_are():
    """A round trip through the engine's own kinematics: names, order, quaternions."""
    robot = tree_of(13)
    q, _, _ = robot.sample(1, seed=2)
    solver = methods.get("mujoco").prepare(robot)
    data = mujoco.MjData(solver.model)
    order = order_of(solver.model, robot)
    data.qpos[:] = q[0][order.q]
    mujoco.mj_kinematics(solver.model, data)
    R, p = kinematics.poses(robot, q)
    np.testing.assert_allclose(data.xmat[order.body].reshape(-1, 3, 3), R[0], atol=1e-13)
    np.testing.assert_allclose(data.xpos[order.body], p[0], atol=1e-12)


def test_nothing_is_added_to_the_robot():
    robot = robots.load("panda")
    model = methods.get("mujoco").prepare(robot).model
    assert (model.nq, model.nv, model.nbody) == (robot.nq, robot.nv, robot.n + 1)
    assert not model.dof_armature.any()
    assert not model.dof_damping.any()
    assert not model.jnt_stiffness.any()
    assert not model.jnt_limited.any()
    assert model.ngeom == 0
    assert np.array_equal(model.opt.gravity, robot.gravity)
    assert model.body_mass[1:].sum() == pytest.approx(robot.mass.sum())


@pytest.mark.parametrize("name", ["pendulum", "chain-64", "tree-64"])
def test_its_arena_is_small_and_large_enough(name):
    """Hundreds of models with the 14 MB of the default brought a full run's timing to its limit of memory."""
    model, _ = convert(mujoco, robots.load(name))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mujoco.mj_inverse(model, data)
    assert model.narena <= ARENA
    assert 0 < data.maxuse_arena < ARENA / 50
