"""Tables of operation counts: on robots and families, before and after tracing, and what papers print of them."""

from __future__ import annotations

import math
from dataclasses import replace

from dynbench.benchmarks.results import orders
from dynbench.benchmarks.results.schema import CLAIMS, COUNTS, OPERATIONS, PAPER_COUNTS
from dynbench.reports.grids import Cell, Grid, Head, Line, heads, texts
from dynbench.reports.paper_tables import ours
from dynbench.reports.rows import Record, StoredRun, known, number, outcome, percent, short, unique, words


def counts(run: StoredRun) -> tuple[Grid, Grid]:
    """Operations on each robot with the share of the peak; and as polynomials in N on families."""
    named = ("robot", "quantity", "method", "code")
    shared = heads(COUNTS, *named, *OPERATIONS)
    rate = Head("GFLOP/s", tooltip=COUNTS["rate"].tooltip)
    found = Grid("counts", "operations of one evaluation", [*shared, rate, *heads(COUNTS, "fraction")])
    grown = Grid("polynomials", "operations as polynomials in N", shared)
    for row in run["counts"]:
        if not known(row["flops"]) and row["robot"].endswith("-N"):
            absent = grown.absent(row["reason"], outcome(row)) if row["reason"] else None
            cells = [absent or Cell(row[kind]) for kind in OPERATIONS]
            grown.lines.append(Line([*texts(row, *named), *cells], row["method"]))
        elif row["reason"]:
            cells = [found.absent(row["reason"], outcome(row))] * (len(OPERATIONS) + 2)
            found.lines.append(Line([*texts(row, *named), *cells], row["method"]))
        else:
            share, speed = number(row["fraction"]), number(row["rate"]) / 1e9
            cells = [Cell(short(row[kind]), value=number(row[kind])) for kind in OPERATIONS]
            last = [Cell(f"{speed:.1f}" if known(row["rate"]) else "–", value=speed), Cell(percent(share), value=share)]
            found.lines.append(Line([*texts(row, *named), *cells, *last], row["method"]))
    return found, grown


def traced_counts(run: StoredRun) -> Grid:
    """Operations before and after tracing, and the place of each exact method by them; the title says what changes."""
    found = orders.beside(run["counts"])
    said = orders.sentence(run["counts"], run.facts["methods"])
    title = f"operations before and after tracing. {said}".strip()
    named = heads(COUNTS, "robot", "quantity", "method")
    words_ = ("generic code", "traced code", "left", "place before", "place after")
    grid = Grid("traced-counts", title, [*named, *map(Head, words_)])
    ranked = {(order.robot, order.quantity): order for order in orders.orders(found, run.facts["methods"])}
    for one in found:
        order = ranked.get((one.robot, one.quantity))
        places = [side.index(one) + 1 for side in (order.before, order.after)] if order and one in order.before else []
        moved = "tie" if len(set(places)) == 2 else ""
        share = one.traced / one.generic if one.generic else math.nan
        cells = [Cell(one.robot), Cell(words(one.quantity)), Cell(one.method),
                 *(Cell(f"{count:.0f}", value=count) for count in (one.generic, one.traced)),
                 Cell(percent(share), value=share),
                 *(Cell(str(place), moved, value=place) for place in places or ())]  # fmt: skip
        cells += [Cell("–", "none")] * (len(grid.heads) - len(cells))
        grid.lines.append(Line(cells, one.method))
    return grid


def paper_counts(run: StoredRun) -> Grid:
    """Operation counts that papers print, beside ours: a line for each way to count, a column for each size."""
    sizes = unique(row["n"] for row in run["paper_counts"])
    (ratio,) = heads(PAPER_COUNTS, "ratio")
    columns = [replace(ratio, text=f"{ratio.text}, n={n}") for n in sizes]
    named = heads(PAPER_COUNTS, "paper", "quantity", "operations", "formula", "ours")
    grid = Grid("paper-counts", "the papers' formulas, and what was counted", [*named, *columns])
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for row in run["paper_counts"]:
        key = (row["paper"], row["quantity"], row["operations"], row["formula"], f"{row['ours']} ({row['counted']})")
        lines.setdefault(key, {})[row["n"]] = row
    for said, found in lines.items():
        cells = []
        for n in sizes:
            if n not in found:  # of another paper
                cells.append(Cell("–", "none"))
                continue
            ours, theirs, value = (number(found[n][k]) for k in ("our_value", "printed_value", "ratio"))
            cells.append(Cell(f"{ours:.0f} / {theirs:.0f} = {value:.2f}", value=value))
        grid.lines.append(Line([*map(Cell, said), *cells]))
    return grid


def claimed_counts(run: StoredRun) -> Grid:
    """The claims of all papers that are about operations and growth."""
    named = ("paper", "statement", "printed")
    title = "What the papers print about operations and growth, and what was counted"
    grid = Grid("claimed-counts", title, heads(CLAIMS, *named, "measured", "reason"))
    for row in run["claims"]:
        text = f"{row['statement']} {row['unit']}".lower()
        about = any(word in text for word in ("additions", "multiplications", "operations", "flops", "exponent"))
        if about and row.get("kind") != "check":
            grid.lines.append(Line([*texts(row, *named), ours(row), Cell(row["reason"])]))
    return grid
