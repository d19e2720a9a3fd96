"""Screws: forces, mass matrix and the rate of the forces, against Newton-Euler, Pinocchio and differences in time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from round_trip import agrees_with_newton_euler, close

from dynbench import methods
from dynbench.methods.kernels.count import CountBuffer, Tally, count_polynomial, interpolate
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.methods.screw import Screw, dynamics
from dynbench.robots.body import Body
from dynbench.robots.errors import StateError
from dynbench.robots.families.trees import KINDS, chain, pendulum, random_tree
from dynbench.robots.joints import Revolute
from dynbench.robots.robot import Robot

TREES = [
    random_tree(n, seed=seed, kinds=KINDS if seed % 3 else KINDS[:3], floating=seed % 2 == 0, massless=seed % 4 == 3)
    for seed, n in enumerate([1, 2, 4, 5, 8, 11])
]
SPHERICAL, FREE = 2, 3


@pytest.fixture(params=TREES, ids=lambda robot: robot.name)
def robot(request):
    return request.param


@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
def test_inverse_dynamics_agrees_with_newton_euler(robot, pushed):
    assert agrees_with_newton_euler(Screw(), robot, "inverse_dynamics", pushed)


def test_the_mass_matrix_agrees_with_newton_euler(robot):
    q, _, _ = robot.sample(9, seed=2)
    assert close(Screw().prepare(robot).mass_matrix(q), NewtonEuler().prepare(robot).mass_matrix(q), 1e-11)


def test_the_rate_of_a_pendulum_s_torque():
    m, l, I = 1.3, 0.7, 0.05
    solver = Screw().prepare(pendulum(length=l, mass=m, inertia=I))
    q, v, a, jerk = np.random.default_rng(0).standard_normal((4, 5, 1))
    tau, rate = solver.inverse_dynamics_rate(q, v, a, jerk)
    np.testing.assert_allclose(tau, (m * l**2 + I) * a + m * 9.81 * l * np.sin(q), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rate, (m * l**2 + I) * jerk + m * 9.81 * l * np.cos(q) * v, rtol=1e-13, atol=1e-13)


def bracket(robot, v, a):
    """[v, a] of spherical and free joints, zero for the others: what a motion of constant jerk needs, at order t^3."""
    found = np.zeros(robot.nv)
    for kind, k in zip(robot.kind, robot.iv, strict=True):
        if kind == SPHERICAL:
            found[k : k + 3] = np.cross(v[k : k + 3], a[k : k + 3])
        elif kind == FREE:
            x, w, y, u = v[k : k + 3], v[k + 3 : k + 6], a[k : k + 3], a[k + 3 : k + 6]
            found[k : k + 6] = *(np.cross(w, y) + np.cross(x, u)), *np.cross(w, u)
    return found


@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
def test_the_rate_is_the_difference_of_newton_euler_s_forces_along_a_motion(robot, pushed):
    q, v, a = (x[0] for x in robot.sample(1, seed=3))
    jerk = np.random.default_rng(2).standard_normal(robot.nv)
    wrench = np.random.default_rng(3).standard_normal((robot.n, 6)) if pushed else None
    right = NewtonEuler().prepare(robot)

    def force(t):
        step = t * v + t**2 / 2 * a + t**3 / 6 * jerk + t**3 / 12 * bracket(robot, v, a)
        state = robot.integrate(q, step), v + t * a + t**2 / 2 * jerk, a + t * jerk
        return right.inverse_dynamics(*state, wrench=wrench)

    h = 1e-3
    slope = (8 * (force(h) - force(-h)) - (force(2 * h) - force(-2 * h))) / (12 * h)
    tau, rate = Screw().prepare(robot).inverse_dynamics_rate(q, v, a, jerk, wrench=wrench)
    assert close(tau, right.inverse_dynamics(q, v, a, wrench=wrench), 1e-11)
    assert close(rate, slope, 1e-6)


def test_the_rate_is_that_of_pinocchio_s_derivatives(robot):
    pin = pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio import convert

    model, order = convert(pin, robot)
    data, back = model.createData(), np.argsort(order.v)
    q, v, a = (x[0] for x in robot.sample(1, seed=4))
    jerk = np.random.default_rng(5).standard_normal(robot.nv)
    dq, dv, M = pin.computeRNEADerivatives(model, data, q[order.q], v[order.v], a[order.v])
    M = np.triu(M) + np.triu(M, 1).T
    right = (dq @ v[order.v] + dv @ a[order.v] + M @ jerk[order.v])[back]
    tau, rate = Screw().prepare(robot).inverse_dynamics_rate(q, v, a, jerk)
    assert close(tau, methods.get("pinocchio").prepare(robot).inverse_dynamics(q, v, a), 1e-11)
    assert close(rate, right, 1e-11)


def test_no_digits_are_lost_far_from_the_world_s_origin():
    far = np.array([600.0, -800.0, 100.0])
    floating = random_tree(6, seed=4, kinds=KINDS[:3], floating=True)
    q, v, a = floating.sample(4, seed=1)
    q[:, :3] += far
    first = Body(name="first", joint=Revolute([0, 0, 1]), placement=(np.eye(3), far), mass=2.0, com=[0.2, 0.1, 0.3])
    second = Body(
        name="second", parent="first", joint=Revolute([0, 1, 0]), placement=(np.eye(3), [0.3, 0, 0.2]), mass=1.0,
        com=[0.1, -0.2, 0.3], inertia=np.diag([0.01, 0.02, 0.025]),
    )  # fmt: skip
    fixed = Robot.from_bodies("far", [first, second])
    for robot, state in ((floating, (q, v, a)), (fixed, fixed.sample(4, seed=2))):
        right = NewtonEuler().prepare(robot).inverse_dynamics(*state)
        assert close(Screw().prepare(robot).inverse_dynamics(*state), right, 1e-13), robot.name


def test_batches_single_states_and_plain_python_agree():
    robot, method = TREES[4], Screw()
    solver = method.prepare(robot)
    q, v, a = robot.sample(9, seed=8)
    both = solver.inverse_dynamics_rate(q, v, a, v)
    again = solver.inverse_dynamics_rate(q, v, a, v, threads=2)
    for k in (0, 8):
        out, work = np.empty(2 * robot.nv), np.full(dynamics.RATE_WORK * (robot.n + 1), np.nan)
        packed = np.concatenate([a[k], v[k]])
        dynamics.inverse_dynamics_rate(ONE, method.pack(robot), q[k], v[k], packed, None, out, work)
        single = solver.inverse_dynamics_rate(q[k], v[k], a[k], v[k])
        for row in range(2):
            np.testing.assert_array_equal(both[row], again[row])
            assert close(single[row], both[row][k], 1e-12)
            assert close(out.reshape(2, -1)[row], both[row][k], 1e-12)


def test_bad_input_of_the_rate_is_named():
    solver = Screw().prepare(chain(2))
    with pytest.raises(StateError, match=r"jerk has shape \(3,\)"):
        solver.inverse_dynamics_rate([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0, 0.0])
    with pytest.raises(StateError, match="jerk"):
        solver.inverse_dynamics_rate([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, np.nan])


def test_counts_are_these_polynomials():
    found = count_polynomial(Screw(), chain, "inverse_dynamics", range(3, 9))
    assert (str(found["multiplications"]), str(found["additions"])) == ("234 n", "198 n - 6")
    found = count_polynomial(Screw(), chain, "mass_matrix", range(3, 9))
    assert str(found["multiplications"]) == "3 n^2 + 159 n"


def test_counts_of_the_rate():
    def count(n):
        robot, tally = chain(n), Tally()
        q, v, a = (CountBuffer(x[0], tally) for x in robot.sample(1, seed=0))
        model, out = CountBuffer(Screw().pack(robot), tally), CountBuffer([0.0] * (2 * n), tally)
        both = CountBuffer([*map(float, a), *map(float, a)], tally)
        work = CountBuffer([math.nan] * (dynamics.RATE_WORK * (n + 1)), tally)
        dynamics.inverse_dynamics_rate(ONE, model, q, v, both, None, out, work)
        return tally.multiplications, tally.additions

    sizes = range(3, 8)
    multiplications, additions = (interpolate(sizes, x) for x in zip(*map(count, sizes), strict=True))
    assert (str(multiplications), str(additions)) == ("396 n", "377 n - 12")
