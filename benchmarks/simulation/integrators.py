"""Integrators of compiled equations of motion y' = f(t, y) (`equations`).

    RK45, DOP853         scipy's explicit ones, step for step in machine code: its tableaus, its first step, its control
                         (weighted root mean square of the error estimate, factors 0.9, 0.2, 10; Hairer, Norsett,
                         Wanner, "Solving Ordinary Differential Equations I", sections II.4 and II.5)
    ode45                the tableau of RK45 (Dormand-Prince 5(4)) with the control of MATLAB's ode45: maximum norm,
                         threshold atol/rtol, factors 0.8, 0.1, 5. Evaluations in papers that used it compare with it
    Radau, BDF, LSODA    scipy's implicit ones; f and its Jacobian are one call of machine code each

A stiff spring takes 100 000 evaluations of f for a second of motion. Through scipy's classes most of the time would be
Python's, so the explicit ones are one compiled driver. A test compares it with scipy, evaluation by evaluation.
"""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dynbench.methods.kernels.scalar import with_globals
from dynbench.robots.robot import FloatArray

if TYPE_CHECKING:
    from dynbench.benchmarks.simulation.equations import EquationsOfMotion

TABLEAUS = {"RK45": "RK45", "DOP853": "DOP853", "ode45": "RK45"}  # explicit integrators: whose tableau they use
IMPLICIT = ("Radau", "BDF", "LSODA")
OTHER_PAIRS = ("RKF45", "CashKarp")  # of orders 4 and 5, see `fehlberg`
INTEGRATORS = (*TABLEAUS, *IMPLICIT, *OTHER_PAIRS)
MAX_ROWS = 200_000  # steps of a run that are kept
COMPILED = ("integrators.py", "equations.py")  # files whose functions are compiled together


class Steps(NamedTuple):
    """Accepted steps of a run; of a long run every second one, or every fourth, ..."""

    t: FloatArray  # (K,)
    y: FloatArray  # (K, n)
    evaluations: int
    finished: bool  # False: the limit was reached, the step became too small or a number overflowed, at t[-1]


