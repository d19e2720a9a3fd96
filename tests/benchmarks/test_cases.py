"""The calls behind the cells: every mode computes the same thing, and slow cells are cut or refused."""

from __future__ import annotations

import gc
import importlib.util
import math
import weakref

import numpy as np
import pytest

from dynbench import methods
from dynbench.benchmarks.checks import evaluate
from dynbench.benchmarks.checks.check import CheckSettings, Comparison, check
from dynbench.benchmarks.checks.evaluate import Checked
from dynbench.benchmarks.checks.sampling import away_from_rest
from dynbench.benchmarks.timing import cases
from dynbench.benchmarks.timing.cases import Cell, NotTimed, Timed

PIN = importlib.util.find_spec("pinocchio") is not None


def result(cell: Cell) -> np.ndarray:
    """What a cell's call computes for the first state."""
    ready = cases.timed(cell, give_up=math.inf)
    returned = ready.call()
    return np.asarray(returned if ready.out is None else ready.out).reshape(ready.rows, -1)[0]


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "bias"])
def test_all_modes_time_the_same_computation(quantity):
    found = [
        result(Cell("two-link", "newton-euler", quantity, mode, 20))
        for mode in ("call", "unchecked", "batch", "threads")
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-13)


@pytest.mark.skipif(not PIN, reason="pinocchio is not installed")
@pytest.mark.parametrize("mode", ["engine", "engine-batch", "engine-threads"])
def test_the_own_calls_of_an_engine_compute_it_too(mode):
    ready = cases.timed(Cell("panda", "pinocchio", "inverse_dynamics", mode, 20), give_up=math.inf)
    returned = ready.call()
    own = returned if mode == "engine" else ready.own.out[0]
    np.testing.assert_allclose(own, result(Cell("panda", "pinocchio", "inverse_dynamics", "call")), rtol=1e-12)


def test_rows_repeat_the_distinct_states():
    found = cases.states("two-link", 600, seed=1)
    assert found["q"].shape == (600, 2)
    assert found["q"].flags.c_contiguous
    np.testing.assert_array_equal(found["q"][cases.DISTINCT], found["q"][0])
    np.testing.assert_array_equal(found["tau"][16:32], found["tau"][:16])
    assert not np.array_equal(cases.states("two-link", 3, seed=2)["q"], found["q"][:3])


@pytest.mark.parametrize("robot", ["puma560", "3rrr"])
def test_the_states_and_forces_that_are_timed_are_those_of_the_check(robot):
    """40 states: enough that the check adds special configurations."""
    comparison = Comparison(robot, ["newton-euler", "kane"])
    rows = check([comparison], CheckSettings(("inverse_dynamics", "forward_dynamics"), states=40, seed=3, brief=True))
    assert {row.status for row in rows if row.other} == {"agrees"}
    found = cases.states(robot, 41, 3, (40, comparison.tau))
    sample = evaluate.drawn(robot, 40, 3)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(found[name], np.concatenate([getattr(sample, name), getattr(sample, name)[:1]]))
    forces = methods.get("newton-euler").prepare(sample.robot).inverse_dynamics(sample.q, sample.v, sample.a)
    forces = away_from_rest(sample, forces)
    np.testing.assert_array_equal(found["tau"][:40], forces)


class Clock:
    """A call that is said to take so long per state."""

    def __init__(self, per_state: float) -> None:
        self.per_state = per_state
        self.built: list[int] = []

    def build(self, cell: Cell, rows: int, seed: int, checked: Checked) -> Timed:
        self.built.append(rows)
        ready = Timed(lambda: None, rows=rows)
        ready.seconds = lambda: self.per_state * rows  # type: ignore[method-assign]
        return ready


def test_what_a_call_costs_by_itself_does_not_cut_a_batch(monkeypatch):
    """10 us a call and 70 ns a state: from eight states alone, 1000 would seem to take more than a millisecond."""
    clock = Clock(70e-9)

    def build(cell: Cell, rows: int, seed: int, checked: Checked) -> Timed:
        ready = clock.build(cell, rows, seed, checked)
        ready.seconds = lambda: 10e-6 + 70e-9 * rows  # type: ignore[method-assign]
        return ready

    monkeypatch.setattr(cases, "_build", build)
    assert cases.timed(Cell("r", "newton-euler", "bias", "batch", 1000), call_limit=1e-3).rows == 1000


@pytest.mark.parametrize(("per_state", "rows"), [(1e-6, 1000), (1e-3, 96), (0.05, 8)])
def test_a_batch_is_cut_to_what_one_call_may_take(monkeypatch, per_state, rows):
    monkeypatch.setattr(cases, "_build", Clock(per_state).build)
    assert cases.timed(Cell("r", "newton-euler", "bias", "batch", 1000), call_limit=0.1).rows == rows


@pytest.mark.parametrize("mode", ["call", "batch"])
def test_what_is_hopelessly_slow_is_not_timed(monkeypatch, mode):
    monkeypatch.setattr(cases, "_build", Clock(10.0).build)
    with pytest.raises(NotTimed, match="more than the limit of 5 s"):
        cases.timed(Cell("r", "newton-euler", "bias", mode, 1000))


@pytest.mark.parametrize(("method", "built"), [("lagrange-elastic", [1]), ("newton-euler", [1, 8])])
def test_eight_states_are_not_waited_for_where_one_tells(monkeypatch, method, built):
    """Plain Python takes eight times as long for them; a kernel may do them at once."""
    clock = Clock(1.0)
    monkeypatch.setattr(cases, "_build", clock.build)
    with pytest.raises(NotTimed, match="8 states take 8 s, more than the limit of 5 s"):
        cases.timed(Cell("r", method, "bias", "batch", 1000))
    assert clock.built == built


def test_a_batch_that_does_not_fit_in_memory_is_not_timed(monkeypatch):
    monkeypatch.setattr(cases, "MEMORY", 1e4)
    with pytest.raises(NotTimed, match="MB"):
        cases.timed(Cell("two-link", "newton-euler", "inverse_dynamics", "batch", 1000))


def test_what_was_prepared_for_a_robot_is_let_go_with_its_last_cell():
    """Some engines take a gigabyte for a robot of 256 bodies."""
    kept = weakref.ref(cases.solver("two-link", "newton-euler"))
    assert cases.solver("two-link", "newton-euler") is kept()
    cases.solver("pendulum", "newton-euler")
    gc.collect()
    assert kept() is None
