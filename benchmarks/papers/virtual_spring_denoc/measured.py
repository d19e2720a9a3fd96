"""What the virtual-spring paper says beside our numbers, and our own checks.

Section numbers are the paper's. Its figures were not available, only text and tables; the amplitude of the path is
lost, 0.05 m is chosen.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from dynbench import methods
from dynbench.benchmarks.papers.claims import (
    Claim,
    Interval,
    Source,
    across,
    decided,
    missing,
    paired_ratio,
    seconds,
    when,
)
from dynbench.benchmarks.papers.virtual_spring_denoc import planar
from dynbench.benchmarks.papers.virtual_spring_denoc.experiment import (
    CONTROLS,
    HORIZON,
    PAPER,
    PRINTED_SECONDS,
    STIFFNESSES,
    ZETA,
    best,
    joint_reactions,
    remedies,
    replay,
    springs,
    step_controls,
    stiffness_table,
)
from dynbench.benchmarks.timing.counts import kernel_method
from dynbench.methods.kernels.count import count_operations
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots.errors import DynbenchError

LN10 = float(np.log(10.0))
PRINTED_OPTIMUM, PRINTED_DENOC_SECONDS, THRESHOLD = 1e6, 2.0, -5.0
SAME = 0.01  # decades by which errors of two derivations of the same equations may differ
REACTION = 0.05  # relative RMS error up to which a spring's force counts as the reaction
LOST = 0.1  # decades that an error must rise to count as lost accuracy
Row = dict[str, float]


def measured_claims(quick: bool = False) -> list[Claim]:
    """Return the paper's statements and our checks; ``quick`` stops at K_s = 1e6 (1e7 for the optimum)."""
    table = stiffness_table(STIFFNESSES[:6] if quick else STIFFNESSES)
    denoc, rows = table[0], {row["stiffness"]: row for row in table[1:]}
    controls = step_controls(STIFFNESSES[4:7] if quick else STIFFNESSES[3:])
    return [
        *accuracy(rows),
        *optimum(controls),
        *table_2(denoc, rows),
        *cost(denoc, rows),
        *reactions(rows),
        constraints(),
        *needs(),
        *checks(rows),
    ]


def accuracy(rows: dict[float, Row]) -> list[Claim]:
    """Sections 4 and 5: errors over stiffness."""
    of, claims = Source(PAPER), []
    for key, first, place, quote in (
        ("e_c max", 1e5, "section 4, text on Fig. 5", "کمتر از 5- و قابل قبول است"),
        ("e_p max", 1e6, "section 4, text on Fig. 6", "خطای موقعیت نیز به ازای"),
    ):
        before, there = rows[first / 10][key], rows[first][key]
        cases = {"decimal": there < THRESHOLD, "natural": LN10 * there < THRESHOLD < LN10 * before}
        claims.append(
            of.statement(
                f"{key[:3]} is below -5 for K_s >= {first:.0e} N/m", place=place, quote=quote, printed="-5",
                measured=LN10 * there, unit="natural logarithm of m", verdict=across(cases),
                reason="depends on the base of the logarithm, which is not stated: with natural ones the threshold "
                f"lies where the paper has it ({LN10 * before:.1f} at {first / 10:.0e}), with decimal ones {there:.1f} "
                "is not below -5",
            )
        )  # fmt: skip
    opening = 1e3 * 10.0 ** rows[1e5]["e_c max"]
    claims.append(
        of.statement(
            "that is an accuracy of a hundredth of a millimetre", place="section 4, text on Fig. 5",
            quote="خطای قیدی با دقت صدم میلیمتر", printed="0.01 mm", measured=opening, unit="mm, sum |c_i| at 1e5",
            verdict=when(opening <= 0.01),
            reason="the elongation is the joint force over K_s: 0.01 mm at 1e5 N/m would take forces below 1 N",
        )
    )  # fmt: skip
    order = [k for k in rows if k <= PRINTED_OPTIMUM]
    derived = {k: planar.run(k) for k in order}
    apart = max(
        abs(float(np.log10(found.max())) - rows[k][key])
        for k, run in derived.items()
        for key, found in (("e_c max", run.open_by), ("e_p max", run.off_by))
    )
    claims.append(
        of.statement(
            "as accurate as Lagrange's equations with virtual springs (LVS)", place="abstract, p. 377",
            quote="دقت این روش مشابه روش فنر مجازی لاگرانژ", printed="similar", measured=apart,
            unit="decades, largest difference of e_c and e_p", verdict=when(apart < SAME),
            reason="replays at K_s = 1e1 to 1e6 by MDeNOC and by Lagrange's equations whose spring term was derived by "
            f"hand (planar.py); within {SAME} decades. It is the same differential equation",
        )
    )  # fmt: skip
    tight = {k: float(np.log10(planar.run(k, rtol=1e-8, atol=1e-10).open_by.max())) for k in (1e4, 1e5, 1e6)}
    falls = np.diff(list(tight.values()))
    claims.append(
        of.statement(
            "in theory accuracy grows with K_s", place="section 5", quote="از نظر تئوری با افزایش "
            "مقدار", printed="grows",
            measured=-float(falls.max()), unit="decades of e_c gained per decade of K_s, least",
            verdict=when(bool((falls < -0.9).all())),
            reason="at a tolerance of 1e-8, where the integrator's error does not count: one over the stiffness",
        )
    )  # fmt: skip
    return claims


