"""The rows of problems.csv, a problem and a method at a time: the most exact run, and the least time to given errors.

Rows may be those of a run (numbers) or those read from a file (text).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dynbench.benchmarks.processes.outcomes import Outcome

TARGETS = (1e-4, 1e-6, 1e-9)  # errors for which the CPU time is given
RECORDED = "problems"  # stands for the paper of a problem's recording among the simulations
Row = Mapping[str, Any]


class Best(NamedTuple):
    """The most exact run of a problem by a method, and the least CPU time to reach each of the `TARGETS`."""

    row: Row  # the run that came farthest, without digits, where none reached the end
    cheapest: tuple[float, ...]  # s; NaN where no run was as exact


def best(rows: Sequence[Row]) -> Best:
    """Return the best of the runs of one problem by one method."""
    done = [row for row in rows if math.isfinite(value(row, "digits"))]
    cheapest = tuple(
        min((value(row, "cpu") for row in done if value(row, "error") <= target), default=math.nan)
        for target in TARGETS
    )
    if done:
        return Best(max(done, key=lambda row: value(row, "digits")), cheapest)
    return Best(max(rows, key=_reached), cheapest)


def _reached(row: Row) -> float:
    found = value(row, "reached")
    return found if math.isfinite(found) else -1.0


def applied(row: Row) -> bool:
    """Whether the method of a row applies to its problem."""
    return bool(row["method"]) and row.get("outcome") != Outcome.UNSUPPORTED


def how(row: Row) -> str:
    """Return integrator and tolerance, or step, of a run."""
    rtol, step = value(row, "rtol"), value(row, "step")
    setting = f" {rtol:.0e}" if math.isfinite(rtol) else f" h = {step:.1e} s" if math.isfinite(step) else ""
    return f"{row.get('solver') or ''}{setting}"


def value(row: Row, name: str) -> float:
    """Return a number of a row; NaN for none."""
    found = row.get(name)
    return math.nan if found is None or found == "" else float(found)


def grouped(rows: Sequence[Row]) -> dict[str, dict[str, list[Row]]]:
    """Return the rows by problem, then by method, in their order."""
    found: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        found.setdefault(row["problem"], {}).setdefault(row["method"], []).append(row)
    return found
