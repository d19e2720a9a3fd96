"""What a free motion keeps: closed forms, the integrator by itself, and faults that nothing else of a method shows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from faults import FAULTS
from planted import Planted, Rough

from dynbench import methods, robots
from dynbench.benchmarks.checks import motion
from dynbench.benchmarks.checks.agreement import NotApplicable
from dynbench.benchmarks.checks.invariants import INVARIANTS, invariants
from dynbench.benchmarks.checks.sampling import draw
from dynbench.robots.families.trees import KINDS, random_tree

FLOATING = random_tree(5, seed=1, kinds=KINDS[:3], floating=True)
NEWTON_EULER = methods.get("newton-euler")


def in_motion(method, robot, states=14, seed=0):
    """The rows of what is kept, by name without its end."""
    solver = method.prepare(robot)
    solver.computes = ("forward_dynamics",)  # nothing else need be compiled
    rows = invariants(draw(robot, states, seed), solver, cond=100.0)
    known = {kept.name: kept.name.removesuffix(" in motion") for kept in motion.KEPT}
    return {known[row.measure]: row for row in rows if row.measure in known}


@pytest.mark.parametrize(
    ("robot", "kept"),
    [
        (robots.load("puma560"), {"energy"}),
        (FLOATING, {"energy", "linear momentum", "angular momentum", "unit quaternions"}),
        (random_tree(5, seed=1, kinds=KINDS), {"energy", "unit quaternions"}),
        (robots.load("3rrr"), {"energy", "closed loops"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_each_kind_of_robot_keeps_what_is_its_to_keep(robot, kept):
    rows = in_motion(NEWTON_EULER, robot)
    assert set(rows) == kept
    assert [row.measure for row in rows.values() if row.status != "agrees"] == []
    for row in rows.values():
        assert row.quantity == "forward_dynamics"
        assert row.states == motion.STATES
        assert row.tolerance == pytest.approx(motion.ROUNDING + motion.TIMES_ERROR * row.noise)
        assert row.tolerance < 1e-7


def test_the_pendulum_moves_on_along_its_closed_form():
    """From rest at the bottom a small swing is the cosine; the motion is long enough to tell."""
    robot = robots.load("pendulum")
    solver = NEWTON_EULER.prepare(robot)
    stiffness = float(solver.bias([1e-6], [0.0])[0] / 1e-6)
    omega = np.sqrt(stiffness / solver.mass_matrix([0.0])[0, 0])
    sample = draw(robot, 3, seed=0)
    sample.q[:], sample.v[:] = 1e-4, 0.0
    found = motion.free_motion(solver, sample)
    np.testing.assert_allclose(found.short[0][:, 0], 1e-4 * np.cos(omega * found.duration), rtol=1e-7)
    assert np.all(omega * found.duration > 0.05)


def test_the_integrator_alone_is_of_fourth_order():
    """On y'' = -y, whose solution is known, halving the step divides the error by sixteen."""

    def slope(state):
        return state[1], -state[0], 0.0 * state[2]

    errors = []
    for steps in (8, 16, 32):
        state, h = (np.array([[1.0]]), np.array([[0.0]]), np.array([[0.0]])), np.array([1.0 / steps])
        for _ in range(steps):
            state = motion.runge_kutta(slope, state, h)
        errors.append(abs(state[0][0, 0] - np.cos(1.0)))
    np.testing.assert_allclose([errors[0] / errors[1], errors[1] / errors[2]], 16.0, rtol=0.1)


def test_the_drift_of_a_right_model_is_the_integrators_and_falls_with_its_step():
    found = motion.free_motion(NEWTON_EULER.prepare(FLOATING), draw(FLOATING, 8, seed=0))
    for kept in motion.KEPT[:3]:
        long, short = (
            np.abs(kept.drift(FLOATING, found.start, end, found.duration)).max() for end in (found.long, found.short)
        )
        assert long > 8.0 * short


ALONE = [fault for fault in FAULTS if fault.label.endswith("in forward dynamics too")]


@pytest.mark.parametrize("fault", ALONE, ids=lambda fault: fault.label)
def test_what_does_no_work_is_seen_in_motion_and_nowhere_else(fault):
    """With no other method to compare with: every identity of one instant holds."""
    solver = fault.prepare(FLOATING)
    solver.computes = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    rows = invariants(draw(FLOATING, 14, seed=0), solver, cond=1e4)
    wrong = {row.measure for row in rows if row.status != "agrees"}
    assert wrong
    planted = {"handle equals call", "made for this robot"}  # the fault is in the calls of this solver alone
    assert wrong <= {"linear momentum in motion", "angular momentum in motion", *planted}
    assert wrong - planted
    assert {"power balance", "forward undoes inverse", "columns are M"} <= {row.measure for row in rows}


class ForwardOnly(Planted):
    """A method that computes nothing else, so that nothing else of it can be asked."""

    computes: ClassVar[tuple[str, ...]] = ("forward_dynamics",)


@pytest.mark.parametrize("friction", [0.0, 1e-6])
def test_friction_shows_in_a_method_that_has_forward_dynamics_only(friction):
    method = ForwardOnly({"forward_dynamics": lambda call, q, v, t, w: call(q, v, t - friction * v, w)})
    row = in_motion(method, robots.chain(3))["energy"]
    assert row.status == ("differs" if friction else "agrees")


def test_what_is_not_exact_is_reported():
    method = Rough({"forward_dynamics": lambda call, q, v, t, w: call(q, v, t - 1e-3 * v, w)})
    row = in_motion(method, robots.chain(3))["energy"]
    assert (row.status, row.tolerance) == ("reported", None)
    assert row.value > 1e-8


def test_a_method_that_raises_or_gives_nan_has_failed():
    method = Planted({"forward_dynamics": lambda call, q, v, t, w: call(q, v, t, w) * np.nan})
    row = in_motion(method, robots.chain(3))["energy"]
    assert row.status == "failed"
    assert row.reason


def test_one_that_is_too_slow_says_so(monkeypatch):
    monkeypatch.setattr(motion, "MAX_SECONDS", 0.0)
    solver = NEWTON_EULER.prepare(robots.chain(3))
    with pytest.raises(NotApplicable, match="too slow: 192 evaluations of 8 states"):
        motion.free_motion(solver, draw(robots.chain(3), 9, seed=0))
    row = in_motion(NEWTON_EULER, robots.chain(3))["energy"]
    assert row.status == "unsupported"


def test_a_body_at_rest_without_gravity_stays():
    """No speed and no acceleration to take a step from."""
    body = robots.Body(name="box", joint=robots.Free(), mass=2.0, com=[0.1, 0.2, 0.3], inertia=[0.3, 0.4, 0.5])
    robot = robots.Robot.from_bodies("box", [body], gravity=(0, 0, 0))
    sample = draw(robot, 4, seed=0)
    sample.v[:] = 0.0
    found = motion.free_motion(NEWTON_EULER.prepare(robot), sample)
    np.testing.assert_array_equal(found.short[0], found.start[0])
    assert all(motion.drift(kept, found).value == 0.0 for kept in motion.KEPT[:3])


def test_names_are_not_those_of_one_instant():
    assert not {kept.name for kept in motion.KEPT} & {invariant.name for invariant in INVARIANTS}
