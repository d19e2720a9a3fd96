"""What the Boltzmann-Hamel paper says beside our numbers, and our own checks, by the paper's own recursions.

The paper prints plots only. What it says of them is tested with engines in the part of ADAMS; what its equations assert
(balances of momentum and energy, properties of M) it does not state, so these are checks of ours. Two of them are
measured on misprinted equations: they show that a balanced momentum says nothing about E_i.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.util import find_spec

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.boltzmann_hamel import printed as misprints
from dynbench.benchmarks.papers.boltzmann_hamel.experiment import (
    BALANCES,
    CASES,
    DURATION,
    ENGINES,
    GEOMETRIES,
    METHOD,
    PAPER,
    TIP_FORCES,
    angles,
    displacement,
    residuals,
    run,
)
from dynbench.benchmarks.papers.boltzmann_hamel.growth import operations
from dynbench.benchmarks.papers.claims import Claim, Source, across, missing, when
from dynbench.benchmarks.simulation.scenario import Recording
from dynbench.benchmarks.timing.counts import kernel_method
from dynbench.methods.kernels.count import count_operations
from dynbench.robots import kinematics, random_space_manipulator
from dynbench.robots.robot import FloatArray

BALANCED = 1e-10  # largest residual that counts as none; the runs leave 1e-11
UNBALANCED = 1e-7  # J: more than the tolerance 1e-9 of the runs with misprints leaves
COAST_SPEED = 0.5  # standard deviation of the velocities of the robot left to itself, m/s and rad/s
PLOTTED = 1e-3  # of the range of a curve: what can be seen in a plot
FRICTION = 0.1  # N m s/rad in every joint, tried as the cause of visible differences
OF = Source(PAPER)


def measured_claims(method: str = METHOD, duration: float = DURATION) -> list[Claim]:
    """Run the experiment in all variants, and with misprints for ``duration``; return statements, then checks."""
    runs = {case: run(method, *case) for case in CASES}
    first, second = misprint_runs(method, duration)
    return [
        *engine_claims(method),
        friction_claim(method),
        *count_claims(),
        *equation_claims(first, second),
        general_claim(method),
        *balance_checks(runs),
        coasting_check(method),
        *misprint_checks(first, second),
        *mass_matrix_checks(method),
        planar_check(runs),
        *growth_checks(),
    ]


# ---------------------------------------------------------------------------- statements


def installed_engines() -> tuple[str, ...]:
    """Return the independent engines that can play ADAMS' part here."""
    return tuple(name for name in ENGINES if find_spec(name) is not None)


def engine_claims(method: str) -> list[Claim]:
    """Figs. 3 to 11: displacements and attitudes, against engines that share nothing with the method."""
    engines = installed_engines()
    figures = (
        ("displacements of the five centres of mass agree with ADAMS", "section 4, Figs. 3-7", displacement, "m",
         "از تطابق بسیار خوبی برخوردار است"),
        ("attitudes of the four links agree with ADAMS", "section 4, Figs. 8-11", angles, "rad",
         "بیانگر انطباق مطلوب بین دو مدل است"),
    )  # fmt: skip
    claims = []
    for statement, place, quantity, unit, quote in figures:
        apart: dict[str, float] = {}
        for case in CASES if engines else ():
            ours = quantity(sampled(method, *case))
            for engine in engines:
                theirs = quantity(sampled(engine, *case))
                apart[f"{engine}, {case[0]}, {case[1]}"] = abs_max(ours - theirs) / float(np.ptp(ours))
        same = {name: value < PLOTTED for name, value in apart.items()}
        claims.append(
            OF.statement(
                statement, place=place, quote=quote, printed="very good agreement",
                measured=max(apart.values()) if apart else None, unit=f"of the range of the curves ({unit})",
                verdict=across(same) if same else missing("an independent engine: install pinocchio or mujoco"),
                reason=f"ADAMS is not available: its part is played by {' and '.join(engines) or 'none'}; both "
                f"readings of the arms' directions, both of the forces' frame, {DURATION:g} s. Less than {PLOTTED:g} "
                "of the range cannot be seen in a plot",
            )
        )  # fmt: skip
    return claims


