"""The whole command, once, on a small robot with methods of every temper: right, wrong, raising, crashing, hanging,
eating memory, flooding, forking, talking nonsense.

The made-up methods are a plugin of their own, so that the processes of the benchmark find them as any plugin is found.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from dynbench.benchmarks.cli import main
from dynbench.benchmarks.results import tables

pytestmark = pytest.mark.long

PLUGIN = '''
import ctypes, os, sys, time
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
        print("reading where nothing is", flush=True)
        ctypes.string_at(0)

class Hangs(Echo):
    name, title = "hangs", "Hangs when it is checked"
    def prepare(self, robot):
        solver = methods.get("newton-euler").prepare(robot)
        def inverse_dynamics(q, v, a, wrench):
            while wrench is not None:  # which it is not when it is tried out
                time.sleep(0.1)
            return solver.inverse_dynamics(q, v, a)
        return function_solver(self, robot, {"inverse_dynamics": inverse_dynamics})

class Eats(Echo):
    name, title = "eats", "Eats memory"
    def result(self, tau):
        return tau + len(bytearray(10 << 30))

class Floods(Echo):
    name, title = "floods", "Floods the terminal"
    def result(self, tau):
        print("water " * 100)
        return tau

class Forks(Echo):
    name, title = "forks", "Forks, and comes back twice"
    done = False
    def result(self, tau):
        if not Forks.done:
            Forks.done = True
            os.fork()
        return tau

class Nonsense(Echo):
    name, title = "nonsense", "Talks nonsense"
    def result(self, tau):
        return "forty-two"

class Leaves(Echo):
    name, title = "leaves", "Leaves without a word"
    def supports(self, robot):
        sys.stdout.close()
        os._exit(0)
'''
NAMES = ("echo", "wrong", "raises", "crashes", "hangs", "eats", "floods", "forks", "nonsense", "leaves")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "illtempered.py").write_text(PLUGIN)
    info = folder / "illtempered-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: illtempered\nVersion: 1.0\n")
    points = "".join(f"{name} = illtempered:{name.capitalize()}\n" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[dynbench.methods]\n{points}")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    chosen = [word for name in ("newton-euler", "kane", "null", *NAMES) for word in ("-m", name)]
    command = [sys.executable, "-P", "-m", "dynbench.benchmarks", "bench", "-r", "two-link", *chosen]
    command += ["--quantity", "inverse_dynamics", "--quick", "--timeout", "60", "--output", str(folder / "out")]
    command += ["--code", "generic"]  # one tier is enough here: see test_tiers
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
    (best,) = [row for row in rows(run, "timing.csv") if row["mode"] == "batch" and row["times_best"] == "1.0"]
    assert best["verdict"] in ("fastest", "within the noise")
    mark = "~" * (best["verdict"] != "fastest")
    assert f" {best['method']}{mark} " in done.stdout.splitlines()[2]  # two-link
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


def test_a_quick_run_says_whose_first_call_it_leaves_out(run):
    """Every method has its row: a time of the reference and of other packages, a reason of our others."""
    found = rows(run, "startup.csv")
    first = {row["method"]: row for row in found if row["measure"] == "first result in a new process"}
    assert set(first) == {row["method"] for row in found if row["measure"] == "prepare"}
    assert min(float(first[name]["value"]) for name in ("newton-euler", "echo")) > 0.0
    assert {name for name, row in first.items() if row["reason"].startswith("left to the full run")} == {"kane", "null"}


def test_only_what_agrees_is_timed(run):
    reasons = {row["label"]: row["reason"] for row in rows(run, "timing.csv") if row["mode"] == "batch"}
    for right in ("newton-euler", "newton-euler (again)", "kane", "null", "echo", "floods", "forks"):
        assert reasons[right] == "", right
    assert reasons["wrong"].startswith("disagreed with ")
    assert reasons["raises"] == "raised ArithmeticError: =no such number"
    assert reasons["crashes"] == "killed by signal 11 (SIGSEGV); it printed: reading where nothing is"
    assert reasons["hangs"] == "check: did not finish: timed out after 60 s"
    assert reasons["eats"] == "ran out of memory (limit 4 GiB)"
    assert reasons["nonsense"].startswith("raised ")
    assert reasons["leaves"] == "exited (exit status 0)"
    assert len(reasons) == len(NAMES) + 4
    outcomes = {row["label"]: row["outcome"] for row in rows(run, "timing.csv") if row["mode"] == "batch"}
    assert {name: outcomes[name] for name in NAMES} == {
        "echo": "number",
        "wrong": "disagreed",
        "raises": "failed",
        "crashes": "crashed",
        "hangs": "timed out",
        "eats": "out of memory",
        "floods": "number",
        "forks": "number",
        "nonsense": "failed",
        "leaves": "crashed",
    }


def test_every_row_of_every_table_has_an_outcome_that_fits_its_value(run):
    for file, value in (("results.csv", "value"), ("timing.csv", "seconds"), ("counts.csv", "flops"),
                        ("startup.csv", "value"), ("ratios.csv", "ratio"), ("scaling.csv", "value")):  # fmt: skip
        wrong = [row for row in rows(run, file) if (row["outcome"] == "number") != bool(row[value])
                 and row["outcome"] != "disagreed"]  # fmt: skip
        assert wrong == [], file
    assert {row["outcome"] for row in rows(run, "agreement.csv")} >= {"number", "disagreed", "timed out"}


def test_the_methods_beside_them_are_untouched(run):
    """Complete rows, all of them in agreement with each other."""
    honest = {"newton-euler", "kane", "echo", "floods", "forks"}
    pairs = [row for row in rows(run, "agreement.csv") if {row["method"], row["other"]} <= honest]
    assert len(pairs) == 2 * 10
    assert {row["status"] for row in pairs} == {"agrees"}
    assert {row["host"] for row in rows(run, "results.csv")} == {os.uname().nodename}


def test_the_floor_is_that_of_the_mode_and_the_twin_within_the_noise(run):
    """The noise is what this very pair differs by, so no noise can make it fail."""
    found = [row for row in rows(run, "timing.csv") if not row["reason"]]
    named = {(row["label"], row["mode"]): row for row in found}
    assert {mode for _, mode in named} >= {"call", "batch"}
    for row in found:
        assert row["floor"] == named["null", row["mode"]]["seconds"]
        if row["label"] == "newton-euler (again)":
            first = named["newton-euler", row["mode"]]
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


# The command, interrupted as by Ctrl-C when it has written down the first numbers of a method
INTERRUPTED = """
import os, signal, sys
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes.journal import Journal

