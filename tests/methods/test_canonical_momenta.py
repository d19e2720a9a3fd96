"""Canonical momenta: forward dynamics against Newton-Euler and Pinocchio, the canonical equations, energy, counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from round_trip import agrees_with_newton_euler, close

from dynbench import methods, robots
from dynbench.methods.canonical_momenta import CanonicalMomenta, equations
from dynbench.methods.kernels.count import CountBuffer, Tally, count_polynomial, interpolate
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.errors import NotComputedError, StateError
from dynbench.robots.families.trees import KINDS, chain, pendulum, random_tree

TREES = [
    random_tree(n, seed=seed, kinds=KINDS if seed % 3 else KINDS[:3], floating=seed % 2 == 0)
    for seed, n in enumerate([1, 2, 4, 5, 8, 11])
]


@pytest.fixture(params=TREES, ids=lambda robot: robot.name)
def robot(request):
    return request.param


@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
def test_forward_dynamics_agrees_with_newton_euler(robot, pushed):
    assert agrees_with_newton_euler(CanonicalMomenta(), robot, "forward_dynamics", pushed)


def test_forward_dynamics_agrees_with_pinocchio(robot):
    pytest.importorskip("pinocchio")
    q, v, tau = robot.sample(3, seed=2)
    right = methods.get("pinocchio").prepare(robot).forward_dynamics(q, v, tau)
    assert close(CanonicalMomenta().prepare(robot).forward_dynamics(q, v, tau), right, 1e-11)


def test_momenta_are_the_mass_matrix_times_the_velocities(robot):
    q, v, _ = robot.sample(9, seed=3)
    M = NewtonEuler().prepare(robot).mass_matrix(q)
    assert close(CanonicalMomenta().prepare(robot).momenta(q, v), np.einsum("kij,kj->ki", M, v), 1e-12)


def test_the_canonical_equations_return_the_velocities_and_the_rates_of_the_momenta(robot):
    """p' by a difference of M v along the motion with the given forces and wrenches."""
    q, v, tau = (x[0] for x in robot.sample(1, seed=4))
    wrench = np.random.default_rng(1).standard_normal((robot.n, 6))
    solver = CanonicalMomenta().prepare(robot)
    p = solver.momenta(q, v)
    found, rate = solver.hamilton(q, p, tau, wrench=wrench)
    condition = np.linalg.cond(NewtonEuler().prepare(robot).mass_matrix(q))
    assert close(found, v, 1e-14 * condition)
    a = solver.forward_dynamics(q, v, tau, wrench=wrench)
    ends = [solver.momenta(robot.integrate(q, h * v + h * h / 2 * a), v + h * a) for h in (-1e-5, 1e-5)]
    assert close(rate, (ends[1] - ends[0]) / 2e-5, 1e-6)


def test_the_rates_are_those_of_pinocchio_s_coriolis_matrix(robot):
    """p' = tau - g + C^T v, which holds for quasi-velocities too."""
    pin = pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio import convert

    model, order = convert(pin, robot)
    data, back = model.createData(), np.argsort(order.v)
    q, v, tau = (x[0] for x in robot.sample(1, seed=5))
    C = pin.computeCoriolisMatrix(model, data, q[order.q], v[order.v]).copy()
    weight = pin.computeGeneralizedGravity(model, data, q[order.q]).copy()
    solver = CanonicalMomenta().prepare(robot)
    rate = solver.hamilton(q, solver.momenta(q, v), tau)[1]
    assert close(rate, tau + (C.T @ v[order.v] - weight)[back], 1e-11)


def test_a_pendulum_swings_by_hamilton_s_equations():
    m, l, I = 1.3, 0.7, 0.05
    solver = CanonicalMomenta().prepare(pendulum(length=l, mass=m, inertia=I))
    q, p, tau = np.random.default_rng(0).standard_normal((3, 5, 1))
    v, rate = solver.hamilton(q, p, tau)
    np.testing.assert_allclose(v, p / (m * l**2 + I), rtol=1e-13)
    np.testing.assert_allclose(rate, tau - m * 9.81 * l * np.sin(q), rtol=1e-13, atol=1e-13)


