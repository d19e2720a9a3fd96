"""The elastic paper's Figs. 3 to 8 for the data chosen here, the balance of energy, and the arm in motion."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import METHOD, PAPER, PROVENANCE, paper_run
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude, origins


def elastic_arm() -> Simulation:
    """One elastic arm, turned and pushed out of its sleeve."""
    run = paper_run()
    keep = slice(None, None, 4)
    t = run.t[keep]
    rate = np.gradient(run["deflection"], run.t)
    figures = (
        ("angular position of the arm", "angle (rad)", "q", run["angle"]),
        ("angular velocity of the arm", "angular velocity (rad/s)", "q'", run.v[:, 0]),
        ("deflection of the tip", "deflection (m)", "tip", run["deflection"]),
        ("rate of the tip's deflection", "velocity (m/s)", "tip'", rate),
        ("length outside the sleeve", "length (m)", "l", run["extension"]),
        ("longitudinal velocity of the arm", "velocity (m/s)", "l'", run.v[:, 1]),
    )
    plots = []
    for number, (title, label, symbol, values) in enumerate(figures, start=3):
        lost = "The paper's caption is lost: what it shows is inferred."
        known = "The paper's caption survives." if number == 8 else lost
        inputs = "Torque and push of 10 N m and 10 N until 0.3 s, reversed until 0.6 s, then none; data partly chosen."
        panel = Panel("", label, [curve(symbol, METHOD, t, values[keep])])
        plots.append(Plot(f"fig-{number}", f"Fig. {number}: {title}", f"{inputs} {known}", "time (s)", [panel]))
    energy = Plot(
        "energy",
        "Balance of energy of the elastic arm",
        "Energy gained less the work of the inputs: zero in exact arithmetic.",
        "time (s)",
        [Panel("", "|residual| (J)", [magnitude("energy balance", METHOD, t, run["energy balance"][keep])])],
        yscale="log",
    )
    drawn = drawing.motion(run.robot, run.t, run.q)
    title = "An elastic arm in its sleeve"
    return Simulation(
        "elastic-arm", PAPER, title, "elastic-rp1", [*plots, energy], drawn, provenance=origins(PROVENANCE)
    )
