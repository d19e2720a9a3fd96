"""The summary of a run on the terminal: a screen of text, what was asked for first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from dynbench.benchmarks.papers.registry import not_run
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import environment, orders, tables
from dynbench.benchmarks.results.summary import disagreements
from dynbench.benchmarks.results.verdicts import Ranking, grouped, rank_records, shown_rows
from dynbench.benchmarks.runs import outputs, short
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.short import REFERENCE
from dynbench.benchmarks.tiers import Variant
from dynbench.benchmarks.timing import loop_ratios, ratios
from dynbench.benchmarks.timing.passes import Timing, paired
from dynbench.benchmarks.timing.ratios import Ratio

SHOWN = 6  # disagreements, failures and engines' ratios that are printed; all are in the tables
RECOMMENDED = {"unchecked": "one call in a control loop", "batch": "batches, one thread"}


def screen(findings: Findings, chosen: Sequence[str] = (), targets: bool = False) -> str:
    """Return the summary: the chosen methods, the fastest, ratios to engines, and what went wrong.

    Parameters
    ----------
    chosen : names of methods
        Those that were asked for: each has a line of its own, first.
    targets : bool
        Whether to show our own targets against Pinocchio.
    """
    parts = [
        quiet_line(findings),
        # engines are judged by their own calls, below; what was timed as a method is our wrapper around them
        *(about_method(findings, name) for name in chosen if name != REFERENCE and name not in findings.plan.peers),
        best(findings),
        counted(findings),
        against_engines(findings, targets),
        loop_ratios.screen(findings.compared, targets),
        claims(findings),
        wrong(findings),
        "\n".join(findings.left),
    ]
    return "\n\n".join(part for part in parts if part)


def quiet_line(findings: Findings) -> str:
    """Whether the times were measured on a quiet machine, and the smallest difference that they show."""
    facts = findings.environment.get("timing")
    if not facts:
        return ""
    shown = ", ".join(f"{kind} {100 * value:.1f} %" for kind, value in facts["resolution"].items())
    return f"timing was {facts['sentence']}" + (f"\nsmallest difference that can be told: {shown}" if shown else "")


def about_method(findings: Findings, name: str) -> str:
    """What was found of one method: its time and operations relative to the reference, and how well it agrees."""
    blocks = []
    for one in (one for one in findings.plan.variants if one.method == name):
        beside = Variant(REFERENCE, one.code or next(iter(findings.plan.codes)))
        found = {robot: _facts(findings, robot, one, beside) for robot in findings.plan.robots}
        lines = [f"  {robot}: {text}" for robot, text in found.items() if text]
        blocks += ["\n".join([f"{one.label}, beside {beside.label}", *lines])] if lines else []
    return "\n".join(blocks)


def _facts(findings: Findings, robot: str, one: Variant, beside: Variant) -> str:
    source = findings.plan.sources[robot]
    of = {(t.cell.variant, t.cell.quantity, t.cell.mode): t for t in _timings(findings, source)}
    parts = []
    for quantity in findings.plan.quantities:
        mine, other = of.get((one, quantity, "batch")), of.get((beside, quantity, "batch"))
        text = _relative_time(mine, other)
        operations = _operations(findings, robot, one, quantity), _operations(findings, robot, beside, quantity)
        if all(operations):
            text += f", {operations[0] / operations[1]:.2f}x its operations"
        digits = _digits(findings, robot, one, quantity)
        text += f", agrees to {digits:.0f} digits" if digits == digits else ""
        if text.strip(", "):
            parts.append(f"{quantity} {text.strip(', ')}")
    missing = {m.reason for q in findings.plan.quantities if (m := findings.matrix.missing[robot, one, q])}
    return "; ".join(parts) or "; ".join(sorted(missing))


def _timings(findings: Findings, source: str) -> Iterator[Timing]:
    size = shown_rows(t.cell.rows for t in findings.timings if t.cell.mode == "batch")
    for timing in findings.timings:
        cell = timing.cell
        if cell.robot == source and not cell.again and (cell.mode != "batch" or cell.rows == size):
            yield timing


def _relative_time(mine: Timing | None, other: Timing | None) -> str:
    if mine is None or not mine.rounds:
        return f"({mine.outcome})" if mine is not None and mine.outcome.failure else ""
    if other is None or other is mine or not other.rounds or mine.group is not other.group:
        return f"{tables.time_text(mine.seconds)} a state"
    if Outcome.DISTURBED in (mine.outcome, other.outcome):
        return "disturbed"
    ratio = paired(mine, other).quiet
    same = "" if ratio.resolved else " (no difference)"
    return f"{ratio.value:.2f}x {REFERENCE}'s time [{ratio.low:.2f}, {ratio.high:.2f}]{same}"


def _operations(findings: Findings, robot: str, one: Variant, quantity: str) -> float:
    answer = findings.counts.get((robot, one))
    found = (answer.value or {}).get(quantity) if answer is not None else None
    return float(found["flops"]) if isinstance(found, dict) and "flops" in found else 0.0


def _digits(findings: Findings, robot: str, one: Variant, quantity: str) -> float:
    """The digits in which a method agrees with the others in the worst case."""
    errors = [
        row.value
        for row in findings.checks
        if row.robot == robot and row.quantity == quantity and row.other
        if one in (Variant(row.method, row.code), Variant(row.other, row.other_code))
        if row.status in ("agrees", "differs") and row.value is not None
    ]
    return -math.log10(max(*errors, 1e-16, 1e-16)) if errors else math.nan


def best(findings: Findings) -> str:
    """For each tier, robot and quantity, what is fastest for one call and for batches, ties marked."""
    rows = list(outputs.times(findings))
    size = shown_rows(row["rows"] for row in rows if row["mode"] == "batch")
    facts = outputs.method_facts(findings.plan)
    pairing = outputs.pairing(findings)
    found = {(robot, quantity, mode, tier): rank_records(group, facts, pairing)
             for (robot, quantity, mode, rows_, tier), group in grouped(rows).items()
             if mode == "unchecked" or (mode, rows_) == ("batch", str(size))}  # fmt: skip
    parts = []
    for mode, tier in product(RECOMMENDED, dict.fromkeys(key[3] for key in found)):
        ranked = {key[1] for key, ranking in found.items() if key[2:] == (mode, tier) and ranking.fastest}
        left = () if findings.plan.named else short.ON_ONE_ROBOT  # those are on the page
        quantities = [quantity for quantity in findings.plan.quantities if quantity in ranked and quantity not in left]
        lines = [
            [robot, *(_winner(found.get((robot, quantity, mode, tier))) for quantity in quantities)]
            for robot in findings.plan.robots
        ]
        if quantities:
            size_text = (f" of {size}" if mode == "batch" else "") + (f", {tier} code" if tier else "")
            text = f"fastest for {RECOMMENDED[mode]}{size_text} (~: no difference to others, see timing.csv)"
            parts.append(text + "\n" + tables.aligned(["robot", *quantities], lines, "  "))
    return "\n\n".join(parts)


def _winner(ranking: Ranking | None) -> str:
    return f"{ranking.text} {tables.time_text(ranking.best)}" if ranking is not None and ranking.fastest else "-"


def counted(findings: Findings) -> str:
    """What tracing does to operation counts, in a sentence."""
    return orders.sentence(outputs.counted(findings), outputs.method_facts(findings.plan))


def against_engines(findings: Findings, targets: bool) -> str:
    """Ratios of the reference to the own calls of other engines, with intervals; a table for each tier."""
    found = ratios.headline(findings.compared)
    codes = dict.fromkeys(r.code for r in found)
    return "\n\n".join(_beside_engine(findings, [r for r in found if r.code == code], targets) for code in codes)


def _beside_engine(findings: Findings, found: Sequence[Ratio], targets: bool) -> str:
    rows = [[f"{r.robot} {r.quantity}, {r.mode}", *_ratio_texts(r), r.peer_call] for r in found]
    heads = ["", "times faster", "95 % interval", "shared core", "what was called"]
    if targets:
        rows = [[*row, f"{r.target:.2f}" if r.target == r.target else "-", r.met or "-"]
                for row, r in zip(rows, found, strict=True)]  # fmt: skip
        heads += ["target", "met"]
    width = environment.instruction_set(findings.environment)
    title = f"{Variant(found[0].method, found[0].code).label} beside {found[0].peer}'s own calls ({width})"
    return title + "\n" + tables.aligned(heads, rows, "  ")


def _ratio_texts(r: Ratio) -> list[str]:
    if r.reason:
        return [str(r.outcome), "-", "-"]
    return [f"{r.ratio:.2f}", f"{r.low:.2f} to {r.high:.2f}", f"{r.shared:.2f}"]


def claims(findings: Findings) -> str:
    """How many claims of each paper were reproduced, and of which papers the experiments were not run."""
    lines = []
    missing = [paper.name for paper in findings.claimed if not_run(paper)]
    for paper in findings.claimed:
        if paper.name in missing:
            continue
        counts: dict[str, int] = {}
        for claim in paper.claims:
            counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
        found = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "nothing in the short form"
        lines.append(f"  {paper.name}: {found}; {len(paper.errata)} errata")
    if missing:
        lines.append(f"  not run: {', '.join(missing)}")
    return "\n".join(["papers' claims", *lines]) if lines else ""


def wrong(findings: Findings) -> str:
    """The disagreements, failures and cells that were given up, or a sentence that there is none."""
    pairs = sum(bool(row.other) for row in findings.checks)
    differing = disagreements(findings.checks, SHOWN)
    parts = [differing] if differing else [f"{pairs} comparisons of pairs: no disagreement"]
    given_up = (Outcome.LEFT_OUT, Outcome.DISTURBED)
    for title, chosen in (
        ("not timed", [t for t in findings.timings if t.outcome.failure]),
        ("given up", [t for t in findings.timings if t.outcome in given_up and not short.by_rule(t.reason)]),
    ):
        lines = sorted({f"  {t.cell.key}: {t.outcome}: {t.reason}" for t in chosen})
        if lines:
            more = [f"  ... {len(lines) - SHOWN} more in timing.csv"] if len(lines) > SHOWN else []
            parts.append("\n".join([f"{title}:", *lines[:SHOWN], *more]))
    return "\n".join(parts)
