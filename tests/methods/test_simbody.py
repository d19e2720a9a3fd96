"""Simbody judges closed loops: its constraints, its accelerations, its constraint matrix."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dynbench import methods, robots

pytest.importorskip("opensim")
LOOPS = ("four-bar", "3rrr", "gough-stewart")


def relative(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).max() / np.abs(y).max())


@pytest.mark.parametrize("name", LOOPS)
def test_loops_agree(name):
    """Every quantity, at states on the loops, with wrenches on every body."""
    robot = robots.load(name)
    ours, theirs = (methods.get(method).prepare(robot) for method in ("newton-euler", "simbody"))
    q, v, a = robot.sample(5, seed=1)
    wrench = 10.0 * np.random.default_rng(1).standard_normal((5, robot.n, 6))
    tau = ours.inverse_dynamics(q, v, a, wrench=wrench)
    assert relative(theirs.inverse_dynamics(q, v, a, wrench=wrench), tau) < 1e-11
    assert relative(theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a)) < 1e-11
    assert relative(theirs.forward_dynamics(q, v, tau, wrench=wrench), a) < 1e-9
    assert relative(theirs.mass_matrix(q), ours.mass_matrix(q)) < 1e-11
    assert relative(theirs.bias(q, v), ours.bias(q, v)) < 1e-11


def test_its_accelerations_keep_the_loops_closed():
    robot = robots.load("3rrr")
    q, v, _ = robot.sample(3, seed=2)
    a = methods.get("simbody").prepare(robot).forward_dynamics(q, v, np.ones((3, 3)))
    np.testing.assert_allclose(robot.project(q, v, a)[2], a, rtol=1e-8, atol=1e-8 * np.abs(a).max())


def test_with_loops_only_forward_dynamics_is_its_own_call():
    method = methods.get("simbody")
    assert ("inverse_dynamics", "single") in method.own_calls_on(robots.load("panda"))
    assert ("inverse_dynamics", "single") not in method.own_calls_on(robots.load("3rrr"))
    assert ("forward_dynamics", "single") in method.own_calls_on(robots.load("3rrr"))


def test_its_import_leaves_the_search_paths_of_other_processes_alone():
    program = (
        "import os; before = dict(os.environ); from dynbench.methods.peers import simbody; simbody.loaded();"
        "assert {n: os.environ.get(n) for n in simbody.PATHS} == {n: before.get(n) for n in simbody.PATHS}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
