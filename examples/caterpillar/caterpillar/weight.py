"""A caterpillar at rest weighs what its segments weigh: the smallest scenario there is.

A scenario runs through any method that supports its robot, and compares our numbers with those in print.
"""

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.claims import Claim

PAPER = "caterpillar-weight"


def weight(method: str = "dalembert", n: int = 5) -> float:
    """The force, in newtons, that holds the first segment of a curled caterpillar while all are at rest."""
    robot = robots.load(f"caterpillar-{n}")
    q = robot.sample(1, seed=0)[0][0]
    still = np.zeros(robot.nv)
    return float(np.linalg.norm(methods.get(method).prepare(robot).inverse_dynamics(q, still, still)[:3]))


def claims() -> list[Claim]:
    """What the paper says, and what we find."""
    measured = weight()
    close = abs(measured - 9.81) < 1e-9
    return [
        Claim(
            paper=PAPER,
            statement="five segments of 0.2 kg weigh 9.81 N, however the caterpillar curls",
            printed="9.81 N",
            measured=measured,
            unit="N",
            verdict="reproduced" if close else "differs",
            reason="to 1e-9 N",
        )
    ]
