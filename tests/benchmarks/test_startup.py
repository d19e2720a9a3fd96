"""What comes before the first result, and the machine's limit."""

from __future__ import annotations

import json
import math
import os

import pytest

from dynbench import methods
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.timing import calibration, counts, startup


def test_compile_time_is_earned_by_the_difference_per_state():
    assert startup.break_even(2.0, slow=3e-6, fast=1e-6) == pytest.approx(1e6)
    assert startup.break_even(2.0, slow=1e-6, fast=1e-6) == math.inf


class Watched:
    """A cache folder of its own, and how often a kernel was asked for: from which folder, and whether it compiled."""

    def __init__(self, folder, patch) -> None:
        self.folder = folder
        self.asked = []
        patch.setenv("NUMBA_CACHE_DIR", str(folder))
        real = startup._compiled

        def compiled(*arguments):
            seconds, fresh = real(*arguments)
            self.asked.append((os.environ["NUMBA_CACHE_DIR"] == str(folder), fresh))
            return seconds, fresh

        patch.setattr(startup, "_compiled", compiled)

    def quantity(self, **more):
        self.asked.clear()
        return startup.compile_quantity("null", "inverse_dynamics", batch=False, **more)

    def notes(self):
        return list(self.folder.rglob("*.seconds"))

    def code(self):
        """numba's files, with the time they were written."""
        return {path: path.stat().st_mtime_ns for path in self.folder.rglob("*.nb?")}


@pytest.fixture
def watched(tmp_path, monkeypatch):
    return Watched(tmp_path, monkeypatch)


HERE, ELSEWHERE = True, False
COMPILED, LOADED = True, False


def test_compiling_is_measured_once_and_remembered(watched):
    first = watched.quantity()
    assert watched.asked == [(HERE, COMPILED)]
    assert first["compile"] > 0.0
    assert first["load"] is None
    code = watched.code()
    assert code

    again = watched.quantity()
    assert watched.asked == [(HERE, LOADED)]
    assert again["compile"] == first["compile"]
    assert again["load"] > 0.0
    assert watched.code() == code


def test_what_was_compiled_before_has_a_reason_or_is_compiled_anew(watched):
    watched.quantity()
    code, (note,) = watched.code(), watched.notes()
    note.unlink()
    quick = watched.quantity(anew=False)
    assert watched.asked == [(HERE, LOADED)]
    assert quick["compile"] is None
    assert quick["load"] > 0.0
    assert quick["outcome"] == Outcome.LEFT_OUT
    assert "before this run" in quick["reason"]
    assert not watched.notes()

    full = watched.quantity()
    assert watched.asked == [(HERE, LOADED), (ELSEWHERE, COMPILED)]  # what others have loaded stays as it is
    assert watched.code() == code
    assert full["compile"] == json.loads(note.read_text()) > 0.0
    assert full["load"] > 0.0
    assert os.environ["NUMBA_CACHE_DIR"] == str(watched.folder)


def test_what_a_method_does_not_compute_here_is_no_failure():
    assert startup.try_out("two-link", "newton-euler", ["inverse_dynamics", "multipliers"], ["call"]) == {
        "multipliers": (Outcome.UNSUPPORTED, "newton-euler does not compute multipliers for this robot")
    }


def test_the_first_result_of_a_new_process_has_a_time_and_a_size():
    found = startup.first_call("two-link", "null", "inverse_dynamics")
    assert found["seconds"] > 0.0
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
    branching = counts.polynomials("newton-euler", "tree", "mass_matrix")
    assert list(branching) == ["outcome", "reason"]
    assert "no polynomial" in branching["reason"]


def test_the_peak_is_that_of_multiply_adds():
    """Between one operation a nanosecond, which any processor does, and what none does on one core."""
    assert 1e9 < max(calibration.flops_per_second(0.1) for _ in range(3)) < 1e12  # one of them undisturbed


def test_a_method_says_for_each_robot_whether_it_takes_it(monkeypatch):
    found = startup.refusals(["two-link", "elastic-rp1"], "newton-euler")
    assert found[0] is None
    assert found[1].outcome is Outcome.UNSUPPORTED
    assert "elastic" in found[1].reason

    def moody(self, robot):
        if robot.name == "pendulum":
            raise RuntimeError("not today")

    monkeypatch.setattr(type(methods.get("kane")), "supports", moody)
    found = startup.refusals(["pendulum", "two-link"], "kane")
    assert found == [(Outcome.FAILED, "its 'supports' raised RuntimeError: not today"), None]
