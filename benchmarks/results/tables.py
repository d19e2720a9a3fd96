"""Tables as CSV files that are safe to open in a spreadsheet.

A text cell that begins like a formula (``= + - @``, or white space before one) would be run by a spreadsheet; such
cells get an apostrophe in front, which spreadsheets hide and `read` removes again. Numbers are written in full
precision. An empty cell stands for a value that does not exist.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from dynbench.benchmarks.results import files

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows, taking from each the named columns; a column a row lacks is left empty."""
    with files.replaced(path) as file:
        _write(file, columns, ([row.get(column) for column in columns] for row in rows))


def text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the text of such a file."""
    buffer = io.StringIO()
    _write(buffer, columns, rows)
    return buffer.getvalue()


def _write(file: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(cell, columns))
    writer.writerows(map(cell, row) for row in rows)


def cell(value: Any) -> str:
    """Return one cell: numbers as they are, text neutralised, None and NaN empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value).replace("\r\n", "\n").replace("\r", "\n")  # the writer quotes line feeds only
    return f"'{text}" if text.startswith(FORMULA) or (text[:1] == "'" and text[1:].startswith(FORMULA)) else text


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, cells as text; a missing file is an empty table."""
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [{bare(key): bare(value) for key, value in row.items()} for row in csv.DictReader(file)]


def bare(text: str) -> str:
    """Return a cell without the apostrophe that `cell` put in front."""
    return text[1:] if text[:1] == "'" and text[1:].startswith((*FORMULA, "'")) else text


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Return a table as text for a terminal, the first column aligned to the left and the others to the right."""
    from tabulate import tabulate

    sides = ("left", *["right"] * (len(columns) - 1))
    text = tabulate([columns, *rows], tablefmt="plain", colalign=sides, disable_numparse=True)  # it pads headers
    return "\n".join((indent + line).rstrip() for line in text.splitlines())


def time_text(seconds: float) -> str:
    """Seconds in a unit that suits them: "812 ns", "3.21 us", "1.20 s"."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
