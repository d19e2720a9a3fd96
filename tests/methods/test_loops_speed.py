"""Closed loops in batches, beside Pinocchio from Python."""

from __future__ import annotations

import numpy as np
import pytest
from looped import relative, solver
from pace import times_faster
from round_trip import pinocchio_tree

from dynbench import robots

ROWS, PEER_ROWS = 4096, 200


def test_batches_are_as_fast_as_the_hot_path_promises():
    """At least 20 times Pinocchio's own KKT route on the same problem, one thread; some 60 on a quiet machine."""
    pin = pytest.importorskip("pinocchio")
    robot = robots.load("3rrr")
    solve = solver("newton-euler", robot)
    q, v, a = robot.sample(ROWS, seed=1)
    ours = solve.inverse_dynamics(q, v, a)
    model = pinocchio_tree(pin, robot)
    data = model.createData()
    A, S = robot.loop_jacobian(q[:PEER_ROWS]), np.eye(9)[:, robot.actuated]
    tau = np.empty((PEER_ROWS, 3))

    def theirs() -> None:
        # the loop Jacobian is given for nothing: only tree inverse dynamics and the solve for torques and multipliers
        for s in range(PEER_ROWS):
            tau[s] = np.linalg.solve(np.hstack([S, A[s].T]), pin.rnea(model, data, q[s], v[s], a[s]))[:3]

    per_state = ROWS / PEER_ROWS
    ratio = per_state * times_faster(lambda: solve.inverse_dynamics(q, v, a), theirs, enough=20.0 / per_state)
    assert relative(ours[:PEER_ROWS], tau) < 1e-9
    assert ratio > 20.0, f"{ratio:.1f} times as fast as Pinocchio from Python"
