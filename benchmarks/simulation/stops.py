"""Hard stops on sliding or turning joints: event location, inelastic impact, reactions, release; through any method.

A stop keeps a coordinate between two values. Each of its sides is a unilateral contact with a gap (how far the
coordinate may still go) and the direction E in which the gap opens. Only forward dynamics is needed of a method:
M^-1 E is the change of acceleration by a unit of force along E.

    impact       v+ = v- + M^-1 E p with p >= 0, E^T v+ >= 0 and p . E^T v+ = 0: fully inelastic, and consistent with
                 the inertia, so that the rates of *all* joints jump. It can only lose energy.
    contact      a reaction lambda >= 0 holds the coordinate, E^T a >= 0, lambda . E^T a = 0
    release      where lambda reaches zero

``impact="naive"`` sets only the rate of the stopped joint to zero, without the impulse on the other joints. It is a
counter-example: it breaks the balance of momentum and may create energy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from dynbench.benchmarks.simulation.simulate import Force, simulate
from dynbench.methods.base import Solver
from dynbench.robots.robot import FloatArray

TOUCHING = 1e-9  # a gap this small is closed when another contact is hit
STILL = 1e-9  # a rate or acceleration this small is zero: a contact that nothing opens or presses stays closed
MAX_EVENTS = 1000  # more means a stop that is hit again and again


class Stop(NamedTuple):
    """The range of one coordinate (its index in q and in v: the robot has 1-DoF joints only)."""

    coordinate: int
    low: float
    high: float


class Side(NamedTuple):
    """One side of a stop."""

    coordinate: int
    name: str  # "lower" or "upper"
    value: float
    opens: float  # +1 or -1: the direction in which the gap opens

    def gap(self, q: FloatArray) -> float:
        return float(self.opens * (q[self.coordinate] - self.value))


@dataclass(frozen=True)
class StopEvent:
    """An impact or a release at a stop."""

    t: float
    kind: str  # "impact" or "release"
    coordinate: int
    side: str
    loss: float = 0.0  # energy lost in an impact, J


@dataclass(frozen=True)
class StoppedRun:
    """States at the given times, the events, and the energy lost in impacts up to each time."""

    t: FloatArray  # (K,)
    q: FloatArray  # (K, nq)
    v: FloatArray  # (K, nv)
    loss: FloatArray  # (K,)
    events: tuple[StopEvent, ...]
    evaluations: int
    reason: str = ""  # why it ended before its horizon


def simulate_with_stops(
    solver: Solver,
    q0: FloatArray,
    v0: FloatArray,
    force: Force,
    horizon: float,
    stops: Sequence[Stop],
    *,
    times: FloatArray | None = None,
    impact: str = "inelastic",
    integrator: str = "DOP853",
    rtol: float = 1e-10,
    atol: float = 1e-12,
    limit: int | None = None,
) -> StoppedRun:
    """Integrate from 0 to ``horizon``, restarting at every event; see the module's docstring for the laws."""
    if impact not in ("inelastic", "naive"):
        raise ValueError(f"impact is {impact!r}, expected 'inelastic' or 'naive'")
    contacts = Contacts(solver, force)
    sides = [side for stop in stops for side in both_sides(stop)]
    times = np.linspace(0.0, horizon, 201) if times is None else np.asarray(times, dtype=float)
    t, q, v = 0.0, np.array(q0, dtype=float), np.array(v0, dtype=float)
    held: tuple[Side, ...] = ()
    lost, evaluations = 0.0, 0
    rows: list[tuple[float, FloatArray, FloatArray, float]] = []
    events: list[StopEvent] = []
    reason = ""
    while t < horizon:
        if len(events) > MAX_EVENTS:
            reason = f"{len(events)} events at stops up to t = {t:.6g} s"
            break
        free = [side for side in sides if side not in held]
        piece = simulate(
            solver, q, v, contacts.holding(held), horizon, start=t, times=times[times >= t],
            events=[*map(gap_event, free), *(contacts.reaction_event(held, k) for k in range(len(held)))],
            integrator=integrator, rtol=rtol, atol=atol, limit=limit, partial=True,
        )  # fmt: skip
        evaluations += piece.evaluations
        end = piece.events[0][0] if piece.events else np.inf
        stored = (np.isin(piece.t, times) | bool(piece.reason)) & (piece.t < end)
        rows += [(piece.t[k], piece.q[k], piece.v[k], lost) for k in np.flatnonzero(stored)]
        reason = piece.reason
        if not piece.events:
            break
        t, number = piece.events[0]
        q, v = piece.q[-1].copy(), piece.v[-1].copy()
        if number < len(free):
            hit = free[number]
            q[hit.coordinate] = hit.value
            closed = (*held, *(side for side in free if side is hit or side.gap(q) < TOUCHING))
            before = solver.robot.energy(q, v)
            v = contacts.impact(t, q, v, closed) if impact == "inelastic" else naive_impact(v, hit)
            loss = float(before - solver.robot.energy(q, v))
            lost += loss
            events.append(StopEvent(t, "impact", hit.coordinate, hit.name, loss))
            touching = tuple(side for side in closed if abs(v[side.coordinate]) < STILL)
        else:
            closed = held
            touching = tuple(side for k, side in enumerate(held) if k != number - len(free))
        for side in touching:
            v[side.coordinate] = 0.0
        held = contacts.pressing(t, q, v, touching)
        events += [StopEvent(t, "release", side.coordinate, side.name) for side in closed if side not in held]
    t_all, q_all, v_all, loss_all = zip(*rows, strict=True)
    return StoppedRun(
        np.array(t_all), np.array(q_all), np.array(v_all), np.array(loss_all), tuple(events), evaluations, reason
    )


