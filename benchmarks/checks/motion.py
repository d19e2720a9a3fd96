"""What a free motion keeps: the method's forward dynamics and an integrator together, apart from the method alone.

Without forces at the joints a robot keeps its energy; one that floats keeps its angular momentum about its centre of
mass, and its linear momentum but for its weight; loops stay closed; quaternions stay unit. The identities of
`invariants` look at one instant and some cannot see what does no work: without the gyroscopic moments w x I w inverse
and forward dynamics still undo each other, M is right, and power is balanced. Angular momentum is not.

A few states are moved on, all in one batch, by classical Runge-Kutta steps (M. W. Kutta, 1901; order 4) on dq/dt =
rates(q, v), dv/dt = forward dynamics, each state with a step of its own: such that halving it changes one step by
`STEP_ERROR`. The whole motion is done twice, the second time with half the step, so that the integrator's own share of
a drift is known: what a right model loses falls sixteenfold, what a wrong one loses stays. A drift may be ten times the
change that halving made; beyond that it is the model's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynbench.benchmarks.checks.agreement import numbers
from dynbench.benchmarks.checks.finding import Absent, Finding
from dynbench.benchmarks.checks.sampling import Sample
from dynbench.benchmarks.results.rows import Worst
from dynbench.benchmarks.simulation.simulate import rates
from dynbench.methods.base import Solver
from dynbench.robots import kinematics
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

STATES = 8  # one block of a compiled batch
STEPS = 12  # with the longer step; with the shorter twice as many
STEP_ERROR = 1e-9  # of one step, relative to the largest rate times the step
TRIALS = 4  # to find the step
FIRST_TURN, LOOPED_TURN = 0.1, 5e-4  # rad or m, at the speed at hand: the first step tried, the longest on loops
EVALUATIONS = 4 * 3 * (TRIALS + STEPS)
SLOWEST = 3.0  # seconds of a processor that they may take
TIMES_ERROR = 10.0  # of the integrator: what a drift may be
FLOOR = 1e-11  # relative: what so many evaluations round

State = tuple[FloatArray, FloatArray]  # q (K, nq) with quaternions as they come out, v (K, nv)


@dataclass(frozen=True)
class Motion:
    """Where some states came to in free motion, by a step and by half of it."""

    robot: Robot
    start: State
    long: State
    short: State
    duration: FloatArray  # (K,) seconds


def free_motion(solver: Solver, sample: Sample) -> Motion:
    """Move the first states of a sample on without forces.

    Raises
    ------
    Absent
        When the method is so slow that it would take more than `SLOWEST` seconds.
    """
    robot = solver.robot
    q, v = sample.q[:STATES].copy(), sample.v[:STATES].copy()
    tau = np.zeros((len(q), len(robot.actuated)))

    def slope(state: State) -> State:
        at = robot.normalise(state[0])
        return rates(robot, at, state[1]), solver.forward_dynamics(at, state[1], tau)

    start = (q, v)
    first = slope(start)  # may compile
    began = time.process_time()  # not the clock: a busy machine must not decide what is checked
    slope(start)
    seconds = EVALUATIONS * (time.process_time() - began)
    if seconds > SLOWEST:
        raise Absent(f"too slow: {EVALUATIONS} evaluations of {len(q)} states would take more than {SLOWEST:g} s")
    h = step_of(slope, start, first, not robot.is_tree)
    long, short = start, start
    for _ in range(STEPS):
        long = runge_kutta(slope, long, h)
        short = runge_kutta(slope, runge_kutta(slope, short, 0.5 * h), 0.5 * h)
    return Motion(robot, start, long, short, STEPS * h)


def runge_kutta(slope: Callable[[State], State], state: State, h: FloatArray) -> State:
    """One classical step; ``h`` (K,) is each state's own."""
    k1 = slope(state)
    k2 = slope(_along(state, 0.5 * h, k1))
    k3 = slope(_along(state, 0.5 * h, k2))
    k4 = slope(_along(state, h, k3))
    q, v = (a + 2.0 * (b + c) + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return _along(state, h / 6.0, (q, v))


def _along(state: State, h: FloatArray, slope: State) -> State:
    return state[0] + h[:, None] * slope[0], state[1] + h[:, None] * slope[1]


def step_of(slope: Callable[[State], State], start: State, first: State, looped: bool) -> FloatArray:
    """Return the step (K,) of each state, seconds, at which halving it changes one step by about `STEP_ERROR`.

    On loops a step is short for another reason: within it a state leaves them by the square of what it moves, and no
    method takes one that is 1e-6 off.
    """
    speed, growth = (np.abs(x).max(axis=1) for x in first)
    rate = np.maximum(np.maximum(speed, np.sqrt(growth)), 1e-3)  # 1/s
    if looped:
        return np.asarray(LOOPED_TURN / rate)
    h = FIRST_TURN / rate
    for _ in range(TRIALS):
        one = runge_kutta(slope, start, h)
        two = runge_kutta(slope, runge_kutta(slope, start, 0.5 * h), 0.5 * h)
        changed = [np.abs(b - a).max(axis=1) for a, b in zip(one, two, strict=True)]
        error = np.maximum(changed[0], changed[1] / rate) / (h * rate)
        h = h * np.clip((STEP_ERROR / np.maximum(error, 1e-4 * STEP_ERROR)) ** 0.25, 0.02, 3.0)
    return np.asarray(h)


# ---------------------------------------------------------------------- what is kept


@dataclass(frozen=True)
class Kept:
    """Something that a free motion keeps.

    ``drift(robot, start, end, t)`` is by how much it does not, shape (K, m), in units of ``unit``.
    """

    name: str
    unit: str
    applies: Callable[[Robot], bool]
    drift: Callable[[Robot, State, State, FloatArray], FloatArray]


def found(kept: Kept, motion: Motion) -> Finding:
    """Compare the drift with the integrator's error, the largest change that halving the step made to any state's."""
    long, short = (kept.drift(motion.robot, motion.start, end, motion.duration) for end in (motion.long, motion.short))
    drift, change = (np.abs(x).max(axis=1) for x in (short, long - short))
    drift = np.where(np.isfinite(drift), drift, np.inf)
    error, k = float(change.max()), int(np.argmax(drift))
    inputs = {"q": numbers(motion.start[0][k]), "v": numbers(motion.start[1][k]), "t": numbers(motion.duration[k])}
    return Finding(
        float(drift[k]),
        FLOOR + TIMES_ERROR * error,
        f"tolerance {FLOOR:g} + {TIMES_ERROR:g} x the integrator's error {error:.1e}, by halving its step",
        kept.unit,
        Worst(k, inputs, numbers(short[k]), numbers(np.zeros_like(short[k]))),
        noise=error,
    )


def energy(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """Relative to kinetic plus potential energy, the latter without its sign."""
    try:
        kinetic, potential, after = (
            np.asarray(kinematics.kinetic_energy(robot, *start)),
            np.asarray(kinematics.potential_energy(robot, start[0])),
            np.asarray(robot.energy(robot.normalise(end[0]), end[1])),
        )
    except RobotError as error:
        raise Absent(str(error)) from error
    return np.asarray((after - (kinetic + potential)) / _positive(kinetic + np.abs(potential)))[:, None]


def linear_momentum(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """Less what the weight adds; relative to the largest that the kinetic energy allows, and the weight's."""
    before = kinematics.momentum(robot, *start)[:, :3]
    after = kinematics.momentum(robot, robot.normalise(end[0]), end[1])[:, :3]
    mass = robot.mass.sum()
    weight = mass * t[:, None] * robot.gravity
    most = np.sqrt(2.0 * mass * np.asarray(kinematics.kinetic_energy(robot, *start)))
    return np.asarray((after - before - weight) / _positive(most + np.linalg.norm(weight, axis=1))[:, None])


def angular_momentum(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """About the centre of mass, relative to the parts it is the difference of."""

    def about_centre(state: State) -> tuple[FloatArray, FloatArray]:
        q = robot.normalise(state[0])
        p, whole = np.split(kinematics.momentum(robot, q, state[1]), 2, axis=1)
        carried = np.cross(kinematics.com(robot, q), p)
        return whole - carried, np.linalg.norm(whole, axis=1) + np.linalg.norm(carried, axis=1)

    (before, size), (after, _) = about_centre(start), about_centre(end)
    return np.asarray((after - before) / _positive(size)[:, None])


def unit_quaternions(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """How far lengths are from one: the integrator is never told."""
    starts = [at for at, _ in robot.quaternions]
    return np.stack([np.linalg.norm(end[0][:, at : at + 4], axis=1) - 1.0 for at in starts], axis=1)


def closed_loops(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """How far the loops have opened, metres and radians."""
    return robot.loop_residual(robot.normalise(end[0])) - robot.loop_residual(start[0])


def floats(robot: Robot) -> bool:
    """Whether nothing holds the robot: every body on the ground is on a free joint, and no loop goes there."""
    grounded = robot.parent < 0
    return robot.is_tree and not robot.is_elastic and bool((robot.kind[grounded] == JointKind.FREE).all())


def _positive(x: FloatArray) -> FloatArray:
    return np.where(x > 0.0, x, 1.0)


KEPT = (
    Kept("energy in motion", "relative", lambda robot: True, energy),
    Kept("linear momentum in motion", "relative", floats, linear_momentum),
    Kept("angular momentum in motion", "relative", floats, angular_momentum),
    Kept("unit quaternions in motion", "length", lambda robot: bool(robot.quaternions), unit_quaternions),
    Kept("closed loops in motion", "m, rad", lambda robot: not robot.is_tree, closed_loops),
)
