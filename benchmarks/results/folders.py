"""A results folder as somebody left it, read with suspicion: it may be truncated, edited, or a stranger's.

A folder may lack any table (a run of one robot has no scaling, ``dynbench papers`` writes claims alone); a missing one
is an empty one. What is there must be text of the documented columns with numbers where numbers belong, in files of
its own: a symbolic link could make a report show, or write over, a file outside the folder. Columns nobody knows are
kept, those of `READ` that an older version did not write are filled with empty cells.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynbench.benchmarks.results import shapes, tables
from dynbench.robots.errors import DynbenchError

Record = dict[str, str]

# What identifies a row of each table; without these a file is not that table
KEYS: dict[str, tuple[str, ...]] = {
    "agreement": ("robot", "quantity", "measure", "method", "other"),
    "timing": ("robot", "label", "quantity", "mode", "rows", "method"),
    "ratios": ("robot", "quantity", "mode", "rows", "method", "peer"),
    "scaling": ("family", "size", "method", "quantity", "measure"),
    "counts": ("robot", "method", "quantity"),
    "startup": ("robot", "method", "quantity", "measure"),
    "claims": ("paper", "statement"),
    "errata": ("paper", "where"),
    "paper_counts": ("paper", "quantity", "operations", "counted", "n"),
    "work_precision": ("scenario", "robot", "method", "options", "solver", "rtol"),
}
# What readers ask for besides; an older run may lack some
READ: dict[str, tuple[str, ...]] = {
    "agreement": ("value", "unit", "status", "tolerance", "noise", "states", "seed", "reason"),
    "timing": ("seconds", "median", "low", "high", "iqr", "noise", "passes", "times_best", "verdict", "reason"),
    "ratios": ("ratio", "noise", "verdict", "target", "met", "reason"),
    "scaling": ("value", "low", "high", "unit", "noise", "reason"),
    "counts": ("additions", "multiplications", "divisions", "square_roots", "sincos", "flops", "rate", "fraction",
               "reason"),
    "startup": ("value", "unit", "reason"),
    "claims": ("kind", "place", "quote", "printed", "measured", "unit", "verdict", "reason"),
    "errata": ("printed", "correct", "evidence", "test"),
    "paper_counts": ("formula", "ours", "printed_value", "our_value", "ratio"),
    "work_precision": ("atol", "horizon", "error", "unit", "evaluations", "seconds", "reason"),
}  # fmt: skip
RESULTS = {"results": ("robot", "method", "quantity", "measure", "other", "rows")}
UNIT = ("host", "run")  # whose row it is, in a folder that `merge` wrote
NATURAL = ("rows", "timed_rows", "size", "rounds", "passes", "states", "n", "evaluations")
NUMERIC = ("value", "tolerance", "noise", "seconds", "median", "low", "high", "iqr", "floor", "times_best", "ratio",
           "target", "rate", "fraction", "measured", "error", "rtol", "atol", "horizon", "printed_value",
           "our_value")  # fmt: skip
TIMES = ("seconds", "median", "low", "high")  # in timing.csv; positive, so that they have logarithms
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.ASCII | re.IGNORECASE)
MOST_ROWS = 500_000
FOLDERS = ("figures", "tables", "simulations")
FILES = ("environment.json", "worst.json", "disagreements.json", "report.html", "summary.md")


@dataclass(frozen=True)
class Folder:
    """What `read` found."""

    path: Path
    facts: dict[str, Any]  # environment.json
    tables: dict[str, list[Record]]
    worst: list[dict[str, Any]]  # worst.json: the state with the largest error, for each robot and pair
    disagreements: dict[str, Any]
    simulations: list[dict[str, Any]]  # simulations/*.json


def home(folder: Folder) -> str:
    """Return the machine of rows that name none: what environment.json says, the usual one, or the folder's name."""
    named = Counter(row["host"] for rows in folder.tables.values() for row in rows if row.get("host"))
    usual = named.most_common(1)[0][0] if named else folder.path.resolve().name
    return str(folder.facts.get("host") or usual)


def read(folder: Path, names: Iterable[str] = KEYS) -> Folder:
    """Read what is in a folder.

    Parameters
    ----------
    folder : Path
    names
        Of the tables that are wanted; results.csv, which repeats all others, only if it is named.

    Raises
    ------
    DynbenchError
        If it holds no run, or a file of it is not what such a file is: names the file, and the line or place.
    """
    if not folder.is_dir():
        came = "is a file" if folder.exists() else "does not exist"
        raise DynbenchError(f"{folder} {came}; a folder that `dynbench bench` wrote was wanted")
    try:
        refuse_links(folder)
        found = {name: read_table(folder / f"{name}.csv", name) for name in names}
        about = folder / "environment.json"
        if not about.is_file() and not any(found.values()):
            raise DynbenchError(f"{folder} holds no run: neither {about.name} nor a table is there")
        facts = _present(shapes.read(about, shapes.FACTS))
        worst = _present(shapes.read(folder / "worst.json", shapes.WORST)).get("rows", [])
        wrong = _present(shapes.read(folder / "disagreements.json", shapes.DISAGREEMENTS))
        stored = sorted((folder / "simulations").glob("*.json"))
        simulations = [_simulation(path) for path in stored if path.is_file()]
    except OSError as error:
        raise DynbenchError(f"{folder}: {error.filename or folder} cannot be read: {error.strerror}") from error
    absent: dict[str, Any] = {"methods": {}, "robots": {}, "quantities": [], "notes": [], "versions": {}}
    return Folder(folder, {**absent, **facts}, found, worst, wrong, simulations)


