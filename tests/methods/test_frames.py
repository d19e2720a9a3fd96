"""Named frames: poses, Jacobians, velocities and wrenches, against Pinocchio and against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pace import times_faster

from dynbench import methods, robots
from dynbench.robots import kinematics
from dynbench.robots.errors import RobotError, StateError, UnknownNameError, UnsupportedError
from dynbench.robots.robot import FloatArray, Robot


def tooled(robot: Robot) -> Robot:
    """Return the robot with a frame "tool" at an angle on its last body, and one on the ground."""
    import dataclasses

    turn = robots.random_rotation(np.random.default_rng(1))
    frames = (
        robots.Frame("tool", robot.n - 1, turn, np.array([0.1, -0.2, 0.3])),
        robots.Frame("floor", -1, turn, np.array([1.0, 2.0, 3.0])),
    )
    return dataclasses.replace(robot, frames=(*robot.frames, *frames))


def theirs(robot: Robot, name: str) -> Any:
    """Return a function of one state: Pinocchio's pose and both Jacobians of a frame."""
    pin = pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio import convert
    from dynbench.robots.frames import find

    model, order = convert(pin, robot)
    frame = find(robot, name)
    joint = int(order.joint[frame.body]) if frame.body >= 0 else 0
    placement = pin.SE3(frame.rotation.copy(), frame.translation.copy())
    number = model.addFrame(pin.Frame("asked", joint, 0, placement, pin.FrameType.OP_FRAME))
    data, back = model.createData(), np.argsort(order.v)

    def at(q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        world, local = (
            pin.computeFrameJacobian(model, data, q[order.q], number, axes)[:, back]
            for axes in (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL)
        )
        pin.framesForwardKinematics(model, data, q[order.q])
        return data.oMf[number].rotation.copy(), data.oMf[number].translation.copy(), world, local

    return at


@pytest.mark.parametrize("source", ["panda", "tree-12", "space-dual-arm", "talos", "random"])
def test_frames_are_pinocchios(source: str) -> None:
    if source == "talos" and "talos" not in robots.names():
        pytest.skip("example-robot-data is not installed")
    robot = tooled(robots.random_tree(9, seed=4) if source == "random" else robots.load(source))
    Q, V, _ = robot.sample(5, seed=1)
    listed = ["tool", "floor", robot.body_names[0], *(frame.name for frame in robot.frames[:3])]
    for name in listed:
        at = theirs(robot, name)
        quick = {axes: methods.frame(robot, name, axes) for axes in ("world", "local")}  # type: ignore[arg-type]
        R, p = robot.frame_pose(name, Q)
        for axes in ("world", "local"):
            J = robot.frame_jacobian(name, Q, axes)  # type: ignore[arg-type]
            compiled = quick[axes].jacobian(Q)
            size = max(1.0, np.abs(J).max())
            assert np.abs(compiled - J).max() <= 1e-12 * size
            for k, q in enumerate(Q):
                expected = at(q)
                assert np.abs(J[k] - expected[3 if axes == "local" else 2]).max() <= 1e-12 * size
                assert np.abs(R[k] - expected[0]).max() <= 1e-12
                assert np.abs(p[k] - expected[1]).max() <= 1e-12 * max(1.0, np.abs(p).max())
            twist = robot.frame_velocity(name, Q, V, axes)  # type: ignore[arg-type]
            np.testing.assert_allclose(twist, np.einsum("sij,sj->si", J, V), atol=1e-11 * size)
            np.testing.assert_allclose(quick[axes].velocity(Q, V), twist, atol=1e-11 * size)
        for mine, other in zip(quick["world"].pose(Q), (R, p), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-12 * max(1.0, np.abs(other).max()))


def test_a_state_is_a_batch_of_one() -> None:
    robot = tooled(robots.load("space-dual-arm"))
    Q, V, _ = robot.sample(3, seed=2)
    quick = methods.frame(robot, "tool", "local")
    for k in range(3):
        np.testing.assert_array_equal(robot.frame_jacobian("tool", Q[k]), robot.frame_jacobian("tool", Q)[k])
        np.testing.assert_array_equal(quick.jacobian(Q[k]), quick.jacobian(Q)[k])
        np.testing.assert_array_equal(quick.velocity(Q[k].tolist(), V[k]), quick.velocity(Q, V)[k])
        for one, all_ in zip(robot.frame_pose("tool", Q[k]), robot.frame_pose("tool", Q), strict=True):
            np.testing.assert_array_equal(one, all_[k])


def test_bodies_are_frames_too() -> None:
    robot = robots.load("tree-7")
    q, v, _ = (x[0] for x in robot.sample(1))
    R, p = kinematics.poses(robot, q)
    twists = kinematics.velocities(robot, q, v)
    for i, name in enumerate(robot.body_names):
        np.testing.assert_allclose(robot.frame_pose(name, q)[0], R[i], atol=1e-14)
        np.testing.assert_allclose(robot.frame_pose(name, q)[1], p[i], atol=1e-14)
        np.testing.assert_allclose(robot.frame_velocity(name, q, v, "local"), twists[i], atol=1e-13)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_batch_is_faster_than_its_loop(compiled: bool) -> None:
    robot = tooled(robots.load("panda"))
    call = methods.frame(robot, "tool").jacobian if compiled else lambda q: robot.frame_jacobian("tool", q)
    Q = robot.sample(512)[0]
    call(Q)
    assert times_faster(lambda: call(Q), lambda: [call(q) for q in Q], enough=8.0) > 8.0


@pytest.mark.parametrize("batch", [False, True])
def test_wrenches_by_name(batch: bool) -> None:
    """Virtual work: a wrench in a frame is its Jacobian, transposed, in joint forces."""
    robot = tooled(robots.load("tree-7"))
    Q, V, A = robot.sample(4, seed=5)
    if not batch:
        Q, V, A = Q[0], V[0], A[0]
    rng = np.random.default_rng(0)
    first = robot.body_names[2]
    wrench = {"tool": rng.normal(size=(4, 6) if batch else 6), first: rng.normal(size=6)}
    solver = methods.get("newton-euler").prepare(robot)
    change = solver.inverse_dynamics(Q, V, A, wrench=wrench) - solver.inverse_dynamics(Q, V, A)
    expected = sum(
        np.einsum("...ij,...i->...j", robot.frame_jacobian(name, Q, "local"), w) for name, w in wrench.items()
    )
    np.testing.assert_allclose(-change, expected, atol=1e-11)


def test_what_is_wrong_is_said() -> None:
    robot = tooled(robots.load("panda"))
    q = robot.neutral()
    with pytest.raises(UnknownNameError, match="has no frame or body 'toll'; did you mean 'tool'"):
        robot.frame_pose("toll", q)
    with pytest.raises(StateError, match="axes is 'body', expected 'world' or 'local'"):
        robot.frame_jacobian("tool", q, "body")  # type: ignore[arg-type]
    quick = methods.frame(robot, "tool")
    for wrong in (q[:-1], np.full_like(q, np.nan), np.zeros((2, 3))):
        with pytest.raises(StateError, match="q"):
            quick.jacobian(wrong)
    solver = methods.get("newton-euler").prepare(robot)
    for wrench, message in (
        ({"floor": np.zeros(6)}, "acts on the ground"),
        ({"tool": np.zeros(3)}, r"wrench\['tool'\] has shape \(3,\), robot 'panda' needs \(6,\)"),
        ({"tool": [1, 2, 3, 4, 5, "x"]}, "expected numbers"),
        ({"tool": [np.nan] * 6}, "finite"),
    ):
        with pytest.raises(StateError, match=message):
            solver.inverse_dynamics(q, q, q, wrench=wrench)
    with pytest.raises(UnknownNameError, match="toll"):
        solver.inverse_dynamics(q, q, q, wrench={"toll": np.zeros(6)})
    elastic = robots.load("elastic-rp1")
    with pytest.raises(RobotError, match="elastic"):
        elastic.frame_pose(elastic.body_names[0], elastic.neutral())
    with pytest.raises(UnsupportedError, match="elastic"):
        methods.frame(elastic, elastic.body_names[0])


def test_frames_of_files(tmp_path: Path) -> None:
    from dynbench.robots.files.robotfile import write_robot

    robot = tooled(robots.load("two-link"))
    path = tmp_path / "tooled.toml"
    write_robot(robot, path)
    again, q = robots.load(path), np.array([0.3, 0.4])
    assert "tool" in again.frame_names
    np.testing.assert_array_equal(again.frame_jacobian("tool", q), robot.frame_jacobian("tool", q))
