"""A summary for a pull request: the verdict, who is fastest, the targets, what went wrong; Markdown, escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dynbench.benchmarks.results import orders
from dynbench.benchmarks.results.verdicts import OWN_CALLS
from dynbench.reports import ratio_tables, verdict
from dynbench.reports.agreement import wrong
from dynbench.reports.rows import StoredRun, in_tier, known, number, seconds, unique, words

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
    for tier in run.tiers:
        fastest, own, of = _fastest(run, tier), _own_ratios(run, tier), f", {tier} code" if tier else ""
        if fastest:
            title = f"Fastest exact method per state{of}, batches of {run.batch_size}, one thread (~: no difference to "
            parts.append(f"{escape(f'{title}others)')}:\n\n{fastest}")
        if own:
            parts.append(f"Times faster than other engines' own calls{of}, with 95 % intervals:\n\n{own}")
    traced = orders.sentence(run["counts"], facts["methods"])
    parts += [escape(traced)] if traced else []
    targets = ratio_tables.targets(run)
    if targets.lines and facts.get("targets"):
        heads = [head.text for head in targets.heads]
        parts.append("Targets:\n\n" + _table(heads, [[cell.text for cell in line.cells] for line in targets.lines]))
    bad = wrong(run)
    if bad:
        rows = [
            [
                row["robot"],
                in_tier(row["method"], row["code"]),
                in_tier(row["other"], row["other_code"]),
                row["quantity"],
                row["measure"],
                row["value"] or row["reason"],
            ]
            for row in bad
        ]
        more = f"\n\n… and {len(bad) - MOST} more." if len(bad) > MOST else ""
        parts.append(
            "Did not pass:\n\n"
            + _table(["robot", "method", "other", "quantity", "measure", "value"], rows[:MOST])
            + more
        )
    left = facts.get("left to the full run")
    if isinstance(left, list) and left:
        parts.append("\n".join(f"- {escape(str(one))}" for one in left))
    command = str(facts.get("command", "unknown")).replace("`", "'")
    where = ", ".join(escape(str(facts.get(key, "unknown"))) for key in ("cpu", "system", "date", "commit"))
    parts.append(f"`{command}` on {where}.")
    return "\n\n".join(parts) + "\n"


def _fastest(run: StoredRun, tier: str) -> str:
    ranked = {(robot, quantity): ranking for (robot, quantity, of), ranking in run.fastest().items() if of == tier}
    found = {key: f"{ranking.text} {seconds(ranking.best)}" for key, ranking in ranked.items()}
    quantities = unique(quantity for _, quantity in found)
    robots = unique(robot for robot, _ in found)
    lines = [[robot, *(found.get((robot, quantity), "–") for quantity in quantities)] for robot in robots]
    return _table(["robot", *map(words, quantities)], lines) if lines else ""


def _own_ratios(run: StoredRun, tier: str) -> str:
    """The reference's ratios to own calls of engines in batches; those of our wrapper make no headline."""
    rows = [
        [row["robot"], words(row["quantity"]), f"{row['peer']}, {row['peer_call']}",
         f"{number(row['ratio']):.3g} [{number(row['low']):.3g}, {number(row['high']):.3g}]", row["verdict"]]
        for row in run["ratios"]
        if (row["method"], row["mode"], row["rows"]) == (REFERENCE, "batch", run.batch_size)
        if row["code"] == tier and row["peer_call"] in OWN_CALLS and known(row["ratio"]) and not row["reason"]
    ]  # fmt: skip
    return _table(["robot", "quantity", f"{REFERENCE} beside", "times faster", "verdict"], rows[:MOST]) if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    return tabulate([map(escape, row) for row in rows], [*map(escape, heads)], "github", disable_numparse=True)
