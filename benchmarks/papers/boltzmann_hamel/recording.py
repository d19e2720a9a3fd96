"""The free-floating robot as curves and in motion."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.boltzmann_hamel.experiment import BALANCES, MEASURES, PAPER, run
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude


def space_robot() -> Simulation:
    """A free-floating robot pushed at the tips of its two arms."""
    runs = {
        name: run(name, "parallel_x", "body", samples=60, rtol=1e-9, atol=1e-11)
        for name in ("boltzmann-hamel", "newton-euler")
    }
    base = [
        curve(axis, name, found.t, found["position"][:, 0, k])
        for name, found in runs.items()
        for k, axis in enumerate("xyz")
    ]
    panels = []
    for what in BALANCES:
        sizes = {
            name: np.abs(found[what]).max(axis=tuple(range(1, np.ndim(found[what])))) for name, found in runs.items()
        }
        series = [magnitude(what, name, runs[name].t, size) for name, size in sizes.items()]
        panels.append(Panel(what, f"|residual|, {what} ({MEASURES[what].unit})", series))
    motion = Plot(
        "motion",
        "Position of the base pushed through its arms",
        "Constant forces at the ends of two arms on free ball joints turn with the last links. Methods that agree lie "
        "on one another.",
        "time (s)",
        [Panel("", "position of the base (m)", base)],
    )
    balance = Plot(
        "balances",
        "Balances of momentum and energy",
        "What is gained less what the forces feed in; zero in exact arithmetic. Momentum and energy test different "
        "equations. The integrator ran at a relative tolerance of 1e-9.",
        "time (s)",
        panels,
        yscale="log",
    )
    first = runs["boltzmann-hamel"]
    drawn = drawing.motion(first.robot, first.t, first.q)
    return Simulation(
        "space-robot", PAPER, "A free-floating robot with two arms", first.robot.name, [motion, balance], drawn
    )
