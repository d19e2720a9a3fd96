"""Simulation of a robot through any solver, with scipy's integrators.

Quaternions are integrated by their own rates (q' = 1/2 q * omega) and brought back to unit length wherever they are
used and in what is returned, so attitudes have no singularity and stay unit. External wrenches and forces may depend
on time and state. Inputs that jump are best given as ``switches``: integration is restarted there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from dynbench.benchmarks.simulation.rates import rates
from dynbench.methods.base import Solver
from dynbench.robots.robot import FloatArray

Force = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Trajectory:
    """States at the times ``t``, and what they cost."""

    t: FloatArray  # (K,)
    q: FloatArray  # (K, nq)
    v: FloatArray  # (K, nv)
    evaluations: int
    events: tuple[tuple[float, int], ...] = ()  # (time, number of the event function) that ended the run
    integrals: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # (K, k) as asked for, else no columns


def simulate(
    solver: Solver,
    q0: FloatArray,
    v0: FloatArray,
    force: Force,
    horizon: float,
    *,
    wrench: Force | None = None,
    integrals: Force | None = None,
    times: FloatArray | None = None,
    switches: Sequence[float] = (),
    events: Sequence[Callable[..., float]] = (),
    integrator: str = "DOP853",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    start: float = 0.0,
    limit: int | None = None,
) -> Trajectory:
    """Integrate the motion of ``solver.robot`` from ``start`` to ``horizon``.

    Parameters
    ----------
    solver
        Any solver that computes forward_dynamics.
    force, wrench
        ``f(t, q, v)``: generalized force (nv,), and external wrenches (n, 6) if any.
    integrals
        ``f(t, q, v)`` (k,): integrated over time beside the motion and to its tolerances, such as power or forces.
    times : ndarray, shape (K,)
        Where states are wanted; default: 201 equal steps.
    switches
        Times at which the inputs jump.
    events
        ``g(t, q, v)``; the run ends where one of them crosses zero (give it ``direction`` as scipy's events).
    limit : int
        Most right-hand sides; RuntimeError beyond.
    """
    from scipy.integrate import solve_ivp

    robot = solver.robot
    nq, nv = robot.nq, robot.nv
    run = solver.handle("forward_dynamics", wrench=wrench is not None)
    out = np.empty(nv)
    norms = robot.quaternions

    def unpack(y: FloatArray) -> tuple[FloatArray, FloatArray]:
        q, v = y[:nq].copy(), y[nq : nq + nv].copy()
        for j, _ in norms:
            q[j : j + 4] /= np.sqrt(q[j : j + 4] @ q[j : j + 4])
        return q, v

    def beside(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return np.zeros(0) if integrals is None else np.asarray(integrals(t, q, v), dtype=float)

    calls = 0

    def right_hand_side(t: float, y: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        if limit is not None and calls > limit:
            raise RuntimeError(f"more than {limit} right-hand sides at t = {t:.3g} s")
        q, v = unpack(y)
        outer = None if wrench is None else np.ascontiguousarray(wrench(t, q, v), dtype=float).reshape(-1)
        run(q, v, np.ascontiguousarray(force(t, q, v), dtype=float), outer, out)
        return np.concatenate([rates(robot, q, v), out, beside(t, q, v)])

    def wrapped(g: Callable[..., float]) -> Any:
        def event(t: float, y: FloatArray) -> float:
            return g(t, *unpack(y))

        event.terminal = True  # type: ignore[attr-defined]
        event.direction = getattr(g, "direction", 0.0)  # type: ignore[attr-defined]
        return event

    times = np.linspace(start, horizon, 201) if times is None else np.asarray(times, dtype=float)
    edges = [start, *sorted(s for s in switches if start < s < horizon), horizon]
    y = np.concatenate([q0, v0, np.zeros(len(beside(start, np.asarray(q0), np.asarray(v0))))])
    t_all: list[float] = []
    y_all: list[FloatArray] = []
    evaluations = 0
    hit: tuple[tuple[float, int], ...] = ()
    for a, b in pairwise(edges):
        inside = times[(times >= a) & ((times < b) | (b == horizon) & (times <= b))]
        wanted = np.union1d(inside, [a, b])
        piece = solve_ivp(
            _within(right_hand_side, a, b),
            (a, b),
            y,
            method=integrator,
            t_eval=wanted,
            rtol=rtol,
            atol=atol,
            events=[wrapped(g) for g in events],
        )
        evaluations += piece.nfev
        if piece.status < 0:
            raise RuntimeError(f"robot {robot.name!r}, {solver.method.name}: integration stopped: {piece.message}")
        for t, row in zip(piece.t, piece.y.T, strict=True):
            if t in inside:
                t_all.append(float(t))
                y_all.append(row)
        if piece.status == 1:
            k = next(k for k, found in enumerate(piece.t_events) if len(found))
            hit = ((float(piece.t_events[k][0]), k),)
            t_all.append(hit[0][0])
            y_all.append(piece.y_events[k][0])
            break
        y = np.concatenate([*unpack(piece.y[:, -1]), piece.y[nq + nv :, -1]])
    states = [unpack(row) for row in y_all]
    return Trajectory(
        np.array(t_all),
        np.array([s[0] for s in states]).reshape(-1, nq),
        np.array([s[1] for s in states]).reshape(-1, nv),
        evaluations,
        hit,
        np.array([row[nq + nv :] for row in y_all]),
    )


def _within(f: Callable[..., FloatArray], a: float, b: float) -> Callable[..., FloatArray]:
    """Return f(t, y) with t kept just inside [a, b], so that inputs that jump at an end are those of this piece."""
    low, high = float(np.nextafter(a, b)), float(np.nextafter(b, a))

    def inside(t: float, y: FloatArray) -> FloatArray:
        return f(min(max(t, low), high), y)

    return inside
