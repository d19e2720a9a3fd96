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

from dynbench.benchmarks.simulation.integrators import IMPLICIT
from dynbench.benchmarks.simulation.singular import STAYED, STEPS, Singular, passed
from dynbench.methods.base import Solver
from dynbench.robots import quaternion
from dynbench.robots.errors import StateError
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

Force = Callable[[float, FloatArray, FloatArray], FloatArray]

FAR = 1e-2  # of the length of the loops: a first state farther off is refused
CLOSED = 1e-9  # of the length of the loops, at accepted states
DIFFERENCE_STEP = 6e-6  # of central differences: the cube root of the rounding error


@dataclass(frozen=True)
class Trajectory:
    """States at the times ``t``, and what they cost."""

    t: FloatArray  # (K,)
    q: FloatArray  # (K, nq)
    v: FloatArray  # (K, nv)
    evaluations: int
    events: tuple[tuple[float, int], ...] = ()  # (time, number of the event function) that ended the run
    integrals: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # (K, k)
    reason: str = ""  # why the run ended before its horizon; what there is of it is in the other fields
    singular: tuple[Singular, ...] = ()  # with loops: positions that were passed


class StoppedError(RuntimeError):
    """A run ended before its horizon; ``trajectory`` is what there is of it."""

    def __init__(self, message: str, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class _Stop(Exception):
    """Raised in a right-hand side to end a run."""


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
    partial: bool = False,
) -> Trajectory:
    """Integrate the motion of ``solver.robot`` from ``start`` to ``horizon``.

    Robots with loops: where the method is compiled, stages are moved onto the loops before they are evaluated, and
    after each accepted step the loops are closed to rounding, both by the smallest change in the mass metric. Singular
    positions are passed on the branch of continuous velocity and listed in ``singular``.

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
        Largest number of right-hand sides.
    partial : bool
        Return what there is of a run that ends early, with the reason, instead of raising `StoppedError`. Its last
        state is that of the last accepted step.

    Raises
    ------
    StoppedError
        If the run ends early: the step became too small, the limit was reached, or the loops cannot be closed.
    StateError
        If the first state is too far from the loops.
    """
    motion = _Motion(solver, force, wrench, integrals, limit)
    times = np.linspace(start, horizon, 201) if times is None else np.asarray(times, dtype=float)
    edges = [start, *sorted(s for s in switches if start < s < horizon), horizon]
    y = motion.first(start, np.array(q0, dtype=float), np.array(v0, dtype=float))
    t_all: list[float] = []
    y_all: list[FloatArray] = []
    hit: tuple[tuple[float, int], ...] = ()
    reason = ""
    for a, b in pairwise(edges):
        inside = times[(times >= a) & ((times < b) | (b == horizon) & (times <= b))]
        t_all += [float(t) for t in inside[inside == a]]
        y_all += [y] * len(t_all[len(y_all) :])
        piece = _Piece(motion, events, a, b, y, integrator, rtol, atol)
        reason = piece.run(inside[inside > a], t_all, y_all)
        y, hit = piece.y, piece.hit
        if reason or hit:
            if hit:
                t_all.append(hit[0][0])
                y_all.append(y)
            elif not t_all or t_all[-1] < piece.t:
                t_all.append(piece.t)
                y_all.append(y)
            break
    states = [motion.unpack(row) for row in y_all]
    nq, nv = motion.robot.nq, motion.robot.nv
    q, v = (np.array([state[k] for state in states]).reshape(-1, width) for k, width in ((0, nq), (1, nv)))
    beside = np.array([row[nq + nv :] for row in y_all])
    found = Trajectory(np.array(t_all), q, v, motion.calls, hit, beside, reason, motion.passed())
    if reason and not partial:
        raise StoppedError(f"robot {motion.robot.name!r}, {solver.method.name}: {reason}", found)
    return found


