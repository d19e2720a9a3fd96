"""Worst cases: the largest error of every robot, pair and quantity, with the component where it is."""

from __future__ import annotations

from dynbench.benchmarks.checks.agreement import worst_cases
from dynbench.benchmarks.results.rows import Row, Worst


def row(value: float, quantity: str = "inverse_dynamics", measure: str = "error") -> Row:
    worst = Worst(4, {"q": (0.1,), "v": (0.2,), "tau": (1.5,)}, (1.0, 2.0, 3.0), (1.0, 2.5, 3.1))
    return Row("panda", "a", quantity, measure, value, "relative", "agrees", other="b", states=8, seed=1, worst=worst)


def test_every_quantity_and_measure_is_kept_with_its_component() -> None:
    found = worst_cases([row(1e-12), row(3e-12, "mass_matrix"), row(2e-12, measure="error with wrenches")])
    assert [(case["quantity"], case["measure"]) for case in found] == [
        ("inverse_dynamics", "error"),
        ("mass_matrix", "error"),
        ("inverse_dynamics", "error with wrenches"),
    ]
    assert {(case["state"], case["seed"], case["component"]) for case in found} == {(4, 1, 1)}
    assert (found[0]["ours"], found[0]["theirs"]) == (2.0, 2.5)


def test_only_forces_are_stored_since_the_seed_gives_the_rest() -> None:
    (found,) = worst_cases([row(1e-12)])
    assert found["inputs"] == {"tau": [1.5]}


def test_rows_without_a_pair_are_none_of_it() -> None:
    assert worst_cases([Row("panda", "a", "bias", "noise floor", 1e-15, "relative", "reported")]) == []
