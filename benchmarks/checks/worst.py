"""The worst case of every pair on every robot: where to look when two methods are apart, small enough to keep them all.

Of a long result only the component with the largest difference is kept, and inputs only of small robots: robot, number
of states, seed and index of the state give all others again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dynbench.benchmarks.results.rows import Row

LONGEST = 14  # numbers of an input that is kept


def worst_cases(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return, for each robot and pair, the row with the largest error and its state, as plain data."""
    largest: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        if row.other and row.worst is not None and row.value is not None:
            key = (row.robot, row.method, row.other)
            held = largest.get(key)
            if held is None or _severity(row) > _severity(held):
                largest[key] = row
    return [_plain(row) for row in largest.values()]


def _severity(row: Row) -> tuple[bool, float]:
    return not row.ok, row.value or 0.0


def _plain(row: Row) -> dict[str, Any]:
    worst = row.worst
    assert worst is not None
    ours, theirs = np.array(worst.value), np.array(worst.other)
    with np.errstate(invalid="ignore"):
        gap = np.abs(ours - theirs)
    component = int(np.argmax(np.where(np.isfinite(gap), gap, np.inf))) if len(gap) else 0
    inputs = {name: list(values) for name, values in worst.inputs.items() if len(values) <= LONGEST}
    return {
        **{
            key: getattr(row, key)
            for key in ("robot", "method", "other", "quantity", "measure", "value", "states", "seed")
        },
        "state": worst.state,
        "component": component,
        "ours": float(ours[component]) if len(ours) else None,
        "theirs": float(theirs[component]) if len(theirs) else None,
        "inputs": inputs,
    }
