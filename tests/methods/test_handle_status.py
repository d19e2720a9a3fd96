"""What a handle does with a bad state: the status that is documented, and ``out`` filled with NaN, in both tiers."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.base import QUANTITIES, Solver
from dynbench.methods.kernels.status import Status

TIERS = ("generic", "traced")


@pytest.fixture(scope="module")
def solvers():
    made = {}

    def solver(name, code):
        if (name, code) not in made:
            made[name, code] = methods.get("newton-euler").prepare(robots.load(name), code=code)
        return made[name, code]

    return solver


def state(solver, quantity):
    q, v, a = (x[0].copy() for x in solver.robot.sample(1, seed=3))
    named = {"q": q, "v": v, "a": a, "tau": np.ones(len(solver.robot.actuated))}
    return [named[name] for name in QUANTITIES[quantity].arguments]


def call(solver, quantity, arguments, wrench=None):
    """The status, and what is in ``out``, which held numbers before."""
    out = np.full(int(np.prod(QUANTITIES[quantity].shape(solver.robot))), 7.0)
    outer = [wrench] if len(arguments) > 1 else []
    return solver.handle(quantity, wrench=wrench is not None)(*arguments, *outer, out), out


@pytest.mark.parametrize("code", TIERS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "bias"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e31])
def test_a_number_that_is_not_finite_or_too_large(solvers, code, quantity, bad):
    solver = solvers("two-link", code)
    right = state(solver, quantity)
    status, out = call(solver, quantity, right)
    assert status == Status.OK
    assert np.isfinite(out).all()
    for k in range(len(right)):
        spoilt = [x.copy() for x in right]
        spoilt[k][1] = bad
        status, out = call(solver, quantity, spoilt)
        assert status == Status.NOT_FINITE
        assert np.isnan(out).all()


BAD_CONFIGURATIONS = {
    "a long quaternion": ("space-dual-arm", lambda q: np.r_[q[:3], 1.01 * q[3:7], q[7:]], Status.NOT_UNIT),
    "off the loops": ("four-bar", lambda q: np.add(q, [0.0, 0.3, 0.0]), Status.NO_RESULT),
}


@pytest.mark.parametrize("code", TIERS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
@pytest.mark.parametrize("bad", BAD_CONFIGURATIONS)
def test_a_configuration_that_is_no_position_of_the_robot(solvers, code, quantity, bad):
    robot, spoilt, expected = BAD_CONFIGURATIONS[bad]
    solver = solvers(robot, code)
    q, *rest = state(solver, quantity)
    assert call(solver, quantity, [q, *rest])[0] == Status.OK
    status, out = call(solver, quantity, [spoilt(q), *rest])
    assert status == expected
    assert np.isnan(out).all()


@pytest.mark.parametrize("code", TIERS)
def test_an_angle_beyond_the_range_of_traced_code_has_a_result(solvers, code):
    solver = solvers("two-link", code)
    arguments = state(solver, "inverse_dynamics")
    right = call(solver, "inverse_dynamics", arguments)[1]
    arguments[0][0] += 2.0 * np.pi * 200_000
    status, out = call(solver, "inverse_dynamics", arguments)
    assert status == Status.OK
    np.testing.assert_allclose(out, right, rtol=1e-7)


@pytest.mark.parametrize("code", TIERS)
def test_a_vector_of_the_wrong_length(solvers, code):
    solver = solvers("two-link", code)
    q, v, a = state(solver, "inverse_dynamics")
    status, out = call(solver, "inverse_dynamics", [q[:1], v, a])
    assert status == Status.BAD_SHAPE
    assert np.isnan(out).all()


def test_a_wrench_that_is_not_finite(solvers):
    solver = solvers("two-link", "generic")
    wrench = np.zeros(12)
    wrench[4] = np.nan
    status, out = call(solver, "inverse_dynamics", state(solver, "inverse_dynamics"), wrench)
    assert status == Status.NOT_FINITE
    assert np.isnan(out).all()


@pytest.mark.parametrize("code", TIERS)
def test_out_may_be_an_input(solvers, code):
    solver = solvers("two-link", code)
    q, v, a = state(solver, "inverse_dynamics")
    v[0] = np.nan
    assert solver.handle("inverse_dynamics")(q, v, a, None, a) == Status.NOT_FINITE
    assert np.isnan(a).all()


def test_the_statuses_are_documented():
    text = Solver.handle.__doc__
    for one in Status:
        if one not in (Status.OK, Status.TOO_LARGE):  # the second never leaves a handle
            assert f"{int(one)}  {one.name}" in text
