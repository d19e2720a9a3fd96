"""Engines and our own methods against an oracle in long double, also for axes that are nearly aligned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest

from dynbench import methods
from dynbench.benchmarks.checks.agreement import relative
from dynbench.benchmarks.checks.sampling import draw
from dynbench.robots.families.trees import KINDS, aligned_tree, random_tree

JUDGED = ("newton-euler", "pinocchio", "mujoco")
TOLERANCE = 2e-12  # relative to the largest force; roundings of a few thousand operations
TILTS = (1.3e-8, 1e-9, 3e-13, 1e-6)

pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is double on this machine")


def tilted(tilt: float):
    """A tree whose axes are nearly x, -x, y, ...: off by ``tilt`` in another component."""
    robot = aligned_tree(12, seed=3)
    axis = robot.axis + tilt * np.roll(robot.axis, 1, axis=1)
    return replace(robot, name=f"tilted-{tilt:g}", axis=axis / np.linalg.norm(axis, axis=1, keepdims=True))


ROBOTS = {
    "every joint": random_tree(9, seed=2, kinds=KINDS),
    "floating": random_tree(8, seed=1, kinds=KINDS[:3], floating=True),
    "aligned": aligned_tree(12, seed=3),
    **{f"tilted by {tilt:g}": tilted(tilt) for tilt in TILTS},
}


@pytest.mark.parametrize("which", ROBOTS)
@pytest.mark.parametrize("name", JUDGED)
def test_forces_are_those_of_the_oracle(name, which):
    method, robot = methods.get(name), ROBOTS[which]
    if method.unavailable():
        pytest.skip(f"{name}: {method.unavailable()}")
    if method.supports(robot) is not None:
        pytest.skip(f"{name}: {method.supports(robot)}")
    sample = draw(robot, 33, seed=4)
    solver = method.prepare(robot)
    for wrench in (False, True):
        inputs = sample.inputs("inverse_dynamics", wrench)
        states = [{key: x[k] for key, x in inputs.items()} for k in range(len(sample))]
        right = np.array([oracle.inverse_dynamics(robot, **state) for state in states], dtype=float)
        errors = relative(solver.inverse_dynamics(**inputs), right)
        assert errors.max() < TOLERANCE, f"state {int(errors.argmax())}"


def test_a_tilt_of_1e_8_is_not_lost():
    """The oracle itself: the forces of tilted axes differ from those of aligned ones by about the tilt."""
    sample = draw(ROBOTS["aligned"], 9, seed=4)
    state = sample.q[0], sample.v[0], sample.a[0]
    aligned, off = (oracle.inverse_dynamics(ROBOTS[name], *state) for name in ("aligned", "tilted by 1.3e-08"))
    assert 1e-9 < np.abs(aligned - off).max() / np.abs(aligned).max() < 1e-6
