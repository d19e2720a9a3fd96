"""Work against precision and the papers' operation counts, from rows alone."""

from __future__ import annotations

from pathlib import Path

from dynbench.benchmarks.results import schema
from dynbench.reports import count_tables, curves, rows
from dynbench.reports.html import write_report


def written(folder: Path) -> Path:
    """A folder with a sweep of one method, one of springs of two stiffnesses, and a printed count."""
    swept = [
        {"scenario": "swing", "robot": "arm", "method": method, "options": options, "solver": solver, "rtol": rtol,
         "horizon": 1.0, "error": error * rtol, "unit": "rad", "evaluations": 9, "seconds": 1e-3 / rtol, "reason": ""}
        for method, options, error in (("denoc", "", 1.0), ("springs", "k=1", 20.0), ("springs", "k=2", 10.0))
        for solver in ("RK45", "Radau")
        for rtol in (1e-3, 1e-6)
    ]  # fmt: skip
    given_up = {**swept[0], "solver": "BDF", "error": None, "seconds": None, "reason": "more than 9 right-hand sides"}
    schema.WORK_PRECISION.write(folder, [*swept, given_up])
    count = {"paper": "p", "quantity": "motion", "operations": "additions", "formula": "2 n", "counted": "timed source",
             "ours": "3 n", "n": 3, "printed_value": 6.0, "our_value": 9.0, "ratio": 1.5}  # fmt: skip
    schema.PAPER_COUNTS.write(folder, [count])
    return folder


def test_a_panel_for_each_integrator_that_finished(tmp_path):
    (figure,) = curves.precision(rows.read(written(tmp_path)))
    panels = figure.draw.keywords["panels"]
    assert [panel["title"] for panel in panels] == ["RK45", "Radau"]
    plain, *springs = panels[0]["series"]
    assert (plain["method"], plain["label"], len(plain["x"])) == ("denoc", "", 2)
    assert [(line["label"], len(line["x"])) for line in springs] == [("1e-6", 2), ("1e-3", 2)]
    assert "1 runs without a number" in figure.caption


def test_counts_stand_beside_the_formulas(tmp_path):
    grid = count_tables.paper_counts(rows.read(written(tmp_path)))
    (line,) = grid.lines
    assert [cell.text for cell in line.cells[3:]] == ["2 n", "3 n (timed source)", "9 / 6 = 1.50"]


def test_papers_may_be_counted_at_other_sizes(tmp_path):
    counts = [
        {"paper": paper, "quantity": "motion", "operations": "additions", "formula": "2 n", "counted": "timed source",
         "ours": "3 n", "n": n, "printed_value": 2.0 * n, "our_value": 3.0 * n, "ratio": 1.5}
        for paper, n in (("p", 3), ("q", 30))
    ]  # fmt: skip
    schema.PAPER_COUNTS.write(tmp_path, counts)
    first, second = count_tables.paper_counts(rows.read(tmp_path)).lines
    assert [cell.text for cell in first.cells[-2:]] == ["9 / 6 = 1.50", "–"]
    assert [cell.text for cell in second.cells[-2:]] == ["–", "90 / 60 = 1.50"]


def test_both_are_on_the_page(tmp_path):
    page = write_report(written(tmp_path)).read_text(encoding="utf-8")
    assert "Work against precision: swing, 1 s of arm" in page
    assert "9 / 6 = 1.50" in page
    assert (tmp_path / "figures" / "work-precision-swing.svg").is_file()
