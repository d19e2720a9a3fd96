"""Hollerbach's two forms against Newton-Euler and Pinocchio, Lagrange's equations by differences, and their counts."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods
from dynbench.methods.hollerbach import Hollerbach, Hollerbach4x4
from dynbench.methods.kernels.count import count_polynomial
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.families.trees import KINDS, chain, pendulum, random_tree

BOTH = pytest.mark.parametrize("method", [Hollerbach(), Hollerbach4x4()], ids=lambda method: method.name)
# (multiplications, additions) as they are printed for the source, status in docs/methods/hollerbach.md
PRINTED = {"hollerbach": ("412 n - 277", "320 n - 201"), "hollerbach-4x4": ("830 n - 592", "675 n - 464")}
COUNTED = {"hollerbach": ("328 n - 48", "261 n - 51"), "hollerbach-4x4": ("606 n - 80", "504 n - 80")}


def trees():
    for seed in range(8):
        kinds = KINDS if seed % 3 else KINDS[:3]
        yield random_tree(1 + 3 * seed // 2, seed=seed, kinds=kinds, floating=seed % 2 == 0, massless=seed % 4 == 3)


@BOTH
@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
def test_agrees_with_newton_euler_on_trees_of_every_joint_kind(method, pushed):
    for seed, robot in enumerate(trees()):
        q, v, a = robot.sample(9, seed=seed)
        wrench = np.random.default_rng(seed).standard_normal((9, robot.n, 6)) * 10 if pushed else None
        right = NewtonEuler().prepare(robot).inverse_dynamics(q, v, a, wrench=wrench)
        found = method.prepare(robot).inverse_dynamics(q, v, a, wrench=wrench)
        assert np.abs(found - right).max() <= 1e-12 * np.abs(right).max(), robot.name


@BOTH
def test_agrees_with_pinocchio(method):
    pytest.importorskip("pinocchio")
    for seed, robot in enumerate(trees()):
        q, v, a = robot.sample(3, seed=seed)
        right = methods.get("pinocchio").prepare(robot).inverse_dynamics(q, v, a)
        found = method.prepare(robot).inverse_dynamics(q, v, a)
        assert np.abs(found - right).max() <= 1e-11 * np.abs(right).max(), robot.name


@BOTH
def test_pendulum(method):
    m, l, I = 1.3, 0.7, 0.05
    solver = method.prepare(pendulum(length=l, mass=m, inertia=I))
    q, v, a = np.random.default_rng(0).standard_normal((3, 5, 1))
    tau = (m * l**2 + I) * a + m * 9.81 * l * np.sin(q)
    np.testing.assert_allclose(solver.inverse_dynamics(q, v, a), tau, rtol=1e-13, atol=1e-14)


@BOTH
def test_it_is_lagrange_s_equation(method):
    """At rest tau = dV/dq; along a motion tau . v is the rate of the energy."""
    robot = random_tree(5, seed=2, kinds=KINDS[:2])
    q, v, a = (x[0] for x in robot.sample(1, seed=3))
    solver = method.prepare(robot)

    def energy(t):
        return robot.energy(q + t * v + t * t / 2 * a, v + t * a)

    power = (energy(1e-4) - energy(-1e-4)) / 2e-4
    assert solver.inverse_dynamics(q, v, a) @ v == pytest.approx(power, rel=1e-6)
    steps = 1e-5 * np.eye(robot.nv)
    still = 0.0 * v
    slope = [(robot.energy(q + e, still) - robot.energy(q - e, still)) / 2e-5 for e in steps]
    np.testing.assert_allclose(solver.bias(q, still), slope, rtol=1e-6, atol=1e-7)


@BOTH
def test_no_digits_are_lost_far_from_the_world_s_origin(method):
    robot = random_tree(6, seed=4, kinds=KINDS[:3], floating=True)
    q, v, a = robot.sample(4, seed=1)
    q[:, :3] += [600.0, -800.0, 100.0]
    right = NewtonEuler().prepare(robot).inverse_dynamics(q, v, a)
    assert np.abs(method.prepare(robot).inverse_dynamics(q, v, a) - right).max() <= 1e-13 * np.abs(right).max()


@BOTH
def test_plain_python_and_compiled_code_agree(method):
    robot = random_tree(5, seed=8, kinds=KINDS)
    q, v, a = robot.sample(9, seed=1)
    batch = method.prepare(robot).inverse_dynamics(q, v, a)
    out, work = np.empty(robot.nv), np.full(method.work_size(robot, "inverse_dynamics"), np.nan)
    method.kernels["inverse_dynamics"](ONE, method.pack(robot), q[8], v[8], a[8], None, out, work)
    np.testing.assert_allclose(out, batch[8], rtol=0, atol=1e-12 * np.abs(batch[8]).max())


@BOTH
def test_counts_are_these_polynomials_and_below_the_printed_ones(method):
    found = count_polynomial(method, chain, "inverse_dynamics", range(3, 9))
    assert (str(found["multiplications"]), str(found["additions"])) == COUNTED[method.name]
    for polynomial, printed in zip((found["multiplications"], found["additions"]), PRINTED[method.name], strict=True):
        slope = int(printed.split()[0])
        assert polynomial.degree == 1
        assert polynomial.coefficients[1] < slope


def test_3x3_matrices_take_about_half_of_the_operations():
    """The claim of the source (printed 412 n of 830 n), and its "factor of 3" to Newton-Euler."""
    counts = [
        count_polynomial(method, chain, "inverse_dynamics", range(3, 9))["flops"].coefficients[1]
        for method in (Hollerbach(), Hollerbach4x4(), NewtonEuler())
    ]
    assert 0.45 < counts[0] / counts[1] < 0.6
    assert 2.0 < counts[0] / counts[2] < 3.0
