"""Leg forces of the Gough-Stewart platform as curves, and the platform in motion."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.lagrange_stewart import experiment as scenario
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve
from dynbench.methods.lagrange_stewart.coordinates import platform_motion
from dynbench.robots.families.gough_stewart import gough_stewart
from dynbench.robots.families.stewart_legs import platform_state


def stewart_platform() -> Simulation:
    """Leg forces of the Gough-Stewart platform by three models of its legs."""
    robot = gough_stewart()
    t = np.linspace(0.0, scenario.HORIZON, 161)
    found = {model: scenario.forces(method, scenario.paper_path, t) for model, method in scenario.MODELS.items()}
    legs = [
        Panel(
            f"leg {leg + 1}",
            "force (N)",
            [curve(model, scenario.MODELS[model], t, force[:, leg]) for model, force in found.items()],
        )
        for leg in range(6)
    ]
    errors = [
        Panel(
            f"leg {leg + 1}",
            "force error (N)",
            [
                curve(model, scenario.MODELS[model], t, found[model][:, leg] - found["full"][:, leg])
                for model in scenario.TABLE_1
            ],
        )
        for leg in range(6)
    ]
    forces = Plot(
        "forces",
        "Forces of the six legs",
        "The platform swings sideways, y = 0.1 sin 2t, by massless, lumped and full legs. Where curves part, the legs' "
        "mass matters.",
        "time (s)",
        legs,
    )
    wrong = Plot(
        "errors",
        "Error of the simpler legs",
        "Force by massless and by lumped legs less the force by full legs; the closer to zero the better the model.",
        "time (s)",
        errors,
    )
    turning = np.linspace(0.0, 2.0 * np.pi, 161)
    q, _, _ = platform_state(robot, *platform_motion(*scenario.rotating_path(turning)))
    drawn = drawing.motion(robot, turning, q)
    return Simulation(
        "stewart-platform", scenario.PAPER, "A Gough-Stewart platform", robot.name, [forces, wrong], drawn
    )
