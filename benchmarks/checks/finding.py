"""What one invariant found: a value to be judged, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from dynbench.benchmarks.results.rows import Worst


@dataclass(frozen=True)
class Finding:
    """A value to be judged, and where it is worst."""

    value: float
    tolerance: float
    why: str
    unit: str = "relative"
    worst: Worst | None = None
    noise: float | None = None  # what is not the method's: the error of the integrator


class Absent(Exception):
    """An invariant cannot be asked of this robot; the reason becomes the row's."""
