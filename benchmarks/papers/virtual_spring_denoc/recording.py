"""The virtual-spring paper's figures: the rose, its errors over time and stiffness, and the robot in motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.virtual_spring_denoc import planar
from dynbench.benchmarks.papers.virtual_spring_denoc.corrections import PROVENANCE
from dynbench.benchmarks.papers.virtual_spring_denoc.experiment import (
    CONTROLS,
    LAP,
    PAPER,
    PRINTED_SECONDS,
    R0,
    STIFFNESSES,
    ZETA,
    remedies,
    replay,
    rose,
    springs,
    step_controls,
    stiffness_table,
)
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Series, Simulation, curve, magnitude, origins
from dynbench.robots.robot import FloatArray

SPRINGS = "virtual-spring-denoc"
BINS = 240  # of a curve that rings; the largest value of each is drawn
PRINTED = "printed"  # whose curve it is, where the numbers are the paper's
SHOWN = (1e2, 1e4, 1e6)  # N/m, of the paths in Fig. 4


def rose_replay(quick: bool = False) -> Simulation:
    """Figs. 4 to 6 and Table 2: the rose by virtual springs, errors over time for every stiffness."""
    case = replay()
    runs = {k: case.run(springs(k)) for k in (STIFFNESSES[:6] if quick else STIFFNESSES)}
    t = np.linspace(0.0, LAP, 201)
    prescribed = rose(t)[0]
    paths = [curve("prescribed", PRINTED, prescribed[:, 0], prescribed[:, 1])]
    for k in SHOWN:
        at = _at(runs[k].t, np.linspace(0.0, LAP, 161))
        paths.append(curve(f"K_s = {k:.0e}", SPRINGS, runs[k].q[at, 6], runs[k].q[at, 7]))
    c, p = (
        [_envelope(f"K_s = {k:.0e}", run.t, np.log(np.maximum(run[what], 1e-300))) for k, run in runs.items()]
        for what in ("loops open by", "path off by")
    )
    threshold = curve("-5", PRINTED, [0.0, case.horizon], [-5.0, -5.0])
    table = stiffness_table(tuple(runs))
    plots = [
        Plot("fig-4", "Fig. 4: the rose-shaped path", f"Centre of the platform in the first lap: r = r0 cos 2 theta, "
             f"{LAP:g} s a lap; r0 = {R0} m is chosen, the paper's number is lost. Soft springs leave the path.",
             "x (m)", [Panel("", "y (m)", paths)]),
        Plot("fig-5", "Fig. 5: constraint error for different K_s", "e_c = log sum |c_i| over time, natural logarithm, "
             "relative tolerance 1e-3, ode45; of each stretch of time the largest value. The paper says that e_c is "
             "below -5 for K_s >= 1e5.", "time (s)", [Panel("", "e_c (-)", [*c, threshold])]),
        Plot("fig-6", "Fig. 6: position error for different K_s", "e_p = log |r - r_prescribed| over time, as in Fig. "
        "5. The paper says that e_p is below -5 for K_s >= 1e6.", "time (s)", [Panel("", "e_p "
             "(-)", [*p, threshold])]),
        Plot("table-2", "Table 2: run time over K_s, printed and ours", "Seconds for 6 s of motion: the paper's "
        "(MATLAB, machine not given) and ours (compiled). Both grow with the root of the stiffness.", "stiffness (N/m)",
             [Panel("", "seconds", [
                 curve("Table 2", PRINTED, list(runs), PRINTED_SECONDS[: len(runs)]),
                 curve("ours", SPRINGS, list(runs), [row["seconds"] for row in table[1:]]),
                 curve("ours", "denoc", [min(runs), max(runs)], [table[0]["seconds"]] * 2),
             ])], xscale="log", yscale="log"),
    ]  # fmt: skip
    run = runs[1e6]
    at = _at(run.t, np.linspace(0.0, LAP, 161))
    drawn = drawing.motion(case.robot, run.t[at], run.q[at])
    title = "A 3RRR robot on virtual springs (K_s = 1e6 N/m) replays a rose"
    return Simulation("rose-replay", PAPER, title, "3rrr", plots, drawn, provenance=origins(PROVENANCE))


def _at(times: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return which of a run's steps are nearest after the times wanted."""
    return np.searchsorted(times, wanted).clip(0, len(times) - 1)


