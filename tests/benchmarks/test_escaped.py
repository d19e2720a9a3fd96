"""``dynbench test-method`` finds the faults that once escaped it; `test_planted_faults` asks the same of the check."""

from __future__ import annotations

import pytest
from faults import FAULTS, Fault
from faults.escaped import ESCAPED
from faults.planting import NEWTON_EULER

from dynbench.benchmarks.checks.conformance.examine import defects
from dynbench.benchmarks.checks.conformance.machines import machines

FEW = ("wrong at rest", "wrong at angles beyond pi", "wrong for the axis [0, 0, -1]", "handle wrong where q0 > 1")


class Declared(Fault):
    """A fault in a method that says what it computes."""

    computes = NEWTON_EULER.computes


def trees():
    """The trees of the suite; loops and elastic links take minutes to compile, and the faults are not about them."""
    return [one.robot for one in machines()]


def test_there_are_44_of_them():
    assert len(ESCAPED) >= 44


@pytest.mark.parametrize(
    "label", [pytest.param(label, marks=[] if label in FEW else [pytest.mark.long]) for label in ESCAPED]
)
def test_test_method_finds_it(label):
    (fault,) = (fault for fault in FAULTS if fault.label == label)
    assert defects(Declared(fault.label, fault.plant, fault.base), trees())


def test_without_a_fault_nothing_is_found():
    assert defects(Declared("none", lambda on: {}, NEWTON_EULER), trees()) == []
