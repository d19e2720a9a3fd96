"""The simulation of the elastic Gibbs-Appell paper: one arm turned and pushed out of its sleeve for a second.

Korayem, Shafei and co-workers (Modares Mechanical Engineering 13(1), 2013) drive a single planar elastic arm with a
piecewise constant torque and force. Its figures and most of its numbers are lost: `PROVENANCE` says of each datum
whether it is given, inferred, or was chosen here: with other readings the arm leaves its sleeve before the second is
over (tests/benchmarks/papers/test_gibbs_appell_elastic.py). So no plot can be compared; what can be checked is the
formulation, and that is done by energy (`balance`, `energy_drift`), by convergence with modes and in stiffness, and by
other methods.

Any method for elastic arms that computes forward dynamics can run it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dynbench import methods
from dynbench.benchmarks.papers.claims import Provenance
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Measure, Recording, Scenario
from dynbench.benchmarks.simulation.simulate import Force, simulate
from dynbench.robots import elastic_rp_chain
from dynbench.robots.elastic.particles import tip_deflection
from dynbench.robots.robot import FloatArray, Robot

PAPER = "gibbs-appell-elastic"
METHOD = "gibbs-appell-elastic"
DURATION = 1.0
SWITCHES = (0.3, 0.6)
PROGRAM = (10.0, -10.0, 0.0)  # N m of torque and N of push, from 0, 0.3 and 0.6 s on
START = 0.4  # m out of the sleeve, at rest
RTOL, ATOL = 1e-7, 1e-9
PRINTED_SECONDS = 38.505

LENGTH, YOUNG, SHEAR, DENSITY = 1.0, 2e11, 77e9, 7850.0  # m, N/m2, N/m2, kg/m3
THICKNESS = 5e-3  # m, in the direction of bending


PROVENANCE = (
    Provenance("L", "1 m", "given", "Table 1: length of the arm, and of its sleeve"),
    Provenance("G", "77e9 N/m2", "given", "not used in the planar case"),
    Provenance("g", "10 m/s2", "given", "no effect in the horizontal plane"),
    Provenance("input magnitudes", "10 N m, 10 N", "given", "section 7: torque and push"),
    Provenance("input times", "0.3, 0.6, 1 s", "given", "section 7"),
    Provenance("arms", "one, planar", "given", "section 7"),
    Provenance("(52), (65), (66), (68)", "as printed, (68) completed", "given", "the other displayed equations are "
    "lost"),
    Provenance("E", "2e11 N/m2", "inferred", "2 x 10^ survives, the exponent is steel's"),
    Provenance("h", "1 m", "inferred", "angles are taken at L + l, and the sleeve is as long as the arm"),
    Provenance("input signs", "+, -, 0", "inferred", "all positive, the arm leaves its sleeve"),
    Provenance("E_i", "exp(theta~)", "inferred", "only its meaning survives: the rotation of a tip by deformation, "
    "angles at L + l; I + theta~ is what the authors use elsewhere. No effect on one arm"),
    Provenance("Figs. 3-7", "angle, its rate, deflection, its rate, length", "inferred", "only the caption of Fig. 8 "
               "survives, and that the six show the time response"),
    Provenance("A", "4e-4 m2", "chosen", "the order 1e-4 survives; 1e-4 and 2e-4 leave the sleeve"),
    Provenance("section", "5 mm x 80 mm", "chosen", "I = 8.3333e-10 m4, EI = 166.667 N m2"),
    Provenance("mu", "3.14 kg/m", "chosen", "steel, 7850 kg/m3 times A"),
    Provenance("modes", "2 bending", "chosen", "their number is lost"),
    Provenance("start", "rest, q = 0, l = 0.4 m", "chosen", "0.4 m is the rigid sister paper's l_1(0)"),
    Provenance("plane", "horizontal", "chosen", "in a vertical plane the arm leaves its sleeve"),
)  # fmt: skip


def paper_arm(
    modes: int = 2, area: float = 4e-4, stiffness: float | None = None, mouth: float = LENGTH, in_plane: bool = False
) -> Robot:
    """Return the paper's arm, or a variant: another section (m2) or stiffness (N m2), gravity in the plane."""
    bending = YOUNG * area * THICKNESS**2 / 12 if stiffness is None else stiffness
    return elastic_rp_chain(
        length=[LENGTH],
        mouth=[mouth],
        density=[DENSITY * area],
        bending_z=[bending],
        modes=[[("y", k + 1) for k in range(modes)]],
        gravity=(0.0, -10.0, 0.0) if in_plane else (0.0, 0.0, -10.0),
        name=f"elastic-rp1 ({modes} modes)",
    )


