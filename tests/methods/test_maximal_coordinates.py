"""Maximal coordinates against the whole matrix of bodies and multipliers, and their cost on trees."""

from __future__ import annotations

import numpy as np
import pytest
from looped import relative, tree_terms

from dynbench import methods, robots
from dynbench.benchmarks.problems.bricard import bricard
from dynbench.benchmarks.problems.n_four_bar import n_four_bar
from dynbench.methods.kernels.closure import OWN
from dynbench.methods.kernels.count import count_polynomial, run_counting
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.maximal_coordinates import BLOCK, C, X, thin
from dynbench.robots.families.trees import chain
from dynbench.robots.kinematics import poses

TREES = ("pendulum", "two-link", "panda", "tree-7", "space-dual-arm", "rp-2", "puma560")


@pytest.mark.parametrize("name", TREES)
def test_trees_agree_with_articulated_bodies(name):
    robot = robots.load(name)
    for seed in range(2):
        found, right = (
            np.array(run_counting(methods.get(one), robot, "forward_dynamics", True, seed)[1])
            for one in ("maximal-coordinates", "newton-euler")
        )
        assert relative(found, right) < 1e-10


def test_no_digits_are_lost_far_from_the_origin():
    robot = robots.load("space-dual-arm")
    q, v, tau = (x[0] for x in robot.sample(1, seed=1))
    run = methods.get("maximal-coordinates").prepare(robot).runs["forward_dynamics"]
    results = []
    for away in (0.0, 1e4):
        q[:3] = away
        out, work = np.zeros(robot.nv), np.full(run.size, np.nan)
        run.kernel(ONE, run.model, q, v, tau, None, out, work)
        results.append(out)
    assert relative(results[1], results[0]) < 1e-9


def test_the_cost_of_a_tree_is_linear():
    counts = count_polynomial(methods.get("maximal-coordinates"), chain, "forward_dynamics", range(2, 7))
    assert counts["flops"].degree == 1
    assert counts["flops"](7) > 2 * count_polynomial(methods.get("newton-euler"), chain, "forward_dynamics",
                                                     range(2, 7))["flops"](7)  # fmt: skip


@pytest.mark.parametrize("robot", [robots.five_bar(), bricard().robot, n_four_bar(2).robot], ids=lambda r: r.name)
def test_bodies_satisfy_joints_and_loops(robot):
    """After the last sweep x, the accelerations of all bodies, satisfies (2) and gives X of the last loop row (7)."""
    run = methods.get("maximal-coordinates").prepare(robot).runs["forward_dynamics"]
    q, v, drawn = (x[0] for x in robot.sample(1, seed=1))
    out, work = np.zeros(robot.nv), np.full(run.size, np.nan)
    run.kernel(ONE, run.model, q, v, drawn[robot.actuated], None, out, work)
    blocks = work[int(run.model[OWN]) :]
    for i in range(1, robot.n + 1):
        x = blocks[i * BLOCK + X : i * BLOCK + X + 6]
        p = (robot.parent[i - 1] + 1) * BLOCK
        unit = blocks[i * BLOCK + C : i * BLOCK + C + 36].reshape(6, 6)
        across = unit[:5] @ (x - blocks[p + X : p + X + 6])
        assert np.abs(across).max() < 1e-9 * max(1.0, np.abs(x).max())
    assert np.abs(robot.loop_jacobian(q) @ out + robot.loop_rate(q, v)).max() < 1e-9 * max(1.0, np.abs(out).max())


def test_the_whole_matrix():
    """(1), (2) and (3) at once, in numpy, for a planar five-bar: bodies in the plane have three coordinates."""
    robot = robots.five_bar()
    q, v, drawn = (x[0] for x in robot.sample(1, seed=2))
    R, p = poses(robot, q)
    n = robot.n
    # twists (velocity of the point at the origin, rate): unit motions of the joints, accelerations relative to a = 0
    S = np.array([[p[i][1], -p[i][0], 1.0] for i in range(n)])
    I = np.zeros((3 * n, 3 * n))
    joints = np.zeros((2 * n, 3 * n))
    for i in range(n):
        c = p[i] + R[i] @ robot.com[i]
        at_com = np.array([[1.0, 0.0, -c[1]], [0.0, 1.0, c[0]]])
        moment = robot.inertia[i][2, 2]
        I[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = robot.mass[i] * at_com.T @ at_com + np.diag([0.0, 0.0, moment])
        held = np.array([[1.0, 0.0, -p[i][1]], [0.0, 1.0, p[i][0]]])
        joints[2 * i : 2 * i + 2, 3 * i : 3 * i + 3] = held
        if robot.parent[i] >= 0:
            joints[2 * i : 2 * i + 2, 3 * robot.parent[i] : 3 * robot.parent[i] + 3] = -held
    # all motions of the tree: x = T a, so that the loops' rows on bodies are those of A T^+
    T = np.zeros((3 * n, n))
    for i in range(n):
        j = i
        while j >= 0:
            T[3 * i : 3 * i + 3, j] = S[j]
            j = int(robot.parent[j])
    A, g = robot.loop_jacobian(q), robot.loop_rate(q, v)
    rows = A @ np.linalg.pinv(T)
    _, h = tree_terms(robot, q, v)
    force = -h
    force[robot.actuated] += drawn[robot.actuated]
    wrench = np.linalg.pinv(T).T @ force  # any wrenches on bodies with the same joint forces
    G = np.vstack([joints, rows])
    system = np.block([[I, G.T], [G, np.zeros((len(G), len(G)))]])
    right = np.concatenate([wrench, np.zeros(2 * n), -g])
    x = np.linalg.solve(system, right)[: 3 * n]
    a = np.linalg.lstsq(T, x, rcond=None)[0]
    found = np.array(run_counting(methods.get("maximal-coordinates"), robot, "forward_dynamics", seed=2)[1])
    assert relative(found, a) < 1e-9


def test_thin_rods_are_recognised():
    assert thin(n_four_bar(2).robot)
    assert not thin(bricard().robot)
    assert thin(robots.load("rp-2")) == bool((robots.load("rp-2").mass == 0.0).any())
