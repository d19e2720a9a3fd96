"""Operation counts: exact, independent of data, polynomial in n; and the counted run computes the right thing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dynbench.methods.kane import Kane
from dynbench.methods.kernels.count import (
    SINCOS_FLOPS,
    Count,
    Operations,
    Polynomial,
    Tally,
    count_operations,
    count_polynomial,
    interpolate,
    run_counting,
)
from dynbench.methods.kernels.scalar import sincos, sqrt
from dynbench.methods.lagrange_euler import LagrangeEuler
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.errors import MethodError
from dynbench.robots.families.trees import KINDS, chain, random_tree

SIZES = range(3, 9)
DEGREES = {"inverse_dynamics": 1, "mass_matrix": 2, "forward_dynamics": 1, "reactions": 1}


def test_every_operation_is_counted_once():
    tally = Tally()
    x, y = Count(3.0, tally), Count(4.0, tally)
    s, c = sincos(x)
    result = (x + y, x - y, 1.0 - x, x * y, 2.0 * x, x / y, 1.0 / x, -x, sqrt(y), s * c)
    assert [float(r) for r in result[:9]] == [7.0, -1.0, -2.0, 12.0, 6.0, 0.75, 1 / 3, -3.0, 2.0]
    found = Operations(**vars(tally))
    assert found == Operations(additions=3, multiplications=3, divisions=2, square_roots=1, sincos=1)
    assert found.flops == 9 + SINCOS_FLOPS


def test_a_kernel_that_branches_on_data_is_refused():
    with pytest.raises(TypeError, match="must not branch on data"):
        assert Count(0.0, Tally())


@pytest.mark.parametrize("quantity", DEGREES)
def test_newton_euler_counts_are_exact_polynomials_in_n(quantity):
    found = count_polynomial(NewtonEuler(), chain, quantity, SIZES)
    text = ", ".join(f"{name} {polynomial}" for name, polynomial in found.items())
    assert found["flops"].degree == DEGREES[quantity], text
    assert found["additions"].degree == found["multiplications"].degree == DEGREES[quantity], text
    # and beyond the sizes it was found from
    far = count_operations(NewtonEuler(), chain(20), quantity)
    assert {name: polynomial(20) for name, polynomial in found.items()} == {
        **vars(far),
        "flops": far.flops,
    }, text


def test_kane_is_quadratic_and_lagrange_cubic_on_a_chain():
    assert count_polynomial(Kane(), chain, "inverse_dynamics", SIZES)["flops"].degree == 2
    assert count_polynomial(LagrangeEuler(), chain, "inverse_dynamics", SIZES)["flops"].degree == 3


@pytest.mark.parametrize("method", [NewtonEuler(), Kane(), LagrangeEuler()], ids=lambda method: method.name)
def test_counts_depend_on_structure_alone(method):
    for quantity in method.computes:
        assert len({count_operations(method, chain(5, seed=seed), quantity) for seed in range(3)}) == 1, quantity
        assert len({run_counting(method, chain(5), quantity, seed=seed)[0] for seed in range(3)}) == 1, quantity


@pytest.mark.parametrize("method", [NewtonEuler(), Kane(), LagrangeEuler()], ids=lambda method: method.name)
def test_the_counted_run_is_the_computation_that_is_timed(method):
    robot = random_tree(6, seed=5, kinds=KINDS)
    q, v, a = robot.sample(1)
    solver = method.prepare(robot)
    for quantity, state in {"inverse_dynamics": (q, v, a), "mass_matrix": (q,)}.items():
        if quantity in method.computes:
            right = getattr(solver, quantity)(*state).ravel()
            counted = run_counting(method, robot, quantity)[1]
            assert counted == pytest.approx(right, rel=0, abs=1e-12 * abs(right).max()), quantity


def test_bias_counts_as_the_inverse_dynamics_that_it_runs():
    robot = chain(3)
    assert count_operations(Kane(), robot, "bias") == count_operations(Kane(), robot, "inverse_dynamics")


def test_external_wrenches_cost_something():
    with_wrench = count_operations(NewtonEuler(), chain(4), "inverse_dynamics", wrench=True)
    without = count_operations(NewtonEuler(), chain(4), "inverse_dynamics")
    # a force and a moment turned into packed axes and subtracted, for each body
    assert with_wrench.multiplications - without.multiplications == 4 * 18
    assert with_wrench.additions - without.additions == 4 * 18


def test_counts_that_are_no_polynomial_are_reported():
    with pytest.raises(MethodError, match=r"additions of mass_matrix by 'newton-euler' are no polynomial .* 4:"):
        count_polynomial(NewtonEuler(), chain, "mass_matrix", range(3, 7))  # four points cannot confirm a quadratic
    with pytest.raises(MethodError, match="does not compute 'mass_matrix'"):
        count_operations(Kane(), chain(3), "mass_matrix")


def test_interpolation_is_exact_and_wants_confirmation():
    half_square = [n * (n + 1) // 2 for n in (3, 5, 6, 9, 10)]
    assert interpolate((3, 5, 6, 9, 10), half_square) == Polynomial((Fraction(0), Fraction(1, 2), Fraction(1, 2)))
    assert interpolate((3, 5, 6, 9), half_square[:4]) is None  # one point left is not enough to confirm it
    assert interpolate((1, 2, 3, 4, 5), (1, 2, 4, 8, 16)) is None
    assert str(interpolate((1, 2, 3), (7, 7, 7))) == "7"
    assert str(Polynomial((Fraction(-4), Fraction(1), Fraction(5, 2)))) == "5/2 n^2 + n - 4"
    assert str(Polynomial((Fraction(0), Fraction(-3)))) == "- 3 n"


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
def test_with_loops_it_counts_the_looped_kernel_and_gets_its_result(method):
    """Not the tree's: the projection on the loops is part of what is timed."""
    from dynbench import methods, robots

    robot = robots.load("3rrr")
    q, v, a = (x[0] for x in robot.sample(1, seed=0))
    operations, result = run_counting(methods.get(method), robot, "inverse_dynamics")
    np.testing.assert_allclose(result, methods.get(method).prepare(robot).inverse_dynamics(q, v, a), rtol=1e-9)
    assert operations.square_roots > 0  # of the projection; the recursion has none
