"""Worst cases: the largest error of every robot and pair, with the component where it is."""

from __future__ import annotations

from dynbench.benchmarks.checks.agreement import MAX_KEPT, worst_cases
from dynbench.benchmarks.results.rows import Row, Worst


def row(value: float, quantity: str = "inverse_dynamics", status: str = "agrees", inputs: int = 2) -> Row:
    worst = Worst(4, {"q": (0.1,) * inputs, "v": (0.2,)}, (1.0, 2.0, 3.0), (1.0, 2.5, 3.1))
    return Row("panda", "a", quantity, "error", value, "relative", status, other="b", states=8, seed=1, worst=worst)  # type: ignore[arg-type]


def test_the_largest_error_is_kept_with_its_component() -> None:
    (found,) = worst_cases([row(1e-12), row(3e-12, "mass_matrix"), row(2e-12)])
    assert (found["quantity"], found["value"], found["state"], found["seed"]) == ("mass_matrix", 3e-12, 4, 1)
    assert (found["component"], found["ours"], found["theirs"]) == (1, 2.0, 2.5)


def test_what_differs_comes_before_what_is_larger() -> None:
    (found,) = worst_cases([row(1e-3, status="reported"), row(1e-9, "bias", status="differs")])
    assert found["quantity"] == "bias"


def test_long_inputs_are_left_out() -> None:
    (found,) = worst_cases([row(1e-12, inputs=MAX_KEPT + 1)])
    assert found["inputs"] == {"v": [0.2]}


def test_rows_without_a_pair_are_none_of_it() -> None:
    assert worst_cases([Row("panda", "a", "bias", "noise floor", 1e-15, "relative", "reported")]) == []
