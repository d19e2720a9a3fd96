"""Maggi's equations against multipliers, the shared projection and Pinocchio; the identities of the null space."""

from __future__ import annotations

import numpy as np
import pytest
from looped import tree_terms

from dynbench import methods, robots
from dynbench.methods.kernels.count import count_operations
from dynbench.methods.maggi import Maggi
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.families.random_stewart import random_gough_stewart

MACHINES = [
    robots.four_bar(), robots.five_bar(), robots.planar_3rrr(), robots.delta(), robots.load("gough-stewart"),
    random_gough_stewart(0), random_gough_stewart(1, "6-3"),
]  # fmt: skip


@pytest.fixture(params=MACHINES, ids=lambda robot: robot.name)
def robot(request):
    return request.param


def close(found, right, tolerance=1e-9):
    return np.abs(found - right).max() <= tolerance * max(1.0, np.abs(right).max())


def test_forward_dynamics_solves_the_equations_with_multipliers(robot):
    """[[M, -A^T], [A, 0]] [a; lambda] = [B tau - b; -g] with M and b of the tree, in numpy."""
    q, v, _ = (x[0] for x in robot.sample(1, seed=1))
    tau = np.random.default_rng(0).standard_normal(len(robot.actuated))
    M, b = tree_terms(robot, q, v)
    A, g = robot.loop_jacobian(q), robot.loop_rate(q, v)
    force = -b
    force[robot.actuated] += tau
    system = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    a = np.linalg.lstsq(system, np.concatenate([force, -g]), rcond=None)[0][: robot.nv]
    assert close(Maggi().prepare(robot).forward_dynamics(q, v, tau), a)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "bias"])
def test_it_agrees_with_the_shared_projection(robot, quantity):
    q, v, a = robot.sample(9, seed=2)
    last = np.random.default_rng(0).standard_normal((9, len(robot.actuated))) if "forward" in quantity else a
    state = {"mass_matrix": (q,), "bias": (q, v)}.get(quantity, (q, v, last))
    wrench = {} if quantity == "mass_matrix" else {"wrench": np.random.default_rng(1).standard_normal((9, robot.n, 6))}
    found, right = (getattr(m.prepare(robot), quantity)(*state, **wrench) for m in (Maggi(), NewtonEuler()))
    assert close(found, right)


def test_inverse_dynamics_agrees_with_pinocchio_s_tree_and_closure_forces(robot):
    pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio_loops import PinocchioLoops

    if np.asarray(robot.loops.rows)[:, 3:].any():
        pytest.skip("closures hold angles")
    engine = PinocchioLoops(robot)
    q, v, a = robot.sample(3, seed=3)
    right = np.array([engine.inverse_dynamics(*row) for row in zip(q, v, a, strict=True)])
    assert close(Maggi().prepare(robot).inverse_dynamics(q, v, a), right)


def test_forward_dynamics_undoes_inverse_dynamics_and_stays_on_the_loops(robot):
    solver = Maggi().prepare(robot)
    q, v, a = robot.sample(9, seed=4)
    found = solver.forward_dynamics(q, v, solver.inverse_dynamics(q, v, a))
    assert close(found, a)
    A, g = robot.loop_jacobian(q[0]), robot.loop_rate(q[0], v[0])
    np.testing.assert_allclose(A @ found[0] + g, 0.0, atol=1e-9 * (1.0 + np.abs(a[0]).max()))


def test_actuators_do_the_work_that_changes_the_energy(robot):
    q, v, a = (x[0] for x in robot.sample(1, seed=5))
    tau = Maggi().prepare(robot).inverse_dynamics(q, v, a)
    h = 1e-6
    ends = [robot.energy(robot.integrate(q, t * v + t * t / 2 * a), v + t * a) for t in (-h, h)]
    assert tau @ v[robot.actuated] == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("argument", range(3))
def test_a_state_off_the_loops_is_refused(argument):
    robot = robots.planar_3rrr()
    state = [x[0].copy() for x in robot.sample(1, seed=6)]
    state[argument][int(robot.actuated[0])] += 1e-2
    with pytest.raises(StateError, match="off the loops"):
        Maggi().prepare(robot).inverse_dynamics(*state)


def test_trees_are_refused_with_a_reason():
    with pytest.raises(UnsupportedError, match="maggi is for robots with closed loops"):
        Maggi().prepare(robots.load("panda"))


def test_counts_of_inverse_dynamics_are_these():
    """Forming N takes a solve for each actuator, the shared projection one for the multipliers."""
    found = {}
    for robot in (robots.four_bar(), robots.planar_3rrr(), robots.load("gough-stewart")):
        counts = [count_operations(methods.get(name), robot, "inverse_dynamics") for name in ("maggi", "newton-euler")]
        found[robot.name] = tuple(count.flops for count in counts)
    assert found == {"four-bar": (1856, 1851), "3rrr": (6890, 6491), "gough-stewart": (37015, 28723)}
