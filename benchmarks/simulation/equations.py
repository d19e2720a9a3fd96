"""A robot under tabulated forces as y' = f(t, y), with f in machine code: what integrators call, and nothing around it.

`Equations` is built around the forward dynamics of a solver. f is a C function ``f(t, y*, y'*, data*)``, compiled once
for each kernel and kept on disk as kernels are; integrators written in numba (`runge_kutta`, `dormand_prince`) take it
by its address and are themselves compiled only once. From Python a call costs two microseconds more than the kernel.

    trees and virtual springs     y holds all coordinates and their rates
    `denoc` on closed loops       y holds the actuated ones alone; the others are found by closing the loops at each
                                  evaluation, warm-started with the last, so that nothing drifts

All numbers that f needs lie in one array, ``data``: `LENGTHS` numbers, then what `Equations` packs behind them.
"""

from __future__ import annotations

import functools
import hashlib
import types as python_types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.methods.base import Solver
from dynbench.methods.denoc import Denoc, minimal
from dynbench.methods.kernels import closure
from dynbench.robots.robot import FloatArray

LENGTHS = 6  # of the model, its workspace, nv, na, intervals of the torques; then the period
STEP = 6e-6  # of central differences: the cube root of the rounding error

kernel: Any = None  # stands for the kernel in `_rates`; each compiled copy has its own
torque_at: Any = None
rates: Any = None
numba: Any = None
pointer: Any = None
ONE = (0,)


