"""What the Gough-Stewart paper claims beside our numbers, and what is printed wrong in it."""

from __future__ import annotations

import numpy as np

from dynbench.benchmarks.papers.claims import Claim, Erratum, Verdict
from dynbench.benchmarks.papers.lagrange_stewart.experiment import (
    HORIZON,
    LEG_2,
    OTHER_LEGS,
    PAPER,
    TABLE_1,
    admissible_horizons,
    bounds,
    paper_path,
    rotating_path,
    squared_error,
)
from dynbench.benchmarks.papers.lagrange_stewart.printed import force_error, printed_determinant
from dynbench.robots.families.gough_stewart import gough_stewart

TESTS = "tests/benchmarks/papers/test_lagrange_stewart.py"


def measured_claims() -> list[Claim]:
    """Return Table 1 beside ours, and the paper's statements, each with a verdict."""
    ours = {model: squared_error(model) for model in TABLE_1}
    found = [_massless_claim(leg, float(value)) for leg, value in enumerate(ours["massless"])]
    ratio = ours["lumped"] / TABLE_1["lumped"]
    for leg, value in enumerate(ours["lumped"]):
        reason = (
            f"ours is {ratio[leg]:.2f} of the printed number, {ratio.min():.2f} to {ratio.max():.2f} for all legs: the "
            "pattern over the legs is there, the size is not. The inertias of the ADAMS parts are unpublished, and the "
            "data do not single out a cause; nothing is tuned to this row"
        )
        statement = f"Table 1, lumped legs, leg {leg + 1}: integral of the squared force error"
        found.append(Claim(PAPER, statement, f"{TABLE_1['lumped'][leg]}", float(value), "N^2 s", "differs", reason))
    removed = 1.0 - float(ours["lumped"].sum() / ours["massless"].sum())
    statement = "lumping the legs' masses removes nearly all of the massless model's error (sum over legs)"
    printed = f"{1.0 - TABLE_1['lumped'].sum() / TABLE_1['massless'].sum():.4f}"
    reason = "share of the squared error that is gone; 0.99 or more counts as nearly all"
    found.append(Claim(PAPER, statement, printed, removed, "1", _reproduced(removed > 0.99), reason))
    reason = (
        "the error is periodic, so that integral diverges; the printed rows of legs 1, 3, 4, 5, 6 together allow "
        f"{_range(admissible_horizons(OTHER_LEGS))}, and 4 s is the round value there"
    )
    statement = "(38): the error is integrated to infinity"
    found.append(Claim(PAPER, statement, "infinity", HORIZON, "s", "not reproducible", reason))
    return found


def _massless_claim(leg: int, value: float) -> Claim:
    printed = float(TABLE_1["massless"][leg])
    off = value / printed - 1.0
    statement = f"Table 1, massless legs, leg {leg + 1}: integral of the squared force error"
    if leg != 1:
        reason = f"{off:+.1%}, horizon 4 s inferred and slender rods assumed; within 5 %"
        return Claim(PAPER, statement, f"{printed}", value, "N^2 s", _reproduced(abs(off) < 0.05), reason)
    low, high = (float(x[0, 1]) for x in bounds(np.array([HORIZON])))
    reason = (
        f"{off:+.1%}; the printed number contradicts the rest of the table: at 4 s its own lumped row demands "
        f"{low:.2f} to {high:.2f}. With one digit changed, {LEG_2}, ours is {value / LEG_2 - 1.0:+.1%} off"
    )
    return Claim(PAPER, statement, f"{printed}", value, "N^2 s", "differs", reason)


def _reproduced(agrees: bool) -> Verdict:
    return "reproduced" if agrees else "differs"


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
