"""Dual numbers: the source of a kernel run on numbers that carry their derivatives. Slow, exact to rounding.

A `Dual` is a number with its derivatives in several directions, all of which follow from one run of a kernel in plain
Python. It is how every other route to a derivative is checked: nothing is derived by hand, and nothing is compiled.

With loops a derivative is by the actuated coordinates: `state` moves a state along the loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynbench.methods.kernels import closure, projection
from dynbench.methods.kernels.cells import Cells
from dynbench.methods.kernels.scalar import ONE, guard
from dynbench.methods.kernels.vectors import from_quaternion
from dynbench.robots.joints import JointKind
from dynbench.robots.manifold import plain_coordinates
from dynbench.robots.robot import FloatArray, Robot

ON_LOOPS, NEAR_LOOPS = 1e-6, 1e-2  # as in `dynbench.methods.validation`
NO_DIRECTION = 1e-149  # below it a divisor is that of x / sqrt(x x + 1e-300), the sign of x, at zero
Number = Any  # Dual or float; of `seeds` and `lifted` any scalar


class Dual:
    """A number and its derivatives in some directions."""

    __slots__ = ("rate", "value")
    __array_ufunc__ = None

    def __init__(self, value: float, rate: FloatArray) -> None:
        self.value = value
        self.rate = rate

    def __add__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.rate + other.rate)
        return Dual(self.value + other, self.rate)

    def __sub__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value - other.value, self.rate - other.rate)
        return Dual(self.value - other, self.rate)

    def __rsub__(self, other: float) -> Dual:
        return Dual(other - self.value, -self.rate)

    def __mul__(self, other: Number) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.rate * other.value + self.value * other.rate)
        return Dual(self.value * other, self.rate * other)

    def __truediv__(self, other: Number) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value / other, self.rate / other)
        ratio = self.value / other.value
        if abs(other.value) < NO_DIRECTION:
            return Dual(ratio, np.zeros_like(self.rate))
        return Dual(ratio, (self.rate - ratio * other.rate) / other.value)

    def __rtruediv__(self, other: float) -> Dual:
        ratio = other / self.value
        return Dual(ratio, -ratio / self.value * self.rate)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)

    def sincos(self) -> tuple[Dual, Dual]:
        s, c = math.sin(self.value), math.cos(self.value)
        return Dual(s, c * self.rate), Dual(c, -s * self.rate)

    def sqrt(self) -> Dual:
        if self.value <= 0.0:
            return Dual(0.0 if self.value == 0.0 else math.nan, np.full_like(self.rate, math.nan))
        root = math.sqrt(self.value)
        return Dual(root, self.rate / (2.0 * root))

    def guard(self) -> float:
        return 0.0 if self.value >= 0.0 else math.nan

    def choose(self, other: Number, a: Number, b: Number) -> Number:
        return a if self.value > float(other) else b

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        raise TypeError("a kernel must not branch on data: the lanes of a pack may need different branches")


# ---------------------------------------------------------------------- directions, over any scalar


def tangents(robot: Robot, q: Sequence[Number]) -> list[dict[int, Number]]:
    """Return how q changes with each coordinate of the tangent: the derivatives of its numbers that are not zero.

    The tangent is that of `Robot.integrate`: a turn d about the child's axes changes a quaternion by q (d, 0) / 2, a
    shift d along them changes a free joint's position by R d.
    """
    found: list[dict[int, Number]] = [{} for _ in range(robot.nv)]
    for j, k in zip(*plain_coordinates(robot), strict=True):
        found[k][int(j)] = 1.0
    for i in np.flatnonzero(robot.kind >= JointKind.SPHERICAL):
        at, k = int(robot.iq[i]), int(robot.iv[i])
        if robot.kind[i] == JointKind.FREE:
            R = from_quaternion(*(q[at + j] for j in range(3, 7)))
            for c in range(3):
                found[k + c] = {at + r: R[3 * r + c] for r in range(3)}
            at, k = at + 3, k + 3
        x, y, z, w = (q[at + j] * 0.5 for j in range(4))
        for c, column in enumerate(((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))):
            found[k + c] = {at + r: column[r] for r in range(4)}
    return found


def lifted(
    robot: Robot, q: Sequence[Number], v: Sequence[Number], a: Sequence[Number]
) -> tuple[list[Number], list[Number], list[Number]]:
    """Return v and a of all coordinates, from those of the actuated ones, and the columns of W, one after the other."""
    rank = robot.loop_analysis.rank
    model = closure.pack(robot, np.empty(0), robot.loop_analysis.independent)
    parts = closure.layout(robot, rank)
    work, out = Cells([math.nan] * parts[-1]), Cells([math.nan] * (2 * robot.nv))
    projection.lift(ONE, Cells([float(x) for x in model]), q, v, a, out, work)
    begin = int(model[closure.BASIS])
    W = [work[k] for k in range(begin, begin + len(robot.actuated) * robot.nv)]
    both = [out[k] for k in range(2 * robot.nv)]
    return both[: robot.nv], both[robot.nv :], W


def zero_if_lifted(given: Sequence[Number], found: Sequence[Number], off: float) -> Number:
    """Return 0, or NaN unless velocities (or accelerations) are those of the loops, to ``off``, relative."""
    gap, size = 0.0, 1.0
    for x, y in zip(given, found, strict=True):
        gap = gap + (x - y) * (x - y)
        size = size + x * x
    return guard(1.0 - gap / (off * off) / size)


def directions(robot: Robot, q: Sequence[Number], W: Sequence[Number] | None) -> list[dict[int, Number]]:
    """Return how q changes with each coordinate that derivatives are by: all of a tree, with loops the actuated ones.

    ``W`` are the columns of `lifted`, None for a tree.
    """
    found = tangents(robot, q)
    if W is None:
        return found
    combined: list[dict[int, Number]] = []
    for j in range(len(robot.actuated)):
        one: dict[int, Number] = {}
        for k, tangent in enumerate(found):
            for i, x in tangent.items():
                one[i] = one.get(i, 0.0) + W[j * robot.nv + k] * x
        combined.append(one)
    return combined


# ---------------------------------------------------------------------- the check


def dual_derivatives(
    run: Any, q: FloatArray, v: FloatArray, last: FloatArray, wrench: FloatArray | None = None
) -> FloatArray:
    """Return the derivatives of inverse or forward dynamics at one state, shape (2, n, n).

    Parameters
    ----------
    run : KernelRun
        Of the quantity itself, ``solver.runs["inverse_dynamics"]``, with a kernel that does not choose pivots.
    q, v : ndarray, shape (nq,), (nv,)
    last : ndarray
        a or tau.
    wrench : ndarray, shape (n, 6), optional
        External wrenches, constant in body axes.
    """
    robot: Robot = run.robot
    force = run.arguments[-1] == "tau"
    count = len(robot.actuated)
    still = np.zeros(2 * count)

    def units(numbers: FloatArray, coordinates: Any) -> list[Number]:
        found: list[Number] = [float(x) for x in numbers]
        for k, i in enumerate(coordinates):
            rate = still.copy()
            rate[count + k] = 1.0
            found[i] = Dual(found[i], rate)
        return found

    numbers = [float(x) for x in q]
    speeds = units(v, robot.actuated)
    given: list[Number] = [float(x) for x in last]
    if robot.is_tree:
        ways = directions(robot, numbers, None)
    else:
        W = lifted(robot, Cells(numbers), Cells(map(float, v)), Cells([0.0] * robot.nv))[2]
        ways = directions(robot, numbers, W)
    rates = np.zeros((robot.nq, 2 * count))
    for k, way in enumerate(ways):
        for i, x in way.items():
            rates[i, k] = x
    moved = Cells(Dual(x, rate) for x, rate in zip(numbers, rates, strict=True))
    if not robot.is_tree:
        spread = [0.0] * robot.nv if force else given
        speeds, accelerations, _ = lifted(robot, moved, Cells(speeds), Cells(spread))
        still = still + zero_if_lifted(v.tolist(), [float(x) for x in speeds], NEAR_LOOPS if force else ON_LOOPS)
        if not force:
            still = still + zero_if_lifted(given, [float(x) for x in accelerations], ON_LOOPS)
            given = accelerations
    model = Cells(float(x) for x in run.model)
    push = None if wrench is None else Cells(map(float, np.ravel(wrench)))
    out = Cells([0.0] * (robot.nv if force else count))
    run.kernel(ONE, model, moved, Cells(speeds), Cells(given), push, out, Cells([math.nan] * run.size))
    results = [out[int(i)] for i in robot.actuated] if force else [out[k] for k in range(count)]
    rows = np.array([x.rate + still + 0.0 * x.value if isinstance(x, Dual) else still + 0.0 * x for x in results])
    return np.ascontiguousarray(rows.reshape(count, 2, count).swapaxes(0, 1))
