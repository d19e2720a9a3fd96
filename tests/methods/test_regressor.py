"""The regressor: tau = Y theta on trees and loops, the same as Pinocchio's, and of the rigid bodies alone."""

from __future__ import annotations

import numpy as np
import pytest
from looped import doubled_parallelogram
from round_trip import relative, seeds, tree_of
from traced_cases import plain

from dynbench import methods, robots
from dynbench.methods.kernels.count import count_polynomial
from dynbench.robots import extras, inertial
from dynbench.robots.errors import NotComputedError, StateError
from dynbench.robots.robot import Robot

STATES = 9
FORCES = 1e-12  # of the sum of absolute terms
WHOLE = 1e-12  # of the largest entry
TALOS = pytest.param("talos", marks=pytest.mark.skipif("talos" not in robots.names(), reason="needs a package"))


def forces_error(Y: np.ndarray, theta: np.ndarray, tau: np.ndarray) -> float:
    return float((np.abs(Y @ theta - tau).max(axis=1) / (np.abs(Y) @ np.abs(theta)).max(axis=1)).max())


def assert_right(robot: Robot, seed: int, code: str = "generic") -> None:
    """tau = Y theta, Y is that of numpy, and that of Pinocchio if it is installed; batch and single."""
    solver = methods.get("newton-euler").prepare(robot, code=code)
    q, v, a = robot.sample(STATES, seed=seed)
    Y = solver.regressor(q, v, a)
    assert Y.shape == (STATES, robot.nv, 10 * robot.n)
    judge = inertial.regressor(robot, q, v, a)
    assert relative(Y, judge) <= WHOLE, f"seed {seed}"
    assert relative(solver.regressor(q[0], v[0], a[0])[None], judge[:1]) <= WHOLE, f"seed {seed}"
    tau = solver.inverse_dynamics(q, v, a) - extras.forces(robot, v, a)  # talos has damping
    assert forces_error(Y, robot.inertial_parameters(), tau) <= FORCES, f"seed {seed}"
    if methods.get("pinocchio").unavailable() is None:
        theirs = methods.get("pinocchio").prepare(robot)
        assert relative(Y, theirs.regressor(q, v, a)) <= WHOLE, f"seed {seed}"
        assert relative(Y[:1], theirs.regressor(q[0], v[0], a[0])[None]) <= WHOLE, f"seed {seed}"


def test_one_turning_body_has_the_row_of_the_textbook():
    """About z with gravity along -y: tau = J_zz a + g (mx cos q - my sin q)."""
    body = robots.Body(name="bar", joint=robots.Revolute([0, 0, 1]), mass=1.0, com=[0.3, 0.1, 0], inertia=[1, 1, 1])
    robot = Robot.from_bodies("bar", [body], gravity=[0, -9.81, 0])
    q, v, a = 0.4, 1.3, -0.7
    row = [0, 9.81 * np.cos(q), -9.81 * np.sin(q), 0, 0, 0, 0, 0, 0, a]
    for code in ("generic", "traced"):
        Y = methods.get("newton-euler").prepare(robot, code=code).regressor([q], [v], [a])
        np.testing.assert_allclose(Y, [row], rtol=0, atol=1e-14)


@pytest.mark.parametrize("trees", seeds((3, 6, 9, 12), 20), ids=str)
def test_random_trees(trees):
    for seed in trees:
        assert_right(tree_of(seed), seed)


@pytest.mark.parametrize("name", ["panda", "ur5", TALOS])
def test_robots(name):
    assert_right(robots.load(name), 1)


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_traced(name):
    assert_right(robots.load(name), 2, "traced")


