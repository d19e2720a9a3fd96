"""A caterpillar at rest weighs what its segments weigh, and one that falls keeps its energy: the smallest scenario.

It runs through any method that supports its robot, and compares our numbers with those in print. The fall is a
`Scenario`, so `dynbench bench` also sweeps it over integrators and tolerances.
"""

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.claims import Claim
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Measure, Scenario

PAPER = "caterpillar-weight"


def weight(method: str = "dalembert", n: int = 5) -> float:
    """The force, in newtons, that holds the first segment of a curled caterpillar while all are at rest."""
    robot = robots.load(f"caterpillar-{n}")
    q = robot.sample(1, seed=0)[0][0]
    still = np.zeros(robot.nv)
    return float(np.linalg.norm(methods.get(method).prepare(robot).inverse_dynamics(q, still, still)[:3]))


def fall(n: int = 3) -> Scenario:
    """A caterpillar that tumbles and falls for half a second, its joints free."""
    robot = robots.load(f"caterpillar-{n}")
    q, v, _ = robot.sample(1, seed=0, regime="slow")
    return Scenario(
        name="caterpillar-fall",
        title="a caterpillar tumbles and falls",
        robot=robot,
        q0=q[0],
        v0=v[0],
        horizon=0.5,
        inputs=Torques.constant(np.zeros(robot.nv)),
        methods=("newton-euler",),
        measures={"energy drift": Measure(lambda found: found.energy - found.energy[0], "J")},
    )


def scenarios() -> list[Scenario]:
    """What is swept over integrators and tolerances."""
    return [fall()]


def claims() -> list[Claim]:
    """What the paper says, and what we find."""
    drift = float(np.abs(fall().run("newton-euler", rtol=1e-10, atol=1e-12)["energy drift"]).max())
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
        ),
        Claim(
            paper=PAPER,
            statement="a caterpillar that falls keeps its energy",
            printed="0 J",
            measured=drift,
            unit="J",
            verdict="reproduced" if drift < 1e-7 else "differs",
            reason="to 1e-7 J over half a second",
        ),
    ]
