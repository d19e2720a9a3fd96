"""Tables of a report as data: cells with a text, a look, and the number they sort by; reasons as notes of cells.

Headings and their tooltips are those of `schema`. A heading or line that belongs to a method names it, since the page
hides it with the method. The template draws all of them by one macro, `tex` and `markdown` write them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.columns import Table
from dynbench.reports.rows import (
    Record,
    known,
    number,
    words,
)

# Columns by which the page chooses lines
CHOICES = {name: name for name in ("robot", "quantity", "mode", "code", "method", "other", "family")} | {
    "peer": "other"
}
# Outcomes from the least to the most serious: of several, a cell shows the last
SEVERITY = (Outcome.NUMBER, Outcome.UNSUPPORTED, Outcome.LEFT_OUT, Outcome.INTERRUPTED, Outcome.DISTURBED,
            Outcome.FAILED, Outcome.OUT_OF_MEMORY, Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.DISAGREED)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """Text, how it looks, the number of its note, and what it sorts by (the text, if NaN)."""

    text: str
    look: str = ""
    note: int = 0
    value: float = math.nan
    fastest: bool = False  # alone or tied: bold in LaTeX


@dataclass(frozen=True)
class Head:
    """The heading of a column, the method it belongs to (if any), and what the page shows on hovering over it.

    ``by`` is the choice of the page (robot, quantity, mode, code, method, other, family) that its cells name: the page
    shows the lines of what is chosen.
    """

    text: str
    method: str = ""
    tooltip: str = ""
    by: str = ""


@dataclass
class Line:
    """A row's cells; ``method`` and ``other`` if it belongs to one or two methods."""

    cells: list[Cell]
    method: str = ""
    other: str = ""


@dataclass
class Grid:
    """A table."""

    name: str
    title: str
    heads: Sequence[Head]
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, reason: str) -> int:
        """The number of a reason among the notes, added if new."""
        if reason not in self.notes:
            self.notes.append(reason)
        return self.notes.index(reason) + 1

    def absent(self, reason: str, ended: Outcome = Outcome.UNSUPPORTED, text: str = "") -> Cell:
        """A cell without a number: a failure is named and red, other outcomes are a dash."""
        shown = text or (ended.value if look_of(ended) != "none" else "–")
        return Cell(shown, look_of(ended), self.note(reason))


def look_of(ended: Outcome) -> str:
    """The look of a cell without a number: failures are red, what should be repeated is amber, the rest is grey."""
    if ended.failure:
        return "bad"
    return "part" if ended in (Outcome.INTERRUPTED, Outcome.DISTURBED) else "none"


def heads(table: Table, *names: str) -> list[Head]:
    """Return the headings of columns of a table; a name that is no column is a heading as it stands."""
    known = {
        column.name: Head(column.heading, tooltip=column.tooltip, by=CHOICES.get(column.name, ""))
        for column in table.columns
    }
    return [known.get(name) or Head(name) for name in names]


def texts(row: Record, *names: str) -> list[Cell]:
    """Return columns of a row as they are, quantities in words, a dash for what is empty."""
    return [Cell(words(row[name]) if name == "quantity" else row[name] or "–") for name in names]


def numeric(text: str, form: str, look: str = "") -> Cell:
    """Return a number in a format, a dash for none."""
    return Cell(format(number(text), form) if known(text) else "–", look, value=number(text))
