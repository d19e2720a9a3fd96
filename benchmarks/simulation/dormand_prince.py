"""A compiled Dormand-Prince 5(4) run of a looped robot under tabulated torques: the whole loop is machine code.

An undamped spring of 1e8 N/m takes 700 000 right-hand sides for six seconds; through a Python integrator that is a
measurement of Python. The step control is that of the common MATLAB code (maximum norm, threshold atol/rtol, factors
0.8, 0.1, 5), which the digest of the paper's experiments assumes. Torques are a periodic cubic spline in time.
"""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynbench.robots.robot import FloatArray

kernel: Any = None  # stands for the right-hand side's kernel; each compiled copy has its own

C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
E = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


@dataclass(frozen=True)
class Run:
    """Accepted steps of a run."""

    t: FloatArray  # (K,)
    q: FloatArray  # (K, nv) all coordinates of the tree
    v: FloatArray  # (K, nv)
    evaluations: int
    finished: bool  # False: the step became too small or a number overflowed, at t[-1]


@dataclass(frozen=True)
class Torques:
    """A periodic cubic spline: ``coefficients`` (4, K, na) on K equal intervals of ``period`` seconds."""

    period: float
    coefficients: FloatArray

    @classmethod
    def through(cls, samples: FloatArray, period: float) -> Torques:
        """Return the spline through samples (K, na) at equal times over one period."""
        from scipy.interpolate import CubicSpline

        times = np.linspace(0.0, period, len(samples) + 1)
        spline = CubicSpline(times, np.vstack([samples, samples[:1]]), bc_type="periodic")
        return cls(period, np.ascontiguousarray(spline.c))

    def __call__(self, t: float) -> FloatArray:
        width = self.period / self.coefficients.shape[1]
        phase = t % self.period
        k = min(int(phase / width), self.coefficients.shape[1] - 1)
        x = phase - k * width
        c = self.coefficients[:, k]
        return np.asarray(((c[0] * x + c[1]) * x + c[2]) * x + c[3])


