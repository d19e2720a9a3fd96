"""A robot under tabulated forces as y' = f(t, y), with f in machine code.

`EquationsOfMotion` is built around the forward dynamics of a solver. f is a C function ``f(t, y*, y'*, data*)``,
compiled once for each kernel and kept on disk like kernels; `integrators` take it by its address and are themselves
compiled only once. From Python a call costs two microseconds more than the kernel.

    trees and virtual springs     y holds all coordinates and their rates
    closed loops                  y holds all of them too; each evaluation moves them onto the loops first, through
                                  singular positions too (`dynbench.methods.kernels.following`)
    `denoc` on closed loops       y holds only the actuated ones; each evaluation finds the others by closing the loops,
                                  so nothing drifts. It follows them from the last closed state, so it reaches neither
                                  another assembly of the legs nor a configuration whole turns away

All numbers that f needs are in one array, ``data``: `LENGTHS` numbers, then what `EquationsOfMotion` packs after them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.integrators import copied, driver
from dynbench.benchmarks.simulation.simulate import DIFFERENCE_STEP
from dynbench.benchmarks.simulation.singular import Singular, passed
from dynbench.methods.base import Solver
from dynbench.methods.denoc import Denoc, minimal
from dynbench.methods.kernels import closure
from dynbench.robots.robot import FloatArray

LENGTHS = 6  # of the model, its workspace, nv, na, intervals of the torques; then the period
MAX_SUBSTEP = 0.1  # rad or m of an actuated coordinate; over longer ways the loops are closed several times
SUBSTEPS_NEAR_SINGULARITY = 16  # of a short way on which the loops cannot be closed in one step
MAX_DEPENDENT_JUMP = 1.0  # rad or m of the other coordinates in a substep; more is another assembly of the legs
MAX_EXCURSION = 100.0  # rad or m; beyond, a trial of the integrator gets NaN
SINGULAR = 1e4  # condition of the loops in the dependent coordinates

kernel: Any = None  # these stand for functions in the templates below; each compiled copy has its own
torque_at: Any = None
rates: Any = None
follow: Any = minimal.follow
numba: Any = None
pointer: Any = None
ONE = (0,)


class EquationsOfMotion:
    """The equations of motion of ``solver.robot`` under ``torques``; see the module's docstring.

    ``minimal=False``: `denoc` too has all coordinates in y, and passes configurations that are singular for what is
    actuated.

    Raises ValueError if they cannot be compiled; `why_not` gives the reason.
    """

    def __init__(self, solver: Solver, torques: Torques, minimal: bool = True) -> None:
        reason = why_not(solver)
        if reason:
            raise ValueError(f"robot {solver.robot.name!r}, {solver.method.name}: {reason}")
        robot = self.robot = solver.robot
        self.follow = solver.follow
        self.minimal = minimal and _in_actuated_coordinates(solver)
        if self.minimal:
            function, model, size = _minimal_kernel(solver.method, robot)
        else:
            run: Any = solver.runs["forward_dynamics"] if self.follow is None else self.follow.stages
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
        kind = "minimal" if self.minimal else "full" if self.follow is None else "followed"
        self.function = compiled(function, kind)
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
        change = DIFFERENCE_STEP * np.maximum(np.abs(y), 1.0)
        rows = np.concatenate([y + np.diag(change), y - np.diag(change)])
        found = np.empty_like(rows)
        driver(_rows)(self.function, t, rows, found, self.data)
        self.evaluations += len(rows)
        return np.asarray((found[: len(y)] - found[len(y) :]).T / (2.0 * change))

    def states(self, t: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return q and v (K, nv) of rows y (K, size) at ascending times; the first row is that of `start`."""
        nv = self.robot.nv
        if not self.minimal and self.follow is None:
            return y[:, :nv].copy(), y[:, nv:].copy()
        if not self.minimal:
            none = np.zeros(len(self.actuated))
            found = [self.follow.accepted(row[:nv].copy(), row[nv:].copy(), none) for row in y]
            return np.array([state.q for state in found]), np.array([state.v for state in found])
        q, v = np.full((2, len(t), nv), np.nan)
        self._closed[:] = self._start  # the integrator has left it at the end
        for k, row in enumerate(y):
            self._y[:] = row
            self._call(t[k])
            if np.isfinite(self._dy).all():
                q[k], v[k] = self._closed
        return q, v

    def passed(self, t: FloatArray, q: FloatArray, v: FloatArray) -> tuple[Singular, ...]:
        """Return the singular positions that a run went through."""
        good = np.isfinite(q).all(axis=1)
        if self.minimal or self.follow is None or not good.any():
            return ()
        none = np.zeros(len(self.actuated))
        ratio = [self.follow.stage(*state, none).ratio for state in zip(q[good], v[good], strict=True)]
        return passed(self.follow, t[good], q[good], v[good], np.array(ratio))

    def remark(self, q: FloatArray) -> str:
        """Return a remark on the state at which a run stopped: that it is singular; "" if it is not."""
        if not self.minimal or not np.isfinite(q).all():
            return ""
        found = self.robot.loop_analysis
        condition = np.linalg.cond(self.robot.loop_jacobian(q)[np.ix_(found.independent, found.dependent)])
        if condition < SINGULAR:
            return ""
        return f", at a singular configuration: what is actuated does not hold the loops (condition {condition:.0e})"


