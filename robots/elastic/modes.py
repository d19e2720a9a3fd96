"""Mode shapes of an elastic arm: those of a clamped-free beam with the length outside the sleeve.

With xi = s/l in [0, 1] from the sleeve's mouth to the tip, mode k of a direction is

    bending (y, z)         cosh(b xi) - cos(b xi) - sg (sinh(b xi) - sin(b xi)),   cos b cosh b = -1
    rod (axial x, torsion) sqrt(2) sin(b xi),                                      b = (2k - 1) pi/2

All have unit norm, int_0^1 shape^2 = 1, so an amplitude is in metres (radians for torsion) and the tip of a bending
mode moves by twice its amplitude. Arguments may be complex, for derivatives by complex step.
"""

from functools import cache
from math import cos, cosh, exp, pi, sin, sinh, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynbench.robots.arrays import FloatArray

X, Y, Z, TORSION = range(4)  # codes of the directions, as in `Elastic.direction`
DIRECTIONS = {"x": X, "y": Y, "z": Z, "t": TORSION}
MAX_ORDER = 50  # beyond it, Euler-Bernoulli theory is not valid; sinh overflows from order 226 on


def is_bending(direction: int) -> bool:
    """Whether a direction is bending (stiffness proportional to 1/l^3) rather than axial or torsion (1/l)."""
    return direction in (Y, Z)


@cache
def wave_number(direction: int, order: int) -> float:
    """Return b, the wave number of a mode on a beam of unit length."""
    b = (order - 0.5) * pi
    if is_bending(direction):
        for _ in range(50):  # Newton; four steps for the first mode, fewer for the others
            step = (cos(b) + 1.0 / cosh(b)) / (-sin(b) - sinh(b) / cosh(b) ** 2)
            b -= step
            if abs(step) < 1e-16 * b:
                break
    return b


def shape(direction: int, order: int, xi: NDArray[Any], derivative: int = 0) -> NDArray[Any]:
    """Return a mode's shape, or its first or second derivative, at ``xi`` (any shape, real or complex)."""
    b = wave_number(direction, order)
    x = b * xi
    if not is_bending(direction):
        wave = np.cos(x) if derivative == 1 else (-1.0) ** (derivative // 2) * np.sin(x)
        return np.asarray(sqrt(2.0) * b**derivative * wave)
    # cosh - sg sinh in terms of 1 - sg, which decays as fast as cosh and sinh grow, to avoid cancellation
    less = (sin(b) - cos(b) - exp(-b)) / (sinh(b) + sin(b))
    sg = 1.0 - less
    sign = (-1.0) ** derivative
    growing, falling = 0.5 * less * np.exp(x), 0.5 * sign * (1.0 + sg) * np.exp(-x)
    circular = (-np.cos(x) + sg * np.sin(x), np.sin(x) + sg * np.cos(x), np.cos(x) - sg * np.sin(x))[derivative]
    return np.asarray(b**derivative * (growing + falling + circular))


@cache
def nodes(highest: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes and weights on [0, 1], exact to rounding for products of shapes up to an order."""
    x, w = np.polynomial.legendre.leggauss(28 + 4 * highest)
    return 0.5 * (x + 1.0), 0.5 * w
