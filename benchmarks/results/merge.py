"""Several results folders as one: each row with its machine, none twice, none dropped.

A folder is split by machine (the column ``host``, or what environment.json says, or the folder's name). Parts of one
machine that do not contradict each other are one run: equal rows are taken once. Where the same thing was measured with
another result, they are two runs, and both are kept with a label in the column ``run``. Columns that are relative to
other rows (`columns.Column.relative`) are computed again, since the fastest may have come from another folder.

Tables, simulations, worst cases and disagreements are merged. Journals and pytest-benchmark's files are not.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynbench.benchmarks.results import files, folders
from dynbench.benchmarks.results.columns import MERGED, Record, Table
from dynbench.benchmarks.results.folders import Folder
from dynbench.benchmarks.results.schema import TABLES
from dynbench.benchmarks.results.verdicts import with_verdicts
from dynbench.robots.errors import DynbenchError

ORIGIN = tuple(column.name for column in MERGED)
UNITED, LISTED = (
    ("methods", "robots", "left out"), ("quantities", "notes", "code", "left to the full run")
)  # fmt: skip


@dataclass
class Part:
    """What one machine measured in one run."""

    host: str
    run: str
    facts: dict[str, Any]
    tables: dict[str, list[Record]] = field(default_factory=lambda: {name: [] for name in TABLES})
    worst: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    simulations: list[dict[str, Any]] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.host}, {self.run}" if self.run else self.host

    @property
    def origin(self) -> dict[str, str]:
        return {"host": self.host, "run": self.run}


def merge(output: Path, inputs: Sequence[Path]) -> str:
    """Write ``output`` from the folders, and return a line about what was merged.

    Raises
    ------
    DynbenchError
        If ``output`` holds something already, or an input is no results folder.
    """
    if output.is_symlink() or (output.exists() and (not output.is_dir() or any(output.iterdir()))):
        raise DynbenchError(f"{output}: expected an empty folder, or none of that name; it is not empty")
    parts: list[Part] = []
    for path in inputs:
        for part in split(folders.read(path, TABLES)):
            _add(part, parts)
    _label_runs(parts)
    _write(output, parts, shlex.join(["dynbench", "merge", *map(str, (output, *inputs))]))
    machines = list(dict.fromkeys(part.host for part in parts))
    rows = sum(len(part.tables["timing"]) + len(part.tables["agreement"]) for part in parts)
    runs = f" in {len(parts)} runs" if len(parts) > len(machines) else ""
    return f"{len(inputs)} folders, {len(machines)} machine(s){runs}: {', '.join(machines)}; {rows} rows"


def split(folder: Folder) -> list[Part]:
    """Return the parts of a folder, by machine and run."""
    home = folder.home()
    stored: dict[str, Any] = folder.facts.get("hosts") or {}
    parts: dict[tuple[str, str], Part] = {}

    def of(row: dict[str, Any]) -> Part:
        unit = (str(row.get("host") or home), str(row.get("run") or ""))
        if unit not in parts:
            part = Part(*unit, {})
            part.facts = dict(stored.get(part.label) or folder.facts)
            part.facts.pop("hosts", None)
            parts[unit] = part
        return parts[unit]

    def without(row: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in row.items() if key not in ORIGIN}

    for name, rows in folder.tables.items():
        for row in rows:
            of(row).tables[name].append(without(row))
    lists = {"worst": folder.worst, "wrong": folder.disagreements, "simulations": folder.simulations}
    for where, found in lists.items():
        for item in found:
            getattr(of(item), where).append(without(item))
    return list(parts.values()) or [of({})]


def _add(part: Part, parts: list[Part]) -> None:
    """Add a part to the first of its machine that it does not contradict, or as a run of its own."""
    for other in parts:
        if other.host == part.host and not _contradicts(part, other):
            for table in TABLES.values():
                known = _contents(other.tables[table.name], table)
                more = part.tables[table.name]
                other.tables[table.name] += [
                    row for row in more if _content(row, table) not in known.get(table.key(row), ())
                ]
            for mine, theirs in ((other.worst, part.worst), (other.wrong, part.wrong)):
                mine += [row for row in theirs if row not in mine]
            stored = {simulation["name"] for simulation in other.simulations}
            other.simulations += [one for one in part.simulations if one["name"] not in stored]
            other.run = other.run or part.run
            other.facts = _united([(other.label, other.facts), (part.label, part.facts)])
            return
    parts.append(part)


Content = tuple[tuple[str, str], ...]


def _contents(rows: Iterable[Record], table: Table) -> dict[tuple[str, ...], set[Content]]:
    """Return what the rows of a table hold, by what they are about."""
    found: dict[tuple[str, ...], set[Content]] = {}
    for row in rows:
        found.setdefault(table.key(row), set()).add(_content(row, table))
    return found


def _content(row: Record, table: Table) -> Content:
    relative = {column.name for column in table.columns if column.relative}
    return tuple(sorted((key, value) for key, value in row.items() if value and key not in relative))


def _contradicts(one: Part, two: Part) -> bool:
    """Whether both have rows about the same thing, with different content."""
    for name, table in TABLES.items():
        mine, theirs = _contents(one.tables[name], table), _contents(two.tables[name], table)
        if any(mine[key].isdisjoint(theirs[key]) for key in mine.keys() & theirs.keys()):
            return True
    stored = {simulation["name"]: simulation for simulation in two.simulations}
    return any(stored.get(simulation["name"], simulation) != simulation for simulation in one.simulations)


def _label_runs(parts: Sequence[Part]) -> None:
    """Name the runs of machines that have several: by date, numbered if they share one."""
    several = {host for host, count in Counter(part.host for part in parts).items() if count > 1}
    taken: set[tuple[str, str]] = set()
    for part in parts:
        if part.host in several:
            name = part.run or str(part.facts.get("date") or "run")
            number = 2
            part.run = name
            while (part.host, part.run) in taken:
                part.run = f"{name} ({number})"
                number += 1
            taken.add((part.host, part.run))


def _united(found: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """One set of facts from several: what is the same, lists and tables united, versions side by side."""
    facts = [one for _, one in found]
    names = dict.fromkeys(key for one in facts for key in one)
    same = {key: facts[0][key] for key in names if all(key in one and one[key] == facts[0][key] for one in facts)}
    both = {key: {k: v for one in facts for k, v in (one.get(key) or {}).items()} for key in UNITED}
    listed = {key: list(dict.fromkeys(x for one in facts for x in one.get(key) or ())) for key in LISTED}
    words = {
        key: "; ".join(dict.fromkeys(str(one[key]) for one in facts if key in one))
        for key in ("date", "command", "system", "python", "cpu", "commit")
        if any(key in one for one in facts)
    }
    versions: dict[str, str] = {}
    for package in dict.fromkeys(name for one in facts for name in one.get("versions") or ()):
        by = {label: (one.get("versions") or {}).get(package, "unknown") for label, one in found}
        one_only = len(set(by.values())) == 1
        versions[package] = next(iter(by.values())) if one_only else "; ".join(f"{v} ({k})" for k, v in by.items())
    return {**same, **both, **listed, **words, "versions": versions, "quick": any(one.get("quick") for one in facts)}


def _write(output: Path, parts: Sequence[Part], command: str) -> None:
    try:
        (output / "simulations").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DynbenchError(f"{output} cannot be written: {error.strerror}") from error
    for name, table in TABLES.items():
        rows = [
            {**row, **part.origin}
            for part in parts
            for row in (with_verdicts(part.tables[name], _methods(part)) if name == "timing" else part.tables[name])
        ]
        if rows:
            table.write(output, rows, tuple(dict.fromkeys(column for row in rows for column in row)))
    for file, where in (("worst.json", "worst"), ("disagreements.json", "wrong")):
        marked = [{**row, **part.origin} for part in parts for row in getattr(part, where)]
        files.write_json(output / file, {"rows": marked})
    named = Counter(simulation["name"] for part in parts for simulation in part.simulations)
    number = 0
    for part in parts:
        for simulation in part.simulations:
            mark = f" ({part.label})" if named[simulation["name"]] > 1 else ""
            named_so = {key: f"{simulation[key]}{mark}" for key in ("name", "title")}
            number += 1  # the stored name is untrusted, and no file name
            content = {**simulation, **named_so, **part.origin}
            files.write_json(output / "simulations" / f"{number:03d}.json", content)
    facts = _united([(part.label, part.facts) for part in parts]) | {"command": command}
    if len(parts) > 1:
        facts["hosts"] = {part.label: part.facts for part in parts}
    else:
        facts["host"] = parts[0].host
    files.write_json(output / "environment.json", facts, indent=2)


def _methods(part: Part) -> dict[str, Any]:
    return part.facts.get("methods") or {}
