"""The stored rows of a run, and how their numbers are written: everything a report is made from.

`dynbench.benchmarks.results.folders` reads and checks them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import folders, tables
from dynbench.benchmarks.results.columns import NUMBER, SIZE, TIME, WHOLE, Table, Type
from dynbench.benchmarks.results.columns import Record as Record
from dynbench.benchmarks.results.folders import Folder
from dynbench.benchmarks.results.verdicts import Ranking, grouped, rank_records, shown_rows, stored_with, with_verdicts
from dynbench.reports import machines

Named = TypeVar("Named", bound=Any)  # a figure or a table: has a name and a title
QUANTITY_WORDS = {
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "coriolis_matrix": "Coriolis matrix",
    "inverse_dynamics_derivatives": "derivatives of inverse dynamics",
    "forward_dynamics_derivatives": "derivatives of forward dynamics",
}


@dataclass(frozen=True)
class StoredRun(Folder):
    """A results folder, as reports show it."""

    machines: Sequence[str] = ()  # that rows are from, where there are several

    def __getitem__(self, table: str) -> list[Record]:
        return self.tables[table]

    @cached_property
    def methods(self) -> list[str]:
        """In the order of the plan, then those that only rows name."""
        return unique(
            self.facts["methods"], *(row["method"] for row in self["timing"] + self["agreement"] if row["method"])
        )

    @cached_property
    def robots(self) -> list[str]:
        return unique(self.facts["robots"], *(row["robot"] for row in self["timing"]))

    @cached_property
    def floors(self) -> set[str]:
        """Methods that compute nothing."""
        return {name for name, about in self.facts["methods"].items() if about.get("floor")}

    @cached_property
    def batch_size(self) -> str:
        """The size of the batches that are shown."""
        return str(shown_rows(int(row["rows"]) for row in self["timing"] if row["mode"] == "batch") or "")

    @cached_property
    def tiers(self) -> list[str]:
        """The tiers of machine code that rows are of, generic code first; one tier "" if none is named."""
        tables = ("timing", "ratios", "scaling", "counts")
        return sorted({row["code"] for name in tables for row in self[name] if row["code"]}) or [""]

    def of_tier(self, tier: str) -> StoredRun:
        """The run with the rows of one tier, and those of engines and plain Python, which belong to each."""
        kept = {
            name: [row for row in rows if row.get("code", "") in ("", tier)] if name != "agreement" else rows
            for name, rows in self.tables.items()
        }
        return replace(self, tables=kept)

    def fastest(self) -> dict[tuple[str, str, str], Ranking]:
        """The fastest methods per state in the batches that are shown, one thread, by robot, quantity and tier."""
        pairing = stored_with(self["ratios"])
        found = {
            (robot, quantity, tier): rank_records(group, self.facts["methods"], pairing)
            for (robot, quantity, mode, rows, tier), group in grouped(self["timing"]).items()
            if (mode, rows) == ("batch", self.batch_size)
        }
        return {key: ranking for key, ranking in found.items() if ranking.fastest}

    @cached_property
    def peers(self) -> list[str]:
        """Other engines."""
        return [name for name, about in self.facts["methods"].items() if about.get("peer")]

    @cached_property
    def title(self) -> str:
        problems = len({row["problem"] for row in self["problems"]})
        what = plural(problems, "problem") if problems and not self.robots else plural(len(self.robots), "robot")
        return f"dynbench: {plural(len(self.methods), 'method')} on {what}"


def read(folder: Path) -> StoredRun:
    """Read what is in a folder.

    Raises
    ------
    DynbenchError
        If it holds no run, or a file of it is not as it should be.
    """
    found = folders.read(folder)
    several = machines.names(found)
    shown = machines.marked(found)
    timing = with_verdicts(shown.tables["timing"], shown.facts["methods"])  # an older version had another rule
    shown.tables["timing"] = [{key: tables.cell(value) for key, value in row.items()} for row in timing]
    return StoredRun(**vars(shown), machines=several if len(several) > 1 else ())


def each_tier(make: Callable[[StoredRun], Iterable[Named]]) -> Callable[[StoredRun], list[Named]]:
    """Have figures or tables made for each tier, which never share one: traced code has ``-traced`` in its name."""

    @wraps(make)
    def made(run: StoredRun) -> list[Named]:
        found: list[Named] = []
        for tier in run.tiers:
            end = "-traced" if tier == "traced" else ""
            of = f", {tier} code" if tier else ""
            found += [
                replace(one, name=f"{one.name}{end}", title=f"{one.title}{of}") for one in make(run.of_tier(tier))
            ]
        return found

    return made


def in_tier(method: str, code: str) -> str:
    """A method with its tier, where that is traced code."""
    return f"{method}, {code}" if code == "traced" else method


def data(table: Table, rows: Iterable[Record], *names: str) -> tuple[list[str], list[list[Any]]]:
    """Return some columns of rows as the data of a figure: names with units, numbers as numbers."""
    columns = [table[name] for name in names]
    read: dict[Type, Callable[[str], Any]] = {WHOLE: int, SIZE: int, NUMBER: float, TIME: float}
    cells = [[read.get(c.type, str)(row[c.name]) if row[c.name] else None for c in columns] for row in rows]
    return [column.with_unit for column in columns], cells


def outcome(row: Record) -> Outcome:
    """How the cell of a row ended."""
    return Outcome(row["outcome"])


def unique(first: Iterable[str], *more: str) -> list[str]:
    """Names in order, each once."""
    return list(dict.fromkeys([*first, *more]))


def number(text: str | None) -> float:
    """The number a cell holds, NaN if none."""
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def known(*texts: str | None) -> bool:
    """Whether all cells hold finite numbers."""
    return all(math.isfinite(number(text)) for text in texts)


def short(text: str) -> str:
    """A number with four digits; anything else as it is."""
    value = number(text)
    return text if math.isnan(value) or text.isdigit() else f"{value:.4g}"


def words(quantity: str) -> str:
    """A quantity in plain words; a dash for none."""
    return QUANTITY_WORDS.get(quantity, quantity.replace("_", " ")) or "–"


def plural(count: int, noun: str) -> str:
    """One robot, 2 robots."""
    return f"{count or 'no'} {noun}{'s' * (count != 1)}"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def seconds(value: float) -> str:
    """Seconds in a unit that suits them."""
    return tables.time_text(value).replace(" us", " µs") if math.isfinite(value) else "–"


def percent(value: float) -> str:
    """A share in per cent; a dash for what is not known."""
    return f"{100.0 * value:.0f} %" if math.isfinite(value) else "–"
