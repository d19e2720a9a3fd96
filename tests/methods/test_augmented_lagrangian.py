"""The augmented Lagrangian iteration against the paper's form, the proximal form, and its rate of convergence."""

from __future__ import annotations

import numpy as np
import pytest
from looped import doubled_parallelogram, relative, tree_terms

from dynbench import methods, robots
from dynbench.benchmarks.problems.bricard import bricard
from dynbench.methods import augmented_lagrangian
from dynbench.methods.augmented_lagrangian import PENALTY
from dynbench.methods.kernels.count import run_counting
from dynbench.robots.robot import Robot

MACHINES = [robots.five_bar(), robots.planar_3rrr(), bricard().robot, doubled_parallelogram()]
each = pytest.mark.parametrize("robot", MACHINES, ids=lambda robot: robot.name)


class Terms:
    """M, forces, A (rows over the length of the loops, as in the kernels) and A' v of one state."""

    def __init__(self, robot: Robot, seed: int = 1) -> None:
        q, v, drawn = (x[0] for x in robot.sample(1, seed=seed))
        self.M, h = tree_terms(robot, q, v)
        self.force = -h
        self.force[robot.actuated] += drawn[robot.actuated]
        scale = np.where(robot.loop_rows.turn == 1, 1.0, 1.0 / robot.loop_analysis.length)
        self.A, self.g = scale[:, None] * robot.loop_jacobian(q), scale * robot.loop_rate(q, v)
        self.alpha = PENALTY * np.trace(self.M) / (self.A**2).sum()


@each
def test_it_is_the_iteration_of_the_paper(robot):
    """(1) and (2) as they are printed, at a penalty at which rounding does not matter, to convergence."""
    at = Terms(robot)
    alpha = 1e-5 * at.alpha
    K = at.M + alpha * at.A.T @ at.A
    a = np.linalg.solve(at.M, at.force)
    multiplier = np.zeros(len(at.g))
    for _ in range(60):
        a = np.linalg.solve(K, at.M @ a - alpha * at.A.T @ at.g)
        multiplier -= alpha * (at.A @ a + at.g)
    assert relative(at.M @ a, at.force + at.A.T @ multiplier) < 1e-9
    found = np.array(run_counting(methods.get("augmented-lagrangian"), robot, "forward_dynamics", seed=1)[1])
    assert relative(found, a) < 1e-8


@each
def test_a_round_is_a_proximal_step(robot):
    """(5) with (2), and (6): the same accelerations after every round."""
    at = Terms(robot)
    alpha = 1e-4 * at.alpha
    K, inverse = at.M + alpha * at.A.T @ at.A, np.linalg.inv(at.M)
    S = at.A @ inverse @ at.A.T + np.eye(len(at.g)) / alpha
    a, multiplier = np.zeros(robot.nv), np.zeros(len(at.g))
    dual, b = np.zeros(len(at.g)), inverse @ at.force
    for _ in range(5):
        demand = at.A @ a + at.g
        a = a + np.linalg.solve(K, at.force + at.A.T @ (multiplier - alpha * demand) - at.M @ a)
        multiplier = multiplier - alpha * (at.A @ a + at.g)
        dual = dual - np.linalg.solve(S, at.A @ b + at.g)
        b = inverse @ (at.force + at.A.T @ dual)
        assert relative(a, b) < 1e-9


def test_an_error_falls_as_the_singular_values_say(monkeypatch):
    """(mu / (mu + s^2))^k of what the constraints change, in the metric of M."""
    robot = robots.planar_3rrr()
    at = Terms(robot)
    monkeypatch.setattr(augmented_lagrangian, "PENALTY", 1e2)
    mu = 1e6 / at.alpha
    L = np.linalg.cholesky(at.M)
    U, s, V = np.linalg.svd(np.linalg.solve(L, at.A.T).T, full_matrices=False)
    free = np.linalg.solve(at.M, at.force)
    change = (U.T @ -(at.A @ free + at.g)) / s  # along the directions, to be made
    method = methods.get("augmented-lagrangian")
    exact = np.array(run_counting(methods.get("newton-euler"), robot, "forward_dynamics", seed=1)[1])
    kernel = method.prepare(robot).runs["forward_dynamics"]
    q, v, drawn = (x[0] for x in robot.sample(1, seed=1))
    for rounds in (1, 2, 3):
        monkeypatch.setattr(augmented_lagrangian, "ROUNDS", rounds)
        monkeypatch.setattr(augmented_lagrangian, "CONVERGED", 0.0)
        out, work = np.zeros(robot.nv), np.full(kernel.size, np.nan)
        kernel.kernel((0,), kernel.model, q, v, drawn[robot.actuated], None, out, work)
        left = -np.linalg.solve(L.T, V.T @ ((mu / (mu + s**2)) ** rounds * change))
        assert relative(out - exact, left) < 1e-6 * np.abs(left).max() + 1e-9


def test_no_convergence_is_not_an_answer(monkeypatch):
    """With a small penalty one round is far from the loops: NaN, and not a number that looks right."""
    robot = robots.five_bar()
    monkeypatch.setattr(augmented_lagrangian, "PENALTY", 1.0)
    kernel = methods.get("augmented-lagrangian").prepare(robot).runs["forward_dynamics"]
    q, v, drawn = (x[0] for x in robot.sample(1, seed=1))
    out, work = np.zeros(robot.nv), np.full(kernel.size, np.nan)
    kernel.kernel((0,), kernel.model, q, v, drawn[robot.actuated], None, out, work)
    assert np.isnan(out).all()


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "delta"])
def test_forces_in_balance_at_rest_are_no_singular_position(name):
    """The accelerations are rounding, to which the last correction is not small."""
    robot = robots.load(name)
    solver = methods.get("augmented-lagrangian").prepare(robot, code="traced")
    q, v, _ = robot.sample(40, seed=1)
    still = np.zeros_like(v)
    tau = solver.inverse_dynamics(q, still, still)
    assert np.abs(tau).max() > 1e-3
    assert np.abs(solver.forward_dynamics(q, still, tau)).max() < 1e-10
