"""Two more Runge-Kutta pairs of orders 4 and 5, each with the step control of its own source, in machine code.

    RKF45       Fehlberg's pair as textbooks run it: the fourth-order value goes on, maximum norm of error over
                atol + rtol |y|, h times 0.84 error^(-1/4) within 0.1 and 4 (Burden, Faires, "Numerical Analysis", 5.5)
    CashKarp    Cash and Karp's pair with the control of "Numerical Recipes": the fifth-order value goes on, errors
                relative to |y| + |h y'| (at least atol/rtol), h times 0.9 error^(-1/5), at most 5, after a step that
                passed, and 0.9 error^(-1/4), at least 0.1, after one that did not

A paper that says "Runge-Kutta 4 and 5, adaptive" may have used any of these or MATLAB's or
scipy's (`integrators`); where steps are limited by stability, the control decides how large the errors are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dynbench.benchmarks.simulation.integrators import Steps, collected, driver, keep
from dynbench.robots.robot import FloatArray

if TYPE_CHECKING:
    from dynbench.benchmarks.simulation.equations import EquationsOfMotion

# C, A, weights of the value that goes on, weights of the error
FEHLBERG = tuple(map(np.array, (
    [0.0, 1 / 4, 3 / 8, 12 / 13, 1.0, 1 / 2],
    [[0, 0, 0, 0, 0],
     [1 / 4, 0, 0, 0, 0],
     [3 / 32, 9 / 32, 0, 0, 0],
     [1932 / 2197, -7200 / 2197, 7296 / 2197, 0, 0],
     [439 / 216, -8, 3680 / 513, -845 / 4104, 0],
     [-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40]],
    [25 / 216, 0, 1408 / 2565, 2197 / 4104, -1 / 5, 0],
    [1 / 360, 0, -128 / 4275, -2197 / 75240, 1 / 50, 2 / 55],
)))  # fmt: skip
CASH_KARP = tuple(map(np.array, (
    [0.0, 1 / 5, 3 / 10, 3 / 5, 1.0, 7 / 8],
    [[0, 0, 0, 0, 0],
     [1 / 5, 0, 0, 0, 0],
     [3 / 40, 9 / 40, 0, 0, 0],
     [3 / 10, -9 / 10, 6 / 5, 0, 0],
     [-11 / 54, 5 / 2, -70 / 27, 35 / 27, 0],
     [1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096]],
    [37 / 378, 0, 250 / 621, 125 / 594, 0, 512 / 1771],
    [37 / 378 - 2825 / 27648, 0, 250 / 621 - 18575 / 48384, 125 / 594 - 13525 / 55296, -277 / 14336,
     512 / 1771 - 1 / 4],
)))  # fmt: skip


def integrate(
    equations: EquationsOfMotion, y0: FloatArray, horizon: float, solver: str, rtol: float, atol: float, limit: int
) -> Steps:
    """Integrate from 0 to ``horizon`` with at most about ``limit`` right-hand sides; "RKF45" or "CashKarp"."""
    recipes = solver == "CashKarp"
    run = partial(
        driver(_integrate), equations.function, equations.data, equations.memory, *(CASH_KARP if recipes else FEHLBERG),
        recipes, y0, horizon, rtol, atol, limit,
    )  # fmt: skip
    return collected(run, y0.size, limit // 6 + 2)


def _integrate(
    f: Any, data: Any, memory: Any, C: Any, A: Any, B: Any, E: Any, recipes: bool, y0: Any, horizon: float, rtol: float,
    atol: float, limit: int, t_out: Any, y_out: Any, counts: Any,
) -> None:  # fmt: skip
    n = y0.size
    K = np.empty((6, n))
    y, new = y0.copy(), np.empty(n)
    kept = data.ctypes.data
    t, h = 0.0, 1e-3 * horizon
    evaluations, stride, passed = 0, 1, 0
    t_out[0], y_out[0] = t, y
    rows = 1
    finished = 1
    known = memory.copy()
    while t < horizon and finished:
        smallest = 16.0 * 2.3e-16 * max(t, 1e-3)
        f(t, y.ctypes.data, K[0].ctypes.data, kept)
        evaluations += 1
        known[:] = memory
        while True:
            if h <= smallest or evaluations + 5 > limit:
                finished = 0
                break
            h = min(h, horizon - t)
            for s in range(1, 6):
                for i in range(n):
                    total = 0.0
                    for k in range(s):
                        total += A[s, k] * K[k, i]
                    new[i] = y[i] + h * total
                f(t + C[s] * h, new.ctypes.data, K[s].ctypes.data, kept)
            evaluations += 5
            error = 0.0
            for i in range(n):
                step = wrong = 0.0
                for k in range(6):
                    step += B[k] * K[k, i]
                    wrong += E[k] * K[k, i]
                new[i] = y[i] + h * step
                relative = max(rtol * (abs(y[i]) + abs(h * K[0, i])), atol)
                size = abs(h * wrong) / (relative if recipes else atol + rtol * abs(y[i]))
                # a NaN must not pass for a small error
                error = size if not size <= error else error
            if error <= 1.0:
                break
            if recipes:
                h *= max(0.1, 0.9 * error**-0.25) if error < 1e300 else 0.1
            else:
                h *= max(0.1, 0.84 * error**-0.25) if error < 1e300 else 0.1
            memory[:] = known
        if not finished:
            break
        t = t + h if horizon - t > h else horizon
        y[:] = new
        passed += 1
        rows, stride = keep(t, y, passed, t >= horizon, rows, stride, t_out, y_out)
        if recipes:
            h *= min(5.0, 0.9 * error**-0.2) if error > 1e-12 else 5.0
        else:
            h *= min(4.0, 0.84 * error**-0.25) if error > 1e-12 else 4.0
    counts[0], counts[1], counts[2] = rows, evaluations, finished