def why_not(solver: Solver) -> str:
    """Return why the motion of a solver's robot cannot run as machine code alone; "" if it can."""
    if solver.robot.nq != solver.robot.nv:
        return "quaternions are integrated by simulate"
    if isinstance(solver.method, Denoc) and not solver.robot.is_tree and solver.robot.has_extras:
        return "its joints have armature, damping or friction"
    if not hasattr(solver.runs.get("forward_dynamics"), "kernel"):
        return "its forward dynamics is not a kernel"
    return ""


def _in_actuated_coordinates(solver: Solver) -> bool:
    """Whether the motion can be integrated in the actuated coordinates alone: by `denoc`, and if they determine it."""
    robot = solver.robot
    if not isinstance(solver.method, Denoc) or robot.is_tree or robot.has_springs:
        return False
    return not robot.loop_analysis.redundant and len(robot.actuated) == robot.loop_analysis.dof


def _minimal_kernel(method: Any, robot: Any) -> tuple[Callable[..., Any], FloatArray, int]:
    analysis = robot.loop_analysis
    model = closure.pack(robot, method.pack(robot), analysis.independent)
    inner = max(method.work_size(robot, quantity) for quantity in ("inverse_dynamics", "mass_matrix"))
    return minimal.right_hand_side, model, closure.layout(robot, analysis.rank)[-1] + inner


@functools.cache
def compiled(function: Callable[..., Any], kind: str) -> Any:
    """Compile f(t, y*, y'*, data*) around a kernel; kept on disk like kernels."""
    import numba
    from numba import types
    from numba.extending import register_jitable

    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.compiled import register_pending
    from dynbench.methods.kernels.jit import DRIVER, HELPER
    from dynbench.methods.kernels.memory import pointer

    register_pending()
    names = {**globals(), "kernel": function, "numba": numba, "pointer": pointer}

    def copy(template: Any) -> Any:
        return copied(template, f"{function.__module__}.{function.__qualname__}.", names)

    names["torque_at"] = register_jitable(**HELPER)(copy(_torque_at))
    names["rates"] = register_jitable(**HELPER)(copy(RATES[kind]))
    address = types.uintp
    with cache.numba_cache(function.__module__) as file:
        return numba.cfunc(types.void(types.float64, address, address, address), cache=file is not None, **DRIVER)(
            copy(_evaluate)
        )


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


def _followed_rates(
    model: Any, act: Any, y_address: int, tau: Any, state: Any, spare: Any, dy_address: int, work: Any, nv: int, na: int
) -> None:
    """All coordinates are integrated; they are moved onto the loops before they are evaluated."""
    y, dy = numba.carray(pointer(y_address), (2 * nv,)), numba.carray(pointer(dy_address), (2 * nv,))
    kernel(ONE, model, y[:nv], y[nv:], tau, None, spare, work)
    dy[:nv] = spare[nv : 2 * nv]
    dy[nv:] = spare[:nv]


def _minimal_rates(
    model: Any, act: Any, y_address: int, tau: Any, state: Any, spare: Any, dy_address: int, work: Any, nv: int, na: int
) -> None:
    """Only actuated coordinates are integrated; the others are followed from the last closed state, ``state``.

    It holds configuration and velocity. A stage of a step that is too large may be out of reach of the mechanism; it
    gets NaN and does not change ``state``.
    """
    y, dy = numba.carray(pointer(y_address), (2 * na,)), numba.carray(pointer(dy_address), (2 * na,))
    q, v, out = spare[:nv], spare[nv : 2 * nv], spare[2 * nv :]
    away = 0.0
    for j in range(na):
        i = int(act[j])
        away = away if abs(y[j] - state[i]) <= away else abs(y[j] - state[i])  # also where y is NaN
        v[i] = y[na + j]
    good = away <= MAX_EXCURSION
    for parts in (int(np.ceil(away / MAX_SUBSTEP)) if good else 1, SUBSTEPS_NEAR_SINGULARITY):
        good = away <= MAX_EXCURSION
        q[:] = state[:nv]
        for k in range(parts - 1):
            for j in range(na):
                q[int(act[j])] += (y[j] - q[int(act[j])]) / (parts - k)
            out[:nv] = q
            good = good and follow(ONE, model, q, work) < 1.0
            for i in range(nv):
                good = good and abs(q[i] - out[i]) < MAX_DEPENDENT_JUMP
            if not good:
                break
        for j in range(na):
            q[int(act[j])] = y[j]
        kernel(ONE, model, q, v, tau, None, out, work)
        for i in range(nv):
            good = good and np.isfinite(out[i]) and abs(out[nv + i] - q[i]) < MAX_DEPENDENT_JUMP
        if good or not away <= MAX_SUBSTEP:
            break
    if good:
        state[:] = out[nv:]
    for j in range(na):
        dy[j] = y[na + j]
        dy[na + j] = out[int(act[j])] if good else np.nan


RATES: dict[str, Any] = {"full": _full_rates, "followed": _followed_rates, "minimal": _minimal_rates}
