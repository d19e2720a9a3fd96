"""The kinds of picture all figures are made of: dots on a scale, curves, and a matrix of pairs.

They draw on a `Sheet` and tag what belongs to a method. Numbers come in as they are stored; nothing is computed here
but positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from dynbench.reports import style
from dynbench.reports.figure import Sheet
from dynbench.reports.rows import seconds, unique

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Words = Callable[[float], str]


class Dot(NamedTuple):
    """A value of a method in a category, with its spread."""

    category: str
    method: str
    value: float
    low: float
    high: float


Panel = tuple[str, str, Sequence[Dot]]  # title, label of the values, dots


class Curve(NamedTuple):
    """A line of a method."""

    method: str
    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def plain(value: float) -> str:
    """A number without superfluous digits."""
    return f"{value:.6g}"


def power(value: float) -> str:
    """A number of any size in few letters: 0.01, 3, 1e-12."""
    mantissa, _, exponent = f"{value:.2g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def log_axis(axis: Any, values: Iterable[float], text: Words, ticks: int = 9) -> None:
    """Scale an axis logarithmically, labelled in words; numbers between decades are labelled where those are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    positive = [value for value in values if value > 0.0 and math.isfinite(value)]
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    decades = math.log10(max(positive) / min(positive)) if positive else 0.0
    choices = ((0.7, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)), (1.5, (1.0, 2.0, 5.0)), (2.5, (1.0, 3.0)))
    steps = next((steps for limit, steps in choices if decades < limit), (1.0,))
    axis.set_major_locator(LogLocator(subs=steps, numticks=ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_locator(NullLocator())  # a fifth of the time and of the bytes of a figure


def dots(
    sheet: Sheet,
    panels: Sequence[Panel],
    methods: Sequence[str],
    text: Words = seconds,
    line: float | None = None,
) -> None:
    """Draw categories downwards and values across, a panel each; methods in their `lanes`."""
    axes = sheet.axes(1, len(panels), sharey=True)
    everything = [point for _, _, points in panels for point in points]
    categories = unique(point.category for point in everything)
    lane = lanes(everything, methods)
    count = 1 + max(lane.values(), default=0)
    for ax, (title, label, points) in zip(axes, panels, strict=True):
        for point in points:
            look = style.look(point.method)
            y = categories.index(point.category) + 0.82 * ((lane[point.method] + 0.5) / count - 0.5)
            drawn: dict[str, Any] = {"color": look.colour, "clip_on": False}  # all fit; a clip of each is a fifth more
            (spread,) = ax.plot([point.low, point.high], [y, y], linewidth=1.0, solid_capstyle="butt", **drawn)
            (dot,) = ax.plot([point.value], [y], look.marker, markersize=4.5, **drawn)
            sheet.tag(spread, point.method)
            sheet.tag(dot, point.method)
        for k in range(1, len(categories)):
            ax.axhline(k - 0.5, color=style.GRID, linewidth=0.6)
        if line is not None:
            ax.axvline(line, color=style.INK, linewidth=0.9, linestyle=":")
        edges = [] if line is None else [line]
        log_axis(ax.xaxis, [*edges, *(x for point in points for x in point[2:])], text, 7)
        ax.set(title=title, xlabel=label, ylim=(len(categories) - 0.5, -0.5))
        ax.set_yticks(range(len(categories)), categories)
        ax.grid(False, axis="y")
        ax.tick_params(axis="y", length=0)
    sheet.legend(list(lane))


def lanes(points: Iterable[Dot], methods: Sequence[str]) -> dict[str, int]:
    """The lane of each method within every category, in the order of methods; those that never meet may share one."""
    places: dict[str, set[str]] = {name: set() for name in methods}
    for point in points:
        places.setdefault(point.method, set()).add(point.category)  # tables of a folder may name others
    taken: list[set[str]] = []  # by lane
    found: dict[str, int] = {}
    for name, wanted in places.items():
        if wanted:
            lane = next((k for k, there in enumerate(taken) if not there & wanted), len(taken))
            if lane == len(taken):
                taken.append(set())
            taken[lane] |= wanted
            found[name] = lane
    return found


def dots_height(points: Sequence[Dot], methods: Sequence[str]) -> float:
    """Inches that a plot of dots needs."""
    lane = lanes(points, methods)
    each = 0.075 * (1 + max(lane.values(), default=0))
    return 1.3 + 0.22 * math.ceil(len(lane) / 4) + len(unique(point.category for point in points)) * max(0.26, each)


def curves(ax: Axes, sheet: Sheet, lines: Sequence[Curve], sparse: bool = False) -> None:
    """Draw curves in the colour of their method; several of one method differ by dashes, explained in the axes.

    More of them than there are dashes have a colour each.
    Where methods agree their curves lie on one another: the first are thicker, and the markers of ``sparse`` ones are
    at different places, so that all are seen.
    """
    from matplotlib.lines import Line2D

    methods, labels = unique(curve.method for curve in lines), unique(curve.label for curve in lines)
    mixed = dashed(lines)
    alone = mixed and len(methods) == 1
    many = mixed and len(labels) > len(style.DASHES)
    for curve in lines:
        look, rank = style.look(curve.method), methods.index(curve.method)
        k = labels.index(curve.label)
        (drawn,) = ax.plot(
            curve.x,
            curve.y,
            marker=style.MARKERS[k % 8] if alone else look.marker,
            color=style.LIGHT[k % len(style.LIGHT)] if many else look.colour,
            linestyle=style.DASHES[k % 4] if mixed else look.dash,
            linewidth=1.3 + 1.2 * (len(methods) - 1 - rank) / max(len(methods) - 1, 1),
            markevery=(0.14 * rank / len(methods), 0.14) if sparse else None,
        )
        sheet.tag(drawn, curve.method)
        if curve.low:
            band = ax.fill_between(curve.x, curve.low, curve.high, color=look.colour, alpha=0.15, linewidth=0.0)
            sheet.tag(band, curve.method)
    if mixed:
        handles = [
            Line2D(
                [],
                [],
                color=style.LIGHT[k % len(style.LIGHT)] if many else style.INK,
                linestyle=style.DASHES[k % 4],
                marker=marker if alone else None,
                label=label,
            )
            for k, (label, marker) in enumerate(zip(labels, cycle(style.MARKERS), strict=False))
            if label
        ]
        # above the axes, where no curve is; titles are on the left
        ax.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(1.02, 0.98),
            ncols=min(len(handles), 5),
            handlelength=2.2,
            columnspacing=1.0,
        )


def dashed(lines: Sequence[Curve]) -> bool:
    """Whether dashes tell curves apart that the methods do not."""
    labels = unique(curve.label for curve in lines)
    pairs = {(curve.method, curve.label) for curve in lines}
    methods = {curve.method for curve in lines}
    return len(labels) > 1 and (len(labels) != len(methods) or len(pairs) > len(methods))


def pairs(sheet: Sheet, names: Sequence[str], digits: dict[tuple[str, str], tuple[float, bool]]) -> None:
    """Draw a matrix of pairs of methods, coloured by the digits they share; those that differ are crossed out."""
    import matplotlib as mpl
    from matplotlib.patches import Rectangle

    (ax,) = sheet.axes()
    colours = mpl.colormaps["cividis_r"]
    for i, one in enumerate(names):
        for j, two in enumerate(names):
            if (one, two) not in digits:
                continue
            value, agrees = digits[one, two]
            red, green, blue, _ = colour = colours(min(max(value, 0.0), 16.0) / 16.0)
            light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
            cell = ax.add_patch(Rectangle((j - 0.47, i - 0.45), 0.94, 0.9, facecolor=colour, edgecolor="none"))
            text = ax.text(
                j,
                i,
                f"{value:.1f}" if agrees else f"✗ {value:.1f}",
                ha="center",
                va="center",
                fontsize=8,
                color="#000000" if light else "#ffffff",
            )
            for artist in (cell, text):
                sheet.tag(artist, one, two)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(names) - 0.5, -0.5))
    ax.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(names)), names)
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        for label, name in zip(labels, names, strict=True):
            sheet.tag(label, name)
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