def program(nv: int, values: Sequence[float] = PROGRAM) -> Force:
    """Return the input program as a force on the first two of nv coordinates."""

    forces = [np.append([value, value], np.zeros(nv - 2)) for value in values]

    def force(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return forces[bisect_right(SWITCHES, t)]

    return force


def arm(robot: Robot | None = None, values: Sequence[float] = PROGRAM) -> Scenario:
    """Return the paper's case, or that of another robot of one arm; it ends if the arm leaves its sleeve."""
    robot = paper_arm() if robot is None else robot
    force = program(robot.nv, values)
    q = np.zeros(robot.nq)
    q[1] = START
    return Scenario(
        name="elastic-arm",
        title="an elastic arm that is turned and pushed out of its sleeve",
        robot=robot,
        q0=q,
        v0=np.zeros(robot.nv),
        horizon=DURATION,
        inputs=force,
        methods=(METHOD,),  # lagrange-elastic, in plain Python, takes minutes a run
        integrals=lambda t, q, v: np.array([force(t, q, v) @ v]),
        switches=SWITCHES,
        events=(_out, _in),
        measures={
            "angle": Measure(lambda found: found.q[:, 0], "rad"),
            "extension": Measure(lambda found: found.q[:, 1], "m"),
            "deflection": Measure(deflection, "m"),
            "energy balance": Measure(balance, "J"),
        },
        rtol=RTOL,
        atol=ATOL,
    )


def deflection(found: Recording) -> FloatArray:
    """Of the tip, across the arm (K,), m."""
    return np.asarray(tip_deflection(found.robot, found.q)[:, 0, 1])


def balance(found: Recording) -> FloatArray:
    """Energy minus the start's minus the work of the inputs (K,), J."""
    return np.asarray(found.energy - found.energy[0] - found.integrals[:, 0])


def _out(t: float, q: FloatArray, v: FloatArray) -> float:
    return float(LENGTH - q[1])


def _in(t: float, q: FloatArray, v: FloatArray) -> float:
    return float(q[1])


@cache
def paper_run(modes: int = 2) -> Recording:
    """Return the run of the paper's case at every millisecond."""
    return arm(paper_arm(modes)).run(times=np.linspace(0.0, DURATION, 1001))


def convergence(counts: Sequence[int] = (1, 2, 3)) -> list[dict[str, float]]:
    """Return, by number of modes, where the run ends, the largest deflection, its rms gap to the last row."""
    runs = [paper_run(count) for count in counts]
    return [
        {
            "modes": count,
            "q_final": float(found["angle"][-1]),
            "l_final": float(found["extension"][-1]),
            "max_tip": float(np.abs(found["deflection"]).max()),
            "rms_to_last": float(np.sqrt(np.mean((found["deflection"] - runs[-1]["deflection"]) ** 2))),
        }
        for count, found in zip(counts, runs, strict=True)
    ]


SAMPLES = np.linspace(0.0, DURATION, 251)
CURVES = ("q", "l", "tip", "q'", "l'")


def curves(robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return angle, length, deflection and the two rates (K, 5): what the paper's figures show."""
    return np.column_stack([q[:, 0], q[:, 1], tip_deflection(robot, q)[:, 0, 1], v[:, 0], v[:, 1]])


@cache
def integrated(integrator: str, rtol: float = 1e-3, atol: float = 1e-6) -> FloatArray:
    """Return the curves of the paper's case by an integrator of scipy at a tolerance; default MATLAB's."""
    case = arm()
    solver = methods.get(METHOD).prepare(case.robot)
    found = simulate(
        solver, case.q0, case.v0, program(case.robot.nv), DURATION, times=SAMPLES, switches=SWITCHES,
        integrator=integrator, rtol=rtol, atol=atol,
    )  # fmt: skip
    return curves(case.robot, found.q, found.v)


@cache
def fixed_steps(step: float) -> FloatArray:
    """Return the curves by the classical Runge-Kutta method of order 4 with a fixed step (s)."""
    case = arm()
    solver, nv = methods.get(METHOD).prepare(case.robot), case.robot.nv
    count = round(DURATION / step)
    force = program(nv)
    y = np.concatenate([case.q0, case.v0])
    kept = [y]
    for k in range(count):
        tau = force((k + 0.5) * step, y[:nv], y[nv:])  # inputs jump at ends of steps only

        def slope(x: FloatArray, tau: FloatArray = tau) -> FloatArray:
            return np.concatenate([x[nv:], solver.forward_dynamics(x[:nv], x[nv:], tau)])

        k1 = slope(y)
        k2 = slope(y + 0.5 * step * k1)
        k3 = slope(y + 0.5 * step * k2)
        k4 = slope(y + step * k3)
        y = y + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        kept.append(y)
    rows = np.array(kept)[:: max(1, count // 250)]
    return curves(case.robot, rows[:, :nv], rows[:, nv:])


def apart(one: FloatArray, other: FloatArray) -> dict[str, float]:
    """Return the largest difference of each curve, relative to its range."""
    return dict(zip(CURVES, (np.abs(one - other).max(axis=0) / np.ptp(other, axis=0)).tolist(), strict=True))


def planar_chain(n: int, modes: int) -> Robot:
    """Return n arms like the paper's with so many bending modes each."""
    kinds = [("y", k + 1) for k in range(modes)]
    name = f"{n} elastic arms, {modes} modes"
    return elastic_rp_chain(length=1.0, density=3.14, bending_z=500 / 3, modes=[kinds] * n, name=name)


def two_arms() -> Robot:
    """Return a spatial chain of two arms with modes of every kind, for balances of energy."""
    return elastic_rp_chain(
        length=[1.0, 0.8],
        density=[3.0, 2.0],
        bending_z=[150.0, 60.0],
        bending_y=[90.0, 60.0],
        axial=5000.0,
        torsion=40.0,
        section_inertia=np.diag([0.01, 0.005, 0.005]),
        modes=[[("y", 1), ("z", 1), ("x", 1), ("t", 1)], [("y", 1), ("x", 1)]],
        twist=[0.5, -1.2],
        gravity=(1.0, -9.0, 2.0),
        name="two elastic arms",
    )


@cache
def energy_drift(horizon: float = 0.1, method: str = METHOD, **options: Any) -> float:
    """Return the largest change in energy (J) of the two arms without inputs; options are the method's."""
    robot = two_arms()
    free = Scenario(
        name="two-elastic-arms",
        title="two elastic arms left to themselves",
        robot=robot,
        q0=np.array([0.4, 0.5, 0.03, -0.02, 0.002, 0.05, -0.7, 0.4, 0.025, -0.001]),
        v0=np.array([0.9, 0.5, 0.2, -0.15, 0.05, -0.4, -1.1, -0.6, 0.3, 0.02]),
        horizon=horizon,
        inputs=Torques.constant(np.zeros(robot.nv)),
        rtol=1e-11,
        atol=1e-12,
    )
    found = free.run(methods.get(method, **options), times=np.linspace(0.0, horizon, 201))
    return float(np.abs(found.energy - found.energy[0]).max())