class Equations:
    """The equations of motion of ``solver.robot`` under ``torques``; see the module's docstring.

    Raises ValueError if they cannot be compiled; `why_not` says so beforehand.
    """

    def __init__(self, solver: Solver, torques: Torques) -> None:
        reason = why_not(solver)
        if reason:
            raise ValueError(f"robot {solver.robot.name!r}, {solver.method.name}: {reason}")
        robot = self.robot = solver.robot
        self.minimal = isinstance(solver.method, Denoc) and not robot.is_tree
        if self.minimal:
            function, model, size = _minimal_kernel(solver.method, robot)
        else:
            run: Any = solver.runs["forward_dynamics"]
            function, model, size = run.kernel, run.model, run.size
        nv, act = robot.nv, np.asarray(robot.actuated, dtype=np.float64)
        intervals = torques.coefficients.shape[1]
        lengths = [model.size, size, nv, act.size, intervals, torques.period]
        spare = np.zeros(act.size + 7 * nv + size)  # tau, warm start, state, result and workspace of one evaluation
        self.data = np.concatenate([lengths, act, torques.coefficients.ravel(), model, spare])
        self.actuated = np.asarray(robot.actuated, dtype=np.int64)
        self._state = len(self.data) - len(spare) + act.size
        self.function = compiled(function, self.minimal)
        self.size = 2 * (act.size if self.minimal else nv)
        self.evaluations = 0
        self._y, self._dy = np.empty(self.size), np.empty(self.size)
        y, dy, data = (array.ctypes.data for array in (self._y, self._dy, self.data))
        call = self.function.ctypes
        self._call: Callable[[float], None] = lambda t: call(t, y, dy, data)

    def start(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return y at a state, which is also the first warm start."""
        self.data[self._state : self._state + len(q)] = q
        chosen = self.actuated if self.minimal else slice(None)
        return np.concatenate([q[chosen], v[chosen]])

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        """Return y'."""
        self.evaluations += 1
        self._y[:] = y
        self._call(t)
        return self._dy.copy()

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return dy'/dy by central differences, all columns in one call of machine code."""
        steps = STEP * np.maximum(np.abs(y), 1.0)
        rows = np.concatenate([y + np.diag(steps), y - np.diag(steps)])
        found = np.empty_like(rows)
        _rows_driver()(self.function, t, rows, found, self.data)
        self.evaluations += len(rows)
        return np.asarray((found[: len(y)] - found[len(y) :]).T / (2.0 * steps))

    def states(self, t: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return q and v (K, nv) of rows y (K, size) at ascending times."""
        nv = self.robot.nv
        if not self.minimal:
            return y[:, :nv].copy(), y[:, nv:].copy()
        q, v = np.empty((len(t), nv)), np.empty((len(t), nv))
        for k, row in enumerate(y):
            self._y[:] = row
            self._call(t[k])
            q[k], v[k] = self.data[self._state + nv : self._state + 3 * nv].reshape(2, nv)
        return q, v


def why_not(solver: Solver) -> str:
    """Why the motion of a solver's robot cannot run as machine code alone; "" if it can."""
    if solver.robot.nq != solver.robot.nv:
        return "quaternions are integrated by simulate"
    if isinstance(solver.method, Denoc) and not solver.robot.is_tree and solver.robot.loop_analysis.redundant:
        return "its closures say the same thing twice"
    if not hasattr(solver.runs.get("forward_dynamics"), "kernel"):
        return "its forward dynamics is not a kernel"
    return ""


def _minimal_kernel(method: Any, robot: Any) -> tuple[Callable[..., Any], FloatArray, int]:
    analysis = robot.loop_analysis
    model = closure.pack(robot, method.pack(robot), analysis.independent)
    inner = max(method.work_size(robot, quantity) for quantity in ("inverse_dynamics", "mass_matrix"))
    return minimal.right_hand_side, model, closure.layout(robot, analysis.rank)[-1] + inner


@functools.cache
def compiled(function: Callable[..., Any], loops: bool) -> Any:
    """Compile f(t, y*, y'*, data*) around a kernel; kept on disk as kernels are."""
    import numba
    from numba import types
    from numba.extending import register_jitable

    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.compiled import register_pending
    from dynbench.methods.kernels.pack import JIT_OPTIONS, pointer

    register_pending()
    names = {**globals(), "kernel": function, "numba": numba, "pointer": pointer}

    def copy(template: Any) -> Any:
        # of this file's version: numba looks only at the file of the function that it compiles
        name = f"{function.__module__}.{function.__qualname__}.{template.__name__}_{_version()}"
        made = python_types.FunctionType(template.__code__, names, name.replace(".", "_"))
        made.__module__, made.__qualname__ = template.__module__, name
        return made

    names["torque_at"] = register_jitable(**JIT_OPTIONS)(copy(_torque_at))
    names["rates"] = register_jitable(**JIT_OPTIONS)(copy(_minimal_rates if loops else _full_rates))
    address = types.uintp
    with cache.numba_cache(function.__module__) as file:
        return numba.cfunc(types.void(types.float64, address, address, address), cache=file is not None, **JIT_OPTIONS)(
            copy(_evaluate)
        )


@functools.cache
def _version() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]


@functools.cache
def driver(template: Callable[..., Any]) -> Callable[..., Any]:
    """Compile an integrator; f goes in by its address, so this happens once for all robots and methods."""
    import numba

    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.pack import JIT_OPTIONS

    with cache.numba_cache("dynbench.methods.kernels.scalar") as file:
        made: Callable[..., Any] = numba.njit(nogil=True, cache=file is not None, **JIT_OPTIONS)(template)
    return made


def _rows_driver() -> Callable[..., Any]:
    return driver(_rows)


def _rows(f: Any, t: float, rows: Any, out: Any, data: Any) -> None:
    for k in range(rows.shape[0]):
        f(t, rows[k].ctypes.data, out[k].ctypes.data, data.ctypes.data)


def _evaluate(t: float, y_address: int, dy_address: int, address: int) -> None:
    lengths = numba.carray(pointer(address), (LENGTHS,))
    count, size, nv, na, intervals = (
        int(lengths[0]), int(lengths[1]), int(lengths[2]), int(lengths[3]), int(lengths[4]),
    )  # fmt: skip
    place = address + 8 * LENGTHS
    act = numba.carray(pointer(place), (na,))
    place += 8 * na
    coefficients = numba.carray(pointer(place), (4, intervals, na))
    place += 32 * intervals * na
    model = numba.carray(pointer(place), (count,))
    place += 8 * count
    tau = numba.carray(pointer(place), (na,))
    place += 8 * na
    state = numba.carray(pointer(place), (3 * nv,))
    place += 24 * nv
    spare = numba.carray(pointer(place), (4 * nv,))
    place += 32 * nv
    work = numba.carray(pointer(place), (size,))
    torque_at(t, coefficients, lengths[5], tau)
    rates(model, act, y_address, tau, state, spare, dy_address, work, nv, na)


def _torque_at(t: float, coefficients: Any, period: float, tau: Any) -> None:
    width = period / coefficients.shape[1]
    phase = t - period * np.floor(t / period)
    k = min(int(phase / width), coefficients.shape[1] - 1)
    x = phase - k * width
    for j in range(tau.size):
        c0, c1, c2 = coefficients[0, k, j], coefficients[1, k, j], coefficients[2, k, j]
        tau[j] = ((c0 * x + c1) * x + c2) * x + coefficients[3, k, j]


def _full_rates(
    model: Any, act: Any, y_address: int, tau: Any, state: Any, spare: Any, dy_address: int, work: Any, nv: int, na: int
) -> None:
    """All coordinates of the tree are integrated."""
    y, dy = numba.carray(pointer(y_address), (2 * nv,)), numba.carray(pointer(dy_address), (2 * nv,))
    kernel(ONE, model, y[:nv], y[nv:], tau, None, dy[nv:], work)
    dy[:nv] = y[nv:]


def _minimal_rates(
    model: Any, act: Any, y_address: int, tau: Any, state: Any, spare: Any, dy_address: int, work: Any, nv: int, na: int
) -> None:
    """Only actuated coordinates are integrated; the others come back closed, and are the next warm start.

    ``state`` is the warm start, then configuration and velocity of the last evaluation.
    """
    y, dy = numba.carray(pointer(y_address), (2 * na,)), numba.carray(pointer(dy_address), (2 * na,))
    warm, v, out = state[:nv], spare[:nv], spare[nv:]
    for j in range(na):
        warm[int(act[j])] = y[j]
        v[int(act[j])] = y[na + j]
    kernel(ONE, model, warm, v, tau, None, out, work)
    warm[:] = out[nv : 2 * nv]
    state[nv:] = out[nv:]
    for j in range(na):
        dy[j] = y[na + j]
        dy[na + j] = out[int(act[j])]
