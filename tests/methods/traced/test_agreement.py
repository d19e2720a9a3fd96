"""Traced code against the same kernels in plain Python, compiled by numba, and against Pinocchio."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from traced_cases import FORWARD, RIGHT, cases, error, plain, quantities, states

from dynbench import methods, robots
from dynbench.methods.base import DERIVATIVES, Method
from dynbench.methods.traced.code import lanes
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.families.trees import KINDS, random_tree
from dynbench.robots.robot import Robot

LARGER = ["3rrr", "panda", "space-dual-arm", "tree-7"]
SOME = cases(["pendulum", "two-link", "rp3", "four-bar", "elastic-rp1", *LARGER])
STEWART = [("gough-stewart", f"lagrange-stewart{legs}") for legs in ("", "-lumped", "-massless")]
ALL = cases([
    "puma560", "ur5", "five-bar", "delta", "gough-stewart", "chain-10", "chain-30", "tree-30",
    "space-dual-arm-parallel", "space-arms-3", "rp-8", "elastic-rp-3", "elastic-modes-3",
])  # fmt: skip
HOW_MANY = 11  # no multiple of the lanes: the last block overlaps with the one before
IN_PYTHON = [0, 4, 10]  # which of them plain Python computes too, some of which take a second


def tolerance(quantity: str) -> float:
    return FORWARD if quantity.startswith("forward_dynamics") else 10 * RIGHT if quantity in DERIVATIVES else RIGHT


def compare_with_plain_python(robot: Robot, method: Method, which: Callable[[str], bool]) -> int:
    """Return how many quantities were compared: in batches, one by one, and fewer states than lanes."""
    solver = method.prepare(robot, code="traced")
    chosen = [name for name in quantities(solver) if which(name) and solver.why_not_traced(name) is None]
    for quantity in chosen:
        arguments = states(robot, quantity, HOW_MANY)
        right = plain(solver.runs[quantity], [x[IN_PYTHON] for x in arguments])
        call = solver.whole(quantity)
        whole = call(*arguments)
        assert whole.shape == (HOW_MANY, *right.shape[1:])
        assert error(whole[IN_PYTHON], right) <= tolerance(quantity), quantity
        singles = np.array([call(*(x[k] for x in arguments)) for k in range(HOW_MANY)])
        assert error(singles[IN_PYTHON], right) <= tolerance(quantity), quantity
        assert error(singles, whole) <= tolerance(quantity), quantity
        few = call(*(x[:3] for x in arguments))
        assert error(few, whole[:3]) <= tolerance(quantity), quantity
    return len(chosen)


OTHER_LEGS = [pytest.param(*case, marks=pytest.mark.long) for case in STEWART[1:]]  # the same equations, shortened


@pytest.mark.parametrize(("robot", "method"), [*SOME, STEWART[0], *OTHER_LEGS])
def test_traced_code_gives_what_the_kernel_gives_in_plain_python(robot, method):
    """Derivatives too, of the smaller robots."""
    small = robot not in LARGER
    assert compare_with_plain_python(
        robots.load(robot), methods.get(method), lambda quantity: small or quantity not in DERIVATIVES
    )


@pytest.mark.long  # as above: derivatives of robots with more joints, of which each takes seconds to compile
@pytest.mark.parametrize(("robot", "method"), cases(LARGER))
def test_traced_derivatives_are_those_of_dual_numbers_on_larger_robots(robot, method):
    compare_with_plain_python(robots.load(robot), methods.get(method), lambda quantity: quantity in DERIVATIVES)


@pytest.mark.long
@pytest.mark.parametrize(("robot", "method"), SOME + STEWART + ALL)
def test_traced_code_gives_what_generic_code_gives(robot, method):
    robot, method = robots.load(robot), methods.get(method)
    solver, generic = method.prepare(robot, code="traced"), method.prepare(robot)
    for quantity in quantities(solver):
        if solver.why_not_traced(quantity) is not None or quantity not in generic.computes:
            continue
        arguments = states(robot, quantity, 20, seed=1)
        right = generic.whole(quantity)(*arguments)
        # mass matrices of loops take a solution with the loop equations: 1.2e-13 for an embedded Gough-Stewart platform
        limit = tolerance(quantity) * (1 if robot.is_tree or quantity != "mass_matrix" else 3)
        assert error(solver.whole(quantity)(*arguments), right) <= limit, quantity
        one = solver.whole(quantity)(*(x[0] for x in arguments))
        assert error(one, right[0]) <= limit, quantity


def on_trees(seeds: range) -> None:
    oracle = pytest.importorskip("pinocchio") and methods.get("pinocchio")
    names = ("newton-euler", "gibbs-appell", "kane", "denoc", "boltzmann-hamel")
    for seed in seeds:
        robot = random_tree(1 + seed % 9, seed=seed, kinds=KINDS, floating=seed % 3 == 0)
        method = methods.get(names[seed % len(names)])
        if method.supports(robot) is not None:
            method = methods.get("newton-euler")
        q, v, a = robot.sample(9, seed=seed)
        judge, solver = oracle.prepare(robot), method.prepare(robot, code="traced")
        tau = judge.inverse_dynamics(q, v, a)
        assert error(solver.inverse_dynamics(q, v, a), tau) < 1e-12, (seed, method.name)
        if "mass_matrix" in solver.computes:
            assert error(solver.mass_matrix(q), judge.mass_matrix(q)) < 1e-12, (seed, method.name)
        if "forward_dynamics" in solver.computes:
            condition = np.linalg.cond(judge.mass_matrix(q)).max()
            assert error(solver.forward_dynamics(q, v, tau), a) < 1e-14 * max(condition, 1e2), (seed, method.name)


def test_traced_code_agrees_with_pinocchio_on_random_trees():
    on_trees(range(6))


@pytest.mark.long
def test_traced_code_agrees_with_pinocchio_on_200_random_trees():
    on_trees(range(200))


def test_threads_and_large_batches_give_the_same_numbers():
    robot = robots.load("panda")
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    arguments = robot.sample(1003)
    one = solver.inverse_dynamics(*arguments)
    np.testing.assert_array_equal(solver.inverse_dynamics(*arguments, threads=3), one)
    np.testing.assert_array_equal(solver.inverse_dynamics(*(x[700:] for x in arguments)), one[700:])
    out = np.empty_like(one)
    assert solver.inverse_dynamics(*arguments, out=out) is out
    np.testing.assert_array_equal(out, one)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "bias"])
@pytest.mark.parametrize("name", ["pendulum", "panda", "space-dual-arm"])
def test_fewer_rows_than_lanes_are_those_of_a_whole_block(name, quantity):
    """To the last bit, by the built-in function and by the general one, and nothing beside them is written."""
    solver = methods.get("newton-euler").prepare(robots.load(name), code="traced")
    call, arguments = getattr(solver, quantity), states(solver.robot, quantity, lanes())
    whole = call(*arguments)
    for n in range(1, lanes()):
        rows = [x[:n].copy() for x in arguments]
        beside = np.full((n + 2, *whole.shape[1:]), 7.0)
        assert call(*rows, out=beside[1:-1]) is not None
        np.testing.assert_array_equal(beside[1:-1], whole[:n])
        assert (beside[[0, -1]] == 7.0).all()
        np.testing.assert_array_equal(call(*rows, threads=1), whole[:n])
        np.testing.assert_array_equal(call(*(x[:n].tolist() for x in arguments)), whole[:n])
        rows[0][n - 1, 0] = np.nan
        with pytest.raises(StateError, match=rf"q\[{n - 1}, 0\] is nan" if n > 1 else r"q(\[0, 0\]|\[0\]) is nan"):
            call(*rows)


def test_wrenches_and_reactions_use_generic_code():
    robot = robots.load("two-link")
    generic, traced = (methods.get("newton-euler").prepare(robot, code=code) for code in ("generic", "traced"))
    q, v, a = robot.sample(3)
    wrench = np.random.default_rng(0).standard_normal((robot.n, 6))
    for name in ("inverse_dynamics", "reactions"):
        right = getattr(generic, name)(q, v, a, wrench=wrench)
        np.testing.assert_array_equal(getattr(traced, name)(q, v, a, wrench=wrench), right)
    assert "generic code" in traced.why_not_traced("reactions")


def test_a_robot_too_large_is_refused_with_a_sentence_and_auto_uses_generic_code():
    method, robot = methods.get("lagrange-euler"), robots.load("chain-30")
    solver = method.prepare(robot, code="traced")
    reason = solver.why_not_traced("inverse_dynamics")
    assert "operations" in reason
    assert "largest number that is compiled" in reason
    with pytest.raises(UnsupportedError, match=r"inverse_dynamics of robot 'chain-30' is not traced: .* operations"):
        solver.inverse_dynamics(*robot.sample(1))
    run = method.prepare(robot, code="auto").runs["inverse_dynamics"]
    assert run.code is run.generic


def test_auto_traces_what_can_be_traced_and_unknown_code_is_refused():
    robot = robots.load("two-link")
    run = methods.get("kane").prepare(robot, code="auto").runs["inverse_dynamics"]
    assert run.code is run.traced
    with pytest.raises(robots.errors.MethodError, match="code is 'fast', expected one of generic, traced, auto"):
        methods.get("kane").prepare(robot, code="fast")
    elastic = robots.load("elastic-rp1")
    plain = methods.get("lagrange-elastic").prepare(elastic)
    assert plain.why_not_traced("inverse_dynamics").endswith("not made of kernels")
