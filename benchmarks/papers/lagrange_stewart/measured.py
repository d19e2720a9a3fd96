"""What the Gough-Stewart paper says beside our numbers, our own checks, and what is printed wrong in it."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.claims import Claim, Erratum, Provenance, Source, across, missing, when
from dynbench.benchmarks.papers.lagrange_stewart.experiment import (
    HORIZON,
    LEG_2,
    MODELS,
    OTHER_LEGS,
    PAPER,
    TABLE_1,
    Path,
    admissible_horizons,
    bounds,
    forces,
    paper_path,
    rotating_path,
    squared_error,
)
from dynbench.benchmarks.papers.lagrange_stewart.printed import force_error, printed_determinant
from dynbench.benchmarks.timing.counts import kernel_method
from dynbench.methods.kernels.count import count_operations
from dynbench.methods.lagrange_stewart.coordinates import platform_motion
from dynbench.robots.families.gough_stewart import gough_stewart
from dynbench.robots.families.stewart_legs import platform_state

TESTS = "tests/benchmarks/papers/test_lagrange_stewart.py"
OF = Source(PAPER)
WITHIN = 0.05  # of a number of Table 1: the horizon and the inertias are not given
LARGE, SMALL = 0.2, 0.05  # relative RMS force error: what counts as very large, and as suitable accuracy
CONSIDERABLE = 0.25  # of the operations: what counts as a considerable saving
ENGINE = 1e-9  # relative difference to another engine that counts as none
WEIGHTLESS = 1e-12  # kg: legs without mass, as an engine can have them

PROVENANCE = (
    Provenance("a, b, d", "0.2, 0.4, 0.1 m", "given", "section on the dynamic model"),
    Provenance("m, g", "1.36 kg, 9.8066 m/s^2", "given", "section on the dynamic model"),
    Provenance("path", "q = (-0.1, 0.1 sin 2t, 0.7, 0, 0, 0)", "given", "section on the dynamic model"),
    Provenance("m_1, m_2", "0.4279, 0.1228 kg", "given", "after (37)"),
    Provenance("l_1, l_2", "0.22, 0.05 m", "given", "after (37); twice the distances of the centres of mass: together "
               "they are shorter than a leg"),
    Provenance("coordinates of the joints", "hexagon and triangle", "inferred", "Figs. 3, 4 are lost; after the papers "
    "it cites, and the only one of 576 layouts that fits the massless row"),
    Provenance("legs to corners", "1, 2 to T1; 3, 4 to T2; 5, 6 to T3", "inferred", "as above: each pair on a long "
    "side"),
    Provenance("horizon of (38)", "4 s", "inferred", "infinity is printed; the rows of Table 1 allow 3.91 to 4.48 s"),
    Provenance("leg 2 of the massless row", "37.2727", "inferred", "27.2727 is printed and contradicts the lumped row"),
    Provenance("inertia of the plate", "thin, m a^2/24 (1, 1, 2)", "chosen", "no effect on the path, which does not "
    "turn"),
    Provenance("inertias of the legs' parts", "slender rods", "chosen", "the ADAMS model is not published"),
    Provenance("sign of a force", "positive pushes apart", "chosen", "not given"),
)  # fmt: skip


def measured_claims() -> list[Claim]:
    """Return Table 1 beside ours, and the paper's statements, then our checks."""
    ours = {model: squared_error(model) for model in TABLE_1}
    return [*table_1(ours), *accuracy_claims(ours), cost_claim(), *engine_claims(), *checks(ours)]


def table_1(ours: dict[str, np.ndarray]) -> list[Claim]:
    """Twelve integrals of the squared force error."""
    low, high = (x[0] for x in bounds(np.array([HORIZON])))
    claims = []
    for model, quote in (("massless", "بدون در نظر گرفتن جرم لینکها"), ("lumped", "با فرض متمرکز بودن جرم لینکها")):
        ratio = ours[model] / TABLE_1[model]
        for leg, value in enumerate(ours[model]):
            printed = float(TABLE_1[model][leg])
            reason = f"{ratio[leg] - 1.0:+.1%}; within {WITHIN:.0%} counts. Horizon {HORIZON:g} s inferred"
            if model == "massless" and not low[leg] <= printed <= high[leg]:
                reason += (
                    ". The printed number contradicts the rest of the table: its own lumped row demands "
                    f"{low[leg]:.2f} to {high[leg]:.2f}. With one digit changed, {LEG_2}, ours is "
                    f"{value / LEG_2 - 1.0:+.1%} off"
                )
            elif model == "lumped":
                reason += (
                    f". Ours is {ratio.min():.2f} to {ratio.max():.2f} of the printed numbers: the pattern over the "
                    "legs is there, the size is not. The inertias of the ADAMS parts are unpublished; nothing is tuned "
                    "to them"
                )
            claims.append(
                OF.statement(
                    f"integral of the squared force error, {model} legs, leg {leg + 1}",
                    place=f"Table 1, row {'a' if model == 'massless' else 'b'}", quote=quote, printed=f"{printed}",
                    measured=float(value), unit="N^2 s", verdict=when(abs(ratio[leg] - 1.0) < WITHIN), reason=reason,
                )
            )  # fmt: skip
    return claims


