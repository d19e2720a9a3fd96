"""Who is blamed when methods differ, and that nothing blamed is timed."""

from __future__ import annotations

import json
from dataclasses import asdict

from dynbench.benchmarks.checks.check import EVERYTHING, refusal_of, refusals
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.rows import Row, Worst, row_from
from dynbench.benchmarks.tiers import Variant

A, B, C = map(Variant, "abc")


def pair(one: str, two: str, differs: bool, quantity: str = "bias", status: str = "") -> Row:
    said = status or ("differs" if differs else "agrees")
    return Row(
        "panda",
        one,
        quantity,
        "error",
        0.5 if differs else 1e-15,
        "relative",
        said,
        "tolerance 1e-10",
        other=two,
        seed=3,
    )


def test_a_third_method_tells_which_of_two_is_wrong():
    found = refusals([pair("a", "b", True), pair("a", "c", True), pair("b", "c", False)])
    assert set(found) == {("panda", A, "bias")}
    sentence = "disagreed with b, c: error 0.5, tolerance 1e-10 (seed 3)"
    assert found["panda", A, "bias"] == (Outcome.DISAGREED, sentence)


def test_two_that_differ_with_no_third_are_both_refused():
    assert set(refusals([pair("a", "b", True)])) == {("panda", A, "bias"), ("panda", B, "bias")}


def test_a_method_that_is_not_exact_is_never_refused_for_its_error():
    assert refusals([pair("a", "springs", True, status="reported"), pair("a", "b", False)]) == {}


def test_failures_and_invariants_refuse_too():
    rows = [
        Row("panda", "a", "mass_matrix", "M symmetric", 0.1, "relative", "differs", "tolerance 1e-12"),
        Row("panda", "b", "", "same bits twice", 1.0, "quantities", "differs", "two calls must give the same bits"),
        Row("panda", "c", "", "prepare", None, "", "failed", "ValueError: no"),
    ]
    found = refusals(rows)
    assert refusal_of(found, "panda", A, "mass_matrix").reason.startswith("violates 'M symmetric': 0.1 relative")
    assert refusal_of(found, "panda", A, "bias") is None
    assert found["panda", B, EVERYTHING].reason.startswith("violates 'same bits twice'")
    assert refusal_of(found, "panda", B, "bias") == found["panda", B, EVERYTHING]
    assert refusal_of(found, "panda", C, "bias") == (Outcome.FAILED, "prepare: ValueError: no")


def test_wrong_inverse_dynamics_means_wrong_bias():
    found = refusals([pair("a", "b", True, "inverse_dynamics")])
    assert refusal_of(found, "panda", A, "bias").reason.startswith("disagreed with b")


def test_rows_survive_the_way_between_processes():
    bad = Row(
        "r",
        "a",
        "bias",
        "error",
        1.0,
        "relative",
        "differs",
        "x",
        other="b",
        worst=Worst(1, {"q": [0.0]}, [1.0], [2.0]),
    )  # type: ignore[arg-type]
    assert row_from(asdict(bad)) == bad
    assert row_from(json.loads(json.dumps(asdict(bad)))) == bad
