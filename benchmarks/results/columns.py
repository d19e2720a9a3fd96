"""How tables are declared: types of cells, columns, and the table itself, which writes its file and reads it checked.

The tables of a run, with all their columns, are in `schema`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import tables
from dynbench.benchmarks.results.rows import OUTCOMES
from dynbench.robots.errors import DynbenchError
from dynbench.robots.text import visible

MAX_BYTES = 64_000_000  # of a file that is read: a hundred times what a full run writes
MAX_ROWS = 500_000
MAX_NAME, MAX_TEXT = 300, 20_000  # characters; a name ends up in a figure or in the head of a table

Record = dict[str, str]  # a row that was read: its cells by column

# How the reasons begin in files of versions that wrote no outcome, and what they meant
OLD_REASONS = {
    "disagree": Outcome.DISAGREED,
    "violates": Outcome.DISAGREED,
    "timed out": Outcome.TIMED_OUT,
    "check: did not finish: timed out": Outcome.TIMED_OUT,
    "killed by": Outcome.CRASHED,
    "crashed": Outcome.CRASHED,
    "ended by itself": Outcome.CRASHED,
    "ran out of memory": Outcome.OUT_OF_MEMORY,
    "not run: the run was": Outcome.INTERRUPTED,
    "not run": Outcome.FAILED,
    "failed": Outcome.FAILED,
    "raised": Outcome.FAILED,
    "gave back": Outcome.FAILED,
    "check: ": Outcome.FAILED,
    "prepare: ": Outcome.FAILED,
    "left to the full run": Outcome.LEFT_OUT,
}


@dataclass(frozen=True)
class Type:
    """What the cells of a column hold; an empty cell stands for a value that does not exist."""

    name: str
    longest: int = MAX_NAME
    pattern: re.Pattern[str] | None = None
    positive: bool = False  # and finite, so that it has a logarithm
    required: bool = False  # no cell may be empty


def one_of(*words: str) -> Type:
    return Type(f"one of {', '.join(words)}", pattern=re.compile("|".join(map(re.escape, words))))


_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
NAME = Type("a name")
TEXT = Type("text", MAX_TEXT)
WHOLE = Type("a whole number", pattern=_WHOLE)
SIZE = Type("a whole number", pattern=_WHOLE, required=True)
NUMBER = Type("a number", MAX_TEXT, _FLOAT)
TIME = Type("a number above zero", MAX_TEXT, _FLOAT, positive=True)
POLYNOMIAL = Type("a whole number, or a polynomial in N", MAX_TEXT)
AS_UNIT = "as in unit"


@dataclass(frozen=True)
class Column:
    """One column; ``head`` is its heading in a report, if that differs from its name."""

    name: str
    meaning: str  # one sentence
    type: Type = NAME
    unit: str = ""
    key: bool = False  # identifies a row, together with the other keys
    relative: bool = False  # depends on other rows of the run: `merge` computes it again
    later: bool = False  # a key that older files do not have; `folders` fills in its value
    head: str = ""

    @property
    def heading(self) -> str:
        return self.head or self.name.replace("_", " ")

    @property
    def with_unit(self) -> str:
        """The name with its unit, as the data files of figures have it."""
        return f"{self.name} ({self.unit})" if self.unit and self.unit != AS_UNIT else self.name

    @property
    def tooltip(self) -> str:
        unit = f" Unit: {self.unit}." if self.unit not in ("", AS_UNIT) else ""
        return self.meaning.replace("`", "") + unit

    def check(self, cell: str, where: str) -> None:
        """Raise a DynbenchError that begins with ``where`` if a cell is not of the column's type."""
        if len(cell) > self.type.longest:
            at_most = f"at most {self.type.longest} characters"
            raise DynbenchError(f"{where}: {self.name!r}: expected {at_most}, got {len(cell)}")
        fits = self.type.pattern is None or self.type.pattern.fullmatch(cell) is not None
        fits = fits and not (self.type.positive and cell and not 0.0 < float(cell) < 1e9)
        if not fits and (cell or self.type.required):
            raise DynbenchError(f"{where}: {self.name!r}: expected {self.type.name}, got {cell[:80]!r}")


