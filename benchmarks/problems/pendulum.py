"""Simple pendulum (A01 of the IFToMM library): a point mass on a massless rod, released from rest, horizontal.

Exact by elliptic functions: with theta from the downward vertical and k = sin(theta_0 / 2),
sin(theta / 2) = k cd(w t, k^2), w = sqrt(g / l).
"""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots import Body, Fixed, Revolute, Robot
from dynbench.robots.robot import FloatArray

LENGTH, MASS, GRAVITY = 1.0, 1.0, 9.81
START = 0.5 * np.pi  # from the downward vertical


def pendulum() -> Problem:
    """Return the problem."""
    rod = Body(name="rod", joint=Revolute([0, 0, 1]))
    mass = Body(name="mass", parent="rod", joint=Fixed(), placement=(np.eye(3), [0.0, -LENGTH, 0.0]), mass=MASS)
    robot = Robot.from_bodies("simple-pendulum", [rod, mass], gravity=(0.0, -GRAVITY, 0.0))

    def outputs(q: FloatArray, v: FloatArray) -> FloatArray:
        return LENGTH * np.array([np.sin(q[0]), -np.cos(q[0])])

    return Problem(
        name="pendulum",
        title="Simple pendulum",
        robot=robot,
        q0=np.array([START]),
        v0=np.zeros(1),
        horizon=10.0,
        output_names=("x, m", "y, m"),
        outputs=outputs,
        answer=lambda t: outputs(np.array([angle(t)]), np.zeros(1)),
        source="IFToMM A01; exact by Jacobi's elliptic functions",
    )


def problems() -> list[Problem]:
    """Return the problem."""
    return [pendulum()]


def angle(t: float) -> float:
    """Return theta(t), exact."""
    from scipy.special import ellipj

    k = np.sin(0.5 * START)
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY / LENGTH) * t, k * k)
    return float(2.0 * np.arcsin(k * cn / dn))