@pytest.mark.parametrize("name", ["four-bar", "3rrr", "delta"])
def test_loops_by_projection(name):
    robot = robots.load(name)
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(STATES, seed=4)
    Y = solver.regressor(q, v, a)
    assert Y.shape == (STATES, len(robot.actuated), 10 * robot.n)
    assert forces_error(Y, robot.inertial_parameters(), solver.inverse_dynamics(q, v, a)) <= FORCES
    # the kernel for singular states and redundant loops gives the same
    other = plain(solver.runs["regressor"].otherwise, [q[:2], v[:2], a[:2]])
    assert relative(other, Y[:2]) <= WHOLE
    # rows of the actuators span those of the motions that the loops leave free
    found = robots.base_parameters(robot)
    assert np.abs(Y @ found.null).max() <= 1e-12 * np.abs(Y).max()


@pytest.mark.long
@pytest.mark.parametrize("name", ["four-bar", "3rrr"])
def test_loops_in_generic_code(name):
    robot = robots.load(name)
    solver = methods.get("newton-euler").prepare(robot)
    q, v, a = robot.sample(STATES, seed=4)
    Y = solver.regressor(q, v, a)
    assert forces_error(Y, robot.inertial_parameters(), solver.inverse_dynamics(q, v, a)) <= FORCES
    assert relative(solver.regressor(q[0], v[0], a[0])[None], Y[:1]) <= WHOLE
    q[3] += 0.1
    with pytest.raises(StateError, match=r"q\[3\] is off the loops"):
        solver.regressor(q, v, a)


def test_redundant_loops_in_plain_python():
    robot = doubled_parallelogram()
    runs = methods.get("newton-euler").prepare(robot).runs
    q, v, a = robot.sample(2, seed=0)
    Y, tau = (plain(runs[name], [q, v, a]) for name in ("regressor", "inverse_dynamics"))
    assert forces_error(Y, robot.inertial_parameters(), tau) <= FORCES


def test_it_is_of_the_rigid_bodies_alone():
    base = {"mass": 1.0, "com": [0.2, 0.1, 0.0], "inertia": [0.02, 0.03, 0.04]}
    bodies = [
        robots.Body(name="a", joint=robots.Revolute([0, 1, 0]), armature=0.5, damping=0.3, friction=0.2, **base),
        robots.Body(name="b", parent="a", joint=robots.Revolute([1, 0, 0]), damping=0.1, **base),
    ]
    robot = Robot.from_bodies("extras", bodies)
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(STATES, seed=0)
    Y, tau = solver.regressor(q, v, a), solver.inverse_dynamics(q, v, a)
    assert np.abs(extras.forces(robot, v, a)).max() > 0.1
    assert forces_error(Y, robot.inertial_parameters(), tau - extras.forces(robot, v, a)) <= FORCES
    spring = robots.Spring(body1=None, body2="b", point1=[1.0, 0, 0], stiffness=50.0)
    sprung = methods.get("newton-euler").prepare(Robot.from_bodies("sprung", bodies, springs=[spring]), code="traced")
    np.testing.assert_allclose(sprung.regressor(q, v, a), Y, atol=1e-13)


def test_external_wrenches_are_no_argument():
    robot = robots.load("two-link")
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(1)
    peers = [] if methods.get("pinocchio").unavailable() else [methods.get("pinocchio").prepare(robot).regressor]
    for call in (solver.regressor, *peers):
        with pytest.raises(TypeError, match="wrench"):
            call(q, v, a, wrench=np.zeros((2, 6)))
    with pytest.raises(StateError, match="external wrenches do not change regressor"):
        solver.handle("regressor", wrench=True)
    out = np.empty(40)
    assert solver.handle("regressor")(q[0], v[0], a[0], None, out) == 0
    np.testing.assert_array_equal(out, solver.regressor(q[0], v[0], a[0]).ravel())


def test_methods_without_it_say_so():
    with pytest.raises(NotComputedError, match="'kane' does not compute 'regressor'"):
        methods.get("kane").prepare(robots.load("two-link")).regressor  # noqa: B018


def test_operations_grow_with_bodies_times_depth():
    found = count_polynomial(methods.get("newton-euler"), robots.chain, "regressor", (2, 3, 4, 5, 6))
    assert found["flops"].degree == 2