HOST = Column("host", "Machine that computed the row.", TEXT)
MERGED = (HOST, Column("run", "Which run of that machine; empty if it has one only.", TEXT))  # `merge` adds both


@dataclass(frozen=True)
class Table:
    """One CSV file; ``numbers`` are the columns of which one is filled in a row that has a result."""

    name: str
    title: str
    numbers: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def file(self) -> str:
        return f"{self.name}.csv"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.key)

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def key(self, row: Mapping[str, str]) -> tuple[str, ...]:
        """Return what identifies a row."""
        return tuple(row[name] for name in self.keys)

    def complete(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row to write, with every column: None where it has no value, and an outcome if it has none."""
        full = dict.fromkeys(self.names) | dict(row)
        if "outcome" in self.names and full["outcome"] is None:
            full["outcome"] = self.outcome_of({name: tables.cell(value) for name, value in full.items()})
        return full

    def outcome_of(self, row: Record) -> Outcome:
        """Return the outcome of a row that has none, as in older files: from its status, number and reason."""
        if row.get("status"):
            return OUTCOMES.get(row["status"], Outcome.NUMBER)
        if any(row[name] for name in self.numbers):
            return Outcome.NUMBER
        reason = row["reason"]
        return next((found for start, found in OLD_REASONS.items() if reason.startswith(start)), Outcome.UNSUPPORTED)

    def write(self, folder: Path, rows: Iterable[Mapping[str, Any]], names: Sequence[str] = ()) -> None:
        """Write the file, with all columns or those named."""
        tables.write(folder / self.file, names or self.names, map(self.complete, rows))

    def read(self, folder: Path) -> list[Record]:
        """Return the rows of the file, checked; other columns are kept, a missing file is an empty table.

        Raises
        ------
        DynbenchError
            Naming the file, the line and the column.
        """
        path = folder / self.file
        if not path.is_file():
            return []
        if path.stat().st_size > MAX_BYTES:
            raise DynbenchError(f"{path}: expected at most {MAX_BYTES} bytes, got {path.stat().st_size}")
        with open(path, encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            try:
                return list(self._records(path, lines))
            except (csv.Error, ValueError) as error:
                raise DynbenchError(f"{path}:{lines.line_num + 1}: not a CSV table in UTF-8: {error}") from error

    def _records(self, path: Path, lines: Any) -> Iterator[Record]:
        head = [visible(tables.bare(name)) for name in next(lines, [])]
        twice = next((name for name in head if head.count(name) > 1), None)
        if twice is not None:
            raise DynbenchError(f"{path}: expected each column once, got {twice[:80]!r} twice")
        for name in self.keys:
            if name not in head and not self[name].later:
                raise DynbenchError(f"{path}: expected a column {name!r}, which identifies rows; there is none")
        known = {column.name: column for column in (*self.columns, *MERGED)}
        checks = [known.get(name) or Column(name[:80], "", TEXT) for name in head]
        count = 0
        for cells in lines:
            if not cells:
                continue
            where = f"{path}:{lines.line_num}"
            if len(cells) != len(head):
                raise DynbenchError(f"{where}: expected {len(head)} cells, got {len(cells)}")
            bare = [visible(tables.bare(cell), keep="\n\t") for cell in cells]
            for column, cell in zip(checks, bare, strict=True):
                column.check(cell, where)
            row = dict.fromkeys(self.names, "") | dict(zip(head, bare, strict=True))
            if "outcome" in self.names:
                row["outcome"] = row["outcome"] or self.outcome_of(row)
            count += 1
            if count > MAX_ROWS:
                raise DynbenchError(f"{path}: expected at most {MAX_ROWS} rows, got more")
            yield row
