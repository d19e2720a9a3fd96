"""What derivatives and regressors cost: operations, time, both relative to the method's own inverse dynamics, and how
well they agree with complex steps, with dual numbers and with the reference; engines by their own calls.

Times relative to inverse dynamics are quotients of two times that were measured one after the other, not in turns: they
have no interval, and no verdict is made of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.rows import COMPLEX_STEPS, DUAL_NUMBERS
from dynbench.benchmarks.results.verdicts import COMPARED_WITH, OWN_CALLS
from dynbench.reports.grids import Cell, Grid, Head, Line, numeric
from dynbench.reports.markdown import REFERENCE
from dynbench.reports.rows import Record, StoredRun, known, listed, number, outcome, seconds, words
from dynbench.reports.views import digits, times

QUANTITIES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "regressor")
YARDSTICK = "inverse_dynamics"
HEADS = (
    Head("what"),
    Head("method", by="method"),
    Head("operations", tooltip="Of one state, counted in the timed source; of traced code, what tracing leaves."),
    Head("of its inverse dynamics", tooltip="Operations over those of the method's own inverse dynamics."),
    Head("time", tooltip="CPU time of one state on a quiet core."),
    Head("of its inverse dynamics", tooltip="Time over that of its own inverse dynamics; no interval."),
    Head("engine", tooltip="Time of an engine's own call over the method's, with its 95 % interval."),
    Head("complex steps", tooltip="Largest difference from complex steps through a plain Newton-Euler, relative."),
    Head("dual numbers", tooltip="Largest difference from the method's own kernel on dual numbers, relative."),
    Head("others", tooltip="Largest difference from any other method or tier of code, relative."),
    Head("robot", by="robot"),
    Head("code", by="code"),
    Head("mode", by="mode"),
)


@dataclass(frozen=True)
class Found:
    """One quantity of one method in one mode and tier."""

    row: Record  # of timing.csv
    operations: tuple[float, float]  # its own, and over those of inverse dynamics
    relative: float  # its time over that of inverse dynamics
    engines: list[Record]  # of ratios.csv
    errors: tuple[float, float, float]  # from complex steps, dual numbers, others

    @property
    def timed(self) -> bool:
        return known(self.row["seconds"])


class Costs:
    """The rows of a run about derivatives and regressors."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run
        self._flops = {
            tuple(row[name] for name in ("robot", "method", "code", "quantity")): number(row["flops"])
            for row in run["counts"]
        }
        names = ("robot", "method", "code", "quantity", "mode", "rows")
        self._times = {
            tuple(row[name] for name in names): number(row["seconds"])
            for row in run["timing"]
            if row["label"] == row["method"]
        }
        self._ratios: dict[tuple[str, ...], list[Record]] = {}
        for row in run["ratios"]:
            if row["quantity"] in QUANTITIES and row["peer_call"] in OWN_CALLS and known(row["ratio"]):
                self._ratios.setdefault(tuple(row[name] for name in names), []).append(row)
        self._errors: dict[tuple[str, ...], dict[str, float]] = {}
        for row in run["agreement"]:
            if row["quantity"] in QUANTITIES and known(row["value"]) and not row["measure"].startswith("noise"):
                measure = "others" if row["other"] else row["measure"]
                for method, code in {(row["method"], row["code"]), (row["other"], row["other_code"])} - {("", "")}:
                    mine = self._errors.setdefault((row["robot"], method, code, row["quantity"]), {})
                    mine[measure] = max(mine.get(measure, 0.0), number(row["value"]))

    def found(self) -> Iterator[Found]:
        """Yield what was timed or should have been, by robot, quantity, tier and method."""
        sizes = {"1", self.run.batch_size}
        for row in self.run["timing"]:
            wrapped = row["method"] in self.run.peers and row["mode"] not in COMPARED_WITH
            if row["quantity"] not in QUANTITIES or row["label"] != row["method"] or row["method"] in self.run.floors:
                continue
            if wrapped or row["rows"] not in sizes or outcome(row) in (Outcome.UNSUPPORTED, Outcome.LEFT_OUT):
                continue
            yield self._of(row)

    def _of(self, row: Record) -> Found:
        cell = (row["robot"], row["method"], row["code"])
        flops, base = (self._flops.get((*cell, quantity), math.nan) for quantity in (row["quantity"], YARDSTICK))
        own = self._times.get((*cell, YARDSTICK, row["mode"], row["rows"]), math.nan)
        key = (*cell, row["quantity"], row["mode"], row["rows"])
        errors = self._errors.get((*cell, row["quantity"]), {})
        named = (COMPLEX_STEPS, DUAL_NUMBERS, "others")
        return Found(
            row,
            (flops, flops / base if base else math.nan),
            number(row["seconds"]) / own,
            self._ratios.get(key, []),
            (errors.get(named[0], math.nan), errors.get(named[1], math.nan), errors.get(named[2], math.nan)),
        )


