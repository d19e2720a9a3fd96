"""A summary for a pull request: the verdict, who is fastest, the targets, what went wrong; Markdown, escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynbench.reports import grids, verdict
from dynbench.reports.agreement import wrong
from dynbench.reports.figures import batch_size, timed
from dynbench.reports.rows import StoredRun, number, seconds, unique, words

MOST = 10  # failures listed; all are in agreement.csv


def escape(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#~])", r"\\\1", " ".join(plain.split()))


def summary(run: StoredRun) -> str:
    """Return the summary of a run."""
    facts = run.facts
    parts = [f"## {escape(run.title)}", "\n".join(f"- {escape(sentence)}" for sentence in verdict.sentences(run))]
    fastest = _fastest(run)
    if fastest:
        parts.append(f"Fastest per state, batches of {escape(batch_size(run))}, one thread:\n\n{fastest}")
    targets = grids.targets(run)
    if targets.lines:
        heads = [head.text for head in targets.heads]
        parts.append("Targets:\n\n" + _table(heads, [[cell.text for cell in line.cells] for line in targets.lines]))
    bad = wrong(run)
    if bad:
        rows = [
            [row["robot"], row["method"], row["other"], row["quantity"], row["measure"], row["value"] or row["reason"]]
            for row in bad
        ]
        more = f"\n\n… and {len(bad) - MOST} more." if len(bad) > MOST else ""
        parts.append(
            "Did not pass:\n\n"
            + _table(["robot", "method", "other", "quantity", "measure", "value"], rows[:MOST])
            + more
        )
    command = str(facts.get("command", "unknown")).replace("`", "'")
    where = ", ".join(escape(str(facts.get(key, "unknown"))) for key in ("cpu", "system", "date", "commit"))
    parts.append(f"`{command}` on {where}.")
    return "\n\n".join(parts) + "\n"


def _fastest(run: StoredRun) -> str:
    quantities = unique(row["quantity"] for row in run["timing"])
    found: dict[str, dict[str, str]] = {}
    for quantity in quantities:
        rows = [row for row in timed(run, quantity, "batch", batch_size(run)) if row["method"] in run.contestants]
        for robot in unique(row["robot"] for row in rows):
            best = min((row for row in rows if row["robot"] == robot), key=lambda row: number(row["seconds"]))
            found.setdefault(robot, {})[quantity] = f"{best['method']} {seconds(number(best['seconds']))}"
    quantities = [quantity for quantity in quantities if any(quantity in cells for cells in found.values())]
    lines = [[robot, *(cells.get(quantity, "–") for quantity in quantities)] for robot, cells in found.items()]
    return _table(["robot", *map(words, quantities)], lines) if lines else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    return tabulate([map(escape, row) for row in rows], [*map(escape, heads)], "github", disable_numparse=True)
