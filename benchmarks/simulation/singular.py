"""Singular positions that a motion of closed loops went through: when, how near, and how many directions were lost.

At a singular position fewer loop equations are independent than the mechanism's nominal rank says; other motions branch
off there. A run keeps the branch on which the velocity is continuous (`dynbench.methods.kernels.following`); what it
passed is found afterwards, between the steps, as minima of the ratio of the last singular value to the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynbench.methods.loops import Follow
from dynbench.robots.robot import FloatArray

PASSED = 1e-3  # ratio of singular values below which a minimum is a singular position
REFINEMENTS = 22  # of an interval by the golden section: to 3e-5 of it
STAYED = 1e-9  # ratio that a position of lower rank has, to rounding
STEPS = 20  # accepted steps with such a ratio after which the rank has changed for good


class Singular(NamedTuple):
    """A singular position that was passed."""

    t: float  # s
    ratio: float  # of singular values of the loops, the last of their nominal rank over the first
    dropped: int  # directions that the loops do not hold there

    def __str__(self) -> str:
        return (
            f"passed a singular position at t = {self.t:.6g} s (ratio of singular values {self.ratio:.1e}, "
            f"{self.dropped} directions dropped), on the branch of continuous velocity"
        )


def passed(follow: Follow, t: FloatArray, q: FloatArray, v: FloatArray, ratio: FloatArray) -> tuple[Singular, ...]:
    """Return the singular positions between states (K, .) of ascending times, whose ratios are given."""
    found: list[Singular] = []
    low = np.minimum(np.append(ratio[1:], np.inf), np.append(np.inf, ratio[:-1])) >= ratio  # minima among the states
    for k in np.flatnonzero(low & (ratio < 0.5 * ratio.max(initial=0.0))):
        best = (float(ratio[k]), float(t[k]), q[k])
        for a, b in ((k - 1, k), (k, k + 1)):
            if a >= 0 and b < len(t) and t[b] > t[a]:
                best = min(best, _least(follow, t[[a, b]], q[[a, b]], v[[a, b]]), key=lambda each: each[0])
        if best[0] < PASSED and (not found or best[1] - found[-1].t > 1e-9):
            found.append(Singular(best[1], best[0], _dropped(follow, best[2])))
    return tuple(found)


def _least(follow: Follow, t: FloatArray, q: FloatArray, v: FloatArray) -> tuple[float, float, FloatArray]:
    """Return the least ratio on the way between two states, its time and configuration."""
    robot, h = follow.robot, float(t[1] - t[0])
    still = np.zeros(robot.nv)
    tau = np.zeros(len(robot.actuated))
    way = robot.difference(q[0], q[1])

    def at(x: float) -> tuple[float, float, FloatArray]:
        # the cubic through both states and their velocities
        step = (3.0 - 2.0 * x) * x * x * way + h * x * (x - 1.0) * ((x - 1.0) * v[0] + x * v[1])
        there = follow.accepted(robot.integrate(q[0], step), still, tau)
        return there.ratio, float(t[0] + x * h), there.q

    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    a, b = 0.0, 1.0
    c, d = b - golden * (b - a), a + golden * (b - a)
    low, high = at(c), at(d)
    for _ in range(REFINEMENTS):
        if low[0] < high[0]:
            b, d, high = d, c, low
            c = b - golden * (b - a)
            low = at(c)
        else:
            a, c, low = c, d, high
            d = a + golden * (b - a)
            high = at(d)
    return low if low[0] < high[0] else high


def _dropped(follow: Follow, q: FloatArray) -> int:
    s = np.linalg.svd(follow.robot.loop_jacobian(q), compute_uv=False)
    return int(np.sum(s[: follow.robot.loop_analysis.rank] < 10.0 * PASSED * s[0]))
