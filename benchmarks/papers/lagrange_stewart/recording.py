"""The Gough-Stewart paper's Figs. 7 to 12: leg forces by three models; and the platform on the paper's path."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.lagrange_stewart import experiment as scenario
from dynbench.benchmarks.papers.lagrange_stewart.measured import PROVENANCE
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, origins
from dynbench.methods.lagrange_stewart.coordinates import platform_motion
from dynbench.robots.families.gough_stewart import gough_stewart
from dynbench.robots.families.stewart_legs import platform_state


def stewart_platform() -> Simulation:
    """Leg forces of the Gough-Stewart platform by three models of its legs."""
    robot = gough_stewart()
    t = np.linspace(0.0, scenario.HORIZON, 161)
    found = {model: scenario.forces(method, scenario.paper_path, t) for model, method in scenario.MODELS.items()}
    plots = [
        Plot(
            f"fig-{7 + leg}",
            f"Fig. {7 + leg}: required force of leg {leg + 1}",
            "The platform swings sideways, y = 0.1 sin 2t: massless legs, lumped legs, full legs (there ADAMS, here "
            "exact). The paper says that neglecting the masses causes a very large error and that lumping removes it.",
            "time (s)",
            [
                Panel(
                    "",
                    "force (N)",
                    [curve(model, scenario.MODELS[model], t, force[:, leg]) for model, force in found.items()],
                )
            ],
        )
        for leg in range(6)
    ]
    wrong = Plot(
        "errors",
        "Error of the simpler legs",
        "Force by massless and by lumped legs less the force by full legs; the closer to zero the better the model.",
        "time (s)",
        [
            Panel(
                f"leg {leg + 1}",
                "force error (N)",
                [
                    curve(model, scenario.MODELS[model], t, found[model][:, leg] - found["full"][:, leg])
                    for model in scenario.TABLE_1
                ],
            )
            for leg in range(6)
        ],
    )
    period = np.linspace(0.0, np.pi, 121)
    q, _, _ = platform_state(robot, *platform_motion(*scenario.paper_path(period)))
    drawn = drawing.motion(robot, period, q)
    title = "A Gough-Stewart platform on the paper's path"
    return Simulation(
        "stewart-platform", scenario.PAPER, title, robot.name, [*plots, wrong], drawn, provenance=origins(PROVENANCE)
    )