@cache
def sampled(method: str, geometry: str, frame: str, friction: float = 0.0) -> Recording:
    """Return a run at the tolerance of an engine, with viscous friction (N m s/rad) in the joints if asked."""

    def slowed(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return -friction * np.concatenate([np.zeros(6), v[6:]])

    return run(method, geometry, frame, force=slowed if friction else None, rtol=1e-9, atol=1e-11)


def friction_claim(method: str) -> Claim:
    """Is friction enough to explain differences that can be seen?"""
    ours, slowed = (displacement(sampled(method, "opposed_z", "body", friction)) for friction in (0.0, FRICTION))
    moved = abs_max(slowed - ours) / float(np.ptp(ours))
    engines = installed_engines()
    without = [
        abs_max(displacement(sampled(name, "opposed_z", "body")) - ours) / float(np.ptp(ours)) for name in engines
    ]
    cases = {
        "friction can be seen": moved > PLOTTED,
        "nothing can be seen without it": max(without, default=0.0) < PLOTTED,
    }
    return OF.statement(
        "the small differences to ADAMS come from friction that cannot be set to zero there", place="section 4",
        quote="عدم امکان به صفر رساندن اصطکاک در مفاصل", printed="friction", measured=moved,
        unit=f"of the range of the displacements, {FRICTION:g} N m s/rad in every joint",
        verdict=across(cases) if engines else missing("an independent engine: install pinocchio or mujoco"),
        reason="friction is enough to explain differences that can be seen, and engines without friction show none "
        f"({max(without, default=0.0):.0e}); whether it was the cause cannot be told, since the differences are not "
        f"printed",
    )  # fmt: skip


def count_claims() -> list[Claim]:
    """Sections 1 and 5: less computation than Lagrange's method, decided by counts on the paper's robot."""
    robot = robots.load(GEOMETRIES["opposed_z"])
    counts = {
        (name, quantity): count_operations(kernel_method(name), robot, quantity).flops
        for name in (METHOD, "lagrange-euler")
        for quantity in ("inverse_dynamics", "forward_dynamics")
    }
    fewer = {
        quantity: counts[METHOD, quantity] < counts["lagrange-euler", quantity]
        for quantity in ("inverse_dynamics", "forward_dynamics")
    }
    listed = ", ".join(
        f"{quantity.replace('_', ' ')} {counts[METHOD, quantity]} against {counts['lagrange-euler', quantity]}"
        for quantity in fewer
    )
    return [
        OF.statement(
            "less computation than Lagrange's method", place="sections 1, 5",
            quote="از سهولت و حجم محاسباتی کمتر نسبت به روش لاگرانژ برخوردار است", printed="less",
            measured=counts[METHOD, "inverse_dynamics"] / counts["lagrange-euler", "inverse_dynamics"],
            unit="times the operations of Lagrange's, inverse dynamics", verdict=across(fewer),
            reason=f"depends on what is computed; operations on the paper's robot: {listed}",
        ),
    ]  # fmt: skip


def misprint_runs(method: str, duration: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the residuals of motions that (51) as printed (parallel_x) and (52) as printed (opposed_z) predict."""
    return (
        residuals(misprinted(method, "parallel_x", {51}, duration)),
        residuals(misprinted(method, "opposed_z", {52}, duration)),
    )


def equation_claims(first: dict[str, float], second: dict[str, float]) -> list[Claim]:
    """Equations as they are printed, by the numbers they give."""
    states = [one_state(seed) for seed in range(12)]
    energy = max(misprints.kinetic_energy(*s, {18}) / misprints.kinetic_energy(*s) - 1.0 for s in states)
    momentum = max(
        abs_max(misprints.base_angular_momentum(*s, {33}) - misprints.base_angular_momentum(*s))
        / abs_max(misprints.base_angular_momentum(*s))
        for s in states
    )
    bracket = misprints.printed_bracket()
    recursion = float(
        np.median([abs_max(misprints.error_force(*s, {51, 52})) / abs_max(misprints.E_terms(*s)) for s in states])
    )
    robot = robots.load(GEOMETRIES["opposed_z"])
    M = methods.get(METHOD).prepare(robot).mass_matrix(robot.sample(100)[0])
    between = abs_max(M[:, 6:12, 12:18])
    return [
        OF.statement(
            "all expressions in brackets in (11), (12) are zero", place="section 2, after (12)",
            quote="تمامی عبارتهای داخل پرانتز صفرند", printed="0", measured=bracket,
            unit="the first of (12) as printed, in units of omega", verdict=when(bracket < 1e-12),
            reason="printed with + it is 2 [[omega]]; with - it is zero (erratum)",
        ),
        OF.statement(
            "K is the sum of the energies of all members", place="section 3.1, (18)",
            quote="مجموع انرژیهای جنبشی تک تک اعضای ربات", printed="(18)", measured=energy,
            unit="relative excess, worst of 12 random robots", verdict=when(energy < 1e-12),
            reason="the factor 1/2 of the links' rotation is missing in print (erratum)",
        ),
        OF.statement(
            "(33) is the derivative of K by omega_0", place="section 3.4, (33)", quote="با طی روندی مشابه، عبارت",
            printed="(33)", measured=momentum, unit="relative error, worst of 12 random robots",
            verdict=when(momentum < 1e-12), reason="a scalar is added to a column in print (erratum)",
        ),
        OF.statement(
            "different arms have no kinematic connection: derivatives by another arm's velocities are zero",
            place="section 3.4, (39), (40)", quote="هیچگونه ارتباط سینماتیکی میان دو بازوی مختلف وجود "
            "ندارد", printed="0",
            measured=between, unit="kg m^2, block of M between two arms", verdict=when(between == 0.0),
            reason="exactly, on 100 random states",
        ),
        OF.statement(
            "E_i can be computed by the recursions (47), (50)-(53), without K and its derivatives",
            place="section 3.4; abstract", quote="دیگر نیازی به تشکیل انرژی جنبشی و محاسبه مشتقات جزئی وجود ندارد",
            printed="(47)-(53)", measured=recursion, unit="relative error of E as printed, median of random robots",
            verdict=when(recursion < 1e-9),
            reason="as printed, (51) has a wrong index and (52) lacks a rotation; corrected, they are minus the "
            "derivative of K (a check below)",
        ),
        OF.statement(
            "(51), the recursion of B", place="section 3.4, (51)", quote="با توجه به روابط بازگشتی زیر حاصل میگردد",
            printed="(51)", measured=first["energy"], unit="J, energy minus work, parallel_x",
            verdict=when(first["energy"] < UNBALANCED),
            reason="a motion by (51) as printed; in a planar motion it has no effect at all, and here 0.9 mm: "
            "invisible in a plot",
        ),
        OF.statement(
            "(52), the start of A", place="section 3.4, (52)", quote="نیز با استفاده از روابط بازگشتی زیر قابل "
            "محاسبه است",
            printed="(52)", measured=second["energy"], unit="J, energy minus work, opposed_z",
            verdict=when(second["energy"] < UNBALANCED),
            reason="a motion by (52) as printed; the wrong system is unstable, so the number depends on the "
            "integrator's tolerance",
        ),
    ]  # fmt: skip


def general_claim(method: str, count: int = 24) -> Claim:
    """The abstract's scope: any number of arms and links, joints with one to three freedoms."""
    worst = 0.0
    for seed in range(count):
        robot = random_space_manipulator(arms=1 + seed % 4, links=1 + seed % 5, seed=seed, freedoms=(1, 2, 3))
        state = robot.sample(4, seed=seed)
        ours, theirs = (methods.get(name).prepare(robot).inverse_dynamics(*state) for name in (method, "newton-euler"))
        worst = max(worst, abs_max(ours - theirs) / abs_max(theirs))
    return OF.statement(
        "it serves robots with any number of arms and links, joints with one to three freedoms",
        place="abstract; section 3.2", quote="با تعداد دلخواهی بازو که هر بازو متشکل از تعدادی لینک دلبخواه است",
        printed="any", measured=worst, unit="relative difference to newton-euler", verdict=when(worst < 1e-11),
        reason=f"after the errata; {count} random robots with 1 to 4 arms of 1 to 5 links; within 1e-11",
    )  # fmt: skip


def one_state(seed: int) -> tuple[robots.Robot, FloatArray, FloatArray]:
    """Return a random robot on joints with 1 and 3 freedoms, and a state of it."""
    robot = random_space_manipulator(arms=1 + seed % 3, links=2 + seed % 4, seed=seed, freedoms=(1, 3))
    q, v, _ = robot.sample(1, seed=seed)
    return robot, q[0], v[0]


# ---------------------------------------------------------------------------- our own checks


def balance_checks(runs: dict[tuple[str, str], Recording]) -> list[Claim]:
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
        zero("forces fixed in space: the linear momentum is (3, -3, -1) t", max(straight), "kg m/s"),
        zero("forces fixed in space: the centre of mass moves by (3, -3, -1) t^2 / (2 M)", max(path), "m"),
        zero("(19): linear momentum is the impulse of the tip forces, all cases", worst["linear momentum"], "kg m/s"),
        zero(
            "(20): angular momentum is the impulse of their moments, all cases", worst["angular momentum"], "kg m^2/s"
        ),
        zero("(19)-(22): kinetic energy is the work of the tip forces, all cases", worst["energy"], "J"),
    ]


def coasting_check(method: str) -> Claim:
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
    return zero(statement, float(max(drifts)), "")


def misprint_checks(first: dict[str, float], second: dict[str, float]) -> list[Claim]:
    """Momentum does not see the misprints of (51), (52)."""
    return [
        OF.check(
            f"momentum is balanced with {equation} as printed, {case}", measured=momentum_of(found),
            unit="kg m/s, kg m^2/s", verdict=when(momentum_of(found) < 1e-5),
            reason="within 1e-5: momentum is balanced whatever E_i is, (19), (20) alone enforce it; only energy tells",
        )
        for equation, case, found in (("(51)", "parallel_x", first), ("(52)", "opposed_z", second))
    ]  # fmt: skip


def misprinted(method: str, geometry: str, printed: Collection[int], duration: float = DURATION) -> Recording:
    """Simulate the motion that the printed equations predict, body-fixed forces."""
    robot = robots.load(GEOMETRIES[geometry])

    def force(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return misprints.error_force(robot, q, v, printed)

    return run(method, geometry, force=force, duration=duration, rtol=1e-9, atol=1e-11)


def mass_matrix_checks(method: str) -> list[Claim]:
    """Properties of M, on random states of the paper's robot; E by recursion against differences of K."""
    robot = robots.load(GEOMETRIES["opposed_z"])
    solver = methods.get(method).prepare(robot)
    Q, V, _ = robot.sample(100)
    M = solver.mass_matrix(Q)
    smallest = float(np.linalg.eigvalsh(M)[:, 0].min())
    energy = kinematics.kinetic_energy(robot, Q, V)
    error = abs_max(0.5 * np.einsum("si,sij,sj->s", V, M, V) / energy - 1.0)
    difference = derivative_error()
    return [
        OF.check("M is positive definite: its smallest eigenvalue", measured=smallest, verdict=when(smallest > 0.0),
                 reason="on 100 random states"),
        OF.check("v' M v / 2 is the kinetic energy", measured=error, unit="relative error", verdict=when(error < 1e-13),
                 reason="on 100 random states, within 1e-13"),
        OF.check("(47)-(53), corrected, are minus the derivative of K, (22)", measured=difference, unit="relative "
        "error",
                 verdict=when(difference < 1e-6), reason="central differences of K on 4 random robots, within 1e-6"),
    ]  # fmt: skip


def derivative_error(count: int = 4, h: float = 1e-5) -> float:
    """Return the largest relative difference of E to central differences of K at fixed quasi-velocities."""
    worst = 0.0
    for seed in range(count):
        robot, q, v = one_state(seed)
        E = misprints.E_terms(robot, q, v)
        steps = [
            [kinematics.kinetic_energy(robot, robot.integrate(q, sign * h * unit), v) for sign in (1, -1)]
            for unit in np.eye(robot.nv)[6:]
        ]
        found = np.array([-(above - below) / (2 * h) for above, below in steps])
        worst = max(worst, abs_max(found - E[6:]) / abs_max(E))
    return worst


def planar_check(runs: dict[tuple[str, str], Recording]) -> Claim:
    """Arms along z and forces with x = -y: a planar problem, in which errors hide."""
    planar = [r["position"] for (geometry, _), r in runs.items() if geometry == "opposed_z"]
    out = max(abs_max(x[..., 0] + x[..., 1]) for x in planar)
    return zero("opposed_z stays in the plane x = -y, where the misprint of (51) has no effect", out, "m")


def growth_checks() -> list[Claim]:
    """Operations of inverse dynamics as exact polynomials, 4 to 64 links on one arm and 1 to 32 arms of two links."""
    expected = {
        ("recursions", "links"): 2,
        ("recursions", "arms"): 1,
        ("momentum", "links"): 1,
        ("momentum", "arms"): 1,
    }
    rows = []
    for (form, family), degree in expected.items():
        polynomial = operations(form, family).polynomial
        found = np.nan if polynomial is None else float(polynomial.degree)
        whose = "the paper's recursions" if form == "recursions" else "momentum form (ours)"
        rows.append(
            OF.check(f"inverse dynamics, {whose}: degree of the operations in the number n of {family}", measured=found,
                     verdict=when(found == degree), reason=f"{polynomial} operations; expected degree {degree}")
        )  # fmt: skip
    return rows


def zero(statement: str, measured: float, unit: str) -> Claim:
    """A residual that should be zero."""
    return OF.check(
        statement, measured=measured, unit=unit, verdict=when(measured <= BALANCED), reason=f"within {BALANCED:g}"
    )


def momentum_of(found: dict[str, float]) -> float:
    """The larger residual of the two momenta."""
    return max(found["linear momentum"], found["angular momentum"])


def of_frame(runs: dict[tuple[str, str], Recording], frame: str) -> list[Recording]:
    return [r for (_, other), r in runs.items() if other == frame]


def abs_max(x: FloatArray | float) -> float:
    return float(np.abs(x).max())