def _envelope(label: str, t: FloatArray, y: FloatArray) -> Series:
    """Return the largest value of each of `BINS` stretches of time; the start, where errors are zero, is left out."""
    edges = np.linspace(0.0, t[-1], BINS + 1)
    bins = np.searchsorted(edges, t[1:], side="left") - 1
    largest = np.full(BINS, -np.inf)
    np.maximum.at(largest, bins.clip(0, BINS - 1), y[1:])
    return curve(label, SPRINGS, 0.5 * (edges[1:] + edges[:-1]), largest)


def planar_platform() -> Simulation:
    """The torques of the prescribed rose, by every method: what is replayed."""
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
        "Motor torques along the prescribed rose",
        f"By inverse dynamics: the platform follows a rose of {R0} m in {LAP:g} s without turning. Methods that agree "
        "lie on one another.",
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
    return Simulation("planar-platform", PAPER, "A planar 3RRR robot on its prescribed path", robot.name, plots)


def virtual_springs() -> Simulation:
    """Loops closed by springs: what stiffness buys and costs, under several step controls; reactions; constraints."""
    exact, *rows = stiffness_table()
    by_stiffness = Plot(
        "stiffness",
        "Virtual springs: errors and cost over stiffness",
        "Torques of a prescribed motion replayed for 6 s with the loops held by springs, by Runge-Kutta (ode45) at a "
        "relative tolerance of 1e-3; beside it DeNOC of minimal order, which closes them exactly and takes few steps. "
        "Stiffer springs open less and cost more.",
        "stiffness (N/m)",
        [
            _over_stiffness("loops open by", "m, median", exact, rows, "e_c median"),
            _over_stiffness("path is off by", "m, median", exact, rows, "e_p median"),
            _over_stiffness("evaluations", "right-hand sides", exact, rows, "evaluations"),
        ],
        xscale="log",
        yscale="log",
    )
    controls = step_controls()
    optimum = Plot(
        "step-controls",
        "Is 1e6 N/m the optimum? Largest errors under four step controls",
        "The same replay by four Runge-Kutta pairs of orders 4 and 5 with adaptive steps, tolerance 1e-3; the paper "
        "says no more of its integrator. "
        + "; ".join(f"{name}: {what}" for name, what in CONTROLS.items())
        + ". Under MATLAB's control errors fall up to 1e8, under the others they rise again.",
        "stiffness (N/m)",
        [
            Panel(
                title,
                f"{title} (m)",
                [
                    curve(name, SPRINGS, list(found), [10.0 ** row[key] for row in found.values()])
                    for name, found in controls.items()
                ],
            )
            for title, key in (("largest sum |c_i|", "e_c max"), ("largest |r - r_prescribed|", "e_p max"))
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
    constraints = Plot(
        "constraints",
        "What the constraints must be: largest opening of the loops",
        "One lap by RK45 at 1e-6 with other definitions of c in -A^T K_s c. What matters is that A is the gradient of "
        "the c that is used and has full rank; where it is not, loops stay open or the motion runs away (no point).",
        "stiffness (N/m)",
        [
            Panel(
                "",
                "largest sum |c_i| (m)",
                [curve(name, SPRINGS, planar.STIFF, values) for name, values in planar.constraint_table().items()],
            )
        ],
        xscale="log",
        yscale="log",
    )
    plots = [by_stiffness, optimum, reactions, constraints]
    return Simulation("virtual-springs", PAPER, "Loops closed by virtual springs", "3rrr", plots)


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
