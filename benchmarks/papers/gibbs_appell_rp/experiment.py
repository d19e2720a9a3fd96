"""Revolute-prismatic chain of three rods (Korayem and Shafei): 1.5 s under constant inputs, without and with stops.

Three rods of table 1 start at rest, torques of 1 N m and forces of 1 N act. The paper keeps the extensions between 0
and L but does not say how; (a) is the motion without stops, (b) with the hard stops of `simulation.stops`, whose
law is ours. After the first contact, at 0.2444 s, everything depends on that law. Both run through any method.

The text sets q_3 to zero and then to pi/2; `READINGS` has the two other ways to read it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynbench import robots
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Measure, Recording, Scenario
from dynbench.benchmarks.simulation.stops import Stop, StopEvent, both_sides, gap_event
from dynbench.robots.robot import FloatArray

ROBOT = "rp3"
METHOD = "gibbs-appell-rp"
HORIZON = 1.5  # s
FORCE = np.ones(6)  # tau_i = 1 N m, F_i = 1 N
READINGS = {"q3 = pi/2": (0.0, 0.0, np.pi / 2), "all zero": (0.0, 0.0, 0.0), "q1 = pi/2": (np.pi / 2, 0.0, 0.0)}
READING = "q3 = pi/2"
EXTENSIONS = (0.4, 0.25, 0.25)  # m
STOPS = tuple(Stop(coordinate, 0.0, 1.0) for coordinate in (1, 3, 5))
PAPER_SECONDS = 38.23  # to derive and solve, MATLAB, Core 2 Duo E7500


def initial(reading: str = READING) -> tuple[FloatArray, FloatArray]:
    """Return q and v at the start, in the robot's order: q_1, l_1, q_2, l_2, q_3, l_3."""
    q = np.empty(6)
    q[::2], q[1::2] = READINGS[reading], EXTENSIONS
    return q, np.zeros(6)


def rods(reading: str = READING, stops: bool = False, impact: str = "inelastic") -> Scenario:
    """Return experiment (a), or with ``stops`` (b); ``impact="naive"`` only stops the rate of the rod that hit."""
    q, v = initial(reading)
    return Scenario(
        name="sliding-rods-with-stops" if stops else "sliding-rods",
        title="three rods that turn and slide under constant torques and forces",
        robot=robots.load(ROBOT),
        q0=q,
        v0=v,
        horizon=HORIZON,
        inputs=Torques.constant(FORCE),
        methods=(METHOD, "newton-euler", "gibbs-appell", "denoc"),
        stops=STOPS if stops else (),
        impact=impact,
        measures={"work": Measure(work, "J"), "energy balance": Measure(balance, "J")},
        rtol=1e-11,
        atol=1e-12,
    )


def work(found: Recording) -> FloatArray:
    """Work of the inputs since the start (K,), J."""
    return np.asarray((found.q - found.scenario.q0) @ FORCE)


def balance(found: Recording) -> FloatArray:
    """Energy gained, less the work done, plus what impacts took (K,), J: zero."""
    loss = found.loss if found.scenario.stops else 0.0
    return np.asarray(found.energy - found.energy[0] - work(found) + loss)


def crossings(method: str = METHOD, reading: str = READING, rtol: float = 1e-11) -> list[StopEvent]:
    """Return when the motion without stops first passes the place of each stop."""
    left = rods(reading)
    ahead = [side for stop in STOPS for side in both_sides(stop)]
    found: list[StopEvent] = []
    t = 0.0
    while ahead:
        left = replace(left, events=[gap_event(side) for side in ahead])
        piece = left.run(method, rtol=rtol, atol=rtol / 10)
        if not piece.events:
            break
        passed, number = piece.events[0]
        t += passed
        left = replace(left, q0=piece.q[-1], v0=piece.v[-1], horizon=left.horizon - passed)
        side = ahead.pop(number)
        found.append(StopEvent(t, "crossing", side.coordinate, side.name))
    return found


def seconds(method: str = METHOD) -> float:
    """Return the wall-clock time of experiment (a) by RK45 at rtol 1e-8, after compilation."""
    return rods().run(method, solver="RK45", rtol=1e-8, atol=1e-10).seconds.wall
