"""What the elastic Gibbs-Appell paper says beside our numbers, our own checks, its errata, how its method grows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dynbench import methods
from dynbench.benchmarks.papers.claims import Claim, Erratum, Source, across, missing, when
from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import (
    DENSITY,
    LENGTH,
    METHOD,
    PAPER,
    PRINTED_SECONDS,
    RTOL,
    SHEAR,
    START,
    THICKNESS,
    YOUNG,
    apart,
    convergence,
    energy_drift,
    fixed_steps,
    integrated,
    paper_run,
    planar_chain,
)
from dynbench.benchmarks.papers.gibbs_appell_rp import counts as rigid_counts
from dynbench.benchmarks.papers.gibbs_appell_rp import measured as rigid_measured
from dynbench.benchmarks.timing.counts import kernel_method
from dynbench.methods.kernels.count import count_operations
from dynbench.robots import elastic_rp_chain, load


def growth(
    arms: Sequence[int] = (1, 2, 4, 8), modes: Sequence[int] = (1, 2, 4, 8), states: int = 4096
) -> list[dict[str, Any]]:
    """Return flops and microseconds per state of inverse dynamics, with arms (2 modes) and with modes (2 arms)."""
    method = kernel_method(METHOD)
    rows = []
    for what, n, m in [("arms", n, 2) for n in arms] + [("modes", 2, m) for m in modes]:
        robot = planar_chain(n, m)
        solver = method.prepare(robot)
        Q, V, A = robot.sample(states)
        best = min(_clock(lambda s=solver, x=(Q, V, A): s.inverse_dynamics(*x)) for _ in range(5))
        flops = count_operations(method, robot, "inverse_dynamics").flops
        rows.append({"with": what, "arms": n, "modes": m, "flops": flops, "microseconds": 1e6 * best / states})
    return rows


def _clock(call: Any) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def frequencies(l: float = START, width: float = 0.08, thickness: float = THICKNESS) -> dict[str, float]:
    """Return the lowest frequency (rad/s) of each kind of vibration of an arm of that section, clamped at the mouth."""
    area = width * thickness
    mu = DENSITY * area
    polar = DENSITY * (width * thickness**3 + thickness * width**3) / 12
    robot = elastic_rp_chain(
        length=[LENGTH],
        mouth=[LENGTH],
        density=[mu],
        bending_z=[YOUNG * width * thickness**3 / 12],
        bending_y=[YOUNG * thickness * width**3 / 12],
        axial=[YOUNG * area],
        torsion=[SHEAR * width * thickness**3 / 3],
        section_inertia=np.diag([polar, 0.0, polar]),
        modes=[[("y", 1), ("z", 1), ("x", 1), ("t", 1)]],
        gravity=(0.0, 0.0, 0.0),
    )
    solver = methods.get(METHOD).prepare(robot)
    q = np.array([0.0, l, 0.0, 0.0, 0.0, 0.0])
    inertia = np.diag(solver.mass_matrix(q))[2:]
    bent = q + np.diag([0.0, 0.0, 1e-3, 1e-3, 1e-3, 1e-3])[2:]
    stiffness = np.diag(solver.bias(bent, np.zeros((4, 6)))[:, 2:]) / 1e-3
    names = ("bending, thin side", "bending, wide side", "longitudinal", "torsion")
    return dict(zip(names, np.sqrt(stiffness / inertia).tolist(), strict=True))


SECTIONS = {"5 x 80 mm": (0.08, 0.005), "20 x 20 mm": (0.02, 0.02), "8 x 50 mm": (0.05, 0.008)}  # all 4e-4 m2
PLOTTED = 0.01  # of the range of a curve: a difference that can be seen in a plot
STEPS = (2e-3, 1e-3, 4e-4)  # s
OF = Source(PAPER)


def measured_claims() -> Iterator[Claim]:
    """Yield the paper's statements, then our own checks."""
    yield frequency_claim()
    yield from integrator_claims()
    yield from cost_claims()
    yield from lost_claims()
    yield from checks()


