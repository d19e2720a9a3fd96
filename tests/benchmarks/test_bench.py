"""The whole command, once, on a small robot with methods of every temper: right, wrong, raising and crashing.

The made-up methods are a plugin of their own, so that the processes of the benchmark find them as any plugin is found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from dynbench.benchmarks.cli import main
from dynbench.benchmarks.runs import tables

PLUGIN = '''
import os
from dynbench import methods
from dynbench.methods import Method, function_solver

class Echo(Method):
    """newton-euler by another name, in plain Python"""
    name, title, reference = "echo", "Echo", "none"
    def result(self, tau):
        return tau
    def prepare(self, robot):
        solver = methods.get("newton-euler").prepare(robot)
        def inverse_dynamics(q, v, a, wrench):
            return self.result(solver.inverse_dynamics(q, v, a, wrench))
        return function_solver(self, robot, {"inverse_dynamics": inverse_dynamics})

class Wrong(Echo):
    name, title = "wrong", "Wrong by a factor"
    def result(self, tau):
        return 1.001 * tau

class Raises(Echo):
    name, title = "raises", "Raises"
    def result(self, tau):
        raise ArithmeticError("=no such number")

class Crashes(Echo):
    name, title = "crashes", "Crashes"
    def result(self, tau):
        os.abort()
'''
NAMES = ("echo", "wrong", "raises", "crashes")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "tempers.py").write_text(PLUGIN)
    info = folder / "tempers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tempers\nVersion: 1.0\n")
    points = "".join(f"{name} = tempers:{name.capitalize()}\n" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[dynbench.methods]\n{points}")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    chosen = [word for name in ("newton-euler", "null", *NAMES) for word in ("-m", name)]
    command = [sys.executable, "-P", "-m", "dynbench.benchmarks", "bench", "-r", "two-link", *chosen]
    command += ["--quantity", "inverse_dynamics", "--quick", "--output", str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done, folder / "out"


def rows(run, name):
    return tables.read(run[1] / name)


def test_what_went_wrong_shows_in_the_exit_code_and_on_the_screen(run):
    done, _ = run
    assert done.returncode == 1
    assert "DIFFERS" in done.stdout
    assert "wrong" in done.stdout
    assert "newton-euler" in done.stdout.splitlines()[2]  # the fastest on two-link
    assert len(done.stdout.splitlines()) <= 50
    assert "timing: " in done.stderr


def test_all_files_are_there(run):
    names = ("results", "agreement", "timing", "ratios", "scaling", "counts", "startup", "claims", "errata")
    for file in (*(f"{name}.csv" for name in names), "environment.json", "disagreements.json", "report.html"):
        assert (run[1] / file).is_file(), file
    facts = json.loads((run[1] / "environment.json").read_text())
    assert facts["robots"] == {"two-link": {"bodies": 2, "nq": 2, "nv": 2}}
    assert "--quick" in facts["command"]


@pytest.mark.parametrize(
    ("file", "value"),
    [
        ("results.csv", "value"),
        ("timing.csv", "seconds"),
        ("counts.csv", "flops"),
        ("startup.csv", "value"),
        ("agreement.csv", "value"),
    ],
)
def test_every_row_has_a_number_or_a_reason(run, file, value):
    found = rows(run, file)
    assert found
    assert [row for row in found if not row[value] and not row["reason"]] == []


def test_only_what_agrees_is_timed(run):
    reasons = {row["label"]: row["reason"] for row in rows(run, "timing.csv") if row["mode"] == "batch"}
    assert reasons["newton-euler"] == reasons["newton-euler (again)"] == reasons["echo"] == reasons["null"] == ""
    assert reasons["wrong"].startswith("disagreed with ")
    assert "ArithmeticError" in reasons["raises"]
    assert reasons["crashes"].startswith("the process died (signal")


def test_the_floor_is_below_every_method_and_the_twin_within_the_noise(run):
    found = [row for row in rows(run, "timing.csv") if not row["reason"]]
    for row in found:
        if row["label"] == "echo":
            assert float(row["seconds"]) > float(row["floor"])
    for row in found:
        if row["label"] == "newton-euler (again)":
            first = next(r for r in found if r["label"] == "newton-euler" and r["mode"] == row["mode"])
            ratio = float(row["seconds"]) / float(first["seconds"])
            assert 1 / (1 + float(row["noise"])) <= ratio * 1.0001
            assert ratio <= 1.0001 * (1 + float(row["noise"]))


def test_pytest_benchmark_can_read_what_was_kept(run):
    kept = sorted((run[1] / "pytest-benchmark").glob("pass*.json"))
    assert len(kept) == 3
    command = [sys.executable, "-P", "-m", "pytest_benchmark", "compare", *map(str, kept[:2])]
    compared = subprocess.run(command, capture_output=True, text=True, check=False, cwd=run[1])
    assert compared.returncode == 0, compared.stderr
    assert "two-link|newton-euler|inverse_dynamics|batch|1000" in compared.stdout


def test_the_report_can_be_written_again_from_the_tables(run, capsys):
    page = run[1] / "report.html"
    page.unlink()
    assert main(["report", str(run[1])]) == 0
    assert str(page) in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    for word in ("two-link", "newton-euler", "wrong"):
        assert word in text


def test_misuse_is_one_line_and_code_two(tmp_path, capsys):
    for arguments in (
        ["bench", "-r", "pandaa"],
        ["bench", "-m", "kanes"],
        ["papers", "nobody"],
        ["report", str(tmp_path)],
    ):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
