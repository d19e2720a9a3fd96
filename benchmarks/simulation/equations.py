"""A robot under tabulated forces as y' = f(t, y), with f in machine code: what integrators call, and nothing around it.

`Equations` is built around the forward dynamics of a solver. f is a C function ``f(t, y*, y'*, data*)``, compiled once
for each kernel and kept on disk as kernels are; integrators written in numba (`runge_kutta`, `dormand_prince`) take it
by its address and are themselves compiled only once. From Python a call costs two microseconds more than the kernel.

    trees and virtual springs     y holds all coordinates and their rates
    `denoc` on closed loops       y holds the actuated ones alone; the others are found by closing the loops at each
                                  evaluation, so that nothing drifts, on the way from the last that was closed:
                                  never at another assembly of the legs, nor whole turns away

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

from dynbench.benchmarks.simulation import steps
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.methods.base import Solver
from dynbench.methods.denoc import Denoc, minimal
from dynbench.methods.kernels import closure
from dynbench.robots.robot import FloatArray

LENGTHS = 6  # of the model, its workspace, nv, na, intervals of the torques; then the period
REACH = 0.1  # rad or m that actuated coordinates go at once; further, the loops are closed on the way
FINER = 16  # parts of a way that is not far, and yet cannot be gone at once: close to a singular configuration
LEAP = 1.0  # rad or m that the others may move meanwhile; more is another assembly of the legs
FAR = 100.0  # rad or m; what an integrator tries beyond is nonsense, and is no number
SINGULAR = 1e4  # condition of the loops in the dependent coordinates
STEP = 6e-6  # of central differences: the cube root of the rounding error

kernel: Any = None  # stands for the kernel in `_rates`; each compiled copy has its own
torque_at: Any = None
rates: Any = None
follow: Any = minimal.follow
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
        spare = np.zeros(act.size + 7 * nv + size)  # tau, state, result and workspace of one evaluation
        self.data = np.concatenate([lengths, act, torques.coefficients.ravel(), model, spare])
        self.actuated = np.asarray(robot.actuated, dtype=np.int64)
        state = len(self.data) - len(spare) + act.size
        self.memory = self.data[state : state + 2 * nv]  # q and v of the last evaluation that closed the loops
        self._closed = self.memory.reshape(2, nv)
        self._start = np.zeros((2, nv))
        self.function = compiled(function, self.minimal)
        self.size = 2 * (act.size if self.minimal else nv)
        self.evaluations = 0
        self._y, self._dy = np.empty(self.size), np.empty(self.size)
        y, dy, data = (array.ctypes.data for array in (self._y, self._dy, self.data))
        call = self.function.ctypes
        self._call: Callable[[float], None] = lambda t: call(t, y, dy, data)

    def start(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return y at a state, from which the loops are followed."""
        self._start[:] = self._closed[:] = q, v
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
        change = STEP * np.maximum(np.abs(y), 1.0)
        rows = np.concatenate([y + np.diag(change), y - np.diag(change)])
        found = np.empty_like(rows)
        _rows_driver()(self.function, t, rows, found, self.data)
        self.evaluations += len(rows)
        return np.asarray((found[: len(y)] - found[len(y) :]).T / (2.0 * change))

    def states(self, t: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return q and v (K, nv) of rows y (K, size) at ascending times, the first of them that of `start`."""
        nv = self.robot.nv
        if not self.minimal:
            return y[:, :nv].copy(), y[:, nv:].copy()
        q, v = np.full((2, len(t), nv), np.nan)
        self._closed[:] = self._start  # the integrator has left it at the end
        for k, row in enumerate(y):
            self._y[:] = row
            self._call(t[k])
            if np.isfinite(self._dy).all():
                q[k], v[k] = self._closed
        return q, v

    def remark(self, q: FloatArray) -> str:
        """What is to be said of a state beyond which a run could not go, such as that it is singular; "" if nothing."""
        if not self.minimal or not np.isfinite(q).all():
            return ""
        found = self.robot.loop_analysis
        condition = np.linalg.cond(self.robot.loop_jacobian(q)[np.ix_(found.independent, found.dependent)])
        if condition < SINGULAR:
            return ""
        return f", at a singular configuration: what is actuated does not hold the loops (condition {condition:.0e})"


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
    from dynbench.methods.kernels.memory import pointer
    from dynbench.methods.kernels.pack import JIT_OPTIONS

    register_pending()
    names = {**globals(), "kernel": function, "numba": numba, "pointer": pointer}

    def copy(template: Any) -> Any:
        return _copy(template, f"{function.__module__}.{function.__qualname__}.", names)

    names["torque_at"] = register_jitable(**JIT_OPTIONS)(copy(_torque_at))
    names["rates"] = register_jitable(**JIT_OPTIONS)(copy(_minimal_rates if loops else _full_rates))
    address = types.uintp
    with cache.numba_cache(function.__module__) as file:
        return numba.cfunc(types.void(types.float64, address, address, address), cache=file is not None, **JIT_OPTIONS)(
            copy(_evaluate)
        )


def _copy(template: Any, owner: str, names: dict[str, Any]) -> Any:
    """A copy with other globals, named for its version: numba looks only at the file of the function it compiles."""
    name = f"{owner}{template.__name__}_{_version()}"
    made = python_types.FunctionType(template.__code__, names, name.replace(".", "_"))
    made.__module__, made.__qualname__ = template.__module__, name
    return made


@functools.cache
def _version() -> str:
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in (__file__, steps.__file__))).hexdigest()[:8]


@functools.cache
def driver(template: Callable[..., Any]) -> Callable[..., Any]:
    """Compile an integrator; f goes in by its address, so this happens once for all robots and methods."""
    import numba
    from numba.extending import register_jitable

    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.pack import JIT_OPTIONS

    register_jitable(**JIT_OPTIONS)(steps.keep)
    with cache.numba_cache("dynbench.methods.kernels.scalar") as file:
        made: Callable[..., Any] = numba.njit(nogil=True, cache=file is not None, **JIT_OPTIONS)(
            _copy(template, "", template.__globals__)
        )
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
    state = numba.carray(pointer(place), (2 * nv,))
    place += 16 * nv
    spare = numba.carray(pointer(place), (5 * nv,))
    place += 40 * nv
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
    """Only actuated coordinates are integrated; the others are followed from the last state that was closed.

    ``state`` is that: configuration and velocity. Stages of a step that is too large try what no mechanism reaches;
    they get no numbers, and leave it alone.
    """
    y, dy = numba.carray(pointer(y_address), (2 * na,)), numba.carray(pointer(dy_address), (2 * na,))
    q, v, out = spare[:nv], spare[nv : 2 * nv], spare[2 * nv :]
    away = 0.0
    for j in range(na):
        i = int(act[j])
        away = away if abs(y[j] - state[i]) <= away else abs(y[j] - state[i])  # also where y is no number
        v[i] = y[na + j]
    good = away <= FAR
    for parts in (int(np.ceil(away / REACH)) if good else 1, FINER):
        good = away <= FAR
        q[:] = state[:nv]
        for k in range(parts - 1):
            for j in range(na):
                q[int(act[j])] += (y[j] - q[int(act[j])]) / (parts - k)
            out[:nv] = q
            good = good and follow(ONE, model, q, work) < 1.0
            for i in range(nv):
                good = good and abs(q[i] - out[i]) < LEAP
            if not good:
                break
        for j in range(na):
            q[int(act[j])] = y[j]
        kernel(ONE, model, q, v, tau, None, out, work)
        for i in range(nv):
            good = good and np.isfinite(out[i]) and abs(out[nv + i] - q[i]) < LEAP
        if good or not away <= REACH:
            break
    if good:
        state[:] = out[nv:]
    for j in range(na):
        dy[j] = y[na + j]
        dy[na + j] = out[int(act[j])] if good else np.nan
