"""Figures that are curves: time over the size of a robot or a batch, work over precision, the plots of simulations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from dynbench.benchmarks.results.schema import SCALING, TIMING, WORK_PRECISION
from dynbench.reports import plots
from dynbench.reports.figure import Figure, Sheet
from dynbench.reports.figures import slug
from dynbench.reports.plots import Curve
from dynbench.reports.rows import Record, StoredRun, data, each_tier, known, number, seconds, unique, words


@each_tier
def scaling(run: StoredRun) -> Iterator[Figure]:
    """For each family and quantity, time over size, with the fitted exponents in the legend."""
    points = [row for row in run["scaling"] if row["measure"] != "exponent" and known(row["value"], row["size"])]
    fits = {
        (r["family"], r["quantity"], r["method"]): r
        for r in run["scaling"]
        if r["measure"] == "exponent" and known(r["value"])
    }
    for family, quantity in dict.fromkeys((row["family"], row["quantity"]) for row in points):
        mine = [row for row in points if (row["family"], row["quantity"]) == (family, quantity)]
        lines, names = [], {}
        for method in [name for name in run.methods if any(row["method"] == name for row in mine)]:
            found = sorted((row for row in mine if row["method"] == method), key=lambda row: number(row["size"]))
            x, y, low, high = ([number(row[key]) for row in found] for key in ("size", "value", "low", "high"))
            lines.append(Curve(method, method, x, y, low, high))
            fit = fits.get((family, quantity, method))
            if fit is not None:
                reach = (number(fit["high"]) - number(fit["low"])) / 2.0
                names[method] = f"{method}: exponent {number(fit['value']):.2f} ± {reach:.2f}"
        _, cells = data(SCALING, mine, "method", "size", "value", "low", "high")
        yield Figure(
            f"scaling-{slug(family)}-{slug(quantity)}",
            f"{words(quantity).capitalize()} of {family}-N: time over size",
            "Time per state in a batch over the size N of the robot, both scales logarithmic: a straight line is a "
            "power of N, and the legend gives its exponent with a 95 % interval. 1 means that twice the robot takes "
            "twice the time. Bands are 95 % intervals.",
            ("method", "N", "time per state (s)", "low (s)", "high (s)"),
            cells,
            partial(_over_size, lines=lines, names=names, label="N", text=seconds),
            height=3.2 + 0.19 * math.ceil(len(lines) / 2),
        )


@each_tier
def batches(run: StoredRun) -> Iterator[Figure]:
    """Time per state over the size of the batch, on the first robot that was timed with several."""
    rows = [r for r in run["timing"] if r["mode"] == "batch" and not r["reason"] and r["label"] == r["method"]]
    for quantity in unique(row["quantity"] for row in rows):
        mine = [row for row in rows if row["quantity"] == quantity]
        robot = next((name for name in run.robots if len({r["rows"] for r in mine if r["robot"] == name}) > 2), None)
        if robot is None:
            continue
        lines: list[Curve] = []
        shown: list[Record] = []
        for method in run.methods:
            found = sorted(
                (r for r in mine if (r["robot"], r["method"]) == (robot, method)), key=lambda r: int(r["rows"])
            )
            x, y, low, high = ([number(row[key]) for row in found] for key in ("rows", "seconds", "low", "high"))
            if found:
                lines.append(Curve(method, method, x, y, low, high))
                shown += found
        yield Figure(
            f"batches-{slug(quantity)}",
            f"{words(quantity).capitalize()} of {robot}: time per state over batch size",
            "What one state costs when so many are handed over at once, one thread. Where the curve is flat, the cost "
            "of the call itself is spread out.",
            *data(TIMING, shown, "robot", "method", "rows", "seconds", "low", "high"),
            partial(_over_size, lines=lines, names={}, label="states in a batch", text=seconds),
        )


def _over_size(sheet: Sheet, lines: Sequence[Curve], names: dict[str, str], label: str, text: plots.Words) -> None:
    (ax,) = sheet.axes()
    plots.curves(ax, sheet, lines)
    plots.log_axis(ax.xaxis, [x for line in lines for x in line.x], plots.plain)
    plots.log_axis(ax.yaxis, [y for line in lines for y in line.y], text)
    sizes = sorted({x for line in lines for x in line.x})
    ax.set_xticks(sizes, [plots.plain(size) for size in sizes])
    ax.set(xlabel=label, ylabel="time per state")
    sheet.legend([line.method for line in lines], names=names)


def precision(run: StoredRun) -> Iterator[Figure]:
    """For each scenario that was swept, time over error, a panel for each integrator."""
    for scenario in unique(row["scenario"] for row in run["work_precision"]):
        rows = [row for row in run["work_precision"] if row["scenario"] == scenario]
        done = [row for row in rows if known(row["error"], row["seconds"]) and number(row["error"]) > 0.0]
        if not done:
            continue
        panels = [
            {
                "title": solver,
                "ylabel": "wall-clock time (s)",
                "series": list(_worked([row for row in done if row["solver"] == solver])),
            }
            for solver in unique(row["solver"] for row in done)
        ]
        unit, horizon = done[0]["unit"], number(done[0]["horizon"])
        label = f"error at the end ({unit})"
        left_out = f" {len(rows) - len(done)} runs without a number are in work_precision.csv with their reasons." * (
            len(done) < len(rows)
        )
        yield Figure(
            f"work-precision-{slug(scenario)}",
            f"Work against precision: {scenario}, {horizon:g} s of {done[0]['robot']}",
            "Further left is more accurate, lower is cheaper: compare at the same error, never times alone. A curve "
            "joins the tolerances of one method; of a method with several options, such as stiffness, it joins these "
            "at one relative tolerance, which the dashes tell. "
            f"The error is against a tight run.{left_out}",
            *data(WORK_PRECISION, done, "method", "options", "solver", "rtol", "error", "evaluations", "seconds"),
            partial(_simulation, plot={"xlabel": label, "xscale": "log", "yscale": "log"}, panels=panels),
            height=0.9 + 2.3 * math.ceil(len(panels) / 3) if len(panels) > 1 else 3.4,
        )


def _worked(rows: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """The curves of one integrator."""
    for method in unique(row["method"] for row in rows):
        mine = sorted((row for row in rows if row["method"] == method), key=lambda row: number(row["error"]))
        varied = len({row["options"] for row in mine}) > 1
        for rtol in sorted({row["rtol"] for row in mine}, key=number) if varied else [""]:
            found = [row for row in mine if rtol in ("", row["rtol"])]
            x, y = ([number(row[key]) for row in found] for key in ("error", "seconds"))
            yield {
                "method": method,
                "label": f"{number(rtol):.0e}".replace("e-0", "e-") if varied else "",
                "x": x,
                "y": y,
            }


def simulation(found: dict[str, Any]) -> Iterator[Figure]:
    """The plots of one stored simulation."""
    for plot in found["plots"]:
        panels = [panel for panel in plot["panels"] if any(series["x"] for series in panel["series"])]
        if not panels:
            continue
        points = [
            (panel["title"], series["label"], series["method"], x, y)
            for panel in panels
            for series in panel["series"]
            for x, y in zip(series["x"], series["y"], strict=True)
        ]
        ylabels = unique(panel["ylabel"] for panel in panels)
        rows = math.ceil(len(panels) / 3)
        yield Figure(
            f"{slug(found['name'])}-{slug(plot['name'])}",
            plot["title"],
            plot["caption"],
            ("panel", "curve", "method", plot["xlabel"], ylabels[0] if len(ylabels) == 1 else "value"),
            points,
            partial(_simulation, plot=plot, panels=panels),
            height=0.9 + 2.3 * rows if len(panels) > 1 else 3.4,
        )


def _simulation(sheet: Sheet, plot: dict[str, Any], panels: Sequence[dict[str, Any]]) -> None:
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    axes = sheet.axes(rows, columns)
    ticks = {1: 9, 2: 7}.get(columns, 5)
    everything: list[Curve] = []
    mixed = False
    for k, ax in enumerate(axes):
        if k >= len(panels):
            ax.set_visible(False)
            continue
        lines = [Curve(s["method"], s["label"], s["x"], s["y"]) for s in panels[k]["series"] if s["x"]]
        everything += lines
        plots.curves(ax, sheet, lines, sparse=max(len(line.x) for line in lines) > 16)
        if plot["xscale"] == "log":
            plots.log_axis(ax.xaxis, [x for line in lines for x in line.x], plots.power, ticks)
        if plot["yscale"] == "log":
            plots.log_axis(ax.yaxis, [y for line in lines for y in line.y], plots.power, 9)
        ax.set_title(panels[k]["title"], pad=17.0 if plots.dashed(lines) else None)  # above the legend of the dashes
        ax.set(ylabel=panels[k]["ylabel"], xlabel=plot["xlabel"] if k >= len(panels) - columns else "")
        mixed = mixed or plots.dashed(lines)
    sheet.legend(unique(line.method for line in everything), lines=not mixed)
