"""The platform's own coordinates of the Gough-Stewart platform: Jacobian, angles, and kinematics both ways."""

from __future__ import annotations

import numpy as np
import pytest
from stewart import derivative, prepared

from dynbench import methods, robots
from dynbench.methods.lagrange_stewart import coordinates
from dynbench.methods.lagrange_stewart.kinematics import vertex_jacobians
from dynbench.robots.errors import StateError
from dynbench.robots.families.stewart_legs import platform_state


def test_jacobian_is_the_derivative_of_the_lengths():
    solver = prepared("c_full")
    x = np.array([-0.08, 0.03, 0.72, 0.2, -0.1, 0.4])

    def lengths(x):
        return solver.inverse_kinematics((coordinates.rotation(x[3:]), x[:3]))

    np.testing.assert_allclose(solver.equations(x, np.zeros(6)).J, derivative(lengths, x), atol=1e-11)


def test_factors_of_the_jacobian():
    """J = J1 J2, (8)."""
    solver = prepared("c_full")
    x = np.array([-0.08, 0.03, 0.72, 0.2, -0.1, 0.4])
    R, p = coordinates.rotation(x[3:]), x[:3]
    J1, J2 = vertex_jacobians(solver.parts, R, p, coordinates.rate_matrix(x[3:]))
    np.testing.assert_allclose(J1 @ J2, solver.equations(x, np.zeros(6)).J, atol=1e-14)


def test_coordinates_round_trip():
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 6)) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0] + [0, 0, 0.7, 0, 0, 0]
    q, _, _ = prepared("c_full").state(x)
    np.testing.assert_allclose(prepared("c_full").coordinates(q), x, atol=1e-13)


def test_the_angles_singularity_is_refused_and_the_forces_are_right_there():
    """An upright platform, alpha = 90 degrees: tree states have no angles, the paper's coordinates are refused."""
    solver, judge = prepared("c_full"), methods.get("newton-euler").prepare(robots.load("gough-stewart"))
    x = np.array([0.0, 0.0, 0.7, np.pi / 2, 0.3, 0.2])
    pose = (coordinates.rotation(x[3:]), x[:3])
    state = platform_state(solver.robot, pose, np.arange(6.0) / 3.0, np.arange(6.0) - 2.0)
    F = solver.inverse_dynamics(*state)
    np.testing.assert_allclose(F, judge.inverse_dynamics(*state), atol=1e-11)
    np.testing.assert_allclose(solver.forward_dynamics(*state[:2], F), state[2], atol=1e-9)
    for refused in (lambda: solver.coordinates(state[0]), lambda: solver.equations(x, np.zeros(6))):
        with pytest.raises(StateError, match="cos alpha = 0"):
            refused()


def test_forward_kinematics():
    solver, rng = prepared("c_full"), np.random.default_rng(1)
    for x in rng.uniform(-1.0, 1.0, (20, 6)) * [0.1, 0.1, 0.1, 0.4, 0.4, 0.4] + [-0.05, 0, 0.7, 0, 0, 0]:
        R, p = coordinates.rotation(x[3:]), x[:3]
        found = solver.forward_kinematics(solver.inverse_kinematics((R, p)))
        np.testing.assert_allclose(found[0], R, atol=1e-10)
        np.testing.assert_allclose(found[1], p, atol=1e-10)


@pytest.mark.parametrize(
    ("lengths", "match"),
    [
        ([0.1, 3.0, 0.1, 3.0, 0.1, 3.0], "did not converge|singular pose|has length|lies along"),
        ([0.7, 0.7, 0.7], "needs six positive numbers"),
        ([0.7, 0.7, -0.7, 0.7, 0.7, 0.7], "needs six positive numbers"),
        ([0.7, 0.7, np.nan, 0.7, 0.7, 0.7], "needs six positive numbers"),
    ],
)
def test_forward_kinematics_says_when_it_fails(lengths, match):
    with pytest.raises(StateError, match=match):
        prepared("c_full").forward_kinematics(lengths)
