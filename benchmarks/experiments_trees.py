"""Experiments of papers on open chains, as curves and moving pictures: sliding rods, an elastic arm, a space robot."""

from __future__ import annotations

import time

import numpy as np

from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude

REPEATS = 3  # of a run whose time is taken; the shortest counts
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


def sliding_rods() -> Simulation:
    """Three rods that turn and slide, with stops (Korayem and Shafei)."""
    from dynbench import robots
    from dynbench.benchmarks.scenarios import gibbs_appell_rigid as scenario

    times = np.linspace(0.0, scenario.HORIZON, 241)
    runs = {name: scenario.with_stops(name, times=times) for name in (scenario.METHOD, "newton-euler")}
    angles, slides, balance = [], [], []
    for name, run in runs.items():
        angles += [curve(f"q{i + 1}", name, run.t, run.q[:, 2 * i]) for i in range(3)]
        slides += [curve(f"l{i + 1}", name, run.t, run.q[:, 2 * i + 1]) for i in range(3)]
        balance.append(magnitude("energy balance", name, run.t, run.balance))
    first = runs[scenario.METHOD]
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
    drawn = drawing.motion(robots.load(scenario.ROBOT), first.t, first.q)
    return Simulation(
        "sliding-rods", "gibbs-appell-rigid", "Three sliding rods with stops", scenario.ROBOT, [motion, energy], drawn
    )


def sliding_rods_cost() -> Simulation:
    """Work against precision for the rods without stops."""
    from dynbench.benchmarks.scenarios import gibbs_appell_rigid as scenario

    end = np.array([scenario.HORIZON])
    target = scenario.without_stops(times=end, rtol=1e-13, atol=1e-14).q[-1]
    series = []
    for name in (scenario.METHOD, "newton-euler", "gibbs-appell", "denoc"):
        scenario.without_stops(name, times=end, rtol=1e-3, atol=1e-5)  # compiled before the clock starts
        for integrator in ("RK45", "DOP853"):
            errors, seconds = [], []
            for rtol in TOLERANCES:
                clock = []
                for _ in range(REPEATS):
                    start = time.perf_counter()
                    found = scenario.without_stops(name, times=end, integrator=integrator, rtol=rtol, atol=rtol / 100)
                    clock.append(time.perf_counter() - start)
                seconds.append(min(clock))
                errors.append(float(np.abs(found.q[-1] - target).max()))
            series.append(curve(integrator, name, errors, seconds))
    plot = Plot(
        "work-precision",
        "Work against precision: 1.5 s of the sliding rods",
        "Each point is one tolerance, from 1e-3 to 1e-10. Further left is more accurate, lower is cheaper: compare "
        "methods at the same error, never times alone. A time is the shortest of three runs.",
        "largest error of the final coordinates (rad, m)",
        [Panel("", "wall-clock time (s)", series)],
        xscale="log",
        yscale="log",
    )
    return Simulation(
        "sliding-rods-cost", "gibbs-appell-rigid", "Work-precision of the sliding rods", scenario.ROBOT, [plot]
    )


def elastic_arm() -> Simulation:
    """One elastic arm, turned and pushed out of its sleeve."""
    from dynbench.benchmarks.scenarios import gibbs_appell_elastic as scenario

    run = scenario.paper_run()
    t, name = run.trajectory.t, scenario.METHOD
    keep = slice(None, None, 4)
    panels = [
        Panel("angle", "angle (rad)", [curve("q", name, t[keep], run.angle[keep])]),
        Panel("length outside the sleeve", "extension (m)", [curve("l", name, t[keep], run.extension[keep])]),
        Panel("deflection of the tip", "deflection (m)", [curve("tip", name, t[keep], run.deflection[keep])]),
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
        [Panel("", "|residual| (J)", [magnitude("energy balance", name, t[keep], run.balance[keep])])],
        yscale="log",
    )
    drawn = drawing.motion(run.robot, t, run.trajectory.q)
    origins = tuple((x.item, x.value, x.status, x.note) for x in scenario.PROVENANCE)
    return Simulation(
        "elastic-arm",
        "gibbs-appell-elastic",
        "An elastic arm in its sleeve",
        "elastic-rp1",
        [motion, energy],
        drawn,
        provenance=origins,
    )


def space_robot() -> Simulation:
    """A free-floating robot pushed at the tips of its two arms."""
    from dynbench.benchmarks.scenarios import boltzmann_hamel_space as scenario

    runs = {
        name: scenario.run(name, "parallel_x", "body", samples=60, rtol=1e-9, atol=1e-11)
        for name in ("boltzmann-hamel", "newton-euler")
    }
    base, balances = [], {"linear momentum (kg m/s)": [], "angular momentum (kg m²/s)": [], "energy (J)": []}  # type: ignore[var-annotated]
    for name, run in runs.items():
        t = run.trajectory.t
        base += [curve(axis, name, t, run.position[:, 0, k]) for k, axis in enumerate("xyz")]
        residuals = (
            np.abs(run.linear_residual).max(axis=1),
            np.abs(run.angular_residual).max(axis=1),
            run.energy_residual,
        )
        for (what, found), residual in zip(balances.items(), residuals, strict=True):
            found.append(magnitude(what.partition(" (")[0], name, t, residual))
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
        [Panel(what.partition(" (")[0], f"|residual|, {what}", found) for what, found in balances.items()],
        yscale="log",
    )
    first = runs["boltzmann-hamel"]
    drawn = drawing.motion(first.robot, first.trajectory.t, first.trajectory.q)
    return Simulation(
        "space-robot", scenario.PAPER, "A free-floating robot with two arms", first.robot.name, [motion, balance], drawn
    )
