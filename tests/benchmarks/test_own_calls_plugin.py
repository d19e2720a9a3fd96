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
from dynbench.benchmarks.runs import plan
from dynbench.benchmarks.timing import passes, ratios
from dynbench.benchmarks.timing.rounds import Budget

chosen = plan.choose(["pendulum"], ["newton-euler", "theirs"], ["inverse_dynamics", "bias"], quick=True)
cells, refused = plan.Matrix(chosen).cells()
spec = passes.Spec(tuple(cells), budget=Budget(rounds=4, least=2, seconds=0.1))
timings = passes.run(spec)
compared = ratios.ratios(timings, chosen.peers, "AVX2")
robot = robots.load("pendulum")
states = robot.sample(5, seed=0)
print(json.dumps({
    "torques": [methods.get(name).prepare(robot).inverse_dynamics(*states).tolist() for name in chosen.methods],
    "peers": chosen.peers,
    "timing": [(t.cell.method, t.cell.quantity, t.cell.mode, t.rounds, t.expression) for t in timings],
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
