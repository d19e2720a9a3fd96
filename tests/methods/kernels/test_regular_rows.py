"""Regular rows of the loops against numpy: the same motions, undamped, and only the demands fade."""

from __future__ import annotations

import numpy as np
import pytest
from looped import relative

from dynbench.benchmarks.problems.bricard import bricard
from dynbench.benchmarks.problems.n_four_bar import configuration, n_four_bar
from dynbench.methods.kernels import nominal
from dynbench.methods.kernels.closure import DEFLATED, DIRECTIONS, JACOBIAN
from dynbench.methods.kernels.regular_rows import demand_of_rows, ratio_found, regular_rows
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots.robot import Robot

DAMPING = 1e-8


class Rows:
    """A, Q, R and the ratio at one position, from the kernels."""

    def __init__(self, robot: Robot, q: np.ndarray) -> None:
        self.model = nominal.pack(robot, np.zeros(0))
        self.work = np.full(nominal.layout(robot)[-1], np.nan)
        nominal.closed(ONE, self.model, q, self.work, 1.0)
        regular_rows(ONE, self.model, self.work, DAMPING)
        m, nv, r = len(robot.loop_rows.closure), robot.nv, robot.loop_analysis.rank
        self.A, self.Q, self.R = (
            self.work[int(self.model[slot]) :][: rows * columns].reshape(rows, columns)
            for slot, rows, columns in ((JACOBIAN, m, nv), (DIRECTIONS, r, nv), (DEFLATED, m, r))
        )
        self.ratio = ratio_found(ONE, self.model, JACOBIAN, self.work)

    def demand(self, x: np.ndarray) -> np.ndarray:
        w = np.empty(len(self.Q))
        demand_of_rows(ONE, self.model, x, w, np.empty(len(x)), self.work)
        return w


@pytest.mark.parametrize("robot", [n_four_bar(3).robot, bricard().robot], ids=lambda robot: robot.name)
def test_the_loops_hold_the_same_motions(robot):
    """A = R Q at a regular position, redundant rows included, and demands that can be met are met."""
    at = Rows(robot, robot.sample(1, seed=3)[0][0])
    assert relative(at.Q @ at.Q.T, np.eye(len(at.Q))) < 1e-14
    assert relative(at.R @ at.Q, at.A) < 1e-14
    y = np.random.default_rng(0).standard_normal(robot.nv)
    assert relative(at.demand(at.A @ y), at.Q @ y) < 1e-9
    assert 1e-3 < at.ratio <= 1.0


@pytest.mark.parametrize("d", [1e-2, 1e-4, 1e-6])
def test_rows_stay_regular_where_the_loops_lose_their_rank_and_demands_fade(d):
    """The directions that are hardly held, s about d, are held like the others; (1 - (mu / (mu + s^2))^3) / s."""
    robot = n_four_bar(3).robot
    at = Rows(robot, configuration(3, d))
    assert relative(at.Q @ at.Q.T, np.eye(6)) < 1e-14
    assert np.abs(at.Q @ configuration(3, 1.0)).max() < 1e-15 / d  # the parallelogram's motion, to rounding
    U, s, V = np.linalg.svd(at.A)
    mu = DAMPING * (s**2).sum()
    filtered = V[:6].T @ np.diag((1.0 - (mu / (mu + s**2)) ** 3) / s) @ U.T
    x = np.random.default_rng(0).standard_normal(6)
    assert relative(at.Q.T @ at.demand(x), filtered @ x) < 1e-6 * np.abs(filtered).max()
    assert at.ratio == pytest.approx(d, rel=0.9)