def accuracy_claims(ours: dict[str, np.ndarray]) -> list[Claim]:
    """Abstract and conclusion: what leg masses do to the forces."""
    t = np.linspace(0.0, HORIZON, 2001)
    found = {model: forces(method, paper_path, t) for model, method in MODELS.items()}
    relative = {
        model: float(np.sqrt(((found[model] - found["full"]) ** 2).sum() / (found["full"] ** 2).sum()))
        for model in TABLE_1
    }
    fewer = {f"leg {leg + 1}": bool(ours["lumped"][leg] < ours["massless"][leg]) for leg in range(6)}
    one, ten = (squared_error("massless", horizon=n * np.pi, intervals=n * 400).sum() for n in (1, 10))
    return [
        OF.statement(
            "neglecting the legs' masses causes a very large error", place="abstract",
            quote="خطای بسیار زیادی را در پی دارد", printed="very large", measured=relative["massless"],
            unit="relative RMS force error", verdict=when(relative["massless"] > LARGE),
            reason=f"on the paper's path, all legs; more than {LARGE:g} counts",
        ),
        OF.statement(
            "lumped masses agree with the full model with suitable accuracy", place="abstract",
            quote="با دقت مناسبی با نتایج نرمافزار آدامز همخوانی دارد", printed="suitable", measured=relative["lumped"],
            unit="relative RMS force error", verdict=when(relative["lumped"] < SMALL),
            reason=f"against exact legs of two bodies; less than {SMALL:g} counts",
        ),
        OF.statement(
            "lumping reduces the integral of the squared error", place="conclusion; Table 1",
            quote="معیار انتگرال مربعات خطا را کاهش میدهد",
            printed=f"{TABLE_1['lumped'].sum() / TABLE_1['massless'].sum():.4f} (sums of the rows)",
            measured=float(ours["lumped"].sum() / ours["massless"].sum()), unit="of the massless legs' integral",
            verdict=across(fewer), reason="in every leg",
        ),
        OF.statement(
            "the error is integrated from zero to infinity", place="(38)", quote="ISE = \\int_0^{\\infty} e^2(t) dt",
            printed="infinity", measured=float(ten / one), unit="times the integral of one period, over ten",
            verdict=when(ten / one < 1.5),
            reason="the error is periodic, so that integral diverges; the printed rows of legs 1, 3, 4, 5, 6 together "
            f"allow {_range(admissible_horizons(OTHER_LEGS))}, and {HORIZON:g} s is the round value there",
        ),
    ]  # fmt: skip


def cost_claim() -> Claim:
    """Conclusion: the lumped model is much cheaper than the full one."""
    robot = gough_stewart()
    counts = {
        model: count_operations(kernel_method(method), robot, "inverse_dynamics").flops
        for model, method in MODELS.items()
    }
    saved = 1.0 - counts["lumped"] / counts["full"]
    return OF.statement(
        "lumping reduces the computational load of the full analytic solution considerably", place="conclusion",
        quote="به طور چشمگیری کاهش میدهد", printed="considerably", measured=saved, unit="of the operations saved",
        verdict=when(saved >= CONSIDERABLE),
        reason=f"inverse dynamics: {counts['lumped']} operations against {counts['full']} with full legs (massless "
        f"{counts['massless']}); {CONSIDERABLE:.0%} and more would count",
    )  # fmt: skip


def engine_claims() -> list[Claim]:
    """The models are validated in ADAMS and SolidWorks; here by Pinocchio's constraint route."""
    statements = (
        ("full legs: the complete analysis of the robot in ADAMS", "section on results", "تحلیل کامل نرمافزار آدامز",
         "full", gough_stewart()),
        ("massless legs: the analytic solution is proven in two programs", "section on the dynamic model",
         "صحت حل تحلیلی آن اثبات میشود", "massless", weightless()),
    )  # fmt: skip
    here = find_spec("pinocchio") is not None
    claims = []
    for statement, place, quote, model, robot in statements:
        paths = {"the paper's": paper_path, "turning": rotating_path} if here else {}
        apart = {name: engine_difference(model, robot, path) for name, path in paths.items()}
        claims.append(
            OF.statement(
                statement, place=place, quote=quote, printed="agree", measured=max(apart.values()) if apart else None,
                unit="relative difference of forces",
                verdict=across({path: value < ENGINE for path, value in apart.items()})
                if apart else missing("an independent engine: install pinocchio"),
                reason="ADAMS is not available: its part is played by Pinocchio with closures as constraints, on the "
                f"paper's path and on one that turns; within {ENGINE:g}",
            )
        )  # fmt: skip
    return claims


def weightless() -> robots.Robot:
    """Return the paper's robot with legs that weigh nothing an engine could see."""
    nothing = np.full(6, WEIGHTLESS)
    return gough_stewart(
        lower_mass=nothing, upper_mass=nothing, lower_inertia=np.tile(WEIGHTLESS * np.eye(3), (6, 1, 1)),
        upper_inertia=np.tile(WEIGHTLESS * np.eye(3), (6, 1, 1)),
    )  # fmt: skip


