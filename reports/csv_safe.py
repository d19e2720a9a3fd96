"""CSV text of a figure's or table's data: safe in a spreadsheet, and the same bytes for the same rows.

The rules of a cell are those of `dynbench.benchmarks.results.tables`: what a spreadsheet would run gets an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from dynbench.benchmarks.results import tables


def text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV, one line a row, after a line of column names; units belong in the names."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([tables.cell(column) for column in columns])
    writer.writerows([tables.cell(value) for value in row] for row in rows)
    return buffer.getvalue()
