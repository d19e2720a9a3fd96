"""What is peculiar to Simbody; its agreement on loops is in `test_loops_engines`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dynbench import methods, robots

pytest.importorskip("opensim")


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