def optimum(controls: dict[str, dict[float, Row]]) -> list[Claim]:
    """Section 4: too stiff is worse, and 1e6 is best; under four ways to control a step."""
    of = Source(PAPER)
    listed = "; ".join(
        f"{control}: " + ", ".join(f"{row['e_c max']:.2f}/{row['e_p max']:.2f}" for row in found.values())
        for control, found in controls.items()
    )
    over = ", ".join(f"{k:.0e}" for k in next(iter(controls.values())))
    what = f"largest e_c/e_p as decimal logarithms at {over}: {listed}"
    falls = {name: best(found, "e_c max") == max(found) for name, found in controls.items()}
    loses = {
        name: any(found[max(found)][key] > found[best(found, key)][key] + LOST for key in ("e_c max", "e_p max"))
        for name, found in controls.items()
    }
    is_best = {
        name: all(best(found, key) == PRINTED_OPTIMUM for key in ("e_c max", "e_p max"))
        for name, found in controls.items()
    }
    stiffest = {name: best(found, "e_p max") for name, found in controls.items()}
    return [
        of.statement(
            "the constraint error falls as K_s grows", place="section 4, text on Fig. 5",
            quote="خطای قیدی کاهش مییابد", printed="falls", measured=sum(falls.values()),
            unit=f"of {len(falls)} step controls", verdict=across(falls),
            reason=f"depends on the step control of Runge-Kutta 4/5, of which the paper says only that it is "
            f"adaptive; {what}",
        ),
        of.statement(
            "too large a K_s loses accuracy", place="section 4, after Table 2",
            quote="سبب بروز خطاهای محاسباتی در روشهای عددی", printed="loses accuracy", measured=sum(loses.values()),
            unit=f"of {len(loses)} step controls", verdict=across(loses),
            reason="steps are limited by stability, and how much error a control lets pass there decides: under "
            + (" and ".join(name for name, true in loses.items() if not true) or "none")
            + " errors fall all the way",
        ),
        of.statement(
            "K_s = 1e6 N/m is the optimum", place="section 4, text on Fig. 6",
            quote="به عنوان مقدار بهینه ضریب سختی فنرهای مجازی انتخاب میشود", printed="1e6 N/m",
            measured=float(np.median(list(stiffest.values()))), unit="N/m, median over controls of the best by e_p",
            verdict=across(is_best),
            reason="best for both errors under "
            + (", ".join(CONTROLS[name] for name, true in is_best.items() if true) or "none of the controls")
            + "; best by e_p: " + ", ".join(f"{name} {k:.0e}" for name, k in stiffest.items()),
        ),
    ]  # fmt: skip