def frequency_claim() -> Claim:
    """Section 2.1: which vibration is fastest and which slowest."""
    found = {name: frequencies(width=width, thickness=thickness) for name, (width, thickness) in SECTIONS.items()}
    ordered = {
        name: min(by, key=by.__getitem__).startswith("bending") and max(by, key=by.__getitem__) == "longitudinal"
        for name, by in found.items()
    }
    by_kind = next(iter(found.values()))
    listed = ", ".join(f"{name} {value:.0f} rad/s" for name, value in by_kind.items())
    return OF.statement(
        "longitudinal vibration has the highest natural frequency, bending the lowest", place="section 2.1",
        quote="فركانس طبيعي ارتعاشات طولي داراي بيشترين مقدار", printed="an order",
        measured=max(by_kind.values()) / min(by_kind.values()), unit="times the lowest "
        "frequency", verdict=across(ordered),
        reason=f"for three sections of 4e-4 m2 ({', '.join(SECTIONS)}), which the paper does not give; "
        f"{next(iter(SECTIONS))} at l = {START} m: {listed}",
    )  # fmt: skip


def integrator_claims() -> Iterator[Claim]:
    """Section 7: other integrators and other steps change nothing."""
    differ = apart(integrated("RK23"), integrated("RK45"))
    tips = [1e3 * float(np.abs(integrated(name)[:, 2]).max()) for name in ("RK23", "RK45")]
    yield OF.statement(
        "ode23 and ode45 give the same results", place="section 7", quote="هيچ تفاوتي در نتايج ديده "
        "نشد", printed="no difference",
        measured=max(differ.values()), unit="of the range of a curve, largest of five",
        verdict=across({name: value < PLOTTED for name, value in differ.items()}),
        reason=f"the pairs of ode23 and ode45 (scipy's RK23, RK45) at MATLAB's tolerance of 1e-3: {_listed(differ)}; "
        f"largest deflection {tips[0]:.3f} and {tips[1]:.3f} mm. Less than {PLOTTED:g} cannot be seen in a plot",
    )  # fmt: skip
    finest = fixed_steps(STEPS[-1])
    steps = {step: max(apart(fixed_steps(step), finest).values()) for step in STEPS[:-1]}
    yield OF.statement(
        "the size of the step changes nothing in the results", place="section 7",
        quote="در اين حالت نيز تغييري در نتايج مشاهده نشد", printed="no change", measured=max(steps.values()),
        unit="of the range of a curve, largest", verdict=across({f"{step:g} "
        "s": value < PLOTTED for step, value in steps.items()}),
        reason="classical Runge-Kutta with fixed steps of "
        + ", ".join(f"{1e3 * step:g} ms ({value:.1e})" for step, value in steps.items())
        + f" against {1e3 * STEPS[-1]:g} ms; less than {PLOTTED:g} cannot be seen in a plot",
    )  # fmt: skip
    yield OF.statement(
        "time to simulate 1 s", place="section 7", quote="s38.505", printed=f"{PRINTED_SECONDS} s",
        measured=paper_run().seconds.processor, unit="s",
        verdict=missing("the MATLAB code", "the step or the accuracy", "a Core 2 Duo E7500"),
        reason=f"ours compiled, DOP853 at rtol {RTOL:g}; the paper's machine, code and accuracy are not available",
    )  # fmt: skip


def cost_claims() -> Iterator[Claim]:
    """Section 8: the advantages, by counts on rigid chains of the same joints."""
    mine, others, sizes = ("gibbs-appell-rp", "gibbs-appell"), ("newton-euler", "lagrange-euler", "kane"), (1, 3, 8)
    counted = {
        (name, n): count_operations(kernel_method(name), load(f"rp-{n}"), "inverse_dynamics").flops
        for name in (*mine, *others)
        for n in sizes
    }
    ratios = {
        f"{one} against {other}, n = {n}": counted[one, n] / counted[other, n]
        for one in mine
        for other in others
        for n in sizes
    }
    listed = "; ".join(f"{name} " + ", ".join(str(counted[name, n]) for n in sizes) for name in (*mine, *others))
    yield OF.statement(
        "less and simpler computation than Newton-Euler, Lagrange and Kane", place="section 8, first advantage",
        quote="كاهش حجم و پيچيدگي محاسبات نسبت به ساير الگوريتمهاي پيشنهادي", printed="less",
        measured=max(ratios.values()), unit="times the operations of another, worst case",
        verdict=across({name: ratio < 1.0 for name, ratio in ratios.items()}),
        reason="inverse dynamics of rigid R-P chains, n = 1, 3, 8, by the recursion for these joints and by "
        f"Gibbs-Appell for any tree: {listed}. The elastic terms are the same in all",
    )  # fmt: skip
    derived = rigid_counts.derivatives_taken(3)
    yield OF.statement(
        "fewer operations (partial derivatives) than Lagrange's method", place="section 8, second advantage",
        quote="كاهش تعداد عملياتهاي محاسباتي (مشتقات جزئي)", printed="fewer",
        measured=derived["Gibbs-Appell"] / derived["Lagrange"], unit="times Lagrange's derivatives",
        verdict=when(derived["Gibbs-Appell"] < derived["Lagrange"]),
        reason="derivatives of energies per coordinate: S by the acceleration, against K by the rate, that by time, K "
        "and V by the coordinate",
    )  # fmt: skip
    small, large = (rigid_measured.products_of(size, 3) for size in (3, 4))
    yield OF.statement(
        "3x3 and 3x1 matrices in place of 4x4 and 4x1", place="section 8, fourth advantage",
        quote="استفاده از ماتريسهاي 3×3 و 3×1 به جاي", printed="an advantage", measured=small / large,
        unit="times the operations of 4x4 products", verdict=when(small < large),
        reason="the matrix products of the rigid recursion for 3 arms, counted",
    )  # fmt: skip
    drift = energy_drift()
    yield OF.statement(
        "there is no limit to the number of arms", place="abstract; section 1", quote="no limitation on the number",
        printed="none", measured=drift, unit="J, change in energy of two free arms in 0.1 "
        "s", verdict=when(drift < 1e-6),
        reason="after the errata: two arms in space with modes of every kind and no input; 9.7 J kinetic at the start",
    )  # fmt: skip


