"""Benchmark problems with known answers: data, exact solutions, and motions through singular positions."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods
from dynbench.benchmarks.problems.andrews import andrews
from dynbench.benchmarks.problems.bricard import bricard, one_coordinate, shape
from dynbench.benchmarks.problems.n_four_bar import configuration, n_four_bar
from dynbench.benchmarks.problems.pendulum import pendulum
from dynbench.benchmarks.problems.problem import Problem
from dynbench.benchmarks.problems.random_loops import KINDS, random_loop
from dynbench.benchmarks.simulation.simulate import StoppedError, Trajectory, simulate
from dynbench.robots import Robot, StateError

EXACT = ("newton-euler", "gibbs-appell", "denoc", "lagrange-euler")


def run(problem: Problem, method: str = "newton-euler", rtol: float = 1e-9, **options) -> Trajectory:
    times = options.pop("times", np.linspace(0.0, problem.horizon, 101))
    solver = methods.get(method).prepare(problem.robot)
    start = problem.q0, problem.v0, problem.force, problem.horizon
    return simulate(solver, *start, times=times, rtol=rtol, atol=0.1 * rtol, limit=8000, **options)


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


# Motions --------------------------------------------------------------------------------------------------------------


def test_the_pendulum_to_eleven_digits():
    found = run(pendulum(), rtol=1e-13)
    problem = pendulum()
    assert max(problem.error(t, q, v) for t, q, v in zip(found.t, found.q, found.v, strict=True)) < 1e-11


@pytest.mark.parametrize("method", [EXACT[0], *(pytest.param(name, marks=pytest.mark.long) for name in EXACT[1:])])
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
def test_the_n_four_bar_of_forty_loops():
    problem = n_four_bar(40)
    found = run(problem, rtol=1e-10, times=np.linspace(0.0, 10.0, 11))
    assert problem.error(10.0, found.q[-1], found.v[-1]) < 1e-6
    assert problem.energy_error(found.q, found.v) < 1e-6


@pytest.mark.parametrize(("N", "speeds"), [(2, np.linspace(0.9, 1.1, 4)), (7, [0.94])])
def test_no_initial_speed_is_lost(N, speeds):
    followed(N, speeds)


@pytest.mark.long
@pytest.mark.parametrize(("N", "count"), [(2, 20), (7, 11)])
def test_none_of_many_initial_speeds_is_lost(N, count):
    followed(N, np.linspace(0.9, 1.1, count))


def followed(N: int, speeds) -> None:
    for speed in speeds:
        problem = n_four_bar(N, float(speed))
        found = run(problem, times=np.linspace(0.0, 10.0, 21))
        assert problem.error(10.0, found.q[-1], found.v[-1]) < 2e-6, speed
        assert problem.energy_error(found.q, found.v) < 1e-6, speed
        assert found.evaluations < 4000


def test_a_start_exactly_at_the_singular_position():
    problem = n_four_bar(2, start=0.0)
    solver = methods.get("newton-euler").prepare(problem.robot)
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


@pytest.mark.parametrize("method", [EXACT[0], *(pytest.param(name, marks=pytest.mark.long) for name in EXACT[1:])])
def test_bricards_mechanism_turns_all_the_way(method):
    problem = bricard()
    found = run(problem, method)
    for t, q, v in zip(found.t, found.q, found.v, strict=True):
        assert problem.error(t, q, v) < 1e-7
    assert problem.energy_error(found.q, found.v) < 1e-8
    assert found.singular == ()
    assert found.evaluations < 1500


def test_andrews_mechanism_and_work_that_follows_the_tolerance():
    problem = andrews()
    end = np.array([problem.horizon])
    coarse = run(problem, rtol=1e-4, times=end)
    assert coarse.evaluations < 600
    fine = run(problem, rtol=1e-12, times=end)
    assert 2500 < fine.evaluations < 4000
    assert problem.error(problem.horizon, fine.q[-1], fine.v[-1]) < 1e-9
    assert problem.energy_error(fine.q, fine.v) < 1e-12
    medium = run(problem, rtol=1e-9, times=end)
    assert coarse.evaluations < medium.evaluations < fine.evaluations
    assert problem.error(problem.horizon, medium.q[-1], medium.v[-1]) < 2e-9


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


def stress(seeds: range) -> None:
    for seed in seeds:
        robot = random_loop(seed)
        assert robot.loop_analysis.dof == 1, seed
        assert robot.loop_analysis.redundant, seed
        solver = methods.get("newton-euler").prepare(robot)
        found = simulate(
            solver, robot.home, np.zeros(robot.nv), lambda t, q, v: np.zeros(1), 1.0, times=np.linspace(0.0, 1.0, 11),
            rtol=1e-9, atol=1e-10, limit=20_000, partial=True,
        )  # fmt: skip
        assert np.isfinite(found.q).all(), (seed, robot.name)
        assert found.reason == "", (seed, robot.name, found.reason)
        assert np.ptp(robot.energy(found.q, found.v)) < 1e-6, (seed, robot.name)


def test_random_redundant_loops_are_followed():
    stress(range(6 * len(KINDS)))


@pytest.mark.long
def test_a_thousand_random_redundant_loops_are_followed():
    stress(range(1000))
