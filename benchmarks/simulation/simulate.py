"""Simulation of a robot through any solver, with scipy's integrators.

Quaternions are integrated by their own rates and normalised wherever they are used and in the result, so attitudes
have no singularity. External wrenches and forces may depend on time and state. Times at which inputs jump should be
given as ``switches``: integration restarts there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dynbench.methods.base import Solver
from dynbench.robots import quaternion
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

Force = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Trajectory:
    """States at the times ``t``, and what they cost."""

    t: FloatArray  # (K,)
    q: FloatArray  # (K, nq)
    v: FloatArray  # (K, nv)
    evaluations: int
    events: tuple[tuple[float, int], ...] = ()  # (time, number of the event function) that ended the run
    integrals: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # (K, k)


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
        Times of the returned states; default: 201 equal steps.
    switches
        Times at which the inputs jump.
    events
        ``g(t, q, v)``; the run ends where one of them crosses zero (give it ``direction`` as scipy's events).
    limit : int
        Largest number of right-hand sides; RuntimeError beyond.
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
        piece = solve_ivp(
            _within(right_hand_side, a, b), (a, b), y, method=integrator, t_eval=np.union1d(inside, [a, b]), rtol=rtol,
            atol=atol, events=[wrapped(g) for g in events],
        )  # fmt: skip
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
    q, v = (np.array([state[k] for state in states]).reshape(-1, width) for k, width in ((0, nq), (1, nv)))
    return Trajectory(np.array(t_all), q, v, evaluations, hit, np.array([row[nq + nv :] for row in y_all]))


def _within(f: Callable[..., FloatArray], a: float, b: float) -> Callable[..., FloatArray]:
    """Return f(t, y) with t kept just inside [a, b], so that inputs that jump at an end are those of this piece."""
    low, high = float(np.nextafter(a, b)), float(np.nextafter(b, a))

    def inside(t: float, y: FloatArray) -> FloatArray:
        return f(min(max(t, low), high), y)

    return inside


class Places(NamedTuple):
    """Indices into q and v: of joints with a quaternion, and of all others."""

    plain_q: IntArray  # (k,)
    plain_v: IntArray
    turn_q: IntArray  # (m, 4) quaternions
    turn_v: IntArray  # (m, 3) their angular velocities
    free: IntArray  # (f,) which of these are of free joints; position and velocity come right before


def rates(robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return dq/dt, shape of q, for one state or a batch; quaternions must be unit.

    Quaternions change by q' = 1/2 q * omega with omega in child axes, the origin of a free joint by R v.
    """
    if robot.nq == robot.nv:
        return v
    at = _places(robot)
    qd = np.empty(q.shape)
    qd[..., at.plain_q] = v[..., at.plain_v]
    turns = q[..., at.turn_q]
    spin = np.zeros(turns.shape)
    spin[..., :3] = v[..., at.turn_v]
    qd[..., at.turn_q] = 0.5 * quaternion.multiply(turns, spin)
    if len(at.free):
        moved = quaternion.rotate(turns[..., at.free, :], v[..., at.turn_v[at.free] - 3])
        qd[..., at.turn_q[at.free][:, :3] - 3] = moved
    return qd


@lru_cache(maxsize=64)
def _places(robot: Robot) -> Places:
    starts = np.array([start for start, _ in robot.quaternions], dtype=np.int64)
    bodies = np.array([body for _, body in robot.quaternions], dtype=np.int64)
    is_free = robot.kind[bodies] == JointKind.FREE
    turn_q = starts[:, None] + np.arange(4)
    turn_v = (robot.iv[bodies] + 3 * is_free)[:, None] + np.arange(3)
    free = np.flatnonzero(is_free)
    taken_q = np.concatenate([turn_q.ravel(), (turn_q[free][:, :3] - 3).ravel()])
    taken_v = np.concatenate([turn_v.ravel(), (turn_v[free] - 3).ravel()])
    plain_q, plain_v = np.setdiff1d(np.arange(robot.nq), taken_q), np.setdiff1d(np.arange(robot.nv), taken_v)
    return Places(plain_q, plain_v, turn_q, turn_v, free)