class _Motion:
    """The right-hand side: state, rates, and the loops if there are any."""

    def __init__(
        self, solver: Solver, force: Force, wrench: Force | None, integrals: Force | None, limit: int | None
    ) -> None:
        self.robot = solver.robot
        self.force, self.wrench, self.integrals, self.limit = force, wrench, integrals, limit
        self.follow = solver.follow
        self.run = None if self.follow else solver.handle("forward_dynamics", wrench=wrench is not None)
        self.out = np.empty(self.robot.nv)
        self.calls = 0
        self.steps: list[tuple[float, FloatArray, FloatArray, float]] = []  # accepted: t, q, v, ratio

    def unpack(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        nq, nv = self.robot.nq, self.robot.nv
        q, v = y[:nq].copy(), y[nq : nq + nv].copy()
        for j, _ in self.robot.quaternions:
            q[j : j + 4] /= np.sqrt(q[j : j + 4] @ q[j : j + 4])
        return q, v

    def beside(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return np.zeros(0) if self.integrals is None else np.asarray(self.integrals(t, q, v), dtype=float)

    def inputs(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        outer = None if self.wrench is None else np.ascontiguousarray(self.wrench(t, q, v), dtype=float).reshape(-1)
        return np.ascontiguousarray(self.force(t, q, v), dtype=float), outer

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        self.count(t)
        q, v = self.unpack(y)
        if self.run is not None:
            self.run(q, v, *self.inputs(t, q, v), self.out)
            return np.concatenate([rates(self.robot, q, v), self.out, self.beside(t, q, v)])
        found = self.follow.stage(q, v, *self.inputs(t, q, v))
        return np.concatenate([rates(self.robot, found.q, found.v), found.a, self.beside(t, found.q, found.v)])

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return dy'/dy by central differences: scipy's own overflow where y' does not depend on a coordinate."""
        change = DIFFERENCE_STEP * np.maximum(np.abs(y), 1.0)
        columns = [(self(t, y + d) - self(t, y - d)) / (2.0 * h) for d, h in zip(np.diag(change), change, strict=True)]
        return np.stack(columns, axis=1)

    def count(self, t: float) -> None:
        self.calls += 1
        if self.limit is not None and self.calls > self.limit:
            raise _Stop(f"more than {self.limit} right-hand sides at t = {t:.3g} s")

    def first(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return y at the start, on the loops."""
        if self.follow:
            found = self.follow.accepted(q, v, *self.inputs(t, q, v))
            fast = FAR * (1.0 + np.abs(v).max(initial=0.0))
            for name, off, limit in (("q0", found.off, FAR), ("v0", found.rate, fast)):
                if not off <= limit:
                    raise StateError(
                        f"{name} is off the loops of robot {self.robot.name!r}: the residual is {off:.3g} of their "
                        f"length, expected at most {limit:.3g}; see robot.project"
                    )
            q, v = found.q, found.v
            self.steps.append((t, q, v, found.ratio))
        return np.concatenate([q, v, np.zeros(len(self.beside(t, q, v)))])

    def accept(self, t: float, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return an accepted state with its loops closed to rounding, and its rates."""
        self.count(t)
        q, v = self.unpack(y)
        found = self.follow.accepted(q, v, *self.inputs(t, q, v))
        if not found.left <= CLOSED:
            raise _Stop(
                f"the loops cannot be closed at t = {t:.6g} s: the residual is {found.left:.3g} of their length"
            )
        self.steps.append((t, found.q, found.v, found.ratio))
        recent = self.steps[-STEPS:]
        if len(recent) == STEPS and all(step[3] < STAYED for step in recent):
            raise _Stop(
                f"the rank of the loops changed for good at t = {recent[0][0]:.6g} s: since then fewer than "
                f"{self.robot.loop_analysis.rank} of their equations are independent; the mechanism has other degrees "
                "of freedom there than elsewhere"
            )
        nq, nv = self.robot.nq, self.robot.nv
        on = np.concatenate([found.q, found.v, y[nq + nv :]])
        return on, np.concatenate([rates(self.robot, found.q, found.v), found.a, self.beside(t, found.q, found.v)])

    def closed(self, t: float, y: FloatArray) -> FloatArray:
        """Return a state between steps, on the loops."""
        if not self.follow:
            return y
        q, v = self.unpack(y)
        found = self.follow.accepted(q, v, *self.inputs(t, q, v))
        return np.concatenate([found.q, found.v, y[self.robot.nq + self.robot.nv :]])

    def passed(self) -> tuple[Singular, ...]:
        if not self.follow:
            return ()
        t, q, v, ratio = (np.array(column) for column in zip(*self.steps, strict=True))
        return passed(self.follow, t, q, v, ratio)


class _Piece:
    """Integration between two times at which inputs may jump."""

    def __init__(
        self, motion: _Motion, events: Sequence[Callable[..., float]], a: float, b: float, y: FloatArray,
        integrator: str, rtol: float, atol: float,
    ) -> None:  # fmt: skip
        from scipy import integrate

        self.motion, self.events = motion, events
        self.t, self.y = a, y
        self.hit: tuple[tuple[float, int], ...] = ()
        self.made = getattr(integrate, integrator)
        # one-step methods take a state moved onto the loops; the others keep a history of their own
        self.one_step = issubclass(self.made, integrate.RK45.__mro__[1])
        self.arguments = (_within(motion, a, b), a, y, b)
        self.options: dict[str, Any] = {"rtol": rtol, "atol": atol}
        if integrator in IMPLICIT:
            self.options["jac"] = _within(motion.jacobian, a, b)

    def run(self, wanted: FloatArray, t_all: list[float], y_all: list[FloatArray]) -> str:
        """Step to the end, an event or a failure, adding states at the times wanted; return why it ended early."""
        try:
            stepping = self.made(*self.arguments, **self.options)
            values = [g(self.t, *self.motion.unpack(self.y)) for g in self.events]
            while stepping.status == "running":
                message = stepping.step()
                if stepping.status == "failed":
                    return f"integration stopped at t = {stepping.t:.6g} s: {message}"
                values = self._step(stepping, wanted, values, t_all, y_all)
                if self.hit:
                    break
        except _Stop as stop:
            return str(stop)
        return ""

    def _step(
        self, stepping: Any, wanted: FloatArray, values: list[float], t_all: list[float], y_all: list[FloatArray]
    ) -> list[float]:
        before, t, y = stepping.t_old, float(stepping.t), stepping.y
        dense: Any = None
        after = [g(t, *self.motion.unpack(y)) for g in self.events]
        crossed = [k for k, g in enumerate(self.events) if _crosses(values[k], after[k], getattr(g, "direction", 0.0))]
        inner = wanted[(wanted > before) & (wanted <= t)]
        if crossed or len(inner):
            dense = stepping.dense_output()
        if crossed:
            t, number = min((self._crossing(k, dense, before, t), k) for k in crossed)
            self.hit = ((t, number),)
            y = dense(t)
            inner = inner[inner <= t]
        for when in inner:
            t_all.append(float(when))
            y_all.append(self.motion.closed(float(when), dense(when)))
        if self.motion.follow and self.one_step and not crossed:
            y, stepping.f = self.motion.accept(t, y)
            stepping.y = y
        self.t, self.y = t, self.motion.closed(t, y) if crossed or not self.one_step else y
        return after

    def _crossing(self, k: int, dense: Any, a: float, b: float) -> float:
        from scipy.optimize import brentq

        eps = 4.0 * np.finfo(float).eps
        return float(brentq(lambda t: self.events[k](t, *self.motion.unpack(dense(t))), a, b, xtol=eps, rtol=eps))


def _crosses(before: float, after: float, direction: float) -> bool:
    up, down = before <= 0.0 <= after, before >= 0.0 >= after
    return (up and direction >= 0.0) or (down and direction <= 0.0)


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
