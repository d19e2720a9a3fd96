"""scipy's explicit integrators, RK45 and DOP853, step for step in machine code: the same steps, none of them in Python.

A stiff spring takes a hundred thousand right-hand sides for a second of motion; through scipy's classes that is a
measurement of Python. Tableaus are scipy's own; the choice of steps follows its `RungeKutta` (weighted root mean square
of the error estimate, factors 0.9, 0.2, 10; Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I",
sections II.4 and II.5). A test compares both, evaluation by evaluation.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dynbench.benchmarks.simulation.equations import Equations, driver
from dynbench.benchmarks.simulation.steps import Steps, collected, keep
from dynbench.robots.robot import FloatArray

TABLEAUS = ("RK45", "DOP853")


def integrate(
    equations: Equations, y0: FloatArray, horizon: float, solver: str, rtol: float, atol: float, limit: int
) -> Steps:
    """Integrate from 0 to ``horizon`` with at most ``limit`` right-hand sides."""
    from scipy import integrate as scipy_integrate

    tableau = getattr(scipy_integrate, solver)
    stages = tableau.n_stages
    A = np.ascontiguousarray(tableau.A[:stages, :stages])
    B, C = np.ascontiguousarray(tableau.B), np.ascontiguousarray(tableau.C[:stages])
    E = np.stack([tableau.E5, tableau.E3]) if solver == "DOP853" else tableau.E[None, :].copy()
    run = partial(
        driver(_integrate), equations.function, equations.data, equations.memory, A, B, C, E,
        tableau.error_estimator_order, y0, horizon, rtol, atol, limit,
    )  # fmt: skip
    return collected(run, y0.size, limit // stages + 2)


def _integrate(
    f: Any, data: Any, memory: Any, A: Any, B: Any, C: Any, E: Any, order: int, y0: Any, horizon: float, rtol: float,
    atol: float, limit: int, t_out: Any, y_out: Any, counts: Any,
) -> None:  # fmt: skip
    n, stages = y0.size, B.size
    K = np.empty((stages + 1, n))
    y, new, scale = y0.copy(), np.empty(n), np.empty(n)
    at, inside, kept = y.ctypes.data, new.ctypes.data, data.ctypes.data
    t = 0.0
    f(t, at, K[0].ctypes.data, kept)
    # the first step
    d0 = d1 = d2 = 0.0
    for i in range(n):
        scale[i] = atol + abs(y[i]) * rtol
        d0 += (y[i] / scale[i]) ** 2
        d1 += (K[0, i] / scale[i]) ** 2
    d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, horizon)
    for i in range(n):
        new[i] = y[i] + h * K[0, i]
    f(t + h, inside, K[1].ctypes.data, kept)
    for i in range(n):
        d2 += ((K[1, i] - K[0, i]) / scale[i]) ** 2
    d2 = np.sqrt(d2 / n) / h
    further = max(1e-6, h * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** (1.0 / (order + 1))
    h = min(min(100.0 * h, further), horizon)
    evaluations, stride, passed = 2, 1, 0
    t_out[0], y_out[0] = t, y
    rows = 1
    power = -1.0 / (order + 1)
    finished = 1
    known = memory.copy()
    while t < horizon and finished:
        smallest = 10.0 * (np.nextafter(t, np.inf) - t)
        h = max(h, smallest)
        rejected = False
        while True:
            if h < smallest or evaluations + stages > limit:
                finished = 0
                break
            after = t + h
            if after > horizon:
                after = horizon
            h = after - t
            for s in range(1, stages):
                for i in range(n):
                    total = 0.0
                    for k in range(s):
                        total += A[s, k] * K[k, i]
                    new[i] = y[i] + h * total
                f(t + C[s] * h, inside, K[s].ctypes.data, kept)
            for i in range(n):
                total = 0.0
                for k in range(stages):
                    total += B[k] * K[k, i]
                new[i] = y[i] + h * total
            f(after, inside, K[stages].ctypes.data, kept)
            evaluations += stages
            fifth = third = 0.0
            for i in range(n):
                size = atol + max(abs(y[i]), abs(new[i])) * rtol
                total = 0.0
                for k in range(stages + 1):
                    total += E[0, k] * K[k, i]
                fifth += (total / size) ** 2
                if E.shape[0] > 1:
                    total = 0.0
                    for k in range(stages + 1):
                        total += E[1, k] * K[k, i]
                    third += (total / size) ** 2
            if E.shape[0] == 1:
                error = h * np.sqrt(fifth / n)
            elif fifth == 0.0 and third == 0.0:
                error = 0.0
            else:
                error = h * fifth / np.sqrt((fifth + 0.01 * third) * n)
            if error < 1.0:
                factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**power)
                if rejected:
                    factor = min(1.0, factor)
                break
            shrink = 0.9 * error**power
            h *= shrink if shrink > 0.2 else 0.2  # also where the error is no number
            rejected = True
            memory[:] = known
        if not finished:
            break
        t = after
        h *= factor
        y[:] = new
        K[0] = K[stages]
        known[:] = memory
        passed += 1
        rows, stride = keep(t, y, passed, t >= horizon, rows, stride, t_out, y_out)
    counts[0], counts[1], counts[2] = rows, evaluations, finished
