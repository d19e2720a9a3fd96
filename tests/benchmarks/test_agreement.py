"""Agreement of pairs: errors are found, named with their state, and judged by a tolerance that has a reason."""

from __future__ import annotations

import numpy as np
import pytest
from planted import Planted, Rough, off_by

from dynbench import methods, robots
from dynbench.benchmarks.checks import agreement
from dynbench.benchmarks.checks.check import CheckSettings, Comparison, check
from dynbench.benchmarks.checks.sampling import draw, moved
from dynbench.benchmarks.results.rows import Row
from dynbench.robots.families.trees import random_tree

CHAIN = robots.chain(3)


def rows_of(method, robot=CHAIN, states=9):
    return checked(robot, [methods.get("newton-euler"), method], states)


def checked(robot, compared, states=3):
    return check([Comparison(robot, compared)], CheckSettings(states=states))


def pair(rows, quantity, measure="error"):
    (row,) = [row for row in rows if row.other and row.quantity == quantity and row.measure == measure]
    return row


def test_error_is_relative_to_the_largest_component_of_the_state():
    x = np.array([[1.0, 100.0], [0.0, 0.0], [1.0, 2.0], [1.0, np.nan]])
    y = np.array([[2.0, 100.0], [0.0, 0.0], [1.0, 4.0], [1.0, 2.0]])
    assert agreement.relative(x, y).tolist() == [0.01, 0.0, 0.5, np.inf]
    assert agreement.relative(y, x).tolist() == [0.01, 0.0, 0.5, np.inf]


@pytest.mark.parametrize(
    ("noise", "condition", "value", "said"),
    [
        (1e-15, 1e3, 1e-10, "tolerance 1e-10"),
        (1e-11, 1e3, 1e-9, "100 x the noise floor 1.0e-11"),
        (1e-15, 1e7, 10 * np.finfo(float).eps * 1e7, "10 eps x the condition of M 1.0e+07"),
        (1e-3, 1e3, 1e-6, "the most that is excused (100 x the noise floor 1.0e-03)"),
        (np.inf, 0.0, 1e-10, "tolerance 1e-10"),
    ],
)
def test_tolerance_has_a_reason(noise, condition, value, said):
    limit, why = agreement.tolerance(noise, condition)
    assert limit == pytest.approx(value)
    assert said in why


def test_moved_states_are_two_ulp_away_and_still_states():
    robot = random_tree(5, seed=3, floating=True)
    here = draw(robot, 50, seed=4)
    there = moved(here)
    for name in ("v", "a", "tau", "wrench"):
        x, y = getattr(here, name), getattr(there, name)
        assert (np.nextafter(np.nextafter(x, np.inf), np.inf) == y)[y > x].all()
        assert (np.nextafter(np.nextafter(x, -np.inf), -np.inf) == y)[y < x].all()
        assert 0.4 < (y > x).mean() < 0.6
        assert (y != x).all()
    for start, _ in robot.quaternions:
        lengths = np.linalg.norm(there.q[:, start : start + 4], axis=1)
        assert np.abs(lengths - 1.0).max() < 1e-15
    assert 0.0 < np.abs(here.q - there.q).max() < 1e-14
    assert np.array_equal(there.q, moved(draw(robot, 50, seed=4)).q)


def test_what_is_right_agrees_and_has_a_noise_floor():
    rows = rows_of(Planted())
    assert all(row.ok for row in rows)
    assert {row.quantity for row in rows if row.other} == set(Planted.computes)
    floors = [row for row in rows if row.measure == "noise floor" and row.method == "newton-euler"]
    assert {row.quantity for row in floors} == set(methods.get("newton-euler").computes)
    assert all(0.0 < row.value < 1e-12 for row in floors)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "bias"])
def test_an_error_of_1e_8_in_any_quantity_is_found(quantity):
    row = pair(rows_of(Planted({quantity: off_by(1e-8)})), quantity)
    assert row.status == "differs"
    assert row.value == pytest.approx(1e-8, rel=1e-4)


def test_an_error_below_the_tolerance_is_none():
    assert pair(rows_of(Planted({"inverse_dynamics": off_by(1e-12)})), "inverse_dynamics").status == "agrees"


def test_the_worst_state_is_kept_with_both_vectors():
    q, _, _ = CHAIN.sample(9, seed=0)

    def fault(call, *state):
        return call(*state) * (1.001 if np.array_equal(state[0], q[6]) else 1.0)

    row = pair(rows_of(Planted({"inverse_dynamics": fault})), "inverse_dynamics")
    assert (row.robot, row.method, row.other, row.seed) == ("chain-3", "newton-euler", "planted", 0)
    assert row.worst.state == 6
    assert row.worst.inputs["q"] == tuple(q[6])
    assert np.allclose(np.array(row.worst.other), 1.001 * np.array(row.worst.value), rtol=1e-9)


def test_an_error_with_wrenches_only_is_found():
    rows = rows_of(Planted({"inverse_dynamics": lambda call, q, v, a, wrench: call(q, v, a, None)}))
    assert pair(rows, "inverse_dynamics").status == "agrees"
    assert pair(rows, "inverse_dynamics", "error with wrenches").status == "differs"


def test_nan_never_agrees():
    row = pair(rows_of(Planted({"bias": lambda call, *state: np.nan * call(*state)})), "bias")
    assert (row.status, row.value) == ("differs", np.inf)


def test_a_method_that_raises_is_named_and_stops_nothing():
    def fault(call, *state):
        raise ZeroDivisionError("planted")

    rows = rows_of(Planted({"inverse_dynamics": fault}))
    failed = [row for row in rows if row.status == "failed"]
    assert all(row.method == "planted" and row.reason == "ZeroDivisionError: planted" for row in failed)
    assert {row.quantity for row in failed} >= {"inverse_dynamics"}
    assert pair(rows, "mass_matrix").status == "agrees"


def test_what_is_not_exact_is_reported():
    rows = rows_of(Rough({"inverse_dynamics": off_by(0.1)}))
    row = pair(rows, "inverse_dynamics")
    assert (row.status, row.tolerance) == ("reported", None)
    assert row.value == pytest.approx(0.1, rel=0.2)
    assert all(row.ok for row in rows)


def test_the_baseline_and_the_unsupported_have_a_reason():
    (row,) = checked(CHAIN, [methods.get("null")])
    assert (row.status, row.value) == ("unsupported", None)
    assert "baseline" in row.reason
    (row,) = checked(robots.load("elastic-rp1"), [Planted()])
    assert row.reason == "planted does not handle elastic links"


def test_a_method_that_cannot_be_prepared_is_named():
    class Unready(Planted):
        def prepare(self, robot):
            raise RuntimeError("not today")

    (row,) = checked(CHAIN, [Unready()])
    assert (row.status, row.measure, row.reason) == ("failed", "prepare", "RuntimeError: not today")


def test_a_row_has_a_value_or_a_reason():
    with pytest.raises(ValueError, match="neither value nor reason"):
        Row("panda", "kane", "bias", "error", None, "", "failed")
