"""Invariants of a free motion: a method's forward dynamics with an integrator.

Without forces at the joints a robot keeps its energy; one that floats keeps its angular momentum about its centre of
mass, and its linear momentum except for its weight; loops stay closed; quaternions stay unit. The identities of
`invariants` hold at one instant, and some do not see terms that do no work: without the gyroscopic moments w x I w,
forward dynamics still undoes inverse dynamics, M is right, and power is balanced. Angular momentum is not kept.

A few states are moved on in one batch by classical Runge-Kutta steps (M. W. Kutta, 1901; order 4) on dq/dt =
rates(q, v), dv/dt = forward dynamics. Each state has its own step, such that halving it changes one step by
`STEP_ERROR`. The motion is computed twice, the second time with half the step: the drift of a right model falls
sixteenfold, that of a wrong one stays. A drift may be ten times the change that halving made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynbench.benchmarks.checks.agreement import Measurement, NotApplicable, numbers
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
FIRST_TURN, LOOPED_TURN = 0.1, 5e-4  # rad or m, at the state's speed: the first step tried, the longest on loops
EVALUATIONS = 4 * 3 * (TRIALS + STEPS)
MAX_SECONDS = 3.0  # of a processor that they may take
TIMES_ERROR = 10.0  # a drift may be so many times the integrator's error,
ROUNDING = 1e-11  # plus the rounding of so many evaluations, relative

State = tuple[FloatArray, FloatArray]  # q (K, nq) with quaternions as they come out, v (K, nv)


@dataclass(frozen=True)
class FreeMotion:
    """Some states after a free motion, by a step and by half of it."""

    robot: Robot
    start: State
    long: State
    short: State
    duration: FloatArray  # (K,) seconds


def free_motion(solver: Solver, sample: Sample) -> FreeMotion:
    """Move the first states of a sample on without forces.

    Raises `NotApplicable` for a method so slow that it would take more than `MAX_SECONDS`.
    """
    robot = solver.robot
    q, v = sample.q[:STATES].copy(), sample.v[:STATES].copy()
    tau = np.zeros((len(q), len(robot.actuated)))

    def slope(state: State) -> State:
        at = robot.normalise(state[0])
        return rates(robot, at, state[1]), solver.forward_dynamics(at, state[1], tau)

    start = (q, v)
    first = slope(start)  # may compile
    began = time.process_time()  # not wall time: load must not decide what is checked
    slope(start)
    seconds = EVALUATIONS * (time.process_time() - began)
    if seconds > MAX_SECONDS:
        said = f"{EVALUATIONS} evaluations of {len(q)} states would take more than {MAX_SECONDS:g} s"
        raise NotApplicable(f"too slow: {said}")
    h = step_of(slope, start, first, not robot.is_tree)
    long, short = start, start
    for _ in range(STEPS):
        long = runge_kutta(slope, long, h)
        short = runge_kutta(slope, runge_kutta(slope, short, 0.5 * h), 0.5 * h)
    return FreeMotion(robot, start, long, short, STEPS * h)


def runge_kutta(slope: Callable[[State], State], state: State, h: FloatArray) -> State:
    """Return the states after one classical step ``h`` (K,)."""
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

    On loops a step is short for another reason: within it a state leaves them by the square of its motion, and methods
    refuse one that is off by 1e-6.
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


@dataclass(frozen=True)
class Kept:
    """Something that a free motion keeps; ``drift(robot, start, end, t)`` is its change, shape (K, m)."""

    name: str
    unit: str
    applies: Callable[[Robot], bool]
    drift: Callable[[Robot, State, State, FloatArray], FloatArray]


def drift(kept: Kept, motion: FreeMotion) -> Measurement:
    """Compare the drift with the integrator's error: the largest change of any state's drift by halving the step."""
    long, short = (kept.drift(motion.robot, motion.start, end, motion.duration) for end in (motion.long, motion.short))
    drifts, change = (np.abs(x).max(axis=1) for x in (short, long - short))
    drifts = np.where(np.isfinite(drifts), drifts, np.inf)
    error, k = float(change.max()), int(np.argmax(drifts))
    inputs = {"q": numbers(motion.start[0][k]), "v": numbers(motion.start[1][k]), "t": numbers(motion.duration[k])}
    return Measurement(
        float(drifts[k]),
        ROUNDING + TIMES_ERROR * error,
        f"tolerance {ROUNDING:g} + {TIMES_ERROR:g} x the integrator's error {error:.1e}, by halving its step",
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
        raise NotApplicable(str(error)) from error
    return np.asarray((after - (kinetic + potential)) / _positive(kinetic + np.abs(potential)))[:, None]


def linear_momentum(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """Less the part of the weight; relative to the largest that the kinetic energy allows, and the weight's."""
    before = kinematics.momentum(robot, *start)[:, :3]
    after = kinematics.momentum(robot, robot.normalise(end[0]), end[1])[:, :3]
    mass = robot.mass.sum()
    weight = mass * t[:, None] * robot.gravity
    most = np.sqrt(2.0 * mass * np.asarray(kinematics.kinetic_energy(robot, *start)))
    return np.asarray((after - before - weight) / _positive(most + np.linalg.norm(weight, axis=1))[:, None])


def angular_momentum(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """About the centre of mass, relative to the two parts that it is the difference of."""

    def about_centre(state: State) -> tuple[FloatArray, FloatArray]:
        q = robot.normalise(state[0])
        p, whole = np.split(kinematics.momentum(robot, q, state[1]), 2, axis=1)
        carried = np.cross(kinematics.com(robot, q), p)
        return whole - carried, np.linalg.norm(whole, axis=1) + np.linalg.norm(carried, axis=1)

    (before, size), (after, _) = about_centre(start), about_centre(end)
    return np.asarray((after - before) / _positive(size)[:, None])


def unit_quaternions(robot: Robot, start: State, end: State, t: FloatArray) -> FloatArray:
    """How far lengths are from one: the integrator does not normalise them."""
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
