"""The packed tree: what is prepared in its rows."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.methods.kernels.tree import (
    IV,
    KIND,
    ROOT,
    ROW,
    SEGMENT_PARENT,
    SEGMENT_START,
    SUBTREE_MASS,
    axis_count,
    pack,
    principal,
)
from dynbench.methods.kernels.triangle import coupled
from dynbench.robots import load
from dynbench.robots.families.trees import random_tree

RNG = np.random.default_rng(0)
TURN = np.linalg.qr(RNG.standard_normal((3, 3)))[0]


@pytest.mark.parametrize(
    "moments",
    [(0, 0, 0), (1, 1, 1), (1, 1, 2), (1, 2, 2), (1, 2, 3), (1e-9, 1, 1), (0.0, 1.0, 1.0)],
    ids=lambda moments: "-".join(map(str, moments)),
)
@pytest.mark.parametrize("turn", [np.eye(3), np.eye(3)[[2, 0, 1]], TURN], ids=["straight", "permuted", "turned"])
def test_an_inertia_is_its_largest_moment_less_two_squares(moments, turn):
    inertia = turn @ np.diag(moments) @ turn.T
    most, a, b = principal((inertia + inertia.T) / 2)
    assert b[2] == 0.0
    assert most == pytest.approx(max(moments), abs=1e-15)
    again = most * np.eye(3) - np.outer(a, a) - np.outer(b, b)
    np.testing.assert_allclose(again, inertia, rtol=0, atol=1e-15 * max(1, *moments))


@pytest.mark.parametrize("robot", [*(random_tree(n, seed=n) for n in (1, 2, 5, 12, 30)), load("chain-7")], ids=str)
def test_limbs_lead_over_all_coordinates_to_the_root_and_no_others(robot):
    rows = pack(robot).reshape(-1, ROW)
    carried = coupled(robot)
    ends = rows[:, IV] + [axis_count(int(kind)) for kind in rows[:, KIND]]  # of the ground's row nothing is read
    for i in range(1, robot.n + 1):
        root, at, met = int(rows[i, ROOT]), i, []
        while at > 0:
            met += range(int(rows[at, SEGMENT_START]), int(ends[at]))
            at = int(rows[at, SEGMENT_PARENT])
        met += range(int(rows[root, IV]), int(ends[root]))
        own = int(ends[i]) - 1
        assert sorted(met) == [c for c in range(own + 1) if carried[own, c]]


def test_a_body_bears_what_it_carries():
    robot = random_tree(20, seed=3)
    rows = pack(robot).reshape(-1, ROW)
    for i in range(robot.n):
        above = {i}
        for j in range(i + 1, robot.n):
            if int(robot.parent[j]) in above:
                above.add(j)
        assert rows[i + 1, SUBTREE_MASS] == pytest.approx(sum(robot.mass[j] for j in above), rel=1e-14)
