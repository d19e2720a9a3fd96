"""Figures that compare methods side by side: agreement, speed, ratios to other engines, share of the peak.

Each function returns the figures there are rows for, and none where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from dynbench.benchmarks.results.schema import COUNTS, RATIOS, TIMING
from dynbench.benchmarks.results.verdicts import OWN_CALLS
from dynbench.reports import plots
from dynbench.reports.figure import Figure
from dynbench.reports.plots import Dot
from dynbench.reports.rows import Record, StoredRun, data, each_tier, known, number, outcome, percent, unique, words

OWN_CALL = {"unchecked": "engine", "batch": "engine-batch"}  # a peer is shown by its own call, where it was timed
SPREAD = ("seconds", "low", "high")  # of a time: the 95 % interval
FULL = 16.0  # digits of a pair that does not differ at all


def agreement(run: StoredRun) -> Iterator[Figure]:
    """The worst pair over all robots and quantities, as digits."""
    rows = untraced([row for row in run["agreement"] if row["other"] and known(row["value"])])
    worst: dict[tuple[str, str], Record] = {}
    for row in rows:
        pair = (row["method"], row["other"])
        held = worst.get(pair)
        if held is None or severity(row) > severity(held):
            worst[pair] = row
    cells = {}
    for (one, two), row in worst.items():
        shown = (digits(number(row["value"])), row["status"] != "differs")
        cells[one, two] = cells[two, one] = shown
    names = [name for name in run.methods if any(name in pair for pair in cells)]
    if cells:
        columns = ("method", "other", "digits", "error (relative)", "noise floor (relative)", "robot", "quantity",
                   "verdict")  # fmt: skip
        content = [
            (row["method"], row["other"], digits(number(row["value"])), number(row["value"]), number(row["noise"]),
             row["robot"], row["quantity"], row["status"])
            for row in worst.values()
        ]  # fmt: skip
        yield Figure(
            "agreement",
            "Agreement of all pairs of methods, in digits",
            "Each cell is the number of decimal digits that two methods share in the worst of all robots, quantities "
            "and states they were compared on: the logarithm of the largest relative difference. Darker is better, 16 "
            "is the most that double precision has, and a cross marks a pair beyond its tolerance. Methods that are "
            "approximate by design are shown but not held to it. Choose a cell to see its worst case.",
            columns,
            content,
            partial(plots.pairs, names=names, digits=cells),
            height=1.5 + 0.34 * len(names),
            width=min(2.6 + 0.62 * len(names), 8.2),
            pairs=True,
        )


def untraced(rows: list[Record]) -> list[Record]:
    """The rows of pairs without those of traced code, which has pairs of its own; all, if there are no others."""
    return [row for row in rows if "traced" not in (row["code"], row["other_code"])] or rows


def severity(row: Record) -> tuple[bool, float]:
    """What orders checks, the worst last: those that did not pass, then by error."""
    value = number(row["value"])
    return outcome(row).failure, math.inf if math.isnan(value) else value


def digits(error: float) -> float:
    """Decimal digits that a relative error leaves."""
    return min(FULL, -math.log10(error)) if error > 0.0 else FULL


def timed(run: StoredRun, quantity: str, mode: str, count: str) -> list[Record]:
    """The rows of one comparison: peers by their own calls, the twin of an A/A pair left out."""
    rows = [
        r
        for r in run["timing"]
        if r["quantity"] == quantity and r["rows"] == count and not r["reason"] and r["label"] == r["method"]
    ]
    own = {(r["robot"], r["method"]): r for r in rows if r["mode"] == OWN_CALL.get(mode)}
    return [own.get((r["robot"], r["method"]), r) for r in rows if r["mode"] == mode]


@each_tier
def speed(run: StoredRun) -> Iterator[Figure]:
    """For each quantity, one state and a state in a batch, over all robots."""
    count = run.batch_size
    for quantity in unique(row["quantity"] for row in run["timing"]):
        panels: list[plots.Panel] = []
        shown: list[Record] = []
        for mode, rows, title in (("unchecked", "1", "one state"), ("batch", count, f"per state, batch of {count}")):
            found = timed(run, quantity, mode, rows)
            shown += found
            if found:
                dots = [Dot(r["robot"], r["method"], *(number(r[k]) for k in SPREAD)) for r in found]
                panels.append((title, "time, one thread", dots))
        if panels:
            yield Figure(
                f"speed-{slug(quantity)}",
                f"Time of {words(quantity)}",
                "A dot is the time of one method on one robot, the line through it the 95 % interval; further "
                "left is faster, and each step of the scale is a factor. Left: one state through the unchecked handle. "
                "Right: per state in a batch. Other engines are shown by their own calls. Lines that overlap are no "
                "difference.",
                *data(TIMING, shown, "robot", "method", "mode", "rows", "seconds", "low", "high", "noise"),
                partial(plots.dots, panels=panels, methods=run.methods),
                height=plots.dots_height([dot for panel in panels for dot in panel[2]], run.methods),
            )


@each_tier
def ratios(run: StoredRun) -> Iterator[Figure]:
    """For each other engine, how many times faster than its own call."""
    count = run.batch_size
    for peer in unique(row["peer"] for row in run["ratios"]):
        for quantity in unique(row["quantity"] for row in run["ratios"] if row["peer"] == peer):
            panels: list[plots.Panel] = []
            shown: list[Record] = []
            for mode, rows, title in (("unchecked", "1", "one state"), ("batch", count, f"batch of {count}")):
                found = [
                    r
                    for r in run["ratios"]
                    if (r["peer"], r["quantity"], r["mode"], r["rows"]) == (peer, quantity, mode, rows)
                    and known(r["ratio"])
                    and r["peer_call"] in OWN_CALLS
                    and not r["reason"]
                ]
                dots = []
                for r in found:
                    ratio = number(r["ratio"])
                    low, high = (number(r[name]) if known(r[name]) else ratio for name in ("low", "high"))
                    dots.append(Dot(r["robot"], r["method"], ratio, low, high))
                shown += found
                if dots:
                    panels.append((title, f"times faster than {peer}", dots))
            called = unique(row["peer_call"] for row in shown)
            if panels:
                yield Figure(
                    f"ratio-{slug(peer)}-{slug(quantity)}",
                    f"{words(quantity).capitalize()}: times faster than {peer}",
                    f"Time of {peer}'s own call over the method's on the same robot, states and clock. Right of the "
                    "dotted line the method is faster. The line through a dot is the 95 % interval: where it crosses "
                    f"the dotted line there is no difference. What was called: {', '.join(called)}.",
                    *data(
                        RATIOS, shown, "robot", "method", "mode", "rows", "peer_call", "ratio", "low", "high", "verdict"
                    ),
                    partial(
                        plots.dots, panels=panels, methods=run.methods, text=lambda v: f"{plots.plain(v)}×", line=1.0
                    ),
                    height=plots.dots_height([dot for panel in panels for dot in panel[2]], run.methods),
                )


@each_tier
def peak(run: StoredRun) -> Iterator[Figure]:
    """The share of the machine's floating-point peak that batches reach."""
    rows = [row for row in run["counts"] if known(row["fraction"])]
    panels: list[plots.Panel] = []
    for quantity in unique(row["quantity"] for row in rows):
        mine = [row for row in rows if row["quantity"] == quantity]
        dots = [Dot(row["robot"], row["method"], *[number(row["fraction"])] * 3) for row in mine]
        panels.append((words(quantity), "share of the peak", dots))
    if panels:
        yield Figure(
            "peak",
            "Share of the floating-point peak of one thread",
            "Operations of one evaluation, as counted, over its time in a batch, over the measured peak of a "
            "multiply-add loop. A low share says that time goes into something other than arithmetic; a formulation "
            "with more operations can have a high share and still be slower.",
            *data(COUNTS, rows, "robot", "method", "quantity", "flops", "fraction"),
            partial(plots.dots, panels=panels[:3], methods=run.methods, text=percent),
            height=plots.dots_height([dot for panel in panels[:3] for dot in panel[2]], run.methods),
        )


def slug(name: str) -> str:
    """A name as part of a file's: letters, digits and dashes."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()).strip("-") or "unnamed"
