"""One look for all figures: a colour-blind safe palette, and for each method its own colour, marker and dash, for good.

The methods we know have fixed places; any other gets one of the free places from a digest of its name, so that a plugin
looks the same in every figure of every run and like no method of ours. `assign` makes sure that two plugins of a run do
not share a place. Colours alone do not tell so many methods apart, and printers may have none: markers and dashes do.

The colours that stand for ink, grid and methods are written into SVG as CSS variables (`themed`), so that a page can
darken; where there is no such page, as in files, the light colours are written.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

# After Okabe and Ito, darkened (light) and lightened (dark) to at least 3:1 against the page
LIGHT = ("#0072b2", "#c4520a", "#00805d", "#a8478f", "#8a6d00", "#2a8fc4", "#4b3fa0", "#5f5f5f", "#b0003a", "#7a4a2a")
DARK = ("#5fb0ea", "#ff9557", "#35cfa2", "#e79bd2", "#e8c547", "#9bdcff", "#b3a8ff", "#bdbdbd", "#ff8aa8", "#cfa07c")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":")
SVG_DASHES = ("", "6 3", "7 3 2 3", "2 3")  # the same as stroke-dasharray
INK, GRID = "#1d2127", "#d5d9de"
INK_DARK, GRID_DARK = "#e6e8eb", "#3a4048"

# Colours of the page, light and dark
# fmt: off
PAGE = {
    "--page": ("#ffffff", "#14171b"), "--panel": ("#f5f7f9", "#1c2127"), "--ink": (INK, INK_DARK),
    "--soft": ("#535c66", "#a9b1ba"), "--line": ("#d5dae0", "#363d46"), "--faint": ("#edf0f3", "#242a31"),
    "--link": ("#00568a", "#7cc0f5"), "--good": ("#d3f0e2", "#12432f"), "--tie": ("#fbf0c4", "#4a3d0b"),
    "--bad": ("#ffd9cf", "#5c2416"), "--none": ("#eceef0", "#23282e"), "--mark": ("#ffffff", "#14171b"),
    "--alarm": ("#a32a00", "#ff9d7a"), "--warn": ("#7a4b00", "#ffd48a"), "--warn-page": ("#fff5df", "#2e2412"),
    "--warn-line": ("#d09a30", "#b98524"), "--ok": ("#0a6048", "#8fe0c2"), "--ok-page": ("#e5f5ee", "#12281f"),
    "--ok-line": ("#3fa783", "#35a07b"), "--s0": ("#0b4d78", "#8fcdf6"), "--s1": ("#2a6f9e", "#62abdc"),
    "--s2": ("#86b9da", "#2c6d97"), "--s3": ("#b8d5e8", "#255778"), "--s4": ("#dae9f3", "#1f4059"),
    "--s5": ("#eef3f7", "#1c2c3a"), "--t0": ("#ffffff", "#06202f"), "--t1": ("#ffffff", "#06202f"),
    "--t2": ("#08263a", "#ffffff"), "--t3": ("#08263a", "#eaf5fd"), "--t4": ("#17344a", "#d5e6f2"),
    "--t5": ("#34495a", "#b8c7d2"), "--d0": ("#0d564f", "#5dbcaf"), "--d1": ("#24756c", "#2b7068"),
    "--d2": ("#8ecac3", "#255a54"), "--d3": ("#cfe8e4", "#1f423e"), "--e0": ("#ffffff", "#04211e"),
    "--e1": ("#ffffff", "#ffffff"), "--e2": ("#06302c", "#ffffff"), "--e3": ("#06302c", "#d8f0ec"),
}
# fmt: on

PLACES = {
    "newton-euler": (0, 0, 0),
    "gibbs-appell": (1, 1, 0),
    "kane": (2, 2, 0),
    "lagrange-euler": (3, 3, 0),
    "boltzmann-hamel": (4, 4, 0),
    "boltzmann-hamel-recursions": (4, 2, 2),
    "denoc": (5, 5, 0),
    "pinocchio": (6, 7, 1),
    "null": (7, 6, 3),
    "gibbs-appell-rp": (8, 4, 1),
    "gibbs-appell-elastic": (8, 3, 0),
    "lagrange-elastic": (9, 0, 1),
    "lagrange-stewart": (4, 1, 1),
    "lagrange-stewart-lumped": (9, 2, 2),
    "lagrange-stewart-massless": (8, 6, 3),
    "virtual-spring-denoc": (1, 2, 1),
    "virtual-spring-lagrange": (3, 4, 2),
    "maggi": (2, 1, 2),
    "udwadia-kalaba": (5, 0, 1),
    "augmented-lagrangian": (9, 5, 3),
    "maximal-coordinates": (6, 3, 2),
    "constraint-embedding": (0, 4, 3),
    "virtual-work-stewart": (5, 6, 1),
    "virtual-work-stewart-spin-free": (6, 2, 3),
    "mujoco": (2, 7, 1),
    "drake": (3, 7, 1),
    "exudyn": (8, 7, 1),
    "canonical-momenta": (6, 0, 2),
    "hollerbach": (5, 3, 1),
    "hollerbach-4x4": (5, 3, 3),
    "screw": (9, 5, 0),
    "gdahj": (1, 8, 0),
    "composite-link-frames": (2, 8, 1),
}
Place = tuple[int, int, int]  # in `LIGHT`, `MARKERS` and `DASHES`
FREE: tuple[Place, ...] = tuple(
    (colour, marker, dash)
    for dash in range(len(DASHES))
    for marker in range(len(MARKERS))
    for colour in range(len(LIGHT))
    if all((marker, dash) != place[1:] for place in PLACES.values())  # differs from all of ours without its colour
)
_assigned: dict[str, Place] = {}


class Look(NamedTuple):
    """How a method is drawn."""

    place: int  # in the palette
    marker: str
    dash: Any  # matplotlib's type of it is a list of literals

    @property
    def colour(self) -> str:
        return LIGHT[self.place]


def look(method: str) -> Look:
    """Return how a method is drawn, the same in every figure."""
    colour, marker, dash = PLACES.get(method) or _assigned.get(method) or FREE[_first_choice(method)]
    return Look(colour, MARKERS[marker], DASHES[dash])


def assign(methods: Iterable[str]) -> None:
    """Give the unknown methods of a run a place of their own each: that of their name, or the next that is free.

    No two share marker and dashes while there are enough, so that they differ in print.
    """
    _assigned.clear()
    pairs: set[tuple[int, int]] = set()
    for method in sorted(set(methods) - set(PLACES)):
        first = _first_choice(method)
        places = [FREE[(first + k) % len(FREE)] for k in range(len(FREE))]
        taken = set(_assigned.values())
        chosen = next((p for p in places if p[1:] not in pairs), None)
        chosen = chosen or next((p for p in places if p not in taken), places[0])
        _assigned[method] = chosen
        pairs.add(chosen[1:])


def _first_choice(method: str) -> int:
    return zlib.crc32(method.encode()) % len(FREE)


def variables(dark: bool) -> dict[str, str]:
    """The CSS variables of a theme by name."""
    palette = DARK if dark else LIGHT
    named = {f"--c{k}": colour for k, colour in enumerate(palette)}
    return {**named, "--plot-ink": INK_DARK if dark else INK, "--plot-grid": GRID_DARK if dark else GRID}


def page_colours(dark: bool) -> dict[str, str]:
    """The CSS variables of the page by name: surfaces, text, and two ramps with the text on each of their steps.

    A ramp is told apart by its lightness, so that it survives colour blindness and grey print: times in blue (`--s0`,
    the fastest, to `--s5`), digits in teal (`--d0`, the most, to `--d3`).
    """
    return {name: colours[dark] for name, colours in PAGE.items()}


def themed(svg: str) -> str:
    """The SVG with palette, ink and grid as CSS variables, which the page has for each theme."""
    for name, colour in variables(dark=False).items():
        svg = svg.replace(colour, f"var({name})")
    return svg


@contextmanager
def applied(salt: str) -> Iterator[None]:
    """Within, matplotlib draws in our style; ``salt`` makes the ids inside one SVG its own, and repeatable."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "svg.fonttype": "none",  # text stays text: smaller, searchable, and the page's own font
        "svg.hashsalt": salt,
        "pdf.fonttype": 42,
        "text.parse_math": False,  # a name with a dollar sign is a name
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9.0,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlesize": 9.5,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "xtick.color": INK,
        "ytick.color": INK,
        "lines.linewidth": 1.4,
        "lines.markersize": 5.0,
        "legend.frameon": False,
        "legend.fontsize": 8.0,
        "figure.constrained_layout.w_pad": 0.09,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
    }
    with mpl.rc_context(settings):
        yield
