"""The conformance checks find what they are for: each is tried on a solver with a fault of its kind."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from planted import Planted

from dynbench import methods, robots
from dynbench.benchmarks.checks.agreement import Case
from dynbench.benchmarks.checks.conformance import CHECKS, Candidate, NonConformance, reasons_are_sentences
from dynbench.benchmarks.checks.conformance.examine import compare
from dynbench.benchmarks.checks.conformance.machines import machines
from dynbench.benchmarks.checks.invariants import invariants
from dynbench.methods import function_solver
from dynbench.robots import inertial
from dynbench.robots.errors import StateError

ROBOT = robots.chain(3)
BY_NAME = {check.__name__: check for check in CHECKS}


def candidate_with(**faults) -> Candidate:
    """A right method whose public functions are wrapped: quantity -> f(right function, **arguments)."""
    candidate = Candidate(Planted(), ROBOT)
    for quantity, fault in faults.items():
        setattr(candidate.solver, quantity, functools.partial(fault, getattr(candidate.solver, quantity)))
    return candidate


def test_a_right_method_passes_all():
    for check in CHECKS:
        check(candidate_with())


def writes_to_v(call, **arguments):
    result = call(**arguments)
    arguments["v"][...] = 0.0
    return result


memory = np.empty(3)


def reuses_memory(call, **arguments):
    result = call(**arguments)
    if result.ndim > 1:
        return result
    memory[...] = result
    return memory


def lets_nan_through(call, **arguments):
    try:
        return call(**arguments)
    except StateError:
        return np.zeros(3)


FAULTS = {
    "inputs_untouched": writes_to_v,
    "shapes": reuses_memory,
    "batch_equals_singles": lambda call, **arguments: call(**arguments) * (1.0 + 1e-12 * np.ndim(arguments["q"])),
    "any_array_like": lambda call, **arguments: call(**arguments) * (1.0 + 1e-9 * isinstance(arguments["q"], list)),
    "fills_out": lambda call, **arguments: call(**{**arguments, "out": None}),
    "takes_wrenches": lambda call, **arguments: call(**{**arguments, "wrench": None}),
    "handles": lambda call, **arguments: -call(**arguments),
    "wrong_input": lets_nan_through,
    "threads_agree": lambda call, **arguments: call(**arguments) * (1.0 + 1e-9 * (arguments.get("threads") == 2)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_check_finds_its_fault(name):
    with pytest.raises(NonConformance):
        BY_NAME[name](candidate_with(inverse_dynamics=FAULTS[name]))


def test_a_quantity_that_is_declared_and_absent_is_found():
    class Boastful(Planted):
        computes = (*Planted.computes, "reactions")

        def prepare(self, robot):
            return Planted().prepare(robot)

    with pytest.raises(NonConformance, match=r"declares .*reactions"):
        BY_NAME["declared_quantities"](Candidate(Boastful(), ROBOT))


def test_solvers_that_share_state_are_found():
    class Shared(Planted):
        latest: dict = {}  # noqa: RUF012  (the fault)

        def prepare(self, robot):
            solver = Planted().prepare(robot)
            self.latest["gravity"] = robot.gravity[2]
            right = solver.inverse_dynamics
            solver.inverse_dynamics = lambda **arguments: right(**arguments) + self.latest["gravity"]
            return solver

    with pytest.raises(NonConformance, match="changes when another solver is used"):
        BY_NAME["solvers_are_independent"](Candidate(Shared(), ROBOT))


class WithRegressor(Planted):
    """A method that computes a regressor too, from numpy."""

    computes = (*Planted.computes, "regressor")
    fault = staticmethod(lambda Y: Y)

    def prepare(self, robot):
        def regressor(q, v, a, wrench):
            return self.fault(inertial.regressor(robot, q, v, a))

        solver = methods.get("newton-euler").prepare(robot)
        functions = {"inverse_dynamics": lambda *state: solver.inverse_dynamics(*state[:3]), "regressor": regressor}
        return function_solver(self, robot, functions)


def _swapped(Y):
    """J in the order xx xy xz yy yz zz."""
    Y = Y.copy()
    for body in range(0, Y.shape[1], 10):
        Y[:, [body + 6, body + 7]] = Y[:, [body + 7, body + 6]]
    return Y


def test_the_regressor_of_a_plugin_is_compared_with_another():
    machine = machines()[0]
    right = WithRegressor().prepare(machine.robot)
    assert compare(machine, right, Case("regressor")) is None
    wrong = type("Swapped", (WithRegressor,), {"fault": staticmethod(_swapped)})().prepare(machine.robot)
    assert "off by" in str(compare(machine, wrong, Case("regressor")))


def test_a_regressor_must_give_the_forces():
    sample = machines()[0].sample
    for fault, ok in ((WithRegressor.fault, True), (_swapped, False), (lambda Y: (1.0 + 1e-11) * Y, False)):
        solver = type("Faulty", (WithRegressor,), {"fault": staticmethod(fault)})().prepare(sample.robot)
        (row,) = (row for row in invariants(sample, solver, 0.0) if row.measure == "Y theta is tau")
        assert row.ok == ok


def test_a_reason_that_is_no_sentence_is_found():
    class Curt(Planted):
        def supports(self, robot):
            return "no"

    with pytest.raises(NonConformance, match="reason 'no'"):
        reasons_are_sentences(Curt(), [ROBOT])
