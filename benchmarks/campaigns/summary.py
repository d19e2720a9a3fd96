"""A screen of summary of a campaign: how many cells, what failed and why, the worst error of each method."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynbench.benchmarks.campaigns.campaign import Campaign
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import tables
from dynbench.robots.text import clipped

SHOWN = 8  # reasons, and methods
LONGEST = 100  # characters of a reason


@dataclass
class Score:
    """The results of one method with its options."""

    cells: int = 0
    numbers: int = 0
    differ: int = 0
    worst: float = -math.inf
    where: str = ""


class CampaignSummary:
    """Counts of the rows as they are written."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.cells = self.failed = self.differ = 0
        self.reasons: Counter[tuple[str, str]] = Counter()  # method and reason of cells without a number
        self.scores: dict[str, Score] = {}

    def add(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Count a row of campaign.csv, and return it."""
        method = row["method"] + (f" ({row['options']})" if row["options"] else "")
        score = self.scores.setdefault(method, Score())
        reason = row.get("reason") or ""
        self.cells += 1
        score.cells += 1
        differs = row.get("status") == "differs"
        self.differ += differs
        score.differ += differs
        if self._empty(row):
            self.failed += Outcome(row["outcome"]).failure or row["outcome"] == Outcome.INTERRUPTED
            if len(self.reasons) < 1000 or (method, reason) in self.reasons:
                self.reasons[method, reason] += 1
            return row
        score.numbers += 1
        error = row.get("error")
        if error is not None and not error <= score.worst:
            score.worst = error
            words = [row.get(name) for name in ("robot", "quantity", "solver", "rtol", "seed")]
            score.where = " ".join(str(word) for word in words if word is not None)
        return row

    def _empty(self, row: Mapping[str, Any]) -> bool:
        """Whether a cell has no number."""
        return all(row.get(name) is None or row.get(name) != row.get(name) for name in ("error", "flops"))

    @property
    def well(self) -> bool:
        """Whether nothing failed and nothing differs."""
        return not self.failed and not self.differ

    def screen(self) -> str:
        """Return the summary as text."""
        empty = sum(self.reasons.values())
        title = f"{self.campaign.name}: {self.cells} cells, {self.cells - empty} with a number, {self.failed} failed"
        title += f", {self.differ} differ" if self.campaign.kind_name == "agreement" else ""
        parts = [title, self._methods()]
        if self.reasons:
            said = [
                f"  {count} x {method}: {clipped(reason, LONGEST)}"
                for (method, reason), count in self.reasons.most_common(SHOWN)
            ]
            more = len(self.reasons) - len(said)
            parts.append("\n".join(["without a number:", *said, *([f"  and {more} other reasons"] if more else [])]))
        return "\n\n".join(part for part in parts if part)

    def _methods(self) -> str:
        found = sorted(self.scores.items(), key=lambda item: -item[1].worst)[: 2 * SHOWN]
        rows = [
            [name, str(s.cells), str(s.numbers), f"{s.worst:.1e}" if math.isfinite(s.worst) else "-", s.where]
            for name, s in found
        ]
        left = len(self.scores) - len(rows)
        more = f"\n  and {left} other methods" if left else ""
        return tables.aligned(["method", "cells", "numbers", "worst error", "where"], rows, "  ") + more