def table_2(denoc: Row, rows: dict[float, Row]) -> list[Claim]:
    """Run times: printed beside ours, which are of another machine and language."""
    of = Source(PAPER)
    absent = missing("the machine", "the MATLAB code", "the absolute tolerance")
    claims = [
        of.statement(
            f"run time at K_s = {k:.0e} N/m", place="Table 2", quote="Calculation time of the modified",
            printed=f"{printed} s", measured=rows[k]["seconds"], unit="s", verdict=absent,
            reason=f"compiled here, {rows[k]['evaluations']:.0f} right-hand sides; the paper's machine and code are "
            f"unknown",
        )
        for k, printed in zip(rows, PRINTED_SECONDS, strict=False)
    ]  # fmt: skip
    claims.append(
        of.statement(
            "run time of DeNOC", place="section 4, after Fig. 6", quote="حدود 2 ثانیه است",
            printed=f"about {PRINTED_DENOC_SECONDS:g} s", measured=denoc["seconds"], unit="s", verdict=absent,
            reason=f"compiled here, {denoc['evaluations']:.0f} right-hand sides",
        )
    )  # fmt: skip
    grows = np.diff([row["evaluations"] for row in rows.values()]) > 0
    claims.append(
        of.statement(
            "the run time grows noticeably with the stiffness", place="section 4, text on Table 2",
            quote="زمان حل به صورت محسوسی افزایش مییابد", printed="grows",
            measured=rows[max(rows)]["evaluations"] / rows[min(rows)]["evaluations"],
            unit=f"times the right-hand sides from {min(rows):.0e} to {max(rows):.0e}", verdict=when(bool(grows.all())),
            reason="right-hand sides instead of seconds: they do not depend on the machine",
        )
    )  # fmt: skip
    return claims


@cache
def time_ratio(rounds: int = 11) -> Interval:
    """Return processor time of the replay by springs of 1e6 N/m over that by DeNOC, in turns."""
    case, stiff = replay(), springs(PRINTED_OPTIMUM)
    return paired_ratio(lambda: case.run(stiff).seconds.processor, lambda: case.run().seconds.processor, rounds)


def interpreted_seconds(evaluations: float, calls: int = 5) -> float:
    """Return what the right-hand sides would take in interpreted Python, s: the same kernel, not compiled."""
    case, method = replay(), springs(PRINTED_OPTIMUM)
    out, work = np.empty(case.robot.nv), np.empty(method.work_size(case.robot, "forward_dynamics"))
    model, tau = method.pack(case.robot), np.zeros(3)
    call = partial(method.kernels["forward_dynamics"], ONE, model, case.q0, case.v0, tau, None, out, work)
    return evaluations * min(seconds(call) for _ in range(calls))


def cost(denoc: Row, rows: dict[float, Row]) -> list[Claim]:
    """What is said of the cost of the two methods."""
    of, stiff = Source(PAPER), rows[PRINTED_OPTIMUM]
    ratio = time_ratio()
    interpreted = interpreted_seconds(stiff["evaluations"])
    slow = {"interpreted": interpreted > HORIZON, "compiled": stiff["seconds"] > HORIZON}
    robot = replay().robot
    counts = {
        name: count_operations(kernel_method(name), robot, "forward_dynamics").flops
        for name in ("virtual-spring-denoc", "denoc", "virtual-spring-lagrange")
    }
    cheap = {name: counts["virtual-spring-denoc"] < counts[name] for name in ("denoc", "virtual-spring-lagrange")}
    return [
        of.statement(
            "springs of 1e6 N/m take much more time than DeNOC", place="abstract, p. 377; section 4",
            quote="زمان حل بیشتری دارد", printed="45 s against 2 s", measured=ratio.middle,
            unit="times DeNOC's processor time", verdict=decided(ratio, 1.0),
            reason=f"paired runs, {ratio} with 95 %; the printed ratio is {45.592 / 2:.0f}, and ours says as much of "
            f"an implementation as of a method: {stiff['evaluations'] / denoc['evaluations']:.0f} times the right-hand "
            "sides",
        ),
        of.statement(
            "not fit for real time", place="section 4, after Table 2",
            quote="روش ارائه شده را نمیتوان برای محاسبات ریلتایم", printed="45 s for 6 s", measured=stiff["seconds"],
            unit=f"s for {HORIZON:g} s, compiled", verdict=across(slow),
            reason=f"depends on the language: interpreted, the same right-hand sides take {interpreted:.0f} s, "
            f"compiled {HORIZON / stiff['seconds']:.0f} times less than the motion lasts",
        ),
        of.statement(
            "the equations are much cheaper to set up than those of DeNOC and of LVS", place="abstract, p. 377",
            quote="فرایند استخراج معادلات در روش دینامیکی جدید بسیار کم هزینهتر است", printed="much less costly",
            measured=counts["virtual-spring-denoc"], unit="operations of one right-hand side", verdict=across(cheap),
            reason=f"depends on what it is compared with: DeNOC with its loops {counts['denoc']}, forward kinematics "
            f"not counted, LVS {counts['virtual-spring-lagrange']}. The hours of a derivation on paper cannot be "
            "measured",
        ),
    ]  # fmt: skip


