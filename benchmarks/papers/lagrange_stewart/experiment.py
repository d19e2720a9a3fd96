"""The Gough-Stewart paper's experiment: leg forces along a path with massless, lumped and full legs.

S. N. Mostashiri, A. Akbarzadeh Tootoonchi: effect of leg mass in the inverse dynamics of a 6-DoF Gough-Stewart
platform. The platform swings sideways without turning, y = 0.1 sin 2t; the measure is the integral of the squared force
error against full legs (38), one number a leg and model, Table 1. The paper's full legs are an ADAMS run; ours are
exact.

The printed table is not tuned to. Its horizon is not stated; 4 s is inferred, and `admissible_horizons` shows from
what: the difference of the two simple models needs no ADAMS, and bounds what the table can hold (Minkowski).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dynbench import methods
from dynbench.methods.lagrange_stewart.coordinates import platform_motion
from dynbench.robots.families.gough_stewart import gough_stewart
from dynbench.robots.families.stewart_legs import platform_state
from dynbench.robots.robot import FloatArray, Robot

PAPER = "lagrange-stewart"
MODELS = {
    "massless": "lagrange-stewart-massless",
    "lumped": "lagrange-stewart-lumped",
    "full": "lagrange-stewart",
}
HORIZON = 4.0  # seconds; inferred, the paper prints infinity
TABLE_1 = {
    "massless": np.array([3.4522, 27.2727, 19.2597, 12.9879, 30.6333, 2.7810]),
    "lumped": np.array([0.0487, 0.0433, 0.1735, 0.1805, 0.0461, 0.0518]),
}
OTHER_LEGS = (0, 2, 3, 4, 5)  # all but leg 2, whose massless number contradicts them
LEG_2 = 37.2727  # what leg 2's 27.2727 must have been, if one digit is wrong

Motion = tuple[FloatArray, FloatArray, FloatArray]  # x, x', x'' in the paper's coordinates, (N, 6)
Path = Callable[[FloatArray], Motion]


def paper_path(t: FloatArray) -> Motion:
    """Return the paper's motion: x = [-0.1, 0.1 sin 2t, 0.7, 0, 0, 0]; the platform never turns."""
    x, xd, xdd = (np.zeros((len(t), 6)) for _ in range(3))
    x[:, 0], x[:, 2] = -0.1, 0.7
    x[:, 1], xd[:, 1], xdd[:, 1] = 0.1 * np.sin(2 * t), 0.2 * np.cos(2 * t), -0.4 * np.sin(2 * t)
    return x, xd, xdd


def rotating_path(t: FloatArray) -> Motion:
    """Return a motion in all six coordinates, on which misprinted rotations show."""
    middle = np.array([-0.1, 0.0, 0.7, 0.0, 0.0, 0.0])
    amplitude = np.array([0.05, 0.1, 0.04, 0.2, 0.15, 0.3])
    rate = np.array([1.0, 2.0, 3.0, 2.0, 2.0, 1.0])
    phase = np.array([0.0, 0.0, 0.5, 0.0, 0.5, 0.0]) * np.pi
    angle = np.outer(t, rate) + phase
    wave = amplitude * np.sin(angle)
    return middle + wave, amplitude * rate * np.cos(angle), -(rate**2) * wave


def forces(method: str, path: Path, t: FloatArray, robot: Robot | None = None) -> FloatArray:
    """Return the six leg forces (N, 6) along a path, in one batch call of any method that takes the robot."""
    robot = gough_stewart() if robot is None else robot
    pose, twist, acceleration = platform_motion(*path(t))
    return methods.get(method).prepare(robot).inverse_dynamics(*platform_state(robot, pose, twist, acceleration))


def squared_error(
    model: str, path: Path = paper_path, horizon: float = HORIZON, intervals: int = 2000, robot: Robot | None = None
) -> FloatArray:
    """Return ISE (38) of a leg model against full legs, per leg (6,), N^2 s; Simpson's rule.

    Erratum: (38) integrates to infinity, where the error of a periodic motion diverges.
    """
    from scipy.integrate import simpson

    t = np.linspace(0.0, horizon, intervals + 1)
    error = forces(MODELS["full"], path, t, robot) - forces(MODELS[model], path, t, robot)
    return np.asarray(simpson(error**2, x=t, axis=0))


def bounds(horizons: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest massless ISE (len(horizons), 6) that the printed lumped row allows.

    D = F_lumped - F_massless needs no full legs, and e_massless = e_lumped + D: whatever the full model is,
    |sqrt(ISE_massless) - sqrt(int D^2)| <= sqrt(ISE_lumped).
    """
    from scipy.integrate import cumulative_simpson

    t = np.linspace(0.0, float(horizons.max()), 6001)
    D = forces(MODELS["lumped"], paper_path, t) - forces(MODELS["massless"], paper_path, t)
    total = cumulative_simpson(D**2, x=t, axis=0, initial=0.0)
    middle = np.sqrt(np.stack([np.interp(horizons, t, column) for column in total.T], axis=1))
    slack = np.sqrt(TABLE_1["lumped"])
    return np.maximum(middle - slack, 0.0) ** 2, (middle + slack) ** 2


def admissible_horizons(legs: Sequence[int], row: FloatArray = TABLE_1["massless"]) -> tuple[float, float] | None:
    """Return the shortest and longest horizon at which ``row`` is within bounds for all of ``legs`` (0 to 5)."""
    horizons = np.linspace(0.5, 12.0, 11501)
    low, high = bounds(horizons)
    chosen = list(legs)
    good = ((low <= row) & (row <= high))[:, chosen].all(axis=1)
    return (float(horizons[good][0]), float(horizons[good][-1])) if good.any() else None
