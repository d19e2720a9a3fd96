"""Spatial slider-crank (IFToMM library, rigid): a crank about x, a rod, a slider along x; one degree of freedom.

The rod has a ball joint at the crank's pin B and a universal joint at the slider C, whose axes are x (of the slider)
and the rod's own y. The crank's centre of mass is on its axis. With theta the crank's angle (pin upwards at 0),

    B = (0, y_A - l sin(theta), z_A + l cos(theta)),    x_C = sqrt(L^2 - y_B^2 - z_B^2).

All of the motion follows from theta: with m(theta) twice the kinetic energy per theta'^2 and V(theta) the weight of the
rod, m theta'' + m' theta'^2 / 2 + V' = 0. m and V are written down here as formulas, without the robot, and their
derivatives are those of their Fourier series, exact to rounding.

Data: E. J. Haug, "Computer Aided Kinematics and Dynamics of Mechanical Systems" (1989), section 12.2, as in the library
(initial speed 6 rad/s, 5 s).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots import Body, Loop, Prismatic, Revolute, Robot
from dynbench.robots.robot import FloatArray

CRANK, ROD = 0.08, 0.3  # lengths, m
Y_A, Z_A = 0.1, 0.12  # of the crank's axis
CRANK_MASS, ROD_MASS, SLIDER_MASS = 0.12, 0.5, 2.0
CRANK_INERTIA = 1e-4  # about its axis
ROD_INERTIA = (4e-4, 4e-3, 4e-3)
GRAVITY = 9.81
SPEED, HORIZON = 6.0, 5.0  # rad/s, s
EYE = np.eye(3)
HARMONICS = 128  # points of the Fourier series; it has converged to rounding with 96


def robot() -> Robot:
    """Return the mechanism; coordinates: crank, slider, and the universal joint's two angles."""
    bodies = [
        Body(name="crank", joint=Revolute([1, 0, 0]), placement=(EYE, [0.0, Y_A, Z_A]), mass=CRANK_MASS,
             inertia=[CRANK_INERTIA, 0.5 * CRANK_INERTIA, CRANK_INERTIA]),
        Body(name="slider", joint=Prismatic([1, 0, 0]), mass=SLIDER_MASS, inertia=[1e-4, 1e-4, 1e-4]),
        Body(name="cross", parent="slider", joint=Revolute([1, 0, 0])),
        Body(name="rod", parent="cross", joint=Revolute([0, 1, 0]), mass=ROD_MASS, com=[-0.5 * ROD, 0.0, 0.0],
             inertia=ROD_INERTIA),
    ]  # fmt: skip
    pin = Loop(body1="crank", body2="rod", placement1=(EYE, [0.0, 0.0, CRANK]), placement2=(EYE, [-ROD, 0.0, 0.0]))
    return Robot.from_bodies(
        "spatial-slider-crank", bodies, gravity=(0.0, 0.0, -GRAVITY), loops=[pin], actuated=["crank"],
        home=configuration(0.0),
    )  # fmt: skip


def pin_and_slide(theta: FloatArray | float) -> tuple[FloatArray, ...]:
    """Return y_B, z_B, x_C and their derivatives by theta."""
    theta = np.asarray(theta, dtype=float)
    y, z = Y_A - CRANK * np.sin(theta), Z_A + CRANK * np.cos(theta)
    dy, dz = -CRANK * np.cos(theta), -CRANK * np.sin(theta)
    x = np.sqrt(ROD**2 - y**2 - z**2)
    return y, z, x, dy, dz, -(y * dy + z * dz) / x


def configuration(theta: float) -> FloatArray:
    """Return q at a crank angle.

    The rod's x axis, from B to C, is (cos b, sin a sin b, -cos a sin b) with a and b the universal joint's angles.
    """
    y, z, x, *_ = pin_and_slide(theta)
    return np.array([theta, x, np.arctan2(-y, z), np.arctan2(np.hypot(y, z), x)])


def velocity(theta: float, speed: float) -> FloatArray:
    """Return v at a crank angle and speed."""
    y, z, x, dy, dz, dx = pin_and_slide(theta)
    r = np.hypot(y, z)
    dr = (y * dy + z * dz) / r
    a = (y * dz - z * dy) / r**2  # of arctan2(-y, z)
    b = (x * dr - r * dx) / ROD**2
    return np.array([1.0, dx, a, b]) * speed


def inertia_and_weight(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return m and V at crank angles."""
    y, z, x, dy, dz, dx = pin_and_slide(theta)
    r = np.hypot(y, z)
    dr = (y * dy + z * dz) / r
    turn, tilt = (y * dz - z * dy) / r**2, (x * dr - r * dx) / ROD**2  # rates of the universal joint's angles
    along, across = turn * x / ROD, turn * r / ROD  # angular velocity about the rod's x and z: cos b = x/L, sin b = r/L
    spin = ROD_INERTIA[0] * along**2 + ROD_INERTIA[1] * tilt**2 + ROD_INERTIA[2] * across**2
    centre = 0.25 * (dx**2 + dy**2 + dz**2)
    return CRANK_INERTIA + SLIDER_MASS * dx**2 + ROD_MASS * centre + spin, ROD_MASS * GRAVITY * 0.5 * z


def spatial_slider_crank() -> Problem:
    """Return the problem."""

    def outputs(q: FloatArray, v: FloatArray) -> FloatArray:
        return np.array([q[0], q[1], v[0], v[1]])

    def answer(t: float) -> FloatArray:
        theta, speed = one_coordinate()(t)
        _, _, x, _, _, dx = pin_and_slide(theta)
        return np.array([theta, x, speed, dx * speed])

    return Problem(
        name="spatial-slider-crank",
        title="Spatial slider-crank",
        robot=robot(),
        q0=configuration(0.0),
        v0=velocity(0.0, SPEED),
        horizon=HORIZON,
        output_names=("crank angle, rad", "slider, m", "crank speed, rad/s", "slider speed, m/s"),
        outputs=outputs,
        answer=answer,
        source="IFToMM, spatial rigid slider-crank; Haug (1989), 12.2; one coordinate, integrated to 1e-13",
        scale=np.array([1.0, 0.1, 10.0, 1.0]),
    )


def problems() -> list[Problem]:
    """Return the problem."""
    return [spatial_slider_crank()]


@lru_cache(maxsize=1)
def one_coordinate(horizon: float = HORIZON) -> Any:
    """Return (theta, theta') as a function of t."""
    from scipy.integrate import solve_ivp

    theta = 2.0 * np.pi * np.arange(HARMONICS) / HARMONICS
    series = np.fft.rfft(inertia_and_weight(theta)) / HARMONICS
    series[:, 1:] *= 2.0
    series = series[:, : HARMONICS // 2]
    order = 1j * np.arange(HARMONICS // 2)

    def rates(t: float, state: FloatArray) -> list[float]:
        wave = np.exp(order * state[0])
        mass = (series[0] @ wave).real
        slope_of_mass, slope_of_weight = (series @ (order * wave)).real
        return [state[1], -(0.5 * slope_of_mass * state[1] ** 2 + slope_of_weight) / mass]

    return solve_ivp(
        rates, (0.0, horizon), [0.0, SPEED], "DOP853", rtol=1e-13, atol=1e-14, dense_output=True
    ).sol
