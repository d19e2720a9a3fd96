"""Identify the base parameters of an arm from noisy torques, and predict the torques of another motion.

A solver's regressor gives tau = Y theta, `robots.base_parameters` the combinations of theta that matter. Rows of Y at
many states, stacked, and the measured torques are a linear least-squares problem with one solution.
"""

from typing import NamedTuple

import numpy as np

from dynbench import methods, robots

RATE, SECONDS = 100.0, 20.0  # samples a second, length of the motion
HARMONICS, SLOWEST = 5, 0.1  # of the motion, Hz
NOISE = 0.1  # N m, standard deviation of the measured torques


class Identified(NamedTuple):
    """Base parameters, found and true, and the torques of a motion that was not used to find them."""

    names: tuple[str, ...]
    found: np.ndarray  # (r,)
    deviation: np.ndarray  # (r,) standard deviation of each, from the noise that is left
    true: np.ndarray  # (r,)
    torque: np.ndarray  # (N, nv) of the other motion, without noise
    predicted: np.ndarray  # (N, nv)


def motion(robot, seed):
    """Return q, v, a of a random sum of sines in every joint, one state a row."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, SECONDS, 1.0 / RATE)[:, None, None]
    w = 2.0 * np.pi * SLOWEST * np.arange(1, HARMONICS + 1)
    size, phase = rng.uniform(0.2, 0.8, (robot.nv, HARMONICS)), rng.uniform(0.0, 2.0 * np.pi, (robot.nv, HARMONICS))
    middle = rng.uniform(-1.0, 1.0, robot.nv)
    q = middle + (size / w * np.sin(w * t + phase)).sum(axis=2)
    v = (size * np.cos(w * t + phase)).sum(axis=2)
    a = (-size * w * np.sin(w * t + phase)).sum(axis=2)
    return q, v, a


def identify(name="panda", seed=0):
    """Simulate a measurement, solve for the base parameters, predict another motion."""
    robot = robots.load(name)
    solver = methods.get("newton-euler").prepare(robot, code="auto")
    base = robots.base_parameters(robot)

    q, v, a = motion(robot, seed)
    measured = solver.inverse_dynamics(q, v, a)
    measured += NOISE * np.random.default_rng(seed).standard_normal(measured.shape)

    Y = base.regressor(solver.regressor(q, v, a)).reshape(-1, base.rank)
    found, left, rank, _ = np.linalg.lstsq(Y, measured.ravel())
    assert rank == base.rank, "the motion does not excite all base parameters"
    variance = left[0] / (len(Y) - rank)
    deviation = np.sqrt(variance * np.diag(np.linalg.inv(Y.T @ Y)))

    q, v, a = motion(robot, seed + 1)
    predicted = base.regressor(solver.regressor(q, v, a)) @ found
    return Identified(base.names, found, deviation, base.values, solver.inverse_dynamics(q, v, a), predicted)


def main():
    result = identify()
    for name, found, deviation, true in zip(*result[:4], strict=True):
        print(f"{found:10.5f} +- {deviation:.5f}   true {true:10.5f}   {name}")
    error = np.sqrt(np.mean((result.predicted - result.torque) ** 2))
    print(f"other motion: torques predicted to {error:.4f} N m (rms); noise of the measurement {NOISE} N m")


if __name__ == "__main__":
    main()
