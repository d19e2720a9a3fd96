"""Benchmark problems in a report: tables of digits and cost, work against precision, drawings and moving pictures.

Everything comes from problems.csv and from the recordings among the simulations; `templates/_problems.html` shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.best_runs import RECORDED, TARGETS, Row, applied, best, grouped, how, value
from dynbench.benchmarks.results.schema import PROBLEMS
from dynbench.reports import plots
from dynbench.reports.figure import Figure, Rendered, Sheet
from dynbench.reports.figures import slug
from dynbench.reports.grids import Cell, Grid, Head, Line, heads
from dynbench.reports.plots import Curve
from dynbench.reports.rows import Record, StoredRun, data, known, number, seconds, unique

POSITIONS = 6  # in a drawing of a motion
LOOK_FROM = (math.radians(-60.0), math.radians(25.0))  # azimuth and height of the eye
WEIGHTS = {"link": 2.0, "slide": 0.8, "ground": 0.8}  # of lines


class Shown(NamedTuple):
    """One problem on the page."""

    name: str
    title: str
    figures: list[Rendered]  # drawing, then work against precision
    recording: dict[str, Any] | None


def recordings(run: StoredRun) -> dict[str, dict[str, Any]]:
    """Return the recordings of problems, by the name of the problem."""
    return {one["name"].removeprefix("problem-"): one for one in run.simulations if one["paper"] == RECORDED}


def shown(run: StoredRun, drawn: Sequence[Rendered]) -> list[Shown]:
    """Return the problems with their figures, which `figures` made."""
    kept = recordings(run)
    found = []
    for name in unique([*(row["problem"] for row in run["problems"]), *kept]):
        mine = [one for one in drawn if one.figure.name in (_drawing_name(name), _precision_name(name))]
        title = kept[name]["title"] if name in kept else name
        found.append(Shown(name, title, mine, kept.get(name)))
    return found


# Tables ---------------------------------------------------------------------------------------------------------------


def tables(run: StoredRun) -> list[Grid]:
    """Return the table of methods by problems, and that of the best runs; none where no problem was run."""
    rows = run["problems"]
    return [by_problem(rows), best_runs(rows)] if rows else []


def by_problem(rows: Sequence[Record]) -> Grid:
    """Methods by problems: the digits that the most exact run reached."""
    found = grouped(rows)
    names = [name for name in unique(row["method"] for row in rows) if any(_applies(by, name) for by in found.values())]
    grid = Grid("problems", "Digits reached, methods by problems", [Head("method"), *map(Head, found)])
    for name in names:
        cells = [_digits(grid, by_method.get(name)) for by_method in found.values()]
        grid.lines.append(Line([Cell(name), *cells], name))
    return grid


def _applies(by_method: dict[str, list[Row]], name: str) -> bool:
    return name in by_method and applied(best(by_method[name]).row)


def _digits(grid: Grid, rows: Sequence[Row] | None) -> Cell:
    if not rows:
        return grid.absent("the problem could not be run; its line in the table below has the reason", Outcome.FAILED)
    row = best(rows).row
    if known(row["digits"]):
        return Cell(f"{number(row['digits']):.1f}", value=number(row["digits"]))
    reached = f"to {number(row['reached']):.3g} s" if known(row["reached"]) else ""
    return grid.absent(row["reason"], Outcome(row["outcome"]), reached)


def best_runs(rows: Sequence[Record]) -> Grid:
    """A line for each problem and method that applies: the most exact run, and the time to given errors."""
    columns = [
        *heads(PROBLEMS, "problem", "method", "digits"),
        Head("at", tooltip="Integrator with its relative tolerance or step, of the most exact run."),
        *heads(PROBLEMS, "evaluations", "cpu"),
        *(Head(f"to {x:.0e}", tooltip="Least CPU time of the runs with at most this error.") for x in TARGETS),
        *heads(PROBLEMS, "energy_error", "singular", "reached"),
    ]
    grid = Grid("problems-best", "The most exact run of each method, and the time to given errors", columns)
    for problem, by_method in grouped(rows).items():
        for method, mine in by_method.items():
            row, cheapest = best(mine)
            if method and not applied(row):
                continue
            ended = "" if known(row["digits"]) else row["reason"]
            first = grid.absent(ended, Outcome(row["outcome"])) if ended else _number(row, "digits", ".1f")
            cells = [
                Cell(problem), Cell(method or "–"), first, Cell(how(row) or "–"), _number(row, "evaluations", ".0f"),
                *(Cell(seconds(x), value=x) for x in (number(row["cpu"]), *cheapest)),
                _number(row, "energy_error", ".1e"), _number(row, "singular", ".0f"), _number(row, "reached", "g"),
            ]  # fmt: skip
            grid.lines.append(Line(cells, method))
    return grid


def _number(row: Row, name: str, form: str) -> Cell:
    x = value(row, name)
    return Cell(format(x, form) if math.isfinite(x) else "–", value=x)


# Figures --------------------------------------------------------------------------------------------------------------


def figures(run: StoredRun) -> Iterator[Figure]:
    """A drawing of each recorded problem, and work against precision of each that was swept."""
    for name, recording in recordings(run).items():
        if recording["motion"]:
            yield drawing(name, recording)
    for problem in unique(row["problem"] for row in run["problems"]):
        rows = [row for row in run["problems"] if row["problem"] == problem]
        yield from precision(problem, rows)


def _drawing_name(problem: str) -> str:
    return f"problem-{slug(problem)}-drawing"


def _precision_name(problem: str) -> str:
    return f"problem-{slug(problem)}-precision"


def precision(problem: str, rows: Sequence[Record]) -> Iterator[Figure]:
    """CPU time over the error, a panel for each integrator."""
    done = [row for row in rows if known(row["error"], row["cpu"]) and min(map(number, (row["error"], row["cpu"]))) > 0]
    solvers = unique(row["solver"] for row in done)
    if not solvers:
        return
    early = sum(1 for row in rows if not known(row["digits"]) and applied(row))
    left = f" {early} runs that ended early are in problems.csv with their reasons." if early else ""
    yield Figure(
        _precision_name(problem),
        f"Work against precision: {problem}",
        "CPU time over the largest error of the outputs, a point for each tolerance or step. Further left is more "
        f"exact, lower is cheaper: compare at the same error.{left}",
        *data(PROBLEMS, done, "method", "solver", "rtol", "step", "error", "evaluations", "cpu", "energy_error"),
        partial(_precision, rows=done, solvers=solvers),
        height=3.3 + 0.19 * math.ceil(len(unique(row["method"] for row in done)) / 3),
    )


def _precision(sheet: Sheet, rows: Sequence[Record], solvers: Sequence[str]) -> None:
    axes = sheet.axes(1, len(solvers), sharey=True, sharex=True)
    x, y = ([number(row[name]) for row in rows] for name in ("error", "cpu"))
    for ax, solver in zip(axes, solvers, strict=True):
        lines = []
        for method in unique(row["method"] for row in rows if row["solver"] == solver):
            mine = [row for row in rows if (row["solver"], row["method"]) == (solver, method)]
            mine.sort(key=lambda row: number(row["error"]))
            lines.append(Curve(method, method, *([number(row[name]) for row in mine] for name in ("error", "cpu"))))
        plots.curves(ax, sheet, lines)
        plots.log_axis(ax.xaxis, x, plots.power, 6)
        plots.log_axis(ax.yaxis, y, seconds)
        ax.set(title=solver, xlabel="error", ylabel="CPU time" if ax is axes[0] else "")
    sheet.legend(unique(row["method"] for row in rows))


def drawing(problem: str, recording: dict[str, Any]) -> Figure:
    """Several positions of a motion in one picture."""
    motion = recording["motion"]
    flat, across, up = projected(motion)
    chosen = spread(flat, POSITIONS)
    span = np.ptp(flat[chosen], axis=(0, 1))
    rows = [(motion["t"][k], number, *map(float, flat[k, number])) for k in chosen for number in range(flat.shape[1])]
    return Figure(
        _drawing_name(problem),
        f"{recording['title']}: positions",
        f"The mechanism at the start, darkest, and at {len(chosen) - 1} other times of the motion, later ones fainter. "
        "Thick lines are bodies, thin ones slides, springs and the ground.",
        ("time (s)", "point", across, up),
        rows,
        partial(_positions, motion=motion, flat=flat, chosen=chosen, labels=(across, up)),
        height=float(np.clip(6.4 * span[1] / max(span[0], 1e-9) + 0.9, 2.2, 4.6)),
        width=6.4,
    )


def spread(flat: np.ndarray[Any, Any], count: int) -> list[int]:
    """Return the numbers of frames, the first among them, that are as far from each other as possible."""
    far = np.full(len(flat), np.inf)
    chosen = [0]
    while len(chosen) < min(count, len(flat)):
        far = np.minimum(far, np.linalg.norm(flat - flat[chosen[-1]], axis=-1).max(axis=-1))
        chosen.append(int(np.argmax(far)))
    return sorted(set(chosen))


def projected(motion: dict[str, Any]) -> tuple[np.ndarray[Any, Any], str, str]:
    """Return the points (F, P, 2) as they are seen, and what the axes show."""
    points = np.asarray(motion["points"], dtype=float).reshape(len(motion["t"]), -1, 3)
    if motion["planar"]:
        return points[..., :2], "x (m)", "y (m)"
    turn, height = LOOK_FROM
    side = np.array([-math.sin(turn), math.cos(turn), 0.0])
    top = np.array([-math.cos(turn) * math.sin(height), -math.sin(turn) * math.sin(height), math.cos(height)])
    return np.stack([points @ side, points @ top], axis=-1), "seen across (m)", "seen upwards (m)"


def _positions(
    sheet: Sheet, motion: dict[str, Any], flat: np.ndarray[Any, Any], chosen: Sequence[int], labels: tuple[str, str]
) -> None:
    (ax,) = sheet.axes()
    for rank, k in reversed(list(enumerate(chosen))):
        strength = 1.0 - 0.82 * rank / max(len(chosen) - 1, 1)
        for one, two, kind in motion["lines"]:
            x, y = flat[k, [one, two]].T
            ax.plot(x, y, color="#0072b2", alpha=strength, linewidth=WEIGHTS.get(kind, 1.0), solid_capstyle="round")
        for point, kind in motion["dots"]:
            marker = "^" if kind == "ground" else "o"
            ax.plot(*flat[k, point], marker, color="#1d2127", alpha=strength, markersize=4.0)
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.set_aspect("equal", adjustable="datalim")
