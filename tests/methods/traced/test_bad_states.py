"""What traced code must see: numbers that are not finite, in every input, quaternions, loops, angles far away."""

from __future__ import annotations

import numpy as np
import pytest
from traced_cases import error, plain, states

from dynbench import methods, robots
from dynbench.methods.kernels.status import Status
from dynbench.methods.traced import graph as g
from dynbench.methods.traced.trace import trace
from dynbench.robots.errors import StateError

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")


@pytest.fixture(scope="module", params=["panda", "space-dual-arm", "rp3"])
def solver(request):
    return methods.get("newton-euler").prepare(robots.load(request.param), code="traced")


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_seen_in_every_input(solver, quantity, bad):
    call = getattr(solver, quantity)
    arguments = states(solver.robot, quantity, 9)
    call(*arguments)
    call(*(x[0] for x in arguments))
    handle, out = solver.handle(quantity), np.empty(int(np.prod(solver.runs[quantity].shape)))
    for k, values in enumerate(arguments):
        for j in range(values.shape[1]):
            spoilt = [x.copy() for x in arguments]
            spoilt[k][7, j] = bad
            name = solver.runs[quantity].arguments[k]
            with pytest.raises(StateError, match=rf"{name}\[7, {j}\] is {bad}|quaternion"):
                call(*spoilt)
            with pytest.raises(StateError, match=rf"{name}\[{j}\] is {bad}|quaternion"):
                call(*(x[7] for x in spoilt))
            push = [] if quantity == "mass_matrix" else [None]
            if abs(bad) != np.inf or k > 0:  # an infinite angle is far away, and left to generic code
                assert handle(*(x[7] for x in spoilt), *push, out) in (Status.NOT_FINITE, Status.NOT_UNIT)


def test_a_quaternion_that_is_not_of_unit_length_is_seen():
    solver = methods.get("newton-euler").prepare(robots.load("space-dual-arm"), code="traced")
    for quantity in QUANTITIES:
        arguments = states(solver.robot, quantity, 9)
        call = getattr(solver, quantity)
        call(*arguments)
        arguments[0][4, 5] += 1e-3
        with pytest.raises(StateError, match="has length"):
            call(*arguments)
        with pytest.raises(StateError, match="has length"):
            call(*(x[4] for x in arguments))


def test_angles_far_away_are_right():
    robot = robots.load("two-link")
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = robot.sample(9)
    q[3, 1] += 2 * np.pi * 3e6
    right = plain(solver.runs["inverse_dynamics"], [q, v, a])
    assert error(solver.inverse_dynamics(q, v, a), right) < 1e-13
    assert error(solver.inverse_dynamics(q[3], v[3], a[3]), right[3]) < 1e-13
    out = np.empty(2)
    assert solver.handle("inverse_dynamics")(q[3], v[3], a[3], None, out) == 0
    assert error(out, right[3]) < 1e-13


@pytest.mark.parametrize(("robot", "method"), [("3rrr", "newton-euler"), ("3rrr", "denoc"), ("four-bar", "kane"),
                                               ("gough-stewart", "lagrange-stewart")])  # fmt: skip
def test_states_off_the_loops_are_refused(robot, method):
    robot = robots.load(robot)
    solver = methods.get(method).prepare(robot, code="traced")
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        if quantity not in solver.computes:
            continue
        call, arguments = getattr(solver, quantity), states(robot, quantity, 9)
        call(*arguments)
        for k in range(3 if quantity == "inverse_dynamics" else 2):
            off = [x.copy() for x in arguments]
            off[k][5, 0 if k else -1] += 0.1
            with pytest.raises(StateError, match=r"off the loops|open|quaternion"):
                call(*off)
            with pytest.raises(StateError, match=r"off the loops|open|quaternion"):
                call(*(x[5] for x in off))


def off_loop_results(graph) -> np.ndarray:
    robot = robots.load("3rrr")
    q, v, a = robot.sample(4)
    q[:, 0] += 0.1
    return graph.evaluate(q, v, a)


def test_a_guard_is_no_product_with_zero():
    """With the guards removed, as folding 0 x would do, states off the loops give numbers: the tests above fail."""
    graph = trace(methods.get("newton-euler"), robots.load("3rrr"), "inverse_dynamics").graph
    guards = [n for n in graph.live() if graph.op[n] == g.GUARD]
    assert guards
    assert np.isnan(off_loop_results(graph)).all()
    for n in guards:
        graph.op[n], graph.a[n], graph.b[n] = g.CONSTANT, 0.0, -1
    assert np.isfinite(off_loop_results(graph)).all()


def test_elastic_arms_outside_their_sleeves_are_refused():
    robot = robots.load("elastic-rp1")
    solver = methods.get("gibbs-appell-elastic").prepare(robot, code="traced")
    q, v, a = robot.sample(9)
    solver.inverse_dynamics(q, v, a)
    q[2, robot.iq[robot.elastic.arm[0]]] = -0.1
    for arguments in ((q, v, a), (q[2], v[2], a[2])):
        with pytest.raises(StateError, match="outside its sleeve"):
            solver.inverse_dynamics(*arguments)