def test_simulation_in_momenta_keeps_the_energy():
    """RK4 with 1 ms for 0.2 s; halving the step divides the drift by more than eight."""
    robot = random_tree(4, seed=3, kinds=KINDS[:2])
    solver = CanonicalMomenta().prepare(robot)
    q0, v0, _ = (x[0] for x in robot.sample(1, seed=6))
    none = np.zeros(robot.nv)

    def drift(h, steps):
        q, p = q0, solver.momenta(q0, v0)
        for _ in range(steps):
            slopes = []
            for c in (0.0, 0.5, 0.5, 1.0):
                dq, dp = slopes[-1] if slopes else (none, none)
                slopes.append(solver.hamilton(q + c * h * dq, p + c * h * dp, none))
            weights = (h / 6, h / 3, h / 3, h / 6)
            q = q + sum(w * s[0] for w, s in zip(weights, slopes, strict=True))
            p = p + sum(w * s[1] for w, s in zip(weights, slopes, strict=True))
        return abs(robot.energy(q, solver.hamilton(q, p, none)[0]) - robot.energy(q0, v0))

    assert drift(1e-3, 200) < 1e-7
    assert drift(2e-3, 100) > 8.0 * drift(1e-3, 200)


def test_a_free_robot_keeps_its_total_momentum():
    """Without gravity and forces the momentum of a free base, turned to world axes, does not change."""
    robot = random_tree(5, seed=2, kinds=KINDS[:3], floating=True, gravity=(0, 0, 0))
    solver = CanonicalMomenta().prepare(robot)
    q, v, _ = (x[0] for x in robot.sample(1, seed=7))
    p = solver.momenta(q, v)
    rate = solver.hamilton(q, p, np.zeros(robot.nv))[1]
    f, w = p[:3], v[3:6]
    np.testing.assert_allclose(rate[:3] + np.cross(w, f), 0.0, atol=1e-12 * np.abs(p).max())
    np.testing.assert_allclose(rate[3:6] + np.cross(w, p[3:6]) + np.cross(v[:3], f), 0.0, atol=1e-12 * np.abs(p).max())


def test_batches_and_single_states_agree():
    robot = TREES[4]
    solver = CanonicalMomenta().prepare(robot)
    q, v, tau = robot.sample(9, seed=8)
    both = solver.hamilton(q, v, tau)
    for k in (0, 8):
        for found, right in zip(solver.hamilton(q[k], v[k], tau[k]), both, strict=True):
            assert close(found, right[k], 1e-10)


def test_bad_input_is_named():
    solver = CanonicalMomenta().prepare(chain(2))
    with pytest.raises(StateError, match=r"p has shape \(3,\)"):
        solver.hamilton([0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0])
    with pytest.raises(NotComputedError, match="'canonical-momenta' does not compute 'inverse_dynamics'"):
        solver.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    assert "closed loops" in CanonicalMomenta().supports(robots.load("3rrr"))


def test_counts_are_these_polynomials():
    found = count_polynomial(CanonicalMomenta(), chain, "forward_dynamics", range(3, 9))
    assert (str(found["multiplications"]), str(found["additions"])) == ("415 n - 235", "343 n - 202")


def test_the_canonical_equations_take_fewer_operations_than_forward_dynamics():
    def count(n):
        robot, tally = chain(n), Tally()
        q, v, tau = (CountBuffer(x[0], tally) for x in robot.sample(1, seed=0))
        model, out = CountBuffer(CanonicalMomenta().pack(robot), tally), CountBuffer([0.0] * (2 * n), tally)
        work = CountBuffer([math.nan] * CanonicalMomenta().work_size(robot, "forward_dynamics"), tally)
        equations.hamilton(ONE, model, q, v, tau, None, out, work)
        return tally.multiplications, tally.additions

    sizes = range(3, 8)
    multiplications, additions = (interpolate(sizes, x) for x in zip(*map(count, sizes), strict=True))
    assert (str(multiplications), str(additions)) == ("353 n - 231", "289 n - 198")
