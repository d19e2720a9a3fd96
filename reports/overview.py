"""The picture at the top of the page as a figure for a file: robots by methods, time relative to the fastest.

The page draws the same from the same views (`report.js`); this one is for papers and for a README.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dynbench.reports import style
from dynbench.reports.figure import Figure, Sheet
from dynbench.reports.rows import StoredRun, outcome, words
from dynbench.reports.views import GROUPS, View, Views, digits, off_by, tied, times

STEPS = (1.2, 2.0, 5.0, 20.0, 100.0, math.inf)  # times the fastest, up to which a cell has its colour, as in report.js
KINDS = ("general", "special", "engine")
GAP = 0.25  # columns between two groups
ROW = 0.36  # inches
LEGEND = (
    "In brackets: degrees of freedom. Ring: the fastest, dotted if several are tied. Small: digits that agree with the "
    "exact methods. Hatched: approximate by design, not ranked. Dot: no result"
)


@dataclass(frozen=True)
class Square:
    """One cell: how many times the fastest, what stands below it, and how it is marked."""

    ratio: float
    below: str
    mark: str  # "fastest", "tied", "approximate", "disturbed" or ""


def figures(run: StoredRun, mode: str = "batch") -> Iterator[Figure]:
    """Yield a figure for each quantity and tier that was timed in a mode."""
    views = Views(run)
    for quantity in views.quantities:
        for code in views.codes:
            keys = ((robot, quantity, mode, code) for robot in run.robots)
            seen = {key[0]: views.found[key] for key in keys if key in views.found}
            timed = {robot: view for robot, view in seen.items() if any(entry.timed for entry in view.entries)}
            groups = [(GROUPS[kind], _columns(run, views, timed.values(), kind)) for kind in KINDS]
            groups = [(title, names) for title, names in groups if names]
            if timed and groups:
                yield _figure(run, views, (quantity, mode, code), timed, groups)


def _columns(run: StoredRun, views: Views, seen: Any, kind: str) -> list[str]:
    mine = [name for name in run.methods if views.kinds[name] == kind]
    return [name for name in mine if any((e := view.entry(name)) and e.timed for view in seen)]


def _figure(
    run: StoredRun,
    views: Views,
    shown: tuple[str, str, str],
    seen: dict[str, View],
    groups: Sequence[tuple[str, Sequence[str]]],
) -> Figure:
    quantity, mode, code = shown
    squares = {
        (robot, name): square
        for robot, view in seen.items()
        for _, names in groups
        for name in names
        if (square := _square(run, views, view, name))
    }
    tier = f", {code} code" if code else ""
    title = f"Time relative to the fastest: {words(quantity)}, {views.phrase(mode)}{tier}"
    said = quiet(run)
    count = sum(len(names) for _, names in groups)
    return Figure(
        f"overview-{quantity.replace('_', '-')}-{mode}{f'-{code}' if code else ''}",
        title,
        f"{said}. {LEGEND}.",
        ("robot", "method", "times the fastest", "digits", "mark"),
        [(robot, name, one.ratio, one.below, one.mark) for (robot, name), one in squares.items()],
        partial(_draw, robots={robot: _head(run, robot) for robot in seen}, groups=groups, squares=squares,
                title=title, said=said),
        height=ROW * (_heads(groups) + len(seen)) + 1.0,
        width=2.0 + 0.5 * count,
    )  # fmt: skip


def _heads(groups: Sequence[tuple[str, Sequence[str]]]) -> float:
    """How many rows the slanted names above the columns take."""
    return 0.9 + 0.104 * max(len(name) for _, names in groups for name in names)


def _head(run: StoredRun, robot: str) -> str:
    freedoms = run.facts["robots"].get(robot, {}).get("nv", "")
    return f"{robot} ({freedoms})" if freedoms else robot


def quiet(run: StoredRun) -> str:
    """Where it was run, and whether something disturbed the timing."""
    timing = run.facts.get("timing")
    where = str(run.facts.get("cpu") or "an unknown processor")
    simd = run.facts.get("simd") or []
    where += f" ({simd[-1]})" if simd else ""
    return f"{where}. Timing was {timing['sentence']}" if isinstance(timing, dict) and "sentence" in timing else where


def _square(run: StoredRun, views: Views, view: View, name: str) -> Square | None:
    entry = view.entry(name)
    if entry is None or not entry.timed:
        return None
    robot, quantity, _, code = view.key
    exact = run.facts["methods"].get(name, {}).get("exact") is not False
    agreed = views.agreement.get((robot, quantity, code), {}).get(name)
    below = "" if agreed is None else str(digits(agreed.typical)) if exact else off_by(agreed.typical)
    mark = (
        "disturbed" if outcome(entry.row).value != "number"
        else "approximate" if not exact or entry.kind == "wrapper"
        else "" if not tied(entry)
        else "tied" if len(view.fastest) > 1
        else "fastest"
    )  # fmt: skip
    return Square(entry.ratio, below, mark)


def _draw(
    sheet: Sheet,
    robots: dict[str, str],
    groups: Sequence[tuple[str, Sequence[str]]],
    squares: dict[tuple[str, str], Square],
    title: str,
    said: str,
) -> None:
    from matplotlib.patches import Rectangle

    sheet.canvas.set_facecolor("#ffffff")  # a README may be shown on a dark ground
    (ax,) = sheet.axes()
    top = -_heads(groups)
    x, places = 0.0, {}
    for group, names in groups:
        ax.text(x - 0.45, top - 0.05, group, fontsize=7.5, color="#535c66", va="bottom")
        ax.plot([x - 0.45, x + len(names) - 0.55], [top, top], color=style.GRID, linewidth=0.8)
        for name in names:
            places[name] = x
            text = ax.text(x, -0.62, name, rotation=40, ha="left", va="bottom", rotation_mode="anchor", fontsize=7.5)
            sheet.tag(text, name)
            x += 1.0
        x += GAP
    for row, (robot, head) in enumerate(robots.items()):
        ax.text(-0.65, row, head, ha="right", va="center", fontsize=8.5)
        for name, at in places.items():
            found = squares.get((robot, name))
            if found is None:
                (dot,) = ax.plot([at], [row], "o", color=style.GRID, markersize=2.5)
                sheet.tag(dot, name)
                continue
            step = next((k for k, limit in enumerate(STEPS) if found.ratio <= limit), len(STEPS) - 1)
            colour, ink = (style.PAGE_LIGHT[f"--{letter}{step}"] for letter in "st")
            box: dict[str, Any] = {"facecolor": colour, "edgecolor": "none"}
            if found.mark == "approximate":
                box |= {"hatch": "///", "edgecolor": ("#808080", 0.45), "linewidth": 0.0}
            sheet.tag(ax.add_patch(Rectangle((at - 0.45, row - 0.43), 0.9, 0.86, **box)), name)
            if found.mark in ("fastest", "tied", "disturbed"):
                dashes = {"fastest": "-", "tied": ":", "disturbed": "--"}[found.mark]
                edge = style.PAGE_LIGHT["--warn-line"] if found.mark == "disturbed" else ink
                ring = Rectangle((at - 0.38, row - 0.35), 0.76, 0.7, fill=False, linestyle=dashes, edgecolor=edge)
                sheet.tag(ax.add_patch(ring), name)
            bold = "bold" if found.mark in ("fastest", "tied") else "normal"
            shown = times(found.ratio) if found.ratio < 9950.0 else f"{found.ratio / 1000.0:.0f}k"
            text = ax.text(at, row - 0.08, shown, ha="center", va="center", color=ink, fontsize=8.0)
            text.set_fontweight(bold)
            sheet.tag(text, name)
            sheet.tag(ax.text(at, row + 0.26, found.below, ha="center", va="center", color=ink, fontsize=5.5), name)
    ax.set(xlim=(-0.6, x - GAP - 0.4), ylim=(len(robots) - 0.4, top - 0.6))
    ax.set_title(title, fontsize=9.5)
    ax.set_axis_off()
    wide = sheet.canvas.get_figwidth() * 17.0  # characters in a line
    lines = [line for part in (f"{LEGEND}.", f"{said}.") for line in textwrap.wrap(part, int(wide))]
    ax.text(
        0.0, -0.01, "\n".join(lines), fontsize=6.5, color="#535c66", va="top", transform=ax.transAxes,
        linespacing=1.4,
    )  # fmt: skip
