"""The one rule of "fastest": a table of cases, and that everything that names the fastest method uses it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from made_findings import made_findings
from made_runs import Made

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import merge, tables, verdicts
from dynbench.benchmarks.results.verdicts import Timed, rank, shown_rows
from dynbench.benchmarks.runs import outputs, screen
from dynbench.reports import html, markdown, rows, tex, time_tables, verdict
from dynbench.reports.views import Views

NAN = math.nan


def timed(method: str, seconds: float, noise: float, **more: Any) -> Timed:
    return Timed(method, seconds, seconds, seconds, noise, **more)


CASES = {
    "one method": ([timed("a", 1.0, 0.1)], ("a",), ("fastest",)),
    "a wrapper of an engine does not compete": (
        [timed("a", 2.0, 0.1), timed("engine", 1.0, 0.1, wrapper=True)],
        ("a",),
        ("fastest", "faster"),
    ),
    "clearly faster": ([timed("a", 2.0, 0.1), timed("b", 1.0, 0.1)], ("b",), ("slower", "fastest")),
    "a tie is a group without a fastest": (
        [timed("a", 1.05, 0.1), timed("b", 1.0, 0.1), timed("c", 1.2, 0.1)],
        ("b", "a"),
        ("no difference", "no difference", "slower"),
    ),
    "the larger noise counts": (
        [timed("a", 1.3, 0.5), timed("b", 1.0, 0.02)],
        ("b", "a"),
        ("no difference", "no difference"),
    ),
    "a resolution that was never measured allows no verdict": (
        [timed("a", 9.0, NAN), timed("b", 1.0, 0.02)],
        ("b", "a"),
        ("no difference", "no difference"),
    ),
    "an inexact method does not compete": (
        [timed("springs", 0.1, 0.1, exact=False), timed("a", 1.0, 0.1)],
        ("a",),
        ("not exact", "fastest"),
    ),
    "nor does one that ties": (
        [timed("springs", 1.0, 0.1, exact=False), timed("a", 1.0, 0.1)],
        ("a",),
        ("not exact", "fastest"),
    ),
    "nor the baseline": ([timed("null", 0.1, 0.1, floor=True), timed("a", 1.0, 0.1)], ("a",), ("floor", "fastest")),
    "nor the twin of an A/A pair": (
        [timed("a", 1.0, 0.1), timed("a", 0.99, 0.1, again=True)],
        ("a",),
        ("fastest", "no difference"),
    ),
    "two calls of one engine are no tie": (
        [timed("pinocchio", 1.05, 0.1), timed("pinocchio", 1.0, 0.1), timed("a", 5.0, 0.1)],
        ("pinocchio",),
        ("no difference", "fastest", "slower"),
    ),
    "a disturbed time does not compete": (
        [timed("a", 0.5, 0.1, outcome=Outcome.DISTURBED), timed("b", 1.0, 0.1)],
        ("b",),
        ("", "fastest"),
    ),
    "what has no time has no verdict": (
        [timed("a", NAN, NAN, outcome=Outcome.CRASHED), timed("b", 1.0, 0.1)],
        ("b",),
        ("", "fastest"),
    ),
    "no exact method": ([timed("springs", 1.0, 0.1, exact=False)], (), ("not exact",)),
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


def test_pairs_measured_together_decide_by_their_own_interval() -> None:
    given = [timed("a", 1.05, 0.1), timed("b", 1.0, 0.1)]
    assert rank(given).fastest == ("b", "a")
    assert rank(given, lambda a, b: (1.04, 1.06)).fastest == ("b",)


def stored_row(method: str, seconds: float, mode: str = "batch", code: str = "traced", **more: Any) -> dict[str, Any]:
    """A row of timing.csv whose own interval is wide."""
    head = {"robot": "arm", "method": method, "label": method, "quantity": "bias", "mode": mode, "rows": "1000"}
    numbers = {"seconds": seconds, "low": 0.9 * seconds, "high": 1.1 * seconds, "noise": 0.01, "outcome": "number"}
    return {**head, "code": code, **numbers, **more}


def test_stored_rows_are_judged_by_the_interval_of_their_pairs() -> None:
    """The page and the terminal said "tied" where timing.csv said "slower"."""
    narrow = {"times_best_low": 1.04, "times_best_high": 1.06}
    best = stored_row("b", 1.0)
    assert verdicts.rank_records([stored_row("a", 1.05), best], {}).fastest == ("b", "a")
    paired = verdicts.rank_records([stored_row("a", 1.05, times_best=1.05, **narrow), best], {})
    assert (paired.fastest, paired.intervals[0]) == (("b",), (1.04, 1.06))
    of_another_best = verdicts.rank_records([stored_row("a", 1.05, times_best=1.5, **narrow), best], {})
    assert of_another_best.fastest == ("b", "a")


@pytest.mark.parametrize(("seconds", "expected"), [(1.05, (1.03, 1.07)), (0.95, (1 / 0.97, 1 / 0.93))])
def test_an_engine_is_judged_beside_traced_code_by_the_stored_ratio(
    seconds: float, expected: tuple[float, float]
) -> None:
    """Its row of timing.csv holds its time over the best of generic code."""
    generic = {"times_best": 0.5, "times_best_low": 0.49, "times_best_high": 0.51}
    engine = stored_row("engine", seconds, "engine-batch", "", **generic)
    given = [stored_row("a", 1.0), engine]
    head = {name: given[0][name] for name in ("robot", "quantity", "mode", "rows", "method", "code")}
    ratio = {**head, "peer": "engine", "outcome": "number", "low": seconds - 0.02, "high": seconds + 0.02}
    peers = {"engine": {"peer": True}}
    for called, wanted in (("its own batch call", expected), ("our wrapper", None)):
        found = verdicts.rank_records(given, peers, verdicts.stored_with([{**ratio, "peer_call": called}]))
        slower = found.intervals[1 if seconds > 1.0 else 0]
        assert (slower == pytest.approx(wanted)) if wanted else (slower[0] < 1.0 < slower[1])


@pytest.mark.parametrize(("mode", "group"), [("batch", ("kane",)), ("engine-batch", ("engine",))])
def test_an_engine_competes_by_its_own_call_alone(mode: str, group: tuple[str, ...]) -> None:
    common = {"noise": 0.01, "outcome": "number"}
    given = [
        {"method": "kane", "label": "kane", "mode": "batch", "seconds": 2.0, "low": 2.0, "high": 2.0, **common},
        {"method": "engine", "label": "engine", "mode": mode, "seconds": 1.0, "low": 1.0, "high": 1.0, **common},
    ]
    assert verdicts.rank_records(given, {"engine": {"peer": True}}).fastest == group


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

    def __call__(self, given: list[Timed], pairing: Any = None) -> verdicts.Ranking:
        self.calls += 1
        return verdicts.Ranking((WINNER,), 1e-6, tuple("fastest" for _ in given), tuple((1.0, 1.0) for _ in given))


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
    grid = time_tables.times(run)[0]
    shown = {cell.look for line in grid.lines for cell in line.cells[1:-1] if cell.text.endswith("s")}
    assert shown == {"good"}
    assert r"\textbf" in tex.table(grid)
    lines = html.tables(run)["times"][0].lines
    assert {line.cells[-2].look for line in lines} == {"good"}
    found = Views(run).found.values()
    assert {(view.fastest, view.said[0].partition(" is the fastest")[0]) for view in found} == {((WINNER,), WINNER)}


def test_merge_uses_the_rule(planted: Planted, tmp_path: Path) -> None:
    merge.merge(tmp_path / "out", [Made().write(tmp_path / "a")])
    assert {row["verdict"] for row in tables.read(tmp_path / "out" / "timing.csv")} == {"fastest"}


def test_tables_and_terminal_use_the_rule(planted: Planted) -> None:
    findings = made_findings({"newton-euler": 1e-6, "kane": 2e-6, "null": 1e-8})
    assert {row["verdict"] for row in outputs.times(findings) if row["seconds"] > 0.0} == {"fastest"}
    assert f"{WINNER} 1 us" in screen.best(findings)
