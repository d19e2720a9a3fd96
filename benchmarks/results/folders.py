"""A results folder, read as untrusted input: it may be truncated, edited, or come from someone else.

A folder may lack any table (a run of one robot has no scaling, ``dynbench papers`` writes claims alone); a missing one
is an empty one. Tables are checked against `schema`, JSON files against `shapes`. All files must be the folder's own: a
symbolic link could make a report show, or write over, a file outside of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynbench.benchmarks.results import shapes
from dynbench.benchmarks.results.columns import Record
from dynbench.benchmarks.results.schema import RESULTS, TABLES
from dynbench.robots.errors import DynbenchError

READ = tuple(name for name in TABLES if name != RESULTS.name)  # results.csv repeats the others
FOLDERS = ("figures", "tables", "simulations")
FILES = ("environment.json", "worst.json", "disagreements.json", "report.html", "summary.md")


@dataclass(frozen=True)
class Folder:
    """What `read` found."""

    path: Path
    facts: dict[str, Any]  # environment.json
    tables: dict[str, list[Record]]
    worst: list[dict[str, Any]]  # worst.json: the state with the largest error, for each robot and pair
    disagreements: list[dict[str, Any]]
    simulations: list[dict[str, Any]]  # simulations/*.json

    def home(self) -> str:
        """Return the machine of rows that name none: that of environment.json, the usual one, or the folder's name."""
        named = Counter(row["host"] for rows in self.tables.values() for row in rows if row.get("host"))
        usual = named.most_common(1)[0][0] if named else self.path.resolve().name
        return str(self.facts.get("host") or usual)


def read(folder: Path, names: Iterable[str] = READ) -> Folder:
    """Read a folder, with the tables named.

    Raises
    ------
    DynbenchError
        If it holds no run, or a file is not as it should be: names the file, the line or place, what was expected and
        what is there.
    """
    if not folder.is_dir():
        found = "is a file" if folder.exists() else "does not exist"
        raise DynbenchError(f"{folder} {found}; expected a folder that `dynbench bench` wrote")
    try:
        refuse_links(folder)
        tables = {name: TABLES[name].read(folder) for name in names}
        if not (folder / "environment.json").is_file() and not any(tables.values()):
            raise DynbenchError(f"{folder} holds no run: expected environment.json or a table, got neither")
        facts = shapes.read(folder / "environment.json", shapes.Facts)
        worst = shapes.read(folder / "worst.json", shapes.Worst).get("rows", [])
        wrong = shapes.read(folder / "disagreements.json", shapes.Disagreements).get("rows", [])
        stored = sorted(path for path in (folder / "simulations").glob("*.json") if path.is_file())
        simulations = [{"motion": None, **shapes.read(path, shapes.Simulation)} for path in stored]
    except OSError as error:
        raise DynbenchError(f"{folder}: {error.filename or folder} cannot be read: {error.strerror}") from error
    absent: dict[str, Any] = {"methods": {}, "robots": {}, "quantities": [], "notes": [], "versions": {}}
    facts = {**absent, **facts}
    fill_tiers(tables, facts["methods"])
    return Folder(folder, facts, tables, worst, wrong, simulations)


def fill_tiers(tables: dict[str, list[Record]], methods: dict[str, Any]) -> None:
    """Fill in the tier of rows that older versions wrote, which had generic code only.

    Methods that environment.json does not call looped are made of kernels; all others have no tier.
    """
    kernels = {name for name, about in methods.items() if about.get("looped") is False}
    for name, rows in tables.items():
        if name != RESULTS.name and "code" in TABLES[name].names:
            for row in rows:
                for whose, code in (("method", "code"), ("other", "other_code")):
                    if code in row and row.get(whose) in kernels:
                        row[code] = row[code] or "generic"


def refuse_links(folder: Path) -> None:
    """Raise an error if a file of a run, or one that a report writes, is a symbolic link."""
    named = [folder / name for name in (*FILES, *FOLDERS, *(table.file for table in TABLES.values()))]
    inside = (path for name in FOLDERS if (folder / name).is_dir() for path in (folder / name).iterdir())
    for path in (*named, *inside):
        if path.is_symlink():
            raise DynbenchError(f"{path} is a symbolic link; expected a file of the results folder itself")
