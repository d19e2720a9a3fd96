"""Symbols: what is folded, what is shared, what must stay; and the reductions of a robot's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from traced_cases import error, plain

from dynbench import methods, robots
from dynbench.methods.kernels.count import count_operations
from dynbench.methods.kernels.scalar import guard, sincos, sqrt
from dynbench.methods.traced import graph as g
from dynbench.methods.traced import reduce
from dynbench.methods.traced.graph import Graph, Symbol, TooLarge
from dynbench.methods.traced.trace import trace
from dynbench.robots.families.trees import KINDS, random_tree


@pytest.fixture
def graph():
    return Graph((3, 3, 3))


def test_numbers_fold_and_zeros_and_ones_disappear(graph):
    x = graph.input(0, 0)
    for same in (x + 0.0, 0.0 + x, x - 0.0, x * 1.0, 1.0 * x, x / 1.0, -1.0 * -x, (x * -1.0) * -1.0, 0.0 - (-x)):
        assert (same.node, same.sign) == (x.node, 1)
    for zero in (x * 0.0, 0.0 * x, x - x, x + (-x), 0.0 / x):
        assert zero == 0.0


def test_equal_expressions_are_one_node_whatever_their_sign(graph):
    x, y = graph.input(0, 0), graph.input(0, 1)
    assert (x + y).node == (y + x).node == (-x - y).node
    assert (x - y).node == (y - x).node
    assert (x - y).sign == -(y - x).sign
    assert (x * y).node == ((-x) * y).node
    assert sincos(x)[0].node == sincos(-x)[0].node
    assert sincos(-x)[0].sign == -1
    assert sincos(-x)[1].sign == 1


def test_every_operation_means_what_it_says(graph):
    x, y, z = (graph.input(0, i) for i in range(3))
    s, c = sincos(x - 2.0)
    graph.outputs = [
        x + y, x - y, y - x, -x - y, 2.0 - x, x - 2.0, -x + 3.0, -x - 3.0, x + x, x * y, -x * y, x / y,
        2.0 / x, -2.0 / x, x / 4.0, s, c, sqrt(x * x + 1.0), sqrt(2.0 - (x - 5.0) * 0.25), x + guard(z), 7.0, z,
    ]  # fmt: skip
    q = np.array([[0.3, -0.7, 2.0], [1.5, 0.2, 0.0], [0.3, -0.7, -1e-9]])
    a, b, d = q.T
    right = np.array([
        a + b, a - b, b - a, -a - b, 2 - a, a - 2, 3 - a, -a - 3, 2 * a, a * b, -a * b, a / b, 2 / a, -2 / a, a / 4,
        np.sin(a - 2), np.cos(a - 2), np.sqrt(a * a + 1), np.sqrt(2 - (a - 5) * 0.25),
        [a[0], a[1], np.nan], 7 + 0 * a, d,
    ]).T  # fmt: skip
    np.testing.assert_allclose(graph.evaluate(q), right, rtol=1e-15)


def test_a_guard_is_zero_or_nan_and_is_never_folded(graph):
    assert guard(0.0) == 0.0
    assert guard(3.0) == 0.0
    assert math.isnan(guard(-1e-300))
    assert math.isnan(guard(math.nan))
    x = graph.input(0, 0)
    assert isinstance(guard(x), Symbol)
    assert graph.op[guard(-x).node] == g.GUARD


def test_branching_on_data_is_refused(graph):
    x = graph.input(0, 0)
    for wrong in (lambda: x > 0.0, lambda: bool(x), lambda: float(x), lambda: max(x, 1.0)):
        with pytest.raises(TypeError, match="tracing cannot follow"):
            wrong()


def test_a_graph_has_a_limit():
    graph = Graph((20, 3, 3), limit=10)
    with pytest.raises(TooLarge):
        [graph.input(0, k) for k in range(20)]


# Reductions ----------------------------------------------------------------------------------------------------------

TREES = [random_tree(n, seed=n, kinds=KINDS, floating=n % 2 == 0) for n in range(1, 9)]


@pytest.mark.parametrize("robot", [robots.load("panda"), robots.load("puma560"), *TREES], ids=lambda robot: robot.name)
@pytest.mark.parametrize("method", ["newton-euler", "gibbs-appell", "kane"])
def test_every_variant_gives_the_same_torques(robot, method):
    from dynbench.methods.traced import trace as tracing

    method = methods.get(method)
    states = robot.sample(5)
    aligned, offsets = reduce.align(reduce.tidy(robot))
    right = tracing._traced(method, robot, "inverse_dynamics", 10**6)[0][""].evaluate(*states)
    for variant, turned, regrouped in ((robot, {}, True), (aligned, offsets, False), (aligned, offsets, True)):
        graph = tracing._traced(method, variant, "inverse_dynamics", 10**6, turned, regrouped)[0][""]
        assert error(graph.evaluate(*states), right) < 1e-12


def test_reduction_saves_operations_and_the_smallest_variant_is_kept():
    found = trace(methods.get("newton-euler"), robots.load("panda"), "inverse_dynamics")
    flops = {variant: counts.flops for variant, counts in found.counts.items()}
    assert found.operations.flops == min(flops.values()) < flops["plain"]
    untraced = count_operations(methods.get("newton-euler"), robots.load("panda"), "inverse_dynamics").flops
    assert flops["plain"] < untraced
    assert flops["aligned, regrouped"] <= 884


def test_inertias_are_regrouped_only_for_kernels_that_read_nothing_else():
    panda = robots.load("panda")
    assert "regrouped" in trace(methods.get("newton-euler"), panda, "inverse_dynamics").counts
    assert "regrouped" not in trace(methods.get("newton-euler"), panda, "mass_matrix").counts  # reads centres of mass
    assert set(trace(methods.get("newton-euler"), robots.load("3rrr"), "inverse_dynamics").counts) == {"plain"}
    assert set(trace(methods.get("lagrange-euler"), panda, "coriolis_matrix").counts) == {"plain"}


def test_tidying_changes_nothing_but_rounding():
    robot = robots.load("ur5")
    clean = reduce.tidy(robot)
    for name in ("rotation", "translation", "com", "inertia", "axis"):
        np.testing.assert_allclose(getattr(clean, name), getattr(robot, name), atol=1e-14)


def test_small_numbers_of_a_small_robot_are_kept():
    """A robot of a micrometre and a nanogram: its inertias are far below rounding of one, and matter."""
    small = random_tree(3, seed=1, kinds=KINDS[:1])
    tiny = type(small)(**{
        **{f: getattr(small, f) for f in ("name", "body_names", "joint_names", "parent", "kind", "axis", "rotation")},
        "translation": small.translation * 1e-6, "com": small.com * 1e-6, "mass": small.mass * 1e-12,
        "inertia": small.inertia * 1e-24, "gravity": small.gravity,
    })  # fmt: skip
    q, v, a = tiny.sample(5)
    right = methods.get("newton-euler").prepare(tiny)
    found = trace(methods.get("newton-euler"), tiny, "inverse_dynamics").graph.evaluate(q, v, a)
    assert error(found, plain(right.runs["inverse_dynamics"], [q, v, a]), least=0.0) < 1e-12
