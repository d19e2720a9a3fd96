"""The pieces of the projection onto loops: compiled loop equations, and the solves with their Jacobian."""

from __future__ import annotations

import numpy as np
import pytest
from looped import relative

from dynbench import robots
from dynbench.methods.kernels import closure, orthogonal
from dynbench.methods.kernels.scalar import ONE


def test_compiled_loop_equations_are_those_of_the_robot():
    robot = robots.load("delta")
    rows = np.arange(9)
    model = closure.pack(robot, np.zeros(0), rows)
    q, v, _ = robot.sample(3)
    off = robot.integrate(q, 0.1 * v)
    work = np.full(closure.layout(robot, 9)[-1], np.nan)
    for s in range(3):
        c, A, rate = np.empty(9), np.empty(9 * robot.nv), np.empty(9)
        closure.place(ONE, model, off[s], work)
        closure.move(ONE, model, v[s], work)
        closure.equations(ONE, model, off[s], work, c, A)
        closure.rates(ONE, model, work, rate)
        assert relative(c, robot.loop_residual(off[s])) < 1e-14
        assert relative(A.reshape(9, -1), robot.loop_jacobian(off[s])) < 1e-14
        assert relative(rate, robot.loop_rate(off[s], v[s])) < 1e-13


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_gram_schmidt_solves_both_systems(n):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n)) @ np.diag(10.0 ** rng.uniform(-3, 3, n))
    b = rng.normal(size=n)
    factor, spare = np.zeros(orthogonal.size(n)), np.empty(n)
    factor[: n * n] = B.T.ravel()
    assert orthogonal.factorise(ONE, factor, n) >= n - 1e-9
    x, y = b.copy(), b.copy()
    orthogonal.solve(ONE, factor, n, x, 0, spare)
    orthogonal.solve_transposed(ONE, factor, n, y, 0, spare)
    assert B @ x == pytest.approx(b, abs=1e-11 * np.abs(B).max() * np.abs(x).max())
    assert B.T @ y == pytest.approx(b, abs=1e-11 * np.abs(B).max() * np.abs(y).max())