def reactions(rows: dict[float, Row]) -> list[Claim]:
    """Sections 1, 4 and 5: the springs give the reactions, and Lagrange's equations do not."""
    of, stiffness = Source(PAPER), PRINTED_OPTIMUM
    left = {row["remedy"]: row["error"] for row in remedies((stiffness,))}
    plain, damped = joint_reactions(stiffness), joint_reactions(stiffness, ZETA, after=0.5)
    good = {remedy: error < REACTION for remedy, error in left.items()}
    robot, (q, v) = replay().robot, (replay().q0, replay().v0)
    by_denoc, by_lagrange = (
        methods.get(name, stiffness=stiffness).prepare(robot).multipliers(q + 1e-5, v, 0.0 * v)
        for name in ("virtual-spring-denoc", "virtual-spring-lagrange")
    )
    apart = float(np.abs(by_denoc - by_lagrange).max() / np.abs(by_denoc).max())
    return [
        of.statement(
            "all constraint reactions can be computed, as estimates", place="section 5; abstract",
            quote="تمامی عکسالعملهای قیدی سیستم قابل محاسبه هستند", printed="computable", measured=max(plain.values()),
            unit="relative RMS error, worst joints, K_s = 1e6", verdict=across(good),
            reason="depends on how they are read off: as they are, the springs ring about the reaction for ever, at "
            f"any K_s (platform {plain['platform']:.2f}, knees {plain['knees']:.2f}, base {plain['base']:.2f}); "
            f"averaged over 0.1 s {left['averaged']:.1e}, pre-stretched {left['pre-stretched']:.1e}, damped "
            f"{left['damped']:.1e} (knees {damped['knees']:.1e}, base {damped['base']:.1e}) of the reaction. Up to "
            f"{REACTION} counts",
        ),
        of.statement(
            "unlike the new method, LVS does not give reactions", place="section 1, last paragraph",
            quote="روش ف.م.ل. از چنین ویژگی برخوردار نیست", printed="none", measured=apart,
            unit="relative difference of the springs' forces", verdict=when(apart > 1e-12),
            reason="-K_s c is at hand in LVS as well: the same six numbers; the forces at knees and base follow from "
            "them link by link",
        ),
    ]  # fmt: skip


def constraints() -> Claim:
    """The experiment that the abstract announces: other definitions of the constraints."""
    table = planar.constraint_table()
    fails = {name: not planar.proper(openings) for name, openings in table.items() if not planar.CONSTRAINTS[name]}
    listed = "; ".join(
        f"{name}: " + ", ".join("runs away" if np.isinf(x) else f"{x:.1e}" for x in openings)
        for name, openings in table.items()
    )
    return Source(PAPER).statement(
        "constraints must be the elongations of the springs, else the result is wrong", place="abstract; sections 2, 5",
        quote="در غیر این صورت روش پیشنهادی پاسخ صحیح بهدست نمیدهد", printed="wrong otherwise",
        measured=sum(fails.values()), unit=f"of {len(fails)} other definitions fail", verdict=across(fails),
        reason="depends on A: it must be the gradient of the c that is used and have full rank where c = 0. Largest "
        f"opening in m at K_s = 1e3, 1e4, 1e5: {listed}",
    )  # fmt: skip