def integrate(
    equations: EquationsOfMotion, y0: FloatArray, horizon: float, solver: str, rtol: float, atol: float, limit: int
) -> Steps:
    """Integrate from 0 to ``horizon`` with about ``limit`` evaluations at most, those for Jacobians included."""
    from scipy import integrate as scipy_integrate

    if solver in IMPLICIT:
        return _implicit(getattr(scipy_integrate, solver), equations, y0, horizon, rtol, atol, limit)
    if solver in OTHER_PAIRS:
        from dynbench.benchmarks.simulation import fehlberg  # which is compiled by `driver` below

        return fehlberg.integrate(equations, y0, horizon, solver, rtol, atol, limit)
    tableau = getattr(scipy_integrate, TABLEAUS[solver])
    stages = tableau.n_stages
    A = np.ascontiguousarray(tableau.A[:stages, :stages])
    B, C = np.ascontiguousarray(tableau.B), np.ascontiguousarray(tableau.C[:stages])
    E = np.stack([tableau.E5, tableau.E3]) if solver == "DOP853" else tableau.E[None, :].copy()
    run = functools.partial(
        driver(_explicit), equations.function, equations.data, equations.memory, A, B, C, E,
        tableau.error_estimator_order, solver == "ode45", y0, horizon, rtol, atol, limit,
    )  # fmt: skip
    return collected(run, y0.size, limit // stages + 2)


def _implicit(
    made: Any, equations: EquationsOfMotion, y0: FloatArray, horizon: float, rtol: float, atol: float, limit: int
) -> Steps:
    """Step scipy's integrator. One-sided differences, its own, lose the Jacobian of springs beyond 1e6 N/m."""
    before = equations.evaluations
    t, y = [0.0], [y0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LSODA's remarks, which are in its status too
        stepping = made(equations, 0.0, y0, horizon, rtol=rtol, atol=atol, jac=equations.jacobian)
        while stepping.status == "running" and equations.evaluations - before < limit:
            stepping.step()
            if stepping.status != "failed":
                t.append(float(stepping.t))
                y.append(stepping.y.copy())
    return Steps(np.array(t), np.array(y), equations.evaluations - before, stepping.status == "finished")


def collected(run: Callable[..., None], n: int, most: int) -> Steps:
    """Call ``run(t, y, counts)`` with room for ``most`` steps of n numbers, and return those it kept.

    It fills ``counts`` with the number of rows, the evaluations, and whether it reached its end.
    """
    rows = min(most, MAX_ROWS)
    t, y, counts = np.empty(rows), np.empty((rows, n)), np.zeros(3, dtype=np.int64)
    run(t, y, counts)
    kept = int(counts[0])
    return Steps(t[:kept].copy(), y[:kept].copy(), int(counts[1]), bool(counts[2]))


@functools.cache
def driver(template: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over f. It takes f by its address, so it is compiled once for all robots and methods."""
    import numba
    from numba.extending import register_jitable

    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.jit import DRIVER, HELPER

    register_jitable(**HELPER)(keep)
    with cache.numba_cache("dynbench.methods.kernels.scalar") as file:
        made: Callable[..., Any] = numba.njit(nogil=True, cache=file is not None, **DRIVER)(
            copied(template, "", template.__globals__)
        )
    return made


def copied(template: Any, owner: str, names: dict[str, Any]) -> Any:
    """Copy a function with other globals, named for its version: numba looks only at the file of what it compiles."""
    return with_globals(template, f"{owner}{template.__name__}_{_version()}", template.__module__, names)


@functools.cache
def _version() -> str:
    files = (Path(__file__).with_name(name) for name in COMPILED)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


# ---------------------------------------------------------------------- compiled


def keep(t: float, y: Any, number: int, last: bool, rows: int, stride: int, t_out: Any, y_out: Any) -> tuple[int, int]:
    """Store a step unless it is left out; return how many rows there are now, and of how many steps one is kept."""
    if number % stride != 0 and not last:
        return rows, stride
    if rows == t_out.size:  # full: keep every other row from now on
        rows //= 2
        stride *= 2
        for k in range(rows):
            t_out[k], y_out[k] = t_out[2 * k], y_out[2 * k]
    t_out[rows], y_out[rows] = t, y
    return rows + 1, stride


def _explicit(
    f: Any, data: Any, memory: Any, A: Any, B: Any, C: Any, E: Any, order: int, matlab: bool, y0: Any, horizon: float,
    rtol: float, atol: float, limit: int, t_out: Any, y_out: Any, counts: Any,
) -> None:  # fmt: skip
    """Step an explicit Runge-Kutta pair whose last stage is the next first; ``matlab`` selects the control."""
    n, stages = y0.size, B.size
    K = np.empty((stages + 1, n))
    y, new, scale = y0.copy(), np.empty(n), np.empty(n)
    at, inside, numbers = y.ctypes.data, new.ctypes.data, data.ctypes.data
    t, threshold, power = 0.0, atol / rtol, -1.0 / (order + 1)
    f(t, at, K[0].ctypes.data, numbers)
    evaluations = 1
    # the first step
    if matlab:
        steepest = 0.0
        for i in range(n):
            steepest = max(steepest, abs(K[0, i]) / max(abs(y[i]), threshold))
        h = 0.1 * horizon
        steepest /= 0.8 * rtol**0.2
        if h * steepest > 1.0:
            h = 1.0 / steepest
    else:
        d0 = d1 = d2 = 0.0
        for i in range(n):
            scale[i] = atol + abs(y[i]) * rtol
            d0 += (y[i] / scale[i]) ** 2
            d1 += (K[0, i] / scale[i]) ** 2
        d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
        h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, horizon)
        for i in range(n):
            new[i] = y[i] + h * K[0, i]
        f(t + h, inside, K[1].ctypes.data, numbers)
        evaluations += 1
        for i in range(n):
            d2 += ((K[1, i] - K[0, i]) / scale[i]) ** 2
        d2 = np.sqrt(d2 / n) / h
        further = max(1e-6, h * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** (1.0 / (order + 1))
        h = min(min(100.0 * h, further), horizon)
    t_out[0], y_out[0] = t, y
    rows, stride, passed, finished = 1, 1, 0, 1
    known = memory.copy()
    while t < horizon and finished:
        if matlab:
            smallest = 16.0 * 2.3e-16 * max(t, 1e-3)
            h = min(0.1 * horizon, max(h, smallest))
            if 1.1 * h >= horizon - t:
                h = horizon - t
            if evaluations >= limit:
                finished = 0
                break
        else:
            smallest = 10.0 * (np.nextafter(t, np.inf) - t)
            h = max(h, smallest)
        rejected = False
        while True:
            after = t + h
            if not matlab:
                if h < smallest or evaluations + stages > limit:
                    finished = 0
                    break
                after = min(after, horizon)
                h = after - t
            for s in range(1, stages):
                for i in range(n):
                    total = 0.0
                    for k in range(s):
                        total += A[s, k] * K[k, i]
                    new[i] = y[i] + h * total
                f(t + C[s] * h, inside, K[s].ctypes.data, numbers)
            for i in range(n):
                total = 0.0
                for k in range(stages):
                    total += B[k] * K[k, i]
                new[i] = y[i] + h * total
            f(after, inside, K[stages].ctypes.data, numbers)
            evaluations += stages
            error = fifth = third = 0.0
            for i in range(n):
                larger = max(abs(y[i]), abs(new[i]))
                total = 0.0
                for k in range(stages + 1):
                    total += E[0, k] * K[k, i]
                if matlab:
                    ratio = abs(h * total) / max(larger, threshold)
                    error = ratio if not ratio <= error else error  # a NaN must not pass for a small error
                    continue
                size = atol + larger * rtol
                fifth += (total / size) ** 2
                if E.shape[0] > 1:
                    total = 0.0
                    for k in range(stages + 1):
                        total += E[1, k] * K[k, i]
                    third += (total / size) ** 2
            if matlab:
                if error <= rtol:
                    break
                if h <= smallest or not error < 1e300:
                    finished = 0
                    break
                h = max(smallest, 0.5 * h if rejected else h * max(0.1, 0.8 * (rtol / error) ** 0.2))
            else:
                if E.shape[0] == 1:
                    error = h * np.sqrt(fifth / n)
                elif fifth != 0.0 or third != 0.0:
                    error = h * fifth / np.sqrt((fifth + 0.01 * third) * n)
                if error < 1.0:
                    break
                shrink = 0.9 * error**power
                h *= shrink if shrink > 0.2 else 0.2  # also where the error is a NaN
            rejected = True
            memory[:] = known
        if not finished:
            break
        if matlab:
            t = after if horizon - t > h else horizon
            if not rejected:
                factor = 1.25 * (error / rtol) ** 0.2
                h = h / factor if factor > 0.2 else 5.0 * h
        else:
            t = after
            factor = 10.0 if error == 0.0 else min(10.0, 0.9 * error**power)
            h *= min(1.0, factor) if rejected else factor
        y[:] = new
        K[0] = K[stages]
        known[:] = memory
        passed += 1
        rows, stride = keep(t, y, passed, t >= horizon, rows, stride, t_out, y_out)
    counts[0], counts[1], counts[2] = rows, evaluations, finished
