"""Lagrange-Euler: agreement with Newton-Euler, and what makes its C the one that Lagrange's equations give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from round_trip import close

from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.lagrange_euler import LagrangeEuler
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots import kinematics
from dynbench.robots.families.trees import KINDS, random_tree, two_link

N = 9
TREES = [
    random_tree(n, seed=seed, kinds=KINDS, floating=seed % 2 == 0, massless=seed % 3 == 0)
    for seed, n in enumerate([1, 2, 3, 5, 7, 9, 12])
]


@pytest.fixture(params=TREES, ids=lambda robot: robot.name)
def robot(request):
    return request.param


@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
def test_agrees_with_newton_euler_on_trees_of_every_joint_kind(robot, pushed):
    q, v, a = robot.sample(N, seed=1)
    wrench = np.random.default_rng(0).standard_normal((N, robot.n, 6)) * 10 if pushed else None
    ours, theirs = LagrangeEuler().prepare(robot), NewtonEuler().prepare(robot)
    tau = theirs.inverse_dynamics(q, v, a, wrench=wrench)
    assert close(ours.inverse_dynamics(q, v, a, wrench=wrench), tau)
    condition = np.linalg.cond(theirs.mass_matrix(q)).max()
    assert close(ours.forward_dynamics(q, v, tau, wrench=wrench), a, 1e-14 * condition)


def test_mass_matrix_and_bias_agree_with_newton_euler(robot):
    q, v, _ = robot.sample(N, seed=2)
    ours, theirs = LagrangeEuler().prepare(robot), NewtonEuler().prepare(robot)
    assert close(ours.mass_matrix(q), theirs.mass_matrix(q))
    assert close(ours.bias(q, v), theirs.bias(q, v))


def test_coriolis_matrix_times_velocity_is_bias_without_gravity(robot):
    q, v, _ = robot.sample(N, seed=3)
    solver = LagrangeEuler().prepare(robot)
    Cv = np.einsum("kij,kj->ki", solver.coriolis_matrix(q, v), v)
    bias = solver.bias(q, v)
    assert close(Cv + solver.bias(q, 0 * v), bias)


def test_rate_of_the_mass_matrix_less_twice_c_is_skew(robot):
    """With quasi-velocities too: the rate of M along q' = v, by differences good to about 1e-8."""
    q, v, _ = robot.sample(N, seed=4)
    solver = LagrangeEuler().prepare(robot)
    C = solver.coriolis_matrix(q, v)
    h = 1e-5
    ahead, behind = (solver.mass_matrix(robot.integrate(q, step * v)) for step in (h, -h))
    skew = (ahead - behind) / (2 * h) - 2 * C
    assert np.abs(skew + skew.transpose(0, 2, 1)).max() <= 1e-7 * np.abs(ahead).max() * np.abs(v).max()


def test_two_link_arm_has_the_coriolis_matrix_of_the_textbook():
    """h = -m2 l1 c2 sin q2 and C = [[h v2, h (v1 + v2)], [-h v1, 0]]"""
    l1, m2, c2 = 0.8, 1.5, 0.4
    solver = LagrangeEuler().prepare(two_link((l1, 0.6), (2.0, m2), (0.3, c2), (0.1, 0.2)))
    q, v = np.array([0.3, -0.7]), np.array([1.1, 0.4])
    h = -m2 * l1 * c2 * np.sin(q[1])
    right = np.array([[h * v[1], h * (v[0] + v[1])], [-h * v[0], 0.0]])
    np.testing.assert_allclose(solver.coriolis_matrix(q[None], v[None])[0], right, rtol=0, atol=1e-14)


class Dual:
    """A number with a derivative; run through the kernel in place of a float, it differentiates M exactly."""

    def __init__(self, x: float, dx: float = 0.0) -> None:
        self.x, self.dx = x, dx

    def __add__(self, other):
        other = dual(other)
        return Dual(self.x + other.x, self.dx + other.dx)

    def __mul__(self, other):
        other = dual(other)
        return Dual(self.x * other.x, self.x * other.dx + self.dx * other.x)

    def __neg__(self):
        return Dual(-self.x, -self.dx)

    def __sub__(self, other):
        return self + (-dual(other))

    def __rsub__(self, other):
        return dual(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def sincos(self):
        s, c = math.sin(self.x), math.cos(self.x)
        return Dual(s, c * self.dx), Dual(c, -s * self.dx)


def dual(x):
    return x if isinstance(x, Dual) else Dual(float(x))


def mass_matrix_derivatives(robot, q):
    """dM[i, j, k] = dM_ij / dq_k"""
    method = LagrangeEuler()
    model = method.pack(robot)
    dM = np.empty((robot.nv, robot.nv, robot.nv))
    for k in range(robot.nv):
        seeded = np.array([Dual(x, float(j == k)) for j, x in enumerate(q)], dtype=object)
        out = np.empty(robot.nv**2, dtype=object)
        work = np.empty(method.work_size(robot, "mass_matrix"), dtype=object)
        method.kernels["mass_matrix"](ONE, model, seeded, out, work)
        dM[:, :, k] = np.array([dual(x).dx for x in out]).reshape(robot.nv, robot.nv)
    return dM


@pytest.mark.parametrize("seed", range(4))
def test_with_one_axis_joints_c_is_made_of_christoffel_symbols(seed):
    robot = random_tree(3 + seed, seed=seed, kinds=("revolute", "prismatic"))
    q, v, _ = robot.sample(1, seed=seed)
    dM = mass_matrix_derivatives(robot, q[0])
    symbols = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))  # [i, j, k]: of M_ij,k + M_ik,j - M_jk,i
    assert close(LagrangeEuler().prepare(robot).coriolis_matrix(q, v)[0], symbols @ v[0])


def test_gravity_is_the_slope_of_potential_energy(robot):
    q, v, _ = robot.sample(1, seed=5)
    weight = LagrangeEuler().prepare(robot).bias(q, 0 * v)[0]
    h = 1e-5
    for k, step in enumerate(h * np.eye(robot.nv)):
        ahead = kinematics.potential_energy(robot, robot.integrate(q[0], step))
        behind = kinematics.potential_energy(robot, robot.integrate(q[0], -step))
        assert (ahead - behind) / (2 * h) == pytest.approx(weight[k], abs=1e-7 * max(1.0, np.abs(weight).max()))
