"""Swing a two-link arm up with as little torque as possible: scipy's least squares with analytic derivatives.

The motion is a row of configurations at equal times. Velocities and accelerations are differences of them, torques
follow by inverse dynamics, and the sum of their squares is to be small: a nonlinear least-squares problem whose
Jacobian consists of d tau/dq, d tau/dv and the mass matrix, all computed for the whole motion in one call each.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from dynbench import methods, robots

DURATION, STEPS = 2.0, 60  # seconds, intervals
HANGING, UPRIGHT = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 2, 0.0])

robot = robots.load("two-link")
solver = methods.get("newton-euler").prepare(robot, code="traced")
h = DURATION / STEPS


def motion(x):
    """Return q, v and a at the inner points. At both ends the arm is at rest, so the end points are there twice."""
    inner = x.reshape(-1, robot.nv)
    path = np.vstack([[HANGING] * 2, inner, [UPRIGHT] * 2])
    before, here, after = path[:-2], path[1:-1], path[2:]
    return here, (after - before) / (2 * h), (after - 2 * here + before) / h**2


def torques(x):
    return np.sqrt(h) * solver.inverse_dynamics(*motion(x)).ravel()


def jacobian(x):
    """Return the derivatives of all torques by all inner points, with the chain rule through the differences."""
    q, v, a = motion(x)
    dq, dv = solver.inverse_dynamics_derivatives(q, v, a)
    M = solver.mass_matrix(q)
    blocks = {-1: -dv / (2 * h) + M / h**2, 0: dq - 2 * M / h**2, 1: dv / (2 * h) + M / h**2}
    points = len(q)
    J = np.zeros((points, robot.nv, points, robot.nv))  # torques of a point by the configuration of another
    for shift, block in blocks.items():
        for k in range(max(0, -shift), min(points, points - shift)):
            J[k, :, k + shift] = block[k]
    return np.sqrt(h) * J[:, :, 1:-1].reshape(points * robot.nv, -1)  # the end points are given


def swing_up(derivatives=True):
    """Return scipy's result; without derivatives it takes differences."""
    straight = np.linspace(HANGING, UPRIGHT, STEPS + 1)[1:-1].ravel()
    return least_squares(torques, straight, jacobian if derivatives else "2-point", xtol=1e-12, max_nfev=300)


if __name__ == "__main__":
    found = swing_up()
    q, v, a = motion(found.x)
    print(f"{found.message} {found.nfev} evaluations of the torques, {found.njev} of their derivatives")
    print(f"integral of the squared torques {2 * found.cost:.2f} (N m)^2 s")
    print(f"largest torque {np.abs(solver.inverse_dynamics(q, v, a)).max():.2f} N m")
