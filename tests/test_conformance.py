"""Every registered method keeps the contract: it is tested the day it is registered."""

from __future__ import annotations

import functools

import pytest

from dynbench import methods
from dynbench.benchmarks.checks import conformance
from dynbench.benchmarks.checks.conformance import CHECKS, Candidate, contract
from dynbench.methods.base import Solver
from dynbench.robots import Robot, five_bar

METHODS = methods.names()
FOUR = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "bias")
# Ten large kernels for loops each, minutes to compile. In the default session their traced code conforms, and
# tests/methods/test_constraints.py compiles their forward dynamics.
LARGE = ("udwadia-kalaba", "augmented-lagrangian", "constraint-embedding", "maggi", "maximal-coordinates")
WITH_WRENCHES = (contract.handles, contract.takes_wrenches)  # calls with wrenches use generic code
PARAMETERS = [pytest.param(name, marks=[pytest.mark.long] if name in LARGE else []) for name in METHODS]


@functools.cache
def robots() -> tuple[Robot, ...]:
    return tuple(conformance.robots_to_try())


@functools.cache
def candidate(name: str) -> Candidate:
    method = methods.get(name)
    if method.unavailable():
        pytest.skip(method.unavailable())
    found = conformance.candidate_of(method, robots())
    assert found is not None, f"{name} supports none of {[robot.name for robot in robots()]}"
    return found


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", PARAMETERS)
def test_method_conforms(name, check):
    check(candidate(name))


class InTracedCode:
    """A method whose solvers are prepared in traced code, without what cannot be traced."""

    def __init__(self, method):
        self.method = method

    def __getattr__(self, name):
        return getattr(self.method, name)

    def prepare(self, robot):
        traced = self.method.prepare(robot, code="traced")
        chosen = [name for name in traced.computes if name in FOUR and traced.why_not_traced(name) is None]
        calls, handles = ({name: get(name) for name in chosen} for get in (traced.whole, traced._handles.get))
        return Solver(self, robot, calls, handles)


@functools.cache
def traced_candidate(name: str) -> Candidate:
    return Candidate(InTracedCode(methods.get(name)), five_bar())


@pytest.mark.parametrize("check", [c for c in CHECKS if c not in WITH_WRENCHES], ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LARGE)
def test_traced_code_of_large_methods_conforms(name, check):
    assert "forward_dynamics" in traced_candidate(name).solver.computes
    check(traced_candidate(name))


@pytest.mark.parametrize("name", METHODS)
def test_unsupported_robots_give_a_sentence(name):
    conformance.reasons_are_sentences(methods.get(name), robots())


def test_no_registered_method_is_broken():
    ours = {name: reason for name, reason in methods.available()[1].items() if "'dynbench'" in reason}
    assert not ours
