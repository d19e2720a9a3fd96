"""What the Boltzmann-Hamel paper's equations claim, measured.

The paper prints plots only, so most claims here are what its equations assert about the simulation: two momentum
balances and an energy balance, and properties of M. Two of them are measured on misprinted equations, on purpose:
they show that a balanced momentum says nothing about E_i.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.boltzmann_hamel import printed as misprints
from dynbench.benchmarks.papers.boltzmann_hamel.experiment import (
    BALANCES,
    CASES,
    DURATION,
    GEOMETRIES,
    PAPER,
    TIP_FORCES,
    residuals,
    run,
)
from dynbench.benchmarks.papers.boltzmann_hamel.growth import operations
from dynbench.benchmarks.papers.claims import Claim, Verdict
from dynbench.benchmarks.simulation.scenario import Recording
from dynbench.robots import kinematics
from dynbench.robots.robot import FloatArray

BALANCED = 1e-10  # largest residual that counts as none; the runs leave 1e-11
COAST_SPEED = 0.5  # standard deviation of the velocities of the robot left to itself, m/s and rad/s


def measured_claims(method: str, duration: float) -> list[Claim]:
    """Run the experiment in all variants, and with misprints for ``duration``; return all claims with our numbers."""
    runs = {case: run(method, *case) for case in CASES}
    return [
        *balance_claims(runs),
        coasting_claim(method),
        *misprint_claims(method, duration),
        *mass_matrix_claims(method),
        planar_claim(runs),
        *growth_claims(),
        *unreproducible_claims(),
    ]


def balance_claims(runs: dict[tuple[str, str], Recording]) -> list[Claim]:
    """The balances that (19), (20) and all equations together enforce, in the worst of the cases."""
    push = sum(np.array(force) for force in TIP_FORCES.values())
    straight = [abs_max(r["momentum"][:, :3] - np.outer(r.t, push)) for r in of_frame(runs, "inertial")]
    path = [
        abs_max(
            kinematics.com(r.robot, r.q)
            - kinematics.com(r.robot, r.q[0])
            - np.outer(r.t**2, push) / (2.0 * r.robot.mass.sum())
        )
        for r in of_frame(runs, "inertial")
    ]
    worst = {name: max(residuals(r)[name] for r in runs.values()) for name in BALANCES}
    return [
        claim("forces fixed in space: the linear momentum is (3, -3, -1) t", "0", max(straight), "kg m/s"),
        claim("forces fixed in space: the centre of mass moves by (3, -3, -1) t^2 / (2 M)", "0", max(path), "m"),
        claim(
            "(19): linear momentum is the impulse of the tip forces, all cases", "0", worst["linear momentum"], "kg m/s"
        ),
        claim(
            "(20): angular momentum is the impulse of their moments, all cases",
            "0",
            worst["angular momentum"],
            "kg m^2/s",
        ),
        claim("(19)-(22): kinetic energy is the work of the tip forces, all cases", "0", worst["energy"], "J"),
    ]


def coasting_claim(method: str) -> Claim:
    """Without forces everything is conserved; relative to the size of each."""
    robot = robots.load(GEOMETRIES["parallel_x"])
    v0 = COAST_SPEED * np.random.default_rng(1).standard_normal(robot.nv)
    coast = run(method, "parallel_x", v0=v0, scale=0.0)
    sizes = (
        np.linalg.norm(coast["momentum"][0, :3]),
        np.linalg.norm(coast["momentum"][0, 3:]),
        coast["kinetic energy"][0],
    )
    drifts = [drift / size for drift, size in zip(residuals(coast).values(), sizes, strict=True)]
    statement = "no forces: linear and angular momentum and kinetic energy are constant (largest relative drift)"
    return claim(statement, "0", float(max(drifts)), "")


def misprint_claims(method: str, duration: float) -> list[Claim]:
    """Equations (51) and (52) as printed: momentum stays balanced, energy does not."""
    first = residuals(misprinted(method, "parallel_x", {51}, duration))
    second = residuals(misprinted(method, "opposed_z", {52}, duration))
    why = "momentum is balanced whatever E_i is: (19), (20) alone enforce it; only energy minus work tells"
    return [
        Claim(PAPER, "momentum balance with (51) as printed, parallel_x", "0", momentum_of(first),
              "kg m/s, kg m^2/s", "reproduced", f"{why} (integrated with tolerance 1e-9)"),
        Claim(PAPER, "energy minus work with (51) as printed, parallel_x", "0", first["energy"], "J", "differs",
              "erratum (51): in a planar motion it has no effect at all, and here 0.9 mm: invisible in a plot"),
        Claim(PAPER, "momentum balance with (52) as printed, opposed_z", "0", momentum_of(second),
              "kg m/s, kg m^2/s", "reproduced", f"{why} (integrated with tolerance 1e-9)"),
        Claim(PAPER, "energy minus work with (52) as printed, opposed_z", "0", second["energy"], "J", "differs",
              "erratum (52): the wrong system is unstable, so the number depends on the integrator's tolerance"),
    ]  # fmt: skip


def misprinted(method: str, geometry: str, printed: Collection[int], duration: float = DURATION) -> Recording:
    """Simulate the motion that the printed equations predict, body-fixed forces."""
    robot = robots.load(GEOMETRIES[geometry])

    def force(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return misprints.error_force(robot, q, v, printed)

    return run(method, geometry, force=force, duration=duration, rtol=1e-9, atol=1e-11)


def mass_matrix_claims(method: str) -> list[Claim]:
    """Properties of M, on random states of the paper's robot."""
    robot = robots.load(GEOMETRIES["opposed_z"])
    solver = methods.get(method).prepare(robot)
    Q, V, _ = robot.sample(100)
    M = solver.mass_matrix(Q)
    between = abs_max(M[:, 6:12, 12:18])
    smallest = float(np.linalg.eigvalsh(M)[:, 0].min())
    energy = kinematics.kinetic_energy(robot, Q, V)
    error = abs_max(0.5 * np.einsum("si,sij,sj->s", V, M, V) / energy - 1.0)
    reason = "on 100 random states"
    return [
        Claim(PAPER, "(39), (40): the block of M between two arms is zero", "0", between, "kg m^2",
              "reproduced" if between == 0.0 else "differs", f"exactly, {reason}"),
        Claim(PAPER, "M is positive definite: its smallest eigenvalue", "> 0", smallest, "",
              "reproduced" if smallest > 0.0 else "differs", reason),
        Claim(PAPER, "(18) with its factor 1/2: v' M v / 2 is the kinetic energy (relative error)", "0", error, "",
              verdict(error, 1e-13), f"{reason}, within 1e-13"),
    ]  # fmt: skip


