"""Linkages of humanoid legs: mobility, geometry in other words, dynamics against Pinocchio, redundant actuators."""

from __future__ import annotations

import numpy as np
import pytest
from traced_cases import plain

from dynbench import methods, robots
from dynbench.robots import RobotError
from dynbench.robots.kinematics import poses

NAMES = ("parallel-ankle", "knee-four-bar")


@pytest.mark.parametrize("name", NAMES)
def test_two_degrees_of_freedom_and_closed_at_zero(name):
    robot = robots.load(name)
    assert (robot.loop_analysis.dof, robot.loop_analysis.redundant) == (2, False)
    assert len(robot.actuated) == 2
    np.testing.assert_array_equal(robot.home, 0.0)
    assert np.abs(robot.loop_residual(robot.home)).max() < 1e-15
    assert len(robots.load(f"{name}-redundant").actuated) == 3


def test_the_rod_of_the_knee_keeps_its_length():
    """From the tip of the crank to the lever of the shank, both placed by angles alone."""
    robot = robots.load("knee-four-bar")
    q, _, _ = robot.sample(20, seed=1)
    R, p = poses(robot, q)
    crank, shank = (robot.body_index(name) for name in ("crank", "shank"))
    tip = p[:, crank] + R[:, crank] @ [-0.06, 0.0, 0.0]
    lever = p[:, shank] + R[:, shank] @ [-0.05, 0.0, 0.01]
    at_zero = np.hypot(-0.05 - -0.06, -0.42 + 0.01 - -0.1)
    np.testing.assert_allclose(np.linalg.norm(tip - lever, axis=1), at_zero, rtol=1e-9)
    # a crank that turns forward bends the knee the same way, nearly a parallelogram
    assert np.corrcoef(q[:, 1], q[:, 2])[0, 1] > 0.95


def test_cranks_that_turn_together_pitch_the_foot_and_apart_roll_it():
    robot = robots.parallel_ankle(
        crank_points=[[0, 0.05, 0.25], [0, -0.05, 0.25]], foot_points=[[-0.05, 0.05, 0], [-0.05, -0.05, 0]]
    )
    A = robot.loop_jacobian(robot.home)
    left, right = robot.actuated
    moving = np.zeros((2, robot.nv))
    for row, (a, b) in zip(moving, ((1.0, 1.0), (1.0, -1.0)), strict=True):
        row[[left, right]] = a, b
        rest = np.setdiff1d(np.arange(robot.nv), robot.actuated)
        row[rest] = -np.linalg.solve(A[:, rest], A[:, robot.actuated] @ [a, b])
    # parallelograms: the foot pitches as the cranks turn; 0.05 m of crank at 0.05 m from the middle roll it as fast
    np.testing.assert_allclose(moving[0, :2], [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.abs(moving[1, :2]), [0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_dynamics_are_those_of_pinocchio(name):
    pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio_loops import PinocchioLoops

    robot = robots.load(name)
    theirs = PinocchioLoops(robot)
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(8, seed=2)
    tau, M = solver.inverse_dynamics(q, v, a), solver.mass_matrix(q)
    for k, state in enumerate(zip(q, v, a, strict=True)):
        np.testing.assert_allclose(tau[k], theirs.inverse_dynamics(*state), atol=1e-11 * np.abs(tau).max())
        np.testing.assert_allclose(M[k], theirs.mass_matrix(q[k]), atol=1e-11 * np.abs(M).max())
        if name == "parallel-ankle":  # its closures are points in space, which Pinocchio's forward dynamics needs
            np.testing.assert_allclose(theirs.forward_dynamics(q[k], v[k], tau[k]), a[k], atol=1e-7 * np.abs(a).max())
    np.testing.assert_allclose(solver.forward_dynamics(q, v, tau), a, atol=1e-9 * np.abs(a).max())


@pytest.mark.parametrize("name", NAMES)
def test_three_motors_share_the_load_with_the_least_sum_of_squares(name):
    """In plain Python: the same motion, no force that moves nothing."""
    two, three = robots.load(name), robots.load(f"{name}-redundant")
    q, v, a = two.sample(2, seed=3)
    least = plain(methods.get("newton-euler").prepare(three).runs["inverse_dynamics"], [q, v, a])
    alone = methods.get("newton-euler").prepare(two, code="traced").inverse_dynamics(q, v, a)
    inner = three.internal_forces(q)
    assert inner.shape == (2, 3, 1)
    np.testing.assert_allclose(np.einsum("sij,si->sj", inner, least), 0.0, atol=1e-10 * np.abs(least).max())
    other = np.column_stack([alone, np.zeros(2)])  # the third motor at rest: differs by an inner force
    apart = other - least
    along = np.einsum("sij,sj->si", inner, np.einsum("sij,si->sj", inner, apart))
    np.testing.assert_allclose(along, apart, atol=1e-10 * np.abs(other).max())
    assert (np.linalg.norm(least, axis=1) < np.linalg.norm(other, axis=1)).all()


def test_wrong_points_are_refused():
    with pytest.raises(RobotError, match=r"lever is \[-0.05, 0.01, 0.0\], expected y = 0: the linkage is planar"):
        robots.knee_four_bar(lever=[-0.05, 0.01, 0.0])
    with pytest.raises(RobotError, match="is along y, expected another direction"):
        robots.parallel_ankle(foot_points=[[-0.05, 0.5, 0.25], [-0.05, -0.05, 0]])
    with pytest.raises(RobotError, match=r"a rod connects .* with itself"):
        robots.knee_four_bar(crank_point=[0.01, 0, -0.41])
