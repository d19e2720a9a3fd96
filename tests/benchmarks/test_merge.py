"""`dynbench merge`: every row once, with its machine; a report that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from noisy import write_run

from dynbench.benchmarks.cli import main
from dynbench.benchmarks.results import folders, tables
from dynbench.benchmarks.results.merge import merge
from dynbench.reports import rows
from dynbench.robots.errors import DynbenchError

SMALL: dict[str, Any] = {"robots": ("panda",), "quantities": ("inverse_dynamics",)}


def made(folder: Path, seed: int, host: str, **more: Any) -> Path:
    facts = {"host": host, "cpu": f"cpu of {host}", "date": f"day {seed}"}
    return write_run(folder, seed, **SMALL, **more, facts=facts)


def test_two_machines_keep_their_rows_and_surroundings(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a", 1, "alpha"), made(tmp_path / "b", 2, "beta")
    merge(tmp_path / "out", [a, b])
    found = tables.read(tmp_path / "out" / "timing.csv")
    for folder, host in ((a, "alpha"), (b, "beta")):
        own = tables.read(folder / "timing.csv")
        mine = [row for row in found if row["host"] == host]
        assert [row["seconds"] for row in mine] == [row["seconds"] for row in own]
        assert {row["run"] for row in mine} == {""}
    facts = json.loads((tmp_path / "out" / "environment.json").read_text())
    assert {name: about["cpu"] for name, about in facts["hosts"].items()} == {
        "alpha": "cpu of alpha",
        "beta": "cpu of beta",
    }
    assert facts["cpu"] == "cpu of alpha; cpu of beta"


def test_the_report_of_several_machines_says_so_and_shows_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = made(tmp_path / "a", 1, "alpha"), made(tmp_path / "b", 2, "<b>eta")
    assert main(["merge", str(tmp_path / "out"), str(a), str(b)]) == 0
    assert "2 machine(s): alpha, <b>eta" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Rows of 2 machines or runs" in page
    assert "panda (alpha)" in page
    assert "panda (&lt;b&gt;eta)" in page
    assert "<b>eta" not in page
    assert "cpu of alpha" in page
    assert rows.read(tmp_path / "out").robots == ["panda (alpha)", "panda (<b>eta)"]


def test_the_same_folder_twice_is_taken_once(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a", 1, "alpha"), made(tmp_path / "b", 2, "beta")
    merge(tmp_path / "one", [a, b])
    merge(tmp_path / "two", [tmp_path / "one", b, a])
    assert tables.read(tmp_path / "one" / "timing.csv") == tables.read(tmp_path / "two" / "timing.csv")


def test_runs_of_one_machine_that_contradict_each_other_are_both_kept(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a", 1, "alpha"), made(tmp_path / "b", 2, "alpha")
    merge(tmp_path / "out", [a, b])
    found = tables.read(tmp_path / "out" / "timing.csv")
    assert len(found) == len(tables.read(a / "timing.csv")) + len(tables.read(b / "timing.csv"))
    assert {row["run"] for row in found} == {"day 1", "day 2"}
    assert rows.read(tmp_path / "out").robots == ["panda (alpha, day 1)", "panda (alpha, day 2)"]


def test_halves_of_one_machine_become_one_run_with_one_fastest(tmp_path: Path) -> None:
    a = made(tmp_path / "a", 1, "alpha", methods=("newton-euler", "null"))
    b = made(tmp_path / "b", 2, "alpha", methods=("kane", "denoc"))
    merge(tmp_path / "out", [a, b])
    found = [row for row in tables.read(tmp_path / "out" / "timing.csv") if row["mode"] == "batch"]
    assert {row["run"] for row in found} == {""}
    best = min((row for row in found if row["method"] != "null"), key=lambda row: float(row["seconds"]))
    assert [row["label"] for row in found if row["times_best"] == "1.0"] == [best["label"]]
    tied = [row for row in found if row["verdict"] == "no difference" and row["label"] == row["method"]]
    assert all(float(row["times_best_low"]) <= 1.0 <= float(row["times_best_high"]) for row in tied)
    assert best["verdict"] == ("no difference" if len(tied) > 1 else "fastest")
    assert {row["verdict"] for row in found if row["method"] == "null"} == {"floor"}
    assert len({row["floor"] for row in found}) == 1


def test_the_machine_is_the_column_or_else_the_folder(tmp_path: Path) -> None:
    a = write_run(tmp_path / "mine", 1, **SMALL)
    timing = tables.read(a / "timing.csv")
    tables.write(a / "timing.csv", list({**timing[0], "host": ""}), [{**row, "host": "gamma"} for row in timing])
    merge(tmp_path / "out", [a, write_run(tmp_path / "yours", 2, **SMALL)])
    assert {row["host"] for row in tables.read(tmp_path / "out" / "timing.csv")} == {"gamma", "yours"}


def test_simulations_and_claims_of_both_are_there(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a", 1, "alpha"), made(tmp_path / "b", 2, "beta")
    for folder, reason in ((a, ""), (b, "timed out")):
        (folder / "simulations").mkdir()
        one = {"name": "../up", "paper": "p", "title": "Up", "robot": "r", "plots": [], "reason": reason}
        (folder / "simulations" / "up.json").write_text(json.dumps(one))
        said = [{"paper": "p", "statement": "s", "verdict": "reproduced"}, {"paper": "p", "statement": "t",
                 "verdict": "differs" if reason else "reproduced"}]  # fmt: skip
        tables.write(folder / "claims.csv", list(said[0]), said)
    merge(tmp_path / "out", [a, b])
    found = folders.read(tmp_path / "out")
    assert [one["title"] for one in found.simulations] == ["Up (alpha)", "Up (beta)"]
    assert sorted(path.name for path in (tmp_path / "out" / "simulations").iterdir()) == ["001.json", "002.json"]
    shown = [row["statement"] for row in rows.read(tmp_path / "out")["claims"]]
    assert sorted(shown) == ["s", "t (alpha)", "t (beta)"]


def test_a_folder_with_something_in_it_is_not_written_to(tmp_path: Path) -> None:
    a = made(tmp_path / "a", 1, "alpha")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(DynbenchError, match="is not empty"):
        merge(tmp_path / "out", [a])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_nothing_is_written_when_an_input_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(DynbenchError, match="does not exist"):
        merge(tmp_path / "out", [made(tmp_path / "a", 1, "alpha"), tmp_path / "nowhere"])
    assert not (tmp_path / "out").exists()
