"""N four-bar mechanism (A02 of the IFToMM library): N + 1 equal cranks, N couplers, all uniform thin rods.

All rods are on one line every half turn: the mechanism is singular there, other motions branch off, and the motion must
stay the parallelogram's. On it one coordinate remains, the angle of all cranks, so the answer is exact:

    theta'' = -g cos(theta) ((N + 1)/2 + N) / ((N + 1)/3 + N) / l
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dynbench.benchmarks.problems.problem import RTOLS, Problem
from dynbench.robots import Body, Loop, Revolute, Robot
from dynbench.robots.robot import FloatArray

LENGTH, MASS, GRAVITY = 1.0, 1.0, 9.81
HORIZON = 10.0
LARGE = 20  # loops: from there on a run takes seconds, and fewer are made
IN_THE_PLANE = (True, True, False, False, False, False)
EYE = np.eye(3)


def robot(N: int) -> Robot:
    """Return the mechanism; its home is the start, all cranks vertical. Bodies: crank 0, coupler 0, crank 1, ..."""

    def rod(name: str, parent: str | None, x: float) -> Body:
        own = MASS * LENGTH**2 / 12.0
        return Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=(EYE, [x, 0.0, 0.0]), mass=MASS,
                    com=[0.5 * LENGTH, 0.0, 0.0], inertia=[0.0, own, own])  # fmt: skip

    bodies, loops = [], []
    tip = (EYE, [LENGTH, 0.0, 0.0])
    for k in range(N + 1):
        bodies.append(rod(f"crank{k}", None, k * LENGTH))
        if k < N:
            bodies.append(rod(f"coupler{k}", f"crank{k}", LENGTH))
        if k > 0:
            loops.append(
                Loop(body1=f"coupler{k - 1}", body2=f"crank{k}", placement1=tip, placement2=tip, closes=IN_THE_PLANE)
            )
    return Robot.from_bodies(
        f"n-four-bar-{N}", bodies, gravity=(0.0, -GRAVITY, 0.0), loops=loops, actuated=["crank0"],
        home=configuration(N, 0.5 * np.pi),
    )  # fmt: skip


def configuration(N: int, theta: float) -> FloatArray:
    """Return q with all cranks at theta and all couplers horizontal."""
    return np.array([theta, -theta] * N + [theta])


def n_four_bar(N: int = 2, speed: float = 1.0, start: float = 0.5 * np.pi) -> Problem:
    """Return the problem of N loops, whose first tip starts at ``speed`` (m/s, along x from the vertical)."""
    theta0 = start

    def outputs(q: FloatArray, v: FloatArray) -> FloatArray:
        c, s = LENGTH * np.cos(q[0]), LENGTH * np.sin(q[0])
        return np.array([c, s, -s * v[0], c * v[0]])

    def answer(t: float) -> FloatArray:
        theta, rate = one_coordinate(N, speed, start)(t)
        return outputs(np.array([theta]), np.array([rate]))

    return Problem(
        name=f"n-four-bar-{N}",
        title=f"N four-bar mechanism, N = {N}",
        robot=robot(N),
        q0=configuration(N, theta0),
        v0=configuration(N, -speed / LENGTH),
        horizon=HORIZON,
        output_names=("B0 x, m", "B0 y, m", "B0 velocity x, m/s", "B0 velocity y, m/s"),
        outputs=outputs,
        answer=answer,
        source="IFToMM A02; exact: one coordinate, integrated to 1e-13",
        solvers=("DOP853", "RK45") if N < LARGE else ("DOP853",),
        rtols=RTOLS if N < LARGE else (1e-6, 1e-10),
    )


def problems() -> list[Problem]:
    """Return the problem with 2 and with 40 loops."""
    return [n_four_bar(2), n_four_bar(40)]


@lru_cache(maxsize=64)
def one_coordinate(N: int, speed: float, start: float = 0.5 * np.pi, horizon: float = HORIZON) -> Any:
    """Return (theta, theta') as a function of t: the parallelogram's motion."""
    from scipy.integrate import solve_ivp

    k = GRAVITY / LENGTH * ((N + 1) / 2 + N) / ((N + 1) / 3 + N)
    return solve_ivp(
        lambda t, y: [y[1], -k * np.cos(y[0])], (0.0, horizon), [start, -speed / LENGTH], "DOP853", rtol=1e-13,
        atol=1e-14, dense_output=True,
    ).sol  # fmt: skip
