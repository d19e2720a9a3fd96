"""Traced code on disk, without numba, and in instructions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest
from traced_cases import error, plain

from dynbench import methods, robots
from dynbench.methods.native import llvm
from dynbench.methods.traced import code
from dynbench.methods.traced.code import lanes
from dynbench.methods.traced.graph import TooLarge

FIRST = """
import sys
import numpy as np
from dynbench import methods, robots
robot = robots.load(sys.argv[1])
solver = methods.get(sys.argv[2]).prepare(robot, code="traced")
tau = solver.inverse_dynamics(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
assert "numba" not in sys.modules
print("trace" in solver.runs["inverse_dynamics"].code.seconds)
"""


def first(folder: Path, robot: str = "two-link", method: str = "newton-euler") -> bool:
    """Whether a new process had to trace for its first torque, which it gets without numba."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", FIRST, robot, method]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "True"


def test_code_is_kept_by_robot_and_method_and_needs_no_numba(tmp_path):
    assert first(tmp_path)
    assert not first(tmp_path)
    assert first(tmp_path, robot="pendulum")
    assert first(tmp_path, method="kane")


def test_a_damaged_object_is_compiled_again(tmp_path):
    assert first(tmp_path)
    for path in tmp_path.glob("traced-*/*.o"):
        path.write_bytes(path.read_bytes()[:-100])
    assert first(tmp_path)


def test_a_folder_that_cannot_be_written_to_keeps_nothing(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert first(blocked)


def test_that_a_graph_is_too_large_is_kept(monkeypatch, tmp_path):
    asked = []

    def too_large(method, robot, quantity):
        asked.append(quantity)
        raise TooLarge("it takes 9 operations")

    monkeypatch.setattr(code, "trace", too_large)
    monkeypatch.setattr(code.cache, "base", lambda: tmp_path)
    for _ in range(2):
        solver = methods.get("kane").prepare(robots.load("two-link"), code="auto")
        assert solver.why_not_traced("inverse_dynamics") == "it takes 9 operations"
    assert asked == ["inverse_dynamics"]


def test_times_and_counts_are_told():
    robot = robots.chain(2, seed=5)
    run = methods.get("newton-euler").prepare(robot, code="traced").runs["inverse_dynamics"]
    traced = run.traced
    assert set(traced.trace.counts) == {"plain", "aligned", "regrouped", "aligned, regrouped"}
    assert traced.seconds["trace"] > 0.0
    text = traced.text("batch")
    assert f"<{lanes()} x double>" in text


@pytest.mark.skipif(not llvm.has("avx2"), reason="needs AVX2")
def test_batches_are_packed_instructions():
    run = methods.get("newton-euler").prepare(robots.load("two-link"), code="traced").runs["inverse_dynamics"]
    register = "zmm" if lanes() == 8 else "ymm"
    with llvm.LOCK:
        module = llvmlite.binding.parse_assembly(run.traced.text("batch"))
        lines = llvm._target_machine().emit_assembly(module).splitlines()
    packed = [line for line in lines if "pd" in line and register in line]
    assert len(packed) > 50
    assert any("callq" in line for line in lines)
    named = set(re.findall(r"movabsq\s+\$([A-Za-z]\w*),", "\n".join(lines)))
    assert named == {"blocks", "few", "copy"}  # what is called, its own: no sine of a library


@pytest.mark.parametrize("W", [4, 8])
@pytest.mark.parametrize("robot", ["rp3", "space-dual-arm", "3rrr"])
def test_every_number_of_lanes_gives_the_same(monkeypatch, W, robot):
    """Also the one that this processor would not choose; objects of the two are kept apart."""
    monkeypatch.setattr(code, "lanes", lambda: W)
    robot = robots.load(robot)
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(21)
    right = plain(solver.runs["inverse_dynamics"], [q, v, a])
    assert error(solver.inverse_dynamics(q, v, a), right) < 1e-13
    assert error(solver.inverse_dynamics(q[0], v[0], a[0]), right[0]) < 1e-13


def test_results_do_not_depend_on_where_a_state_stands_in_a_batch():
    robot = robots.load("rp3")
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(70)
    whole = solver.forward_dynamics(q, v, a)
    for N in (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65):
        np.testing.assert_array_equal(solver.forward_dynamics(q[:N], v[:N], a[:N]), whole[:N])
    assert solver.forward_dynamics(q[:0], v[:0], a[:0]).shape == (0, robot.nv)
