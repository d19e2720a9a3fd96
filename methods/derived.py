"""Derivatives of methods that have no recursion for them: the traced graph of the quantity itself is differentiated.

What traced code does not take, external wrenches and angles beyond its range, goes to dual numbers in plain Python
(`kernels.dual`): some milliseconds a state.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.methods.base import DERIVATIVES, Solver, width
from dynbench.methods.kernel_run import KernelRun
from dynbench.methods.kernels.status import Status
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import check_state

_C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)


def add_derivatives(solver: Solver) -> None:
    """Give a solver the derivatives of the quantities that its kernels compute, where it has none."""
    for quantity, source in DERIVATIVES.items():
        run = solver.runs.get(source)
        if isinstance(run, KernelRun) and quantity not in solver.computes and why_not(run.robot) is None:
            made = DerivedRun(run, quantity)
            solver.add(quantity, made.checked(), made.unchecked)


def why_not(robot: Robot) -> str | None:
    """Return why a robot has no derivatives by its actuated coordinates, None if it has."""
    if robot.is_tree:
        return None
    found = robot.loop_analysis
    if found.redundant or len(robot.actuated) != found.dof:
        return "with redundant loops or actuators the actuated coordinates are not independent"
    return None


class DerivedRun(KernelRun):
    """The derivatives of one quantity of one robot, by the kernel of the quantity itself."""

    def __init__(self, source: KernelRun, quantity: str) -> None:
        super().__init__(source.kernel, quantity, source.robot, source.model, source.size, pivots=source.pivots)
        self.source = source
        self.generic: Any = DualCode(source)


class DualCode:
    """The derivatives of a quantity by dual numbers, with the calls of `GenericCode`."""

    header = 0

    def __init__(self, source: KernelRun) -> None:
        self.source = source

    def evaluate(self, q: FloatArray, v: FloatArray, last: FloatArray, wrench: FloatArray | None, out: Any) -> int:
        """Fill ``out`` for one state."""
        from dynbench.methods.kernels.dual import dual_derivatives

        try:
            check_state(self.source.robot, q=q)
        except StateError:
            return int(Status.NOT_UNIT)
        if not all(np.isfinite(x).all() for x in (q, v, last)):
            return int(Status.NOT_FINITE)
        out[...] = dual_derivatives(self.source, q, v, last, wrench).reshape(out.shape)
        return 0

    @functools.cached_property
    def _callback(self) -> Any:
        robot, last = self.source.robot, self.source.arguments[-1]
        lengths = (robot.nq, robot.nv, width(robot, last))
        size = 2 * len(robot.actuated) ** 2

        def at(address: int, length: int) -> FloatArray:
            return np.ctypeslib.as_array((ctypes.c_double * length).from_address(address))

        def call(header: int, q: int, v: int, a: int, wrench: int | None, out: int) -> int:
            state = [at(place, length) for place, length in zip((q, v, a), lengths, strict=True)]
            push = at(wrench, 6 * robot.n) if wrench else None
            return self.evaluate(state[0], state[1], state[2], push, at(out, size))

        return _C_FUNCTION(call)

    def single(self, wrench: bool) -> int:
        """Return the address of a function for one state."""
        return int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def batch(self, wrench: bool) -> Callable[..., int]:
        """Return ``run(q, v, a, wrench, out)`` on rows of states."""

        def run(*arrays: Any) -> int:
            q, v, last, push, out = arrays
            status = 0
            for k in range(len(q)):
                row = None if push is None else push[k if len(push) > 1 else 0]
                status = self.evaluate(q[k], v[k], last[k], row, out[k]) or status
            return status

        return run


def dual_derivatives(
    method: Any, robot: Robot, quantity: str, q: Any, v: Any, last: Any, wrench: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Return derivatives by dual numbers in plain Python: slow, for any kernel method, to check the others with.

    Parameters
    ----------
    method : KernelMethod
    robot : Robot
    quantity : "inverse_dynamics" or "forward_dynamics"
    q, v, last : array
        The state: a for inverse dynamics, tau for forward dynamics. One state, or rows.
    wrench : array or mapping, optional
        External wrenches, as for the quantity itself.

    Returns
    -------
    dq, dv : ndarray, shape (nv, nv) or (N, nv, nv)
        With loops, of the actuated coordinates.
    """
    from dynbench.methods import validation

    run = method.prepare(robot).runs.get(quantity)
    if not isinstance(run, KernelRun) or f"{quantity}_derivatives" not in DERIVATIVES:
        raise UnsupportedError(f"method {method.name!r} has no kernel for {quantity!r} of robot {robot.name!r}")
    reason = why_not(robot)
    if reason is not None:
        raise UnsupportedError(f"derivatives of {quantity} of robot {robot.name!r}: {reason}")
    arrays, rows, single = validation.check(robot, run.arguments, (q, v, last), wrench)
    count = len(robot.actuated)
    out = np.empty((len(arrays[0]), 2, count, count))
    DualCode(run).batch(rows is not None)(*arrays, rows, out)
    return (out[0, 0], out[0, 1]) if single else (out[:, 0], out[:, 1])
