"""Bricard's mechanism (A04 of the IFToMM library): six hinges in a loop, one degree of freedom, overconstrained.

Five rods of 1 m, 1 kg and square section between the hinges at P0 ... P5; the first and the last hinge are on the
ground. By count of equations it could not move: five closing rows on five joints, four of them independent. The five
angles are (a, b, a, b, a) with (1 + sin a)(1 + sin b) = 1, so that one coordinate remains, with
the equation of motion

    m(a) a'' + m'(a) a'^2 / 2 + V'(a) = 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots import Body, Loop, Revolute, Robot
from dynbench.robots.kinematics import poses
from dynbench.robots.robot import FloatArray

LENGTH, WIDTH, MASS, GRAVITY = 1.0, 0.1, 1.0, 9.81
HORIZON = 10.0
POINTS = LENGTH * np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]  # of the six hinges: y, z, x, y, z, x


def robot() -> Robot:
    """Return the mechanism; all body axes are the world's at zero, body k begins at hinge k."""
    bodies = []
    for k in range(5):
        along = (POINTS[k + 1] - POINTS[k]) / LENGTH
        thick, slender = MASS * 2.0 * WIDTH**2 / 12.0, MASS * (LENGTH**2 + WIDTH**2) / 12.0
        inertia = slender * np.eye(3) + (thick - slender) * np.outer(along, along)
        at = POINTS[k] - POINTS[k - 1] if k else POINTS[0]
        parent = f"rod{k - 1}" if k else None
        bodies.append(
            Body(name=f"rod{k}", parent=parent, joint=Revolute(AXES[k]), placement=(np.eye(3), at), mass=MASS,
                 com=0.5 * LENGTH * along, inertia=inertia)
        )  # fmt: skip
    # a hinge about x
    loop = Loop(
        body1=None, body2="rod4", placement1=(np.eye(3), POINTS[5]), placement2=(np.eye(3), POINTS[5] - POINTS[4]),
        closes=(True, True, True, False, True, True),
    )  # fmt: skip
    return Robot.from_bodies(
        "bricard", bodies, gravity=(0.0, -GRAVITY, 0.0), loops=[loop], actuated=["rod0"], home=np.zeros(5)
    )


def shape(a: FloatArray | float) -> FloatArray:
    """Return the five joint angles, shape (..., 5), of the closed mechanism at a."""
    a = np.asarray(a, dtype=float)
    b = np.arcsin(np.clip(1.0 / (1.0 + np.sin(a)) - 1.0, -1.0, 1.0))
    return np.stack([a, b, a, b, a], axis=-1)


def bricard() -> Problem:
    """Return the problem."""
    made = robot()

    def outputs(q: FloatArray, v: FloatArray) -> FloatArray:
        R, p = poses(made, q)
        return np.array([q[0], *(p[2] + R[2] @ (POINTS[3] - POINTS[2]))])

    return Problem(
        name="bricard",
        title="Bricard's mechanism",
        robot=made,
        q0=np.zeros(5),
        v0=np.zeros(5),
        horizon=HORIZON,
        output_names=("a, rad", "P3 x, m", "P3 y, m", "P3 z, m"),
        outputs=outputs,
        answer=lambda t: outputs(shape(one_coordinate()(t)[0]), np.zeros(5)),
        source="IFToMM A04; exact shape, the one coordinate integrated to 1e-12",
    )


def problems() -> list[Problem]:
    """Return the problem."""
    return [bricard()]


@lru_cache(maxsize=1)
def one_coordinate(horizon: float = HORIZON) -> Any:
    """Return (a, a') as a function of t.

    m(a), twice the kinetic energy per a'^2, and V(a) are interpolated by Chebyshev polynomials, to rounding, so that
    their derivatives are exact.
    """
    from numpy.polynomial import Chebyshev
    from scipy.integrate import solve_ivp

    made = robot()

    def velocity(a: FloatArray) -> FloatArray:
        """dq/da: cos a (1 + sin b) + (1 + sin a) cos b b' = 0."""
        q = shape(a)
        b = q[..., 1]
        slope = -np.cos(a) * (1.0 + np.sin(b)) / ((1.0 + np.sin(a)) * np.cos(b))
        one = np.ones_like(slope)
        return np.stack([one, slope, one, slope, one], axis=-1)

    still = np.zeros(5)
    domain = [-0.2, np.pi + 0.2]
    potential = Chebyshev.interpolate(
        lambda a: np.array([made.energy(q, still) for q in shape(a)]), 80, domain=domain
    )
    both = Chebyshev.interpolate(
        lambda a: np.array([made.energy(q, v) for q, v in zip(shape(a), velocity(a), strict=True)]), 80, domain=domain
    )
    mass = 2.0 * (both - potential)
    slope_of_mass, slope_of_potential = mass.deriv(), potential.deriv()
    return solve_ivp(
        lambda t, y: [y[1], -(0.5 * slope_of_mass(y[0]) * y[1] ** 2 + slope_of_potential(y[0])) / mass(y[0])],
        (0.0, horizon), [0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-13, dense_output=True,
    ).sol  # fmt: skip
