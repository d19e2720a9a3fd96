"""What is peculiar to Drake: roll, pitch and yaw, contexts, and a plant with nothing added."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from round_trip import tree_of

from dynbench import methods, robots
from dynbench.methods.peers.drake import Engine, convert
from dynbench.robots import kinematics

pytest.importorskip("pydrake")


def ball() -> robots.Robot:
    body = robots.Body(name="top", joint=robots.Spherical(), mass=2.0, com=[0.1, 0.2, 0.3], inertia=[0.3, 0.4, 0.5])
    return robots.Robot.from_bodies("top", [body])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9])
def test_a_pitch_of_a_right_angle_is_no_special_case(pitch):
    """Roll and yaw are not unique there, and their rates infinite; accelerations are neither."""
    robot = ball()
    q = np.array([[0.0, np.sin(pitch / 2), 0.0, np.cos(pitch / 2)]])
    v, a = np.array([[1.0, -2.0, 3.0]]), np.array([[-0.5, 0.4, 2.0]])
    ours, theirs = (methods.get(name).prepare(robot) for name in ("newton-euler", "drake"))
    tau = ours.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(theirs.inverse_dynamics(q, v, a), tau, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(theirs.forward_dynamics(q, v, tau), a, rtol=1e-11)


def test_the_bodies_are_where_ours_are():
    """A round trip through the engine's own kinematics: order, quaternions, angles."""
    robot = tree_of(13)
    q, v, a = robot.sample(1, seed=2)
    plant, bodies, order = convert(robot)
    engine = Engine(robot, plant, bodies, order)
    engine.inverse_dynamics(q[0], v[0], a[0], None)
    R, p = kinematics.poses(robot, q)
    for i, body in enumerate(bodies):
        pose = plant.EvalBodyPoseInWorld(engine.work.context, body)
        np.testing.assert_allclose(pose.rotation().matrix(), R[0, i], atol=1e-13)
        np.testing.assert_allclose(pose.translation(), p[0, i], atol=1e-12)


def test_nothing_is_added_to_the_robot():
    robot = robots.load("panda")
    plant = methods.get("drake").prepare(robot).model
    assert (plant.num_positions(), plant.num_velocities(), plant.num_bodies()) == (robot.nq, robot.nv, robot.n + 1)
    assert plant.num_actuators() == 0
    assert plant.num_force_elements() == 1  # gravity
    np.testing.assert_array_equal(plant.gravity_field().gravity_vector(), robot.gravity)
    assert plant.CalcTotalMass(plant.CreateDefaultContext()) == pytest.approx(robot.mass.sum())


def test_threads_do_not_share_a_state():
    robot = robots.load("panda")
    solver = methods.get("drake").prepare(robot)
    q, v, a = robot.sample(2, seed=0)
    wanted = [solver.inverse_dynamics(q[k], v[k], a[k]) for k in range(2)]
    right: list[bool] = []

    def work(k: int) -> None:
        right.extend(np.array_equal(solver.inverse_dynamics(q[k], v[k], a[k]), wanted[k]) for _ in range(200))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 400
