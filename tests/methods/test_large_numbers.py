"""Finite but huge numbers: an error or a status, never a silent NaN; both tiers, single calls, batches, handles."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.kernels.status import Status
from dynbench.robots import Body, Revolute, Robot
from dynbench.robots.errors import StateError
from dynbench.robots.states import LARGEST

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "bias")


@pytest.fixture(scope="module")
def arms():
    robot = robots.load("two-link")
    return {code: methods.get("newton-euler").prepare(robot, code=code) for code in ("generic", "traced")}


@pytest.mark.parametrize("huge", [1e31, -1e160, 1.7e308])
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("code", ["generic", "traced"])
def test_huge_numbers_are_refused(arms, code, quantity, huge):
    solver = arms[code]
    arguments = solver.runs[quantity].arguments
    states = [np.full((9, 2), 0.1) for _ in arguments]
    call, handle, out = getattr(solver, quantity), solver.handle(quantity), np.empty(2)
    call(*states)
    call(*(x[0] for x in states))
    for k, name in enumerate(arguments):
        spoilt = [x.copy() for x in states]
        spoilt[k][7, 1] = huge
        with pytest.raises(StateError, match=rf"{name}\[7, 1\] is .* needs finite numbers below 1e\+30"):
            call(*spoilt)
        with pytest.raises(StateError, match=rf"{name}\[7, 1\] is"):
            call(*spoilt, threads=2)
        with pytest.raises(StateError, match=rf"{name}\[1\] is"):
            call(*(x[7] for x in spoilt))
        assert handle(*(x[7] for x in spoilt), None, out) == Status.NOT_FINITE


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("code", ["generic", "traced"])
def test_the_largest_numbers_give_finite_results(arms, code, quantity):
    solver = arms[code]
    states = [np.full((9, 2), 0.1) for _ in solver.runs[quantity].arguments]
    for x in states[1:]:
        x[3] = 0.4 * LARGEST
    call, handle, out = getattr(solver, quantity), solver.handle(quantity), np.empty(2)
    result = call(*states)
    assert np.isfinite(result).all()
    assert np.abs(result[3]).max() > 1e20
    assert np.isfinite(call(*(x[3] for x in states))).all()
    assert handle(*(x[3] for x in states), None, out) == Status.OK
    assert np.isfinite(out).all()


def test_huge_wrenches_are_refused(arms):
    solver = arms["generic"]
    q, wrench = np.full(2, 0.1), np.zeros((2, 6))
    wrench[1, 2] = 1e200
    with pytest.raises(StateError, match=r"wrench\[1, 2\] is 1e\+200, robot 'two-link' needs finite numbers below"):
        solver.inverse_dynamics(q, q, q, wrench=wrench)
    handle, out = solver.handle("inverse_dynamics", wrench=True), np.empty(2)
    assert handle(q, q, q, wrench.reshape(-1), out) == Status.NOT_FINITE
    wrench[1, 2] = np.nan
    assert handle(q, q, q, wrench.reshape(-1), out) == Status.NOT_FINITE
    assert handle(q, q, q, np.zeros(12), out) == Status.OK


@pytest.mark.parametrize("code", ["generic", "traced"])
def test_an_acceleration_that_overflows_is_an_error(code):
    feather = Body(name="feather", joint=Revolute([0, 0, 1]), mass=1e-300, inertia=[1e-300] * 3)
    solver = methods.get("newton-euler").prepare(Robot.from_bodies("feather", [feather]), code=code)
    q = np.zeros((9, 1))
    with pytest.raises(StateError, match="forward_dynamics of robot 'feather' is not finite"):
        solver.forward_dynamics(q, q, q + 1e10)
    for _ in range(2):  # the second call is bound to machine code
        with pytest.raises(StateError, match="forward_dynamics of robot 'feather' is not finite"):
            solver.forward_dynamics(q[0], q[0], q[0] + 1e10)
    assert np.isfinite(solver.forward_dynamics(q, q, q)).all()


def test_functions_of_engines_get_no_huge_numbers():
    solver = methods.get("null").prepare(robots.load("two-link"))
    with pytest.raises(StateError, match=r"v\[0\] is 1e\+40"):
        solver.inverse_dynamics(np.zeros(2), np.full(2, 1e40), np.zeros(2))
