"""Statements about speed: judged by one rule, and those of our README are what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynbench.benchmarks.papers import dynbench_readme, dynibo_readme
from dynbench.benchmarks.papers.claims import Interval, Source, of_size
from dynbench.benchmarks.papers.performance import Side, Speedup, judged

README = Path(__file__).parents[3] / "README.md"


@pytest.mark.parametrize(
    ("low", "high", "printed", "verdict"),
    [
        (1.10, 1.20, 1.17, "reproduced"),
        (1.25, 1.30, 1.17, "reproduced"),  # within 15 %
        (1.60, 1.70, 1.17, "depends"),
        (0.95, 1.02, 1.50, "depends"),  # near 1: another run may say faster
        (0.50, 0.60, 1.50, "differs"),
        (0.50, 0.60, 0.30, "depends"),
    ],
)
def test_the_rule(low: float, high: float, printed: float, verdict: str) -> None:
    assert of_size(Interval(low, (low + high) / 2.0, high), printed) == verdict


def test_the_table_of_our_readme_is_the_one_that_is_run() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    for (robot, code), printed in dynbench_readme.TABLE.items():
        (start,) = [number for number, line in enumerate(lines) if line.startswith(f"| {robot}")]
        line = lines[start + (code == "traced")]  # the line below has no robot
        assert f"| {code} |" in line
        assert [f"| {value:.1f} [" in line for value in printed] == [True] * 3, (robot, code)


def test_an_engine_that_is_not_there_leaves_a_statement_undecided() -> None:
    said = Speedup("s", "p", "q", 2.0, "two-link", "inverse_dynamics", Side("newton-euler", "call", "traced"),
                   Side("kane", "engine"))  # fmt: skip
    claim = judged(Source("x"), said, "elsewhere")
    assert claim.verdict == "not reproducible"
    assert "no call of its own" in claim.reason


def test_the_same_call_twice_is_one_times_as_fast() -> None:
    side = Side("newton-euler", "batch", "traced")
    claim = judged(Source("x"), Speedup("s", "p", "q", 1.0, "two-link", "inverse_dynamics", side, side), "here")
    assert claim.measured == pytest.approx(1.0, rel=0.3)
    assert claim.verdict in ("reproduced", "not reproducible")  # the latter where the machine is disturbed


def test_statements_of_dynibo_have_a_place_and_a_verdict() -> None:
    pytest.importorskip("dynibo")
    pytest.importorskip("pinocchio")
    found = dynibo_readme.claims()
    assert len(found) == 4
    assert all(claim.place and claim.quote and claim.reason for claim in found)
    assert sum(claim.measured is not None for claim in found) == 2
