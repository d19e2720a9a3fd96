"""An experiment as plain data: curves, and a robot in motion, which a report draws without running anything.

The papers make them (`papers.recordings`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

DIGITS = 6  # significant, of stored curves


@dataclass(frozen=True)
class Series:
    """One curve; a page can hide it with its ``method``."""

    label: str
    method: str
    x: list[float]
    y: list[float]


@dataclass(frozen=True)
class Panel:
    """Curves in one pair of axes."""

    title: str
    ylabel: str
    series: list[Series]


@dataclass(frozen=True)
class Plot:
    """Panels over the same x axis."""

    name: str
    title: str
    caption: str  # how to read it
    xlabel: str
    panels: list[Panel]
    xscale: str = "linear"  # or "log"
    yscale: str = "linear"


@dataclass(frozen=True)
class Simulation:
    """One experiment: its curves, and its robot in motion."""

    name: str
    paper: str
    title: str
    robot: str
    plots: list[Plot]
    motion: dict[str, Any] | None = None  # as `drawing.motion` returns it
    reason: str = ""  # why there are no curves
    provenance: tuple[tuple[str, str, str, str], ...] = ()  # (datum, value, "given"/"inferred"/"chosen", note)


def curve(label: str, method: str, x: ArrayLike, y: ArrayLike) -> Series:
    """Return a series of finite points, rounded."""
    pairs = [(float(a), float(b)) for a, b in zip(np.asarray(x), np.asarray(y), strict=True)]
    kept = [pair for pair in pairs if np.isfinite(pair).all()]
    return Series(label, method, *([float(f"{pair[k]:.{DIGITS}g}") for pair in kept] for k in (0, 1)))


def magnitude(label: str, method: str, x: ArrayLike, y: ArrayLike) -> Series:
    """Return the absolute values of errors, for a logarithmic axis; exact zeros are left out."""
    sizes = np.abs(np.asarray(y))
    return curve(label, method, x, np.where(sizes > 0.0, sizes, np.nan))


def origins(provenance: Iterable[Any]) -> tuple[tuple[str, str, str, str], ...]:
    """Return data with their provenance as plain rows."""
    return tuple((one.item, one.value, one.status, one.note) for one in provenance)
