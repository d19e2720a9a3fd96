"""The three sliding rods as curves and in motion."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.gibbs_appell_rp.corrections import PAPER
from dynbench.benchmarks.papers.gibbs_appell_rp.experiment import HORIZON, METHOD, ROBOT, rods
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude


def sliding_rods() -> Simulation:
    """Three rods that turn and slide, with stops (Korayem and Shafei)."""
    times = np.linspace(0.0, HORIZON, 241)
    runs = {name: rods(stops=True).run(name, times=times) for name in (METHOD, "newton-euler")}
    angles, slides, balance = [], [], []
    for name, run in runs.items():
        angles += [curve(f"q{i + 1}", name, run.t, run.q[:, 2 * i]) for i in range(3)]
        slides += [curve(f"l{i + 1}", name, run.t, run.q[:, 2 * i + 1]) for i in range(3)]
        balance.append(magnitude("energy balance", name, run.t, run["energy balance"]))
    first = runs[METHOD]
    motion = Plot(
        "motion",
        "Angles and extensions of the three rods",
        "Constant torques of 1 N m and forces of 1 N from rest. Extensions stay between 0 and 1 m by inelastic stops; "
        "methods that agree lie on one another.",
        "time (s)",
        [Panel("angles", "angle (rad)", angles), Panel("extensions", "extension (m)", slides)],
    )
    energy = Plot(
        "energy",
        "Balance of energy with stops",
        "Energy gained, less the work of the inputs, plus what impacts took: zero in exact arithmetic.",
        "time (s)",
        [Panel("", "|residual| (J)", balance)],
        yscale="log",
    )
    drawn = drawing.motion(first.robot, first.t, first.q)
    return Simulation("sliding-rods", PAPER, "Three sliding rods with stops", ROBOT, [motion, energy], drawn)
