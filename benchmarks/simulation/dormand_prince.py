"""Dormand-Prince 5(4) as the common MATLAB code runs it (``ode45``), in machine code.

Its step control (maximum norm, threshold atol/rtol, factors 0.8, 0.1, 5) is not scipy's; counts of evaluations in
papers that used it can only be compared with it. An undamped spring of 1e8 N/m takes 700 000 right-hand sides for six
seconds; through a Python integrator that is a measurement of Python.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dynbench.benchmarks.simulation.equations import Equations, driver
from dynbench.benchmarks.simulation.steps import Steps, collected, keep
from dynbench.robots.robot import FloatArray

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


def integrate(
    equations: Equations, y0: FloatArray, horizon: float, solver: str, rtol: float, atol: float, limit: int
) -> Steps:
    """Integrate from 0 to ``horizon`` with at most about ``limit`` right-hand sides; ``solver`` is "ode45"."""
    run = driver(_integrate)
    ready = partial(run, equations.function, equations.data, equations.memory, y0, horizon, rtol, atol, limit)
    return collected(ready, y0.size, limit // 6 + 2)


def _integrate(
    function: Any, data: Any, memory: Any, y0: Any, horizon: float, rtol: float, atol: float, limit: int, t_out: Any,
    y_out: Any, counts: Any,
) -> None:  # fmt: skip
    n = y0.size
    f = np.empty((7, n))
    y, new = y0.copy(), np.empty(n)
    t, threshold = 0.0, atol / rtol
    function(t, y.ctypes.data, f[0].ctypes.data, data.ctypes.data)
    evaluations, stride, passed = 1, 1, 0
    t_out[0], y_out[0] = t, y
    rows = 1
    steepest = 0.0
    for i in range(n):
        steepest = max(steepest, abs(f[0, i]) / max(abs(y[i]), threshold))
    known = memory.copy()
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
                function(t + C[stage] * h, new.ctypes.data, f[stage].ctypes.data, data.ctypes.data)
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
            memory[:] = known
        t = t + h if horizon - t > h else horizon
        y[:] = new
        f[0] = f[6]
        known[:] = memory
        passed += 1
        rows, stride = keep(t, y, passed, t >= horizon, rows, stride, t_out, y_out)
        if clean:
            factor = 1.25 * (error / rtol) ** 0.2
            h = h / factor if factor > 0.2 else 5.0 * h
    counts[0], counts[1], counts[2] = rows, evaluations, 1 if t >= horizon else 0
