"""Full, lumped and massless legs of the Gough-Stewart platform: Lagrange's equations of energies written out here."""

from __future__ import annotations

import numpy as np
import pytest
from stewart import LAYOUTS, MODELS, derivative, relative

from dynbench import methods
from dynbench.methods.lagrange_stewart import coordinates
from dynbench.robots import quaternion
from dynbench.robots.families.random_stewart import random_gough_stewart, random_platform_states
from dynbench.robots.families.stewart_legs import require_parts
from dynbench.robots.kinematics import kinetic_energy, poses, velocities


def leg_motion(robot, q, v):
    """L, L', |u'|^2, the legs' angular velocity in leg axes, (N, 6), from positions and velocities of the bodies."""
    at = require_parts(robot)
    R, p = poses(robot, q)
    twist = velocities(robot, q, v, axes="world")
    leg, VT = p[:, at.upper] - at.base_points, twist[:, at.upper, :3]
    L = np.linalg.norm(leg, axis=-1)
    u = leg / L[..., None]
    rate = (u * VT).sum(axis=-1)
    u_dot = (VT - rate[..., None] * u) / L[..., None]
    spin = np.einsum("nkji,nkj->nki", R[:, at.lower], twist[:, at.lower, 3:])
    return L, rate, (u_dot**2).sum(axis=-1), spin


def platform_twist(robot, q, v):
    return velocities(robot, q, v, axes="world")[:, robot.platform]


def energy_of(name, robot, q, v):
    t = platform_twist(robot, q, v)
    M = methods.get(name).prepare(robot).twist_mass_matrix(q)
    return 0.5 * np.einsum("ni,nij,nj->n", t, M, t)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(5))
def test_energy_difference_of_full_and_lumped_legs(layout, seed):
    """K_full - K_lumped = sum of mu/2 (D^2 |u'|^2 + L'^2) + w I w/2, with mu = m1 m2/M, D = L - l1/2 - l2/2."""
    robot = random_gough_stewart(seed, layout)
    q, v, _ = random_platform_states(robot, 20, seed)
    at = require_parts(robot)
    L, rate, bend, spin = leg_motion(robot, q, v)
    mu = at.lower_mass * at.upper_mass / (at.lower_mass + at.upper_mass)
    D = L - at.lower_com - at.upper_com
    turning = np.einsum("nki,kij,nkj->nk", spin, at.lower_inertia + at.upper_inertia, spin)
    difference = (0.5 * mu * (D**2 * bend + rate**2) + 0.5 * turning).sum(axis=1)
    full, lumped = (energy_of(MODELS[model], robot, q, v) for model in ("c_full", "b_lumped"))
    np.testing.assert_allclose(full - lumped, difference, rtol=1e-12)
    np.testing.assert_allclose(full, kinetic_energy(robot, q, v), rtol=1e-13)


def test_models_agree_at_rest_and_not_in_motion():
    """P_full = P_lumped; massless legs have no weight either."""
    robot = random_gough_stewart(1)
    q, v, a = random_platform_states(robot, 10, seed=1)
    still = np.zeros_like(v)
    forces = {model: methods.get(name).prepare(robot) for model, name in MODELS.items()}
    rest = {model: solver.inverse_dynamics(q, still, still) for model, solver in forces.items()}
    assert relative(rest["b_lumped"], rest["c_full"]) < 1e-13
    assert relative(rest["a_massless"], rest["c_full"]) > 0.1
    moving = {model: solver.inverse_dynamics(q, v, a) for model, solver in forces.items()}
    assert relative(moving["b_lumped"], moving["c_full"]) > 0.01


@pytest.mark.parametrize("model", ["b_lumped", "a_massless"])
def test_approximate_legs_are_lagranges_equations_of_their_energy(model):
    """M from the kinetic energy, C from M's derivatives (Christoffel), G from the potential: all by differences."""
    robot = random_gough_stewart(4)
    solver = methods.get(MODELS[model]).prepare(robot)
    at = require_parts(robot)
    j = int(robot.iq[robot.platform])
    x = np.concatenate([robot.home[j : j + 3] + 0.02, coordinates.angles(quaternion.matrix(robot.home[j + 3 : j + 7]))])
    rates = np.array([0.3, -0.5, 0.7, 1.1, -0.9, 1.3])
    total = at.lower_mass + at.upper_mass
    heavy = 1.0 if model == "b_lumped" else 0.0

    def centres(x):
        """Combined centres of mass of the legs, (15), (33)."""
        leg = x[:3] + at.platform_points @ coordinates.rotation(x[3:]).T - at.base_points
        length = np.linalg.norm(leg, axis=1)
        along = (at.lower_mass * at.lower_com + at.upper_mass * (length - at.upper_com)) / total
        return at.base_points + (along / length)[:, None] * leg

    def inertia(x):
        """Of (11) and (27), from the centres' derivatives; a complex step would need complex rotations."""
        slopes = derivative(centres, x)
        D = np.eye(6)
        D[3:, 3:] = coordinates.rate_matrix(x[3:])
        R = coordinates.rotation(x[3:])
        own = np.zeros((6, 6))
        own[:3, :3] = at.platform_mass * np.eye(3)
        own[3:, 3:] = R @ at.platform_inertia @ R.T
        return D.T @ own @ D + heavy * np.einsum("k,kic,kid->cd", total, slopes, slopes)

    def potential(x):
        return -robot.gravity @ (at.platform_mass * x[:3] + heavy * total @ centres(x))

    found = solver.equations(x, rates)
    slopes = derivative(inertia, x)  # dM_ij / dx_k
    christoffel = 0.5 * (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 1, 0))
    np.testing.assert_allclose(found.M, inertia(x), atol=1e-8)
    np.testing.assert_allclose(found.G, derivative(potential, x), atol=1e-7)
    np.testing.assert_allclose(found.C, np.einsum("ijk,k->ij", christoffel, rates), atol=2e-5)


@pytest.mark.parametrize("model", MODELS)
def test_rate_of_m_less_2c_is_skew(model):
    robot = random_gough_stewart(6, "6-3")
    solver = methods.get(MODELS[model]).prepare(robot)
    j = int(robot.iq[robot.platform])
    x = np.concatenate([robot.home[j : j + 3], coordinates.angles(quaternion.matrix(robot.home[j + 3 : j + 7]))])
    rates = np.array([0.3, -0.5, 0.7, 1.1, -0.9, 1.3])
    slopes = derivative(lambda y: solver.equations(y, rates).M, x)
    S = slopes @ rates - 2.0 * solver.equations(x, rates).C
    assert np.abs(S + S.T).max() < 1e-8 * np.abs(S).max()
