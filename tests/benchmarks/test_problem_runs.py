"""Runs of problems: sweeps by a method, problems of other packages, the table, Exudyn as a judge."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from planted import entry_points

from dynbench import methods
from dynbench.benchmarks.cli import listing, main
from dynbench.benchmarks.problems import exudyn_judge, registry, running, sweep
from dynbench.benchmarks.problems.n_four_bar import n_four_bar
from dynbench.benchmarks.problems.pendulum import pendulum
from dynbench.benchmarks.problems.spatial_slider_crank import spatial_slider_crank
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.processes.workers import Answer
from dynbench.benchmarks.results import schema
from dynbench.benchmarks.results.best_runs import best, how
from dynbench.benchmarks.runs import stages
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, choose
from dynbench.robots.errors import DynbenchError, UnknownNameError

# A package's own problem: a mass that falls
SOURCE = '''"""A mass that falls.

More about it.
"""
import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots import Body, Prismatic, Robot


def problems():
    mass = Body(name="mass", joint=Prismatic([0, 0, 1]), mass=2.0)
    return [
        Problem(
            name="falling-mass", title="A falling mass", robot=Robot.from_bodies("falling-mass", [mass]),
            q0=np.zeros(1), v0=np.array([3.0]), horizon=1.0, output_names=("height, m",),
            outputs=lambda q, v: q, answer=lambda t: np.array([3.0 * t - 0.5 * 9.81 * t * t]), source="Galilei",
            solvers=("RK45",), rtols=(1e-6,),
        )
    ]
'''
METHODS = ("newton-euler", "null")


def run_here(stage, jobs):
    """The answers of jobs that are run in this process."""
    answers = []
    for job in jobs:
        module, _, name = job.function.partition(":")
        try:
            answers.append(Answer(getattr(import_module(module), name)(**job.arguments)))
        except Exception as error:
            answers.append(Answer(reason=f"raised {type(error).__name__}: {error}"))
    return answers


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    (tmp_path / "falling.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "falling_apart.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    (tmp_path / "falling_short.py").write_text("def problems():\n    return [3]\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    points = {"falling-mass": "falling", "absent": "no_such_module", "apart": "falling_apart", "short": "falling_short"}
    points["pendulum"] = "falling"
    with entry_points(monkeypatch, registry, **points):
        yield
    for name in ("falling", "falling_short"):
        sys.modules.pop(name, None)


# Problems of other packages -------------------------------------------------------------------------------------------


def test_a_plugin_is_a_problem_and_runs_by_name(plugins):
    found = running.run(registry.checked_names(["falling_mass"]), METHODS, ask=run_here)
    run, refused = found.rows
    assert run["digits"] > 12.0
    assert run["energy_error"] < 1e-12
    assert (refused["outcome"], refused["reason"]) == (Outcome.UNSUPPORTED, "it computes nothing")
    assert found.lost == 0
    assert "falling-mass  newton-euler" in running.table(found.rows)


def test_listing_reads_the_first_line_and_imports_nothing(plugins):
    entries = {entry["name"]: entry for entry in listing.problem_entries()}
    assert entries["falling-mass"]["title"] == "A mass that falls."
    assert "falling" not in sys.modules
    assert "'dynbench.problems': there is no such module" in entries["absent"]["unavailable"]
    assert "Simple pendulum" in entries["pendulum"]["title"]  # our names are reserved
    assert registry.load("pendulum")[0].title == "Simple pendulum"


def test_a_broken_plugin_is_a_row_with_its_error_and_stops_nothing(plugins):
    found = running.run(["apart", "absent", "short", "falling-mass"], METHODS[:1], ask=run_here)
    reasons = {row["problem"]: row["reason"] for row in found.rows}
    assert "the problem 'apart' (falling_apart) cannot be used: ModuleNotFoundError" in reasons["apart"]
    assert "the problem 'absent' (no_such_module) cannot be used" in reasons["absent"]
    assert "expected problems() to return a list of Problem, got 3" in reasons["short"]
    assert reasons["falling-mass"] == ""
    assert found.lost == 3
    assert "ModuleNotFoundError" in running.table(found.rows)


def test_names_of_problems():
    assert {"pendulum", "n-four-bar", "andrews", "bricard", "flyball-governor"} < set(registry.names())
    assert "random-loops" not in registry.names()  # which has no answers
    assert registry.checked_names([]) == registry.names()
    with pytest.raises(UnknownNameError, match="no problem is called 'pendulums'"):
        registry.checked_names(["pendulums"])
    with pytest.raises(DynbenchError):
        registry.checked_names(["nothing-like-it"])


# Sweeps ---------------------------------------------------------------------------------------------------------------


def test_tighter_tolerances_give_more_digits():
    found = sweep.runs(pendulum(), methods.get("newton-euler"), quick=True)
    assert [(run.solver, run.rtol) for run in found] == [
        (name, rtol) for name in ("DOP853", "RK45") for rtol in (1e-4, 1e-8, 1e-12)
    ]
    for three in (found[:3], found[3:]):
        assert [run.digits for run in three] == sorted(run.digits for run in three)
        assert [run.evaluations for run in three] == sorted(run.evaluations for run in three)
    best_run = max(found, key=lambda run: run.digits)
    assert best_run.digits > 11.0
    assert best_run.digits == pytest.approx(-math.log10(best_run.error))
    assert all(run.cpu > 0.0 and run.reached == 10.0 and run.outcome is Outcome.NUMBER for run in found)


def test_a_method_that_does_not_apply_says_why():
    (run,) = sweep.runs(n_four_bar(2), methods.get("hollerbach"))
    assert run.outcome is Outcome.UNSUPPORTED
    assert run.reason == "hollerbach does not compute forward_dynamics"
    (run,) = sweep.runs(pendulum(), methods.get("maggi"))
    assert "closed loops" in run.reason


def test_a_run_that_ends_early_is_a_row_with_what_there_is():
    problem = n_four_bar(2)
    solver = methods.get("newton-euler").prepare(problem.robot)
    run, _ = sweep.timed(problem, solver, "DOP853", 1e-10, 600)
    assert run.outcome is Outcome.LEFT_OUT
    assert run.reason.startswith("more than 600 right-hand sides at t = ")
    assert 1.0 < run.reached < 10.0
    assert run.energy_error < 1e-6
    assert math.isnan(run.digits)
    assert run.singular > 0


def test_runs_beyond_the_time_of_a_method_are_left_out(monkeypatch):
    monkeypatch.setattr(sweep, "BUDGET", 1e-6)
    found = sweep.runs(pendulum(), methods.get("newton-euler"))
    assert found[0].outcome is Outcome.NUMBER
    assert {run.outcome for run in found[1:]} == {Outcome.LEFT_OUT}
    assert "expected at most 0 s" in found[1].reason


def test_an_error_in_a_run_is_its_reason(monkeypatch):
    def raises(*arguments, **options):
        raise ValueError("array must not contain infs or NaNs")

    monkeypatch.setattr(sweep, "simulate", raises)
    found = sweep.runs(pendulum(), methods.get("newton-euler"), quick=True)
    assert {(run.outcome, run.reason) for run in found} == {
        (Outcome.FAILED, "ValueError: array must not contain infs or NaNs")
    }


# Tables ---------------------------------------------------------------------------------------------------------------


def row(error: float, cpu: float, rtol: float = 1e-6, **more):
    digits = -math.log10(error)
    return {"problem": "p", "method": "m", "solver": "RK45", "rtol": rtol, "error": error, "digits": digits,
            "cpu": cpu, "outcome": "number", **more}  # fmt: skip


def test_the_best_run_and_the_least_time_to_an_error():
    found = best([row(1e-3, 0.1), row(1e-7, 0.5, 1e-8), row(5e-7, 0.4), row(1e-8, 3.0, 1e-10)])
    assert found.row["digits"] == 8.0
    assert found.cheapest[:2] == (0.4, 0.4)
    assert math.isnan(found.cheapest[2])
    assert how(found.row) == "RK45 1e-10"
    partial = {"problem": "p", "method": "m", "reached": 3.0, "digits": None}
    assert best([{**partial, "reached": math.nan}, partial, {**partial, "reached": "2"}]).row["reached"] == 3.0


def test_rows_are_written_and_read(tmp_path):
    found = sweep.runs(pendulum(), methods.get("newton-euler"), quick=True)
    running.write(tmp_path, [asdict(run) for run in found])
    rows = schema.PROBLEMS.read(tmp_path)
    assert [float(one["digits"]) for one in rows] == [run.digits for run in found]
    assert rows[0]["step"] == ""
    assert len({schema.PROBLEMS.key(one) for one in rows}) == len(rows)


def test_a_recording_has_the_answer_beside_the_outputs(tmp_path):
    running.record_all(tmp_path, [{"module": "pendulum", "name": "pendulum", "title": "Simple pendulum"}], run_here)
    found = json.loads((tmp_path / "simulations" / "problem-pendulum.json").read_text("utf-8"))
    ours, right = (np.array(series["y"]) for series in found["plots"][0]["panels"][0]["series"])
    assert ours[-len(right) :] == pytest.approx(right, abs=1e-5)
    assert found["motion"]["planar"]
    running.record_all(tmp_path, [{"module": "absent", "name": "gone", "title": "Gone"}], run_here)
    (kept,) = (tmp_path / "simulations").glob("*.json")
    assert "No module named" in json.loads(kept.read_text("utf-8"))["reason"]


def test_the_command_prints_the_table(capsys, monkeypatch):
    monkeypatch.setattr("dynbench.benchmarks.processes.workers.ask_all", run_here)
    assert main(["problems", "pendulum", "-m", "newton-euler", "--quick"]) == 0
    assert "pendulum  newton-euler" in capsys.readouterr().out
    assert main(["problems", "pendulums"]) == 2
    assert main(["problems", "pendulum", "-m", "nothing"]) == 2


# Exudyn ---------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("exudyn") is None, reason="exudyn is not installed")
@pytest.mark.parametrize("problem", [pendulum, spatial_slider_crank], ids=lambda make: make.__name__)
def test_exudyn_converges_to_the_same_answer(problem, monkeypatch):
    """Second order: four times the steps, a sixteenth of the error."""
    monkeypatch.setattr(exudyn_judge, "STEPS", (1000, 4000))
    coarse, fine = exudyn_judge.runs(problem())
    assert 1.0 < fine.digits - coarse.digits < 1.4
    assert fine.energy_error < 0.1 * coarse.energy_error


@pytest.mark.skipif(find_spec("exudyn") is None, reason="exudyn is not installed")
@pytest.mark.long
@pytest.mark.parametrize("name", ["andrews", "bricard", "flyball-governor", "n-four-bar"])
def test_exudyn_agrees_on_the_other_problems(name):
    problem = registry.load(name)[0]
    runs = exudyn_judge.runs(problem, quick=True)
    assert runs[-1].reason == ""
    assert runs[-1].digits > 2.0
    assert runs[-1].digits > runs[0].digits


def test_without_exudyn_there_is_a_reason(monkeypatch):
    monkeypatch.setattr(exudyn_judge, "find_spec", lambda name: None)
    (run,) = exudyn_judge.runs(pendulum())
    assert (run.outcome, run.reason) == (Outcome.UNSUPPORTED, "exudyn is not installed (extra: elastic)")


# Full runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_a_full_run_includes_problems_and_a_quick_one_says_how_to_run_them(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "names", lambda: ("pendulum",))
    (tmp_path / "problems.csv").write_text("of an earlier run", encoding="utf-8")
    plan = choose(["two-link"], ["newton-euler"], ["inverse_dynamics"], quick)
    nothing = None  # neither a journal nor an executor is used
    findings = Findings(plan, Matrix(plan), {}, nothing, nothing)
    monkeypatch.setattr(findings, "ask", run_here)
    stages.run_problems(findings, tmp_path)
    if quick:
        assert not (tmp_path / "problems.csv").exists()
        assert "`dynbench problems` runs them" in findings.notes[-1]
    else:
        assert {one["method"] for one in schema.PROBLEMS.read(tmp_path)} == {"newton-euler"}
        assert (tmp_path / "simulations" / "problem-pendulum.json").is_file()
