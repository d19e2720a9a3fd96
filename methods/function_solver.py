"""A solver from plain Python functions of one state: other engines, first drafts.

    def prepare(self, robot):
        self.require(robot)

        def inverse_dynamics(q, v, a, wrench):     # (nq,), (nv,), (nv,), and None or (n, 6)
            return ...                             # (nv,)

        return function_solver(self, robot, {"inverse_dynamics": inverse_dynamics})

The functions get checked float64 arrays, and must not write to them. The rest is the same as for compiled methods:
argument checks, batches (a loop over states), ``out=``, unchecked handles, and bias as inverse dynamics at zero
acceleration if there is no function for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from dynbench.methods import validation
from dynbench.methods.base import QUANTITIES, Method, Solver, zeros
from dynbench.methods.function_extras import with_extras
from dynbench.methods.signatures import public
from dynbench.robots.body import EXTRAS
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import FloatArray, Robot

Function = Callable[..., Any]


def function_solver(
    method: Method,
    robot: Robot,
    functions: Mapping[str, Function],
    model: Any = None,
    batches: Mapping[str, Function] | None = None,
    included: Collection[str] = (),
    own_names: Function | None = None,
) -> Solver:
    """Return a solver whose quantities are the given functions.

    Parameters
    ----------
    method, robot
        Whose solver it is.
    functions : mapping from quantity to function
        Functions of one state: ``f(q, v, a, wrench)`` for inverse and forward dynamics (there ``a`` is the force),
        reactions and regressor, ``f(q, v, wrench)`` for bias, ``f(q)`` for the mass matrix. The wrench is None or
        shape (n, 6).
    model
        The engine's own model, available as ``solver.model``.
    batches : mapping from quantity to function, optional
        Functions of a whole batch without external wrenches, for engines that have them. Arguments: the state (state
        axis first), the number of threads, the array to fill. Otherwise a batch is a loop and ``threads`` is ignored.
    included : collection of "armature", "damping", "friction"
        Joint extras that the functions take into account. The others are added here (`function_extras`); a batch
        function is then not used for a robot that has them.
    own_names : callable, optional
        What the names in the method's `own_calls` stand for, see `dynbench.methods.own_calls`.
    """
    given = {**functions}
    missing = [name for name in EXTRAS if getattr(robot, name).any() and name not in included]
    if missing:
        given, batches = with_extras(robot, given, missing), {}
    if "inverse_dynamics" in given:
        given.setdefault("bias", _bias(given["inverse_dynamics"], robot.nv))
    unknown = set(given) - set(QUANTITIES)
    if unknown:
        expected = ", ".join(QUANTITIES)
        raise MethodError(f"method {method.name!r} has a function for {unknown.pop()!r}, expected only {expected}")
    order = [quantity for quantity in QUANTITIES if quantity in given]
    runs = {name: FunctionRun(method, robot, name, given[name], (batches or {}).get(name)) for name in order}
    return Solver(
        method,
        robot,
        {name: run.checked() for name, run in runs.items()},
        {name: run.unchecked for name, run in runs.items()},
        model,
        own_names,
    )


class FunctionRun:
    """One quantity of one robot, from a function of one state."""

    def __init__(
        self, method: Method, robot: Robot, quantity: str, function: Function, batch: Function | None
    ) -> None:
        self.method = method
        self.robot = robot
        self.quantity = quantity
        self.function = function
        self.batch = batch
        self.arguments = QUANTITIES[quantity].arguments
        self.shape = QUANTITIES[quantity].shape(robot)

    def checked(self) -> Callable[..., FloatArray]:
        """The public function, with parameters named as in the contract."""
        call = public(self.arguments, QUANTITIES[self.quantity].pushed, self.run)
        call.__name__ = call.__qualname__ = self.quantity
        return call

    def run(self, values: tuple[Any, ...], wrench: Any, threads: int | None, out: Any) -> FloatArray:
        """Check the arguments, then call the function on each state."""
        count = validation.thread_count(threads)
        arrays, rows, single = validation.check(self.robot, self.arguments, values, wrench)
        N = len(arrays[0])
        wrenches = None if rows is None else np.broadcast_to(rows.reshape(-1, self.robot.n, 6), (N, self.robot.n, 6))
        target = validation.check_out(self.robot, out, self.shape if single else (N, *self.shape))
        result = target if out is None else validation.separate(target, [*arrays, rows])
        if single:
            result[...] = self.one(arrays, wrenches, 0)
        elif self.batch is not None and wrenches is None and N:
            self.batch(*arrays, count, result)
        else:
            for k in range(N):
                result[k] = self.one(arrays, wrenches, k)
        if result is not target:
            target[...] = result
        return target

    def one(self, arrays: list[FloatArray], wrenches: FloatArray | None, k: int) -> FloatArray:
        """The function's result for state k; raises if its shape is wrong."""
        state = [array[k] for array in arrays]
        if self.arguments != ("q",):
            state.append(None if wrenches is None else wrenches[k])
        found = np.asarray(self.function(*state), dtype=np.float64)
        if found.shape != self.shape:
            raise MethodError(
                f"method {self.method.name!r} returned {self.quantity} of shape {found.shape} "
                f"for robot {self.robot.name!r}, expected {self.shape}"
            )
        return found

    def unchecked(self, wrench: bool) -> Callable[..., int]:
        """The handle: one state, flat vectors, no checks; the status is always 0."""
        function, n = self.function, self.robot.n
        if self.arguments == ("q",):

            def configuration(q: FloatArray, out: FloatArray) -> int:
                out[:] = np.asarray(function(q)).reshape(-1)
                return 0

            return configuration

        def state(*inputs: Any) -> int:
            *known, outer, out = inputs
            out[:] = np.asarray(function(*known, outer.reshape(n, 6) if wrench else None)).reshape(-1)
            return 0

        return state


def _bias(inverse_dynamics: Function, nv: int) -> Function:
    still = zeros(nv)

    def bias(q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        return inverse_dynamics(q, v, still, wrench)  # type: ignore[no-any-return]

    return bias
