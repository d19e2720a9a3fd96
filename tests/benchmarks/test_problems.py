"""Benchmark problems with known answers: data, exact solutions, and motions through singular positions."""

from __future__ import annotations

import numpy as np
import pytest
from random_loops import KINDS, random_loop

from dynbench import methods
from dynbench.benchmarks.problems.andrews import andrews
from dynbench.benchmarks.problems.bricard import bricard, one_coordinate, shape
from dynbench.benchmarks.problems.flyball_governor import ANSWERS, SPEEDS, flyball_governor, reduced, state
from dynbench.benchmarks.problems.n_four_bar import configuration, n_four_bar
from dynbench.benchmarks.problems.pendulum import pendulum
from dynbench.benchmarks.problems.problem import Problem
from dynbench.benchmarks.problems.spatial_slider_crank import configuration as crank_position
from dynbench.benchmarks.problems.spatial_slider_crank import inertia_and_weight, spatial_slider_crank, velocity
from dynbench.benchmarks.simulation.simulate import StoppedError, Trajectory, simulate
from dynbench.robots import Robot, StateError

EXACT = (
    "newton-euler", "gibbs-appell", "denoc", "lagrange-euler", "udwadia-kalaba", "augmented-lagrangian",
    "maximal-coordinates", "constraint-embedding", "maggi",
)  # fmt: skip
others = (pytest.param(name, marks=pytest.mark.long) for name in EXACT[1:])
each = pytest.mark.parametrize("method", [EXACT[0], *others])


def run(problem: Problem, method: str = "newton-euler", rtol: float = 1e-9, **options) -> Trajectory:
    times = options.pop("times", np.linspace(0.0, problem.horizon, 101))
    solver = methods.get(method).prepare(problem.robot)
    start = problem.q0, problem.v0, problem.force, problem.horizon
    options = {"limit": 8000, **options}
    return simulate(solver, *start, times=times, rtol=rtol, atol=0.1 * rtol, **options)


# Answers --------------------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_published_tables():
    two, forty = n_four_bar(2), n_four_bar(40)
    assert two.answer(1.0) == pytest.approx([-0.195020302, -0.980799206, -6.676678037, 1.327578325], abs=1e-9)
    assert two.answer(10.0) == pytest.approx([0.328458112, 0.944518538, 1.423051470, -0.494868845], abs=1e-8)
    assert forty.answer(1.0) == pytest.approx([-0.115356881, -0.993324111, -6.669987524, 0.774600099], abs=1e-9)
    assert forty.answer(10.0) == pytest.approx([0.180512227, 0.983572741, 1.148441277, -0.210770067], abs=1e-8)
    assert bricard().answer(1.0) == pytest.approx([1.0350284595, 0.51050146, -1.6491676, 0.14012311], abs=1e-7)
    assert one_coordinate()(2.49585576) == pytest.approx([np.pi, 0.0], abs=1e-6)  # the turning point


def test_bricards_shape_is_closed():
    robot = bricard().robot
    assert np.abs(robot.loop_residual(shape(np.linspace(0.0, np.pi, 20)))).max() < 1e-14
    assert robot.loop_analysis[:3] == (5, 4, 1)


def test_andrews_reference_is_printed_for_the_end_alone():
    problem = andrews()
    assert np.abs(problem.robot.loop_residual(problem.q0)).max() < 1e-15
    with pytest.raises(ValueError, match=r"printed for t = 0.03 s, not for 0.01 s"):
        problem.answer(0.01)


def test_the_slider_cranks_formulas_are_those_of_the_robot():
    robot = spatial_slider_crank().robot
    rest = robot.energy(crank_position(0.0), np.zeros(4)) - inertia_and_weight(np.array(0.0))[1]
    for theta in np.linspace(0.0, 6.0, 13):
        q, v = crank_position(theta), velocity(theta, 1.0)
        assert np.abs(robot.loop_residual(q)).max() < 1e-15
        assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-15
        mass, weight = inertia_and_weight(np.array(theta))
        assert 2.0 * (robot.energy(q, v) - robot.energy(q, 0.0 * v)) == pytest.approx(mass, rel=1e-13)
        assert robot.energy(q, 0.0 * v) - rest == pytest.approx(weight, rel=1e-13)
    # the velocities that a published model starts from: of the rod's middle, and of the slider
    v = spatial_slider_crank().v0
    middle = robot.frame_velocity("rod", crank_position(0.0), v)
    half = np.array([-0.1, 0.05, 0.1])  # from C to the middle of BC, world axes
    assert middle[:3] + np.cross(middle[3:], half) == pytest.approx([0.12, -0.24, 0.0], abs=1e-14)
    assert v[1] == pytest.approx(0.24, abs=1e-15)


@pytest.mark.parametrize("name", SPEEDS)
def test_the_governors_three_coordinates_are_the_motion_of_the_robot(name):
    """At the states of the table: the same accelerations by both, and no power but that of the dampers."""
    robot = flyball_governor(name).robot
    _, rates = reduced(SPEEDS[name])
    solver = methods.get("newton-euler").prepare(robot)
    for row in map(np.array, ANSWERS[name]):
        q, v = state(row, SPEEDS[name])
        a = solver.forward_dynamics(q, v, np.zeros(4))
        # at rest against the dampers the springs' forces cancel to 1e-9 of their size
        assert a[[2, 1]] == pytest.approx(rates(0.0, row)[3:], abs=1e-7)
        assert a[2] == pytest.approx(a[3], abs=1e-9)


