"""Only what agrees is timed: from the rows of a check to a reason for every cell that may not be timed.

Where two methods differ, one of them is wrong, and a third tells which: a method is refused when it differs from more
than half of those it was compared with. Two that differ with no third to ask are both refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results.rows import Row

Refusals = dict[tuple[str, str, str], Missing]  # by robot, method, quantity
EVERYTHING = "*"  # in place of a quantity


def refusals(rows: Iterable[Row]) -> Refusals:
    """Return why cells may not be timed, for those that may not; `EVERYTHING` stands for all quantities of a method."""
    rows = list(rows)
    found: Refusals = {}
    pairs: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.status in ("agrees", "differs") and row.other:
            for name in (row.method, row.other):
                pairs.setdefault((row.robot, name, row.quantity), []).append(row)
        elif row.status in ("differs", "failed") or (row.status == "unsupported" and row.measure == "error"):
            key = (row.robot, row.method, row.quantity or EVERYTHING)
            found.setdefault(key, Missing(row.outcome, _sentence(row)))
    for key, compared in pairs.items():
        apart = [row for row in compared if row.status == "differs"]
        if 2 * len(apart) > len(compared):
            worst = max(apart, key=lambda row: row.value or 0.0)
            others = ", ".join(sorted({row.other if row.method == key[1] else row.method for row in apart}))
            reason = f"disagreed with {others}: error {worst.value:.2g}, {worst.reason} (seed {worst.seed})"
            found[key] = Missing(Outcome.DISAGREED, reason)
    return found


def reason(found: Refusals, robot: str, method: str, quantity: str) -> Missing | None:
    """Return why a cell may not be timed, None if it may."""
    key = "inverse_dynamics" if quantity == "bias" and (robot, method, "bias") not in found else quantity
    return found.get((robot, method, key)) or found.get((robot, method, EVERYTHING))


def _sentence(row: Row) -> str:
    if row.value is None:
        return f"{row.measure}: {row.reason}" if row.status == "failed" else row.reason
    return f"violates '{row.measure}': {row.value:.2g} {row.unit}, {row.reason}"
