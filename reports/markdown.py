"""A summary for a pull request: the verdict, who is fastest, the targets, what went wrong; Markdown, escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynbench.benchmarks.results.verdicts import OWN_CALLS
from dynbench.reports import grids, verdict
from dynbench.reports.agreement import wrong
from dynbench.reports.rows import StoredRun, known, number, seconds, unique, words

REFERENCE = "newton-euler"
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
    own = _own_ratios(run)
    if fastest:
        title = f"Fastest exact method per state, batches of {run.batch_size}, one thread (~: no difference to others)"
        parts.append(f"{escape(title)}:\n\n{fastest}")
    if own:
        parts.append("Times faster than other engines' own calls, with 95 % intervals:\n\n" + own)
    targets = grids.targets(run)
    if targets.lines and facts.get("targets"):
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
    found = {key: f"{ranking.text} {seconds(ranking.best)}" for key, ranking in run.fastest().items()}
    quantities = unique(quantity for _, quantity in found)
    robots = unique(robot for robot, _ in found)
    lines = [[robot, *(found.get((robot, quantity), "–") for quantity in quantities)] for robot in robots]
    return _table(["robot", *map(words, quantities)], lines) if lines else ""


def _own_ratios(run: StoredRun) -> str:
    """The reference's ratios to own calls of engines in batches; those of our wrapper make no headline."""
    rows = [
        [row["robot"], words(row["quantity"]), f"{row['peer']}, {row['peer_call']}",
         f"{number(row['ratio']):.3g} [{number(row['low']):.3g}, {number(row['high']):.3g}]", row["verdict"]]
        for row in run["ratios"]
        if (row["method"], row["mode"], row["rows"]) == (REFERENCE, "batch", run.batch_size)
        if row["peer_call"] in OWN_CALLS and known(row["ratio"]) and not row["reason"]
    ]  # fmt: skip
    return _table(["robot", "quantity", f"{REFERENCE} beside", "times faster", "verdict"], rows[:MOST]) if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    return tabulate([map(escape, row) for row in rows], [*map(escape, heads)], "github", disable_numparse=True)