@pytest.mark.parametrize("name", [*SPEEDS][:1])
def test_the_first_second_of_the_governors_table(name):
    from scipy.integrate import solve_ivp

    start, rates = reduced(SPEEDS[name])
    found = solve_ivp(rates, (0.0, 1.0), start, "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    assert found == pytest.approx(ANSWERS[name][0], abs=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("name", SPEEDS)
def test_the_governors_table(name):
    from scipy.integrate import solve_ivp

    y, rates = reduced(SPEEDS[name])
    for k, row in enumerate(ANSWERS[name]):
        y = solve_ivp(rates, (k, k + 1.0), y, "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        assert y == pytest.approx(row, abs=1e-10)


def test_the_governors_answers_are_for_whole_seconds():
    problem = flyball_governor()
    with pytest.raises(ValueError, match=r"for t = 1, 2, ..., 10 s, not for 0.5 s"):
        problem.answer(0.5)
    with pytest.raises(ValueError, match="its energy depends on time; expected t, got None"):
        problem.energy_error(problem.q0[None], problem.v0[None])


# Motions --------------------------------------------------------------------------------------------------------------


def test_the_pendulum_to_eleven_digits():
    found = run(pendulum(), rtol=1e-13)
    problem = pendulum()
    assert max(problem.error(t, q, v) for t, q, v in zip(found.t, found.q, found.v, strict=True)) < 1e-11


@each
def test_the_n_four_bar_goes_through_its_singular_positions(method):
    problem = n_four_bar(2)
    found = run(problem, method, rtol=1e-10)
    assert problem.error(10.0, found.q[-1], found.v[-1]) < 1e-6
    assert problem.energy_error(found.q, found.v) < 1e-6
    assert found.evaluations < 3000
    assert np.abs(problem.robot.loop_residual(found.q)).max() < 1e-14
    # all bars are on one line at theta = 0, -pi, ..., where as many directions are lost as there are loops
    assert len(found.singular) == 10
    assert {passed.dropped for passed in found.singular} == {2}
    assert max(passed.ratio for passed in found.singular) < 1e-4
    for passed in found.singular:
        assert problem.answer(passed.t)[1] == pytest.approx(0.0, abs=1e-4)
    assert "on the branch of continuous velocity" in str(found.singular[0])


@pytest.mark.long
@pytest.mark.parametrize("method", EXACT)
def test_the_n_four_bar_of_forty_loops(method):
    problem = n_four_bar(40)
    found = run(problem, method, rtol=1e-10, times=np.linspace(0.0, 10.0, 11))
    assert max(problem.error(t, q, v) for t, q, v in zip(found.t, found.q, found.v, strict=True)) < 1e-6
    assert problem.energy_error(found.q, found.v) < 1e-6
    assert found.evaluations < 4000
    assert {passed.dropped for passed in found.singular} == {40}


@pytest.mark.parametrize(("N", "speeds"), [(2, np.linspace(0.9, 1.1, 4)), (7, [0.94])])
def test_no_initial_speed_is_lost(N, speeds):
    followed(N, speeds)


@pytest.mark.long
@pytest.mark.parametrize(("N", "count"), [(2, 20), (7, 11)])
@pytest.mark.parametrize("method", EXACT)
def test_none_of_many_initial_speeds_is_lost(method, N, count):
    """At 1e-10: at 1e-9 denoc has 1.3e-6 J at one speed, where a step ends 4e-4 rad from a singular position."""
    followed(N, np.linspace(0.9, 1.1, count), method, 1e-10)


def followed(N: int, speeds, method: str = EXACT[0], rtol: float = 1e-9) -> None:
    for speed in speeds:
        problem = n_four_bar(N, float(speed))
        found = run(problem, method, rtol, times=np.linspace(0.0, 10.0, 21))
        assert problem.error(10.0, found.q[-1], found.v[-1]) < 2e-6, speed
        assert problem.energy_error(found.q, found.v) < 1e-6, speed
        assert found.evaluations < 4000


@each
def test_a_start_exactly_at_the_singular_position(method):
    problem = n_four_bar(2, start=0.0)
    solver = methods.get(method).prepare(problem.robot)
    found = simulate(
        solver, problem.q0, problem.v0, problem.force, 2.0, times=np.array([2.0]), rtol=1e-9, atol=1e-10, limit=2000
    )
    assert problem.error(2.0, found.q[-1], found.v[-1]) < 1e-7
    assert found.singular[0].t == 0.0


def test_a_home_at_the_singular_position():
    robot = n_four_bar(2).robot
    fields = {name: getattr(robot, name) for name in ("name", "body_names", "joint_names", "parent", "kind", "axis")}
    fields |= {name: getattr(robot, name) for name in ("rotation", "translation", "mass", "com", "inertia", "gravity")}
    aligned = Robot(**fields, loops=robot.loops, actuated=robot.actuated, home=configuration(2, 0.0))
    assert aligned.loop_analysis[:3] == (4, 4, 1)
    q, _, _ = aligned.sample(5)
    assert np.abs(aligned.loop_residual(q)).max() < 1e-14
    with pytest.raises(StateError, match="fewer than 4 of its loop equations are independent there"):
        methods.get("newton-euler").prepare(aligned).forward_dynamics(aligned.home, np.zeros(5), np.zeros(1))


@each
def test_bricards_mechanism_turns_all_the_way(method):
    problem = bricard()
    found = run(problem, method)
    for t, q, v in zip(found.t, found.q, found.v, strict=True):
        assert problem.error(t, q, v) < 1e-7
    assert problem.energy_error(found.q, found.v) < 1e-8
    assert found.singular == ()
    assert found.evaluations < 1500


@each
def test_andrews_mechanism_and_work_that_follows_the_tolerance(method):
    problem = andrews()
    end = np.array([problem.horizon])
    coarse = run(problem, method, rtol=1e-4, times=end)
    assert coarse.evaluations < 600
    fine = run(problem, method, rtol=1e-12, times=end)
    assert 2500 < fine.evaluations < 4000
    assert problem.error(problem.horizon, fine.q[-1], fine.v[-1]) < 1e-9
    assert problem.energy_error(fine.q, fine.v) < 1e-12
    medium = run(problem, method, rtol=1e-9, times=end)
    assert coarse.evaluations < medium.evaluations < fine.evaluations
    assert problem.error(problem.horizon, medium.q[-1], medium.v[-1]) < 2e-9


def test_the_spatial_slider_crank():
    problem = spatial_slider_crank()
    found = run(problem, rtol=1e-10, times=problem.times, limit=20_000)
    assert max(problem.error(t, q, v) for t, q, v in zip(found.t, found.q, found.v, strict=True)) < 1e-7
    assert problem.energy_error(found.q, found.v) < 1e-9


@pytest.mark.parametrize("name", SPEEDS)
def test_the_flyball_governor_by_an_implicit_integrator(name):
    """Its shaft is a coordinate that no rate depends on: differences of scipy's own overflow there."""
    problem = flyball_governor(name)
    found = run(problem, rtol=1e-6, times=problem.times, integrator="Radau", limit=100_000)
    assert max(problem.error(t, q, v) for t, q, v in zip(found.t, found.q, found.v, strict=True)) < 1e-6
    assert problem.energy_error(found.q, found.v, found.t) < 1e-4


# Partial runs ---------------------------------------------------------------------------------------------------------


def test_a_run_that_ends_early_is_a_result():
    problem = n_four_bar(2)
    with pytest.raises(StoppedError, match=r"robot 'n-four-bar-2', newton-euler: more than 300 right-hand") as info:
        simulate(
            methods.get("newton-euler").prepare(problem.robot), problem.q0, problem.v0, problem.force, 10.0, limit=300,
            rtol=1e-10, atol=1e-11,
        )  # fmt: skip
    found = info.value.trajectory
    assert 0.5 < found.t[-1] < 10.0
    assert len(found.t) > 10
    assert problem.error(found.t[-1], found.q[-1], found.v[-1]) < 1e-7
    assert problem.energy_error(found.q, found.v) < 1e-6
    assert found.evaluations == 301


def test_a_first_state_far_from_the_loops_is_refused_with_its_residual():
    problem = n_four_bar(2)
    solver = methods.get("newton-euler").prepare(problem.robot)
    with pytest.raises(StateError, match=r"q0 is off the loops of robot 'n-four-bar-2': the residual is 0.0"):
        simulate(solver, problem.q0 + 0.05 * np.eye(5)[0], problem.v0, problem.force, 1.0)
    with pytest.raises(StateError, match=r"v0 is off the loops of robot 'n-four-bar-2'"):
        simulate(solver, problem.q0, problem.v0 + 0.5 * np.eye(5)[0], problem.force, 1.0)


# Stress ---------------------------------------------------------------------------------------------------------------


def stress(seeds: range, method: str = EXACT[0]) -> None:
    for seed in seeds:
        robot = random_loop(seed)
        assert robot.loop_analysis.dof == 1, seed
        assert robot.loop_analysis.redundant, seed
        solver = methods.get(method).prepare(robot)
        found = simulate(
            solver, robot.home, np.zeros(robot.nv), lambda t, q, v: np.zeros(1), 1.0, times=np.linspace(0.0, 1.0, 11),
            rtol=1e-9, atol=1e-10, limit=20_000, partial=True,
        )  # fmt: skip
        assert np.isfinite(found.q).all(), (seed, robot.name)
        assert found.reason == "", (seed, robot.name, found.reason)
        assert np.ptp(robot.energy(found.q, found.v)) < 1e-6, (seed, robot.name)


@each
def test_random_redundant_loops_are_followed(method):
    stress(range(6 * len(KINDS)), method)


@pytest.mark.long
def test_a_thousand_random_redundant_loops_are_followed():
    stress(range(1000))
