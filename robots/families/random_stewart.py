"""Random Gough-Stewart platforms without any symmetry that could hide errors."""

from __future__ import annotations

import numpy as np

from dynbench.robots import quaternion
from dynbench.robots.arrays import FloatArray
from dynbench.robots.errors import RobotError
from dynbench.robots.families.gough_stewart import LEGS, gough_stewart
from dynbench.robots.families.stewart_legs import platform_state
from dynbench.robots.families.trees import random_direction, random_inertia
from dynbench.robots.robot import Robot

LAYOUTS = ("6-6", "6-3")


def random_gough_stewart(seed: int = 0, layout: str = "6-6") -> Robot:
    """Return a random Gough-Stewart platform, regular around its home.

    Parameters
    ----------
    seed : int
    layout : "6-6" or "6-3"
        Six platform points, or three with two legs each.
    """
    if layout not in LAYOUTS:
        raise RobotError(f"random_gough_stewart: layout is {layout!r}, expected one of {', '.join(LAYOUTS)}")
    rng = np.random.default_rng(seed)
    below = _ring(rng, np.array([-20, 20, 100, 140, 220, 260]), 0.5, rng.uniform(0.3, 1.0, LEGS))
    above = _ring(rng, np.array([-45, 45, 75, 165, 195, -75]), 0.3, rng.uniform(0.3, 1.0, LEGS))
    if layout == "6-3":
        # legs 2 and 3, 4 and 5, 6 and 1 share a vertex
        above[[2, 4, 0]] = above[[1, 3, 5]]
    turn = quaternion.matrix(quaternion.exponential(0.2 * rng.standard_normal(3)))
    home = (turn, np.array([0.0, 0.0, rng.uniform(0.6, 0.9)]) + 0.05 * rng.standard_normal(3))
    legs = home[1] + above @ turn.T - below
    m1, m2 = rng.uniform(0.3, 2.0, LEGS), rng.uniform(0.2, 1.5, LEGS)
    mass = rng.uniform(1.0, 5.0)
    return gough_stewart(
        base_points=below,
        platform_points=above,
        platform_mass=mass,
        platform_inertia=random_inertia(rng, mass, 0.4),
        lower_mass=m1,
        upper_mass=m2,
        lower_com=rng.uniform(0.1, 0.4, LEGS),
        upper_com=rng.uniform(0.1, 0.4, LEGS),
        lower_inertia=np.stack([random_inertia(rng, m, 0.3) for m in m1]),
        upper_inertia=np.stack([random_inertia(rng, m, 0.3) for m in m2]),
        universal_axis=np.stack([_across(rng, leg) for leg in legs]),
        gravity=(0.4, -0.7, -9.6),
        home=home,
        name=f"random-gough-stewart-{layout}-seed{seed}",
    )


def random_platform_states(robot: Robot, N: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return N states (q, v, a) with turned poses around home (5 cm, 17 degrees) and fast twists (1 m/s, 3 rad/s)."""
    rng = np.random.default_rng(seed)
    j = int(robot.iq[robot.platform])
    turns = quaternion.matrix(quaternion.exponential(0.3 * rng.uniform(-1.0, 1.0, (N, 3))))
    R = turns @ quaternion.matrix(robot.home[j + 3 : j + 7])
    p = robot.home[j : j + 3] + rng.uniform(-0.05, 0.05, (N, 3))
    scale = np.repeat([1.0, 3.0], 3)
    return platform_state(
        robot, (R, p), scale * rng.standard_normal((N, 6)), 10.0 * scale * rng.standard_normal((N, 6))
    )


def _ring(rng: np.random.Generator, degrees: FloatArray, radius: float, jitter: FloatArray) -> FloatArray:
    angle = np.deg2rad(degrees + 8.0 * rng.uniform(-1.0, 1.0, LEGS))
    r = radius * (0.85 + 0.15 * jitter)
    return np.stack([r * np.cos(angle), r * np.sin(angle), 0.05 * rng.standard_normal(LEGS)], axis=1)


def _across(rng: np.random.Generator, leg: FloatArray) -> FloatArray:
    """Return a random direction at 30 degrees or more from the leg."""
    while True:
        axis = random_direction(rng)
        if np.linalg.norm(np.cross(axis, leg)) > 0.5 * np.linalg.norm(leg):
            return axis