def put_and_interrupt(self, key, job, answer):
    put(self, key, job, answer)
    if job.function.endswith(":evaluate"):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
put, Journal.put = Journal.put, put_and_interrupt
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_leaves_a_report_of_what_is_there(tmp_path):
    folder = tmp_path / "out"
    command = [sys.executable, "-P", "-c", INTERRUPTED, "bench", "-r", "two-link", "-m", "newton-euler"]
    command += ["-m", "null", "--quantity", "inverse_dynamics", "--quick", "--output", str(folder)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    said = process.stderr
    assert process.returncode == 130, said
    assert "Traceback" not in said
    note = json.loads((folder / "environment.json").read_text())["notes"][0]
    assert re.match(r"interrupted: \d+ of \d+ cells; --resume continues this run$", note)
    assert note in said
    assert "interrupted: " in (folder / "report.html").read_text(encoding="utf-8")
    found = tables.read(folder / "results.csv")
    assert [row for row in found if not row["value"] and not row["reason"]] == []
    assert any(row["measure"] == "noise floor" and row["value"] for row in found)
    assert any(row["reason"] == "not run: the run was interrupted" for row in found)


def test_misuse_is_one_line_and_code_two(tmp_path, capsys):
    for arguments in (
        ["bench", "-r", "pandaa"],
        ["bench", "-m", "kanes"],
        ["papers", "nobody"],
        ["report", str(tmp_path)],
    ):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