def lost_claims() -> Iterator[Claim]:
    """Figs. 3 to 8: lost."""
    rows = convergence()
    yield OF.statement(
        "the time response of the system", place="section 7, Figs. 3-8", quote="پاسخ زماني سيستم را كه در شكلهاي 3 "
        "تا 8",
        printed="six figures", measured=rows[1]["max_tip"], unit="m, largest deflection for the data chosen here",
        verdict=missing("the figures", "the section, the initial length, the number of modes"),
        reason="the figures and half of the data are lost; only the caption of Fig. 8 survives, the sliding speed",
    )  # fmt: skip


def checks() -> Iterator[Claim]:
    """What the paper does not state."""
    rows = convergence()
    for statement, key, unit in (
        ("angle at 1 s", "q_final", "rad"),
        ("length outside the sleeve at 1 s", "l_final", "m"),
        ("largest deflection of the tip", "max_tip", "m"),
    ):
        moved = abs(rows[2][key] - rows[1][key])
        yield OF.check(
            f"{statement} has converged with 2 modes", measured=rows[1][key], unit=unit,
            verdict=when(moved < 5e-3 * abs(rows[1][key])),
            reason=f"for the data chosen here; 3 modes instead of 2 move it by {moved:.1e}, within 0.5 %",
        )  # fmt: skip
    balance = float(np.abs(paper_run()["energy balance"]).max())
    yield OF.check(
        "energy less work of the inputs over the run", measured=balance, unit="J", verdict=when(balance < 1e-8),
        reason="within 1e-8; the contents of (47)-(49) are our reconstruction, and this is its balance",
    )  # fmt: skip


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1e}" for name, value in values.items())


def all_errata() -> list[Erratum]:
    """Return what is wrong in print, with the energy that it makes or loses."""
    test = "tests/methods/test_gibbs_appell_elastic.py::test_printed_forms_do_not_conserve_energy"
    exact = energy_drift()
    return [
        Erratum(PAPER, "(68), from two arms on", "F_j = x . phi_j + Q'_j, with d omega_dot / d l_ddot = 0",
                "F_j has (D_j sum_f delta_f d theta_f/dl) . chi_(j+1) too, and (50), (51) the rates of theta_f(l): the "
                "slope of a tip is y'(1)/l and changes when the arm slides",
                f"energy of two free arms changes by {energy_drift(slope_rate_of_l=False):.2g} J in 0.1 s, of 9.7 J "
                f"kinetic at the start; with the term by {exact:.1g} J. The example has one arm, where nothing "
                f"changes", test),
        Erratum(PAPER, "matrix E_i, from two arms on", "lost; inferred: E_i = I + theta~, linear in the angles of "
        "the tip",
                "E_i = exp(theta~)", "not touched by the example, which has one arm. I + theta~ is not orthogonal, "
                "omega is then not the rate of R: energy of two free arms changes by "
                f"{energy_drift(tip_rotation='linear'):.2g} J in 0.1 s", test),
        Erratum(PAPER, "section 7", "ode23 is known as fit for very stiff problems", "ode23s or ode23tb are; ode23 is "
        "explicit",
                "the documentation of MATLAB; the statement on equal results is not touched", ""),
    ]  # fmt: skip
