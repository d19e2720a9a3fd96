"""The Boltzmann-Hamel paper's Figs. 3 to 11, balances, and the free-floating robot in motion."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dynbench.benchmarks.papers.boltzmann_hamel.corrections import PROVENANCE
from dynbench.benchmarks.papers.boltzmann_hamel.experiment import (
    BALANCES,
    MEASURES,
    METHOD,
    PAPER,
    angles,
    displacement,
    run,
)
from dynbench.benchmarks.papers.boltzmann_hamel.measured import installed_engines
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Series, Simulation, curve, magnitude, origins
from dynbench.robots.robot import FloatArray

BODIES = ("the base", "link 1 of arm 1", "link 2 of arm 1", "link 1 of arm 2", "link 2 of arm 2")
CASE = ("opposed_z", "body")


def space_robot() -> Simulation:
    """A free-floating robot pushed at the tips of its two arms: displacements, attitudes, balances."""
    names = (METHOD, *(installed_engines() or ("newton-euler",)))
    runs = {name: run(name, *CASE, samples=60, rtol=1e-9, atol=1e-11) for name in names}
    against = " and ".join(names[1:])
    moved, turned = ({name: of(found) for name, found in runs.items()} for of in (displacement, angles))

    def curves(values: dict[str, FloatArray], body: int, axes: Iterable[str]) -> list[Series]:
        return [
            curve(axis, name, found.t, values[name][:, body, k])
            for name, found in runs.items()
            for k, axis in enumerate(axes)
        ]

    plots = []
    for number, (body, what) in enumerate(zip(range(5), BODIES, strict=True), start=3):
        text = (
            f"By the paper's recursions, and by {against} in the part of ADAMS. The paper says that the curves agree "
            "very well; here they lie on one another."
        )
        panel = Panel("", "displacement (m)", curves(moved, body, "xyz"))
        title = f"Fig. {number}: displacement of the centre of mass of {what}"
        plots.append(Plot(f"fig-{number}", title, text, "time (s)", [panel]))
    for number, (body, what) in enumerate(zip(range(4), BODIES[1:], strict=True), start=8):
        text = (
            "3-2-1 angles relative to space (the paper names no set), by the paper's recursions and by "
            f"{against} in the part of ADAMS."
        )
        panel = Panel("", "angle (rad)", curves(turned, body, ("roll", "pitch", "yaw")))
        plots.append(Plot(f"fig-{number}", f"Fig. {number}: attitude of {what}", text, "time (s)", [panel]))
    panels = []
    for what in BALANCES:
        sizes = {
            name: np.abs(found[what]).max(axis=tuple(range(1, np.ndim(found[what])))) for name, found in runs.items()
        }
        series = [magnitude(what, name, runs[name].t, size) for name, size in sizes.items()]
        panels.append(Panel(what, f"|residual|, {what} ({MEASURES[what].unit})", series))
    balance = Plot(
        "balances",
        "Balances of momentum and energy",
        "What is gained less what the forces feed in; zero in exact arithmetic. Momentum and energy test different "
        "equations. The integrator ran at a relative tolerance of 1e-9.",
        "time (s)",
        panels,
        yscale="log",
    )
    first = runs[METHOD]
    drawn = drawing.motion(first.robot, first.t, first.q)
    title = "A free-floating robot with two arms, pushed at their tips"
    return Simulation(
        "space-robot", PAPER, title, first.robot.name, [*plots, balance], drawn, provenance=origins(PROVENANCE)
    )