def _present(found: Any) -> dict[str, Any]:
    """Without nulls: what is null is not there."""
    return {key: value for key, value in (found or {}).items() if value is not None}


def refuse_links(folder: Path) -> None:
    """Raise an error if a file of a run, or one that a report writes, is a symbolic link."""
    named = [folder / name for name in (*FILES, *FOLDERS, *(f"{table}.csv" for table in (*KEYS, *RESULTS)))]
    inside = (path for name in FOLDERS if (folder / name).is_dir() for path in (folder / name).iterdir())
    for path in (*named, *inside):
        if path.is_symlink():
            raise DynbenchError(f"{path} is a symbolic link; a results folder must hold its own files")


def read_table(path: Path, name: str) -> list[Record]:
    """Return the rows of the table ``name``, with every column of `READ`; a missing file is an empty table."""
    if not path.is_file():
        return []
    if path.stat().st_size > shapes.LARGEST:
        raise DynbenchError(f"{path} has {path.stat().st_size} bytes, at most {shapes.LARGEST} are read")
    rows: list[Record] = []
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        try:
            head = next(lines, [])
            missing = [key for key in {**KEYS, **RESULTS}[name] if key not in head]
            if missing or len(set(head)) < len(head):
                twice = next((column for column in head if head.count(column) > 1), "")
                wrong = f"lacks the column {missing[0]!r}" if missing else f"has two columns {twice[:80]!r}"
                raise DynbenchError(f"{path} {wrong}: no {name} table")
            absent = dict.fromkeys([column for column in READ.get(name, ()) if column not in head], "")
            for cells in lines:
                if len(cells) != len(head):
                    if not cells:
                        continue
                    raise DynbenchError(f"{path}:{lines.line_num}: {len(head)} cells were wanted, got {len(cells)}")
                row = dict(zip(head, map(tables.bare, cells), strict=True)) | absent
                _check(row, name, f"{path}:{lines.line_num}")
                rows.append(row)
                if len(rows) > MOST_ROWS:
                    raise DynbenchError(f"{path} has more than {MOST_ROWS} rows")
        except (csv.Error, ValueError) as error:
            raise DynbenchError(f"{path}:{lines.line_num + 1}: not a CSV table in UTF-8: {error}") from error
    return rows


def _check(row: Record, name: str, where: str) -> None:
    """Numbers where numbers belong, and no cell too long; operation counts may be polynomials, and are text here."""
    for column, text in row.items():
        drawn = column in {**KEYS, **RESULTS}[name] and column != "statement"
        longest = (shapes.NAME if drawn else shapes.TEXT).longest
        if len(text) > longest:
            raise DynbenchError(f"{where}: {column[:80]!r} has {len(text)} characters, at most {longest} are shown")
    for column in NATURAL:
        text = row.get(column, "")
        if text and not (text.isascii() and text.isdigit() and len(text) < 16):
            raise DynbenchError(f"{where}: {column!r} must be a whole number, got {text[:80]!r}")
    for column in NUMERIC:
        text = row.get(column, "")
        if text and not NUMBER.fullmatch(text):
            raise DynbenchError(f"{where}: {column!r} must be a number, got {text[:80]!r}")
    if name == "timing":
        if not row["rows"]:
            raise DynbenchError(f"{where}: 'rows' is empty, the number of states in a call was wanted")
        for column in TIMES:
            if row[column] and not 0.0 < float(row[column]) < 1e9:
                raise DynbenchError(f"{where}: {column!r} must be seconds above zero, got {row[column][:80]!r}")


def _simulation(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = shapes.read(path, {**shapes.SIMULATION})
    for plot in found["plots"]:
        for panel in plot["panels"]:
            for series in panel["series"]:
                x, y = series["x"], series["y"]
                if len(x) != len(y):
                    raise DynbenchError(f"{path}: the curve {series['label'][:80]!r} has {len(x)} x and {len(y)} y")
    for datum in found.get("provenance") or ():
        if len(datum) != 4:
            raise DynbenchError(f"{path}: 'provenance' must hold rows of 4 texts, got {len(datum)}")
    return {"motion": None, **found}
