"""Seeded states with the arguments of all quantities, and the same states moved by 2 units in the last place.

Random states miss those where formulas divide by the sine of an angle or depend on the sign of a quaternion, and all
are about as fast and as far away. So a large sample ends with some of these (see `corners`), and with states at rest,
slow and very fast ones, angles of several turns and long travel (see `unusual`).

The change of a method's result when its inputs move by 2 ulp is its *noise floor*: inputs are not known better than
that, so two formulations that differ by less agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dynbench.methods.base import QUANTITIES, Solver
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.robot import FloatArray, Robot

ULPS = 2
MIN_WITH_CORNERS = 32  # states of a sample that ends with corners and unusual states
MIN_WITH_REST = 9  # of one that ends with a state at rest and a slow one
SMALL_ACCELERATION = 1.0  # rad/s^2, m/s^2
VERY_FAST = 20.0  # times "fast", whose rates are about 3 rad/s
TURNS = 5  # full turns added to angles, up to so many
TRAVEL = 4.0  # times the usual travel of up to 1 m; forward dynamics is ill-conditioned far away


@dataclass(frozen=True)
class Sample:
    """N states of a robot."""

    robot: Robot
    seed: int
    q: FloatArray  # (N, nq)
    v: FloatArray  # (N, nv)
    a: FloatArray  # (N, nv)
    tau: FloatArray  # (N, number of actuated coordinates)
    wrench: FloatArray  # (N, n, 6) external

    def __len__(self) -> int:
        return len(self.q)

    def first(self, states: int) -> Sample:
        """The first states alone."""
        return replace(self, **{name: getattr(self, name)[:states] for name in ("q", "v", "a", "tau", "wrench")})

    def inputs(self, quantity: str, wrench: bool = False) -> dict[str, FloatArray]:
        """Return the arguments of a quantity by name: copies, in case that the method writes to them."""
        names = (*QUANTITIES[quantity].arguments, *(("wrench",) if wrench else ()))
        return {name: getattr(self, name).copy() for name in names}


def draw(robot: Robot, states: int, seed: int) -> Sample:
    """Return fast seeded states, wrenches of about 10 N and N m, and random forces; see `with_forces`."""
    q, v, a = robot.sample(states, seed=seed, regime="fast")
    if states >= MIN_WITH_CORNERS and robot.is_tree and not robot.is_elastic:
        special = corners(robot, q[0])
        q[-len(special) :] = special
        put_unusual(robot, q, v, a, seed, states - len(special))
    elif states >= MIN_WITH_REST:
        for row, regime in ((states - 2, "rest"), (states - 1, "slow")):
            q[row], v[row], a[row] = (x[0] for x in robot.sample(1, seed=seed, regime=regime))
    rng = np.random.default_rng([seed, 1])
    tau = 10.0 * rng.standard_normal((states, len(robot.actuated)))
    wrench = 10.0 * rng.standard_normal((states, robot.n, 6))
    return Sample(robot, seed, q, v, a, tau, wrench)


UNUSUAL = 8  # states of `unusual`


def unusual(
    robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `UNUSUAL` states of a tree, made from as many usual ones: at rest; at rest for an instant; without
    acceleration; at a hundredth and at a millionth of the speed; very fast; angles of several turns; long travel."""
    q, v, a = q.copy(), v.copy(), a.copy()
    v[0] = a[0] = v[1] = a[2] = 0.0
    for row, speed in ((3, 1e-2), (4, 1e-6), (5, VERY_FAST)):
        v[row] *= speed
        a[row] *= speed * speed
    rng = np.random.default_rng([seed, 3])
    turning = robot.iq[robot.kind == JointKind.REVOLUTE]
    turns = rng.integers(1, TURNS + 1, len(turning)) * rng.choice([-1.0, 1.0], len(turning))
    q[6, turning] += 2.0 * np.pi * turns
    for i in np.flatnonzero((robot.kind == JointKind.PRISMATIC) | (robot.kind == JointKind.FREE)):
        start = robot.iq[i]
        q[7, start : start + (1 if robot.kind[i] == JointKind.PRISMATIC else 3)] *= TRAVEL
    return q, v, a


def put_unusual(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, seed: int, end: int) -> None:
    """Replace the `UNUSUAL` states before row ``end`` by those of `unusual`, made from the first ones."""
    rows = slice(end - UNUSUAL, end)
    q[rows], v[rows], a[rows] = unusual(robot, q[:UNUSUAL], v[:UNUSUAL], a[:UNUSUAL], seed)


def corners(robot: Robot, q: FloatArray) -> FloatArray:
    """Configurations that are never drawn at random: all joints at zero, at a right angle, at half a turn (where a
    quaternion's w is zero), and ``q`` by its other quaternions. Shape (4, nq); joints that slide are at zero."""
    turns = np.ones(robot.nv)
    for i, kind in enumerate(robot.kind):
        start = robot.iv[i]
        if kind in (JointKind.PRISMATIC, JointKind.FREE):
            turns[start : start + (1 if kind == JointKind.PRISMATIC else 3)] = 0.0
        if kind in (JointKind.SPHERICAL, JointKind.FREE):
            end = start + NV[kind]
            turns[end - 3 : end] = 1.0 / np.sqrt(3.0)
    found = [robot.integrate(robot.neutral(), angle * turns) for angle in (0.0, np.pi / 2.0, np.pi)]
    other = q.copy()
    for start, _ in robot.quaternions:
        other[start : start + 4] *= -1.0
    return np.array([*found, other])


def with_forces(sample: Sample, solvers: Iterable[Solver]) -> Sample:
    """Return the sample with the forces of its accelerations, by the first solver that gives finite ones.

    Random forces give light links accelerations that are orders above all others, and errors relative to the largest
    component of an acceleration would depend on those links alone.
    """
    for solver in solvers:
        if "inverse_dynamics" in solver.computes:
            try:
                tau = solver.inverse_dynamics(**sample.inputs("inverse_dynamics"))
            except Exception:  # its evaluation will report it
                continue
            if np.isfinite(tau).all():
                return replace(sample, tau=away_from_rest(sample, tau))
    return sample


def away_from_rest(sample: Sample, tau: FloatArray) -> FloatArray:
    """Return the forces of a sample's accelerations, half as much again where these are small.

    A force that holds a robot at rest gives an acceleration that is rounding alone, which cannot be compared.
    """
    small = np.abs(sample.a).max(axis=1) < SMALL_ACCELERATION
    return np.where(small[:, None], 1.5 * tau, tau)


def moved(sample: Sample) -> Sample:
    """Return the same states, every number moved by 2 ulp up or down at random, quaternions normalised."""
    rng = np.random.default_rng([sample.seed, 2])

    def nudge(x: FloatArray) -> FloatArray:
        towards = np.where(rng.random(x.shape) < 0.5, -np.inf, np.inf)
        for _ in range(ULPS):
            x = np.nextafter(x, towards)
        return x

    q = sample.robot.normalise(nudge(sample.q))
    return Sample(sample.robot, sample.seed, q, *map(nudge, (sample.v, sample.a, sample.tau, sample.wrench)))
