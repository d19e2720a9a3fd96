"""Every registered method keeps the contract: it is tested the day it is registered."""

from __future__ import annotations

import functools

import pytest

from dynbench import methods
from dynbench.benchmarks.checks import conformance
from dynbench.benchmarks.checks.conformance import CHECKS, Candidate
from dynbench.robots import Robot

METHODS = methods.names()
# Ten large kernels for loops each, minutes to compile; tests/methods/test_constraints.py has them in the default suite
LARGE = ("udwadia-kalaba", "augmented-lagrangian", "constraint-embedding")
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


@pytest.mark.parametrize("name", METHODS)
def test_unsupported_robots_give_a_sentence(name):
    conformance.reasons_are_sentences(methods.get(name), robots())


def test_no_registered_method_is_broken():
    ours = {name: reason for name, reason in methods.available()[1].items() if "'dynbench'" in reason}
    assert not ours