def both_sides(stop: Stop) -> tuple[Side, Side]:
    return Side(stop.coordinate, "lower", stop.low, 1.0), Side(stop.coordinate, "upper", stop.high, -1.0)


def gap_event(side: Side) -> Callable[..., float]:
    """Return an event function that is zero where the gap closes."""

    def gap(t: float, q: FloatArray, v: FloatArray) -> float:
        return side.gap(q)

    gap.direction = -1.0  # type: ignore[attr-defined]
    return gap


def naive_impact(v: FloatArray, hit: Side) -> FloatArray:
    """Return the rates with only the stopped one set to zero."""
    v = v.copy()
    v[hit.coordinate] = 0.0
    return v


class Contacts:
    """Impulses and reactions of closed contacts, from a solver's forward dynamics."""

    def __init__(self, solver: Solver, force: Force) -> None:
        self.run = solver.handle("forward_dynamics")
        self.force = force
        self.nv = solver.robot.nv

    def acceleration(self, q: FloatArray, v: FloatArray, tau: FloatArray) -> FloatArray:
        out = np.empty(self.nv)
        self.run(q, v, tau, None, out)
        return out

    def system(
        self, t: float, q: FloatArray, v: FloatArray, closed: Sequence[Side]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return E (nv, m), M^-1 E (nv, m), and the acceleration without reactions."""
        tau = np.ascontiguousarray(self.force(t, q, v), dtype=float)
        free = self.acceleration(q, v, tau)
        E = np.zeros((self.nv, len(closed)))
        for k, side in enumerate(closed):
            E[side.coordinate, k] = side.opens
        columns = [self.acceleration(q, v, tau + direction) - free for direction in E.T]
        return E, np.array(columns).reshape(len(closed), self.nv).T, free

    def impact(self, t: float, q: FloatArray, v: FloatArray, closed: Sequence[Side]) -> FloatArray:
        """Return the velocities after an inelastic impact of the closed contacts."""
        E, moved, _ = self.system(t, q, v, closed)
        after: FloatArray = v + moved @ complementary(E.T @ moved, E.T @ v)
        return after

    def pressing(self, t: float, q: FloatArray, v: FloatArray, touching: Sequence[Side]) -> tuple[Side, ...]:
        """Return those of the contacts at rest that do not open."""
        E, moved, free = self.system(t, q, v, touching)
        opening = E.T @ (free + moved @ complementary(E.T @ moved, E.T @ free))
        return tuple(side for side, rate in zip(touching, opening, strict=True) if rate < STILL)

    def reactions(self, t: float, q: FloatArray, v: FloatArray, held: Sequence[Side]) -> tuple[FloatArray, FloatArray]:
        """Return E, and the reactions that keep the coordinates of ``held`` at rest."""
        E, moved, free = self.system(t, q, v, held)
        return E, np.asarray(np.linalg.solve(E.T @ moved, -(E.T @ free)), dtype=np.float64)

    def holding(self, held: Sequence[Side]) -> Force:
        """Return the force of the inputs with the reactions of the contacts held."""
        if not held:
            return self.force

        def total(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            E, reactions = self.reactions(t, q, v, held)
            return np.asarray(self.force(t, q, v) + E @ reactions)

        return total

    def reaction_event(self, held: Sequence[Side], k: int) -> Callable[..., float]:
        """Return an event function that is zero where the reaction of contact k would begin to pull."""

        def reaction(t: float, q: FloatArray, v: FloatArray) -> float:
            return float(self.reactions(t, q, v, held)[1][k]) + STILL

        reaction.direction = -1.0  # type: ignore[attr-defined]
        return reaction


def complementary(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return z >= 0 with A z + b >= 0 and z . (A z + b) = 0, for a positive definite A of a few rows.

    The solution is unique; all choices of nonzero z are tried.
    """
    m = len(b)
    best, least = np.zeros(m), np.inf
    for chosen in chain.from_iterable(combinations(range(m), size) for size in range(m + 1)):
        z, index = np.zeros(m), list(chosen)
        z[index] = np.linalg.solve(A[np.ix_(index, index)], -b[index])
        violation = max(-z.min(initial=0.0), -(A @ z + b).min(initial=0.0))
        if violation < least:
            best, least = z, violation
    return best
