"""``dynbench compare``: what changed between two runs, and whether it is a regression."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say

if TYPE_CHECKING:
    from dynbench.benchmarks.results.changes import CellChange, Change
    from dynbench.benchmarks.results.compare import Comparison, Difference

CHANGE = ("cells", "B/A", "95 % interval", "p (Holm)", "verdict")
SHOWN = 8  # lines of a list; all are in the JSON
LARGE = 1.15  # a drift from which the machine is named


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "compare",
        help="what changed between two runs: coverage, agreement, operations, times beyond noise",
        description="Compare two results folders: two runs, machines or commits. Times are judged by method, with the "
        "drift of the machine taken out. Exit code 0: nothing became worse; 1: something is slower beyond noise, "
        "disagrees, or is lost; 2: misuse.",
    )
    verb.add_argument("first", type=options.path, metavar="A", help="the folder of the earlier run")
    verb.add_argument("second", type=options.path, metavar="B", help="the folder of the run that is judged")
    least = "smallest change of a time that counts (default 3%%)"
    verb.add_argument("--threshold", type=options.share, default=0.03, metavar="SHARE", help=least)
    verb.add_argument("--common", action="store_true", help="leave out what only one of the runs covers")
    options.add_json(verb, "everything that was found")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare, print the result, and return 0 if nothing became worse."""
    from dynbench.benchmarks.results.compare import compare

    found = compare(args.first, args.second, args.threshold, args.common)
    if args.json is not None:
        _write(args.json, found)
    say("\n".join(lines(found, args.threshold)))
    return 1 if found.regressions else 0


def _write(path: Path, found: Comparison) -> None:
    import json

    from dynbench.benchmarks.results.rows import plain
    from dynbench.robots.errors import DynbenchError

    try:
        path.write_text(json.dumps(plain(found.plain()), indent=2, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise DynbenchError(f"--json {path}: {error.strerror}") from error


def lines(found: Comparison, threshold: float) -> Iterator[str]:
    """Yield the lines of the summary."""
    yield f"A: {found.a}"
    yield f"B: {found.b}"
    yield from _listed("different surroundings", found.surroundings, 30)
    yield from _listed("lost: a number in A, none in B", found.lost)
    yield from _listed("gained: a number in B, none in A", found.gained)
    yield from _listed("agreement changed", found.agreement)
    yield from _listed("operation counts changed", found.counts)
    yield from _listed("claims changed", found.claims)
    yield from _times(found, threshold)
    for note in found.notes:
        yield f"note: {note}"
    count = found.regressions
    yield ""
    yield f"{count} regression{'s' * (count != 1)}" if count else "no regression"


def _listed(title: str, differences: Sequence[Difference], shown: int = SHOWN) -> Iterator[str]:
    if differences:
        yield f"\n{title}:"
        ranked = sorted(differences, key=lambda one: not one.regression)
        for one in ranked[:shown]:
            sides = " -> ".join(_short(side) for side in (one.a, one.b) if side)
            yield f"  {'! ' if one.regression else ''}{_short(one.what)}: {sides}"
        if len(ranked) > shown:
            yield f"  ... and {len(ranked) - shown} more (--json has all)"


def _short(text: str) -> str:
    from dynbench.robots.text import clipped  # not above: its package imports numpy

    return clipped(" ".join(text.split()), 150)


def _times(found: Comparison, threshold: float) -> Iterator[str]:
    from dynbench.benchmarks.results import tables

    judged = found.judgement
    if not found.cells:
        yield "\ntimes: no cell has one in both runs"
        return
    drifts = ", ".join(f"{kind} {factor:.2f}x" for kind, factor in judged.drift.items())
    yield f"\ntimes: {found.cells} cells in both; scatter of a cell {judged.scatter:.1%}; drift of the machine {drifts}"
    middle = sorted(judged.drift.values())[len(judged.drift) // 2]
    if max(middle, 1.0 / middle) > LARGE:
        slow = f"{middle:.1f}x slower" if middle > 1.0 else f"{1.0 / middle:.1f}x faster"
        yield f"  the whole machine was {slow} in B, or all code is: this is taken out of what follows"
    rows = [_row(change) for change in (*judged.methods, *judged.shared)]
    yield tables.aligned(("method", *CHANGE), rows, "  ")
    changed = [change for change in judged.parts if change.verdict in ("slower", "faster")]
    if changed:
        rows = [_row(change) for change in sorted(changed, key=lambda change: -change.factor)[:SHOWN]]
        yield tables.aligned(("part that changed", *CHANGE), rows, "  ")
    if judged.cells:
        yield "  cells that changed by themselves (times with their 95 % intervals):"
        yield from map(_cell, sorted(judged.cells, key=lambda cell: -cell.factor)[:SHOWN])
    yield f"  (the drift is taken out; a change below {threshold:.0%} counts as none)"


def _row(change: Change) -> list[str]:
    known = math.isfinite(change.p)
    interval = f"{change.low:.2f} to {change.high:.2f}" if known else "-"
    p = f"{change.p:.2g}" if known else "-"
    return [_short(change.who), str(change.cells), f"{change.factor:.2f}", interval, p, change.verdict]


def _cell(change: CellChange) -> str:
    from dynbench.benchmarks.results.tables import time_text

    a, b = (f"{time_text(x)} ({time_text(low)} to {time_text(high)})" for x, low, high in (change.a, change.b))
    return f"    {_short(', '.join(filter(None, change.cell)))}: {a} -> {b}, {change.factor:.2f}x, {change.verdict}"
