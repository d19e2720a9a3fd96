"""Scenarios: through Python and as machine code the same motion, step for step scipy's; what cannot go on says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynbench import methods, robots
from dynbench.benchmarks.simulation.equations import EquationsOfMotion, why_not
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Measure, Scenario
from dynbench.robots.errors import UnknownNameError


@pytest.fixture(scope="module")
def swing() -> Scenario:
    """A two-link arm under constant torques, left from rest."""
    robot = robots.load("two-link")
    return Scenario(
        name="swing",
        title="a two-link arm under constant torques",
        robot=robot,
        q0=np.array([0.3, -0.4]),
        v0=np.zeros(2),
        horizon=2.0,
        inputs=Torques.constant([1.0, -0.5]),
        measures={"work": Measure(lambda found: (found.q - found.q[0]) @ [1.0, -0.5], "J")},
    )


@pytest.mark.parametrize("solver", ["RK45", "DOP853"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_explicit_runs_are_scipys_step_for_step(swing, solver, rtol):
    found = swing.run(solver=solver, rtol=rtol, atol=1e-2 * rtol)
    equations = EquationsOfMotion(methods.get("newton-euler").prepare(swing.robot), swing.inputs)
    y0 = equations.start(swing.q0, swing.v0)
    theirs = solve_ivp(equations, (0.0, swing.horizon), y0, method=solver, rtol=rtol, atol=1e-2 * rtol)
    assert found.evaluations == theirs.nfev == equations.evaluations
    # an error estimate is a small difference of large numbers: rounding moves the steps, in their later digits
    np.testing.assert_allclose(found.t, theirs.t, rtol=1e-5)
    np.testing.assert_allclose(found.q[-1], theirs.y[:2, -1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("solver", ["RK45", "DOP853", "Radau", "BDF", "LSODA", "ode45"])
def test_all_integrators_and_both_roads_end_at_the_same_place(swing, solver):
    tight = swing.run(rtol=1e-12, atol=1e-13)
    compiled = swing.run(solver=solver, rtol=1e-8, atol=1e-10)
    assert np.abs(compiled.q[-1] - tight.q[-1]).max() < 1e-5
    if solver != "ode45":
        python = swing.run(solver=solver, rtol=1e-8, atol=1e-10, times=np.array([swing.horizon]))
        assert np.abs(python.q[-1] - tight.q[-1]).max() < 1e-5


def test_the_jacobian_is_that_of_the_equations(swing):
    equations = EquationsOfMotion(methods.get("newton-euler").prepare(swing.robot), swing.inputs)
    y = equations.start(np.array([0.3, 0.7]), np.array([1.0, -2.0]))
    found, h = equations.jacobian(0.0, y), 1e-5
    for k, step in enumerate(h * np.eye(4)):
        wanted = (equations(0.0, y + step) - equations(0.0, y - step)) / (2.0 * h)
        np.testing.assert_allclose(found[:, k], wanted, rtol=1e-6, atol=1e-6)


def test_measures_and_energy(swing):
    found = swing.run(rtol=1e-11, atol=1e-12)
    assert found["work"][-1] == pytest.approx(found.energy[-1] - found.energy[0], abs=1e-8)
    assert found.seconds.wall > 0.0
    with pytest.raises(UnknownNameError, match="'swing' does not measure 'wrok'; did you mean 'work'"):
        found["wrok"]
    with pytest.raises(UnknownNameError, match="no integrator is called 'RK54'; did you mean 'RK45'"):
        swing.run(solver="RK54")


@pytest.mark.parametrize("solver", ["RK45", "Radau", "ode45"])
@pytest.mark.parametrize("times", [None, [2.0]])
def test_a_run_that_takes_too_long_is_given_up_and_says_so(swing, solver, times):
    if times and solver == "ode45":
        pytest.skip("only as machine code")
    wanted = None if times is None else np.array(times)
    how = {"solver": solver, "rtol": 1e-10, "atol": 1e-12, "limit": 60, "times": wanted}
    with pytest.raises(RuntimeError, match=r"'swing' by newton-euler, .*more than 60 right-hand sides at t = "):
        swing.run(**how)
    found = swing.run(**how, partial=True)
    assert "more than 60" in found.reason
    assert found.t[-1] < 2.0


def test_quaternions_go_through_python_and_stay_unit():
    robot = robots.load("space-dual-arm")
    solver = methods.get("newton-euler").prepare(robot)
    assert "quaternions" in why_not(solver)
    v0 = np.random.default_rng(0).standard_normal(robot.nv)
    drift = Scenario("drift", "", robot, robot.neutral(), v0, 0.5, Torques.constant(np.zeros(robot.nv)))
    assert not drift.compiles(solver)
    found = drift.run(rtol=1e-9, atol=1e-11)
    for start, _ in robot.quaternions:
        np.testing.assert_allclose(np.linalg.norm(found.q[:, start : start + 4], axis=1), 1.0, atol=1e-15)
    assert np.ptp(found.energy) < 1e-6


def test_what_asks_python_anything_is_not_machine_code(swing):
    solver = methods.get("newton-euler").prepare(swing.robot)
    assert swing.compiles(solver)
    assert not replace(swing, inputs=lambda t, q, v: np.zeros(2)).compiles(solver)
    assert not replace(swing, events=[lambda t, q, v: q[0]]).compiles(solver)
    assert not replace(swing, switches=[1.0]).compiles(solver)
    with pytest.raises(ValueError, match="quaternions"):
        EquationsOfMotion(methods.get("newton-euler").prepare(robots.load("space-dual-arm")), swing.inputs)


def test_tables_of_forces():
    t = np.linspace(0.0, 2.0, 200, endpoint=False)
    wave = Torques.through(np.column_stack([np.sin(np.pi * t), np.cos(np.pi * t)]), 2.0)
    assert wave(0.37) == pytest.approx([np.sin(0.37 * np.pi), np.cos(0.37 * np.pi)], abs=1e-6)
    assert wave(4.37) == pytest.approx(wave(0.37), abs=1e-12)
    assert Torques.constant([1.0, 2.0])(17.3).tolist() == [1.0, 2.0]
