"""Lagrange's equations of elastic arms from particles: worked numbers and identities."""

import json
from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.robots import kinematics

CASES = json.loads((Path(__file__).parents[1] / "data/gibbs-appell-elastic.json").read_text())["cases"]


def prepare(case):
    robot = robots.elastic_rp_chain(**case["chain"])
    return robot, methods.get("lagrange-elastic").prepare(robot), [np.array(case[name]) for name in ("q", "v", "a")]


@pytest.mark.parametrize("name", CASES)
def test_worked_numbers(name):
    _, solver, state = prepare(CASES[name])
    np.testing.assert_allclose(solver.inverse_dynamics(*state), CASES[name]["tau"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_identities(name):
    robot, solver, (q, v, a) = prepare(CASES[name])
    M = solver.mass_matrix(q)
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-14 * np.abs(M).max())
    assert 0.5 * v @ M @ v == pytest.approx(kinematics.kinetic_energy(robot, q, v), rel=1e-13)
    tau = solver.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(M @ a + solver.bias(q, v), tau, rtol=0, atol=1e-11 * np.abs(tau).max())
    np.testing.assert_allclose(solver.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-9)


def test_power_of_wrenches():
    """A force along the world's x on the tip of the arm does work at the rate of the tip's x velocity."""
    _, solver, (q, v, a) = prepare(CASES["A"])
    h, l, delta = 1.0, q[1], q[2:]
    tip = np.array([h + l, 2.0 * delta[0] - 2.0 * delta[1]])
    tip_rate = np.array([v[1], 2.0 * v[2] - 2.0 * v[3]])
    c, s = np.cos(q[0]), np.sin(q[0])
    velocity = tip_rate + v[0] * np.array([-tip[1], tip[0]])
    b = np.array([1.8751040687119611, 4.6940911329741746])
    slope = 2 * b * np.array([0.7340955138, -1.0184673188]) @ delta / l  # the arm's frame is turned by it
    cs, sn = np.cos(q[0] + slope), np.sin(q[0] + slope)
    wrench = np.zeros((2, 6))
    wrench[1, :3] = [cs, -sn, 0.0]  # world x in the tip's axes
    work = (solver.inverse_dynamics(q, v, a) - solver.inverse_dynamics(q, v, a, wrench=wrench)) @ v
    assert work == pytest.approx(c * velocity[0] - s * velocity[1], rel=1e-8)


def test_rigid_robots_are_not_for_it():
    assert "rigid" in methods.get("lagrange-elastic").supports(robots.load("panda"))
