"""Andrews' squeezing mechanism (A03 of the IFToMM library): seven bodies in the plane, three loops, a spring, 0.03 s.

Data and reference solution: Hairer, Wanner, "Solving Ordinary Differential Equations II", section VII.7, and the test
set for initial value problem solvers (Mazzia, Magherini), whose reference has 16 digits at 0.03 s. A port in
circulation prints B_x = +0.03635 and a mass of 0.02372 for the triangle; both are misprints.

The crank turns about the origin, the rod on it; the triangle about B; the bars AG, with GE on it, and AH, with HE on
it, about A. The rod's end E is joined to the triangle, to GE and to HE. Coordinates of the tree:
beta (crank), Theta (rod), gamma (triangle), delta (AG), Phi (GE), epsilon (AH), Omega (HE).
"""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots import Body, Loop, Revolute, Robot, Spring
from dynbench.robots.robot import FloatArray

D, DA, E, EA, RR, RA = 28e-3, 115e-4, 2e-2, 1421e-5, 7e-3, 92e-5
SS, SA, SB, SC, SD = 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2
TA, TB, U, UA, UB, ZF, ZT, FA = 2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
STIFFNESS, REST_LENGTH, MOMENT = 4530.0, 0.07785, 0.033
EYE = np.eye(3)

# name, parent, place on the parent, mass, centre of mass, moment of inertia about it
BODIES: tuple[tuple[str, str | None, tuple[float, float], float, tuple[float, float], float], ...] = (
    ("crank", None, (0.0, 0.0), 0.04325, (RA, 0.0), 2.194e-6),
    ("rod", "crank", (RR, 0.0), 0.00365, (-DA, 0.0), 4.410e-7),
    ("triangle", None, B, 0.02373, (SB, -SA), 5.255e-6),
    ("ag", None, A, 0.07050, (TA, TB), 1.169e-5),
    ("ge", "ag", (ZT, 0.0), 0.00706, (0.0, -(E - EA)), 5.667e-7),
    ("ah", None, A, 0.05498, (-UB, -UA), 1.912e-5),
    ("he", "ah", (0.0, -U), 0.00706, (ZF - FA, 0.0), 5.667e-7),
)
JOINED = (("triangle", (0.0, -SS)), ("ge", (0.0, -E)), ("he", (ZF, 0.0)))  # to the rod's end
NAMES = ("beta", "Theta", "gamma", "delta", "Phi", "epsilon", "Omega")
START = np.array(
    [-0.0617138900142764496, 0.0, 0.455279819163070380, 0.487364979543842550, 0.222668390165885884,
     1.23054744454982119, -0.222668390165885884]
)  # fmt: skip
REFERENCE = np.array(
    [15.81077119629904, -15.75637105984298, 0.04082224013073101, 0.5244099658805304, -0.5347301163226948,
     1.048080741042263, 0.5347301163226948]
)  # fmt: skip
HORIZON = 0.03


def robot() -> Robot:
    """Return the mechanism; its home is the start."""

    def at(point: tuple[float, float]) -> list[float]:
        return [*point, 0.0]

    bodies = [
        Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=(EYE, at(place)), mass=mass, com=at(com),
             inertia=[0.5 * moment, 0.5 * moment, moment])
        for name, parent, place, mass, com, moment in BODIES
    ]  # fmt: skip
    loops = [
        Loop(body1="rod", body2=body, placement1=(EYE, at((-D, 0.0))), placement2=(EYE, at(point)),
             closes=(True, True, False, False, False, False))
        for body, point in JOINED
    ]  # fmt: skip
    spring = Spring(
        body1="triangle", body2=None, point1=[SD, -SC, 0.0], point2=at(C), stiffness=STIFFNESS, rest_length=REST_LENGTH
    )
    return Robot.from_bodies(
        "andrews", bodies, gravity=(0.0, 0.0, 0.0), loops=loops, actuated=["crank"], home=START, springs=[spring]
    )


def andrews() -> Problem:
    """Return the problem; its answer is known at the horizon alone."""

    def answer(t: float) -> FloatArray:
        if abs(t - HORIZON) > 1e-12:
            raise ValueError(f"the reference of Andrews' mechanism is printed for t = {HORIZON} s, not for {t:g} s")
        return REFERENCE

    return Problem(
        name="andrews",
        title="Andrews' squeezing mechanism",
        robot=robot(),
        q0=START,
        v0=np.zeros(7),
        horizon=HORIZON,
        output_names=tuple(f"{name}, rad" for name in NAMES),
        outputs=lambda q, v: q,
        answer=answer,
        source="IFToMM A03; Hairer and Wanner (1996), VII.7; test set for initial value problem solvers",
        tau=np.array([MOMENT]),
        scale=np.abs(REFERENCE),
        compared=np.array([HORIZON]),
    )


def problems() -> list[Problem]:
    """Return the problem."""
    return [andrews()]
