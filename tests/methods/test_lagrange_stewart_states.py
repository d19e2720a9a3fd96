"""Lagrange for the Gough-Stewart platform, in batches; and which robots and states are refused."""

from __future__ import annotations

import numpy as np
import pytest
from stewart import MODELS, prepared

from dynbench import methods, robots
from dynbench.robots import quaternion
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.families.gough_stewart import hexagon, leg_coordinates, triangle
from dynbench.robots.families.random_stewart import random_platform_states
from dynbench.robots.families.stewart_legs import require_parts


def test_a_trajectory_in_one_batch():
    """One call for many states, in threads too; the same numbers as one by one."""
    solver = prepared("b_lumped")
    q, v, a = random_platform_states(solver.robot, 101, seed=0)
    F = solver.inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(solver.inverse_dynamics(q, v, a, threads=2), F)
    for k in (0, 57, 100):
        np.testing.assert_allclose(solver.inverse_dynamics(q[k], v[k], a[k]), F[k], rtol=1e-13)
    M = solver.twist_mass_matrix(q)
    np.testing.assert_allclose(solver.twist_mass_matrix(q[57]), M[57], rtol=1e-13)


def test_exactness_is_declared():
    assert [methods.get(name).exact for name in MODELS.values()] == [False, False, True]


def test_other_robots_are_refused_with_a_reason():
    method = methods.get("lagrange-stewart")
    for name in ("panda", "delta", "3rrr"):
        assert "Gough-Stewart platforms only" in method.supports(robots.load(name))
    with pytest.raises(UnsupportedError, match="19 bodies"):
        method.prepare(robots.load("two-link"))


def still(robot, R, p):
    """A state at rest, written down joint by joint, so that it can be a singular one."""
    at = require_parts(robot)
    legs = p + at.platform_points @ np.asarray(R).T - at.base_points
    angles = np.stack(leg_coordinates(at.frame, legs), axis=-1)
    q = np.concatenate([angles.ravel(), p, quaternion.from_matrix(np.asarray(R))])
    return q, np.zeros(robot.nv), np.zeros(robot.nv)


QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
VERTICAL = hexagon()[4] - triangle()[4] + np.array([0.0, 0.0, 0.7])


@pytest.mark.parametrize(
    ("R", "p", "match"),
    [
        (QUARTER, [0.0, 0.0, 0.7], r"the pose of state 1 is singular \(p = \[0.0, 0.0, 0.7\]"),
        (np.eye(3), VERTICAL, "leg 5 of robot 'gough-stewart' lies along the first axis"),
        (np.eye(3), hexagon()[2] - triangle()[2], "leg 3 of robot 'gough-stewart' has length 0 m"),
    ],
)
def test_singular_states_are_refused_by_name(R, p, match):
    solver = prepared("c_full")
    good, bad = (still(solver.robot, *pose) for pose in ((np.eye(3), np.array([0.0, 0.0, 0.7])), (R, np.array(p))))
    batch = [np.stack(pair) for pair in zip(good, bad, strict=True)]
    for quantity, arguments in (("inverse_dynamics", batch), ("mass_matrix", batch[:1]), ("bias", batch[:2])):
        with pytest.raises(StateError, match=match):
            getattr(solver, quantity)(*arguments)


def test_forward_dynamics_needs_no_regular_jacobian():
    """At Fichter's singularity forces still have one effect: the free fall of a platform without actuation."""
    q, v, _ = still(prepared("a_massless").robot, QUARTER, np.array([0.0, 0.0, 0.7]))
    a = prepared("a_massless").forward_dynamics(q, v, np.zeros(6))
    np.testing.assert_allclose(a[-6:], [0, 0, -9.8066, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("which", "match"), [(0, "q.* is off the loops"), (1, "v.* is off"), (2, "a.* is off")])
def test_states_off_the_loops_are_refused(which, match):
    robot = robots.load("gough-stewart")
    state = [x.copy() for x in random_platform_states(robot, 12, seed=3)]
    state[which][5, 2] += 1e-3
    solver = methods.get("lagrange-stewart").prepare(robot)
    with pytest.raises(StateError, match=match):
        solver.inverse_dynamics(*state)
