"""How fast the leg forces of a Gough-Stewart platform are computed: our formulations, and Pinocchio's constraint route.

Processor time of one thread, the least of several passes taken in turns, so that all see the same machine. To print it:

    python -m dynbench.benchmarks.papers.lagrange_stewart.speed
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dynbench import methods
from dynbench.robots.arrays import FloatArray
from dynbench.robots.families.random_stewart import random_gough_stewart, random_platform_states

PINOCCHIO = "pinocchio, constraint route"
METHODS = ("lagrange-stewart", "denoc", "newton-euler")


@dataclass(frozen=True)
class Speed:
    """Seconds per state of batch inverse dynamics."""

    name: str
    seconds: float
    reason: str = ""  # why there is no number


def inverse_dynamics_speed(
    names: Sequence[str] = METHODS, states: int = 4096, engine_states: int = 128, passes: int = 7
) -> list[Speed]:
    """Return the speed of methods that are installed and agree, and of Pinocchio's route, on one random robot."""
    robot = random_gough_stewart(seed=1)
    q, v, a = random_platform_states(robot, states, seed=1)
    expected = methods.get("lagrange-stewart").prepare(robot).inverse_dynamics(q, v, a)
    runs: dict[str, tuple[Callable[[], object], int]] = {}
    found: dict[str, Speed] = {}

    def agree(name: str, forces: FloatArray) -> bool:
        error = np.abs(forces - expected[: len(forces)]).max() / np.abs(expected).max()
        if error > 1e-9:
            found[name] = Speed(name, np.nan, f"disagrees by {error:.1e}: not timed")
        return bool(error <= 1e-9)

    for name in names:
        try:
            solver = methods.get(name).prepare(robot)
        except Exception as error:
            found[name] = Speed(name, np.nan, str(error))
            continue
        if agree(name, solver.inverse_dynamics(q, v, a)):
            runs[name] = partial(solver.inverse_dynamics, q, v, a), states
    try:
        from dynbench.methods.peers.pinocchio_loops import PinocchioLoops

        engine = PinocchioLoops(robot)
    except ImportError:
        found[PINOCCHIO] = Speed(PINOCCHIO, np.nan, "pinocchio is not installed")
    else:
        rows = list(zip(q[:engine_states], v[:engine_states], a[:engine_states], strict=True))
        if agree(PINOCCHIO, np.array([engine.inverse_dynamics(*row) for row in rows])):
            runs[PINOCCHIO] = (lambda: [engine.inverse_dynamics(*row) for row in rows]), engine_states
    least = dict.fromkeys(runs, np.inf)
    for _ in range(passes):
        for name, (run, count) in runs.items():
            start = time.process_time()
            run()
            least[name] = min(least[name], (time.process_time() - start) / count)
    found |= {name: Speed(name, seconds) for name, seconds in least.items()}
    return [found[name] for name in (*names, PINOCCHIO)]


def table(found: Sequence[Speed]) -> str:
    """Return one line each: time a state, and how many times that of the first."""
    lines = []
    for speed in found:
        times = f"{1e9 * speed.seconds:8.0f} ns a state, {speed.seconds / found[0].seconds:6.1f} times {found[0].name}"
        lines.append(f"{speed.name:28s} {speed.reason or times}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(inverse_dynamics_speed()))