def run(
    function: Callable[..., Any],
    minimal: bool,
    model: FloatArray,
    work: int,
    actuated: Any,
    q0: FloatArray,
    v0: FloatArray,
    torques: Torques,
    horizon: float,
    rtol: float = 1e-3,
    atol: float = 1e-6,
    limit: int = 4_000_000,
) -> Run:
    """Integrate from rest of time to ``horizon``.

    Parameters
    ----------
    function
        A "state" kernel: forward dynamics of the tree coordinates, or with ``minimal`` the right-hand side of
        `dynbench.methods.denoc.minimal`.
    model, work
        Its packed model and its workspace.
    actuated : array_like of int
        Indices of the actuated coordinates.
    limit : int
        Most right-hand sides.
    """
    driver = compiled(function, minimal)
    nv, act = len(v0), np.asarray(actuated, dtype=np.int64)
    y0 = np.concatenate([q0[act], v0[act]]) if minimal else np.concatenate([q0, v0])
    rows = min(limit // 6 + 2, 200_000)
    t, Q, V = np.empty(rows), np.empty((rows, nv)), np.empty((rows, nv))
    counts = np.zeros(3, dtype=np.int64)
    driver(
        model,
        work,
        act,
        torques.coefficients,
        torques.period,
        y0,
        q0.copy(),
        horizon,
        rtol,
        atol,
        limit,
        t,
        Q,
        V,
        counts,
    )
    K = int(counts[0])
    return Run(t[:K].copy(), Q[:K].copy(), V[:K].copy(), int(counts[1]), bool(counts[2]))


@functools.cache
def compiled(function: Callable[..., Any], minimal: bool) -> Callable[..., None]:
    """Compile the integrator around a kernel; kept on disk as kernels are."""
    import numba
    from numba.extending import register_jitable

    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.compiled import register_pending
    from dynbench.methods.kernels.pack import JIT_OPTIONS

    register_pending()
    home = function.__module__
    names = {**globals(), "kernel": function, "ONE": (0,)}

    def copy(template: Any) -> Any:
        name = f"{home}.{function.__qualname__}.{template.__name__}"
        made = python_types.FunctionType(template.__code__, names, name.replace(".", "_"))
        made.__module__, made.__qualname__ = template.__module__, name
        return made

    names["torque_at"] = register_jitable(**JIT_OPTIONS)(copy(_torque_at))
    names["rates"] = register_jitable(**JIT_OPTIONS)(copy(_minimal_rates if minimal else _full_rates))
    with cache.numba_cache(home) as writable:
        driver: Callable[..., None] = numba.njit(nogil=True, cache=writable, **JIT_OPTIONS)(copy(_integrate))
    return driver


torque_at: Any = None
rates: Any = None
ONE = (0,)


def _torque_at(t: float, coefficients: Any, period: float, tau: Any) -> None:
    width = period / coefficients.shape[1]
    phase = t - period * np.floor(t / period)
    k = min(int(phase / width), coefficients.shape[1] - 1)
    x = phase - k * width
    for j in range(tau.size):
        c = coefficients[:, k, j]
        tau[j] = ((c[0] * x + c[1]) * x + c[2]) * x + c[3]


def _full_rates(model: Any, act: Any, y: Any, tau: Any, warm: Any, state: Any, dy: Any, work: Any) -> None:
    """All coordinates of the tree are integrated."""
    nv = warm.size
    kernel(ONE, model, y[:nv], y[nv:], tau, None, dy[nv:], work)
    dy[:nv] = y[nv:]
    state[nv : 2 * nv] = y[:nv]
    state[2 * nv :] = y[nv:]


def _minimal_rates(model: Any, act: Any, y: Any, tau: Any, warm: Any, state: Any, dy: Any, work: Any) -> None:
    """Only actuated coordinates are integrated; the others come back closed, and are the next warm start."""
    nv, na = warm.size, act.size
    v = state[:nv]
    for j in range(na):
        warm[act[j]] = y[j]
        v[act[j]] = y[na + j]
    out = np.empty(3 * nv)
    kernel(ONE, model, warm, v, tau, None, out, work)
    warm[:] = out[nv : 2 * nv]
    state[nv:] = out[nv:]
    for j in range(na):
        dy[j] = y[na + j]
        dy[na + j] = out[act[j]]


def _integrate(
    model: Any, size: int, act: Any, coefficients: Any, period: float, y0: Any, warm: Any, horizon: float, rtol: float,
    atol: float, limit: int, t_out: Any, q_out: Any, v_out: Any, counts: Any,
) -> None:  # fmt: skip
    n, nv = y0.size, warm.size
    work, tau = np.empty(size), np.empty(act.size)
    state = np.zeros(3 * nv)  # spare, then configuration and velocity of the last evaluation
    f = np.empty((7, n))
    y, new = y0.copy(), np.empty(n)
    t, threshold = 0.0, atol / rtol
    torque_at(t, coefficients, period, tau)
    rates(model, act, y, tau, warm, state, f[0], work)
    evaluations, rows = 1, 0
    stride, passed = 1, 0
    t_out[0], q_out[0], v_out[0] = t, state[nv : 2 * nv], state[2 * nv :]
    rows = 1
    steepest = 0.0
    for i in range(n):
        steepest = max(steepest, abs(f[0, i]) / max(abs(y[i]), threshold))
    h = 0.1 * horizon
    steepest /= 0.8 * rtol**0.2
    if h * steepest > 1.0:
        h = 1.0 / steepest
    while t < horizon and evaluations < limit:
        smallest = 16.0 * 2.3e-16 * max(t, 1e-3)
        h = min(0.1 * horizon, max(h, smallest))
        if 1.1 * h >= horizon - t:
            h = horizon - t
        clean = True
        while True:
            for stage in range(1, 7):
                for i in range(n):
                    total = 0.0
                    for k in range(stage):
                        total += A[stage, k] * f[k, i]
                    new[i] = y[i] + h * total
                torque_at(t + C[stage] * h, coefficients, period, tau)
                rates(model, act, new, tau, warm, state, f[stage], work)
            evaluations += 6
            error = 0.0
            for i in range(n):
                total = 0.0
                for k in range(7):
                    total += E[k] * f[k, i]
                size_i = abs(h * total) / max(max(abs(y[i]), abs(new[i])), threshold)
                # a NaN must not pass for a small error
                error = size_i if not size_i <= error else error
            if error <= rtol:
                break
            if h <= smallest or not error < 1e300:
                counts[0], counts[1], counts[2] = rows, evaluations, 0
                return
            h = max(smallest, h * max(0.1, 0.8 * (rtol / error) ** 0.2)) if clean else max(smallest, 0.5 * h)
            clean = False
        t = t + h if horizon - t > h else horizon
        y[:] = new
        f[0] = f[6]
        passed += 1
        if passed % stride == 0 or t >= horizon:
            if rows == t_out.size:  # full: keep every other row from now on
                half = rows // 2
                for k in range(half):
                    t_out[k], q_out[k], v_out[k] = t_out[2 * k], q_out[2 * k], v_out[2 * k]
                rows = half
                stride *= 2
            t_out[rows], q_out[rows], v_out[rows] = t, state[nv : 2 * nv], state[2 * nv :]
            rows += 1
        if clean:
            factor = 1.25 * (error / rtol) ** 0.2
            h = h / factor if factor > 0.2 else 5.0 * h
    counts[0], counts[1], counts[2] = rows, evaluations, 1 if t >= horizon else 0