def engine_difference(model: str, robot: robots.Robot, path: Path, samples: int = 41) -> float:
    """Return the largest difference of leg forces to Pinocchio's, relative to the largest force."""
    from dynbench.methods.peers.pinocchio_loops import PinocchioLoops

    t = np.linspace(0.0, HORIZON, samples)
    states = platform_state(robot, *platform_motion(*path(t)))
    engine = PinocchioLoops(robot)
    theirs = np.array([engine.inverse_dynamics(*row) for row in zip(*states, strict=True)])
    ours = methods.get(MODELS[model]).prepare(robot).inverse_dynamics(*states)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def checks(ours: dict[str, np.ndarray]) -> list[Claim]:
    """Our own: the pattern of the lumped row, and the consistency of the massless one."""
    ratio = ours["lumped"] / TABLE_1["lumped"]
    spread = float(ratio.max() / ratio.min())
    corrected = np.where(np.arange(6) == 1, LEG_2, TABLE_1["massless"])
    allowed = admissible_horizons(range(6), corrected)
    return [
        OF.check(
            "our lumped row has the pattern of the printed one over the legs", measured=spread,
            unit="largest over smallest ratio", verdict=when(spread < 1.1), reason="within 10 %",
        ),
        OF.check(
            f"with {LEG_2} for leg 2, one horizon fits the whole table", measured=allowed[0] if allowed else np.nan,
            unit="s, shortest", verdict=when(allowed is not None and allowed[0] <= HORIZON <= allowed[1]),
            reason=f"the bounds of the lumped row allow {_range(allowed)}",
        ),
    ]  # fmt: skip


def all_errata() -> list[Erratum]:
    """Return what is printed wrong, with what shows it."""
    t = np.linspace(0.0, 2.0 * np.pi, 401)
    robot, straight, turning = gough_stewart(), paper_path(t), rotating_path(t)
    entry = [force_error(robot, "rotation", motion) for motion in (straight, turning)]
    vertex = [force_error(robot, "vertex", motion) for motion in (straight, turning)]
    whole = admissible_horizons(range(6), np.where(np.arange(6) == 1, LEG_2, TABLE_1["massless"]))
    low, high = (float(x[0, 1]) for x in bounds(np.array([HORIZON])))
    rows = [
        (
            "(2), entry (1, 2)",
            "-cos(gamma) sin(gamma) + sin(alpha) sin(beta) cos(gamma)",
            "-cos(beta) sin(gamma) + sin(alpha) sin(beta) cos(gamma)",
            f"at (0.3, 0.4, 0.5) the printed matrix has determinant {printed_determinant():.4f}; forces are wrong by "
            f"up to {entry[1]:.2g} N on the turning path and by {entry[0]:.1g} N on the paper's, which does not turn",
            "test_the_printed_rotation_is_none",
        ),
        (
            "(3), (25), (26)",
            "T_j, local vertex",
            "R T_j, turned to base axes",
            f"without R, forces are wrong by up to {vertex[1]:.2g} N on the turning path, by {vertex[0]:.1g} N on the "
            "paper's",
            "test_the_printed_vertex_is_not_turned",
        ),
        (
            "(12), (13)",
            "one symbol for both",
            "(12) is the angular velocity in base axes, (13) in platform axes",
            "notation only: both agree with the derivative of R",
            "test_angular_velocity_in_both_axes",
        ),
        (
            "text before (1)",
            "turns about fixed X, then fixed Y, finally about Z",
            "R = R_y R_x R_z, gamma about the platform's own normal",
            "three fixed axes would give R_z R_y R_x, another matrix",
            "test_the_prose_describes_another_rotation",
        ),
        (
            "(38)",
            "integral to infinity",
            "a finite horizon, about 4 s",
            "the error is periodic; over n periods the integral is n times that over one",
            "test_the_error_integral_grows_without_end",
        ),
        (
            "Table 1, massless, leg 2",
            "27.2727",
            f"{LEG_2} (inferred)",
            f"27.2727 needs a horizon of {_range(admissible_horizons([1]))}, the other legs "
            f"{_range(admissible_horizons(OTHER_LEGS))}; at 4 s the lumped row demands {low:.2f} to {high:.2f}; with "
            f"{LEG_2} all legs allow {_range(whole)}",
            "test_leg_2_of_table_1_contradicts_the_others",
        ),
        ("beside (33)", "Fig. 5", "Fig. 6; the force plots 6 to 11 are Figs. 7 to 12", "numbering of the figures", ""),
    ]
    return [
        Erratum(PAPER, where, printed, correct, evidence, f"{TESTS}::{test}" if test else "")
        for where, printed, correct, evidence, test in rows
    ]


def _range(pair: tuple[float, float] | None) -> str:
    return "no value" if pair is None else f"{pair[0]:.2f} to {pair[1]:.2f} s"
