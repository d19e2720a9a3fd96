"""What comes before the first result, and the machine's limit."""

from __future__ import annotations

import math

import pytest

from dynbench.benchmarks.timing import counts, peak, startup


def test_compile_time_is_earned_by_the_difference_per_state():
    assert startup.break_even(2.0, slow=3e-6, fast=1e-6) == pytest.approx(1e6)
    assert startup.break_even(2.0, slow=1e-6, fast=1e-6) == math.inf


def test_compiling_is_measured_once_and_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    first = startup.compile_quantity("null", "inverse_dynamics", batch=False)
    again = startup.compile_quantity("null", "inverse_dynamics", batch=False)
    assert first["compile"] > 0.0
    assert first["load"] is None
    assert again["compile"] == first["compile"]
    assert again["load"] < first["compile"]


def test_what_was_compiled_before_has_a_reason_or_is_compiled_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    startup.compile_quantity("null", "inverse_dynamics", batch=False)
    for note in tmp_path.rglob("*.seconds"):
        note.unlink()
    quick = startup.compile_quantity("null", "inverse_dynamics", batch=False, anew=False)
    assert quick["compile"] is None
    assert "before this run" in quick["why"]
    full = startup.compile_quantity("null", "inverse_dynamics", batch=False)
    assert full["compile"] > full["load"]


def test_what_a_method_does_not_compute_here_is_no_failure():
    assert startup.try_out("two-link", "newton-euler", ["inverse_dynamics", "multipliers"], ["call"]) == {
        "multipliers": "newton-euler does not compute multipliers for this robot"
    }


def test_the_first_result_of_a_new_process_has_a_time_and_a_size():
    found = startup.first_call("two-link", "null", "inverse_dynamics")
    assert 0.0 < found["seconds"] < 120.0
    assert found["bytes"] > 1e7


def test_a_first_call_that_fails_says_why():
    with pytest.raises(RuntimeError, match="nobody"):
        startup.first_call("two-link", "nobody", "inverse_dynamics")


def test_counts_are_numbers_or_reasons():
    found = counts.count("two-link", "newton-euler", ["inverse_dynamics"])["inverse_dynamics"]
    assert isinstance(found, dict)
    assert found["flops"] == found["additions"] + found["multiplications"] + 38 * found["sincos"]
    polynomial = counts.polynomials("newton-euler", "chain", "inverse_dynamics")["sincos"]
    assert polynomial in ("1 n", "n")


def test_the_peak_is_that_of_multiply_adds():
    """Between one operation a nanosecond, which any processor does, and what none does on one core."""
    assert 1e9 < peak.flops_per_second(0.1) < 1e12
