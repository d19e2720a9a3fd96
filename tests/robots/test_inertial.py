"""Inertial parameters and the numpy regressor: definitions, and the energy and inverse dynamics they must give."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import robots
from dynbench.benchmarks.checks.conformance.plain import inverse_dynamics
from dynbench.robots import inertial
from dynbench.robots.families.trees import KINDS, random_tree


def test_the_parameters_of_a_body_are_about_its_origin():
    bodies = [
        robots.Body(name="base", joint=robots.Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1]),
        robots.Body(
            name="link", parent="base", joint=robots.Revolute([0, 1, 0]), mass=2.0, com=[0.5, 1.0, 0.0],
            inertia=[[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]],
        ),
    ]  # fmt: skip
    theta = robots.Robot.from_bodies("two", bodies).inertial_parameters()
    # J = I + m (c.c 1 - c c^T): c.c = 1.25
    link = [2.0, 1.0, 2.0, 0.0, 3 + 2 * 1.0, 0.1 - 2 * 0.5, 4 + 2 * 0.25, 0.2, 0.3, 5 + 2 * 1.25]
    np.testing.assert_allclose(theta, [1, 0, 0, 0, 1, 0, 1, 0, 0, 1, *link], rtol=1e-15)


def test_they_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    robot = random_tree(5, seed=2)
    theirs = [
        pin.Inertia(float(m), c.copy(), I.copy()).toDynamicParameters()
        for m, c, I in zip(robot.mass, robot.com, robot.inertia, strict=True)
    ]
    np.testing.assert_allclose(robot.inertial_parameters(), np.concatenate(theirs), rtol=1e-12, atol=1e-14)


def test_names_say_parameter_and_body():
    names = inertial.parameter_names(robots.load("two-link"))
    assert names[:4] == ("m[link1]", "mx[link1]", "my[link1]", "mz[link1]")
    assert names[14:] == ("Jxx[link2]", "Jxy[link2]", "Jyy[link2]", "Jxz[link2]", "Jyz[link2]", "Jzz[link2]")


def test_a_spatial_inertia_has_the_parameters_it_was_made_of():
    theta = np.random.default_rng(0).standard_normal(10)
    inertia = inertial.spatial_inertia(theta)
    np.testing.assert_array_equal(inertial.from_spatial_inertia(inertia), theta)
    v, w = np.random.default_rng(1).standard_normal((2, 3))
    h, J = theta[1:4], inertia[3:, 3:]
    momentum = np.concatenate([theta[0] * v + np.cross(w, h), np.cross(h, v) + J @ w])
    np.testing.assert_allclose(inertia @ np.concatenate([v, w]), momentum, atol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_the_regressor_times_the_parameters_is_plain_newton_euler(seed):
    kinds = KINDS if seed % 2 else KINDS[:3]
    robot = random_tree(6, seed=seed, kinds=kinds, floating=seed % 3 == 0, massless=seed == 4)
    q, v, a = robot.sample(3, seed=seed)
    Y = inertial.regressor(robot, q, v, a)
    assert Y.shape == (3, robot.nv, 60)
    tau = np.array([inverse_dynamics(robot, *state)[0] for state in zip(q, v, a, strict=True)])
    assert np.abs(Y @ robot.inertial_parameters() - tau).max() <= 1e-13 * np.abs(tau).max()
    one = inertial.regressor(robot, q[1], v[1], a[1])
    np.testing.assert_allclose(one, Y[1], atol=1e-14 * np.abs(Y).max())


def test_with_loops_free_rows_do_no_work_on_the_loops():
    """The power of the free rows is that of the whole tree for any motion on the loops."""
    robot = robots.load("3rrr")
    q, v, a = robot.sample(4, seed=1)
    _, _, right = np.linalg.svd(robot.loop_jacobian(q))
    free = right[:, robot.loop_analysis.rank :]
    along = np.einsum("sfi,si->sf", free, v)
    np.testing.assert_allclose(np.einsum("sfi,sf->si", free, along), v, atol=1e-9)
    power = np.einsum("sf,sf->s", along, inertial.free_regressor(robot, q, v, a) @ robot.inertial_parameters())
    whole = np.einsum("si,si->s", v, inertial.regressor(robot, q, v, a) @ robot.inertial_parameters())
    np.testing.assert_allclose(power, whole, rtol=1e-9)


def test_elastic_links_have_no_such_parameters():
    with pytest.raises(robots.RobotError, match="'elastic-rp1' has elastic links; inertial parameters"):
        robots.load("elastic-rp1").inertial_parameters()
