"""Each invariant holds for newton-euler on every kind of robot, and is broken by a fault made for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planted import Planted, Rough, off_by

from dynbench import methods, robots
from dynbench.benchmarks.checks import motion
from dynbench.benchmarks.checks.invariants import INVARIANTS, derivative_checks, invariants
from dynbench.benchmarks.checks.sampling import draw
from dynbench.methods.base import DERIVATIVES
from dynbench.robots.families.trees import KINDS, random_tree


def found(method, robot, states=14):
    rows = invariants(draw(robot, states, seed=0), method.prepare(robot), cond=100.0)
    return {row.measure: row for row in rows}


ROBOTS = [
    robots.load("two-link"),
    robots.load("puma560"),
    random_tree(8, seed=1, kinds=KINDS),
    random_tree(8, seed=2, floating=True, massless=True),
]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_all_hold_for_newton_euler(robot):
    method = methods.get("newton-euler")
    rows = found(method, robot)
    instant = {invariant.name for invariant in INVARIANTS if set(invariant.needs) <= set(method.computes)}
    assert set(rows) == instant | {kept.name for kept in motion.KEPT if kept.applies(robot)}
    assert len(rows) >= 8
    # of a method made of kernels, `test-method` looks at other robots of the same name
    assert [row.measure for row in rows.values() if row.status != "agrees"] == ["made for this robot"]
    assert rows["made for this robot"].status == "unsupported"
    assert rows["power balance"].value < 1e-9


def swapped(call, q):
    M = call(q)
    M[0, 1] *= 1.0 + 1e-9
    return M


def indefinite(call, q):
    M = call(q)
    M[1, 1] = -M[1, 1]
    return M


calls = iter(range(10**9))

FAULTS = {
    "M symmetric": {"mass_matrix": swapped},
    "M positive definite": {"mass_matrix": indefinite},
    "columns are M": {"mass_matrix": off_by(1e-8)},
    "forward undoes inverse": {"forward_dynamics": off_by(1e-7)},
    # the classic: a gyroscopic term forgotten, seen at speed only
    "power balance": {"inverse_dynamics": lambda call, q, v, a, w: call(q, 0.9 * v, a, w)},
    "same bits twice": {"bias": lambda call, *state: call(*state) * (1.0 + 1e-15 * (next(calls) % 5))},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_breaks_its_invariant(name):
    row = found(Planted(FAULTS[name]), robots.chain(3))[name]
    assert row.status == "differs"
    assert row.value > row.tolerance


def test_a_batch_that_differs_from_its_states_is_found():
    solver = methods.get("newton-euler").prepare(robots.chain(3))
    right = solver.inverse_dynamics
    solver.inverse_dynamics = lambda q, v, a: right(q, v, a) * (1.0 + 1e-12 * (np.ndim(q) == 2))
    rows = invariants(draw(robots.chain(3), 14, seed=0), solver, cond=100.0)
    assert [row.measure for row in rows if row.status == "differs"] == ["batch equals singles", "handle equals call"]


def test_a_method_that_writes_to_its_arguments_is_found():
    solver = methods.get("newton-euler").prepare(robots.chain(3))
    right = solver.bias

    def bias(q, v):
        result = right(q, v)
        v[0] = 0.0
        return result

    solver.bias = bias
    rows = invariants(draw(robots.chain(3), 14, seed=0), solver, cond=100.0)
    assert "inputs untouched" in [row.measure for row in rows if row.status == "differs"]


def test_mechanics_is_not_held_against_what_is_not_exact():
    rows = found(Rough({"mass_matrix": swapped}), robots.chain(3))
    assert rows["M symmetric"].status == "reported"
    assert rows["inputs untouched"].status == "agrees"


def test_lagrange_euler_has_a_coriolis_matrix_that_gives_the_bias():
    row = found(methods.get("lagrange-euler"), robots.chain(3))["C v is bias less gravity"]
    assert row.status == "agrees"


DERIVED = ("derivatives by dual numbers", "derivatives by complex steps")


@pytest.mark.parametrize("code", ["generic", "traced"])
def test_derivatives_are_checked_in_both_tiers(code):
    robot = robots.load("two-link")
    sample = draw(robot, 6, seed=0)
    rows = derivative_checks(sample, methods.get("newton-euler").prepare(robot, code=code), cond=100.0)
    assert [(row.measure, row.quantity) for row in rows] == [(m, q) for q in DERIVATIVES for m in DERIVED]
    assert {row.status for row in rows} == {"agrees"}
    assert max(row.value for row in rows) < 1e-12


def test_wrong_derivatives_break_both_checks():
    robot = robots.load("two-link")
    solver = methods.get("newton-euler").prepare(robot)
    right = solver.whole
    solver.whole = lambda quantity: lambda **state: right(quantity)(**state) * (1.0 + 1e-8)
    rows = derivative_checks(draw(robot, 6, seed=0), solver, cond=100.0)
    assert [row.status for row in rows] == ["differs"] * 4


def test_complex_steps_know_armature_damping_and_friction():
    bare = random_tree(5, seed=3, kinds=KINDS)
    rng = np.random.default_rng(0)
    robot = replace(bare, **{name: rng.uniform(0.1, 1.0, bare.n) for name in ("armature", "damping", "friction")})
    rows = derivative_checks(draw(robot, 6, seed=0), methods.get("newton-euler").prepare(robot), cond=100.0)
    assert [row.status for row in rows] == ["agrees"] * 4


def test_loops_have_dual_numbers_and_no_complex_steps():
    robot = robots.load("four-bar")
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    rows = {(row.measure, row.quantity): row for row in derivative_checks(draw(robot, 3, seed=0), solver, cond=100.0)}
    for quantity in DERIVATIVES:
        assert rows[DERIVED[0], quantity].status == "agrees"
        assert rows[DERIVED[1], quantity].status == "unsupported"
        assert "trees of rigid bodies" in rows[DERIVED[1], quantity].reason
