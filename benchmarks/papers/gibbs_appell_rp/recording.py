"""The revolute-prismatic paper's Figs. 3 to 6, the run without stops, and the rods in motion."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.gibbs_appell_rp.corrections import PAPER, PROVENANCE
from dynbench.benchmarks.papers.gibbs_appell_rp.experiment import HORIZON, METHOD, ROBOT, rods
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude, origins

FIGURES = (
    ("Fig. 3: angular position of the arms", "angle (rad)", "q", "q", 0),
    ("Fig. 4: angular velocity of the arms", "angular velocity (rad/s)", "q'", "v", 0),
    ("Fig. 5: longitudinal position of the links", "length (m)", "l", "q", 1),
    ("Fig. 6: longitudinal velocity of the links", "velocity (m/s)", "l'", "v", 1),
)


def sliding_rods() -> Simulation:
    """Three rods that turn and slide, with stops as in the paper, and without."""
    times = np.linspace(0.0, HORIZON, 241)
    stopped = {name: rods(stops=True).run(name, times=times) for name in (METHOD, "newton-euler")}
    free = rods().run(METHOD, times=times)
    plots = []
    for number, (title, label, symbol, state, first) in enumerate(FIGURES, start=3):
        series = [
            curve(f"{symbol}{i + 1}", name, run.t, getattr(run, state)[:, 2 * i + first])
            for name, run in stopped.items()
            for i in range(3)
        ]
        plots.append(
            Plot(f"fig-{number}", title, "Torques of 1 N m and forces of 1 N from rest. As the paper says, the lengths "
            "are restrained between 0 and L; its law is not given, here stops are inelastic. After the first contact, "
            "at 0.244 s, the motion depends on that law.", "time (s)", [Panel("", label, series)])
        )  # fmt: skip
    without = Plot(
        "without-stops",
        "The same without stops: all four quantities",
        "Up to the first contact, at 0.244 s, as above. Then l_3 and l_2 become negative and l_1 exceeds L, which has "
        "no physical meaning: the paper's reason for stops.",
        "time (s)",
        [
            Panel(
                title.partition(": ")[2],
                label,
                [curve(f"{symbol}{i + 1}", METHOD, free.t, getattr(free, state)[:, 2 * i + first]) for i in range(3)],
            )
            for title, label, symbol, state, first in FIGURES
        ],
    )
    energy = Plot(
        "energy",
        "Balance of energy with stops",
        "Energy gained, less the work of the inputs, plus what impacts took: zero in exact arithmetic.",
        "time (s)",
        [
            Panel(
                "",
                "|residual| (J)",
                [magnitude("energy balance", name, run.t, run["energy balance"]) for name, run in stopped.items()],
            )
        ],
        yscale="log",
    )
    run = stopped[METHOD]
    drawn = drawing.motion(run.robot, run.t, run.q)
    title = "Three sliding rods with stops"
    return Simulation(
        "sliding-rods", PAPER, title, ROBOT, [*plots, without, energy], drawn, provenance=origins(PROVENANCE)
    )
