"""The elastic arm as curves and in motion."""

from __future__ import annotations

from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import METHOD, PAPER, PROVENANCE, paper_run
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude


def elastic_arm() -> Simulation:
    """One elastic arm, turned and pushed out of its sleeve."""
    run = paper_run()
    t, name = run.t, METHOD
    keep = slice(None, None, 4)
    panels = [
        Panel("angle", "angle (rad)", [curve("q", name, t[keep], run["angle"][keep])]),
        Panel("length outside the sleeve", "extension (m)", [curve("l", name, t[keep], run["extension"][keep])]),
        Panel("deflection of the tip", "deflection (m)", [curve("tip", name, t[keep], run["deflection"][keep])]),
    ]
    motion = Plot(
        "motion",
        "An elastic arm that turns and slides",
        "Torque and push of 10 N m and 10 N until 0.3 s, reversed until 0.6 s, then none. The paper's plots are lost.",
        "time (s)",
        panels,
    )
    energy = Plot(
        "energy",
        "Balance of energy of the elastic arm",
        "Energy gained less the work of the inputs: zero in exact arithmetic.",
        "time (s)",
        [Panel("", "|residual| (J)", [magnitude("energy balance", name, t[keep], run["energy balance"][keep])])],
        yscale="log",
    )
    drawn = drawing.motion(run.robot, t, run.q)
    origins = tuple((x.item, x.value, x.status, x.note) for x in PROVENANCE)
    return Simulation(
        "elastic-arm",
        PAPER,
        "An elastic arm in its sleeve",
        "elastic-rp1",
        [motion, energy],
        drawn,
        provenance=origins,
    )
