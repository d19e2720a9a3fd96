"""Closed loops in batches, beside Pinocchio from Python."""

from __future__ import annotations

import numpy as np
import pytest
from looped import relative, solver
from pace import times_faster
from round_trip import pinocchio_tree

from dynbench import robots
from dynbench.benchmarks.problems.bricard import bricard

ROWS, PEER_ROWS = 4096, 200
MACHINES = {"3rrr": (robots.load("3rrr"), 20.0), "bricard": (bricard().robot, 40.0)}


@pytest.mark.parametrize(("robot", "least"), MACHINES.values(), ids=MACHINES)
def test_batches_are_as_fast_as_the_hot_path_promises(robot, least):
    """Beside Pinocchio's own KKT route on the same problem, one thread; some 60 and 110 times on a quiet machine."""
    pin = pytest.importorskip("pinocchio")
    solve = solver("newton-euler", robot)
    q, v, a = robot.sample(ROWS, seed=1)
    ours = solve.inverse_dynamics(q, v, a)
    model = pinocchio_tree(pin, robot)
    data = model.createData()
    A, S = robot.loop_jacobian(q[:PEER_ROWS]), np.eye(robot.nv)[:, robot.actuated]
    tau = np.empty((PEER_ROWS, S.shape[1]))

    def forces(s: int) -> np.ndarray:
        both, right = np.hstack([S, A[s].T]), pin.rnea(model, data, q[s], v[s], a[s])
        if robot.loop_analysis.redundant:
            return np.linalg.lstsq(both, right, rcond=None)[0]
        return np.linalg.solve(both, right)

    def theirs() -> None:
        # the loop Jacobian is given for nothing: only tree inverse dynamics and the solve for torques and multipliers
        for s in range(PEER_ROWS):
            tau[s] = forces(s)[: S.shape[1]]

    per_state = ROWS / PEER_ROWS
    ratio = per_state * times_faster(lambda: solve.inverse_dynamics(q, v, a), theirs, enough=least / per_state)
    assert relative(ours[:PEER_ROWS], tau) < 1e-9
    assert ratio > least, f"{ratio:.1f} times as fast as Pinocchio from Python"
