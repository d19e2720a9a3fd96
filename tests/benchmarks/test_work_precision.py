"""Sweeps: an error and its cost in every row or a reason, tighter is better, and all of it in a file."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from dynbench import robots
from dynbench.benchmarks.papers import plugins, sweeps
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.workers import Answer, Job
from dynbench.benchmarks.results import schema, tables
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Scenario
from dynbench.benchmarks.simulation.work_precision import SOLVERS, options, work_precision
from dynbench.methods.virtual_spring_denoc import VirtualSpringDenoc


def swing() -> Scenario:
    inputs = Torques.constant([1.0, -0.5])
    return Scenario("swing", "", robots.load("two-link"), np.array([0.3, -0.4]), np.zeros(2), 1.0, inputs)


def test_every_solver_buys_precision_with_work():
    points = work_precision(swing(), rtols=(1e-4, 1e-8))
    assert [point.solver for point in points] == [name for name in SOLVERS for _ in range(2)]
    for loose, tight in zip(points[::2], points[1::2], strict=True):
        assert tight.error < 0.1 * loose.error, tight
        assert tight.evaluations > loose.evaluations
        assert not tight.reason
        assert tight.seconds > 0.0


def test_a_run_beyond_the_limit_has_a_reason_and_no_number():
    (point,) = work_precision(swing(), solvers=("RK45",), rtols=(1e-10,), limit=50)
    assert "more than 50 right-hand sides" in point.reason
    assert math.isnan(point.error)
    assert math.isnan(point.seconds)


def test_options_are_named():
    assert options(VirtualSpringDenoc(stiffness=1e5)) == "stiffness=1e+05, damping=0"


def test_quick_sweeps_are_of_scenarios_that_are_machine_code():
    for paper in ("gibbs-appell-rp", "virtual-spring-denoc"):
        for scenario in sweeps.scenarios(paper, quick=True):
            assert scenario.compiles(scenario.method.prepare(scenario.robot))
    assert sweeps.scenarios("gibbs-appell-elastic", quick=True) == []


def test_what_fails_is_a_row_with_its_reason(tmp_path):
    point = {"scenario": "swing", "method": "kane", "error": 1e-3, "seconds": 0.1, "evaluations": 7, "reason": ""}
    arguments = [{"paper": "a", "scenario": "swing", "method": k, "quick": False} for k in range(2)]
    answers = iter([[Answer(arguments), Answer(reason="failed: no")], [Answer([point]), Answer(reason="timed out")]])
    sweeps.run(tmp_path, ["a", "b"], ask=lambda stage, jobs: next(answers))
    rows = tables.read(tmp_path / "work_precision.csv")
    assert tuple(rows[0]) == schema.WORK_PRECISION.names
    assert [(row["scenario"], bool(row["reason"])) for row in rows] == [("b", True), ("swing", False), ("swing", True)]


def test_a_plugin_hands_in_a_scenario(monkeypatch):
    monkeypatch.setattr(
        plugins, "load", lambda name: type("Theirs", (), {"scenarios": staticmethod(lambda: [swing()])})
    )
    (arguments,) = sweeps.listed(["theirs"])
    assert arguments["scenario"] == "swing"
    assert key(Job(f"{sweeps.__name__}:job", arguments))  # so that a benchmark can keep it
    rows = sweeps.job(**{**arguments, "quick": True})
    assert {row["solver"] for row in rows} == {"RK45", "LSODA"}
    assert all(row["error"] < 1e-2 for row in rows)


def test_a_paper_without_scenarios_is_not_swept(monkeypatch):
    monkeypatch.setattr(plugins, "load", lambda name: SimpleNamespace())
    assert sweeps.listed(["theirs"]) == []
