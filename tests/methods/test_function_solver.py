"""A solver from plain functions behaves like any other: batches, out, handles, bias, messages."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from dynbench.methods import Method, function_solver
from dynbench.robots import chain
from dynbench.robots.errors import MethodError, NotComputedError, StateError, UnsupportedError

ROBOT = chain(2)


class Plain(Method):
    """tau = a + 10 v, so that every argument shows in the result."""

    name: ClassVar[str] = "plain"
    title: ClassVar[str] = "Plain"
    reference: ClassVar[str] = "a test"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "mass_matrix", "bias")

    def prepare(self, robot):
        self.require(robot)
        return function_solver(
            self,
            robot,
            {
                "inverse_dynamics": lambda q, v, a, wrench: a + 10.0 * v + (0.0 if wrench is None else wrench[:, 0]),
                "mass_matrix": lambda q: [[q[0], 0.0], [0.0, 1.0]],
            },
            model="the engine's model",
        )


@pytest.fixture
def solver():
    return Plain().prepare(ROBOT)


def test_a_batch_is_a_loop_over_states(solver):
    q, v, a = ROBOT.sample(5)
    assert np.array_equal(solver.inverse_dynamics(q, v, a), a + 10.0 * v)
    assert np.array_equal(solver.inverse_dynamics(q[0], v[0], a[0], threads=7), a[0] + 10.0 * v[0])
    assert solver.inverse_dynamics(q[:0], v[:0], a[:0]).shape == (0, 2)
    assert solver.mass_matrix(q).shape == (5, 2, 2)


def test_bias_is_inverse_dynamics_at_zero_acceleration(solver):
    q, v, _ = ROBOT.sample(3)
    wrench = np.arange(12.0).reshape(2, 6)
    assert solver.computes == ("inverse_dynamics", "mass_matrix", "bias")
    assert np.array_equal(solver.bias(q, v, wrench=wrench), 10.0 * v + [0.0, 6.0])


def test_out_is_filled_and_returned(solver):
    q, v, a = ROBOT.sample(3)
    out = np.empty((3, 2))
    assert solver.inverse_dynamics(q, v, a, out=out) is out
    assert np.array_equal(out, a + 10.0 * v)


def test_handles_take_flat_vectors(solver):
    q, v, a = (x[0] for x in ROBOT.sample(1))
    out, flat = np.empty(2), np.empty(4)
    solver.handle("inverse_dynamics", wrench=True)(q, v, a, np.arange(12.0), out)
    assert np.array_equal(out, a + 10.0 * v + [0.0, 6.0])
    solver.handle("bias")(q, v, None, out)
    assert np.array_equal(out, 10.0 * v)
    solver.handle("mass_matrix")(q, flat)
    assert flat.tolist() == [q[0], 0.0, 0.0, 1.0]


def test_the_engines_model_is_offered(solver):
    assert solver.model == "the engine's model"


def test_what_is_absent_is_named(solver):
    with pytest.raises(NotComputedError, match="'plain' does not compute 'forward_dynamics'"):
        solver.forward_dynamics([0, 0], [0, 0], [0, 0])


def test_arguments_are_checked(solver):
    with pytest.raises(StateError, match=r"v has shape \(3,\), robot 'chain-2' needs \(2,\)"):
        solver.inverse_dynamics([0, 0], [0, 0, 0], [0, 0])
    with pytest.raises(StateError, match=r"q\[1\] is nan"):
        solver.bias([0, np.nan], [0, 0])


def test_a_result_of_the_wrong_shape_is_the_methods_fault():
    solver = function_solver(Plain(), ROBOT, {"inverse_dynamics": lambda q, v, a, wrench: a[:1]})
    with pytest.raises(MethodError, match=r"'plain' returned inverse_dynamics of shape \(1,\) .* expected \(2,\)"):
        solver.inverse_dynamics([0, 0], [0, 0], [0, 0])


def test_a_function_for_no_quantity_is_refused():
    with pytest.raises(MethodError, match="'plain' has a function for 'inverse_dynamic'"):
        function_solver(Plain(), ROBOT, {"inverse_dynamic": lambda q, v, a, wrench: a})


def test_a_batch_function_is_used_for_batches_without_wrenches_only():
    seen = []

    def batch(q, v, a, threads, out):
        seen.append((len(q), threads))
        out[...] = 3.0

    functions = {"inverse_dynamics": lambda q, v, a, wrench: np.ones(2)}
    solver = function_solver(Plain(), ROBOT, functions, batches={"inverse_dynamics": batch})
    q, v, a = ROBOT.sample(4)
    assert (solver.inverse_dynamics(q, v, a, threads=2) == 3.0).all()
    assert (solver.inverse_dynamics(q[0], v[0], a[0]) == 1.0).all()
    assert (solver.inverse_dynamics(q, v, a, wrench=np.zeros((2, 6))) == 1.0).all()
    assert seen == [(4, 2)]


def test_an_absent_engine_is_a_reason_and_not_an_import_error():
    class Absent(Plain):
        requires: ClassVar[tuple[str, ...]] = ("an_engine_that_is_not_installed",)

    assert Absent().supports(ROBOT) == "an_engine_that_is_not_installed is not installed"
    with pytest.raises(UnsupportedError, match="is not installed"):
        Absent().prepare(ROBOT)
