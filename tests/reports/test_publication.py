"""Tables and figures for papers: what is chosen, the winner among it, and every format."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynbench.benchmarks import cli
from dynbench.benchmarks.results import schema
from dynbench.reports import publication
from dynbench.reports.publication import Choice
from dynbench.robots.errors import DynbenchError

OURS = ("newton-euler", "gibbs-appell", "lagrange-euler")


@pytest.fixture(scope="module")
def folder(made: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = made(simulations=False).write(tmp_path_factory.mktemp("chosen"))
    return found


def test_times_in_latex_have_rules_label_caption_and_the_winner_in_bold(folder: Path) -> None:
    text = publication.table(folder, "times", Choice(("panda",), OURS, ("inverse_dynamics",)), "latex")
    for wanted in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:times}", r"\caption{Time of the inverse"):
        assert wanted in text
    (line,) = re.findall(r"panda & .*", text)
    assert line.count(r"\textbf") == 1
    times = [float(value) for value in re.findall(r"([\d.]+) ns", line)]
    bold = re.search(r"textbf\{([\d.]+) ns", line)
    assert bold is not None
    assert float(bold[1]) == min(times)
    for internal in ("again", "null", "noise", "rounds", "host"):
        assert internal not in text


def test_the_winner_is_chosen_among_the_chosen_methods(folder: Path) -> None:
    all_of_them = publication.table(folder, "times", Choice(("panda",), OURS, ("inverse_dynamics",)), "markdown")
    heads, _, line = (re.split(r"\s*\|\s*", row.strip("| ")) for row in all_of_them.strip().splitlines()[-3:])
    (winner,) = [name for name, cell in zip(heads, line, strict=True) if cell.startswith("**")]
    rest = tuple(name for name in OURS if name != winner)
    text = publication.table(folder, "times", Choice(("panda",), rest, ("inverse_dynamics",)), "markdown")
    assert winner not in text
    assert text.count("**") == 2


def test_ties_are_bold_together(made: Callable[..., Any], tmp_path: Path) -> None:
    run = made(robots=("panda",), simulations=False).write(tmp_path)
    same = {"seconds": "1e-7", "low": "0.99e-7", "high": "1.01e-7"}
    rows = [{**row, **(same if row["method"] in OURS[:2] else {})} for row in schema.TIMING.read(run)]
    schema.TIMING.write(run, rows)
    text = publication.table(run, "times", Choice((), OURS[:2], ("inverse_dynamics",)), "latex")
    assert text.count(r"\textbf") == 2


def test_an_engine_is_shown_by_its_own_call_and_says_so(folder: Path) -> None:
    choice = Choice(("panda",), ("newton-euler", "pinocchio"), ("inverse_dynamics",))
    text = publication.table(folder, "times", choice, "csv")
    (row,) = csv.DictReader(io.StringIO(text))
    stored = schema.TIMING.read(folder)
    place = ("panda", "pinocchio", "inverse_dynamics", "engine-batch")
    (own,) = [r for r in stored if (r["robot"], r["method"], r["quantity"], r["mode"]) == place]
    assert float(row["pinocchio"]) == pytest.approx(float(own["seconds"]))
    assert "pinocchio (its own batch call)" in publication.table(folder, "times", choice, "latex")


def test_ratios_name_the_call_beside_the_numbers(folder: Path) -> None:
    text = publication.table(folder, "ratios", Choice(("panda",), OURS, ("inverse_dynamics",)), "markdown")
    assert "its own batch call" in text
    assert re.search(r"\| panda +\| [\d.]+ \\\[[\d.]+, [\d.]+\\\]", text)


@pytest.mark.parametrize("content", publication.TABLES)
@pytest.mark.parametrize("form", publication.FORMS)
def test_every_table_has_every_format(folder: Path, content: str, form: str) -> None:
    text = publication.table(folder, content, Choice(), form)
    assert "newton-euler" in text or content == "agreement"
    assert "nan" not in text
    assert "None" not in text


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(robots=("pnda",)), "no robot 'pnda'.*did you mean 'panda'"),
        (Choice(methods=("kane",)), "no method 'kane' in this run, which has newton-euler"),
        (Choice(quantities=("bias",)), "no quantity 'bias'"),
        (Choice(engine="drake"), "no engine 'drake' in this run, which has pinocchio"),
        (Choice(code="traced"), "no code 'traced' in this run, which has none"),
    ],
)
def test_a_name_that_is_not_in_the_run_is_named(folder: Path, choice: Choice, message: str) -> None:
    with pytest.raises(DynbenchError, match=message):
        publication.table(folder, "times", choice, "latex")


def test_names_are_escaped(made: Callable[..., Any], tmp_path: Path) -> None:
    run = made(robots=("a_b & \\input{x}",), methods=("newton-euler", "<b>|$x$"), simulations=False).write(tmp_path)
    latex = publication.table(run, "times", Choice(), "latex", label="tab:{x}_%")
    assert r"a\_b \& \textbackslash{}input\{x\}" in latex
    assert r"\label{tab:-x---}" in latex
    assert "<b>" not in publication.table(run, "times", Choice(), "markdown")


def test_the_verbs_write_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["-r", "panda", "-m", "newton-euler", "-m", "gibbs_appell", "--quantity", "inverse_dynamics"]
    assert cli.main(["table", str(folder), "times", *chosen]) == 0
    assert r"\toprule" in capsys.readouterr().out
    for ending, start in ((".tex", "% needs"), (".csv", "robot,newton-euler,gibbs-appell"), (".md", "Time of")):
        path = tmp_path / f"t{ending}"
        assert cli.main(["table", str(folder), *chosen, "-o", str(path)]) == 0
        assert path.read_text(encoding="utf-8").startswith(start)
    for ending, begin in ((".svg", b"<svg"), (".pdf", b"%PDF"), (".csv", b"robot,method")):
        path = tmp_path / f"f{ending}"
        assert cli.main(["figure", str(folder), "speed", *chosen, "-o", str(path)]) == 0
        assert path.read_bytes().startswith(begin)
    drawn = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert "gibbs-appell" in drawn
    assert "lagrange-euler" not in drawn
    assert cli.main(["figure", str(folder), "speed", "-o", str(tmp_path / "f.png")]) == 2
    assert "expected a name that ends in .pdf, .svg, .csv" in capsys.readouterr().err


def test_the_overview_is_the_picture_of_the_page_with_its_quiet_line(folder: Path, tmp_path: Path) -> None:
    chosen = ["--quantity", "inverse_dynamics"]
    assert cli.main(["figure", str(folder), "overview", *chosen, "-o", str(tmp_path / "f.svg")]) == 0
    svg = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert len(svg) < 150_000
    assert "Time relative to the fastest: inverse dynamics, batches of 1000 states, one thread" in svg
    assert "AMD EPYC (fma)" in svg
    assert 'data-method="gibbs-appell"' in svg
    cli.main(["figure", str(folder), "overview", *chosen, "-o", str(tmp_path / "f.csv")])
    with (tmp_path / "f.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["robot"] for row in rows} == {"panda", "chain-30", "gough-stewart"}
    for robot in ("panda", "chain-30"):
        mine = [row for row in rows if row["robot"] == robot]
        best = min(mine, key=lambda row: float(row["times the fastest"]))
        assert best["mark"] in ("fastest", "tied")
        assert float(best["times the fastest"]) == pytest.approx(1.0)
    (lumped,) = [row for row in rows if row["method"] == "lagrange-stewart-lumped"]
    assert (lumped["robot"], lumped["mark"]) == ("gough-stewart", "approximate")


def test_the_overview_of_traced_code_has_its_digits(made: Callable[..., Any], tmp_path: Path) -> None:
    from made_runs import add_traced

    run = add_traced(made(robots=("panda",), simulations=False).write(tmp_path / "run"))
    rows = list(schema.AGREEMENT.read(run))
    own = {"method": "gibbs-appell", "other": "gibbs-appell", "code": "generic", "other_code": "traced"}
    pair = next(row for row in rows if row["other"] == "gibbs-appell" and row["quantity"] == "inverse_dynamics")
    rest = [row for row in rows if "gibbs-appell" not in (row["method"], row["other"])]
    schema.AGREEMENT.write(run, [*rest, {**pair, **own, "value": "2e-13"}])
    chosen = ["--quantity", "inverse_dynamics", "--code", "traced"]
    assert cli.main(["figure", str(run), "overview", *chosen, "-o", str(tmp_path / "f.csv")]) == 0
    with (tmp_path / "f.csv").open(encoding="utf-8", newline="") as file:
        digits = {row["method"]: row["digits"] for row in csv.DictReader(file)}
    assert digits["gibbs-appell"] == "12"
