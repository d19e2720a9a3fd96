"""An engine of another package offers its own calls, and appears in the rows of those that ship with dynbench."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PLUGIN = Path(__file__).parents[1] / "own_calls_plugin"
PROGRAM = """
import json
from dynbench import methods, robots
from dynbench.benchmarks.results import tables
from dynbench.benchmarks.runs import outputs, plan
from dynbench.benchmarks.timing import passes, ratios
from dynbench.benchmarks.timing.rounds import Budget
from dynbench.reports import rivals

chosen = plan.choose(["pendulum"], ["newton-euler", "theirs"], ["inverse_dynamics", "bias"], quick=True)
cells, refused = plan.Matrix(chosen).cells()
spec = passes.Spec(tuple(cells), budget=Budget(rounds=4, least=2, seconds=0.1))
timings = passes.run(spec)
compared = ratios.ratios(timings, chosen.peers, "AVX2")
def record(one, *names):
    return {name: tables.cell(getattr(one, name)) for name in names}

rows = [
    record(t.cell, "robot", "method", "code", "label", "quantity", "mode", "rows")
    | dict.fromkeys(("seconds", "low", "high"), tables.cell(t.median))  # whatever else ran on the machine
    | {"noise": "0", "outcome": "number", "expression": t.expression}
    for t in timings
    if t.rounds
]
pairs = [
    record(r, "robot", "quantity", "mode", "rows", "method", "code", "peer", "ratio", "low", "high", "outcome")
    for r in compared
]
size = max((row["rows"] for row in rows if row["mode"] == "batch"), key=int)
lines = rivals.side_by_side(rows, pairs, outputs.method_facts(chosen), size)
robot = robots.load("pendulum")
states = robot.sample(5, seed=0)
print(json.dumps({
    "torques": [methods.get(name).prepare(robot).inverse_dynamics(*states).tolist() for name in chosen.methods],
    "peers": chosen.peers,
    "timing": [(t.cell.method, t.cell.quantity, t.cell.mode, t.rounds, t.expression) for t in timings],
    "section": [(one.measure, one.quantity, one.method, one.expression, one.over("generic")) for one in lines],
    "ratios": [(r.peer, r.quantity, r.mode, r.peer_call, r.expression, r.ratio) for r in compared],
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory):
    environment = {**os.environ, "PYTHONPATH": str(PLUGIN)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path_factory.mktemp("run"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_it_agrees(found):
    ours, theirs = found["torques"]
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)


def test_it_is_an_engine_beside_the_others(found):
    assert found["peers"] == ["theirs"]


@pytest.mark.parametrize(
    ("quantity", "mode", "code"),
    [
        ("inverse_dynamics", "engine", "engine.torque(q, a)"),
        ("inverse_dynamics", "engine-batch", "engine.torques(q, a, out.T)"),
        ("bias", "engine-batch", "for k, (q, v) in enumerate(states):\n    results[k] = engine.torque(q, 0.0)"),
    ],
)
def test_its_own_calls_are_timed_and_shown(found, quantity, mode, code):
    rows = [row for row in found["timing"] if row[:3] == ["theirs", quantity, mode]]
    assert len(rows) == 2  # an A/A pair
    for *_, rounds, expression in rows:
        assert rounds > 0
        assert expression == code


def test_ratios_to_it_are_ratios_to_its_own_calls(found):
    rows = {(quantity, mode): row for peer, quantity, mode, *row in found["ratios"] if peer == "theirs"}
    call, code, ratio = rows["inverse_dynamics", "batch"]
    assert (call, code) == ("its own batch call", "engine.torques(q, a, out.T)")
    assert ratio > 1.0  # a loop in Python, compared with compiled code
    assert rows["bias", "batch"][0] == "its own call in a loop in Python"
    assert rows["inverse_dynamics", "unchecked"][:2] == ["its own call", "engine.torque(q, a)"]


@pytest.mark.parametrize(
    ("measure", "code"),
    [("latency", "engine.torque(q, a)"), ("throughput, one thread", "engine.torques(q, a, out.T)")],
)
def test_the_section_on_other_engines_has_it_with_the_lines_that_were_timed(found, measure, code):
    """Beside our methods, with the interval of the ratio."""
    mine = [row for row in found["section"] if row[:3] == [measure, "inverse_dynamics", "theirs"]]
    assert [row[3] for row in mine] == [code]
    assert "[" in mine[0][4]
