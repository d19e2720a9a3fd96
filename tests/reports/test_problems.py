"""Benchmark problems in a report: tables from rows, figures, drawings, and the section of the page."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import pytest
from made_runs import Made

from dynbench.benchmarks.results import schema
from dynbench.benchmarks.results.best_runs import RECORDED
from dynbench.benchmarks.simulation.recording import Panel, Plot, Series, Simulation
from dynbench.reports import html, problems, rows, verdict
from dynbench.reports.figure import render

REASON = "integration stopped at t = 1.25 s: the <step> became too small"


def run_row(problem: str, method: str, solver: str, rtol: float, error: float, cpu: float) -> dict[str, object]:
    return {"problem": problem, "robot": problem, "method": method, "solver": solver, "rtol": rtol, "horizon": 10.0,
            "reached": 10.0, "error": error, "digits": -math.log10(error), "evaluations": 1234, "cpu": cpu,
            "energy_error": 1e-9, "singular": 3}  # fmt: skip


ROWS = [
    run_row("swing", "newton-euler", "RK45", 1e-4, 1e-3, 0.01),
    run_row("swing", "newton-euler", "RK45", 1e-8, 2e-7, 0.02),
    run_row("swing", "newton-euler", "DOP853", 1e-8, 1e-10, 0.04),
    run_row("swing", "gibbs-appell", "DOP853", 1e-8, 1e-9, 0.05),
    {"problem": "swing", "method": "hollerbach", "reason": "does not compute it", "outcome": "unsupported"},
    run_row("loop", "newton-euler", "DOP853", 1e-8, 1e-6, 0.1),
    {"problem": "loop", "method": "gibbs-appell", "solver": "DOP853", "rtol": 1e-8, "reached": 1.25, "reason": REASON,
     "outcome": "failed"},
]  # fmt: skip


def recording(name: str, planar: bool) -> Simulation:
    t = [0.1 * k for k in range(40)]
    points = [[0.0, 0.0, 0.0, math.sin(x), -math.cos(x), 0.0 if planar else 0.5] for x in t]
    motion = {"t": t, "points": points, "lines": [[0, 1, "link"]], "dots": [[0, "ground"]], "planar": planar}
    plot = Plot("outputs", "Outputs", "Ours.", "time (s)", [Panel("x", "m", [Series("x", "newton-euler", t, t)])])
    return Simulation(f"problem-{name}", RECORDED, f"The {name}", name, [plot], motion)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A run of problems alone."""
    made = tmp_path_factory.mktemp("problems")
    schema.PROBLEMS.write(made, ROWS)
    facts = {"only problems": ["swing", "loop"], "methods": {"newton-euler": {"exact": True}}}
    (made / "environment.json").write_text(json.dumps(facts), encoding="utf-8")
    (made / "simulations").mkdir()
    for one in (recording("swing", True), recording("loop", False)):
        (made / "simulations" / f"{one.name}.json").write_text(json.dumps(asdict(one)), encoding="utf-8")
    return made


def test_the_table_has_digits_or_how_far_a_run_came(folder):
    grid, _ = problems.tables(rows.read(folder))
    assert [head.text for head in grid.heads] == ["method", "swing", "loop"]
    texts = {line.cells[0].text: [cell.text for cell in line.cells[1:]] for line in grid.lines}
    assert texts == {"newton-euler": ["10.0", "6.0"], "gibbs-appell": ["9.0", "to 1.25 s"]}
    assert grid.notes == [REASON]
    assert next(line for line in grid.lines if line.method == "gibbs-appell").cells[2].look == "bad"


def test_the_best_runs_have_the_least_time_to_each_error(folder):
    _, grid = problems.tables(rows.read(folder))
    first = [cell.text for cell in grid.lines[0].cells]
    assert first == ["swing", "newton-euler", "10.0", "DOP853 1e-08", "1234", "40 ms", "20 ms", "20 ms", "40 ms",
                     "1.0e-09", "3", "10"]  # fmt: skip
    assert len(grid.lines) == 4  # those that apply


def test_each_problem_has_a_drawing_and_a_plot_of_work(folder):
    run = rows.read(folder)
    drawn = [render(figure) for figure in problems.figures(run)]
    found = problems.shown(run, drawn)
    assert [one.title for one in found] == ["The swing", "The loop"]
    for one in found:
        assert [figure.figure.name for figure in one.figures] == [
            f"problem-{one.name}-drawing", f"problem-{one.name}-precision",
        ]  # fmt: skip
        assert one.recording["motion"]
    assert 'data-method="gibbs-appell"' in found[0].figures[1].inline
    drawing = found[0].figures[0]
    assert len({row[0] for row in drawing.figure.rows}) == problems.POSITIONS
    assert "seen across (m)" in found[1].figures[0].csv


def test_the_page_of_problems_alone(folder):
    text = html.write_report(folder).read_text(encoding="utf-8")
    assert 'id="problems"' in text
    assert 'id="problem-swing"' in text
    assert 'id="motion-problem-loop"' in text
    assert "the &lt;step&gt; became too small" in text
    assert "on 2 problems" in text
    assert text.count('class="simulation" id="problem-') == 2  # of which the page shows the chosen one
    assert text.count('id="problems"') == 1
    for section in ("fastest", "agree", "simulations", "papers"):
        assert f'<h2 id="{section}">' not in text
    said = verdict.sentences(rows.read(folder))
    assert said == [
        "On 2 benchmark problems with known answers, 3 of 4 pairs of problem and exact method reach an error of 1e-06; "
        "not gibbs-appell on loop."
    ]
    assert (folder / "figures" / "problem-swing-precision.svg").is_file()
    assert (folder / "tables" / "problems.tex").is_file()


def test_a_run_without_problems_says_how_to_run_them(tmp_path):
    page = html.write_report(Made().write(tmp_path)).read_text(encoding="utf-8")
    assert "No benchmark problem was run: <code>dynbench problems --output DIR</code>" in page
    assert len(verdict.sentences(rows.read(tmp_path))) == 3
