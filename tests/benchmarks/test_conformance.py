"""The conformance checks find what they are for: each is tried on a solver with a fault of its kind."""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys

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


# ---------------------------------------------------------------------- kernels as plain Python

KERNEL = """
from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels.scalar import generic, load, splat, store
from dynbench.methods.kernels.sweeps import WORK, F, outward
from dynbench.methods.kernels.vectors import load3


@generic
def inverse_dynamics(tag, model, q, v, a, wrench, out, work):
    outward(tag, model, q, v, a, wrench, work)
    for k in range(v.size // len(tag)):
        {line}


class Mistaken(TreeMethod):
    name, title, reference, cost = "mistaken", "A planted mistake", "this test", "O(n)"
    kernels = {{"inverse_dynamics": inverse_dynamics}}
    work = {{"inverse_dynamics": WORK}}
"""
MISTAKES = {  # a line of a kernel -> what is said of it, and the likely cause
    "store(tag, out, k, splatt(tag, 0.0))": ("name 'splatt' is not defined", "misspelt"),
    "store(tag, out, k, load(tag, work, 1000 + k))": ("index 1000 is out of range of 'work'", "wrong index"),
    "store(tag, out, k, load(tag, work, -1))": ("index -1 is out of range of 'work'", "wrong index"),
    "store(tag, out, k, load(tag, q, k) if load(tag, q, k) > 0.0 else 0.0)": ("must not branch on data", "a branch"),
    "store(tag, out, k, abs(load(tag, q, k)))": ("abs", "+ - * / alone"),
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_in_a_kernel_is_named_with_its_line_before_anything_is_compiled(line, tmp_path, monkeypatch):
    from dynbench.benchmarks.checks.conformance.examine import examine
    from dynbench.methods.kernels import scalar

    text = KERNEL.format(line=line)
    (tmp_path / "mistaken_kernel.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mistaken_kernel", raising=False)
    method = importlib.import_module("mistaken_kernel").Mistaken()
    monkeypatch.setattr(scalar, "pending", [one for one in scalar.pending if one.__module__ != "mistaken_kernel"])
    *_, last = examine(method)
    said, likely = MISTAKES[line]
    assert last.sentence == "Its kernels run as plain Python."
    (defect,) = last.defects
    number = 1 + text.splitlines().index(f"        {line}")
    assert said in defect.sentence
    assert f"mistaken_kernel.py, line {number}: {line}" in defect.sentence
    assert likely in defect.cause


def test_kernels_run_as_plain_python_in_every_method():
    """NUMBA_DISABLE_JIT=1, which the documentation recommends for debugging: the same numbers as compiled."""
    code = """
import numpy as np
from dynbench import methods, robots
from dynbench.methods.kernel_method import KernelMethod
tried = 0
for name in methods.names():
    method = methods.get(name)
    if not isinstance(method, KernelMethod):
        continue
    for robot in map(robots.load, ("two-link", "rp3", "four-bar", "gough-stewart", "elastic-rp1")):
        if method.supports(robot) is None:
            break
    solver = method.prepare(robot)
    q, v, a = robot.sample(2, seed=3)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        if quantity not in solver.computes:
            continue
        last = a if quantity == "inverse_dynamics" else a[:, robot.actuated]
        found = getattr(solver, quantity)(q, v, last)
        out = np.empty(found.shape[1])
        assert solver.handle(quantity)(q[1], v[1], last[1], None, out) == 0
        assert np.array_equal(out, found[1]), name
        tried += np.isfinite(found).all()
assert tried > 25, tried
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=300)
