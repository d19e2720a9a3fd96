"""Loops by their nominal rank: redundant rows and actuators, smoothness off the loops, singular states, springs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from looped import doubled_parallelogram, projected, relative
from random_loops import KINDS, random_loop

from dynbench import methods, robots
from dynbench.benchmarks.problems.bricard import bricard
from dynbench.benchmarks.problems.n_four_bar import configuration, n_four_bar
from dynbench.methods.kernels import nominal
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.loops import around
from dynbench.robots import Robot
from dynbench.robots.errors import NotComputedError

EXACT = ("newton-euler", "gibbs-appell", "denoc", "lagrange-euler")


def opened(robot: Robot) -> Robot:
    """The spanning tree."""
    bodies = {field.name: getattr(robot, field.name) for field in dataclasses.fields(robot)}
    return Robot(**{**bodies, "loops": None, "actuated": None, "home": None, "platform": -1, "force_weights": None})


def kkt_forces(robot: Robot, q, v, a) -> np.ndarray:
    """[B A^T] [tau; lambda] = M a + h by least squares, the right side by Pinocchio."""
    pytest.importorskip("pinocchio")
    r = methods.get("pinocchio").prepare(opened(robot)).inverse_dynamics(q, v, a)
    B = np.eye(robot.nv)[:, robot.actuated]
    forces = []
    for A, right in zip(robot.loop_jacobian(q), r, strict=True):
        both, *_ = np.linalg.lstsq(np.hstack([B, A.T]), right, rcond=1e-9)
        assert np.abs(np.hstack([B, A.T]) @ both - right).max() < 1e-9 * max(1.0, np.abs(right).max())
        forces.append(both[: len(robot.actuated)])
    return np.array(forces)


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_redundant_loops_against_an_independent_solution(seed):
    robot = random_loop(seed)
    q, v, a = robot.sample(5, seed=seed)
    wanted = kkt_forces(robot, q, v, a)
    solve = methods.get("newton-euler").prepare(robot)
    tau = solve.inverse_dynamics(q, v, a)
    assert relative(tau, wanted) < 1e-9
    assert relative(solve.forward_dynamics(q, v, tau), a) < 1e-9
    M, h = solve.mass_matrix(q), solve.bias(q, v)
    assert relative(np.einsum("sij,sj->si", M, a[:, robot.actuated]) + h, tau) < 1e-9


@pytest.mark.long
def test_exact_methods_agree_on_redundant_loops():
    for seed in range(40):
        robot = random_loop(seed)
        q, v, a = robot.sample(9, seed=seed)
        solvers = [methods.get(name).prepare(robot) for name in EXACT]
        tau = solvers[0].inverse_dynamics(q, v, a)
        for solve in solvers:
            assert relative(solve.inverse_dynamics(q, v, a), tau) < 1e-9, seed
            assert relative(solve.forward_dynamics(q, v, tau), a) < 1e-9, seed


@pytest.mark.parametrize("name", ["newton-euler", "gibbs-appell", "denoc", "lagrange-euler", "kane"])
def test_the_plain_reading_agrees_with_the_tree(name):
    """Kernels run as Python, for every tree method, on a mechanism with redundant rows."""
    robot, method = doubled_parallelogram(), methods.get(name)
    tree = {f"tree_{quantity}": kernel for quantity, kernel in method.kernels.items()}
    home = type(method).__module__
    model = nominal.pack(robot, method.pack(robot))
    size = max(method.work_size(robot, quantity) for quantity in method.kernels)
    work = np.full(nominal.layout(robot)[-1] + size, np.nan)
    q, v, a = robot.sample(1, seed=2)
    tau, back = np.empty(1), np.empty(robot.nv)
    inverse = around(nominal.inverse_dynamics, home, tree_inverse_dynamics=tree["tree_inverse_dynamics"])
    inverse(ONE, model, q[0], v[0], a[0], None, tau, work)
    assert relative(tau, projected(robot, q, v, a)[0]) < 1e-10
    if "tree_mass_matrix" in tree:
        needed = {key: tree[key] for key in ("tree_inverse_dynamics", "tree_mass_matrix")}
        around(nominal.forward_dynamics, home, **needed)(ONE, model, q[0], v[0], tau, None, back, work)
        assert relative(back, a[0]) < 1e-10


def test_forward_dynamics_is_smooth_near_the_loops():
    """Second differences across the loops are those of a smooth function, for redundant rows and for others."""
    for robot in (robots.load("five-bar"), bricard().robot):
        solve = methods.get("newton-euler").prepare(robot)
        q, v, _ = robot.sample(1, seed=3)
        off = np.random.default_rng(1).standard_normal(robot.nv)
        steps = np.linspace(-1e-3, 1e-3, 9)
        none = np.zeros((9, len(robot.actuated)))
        a = solve.forward_dynamics(q + steps[:, None] * off, np.repeat(v, 9, axis=0), none)
        fitted = np.polynomial.polynomial.Polynomial.fit(steps, a[:, 0], 3)
        assert np.abs(fitted(steps) - a[:, 0]).max() < 1e-6 * max(1.0, np.abs(a).max())


def test_bricard_passes_the_position_at_which_the_rows_of_home_are_singular():
    from dynbench.benchmarks.problems.bricard import shape

    robot = bricard().robot
    q = shape(0.5 * np.pi)
    solve = methods.get("newton-euler").prepare(robot)
    still = np.zeros(5)
    a = solve.forward_dynamics(q, still, np.array([0.7]))
    assert solve.inverse_dynamics(q, still, a) == pytest.approx([0.7], abs=1e-12)
    assert np.abs(robot.loop_jacobian(q) @ a + robot.loop_rate(q, still)).max() < 1e-12


def test_singular_states_of_a_batch_do_not_disturb_the_others():
    """Rows at which the partition is singular are done by the other kernel; regular ones are not touched."""
    bar = robots.five_bar(ground=0.7)
    q, v, a = bar.sample(10, seed=1)
    solve = methods.get("newton-euler").prepare(bar)
    tau = solve.inverse_dynamics(q, v, a)
    before = solve.forward_dynamics(q, v, tau)
    q[4], v[4] = [np.pi / 2, -np.pi / 2, np.pi / 2, np.pi / 2], 0.0  # couplers in line
    after = solve.forward_dynamics(q, v, tau)
    np.testing.assert_array_equal(np.delete(after, 4, axis=0), np.delete(before, 4, axis=0))
    A, M = bar.loop_jacobian(q[4]), methods.get("newton-euler").prepare(opened(bar)).mass_matrix(q[4])
    h = methods.get("newton-euler").prepare(opened(bar)).bias(q[4], v[4])
    force = np.zeros(4)
    force[bar.actuated] = tau[4]
    system = np.block([[M, -A.T], [A, np.zeros((2, 2))]])
    wanted = np.linalg.solve(system, np.r_[force - h, -bar.loop_rate(q[4], v[4])])[:4]
    assert relative(after[4], wanted) < 1e-10


def test_following_keeps_the_parallelogram_near_its_singular_position():
    """The accelerations are those of the one coordinate, down to 1e-6 rad from alignment."""
    problem = n_four_bar(2)
    follow = methods.get("newton-euler").prepare(problem.robot).follow
    for d in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6):
        found = follow.accepted(configuration(2, d), configuration(2, -3.0), np.zeros(1))
        exact = -9.81 * np.cos(d) * 3.5 / 3.0
        assert found.a == pytest.approx(configuration(2, exact), abs=1e-6 if d < 1e-3 else 1e-8)
        assert found.ratio == pytest.approx(d, rel=0.9)


# Redundant actuation --------------------------------------------------------------------------------------------------


def redundant(actuated: list[int], weights=None) -> Robot:
    return dataclasses.replace(bricard().robot, actuated=np.array(actuated), force_weights=weights)


def test_more_actuators_than_freedoms_share_the_force():
    one, two = bricard().robot, redundant([0, 2])
    q, v, a = one.sample(6, seed=5)
    alone = methods.get("newton-euler").prepare(one).inverse_dynamics(q, v, a)
    solve = methods.get("newton-euler").prepare(two)
    shared = solve.inverse_dynamics(q, v, a)
    # the first and the third angle are the same: so is their force, half each
    assert relative(shared, 0.5 * np.repeat(alone, 2, axis=1)) < 1e-10
    assert relative(solve.forward_dynamics(q, v, shared), a) < 1e-10
    null = two.internal_forces(q)
    assert null.shape == (6, 2, 1)
    assert relative(solve.forward_dynamics(q, v, shared + 3.0 * null[:, :, 0]), a) < 1e-10
    for quantity in ("mass_matrix", "bias", "multipliers"):
        with pytest.raises(NotComputedError, match=quantity):
            getattr(solve, quantity)


def test_weights_move_the_force_to_the_stronger_actuator():
    two = redundant([0, 2], [1.0, 3.0])
    q, v, a = two.sample(4, seed=5)
    shared = methods.get("newton-euler").prepare(two).inverse_dynamics(q, v, a)
    assert relative(shared[:, 0], 3.0 * shared[:, 1]) < 1e-10
    equal = methods.get("newton-euler").prepare(redundant([0, 2])).inverse_dynamics(q, v, a)
    assert relative(shared.sum(axis=1), equal.sum(axis=1)) < 1e-10


def test_three_actuators_have_two_internal_forces():
    three = redundant([0, 1, 2])
    q, v, a = three.sample(3, seed=1)
    solve = methods.get("newton-euler").prepare(three)
    tau, null = solve.inverse_dynamics(q, v, a), three.internal_forces(q)
    assert null.shape == (3, 3, 2)
    assert np.abs(np.einsum("sij,si->sj", null, tau)).max() < 1e-10  # least norm: no internal part
    assert relative(solve.forward_dynamics(q, v, tau), a) < 1e-10
