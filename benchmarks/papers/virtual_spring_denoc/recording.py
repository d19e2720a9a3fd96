"""The rose of the 3RRR robot as curves and in motion, and what virtual springs of all stiffnesses make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.virtual_spring_denoc.experiment import (
    LAP,
    R0,
    ZETA,
    remedies,
    rose,
    stiffness_table,
)
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude

PAPER = "virtual-spring-denoc"
SPRINGS = "virtual-spring-denoc"


def planar_platform() -> Simulation:
    """The 3RRR robot carries its platform along the rose of the paper on virtual springs."""
    robot = robots.load("3rrr")
    t = np.linspace(0.0, LAP, 161)
    q, v, a = robot.state_from_platform(*rose(t))
    forces = {}
    for name in methods.names():
        method = methods.get(name)
        wanted = "inverse_dynamics" in method.computes and method.exact and not method.floor
        if wanted and method.supports(robot) is None:
            forces[name] = method.prepare(robot).inverse_dynamics(q, v, a)
    series = [
        curve(f"motor {k + 1}", name, t, force[:, k]) for name, force in forces.items() for k in range(force.shape[1])
    ]
    reference = next(iter(forces))
    scale = float(np.abs(forces[reference]).max())
    apart = [
        magnitude(f"to {reference}", name, t, np.abs(force - forces[reference]).max(axis=1) / scale)
        for name, force in forces.items()
        if name != reference
    ]
    torques = Plot(
        "torques",
        "Motor torques of the 3RRR robot",
        f"The platform follows a rose of {R0} m in {LAP:g} s without turning. Methods that agree lie on one another.",
        "time (s)",
        [Panel("", "torque (N m)", series)],
    )
    gaps = Plot(
        "differences",
        "How far the methods are apart",
        f"Largest difference of the three torques to those by {reference}, relative to the largest torque: rounding.",
        "time (s)",
        [Panel("", "relative difference", apart)],
        yscale="log",
    )
    plots = [torques, gaps] if any(one.x for one in apart) else [torques]
    drawn = drawing.motion(robot, t, q)
    return Simulation("planar-platform", PAPER, "A planar 3RRR robot", robot.name, plots, drawn)


def virtual_springs() -> Simulation:
    """Loops closed by springs: what stiffness buys and what it costs, and how to read reactions off them."""
    exact, *rows = stiffness_table()
    by_stiffness = Plot(
        "stiffness",
        "Virtual springs: errors and cost over stiffness",
        "Torques of a prescribed motion replayed for 6 s with the loops held by springs, by Runge-Kutta at a relative "
        "tolerance of 1e-3; beside it DeNOC of minimal order, which closes them exactly and takes few steps. Stiffer "
        "springs open less and cost more.",
        "stiffness (N/m)",
        [
            _over_stiffness("loops open by", "m, median", exact, rows, "e_c median"),
            _over_stiffness("path is off by", "m, median", exact, rows, "e_p median"),
            _over_stiffness("evaluations", "right-hand sides", exact, rows, "evaluations"),
        ],
        xscale="log",
        yscale="log",
    )
    found = remedies()
    reactions = Plot(
        "reactions",
        "Reactions from virtual springs: error over stiffness",
        "Relative RMS error of the springs' force as the joints' reaction over the run. As they are, springs ring "
        "about the reaction for ever, however stiff; averaging, a start with the springs pre-stretched, or damping "
        f"(ratio {ZETA:g}, which the paper does not have) make them reactions. Pre-stretched, an optimum appears where "
        "the stiffness times the tolerance rivals the reaction.",
        "stiffness (N/m)",
        [
            Panel(
                "",
                "relative error",
                [
                    curve(remedy, SPRINGS, *zip(*((r["stiffness"], r["error"]) for r in of), strict=True))
                    for remedy, of in _grouped(found).items()
                ],
            )
        ],
        xscale="log",
        yscale="log",
    )
    return Simulation("virtual-springs", PAPER, "Loops closed by virtual springs", "3rrr", [by_stiffness, reactions])


def _grouped(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["remedy"], []).append(row)
    return found


def _over_stiffness(
    title: str, unit: str, exact: dict[str, float], rows: Sequence[dict[str, float]], key: str
) -> Panel:
    def size(row: dict[str, float]) -> float:
        return float(10.0 ** row[key]) if key.startswith("e_") else row[key]

    x = [row["stiffness"] for row in rows]
    springs = curve("", SPRINGS, x, [size(row) for row in rows])
    return Panel(title, f"{title} ({unit})", [springs, curve("", "denoc", [x[0], x[-1]], [size(exact)] * 2)])
