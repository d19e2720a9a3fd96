"""Experiments of papers on parallel robots, as curves and moving pictures: 3RRR, virtual springs, Gough-Stewart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude

SPRINGS = "virtual-spring-denoc"


def stewart_platform() -> Simulation:
    """Leg forces of the Gough-Stewart platform by three models of its legs."""
    from dynbench.benchmarks.scenarios import lagrange_gough_stewart as scenario
    from dynbench.methods.lagrange_stewart.coordinates import platform_motion
    from dynbench.robots.families.gough_stewart import gough_stewart
    from dynbench.robots.families.stewart_legs import platform_state

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


def planar_platform() -> Simulation:
    """The 3RRR robot carries its platform along the rose of the paper on virtual springs."""
    from dynbench import methods, robots
    from dynbench.benchmarks.scenarios.denoc_virtual_spring import PAPER
    from dynbench.benchmarks.scenarios.denoc_virtual_spring.experiments import LAP, R0, rose

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
    """Loops closed by springs: what stiffness buys, and what it costs."""
    from dynbench.benchmarks.scenarios.denoc_virtual_spring import PAPER
    from dynbench.benchmarks.scenarios.denoc_virtual_spring import experiments as scenario

    exact, *rows = scenario.stiffness_table(scenario.STIFFNESSES[:6])
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
    found = scenario.work_precision(
        (1e3, 1e4, 1e5, 1e6), (0.0, 0.7), ("RK45", "DOP853", "Radau", "LSODA"), (1e-4,), horizon=1.0, limit=20_000
    )
    work = Plot(
        "work-precision",
        "Work against precision: virtual springs",
        "One second of the same motion at a relative tolerance of 1e-4; each point is one stiffness, 1e3 to 1e6 N/m, "
        "which sets the error more than the tolerance does. Further left, the loops stay closer; lower is cheaper. "
        "Runs of over 20 000 evaluations are left out.",
        "loops open by (m, median)",
        [_work(found, zeta) for zeta in (0.0, 0.7)],
        xscale="log",
        yscale="log",
    )
    return Simulation("virtual-springs", PAPER, "Loops closed by virtual springs", "3rrr", [by_stiffness, work])


def _over_stiffness(
    title: str, unit: str, exact: dict[str, float], rows: Sequence[dict[str, float]], key: str
) -> Panel:
    def size(row: dict[str, float]) -> float:
        return float(10.0 ** row[key]) if key.startswith("e_") else row[key]

    x = [row["stiffness"] for row in rows]
    springs = curve("", SPRINGS, x, [size(row) for row in rows])
    return Panel(title, f"{title} ({unit})", [springs, curve("", "denoc", [x[0], x[-1]], [size(exact)] * 2)])


def _work(rows: Sequence[dict[str, Any]], zeta: float) -> Panel:
    series = []
    for solver in dict.fromkeys(row["solver"] for row in rows):
        mine = [row for row in rows if (row["zeta"], row["solver"]) == (zeta, solver) and "seconds" in row]
        errors = [10.0 ** row["e_c median"] for row in mine]
        series.append(curve(solver, SPRINGS, errors, [row["seconds"] for row in mine]))
    return Panel(f"damping ratio {zeta:g}", "wall-clock time (s)", series)