def needs() -> list[Claim]:
    """Sections 2 and 5: statements about what the method does without."""
    of, case = Source(PAPER), replay()
    A = case.robot.loop_jacobian(case.q0)
    other = planar.Springs(case, 1e4).data[0] * (A.T @ case.robot.loop_residual(case.q0 + 1e-3))
    off = case.q0 + 1e-2
    solver = springs(PRINTED_OPTIMUM).prepare(case.robot)
    moves = bool(np.isfinite(solver.forward_dynamics(off, case.v0, np.zeros(3))).all())
    try:
        case.method.prepare(case.robot).forward_dynamics(off, case.v0, np.zeros(3))
        refused = False
    except DynbenchError:
        refused = True
    return [
        of.statement(
            "neither the constraints' Jacobian nor its rate is needed", place="sections 2, 5",
            quote="نیازی به محاسبه ماتریس ژاکوبین و نرخ تغییرات آن نیست", printed="not needed",
            measured=A.size, unit="entries of A in every right-hand side", verdict=when(not other.any()),
            reason="eqs. (20) and (29) contain A, and the springs act on the coordinates through it; only its rate and "
            "forward kinematics are spared",
        ),
        of.statement(
            "forward kinematics is not needed in every step", place="sections 2, 5",
            quote="نیازی به محاسبه سینماتیک مستقیم در هر بازه زمانی نیست", printed="not needed",
            measured=float(np.abs(case.robot.loop_residual(off)).sum()), unit="m, opening at which springs still "
            "compute",
            verdict=when(moves and refused),
            reason="springs take states with open loops, the multiplier form refuses them",
        ),
    ]  # fmt: skip


def checks(rows: dict[float, Row]) -> list[Claim]:
    """Our own: the law of the cost, and that the two implementations of LVS agree."""
    of = Source(PAPER)
    upper = [k for k in rows if k >= 1e4]
    exponent = float(np.polyfit(np.log10(upper), np.log10([rows[k]["evaluations"] for k in upper]), 1)[0])
    evaluations = np.array([row["evaluations"] for row in rows.values()])
    printed = np.array(PRINTED_SECONDS[: len(evaluations)])
    scaled = np.column_stack([np.ones_like(evaluations), evaluations]) / printed[:, None]
    fit, *_ = np.linalg.lstsq(scaled, np.ones(len(printed)), rcond=None)
    misfit = float(np.abs(scaled @ fit - 1.0).max())
    apart = lagrange_difference()
    return [
        of.check(
            "right-hand sides grow with the root of K_s", measured=exponent, unit="exponent",
            verdict=when(abs(exponent - 0.54) < 0.06),
            reason=f"from 1e4 to {max(rows):.0e}; the seconds of Table 2 grow with K_s^0.54. Within 0.06",
        ),
        of.check(
            "the seconds of Table 2 are linear in our right-hand sides", measured=misfit, unit="largest relative "
            "misfit",
            verdict=when(misfit < 0.1), reason=f"{fit[0]:.2f} s + {1e3 * fit[1]:.2f} ms a right-hand side; within 10 %",
        ),
        of.check(
            "MDeNOC, LVS and the hand-written equations have the same accelerations", measured=apart,
            unit="largest relative difference", verdict=when(apart < 1e-12),
            reason="three random states with open loops, K_s = 1e4; within 1e-12",
        ),
    ]  # fmt: skip


def lagrange_difference(states: int = 3) -> float:
    """Return the largest relative difference of accelerations between three derivations, loops open.

    Plain Python runs of the kernels: nothing to compile for three states.
    """
    robot = replay().robot
    rng = np.random.default_rng(0)
    q, v, _ = robot.sample(states)
    q = q + rng.normal(0.0, 0.01, q.shape)
    tau, worst = np.array([5.0, -3.0, 2.0]), 0.0
    for s in range(states):
        by_hand = np.empty(robot.nv)
        planar.accelerations(q[s], v[s], tau, 1e4, 0, planar.CORNERS, by_hand)
        for name in ("virtual-spring-denoc", "virtual-spring-lagrange"):
            method = kernel_method(name, stiffness=1e4)
            out, work = np.empty(robot.nv), np.empty(method.work_size(robot, "forward_dynamics"))
            method.kernels["forward_dynamics"](ONE, method.pack(robot), q[s], v[s], tau, None, out, work)
            worst = max(worst, float(np.abs(out - by_hand).max() / np.abs(by_hand).max()))
    return worst
