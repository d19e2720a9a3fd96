"""Each invariant holds for newton-euler on every kind of robot, and is broken by a fault made for it."""

from __future__ import annotations

import numpy as np
import pytest
from planted import Planted, Rough, off_by

from dynbench import methods, robots
from dynbench.benchmarks.checks import motion
from dynbench.benchmarks.checks.invariants import INVARIANTS, invariants
from dynbench.benchmarks.checks.sampling import draw
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