def planar_claim(runs: dict[tuple[str, str], Recording]) -> Claim:
    """Arms along z and forces with x = -y: a planar problem, in which errors hide."""
    planar = [r["position"] for (geometry, _), r in runs.items() if geometry == "opposed_z"]
    out = max(abs_max(x[..., 0] + x[..., 1]) for x in planar)
    return claim("opposed_z stays in the plane x = -y, where the misprint of (51) has no effect", "0", out, "m")


def growth_claims() -> list[Claim]:
    """Operations of inverse dynamics as exact polynomials, 4 to 64 links on one arm and 1 to 32 arms of two links."""
    wanted = {("recursions", "links"): 2, ("recursions", "arms"): 1, ("momentum", "links"): 1, ("momentum", "arms"): 1}
    rows = []
    for (form, family), degree in wanted.items():
        polynomial = operations(form, family).polynomial
        found = None if polynomial is None else polynomial.degree
        rows.append(
            Claim(PAPER, f"inverse dynamics, {form} form: degree of the operations in the number n of {family}",
                  str(degree), found, "", "reproduced" if found == degree else "differs", f"{polynomial} operations")
        )  # fmt: skip
    return rows


def unreproducible_claims() -> list[Claim]:
    """What the paper says and gives no numbers for."""
    return [
        Claim(PAPER, "figs. 3-11: displacements and attitudes agree with a commercial multibody program",
              "plots", None, "", "not reproducible",
              "no numbers, no duration, no directions of the arms, no frame of the forces; friction in the other "
              "program is blamed for the differences"),
        Claim(PAPER, "the recursions reduce the computation considerably", "no number", None, "", "not reproducible",
              "no count and no time is given, nor what they are compared with"),
    ]  # fmt: skip


def claim(statement: str, printed: str, measured: float, unit: str) -> Claim:
    """A residual that should be zero."""
    return Claim(PAPER, statement, printed, measured, unit, verdict(measured, BALANCED), f"within {BALANCED:g}")


def verdict(measured: float, tolerance: float) -> Verdict:
    return "reproduced" if measured <= tolerance else "differs"


def momentum_of(found: dict[str, float]) -> float:
    """The larger residual of the two momenta."""
    return max(found["linear momentum"], found["angular momentum"])


def of_frame(runs: dict[tuple[str, str], Recording], frame: str) -> list[Recording]:
    return [r for (_, other), r in runs.items() if other == frame]


def abs_max(x: FloatArray | float) -> float:
    return float(np.abs(x).max())