def table(run: StoredRun) -> Grid:
    """One line for each quantity, method, tier and mode; the page shows those of what is chosen."""
    grid = Grid("derivatives", "What derivatives and regressors cost", HEADS)
    for one in Costs(run).found():
        row = one.row
        if outcome(row) is Outcome.NUMBER:
            time = Cell(seconds(number(row["seconds"])), value=number(row["seconds"]))
        else:
            time = grid.absent(row["reason"], outcome(row))
        cells = [
            Cell(words(row["quantity"])),
            Cell(row["method"]),
            numeric(str(one.operations[0]), ",.0f"),
            numeric(str(one.operations[1]), ".2f"),
            time,
            numeric(str(one.relative), ".2f"),
            Cell("; ".join(map(_beside, one.engines)) or "–"),
            *(numeric(str(error), ".1e") for error in one.errors),
            *(Cell(row[name] or "–") for name in ("robot", "code", "mode")),
        ]
        grid.lines.append(Line(cells, row["method"]))
    return grid


def _beside(row: Record) -> str:
    if row["reason"]:
        return f"{row['peer']}: disturbed"
    low, high = (f"{number(row[name]):.3g}" for name in ("low", "high"))
    return f"{times(number(row['ratio']))}× {row['peer']} [{low} to {high}]"


def sentences(run: StoredRun) -> dict[tuple[str, str, str], str]:
    """For each robot, mode of ours and tier: what derivatives cost there, in a sentence or two."""
    groups: dict[tuple[str, str, str], list[Found]] = {}
    for one in Costs(run).found():
        if one.timed and one.row["mode"] not in COMPARED_WITH:
            groups.setdefault((one.row["robot"], one.row["mode"], one.row["code"]), []).append(one)
    return {key: " ".join(filter(None, (_cost(found), _beside_engines(found), _agreed(found))))
            for key, found in groups.items()}  # fmt: skip


def _cost(found: list[Found]) -> str:
    parts = []
    for quantity in QUANTITIES:
        mine = sorted(
            (one for one in found if one.row["quantity"] == quantity and math.isfinite(one.relative)),
            key=lambda one: one.relative,
        )
        if mine:
            ends = list(dict.fromkeys((mine[0].row["method"], mine[-1].row["method"])))
            spans = [f"{times(one.relative)} ({name})" for one, name in zip((mine[0], mine[-1]), ends, strict=False)]
            parts.append(f"{words(quantity)} {' to '.join(spans)}")
    return f"In times of the method's own inverse dynamics: {listed(parts)}." if parts else ""


def _beside_engines(found: list[Found]) -> str:
    """The reference beside the own calls of engines, where it is judged."""
    judged = [row for one in found if one.row["method"] == REFERENCE for row in one.engines if not row["reason"]]
    said = []
    for peer in dict.fromkeys(row["peer"] for row in judged):
        parts = [
            f"{times(number(row['ratio']))} [{number(row['low']):.3g} to {number(row['high']):.3g}] ({_called(row)})"
            for row in judged
            if row["peer"] == peer
        ]
        said.append(f"{REFERENCE} beside {peer}, times as fast: {listed(parts)}.")
    return " ".join(said)


def _called(row: Record) -> str:
    """The engine's function in the code that was timed."""
    found = re.search(r"\b\w+\.(\w+)\(", row["expression"])
    return found[1] if found else row["peer_call"]


def _agreed(found: list[Found]) -> str:
    named = ("complex steps", "dual numbers", "each other")
    worst = [max((e for one in found if math.isfinite(e := one.errors[k])), default=math.nan) for k in range(3)]
    parts = [f"with {name} to {digits(error)}" for name, error in zip(named, worst, strict=True) if error == error]
    return f"They agree {listed(parts)} digits or more." if parts else ""
