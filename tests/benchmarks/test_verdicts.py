"""The one rule of "fastest": a table of cases, and that everything that names the fastest method uses it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from made_findings import made_findings
from made_runs import Made

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import merge, tables, verdicts
from dynbench.benchmarks.results.verdicts import Timed, rank, shown_rows
from dynbench.benchmarks.runs import bench, outputs
from dynbench.reports import html, markdown, rows, tex, verdict

NAN = math.nan
CASES = {
    "one method": ([Timed("a", 1.0, 0.1)], ("a",), ("fastest",)),
    "clearly faster": ([Timed("a", 2.0, 0.1), Timed("b", 1.0, 0.1)], ("b",), ("slower", "fastest")),
    "a tie is a group without a fastest": (
        [Timed("a", 1.05, 0.1), Timed("b", 1.0, 0.1), Timed("c", 1.2, 0.1)],
        ("b", "a"),
        ("within the noise", "within the noise", "slower"),
    ),
    "the larger noise counts": (
        [Timed("a", 1.3, 0.5), Timed("b", 1.0, 0.02)],
        ("b", "a"),
        ("within the noise", "within the noise"),
    ),
    "noise that was never measured allows no verdict": (
        [Timed("a", 9.0, NAN), Timed("b", 1.0, 0.02)],
        ("b", "a"),
        ("within the noise", "within the noise"),
    ),
    "an inexact method does not compete": (
        [Timed("springs", 0.1, 0.1, exact=False), Timed("a", 1.0, 0.1)],
        ("a",),
        ("not exact", "fastest"),
    ),
    "nor does one that ties": (
        [Timed("springs", 1.0, 0.1, exact=False), Timed("a", 1.0, 0.1)],
        ("a",),
        ("not exact", "fastest"),
    ),
    "nor the baseline": ([Timed("null", 0.1, 0.1, floor=True), Timed("a", 1.0, 0.1)], ("a",), ("floor", "fastest")),
    "nor the twin of an A/A pair": (
        [Timed("a", 1.0, 0.1), Timed("a", 0.99, 0.1, again=True)],
        ("a",),
        ("fastest", "within the noise"),
    ),
    "two calls of one engine are no tie": (
        [Timed("pinocchio", 1.05, 0.1), Timed("pinocchio", 1.0, 0.1), Timed("a", 5.0, 0.1)],
        ("pinocchio",),
        ("within the noise", "fastest", "slower"),
    ),
    "a disturbed time does not compete": (
        [Timed("a", 0.5, 0.1, outcome=Outcome.DISTURBED), Timed("b", 1.0, 0.1)],
        ("b",),
        ("", "fastest"),
    ),
    "what has no time has no verdict": (
        [Timed("a", NAN, NAN, outcome=Outcome.CRASHED), Timed("b", 1.0, 0.1)],
        ("b",),
        ("", "fastest"),
    ),
    "no exact method": ([Timed("springs", 1.0, 0.1, exact=False)], (), ("not exact",)),
    "nothing": ([], (), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rule(case: str) -> None:
    given, group, expected = CASES[case]
    found = rank(given)
    assert (found.fastest, found.verdicts) == (group, expected)
    assert found.text == (group[0] + "~" * (len(group) > 1) if group else "")
    times = [row.seconds for row in given if row.method in group and row.competes]
    assert found.best == min(times) if times else math.isnan(found.best)


def test_the_order_of_rows_does_not_matter() -> None:
    given, group, expected = CASES["a tie is a group without a fastest"]
    found = rank(given[::-1])
    assert (found.fastest, found.verdicts) == (group, expected[::-1])


def test_summaries_show_the_usual_batch_or_the_largest() -> None:
    assert [shown_rows(sizes) for sizes in ([1, 1000, 10_000], [1, 10], [])] == [1000, 10, None]


WINNER = "lagrange-euler"


class Planted:
    """Stands in for the rule: `WINNER` is the fastest, whatever the times are."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, given: list[Timed]) -> verdicts.Ranking:
        self.calls += 1
        return verdicts.Ranking((WINNER,), 1e-6, tuple("fastest" for _ in given))


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Planted:
    found = Planted()
    monkeypatch.setattr(verdicts, "rank", found)
    return found


def test_summary_report_and_latex_use_the_rule(planted: Planted, tmp_path: Path) -> None:
    run = rows.read(Made().write(tmp_path))
    assert planted.calls
    assert f"{WINNER} 1 µs" in markdown.summary(run).replace("\\", "")
    assert f"{WINNER} is the fastest in 6 of 6 pairs" in verdict.speed(run)
    grid = html.tables(run)["times"][0]
    shown = {cell.look for line in grid.lines for cell in line.cells[1:-1] if cell.text.endswith("s")}
    assert shown == {"good"}
    assert r"\textbf" in tex.table(grid)


def test_merge_uses_the_rule(planted: Planted, tmp_path: Path) -> None:
    merge.merge(tmp_path / "out", [Made().write(tmp_path / "a")])
    assert {row["verdict"] for row in tables.read(tmp_path / "out" / "timing.csv")} == {"fastest"}


def test_tables_and_terminal_use_the_rule(planted: Planted) -> None:
    findings = made_findings({"newton-euler": 1e-6, "kane": 2e-6, "null": 1e-8})
    assert {row["verdict"] for row in outputs.times(findings) if row["seconds"] > 0.0} == {"fastest"}
    assert f"{WINNER} 1 us" in bench.best(findings)
