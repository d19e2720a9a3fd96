"""Motion of closed loops in actuated coordinates alone: the others go along, by no shortcut and at any tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.simulation.equations import EquationsOfMotion
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.integrators import integrate
from dynbench.benchmarks.simulation.scenario import Recording, Scenario

SOLVERS = ("RK45", "DOP853", "ode45", "Radau", "LSODA")


def let_go(robot: str, seed: int) -> Scenario:
    """A robot without any forces, as campaigns let it go."""
    machine = robots.load(robot)
    q, v, _ = machine.sample(1, seed=seed, regime="slow")
    still = Torques.constant([0.0] * len(machine.actuated))
    return Scenario("free motion", "", machine, q[0], v[0], 0.5, still, methods=("denoc",))


@pytest.fixture(scope="module")
def tight() -> Recording:
    return let_go("four-bar", 4).run(rtol=1e-12, atol=1e-14)


def test_a_recording_is_closed_from_its_first_state_on(tight):
    """Closed from the end of the run, which is 1.7 rad away, its beginning would be turns and another assembly off."""
    assert np.ptp(tight.q[:, 0]) > 1.5
    np.testing.assert_allclose(tight.q[0], tight.scenario.q0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(tight.v[0], tight.scenario.v0, rtol=0, atol=1e-12)
    assert np.abs(tight.robot.loop_residual(tight.q)).max() < 1e-12
    assert np.abs(np.diff(tight.q, axis=0)).max() < 1.0
    assert np.ptp(tight.energy) < 1e-10


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_error_of_a_run_is_its_tolerances(tight, solver, rtol):
    """Not the turns that it lost: the transmission angle is never below 40 degrees, there is nothing singular here."""
    found = tight.scenario.run(solver=solver, rtol=rtol, atol=1e-2 * rtol)
    assert np.abs(found.q[-1] - tight.q[-1]).max() < 20.0 * rtol
    assert np.abs(found.robot.loop_residual(found.q)).max() < 1e-9


@pytest.fixture
def four_bar() -> tuple[EquationsOfMotion, np.ndarray]:
    case = let_go("four-bar", 4)
    equations = EquationsOfMotion(methods.get("denoc").prepare(case.robot), case.inputs)
    return equations, equations.start(case.q0, case.v0)


@pytest.mark.parametrize("turns", [1, -3])
def test_a_turn_of_the_crank_takes_the_coupler_along_and_the_rocker_back(four_bar, turns):
    equations, y = four_bar
    before = equations(0.0, y)
    start = equations.memory[:3].copy()
    after = equations(0.0, y + np.array([turns * 2.0 * np.pi, 0.0]))
    assert equations.memory[:3] - start == pytest.approx(turns * 2.0 * np.pi * np.array([1.0, -1.0, 0.0]), abs=1e-9)
    assert after == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize("nonsense", [np.nan, np.inf, 1e9])
def test_what_cannot_be_is_no_number_and_leaves_nothing_behind(four_bar, nonsense):
    equations, y = four_bar
    before = equations(0.0, y)
    known = equations.memory.copy()
    assert np.isnan(equations(0.0, np.array([nonsense, 0.0]))[1])
    np.testing.assert_array_equal(equations.memory, known)
    assert equations(0.0, y) == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("seed", [1, 9])
def test_steps_that_are_rejected_leave_nothing_behind(seed):
    """Trial stages of a loose run lead out of reach, or to another assembly; the next must not begin there."""
    case = let_go("delta", seed)
    loose = case.run(solver="RK45", rtol=1e-3, atol=1e-5)
    assert np.abs(loose.q[-1] - case.run(rtol=1e-10, atol=1e-12).q[-1]).max() < 0.1


def test_a_run_in_actuated_coordinates_into_a_singular_configuration_says_so():
    case = let_go("five-bar", 1)
    motion = EquationsOfMotion(methods.get("denoc").prepare(case.robot), case.inputs)
    steps = integrate(motion, motion.start(case.q0, case.v0), 0.5, "RK45", 1e-6, 1e-8, 20_000)
    q, _ = motion.states(steps.t, steps.y)
    assert not steps.finished
    assert ", at a singular configuration: what is actuated does not hold the loops (condition" in motion.remark(q[-1])
    assert steps.t[-1] == pytest.approx(0.214, abs=1e-3)


def test_a_configuration_that_is_singular_for_what_is_actuated_is_passed():
    """The loops are regular there: forces of the actuators do not determine the motion, the motion goes on."""
    case = let_go("five-bar", 1)
    found = case.run(solver="RK45", rtol=1e-8, atol=1e-10, limit=20_000)
    assert (found.reason, found.singular) == ("", ())
    assert found.t[-1] == case.horizon
    assert np.ptp(found.energy) < 1e-6
    assert np.abs(found.robot.loop_residual(found.q)).max() < 1e-14
    other = case.run("newton-euler", rtol=1e-10, atol=1e-12)
    assert np.abs(found.q[-1] - other.q[-1]).max() < 1e-5
