"""One look for all figures: a colour-blind safe palette, and for each method its own colour, marker and dash, for good.

The methods we know have fixed places; any other gets one from a digest of its name, so that a plugin looks the same in
every figure of every run. Colours alone do not tell so many methods apart: markers and dashes do.

The colours that stand for ink, grid and methods are written into SVG as CSS variables (`themed`), so that a page can
darken; where there is no such page, as in files, the light colours are written.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

# After Okabe and Ito, darkened (light) and lightened (dark) to at least 3:1 against the page
LIGHT = ("#0072b2", "#c4520a", "#00805d", "#a8478f", "#8a6d00", "#2a8fc4", "#4b3fa0", "#5f5f5f", "#b0003a", "#7a4a2a")
DARK = ("#5fb0ea", "#ff9557", "#35cfa2", "#e79bd2", "#e8c547", "#9bdcff", "#b3a8ff", "#bdbdbd", "#ff8aa8", "#cfa07c")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":")
INK, GRID = "#1d2127", "#d5d9de"
INK_DARK, GRID_DARK = "#e6e8eb", "#3a4048"

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
    "augmented-lagrangian": (9, 5, 0),
    "maximal-coordinates": (6, 3, 2),
    "constraint-embedding": (0, 4, 3),
    "virtual-work-stewart": (5, 6, 1),
    "virtual-work-stewart-spin-free": (6, 2, 3),
    "mujoco": (2, 7, 1),
    "drake": (3, 7, 1),
    "exudyn": (8, 7, 1),
}


class Look(NamedTuple):
    """How a method is drawn."""

    place: int  # in the palette
    marker: str
    dash: Any  # matplotlib's type of it is a list of literals

    @property
    def colour(self) -> str:
        return LIGHT[self.place]


def look(method: str) -> Look:
    """Return how a method is drawn, the same in every figure and run."""
    if method in PLACES:
        colour, marker, dash = PLACES[method]
    else:
        digest = zlib.crc32(method.encode())
        colour, marker, dash = digest % len(LIGHT), digest // 16 % len(MARKERS), digest // 256 % len(DASHES)
    return Look(colour, MARKERS[marker], DASHES[dash])


def variables(dark: bool) -> dict[str, str]:
    """The CSS variables of a theme by name."""
    palette = DARK if dark else LIGHT
    named = {f"--c{k}": colour for k, colour in enumerate(palette)}
    return {**named, "--plot-ink": INK_DARK if dark else INK, "--plot-grid": GRID_DARK if dark else GRID}


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
