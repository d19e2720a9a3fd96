"""Several results folders as one: each row with its machine, nothing twice, nothing dropped.

A folder is taken apart by machine (the column ``host``, or what environment.json says, or the folder's name). Parts of
one machine that do not contradict each other are one run: the same rows are taken once. Where the same thing was
measured with another outcome, they are two runs, and both are kept with a label in the column ``run``. What is
relative to other rows (`RELATIVE`) is worked out again, since the fastest may have come from another folder.

    host    the machine that a row is from
    run     which run of that machine; empty where it has one only

Tables, simulations, worst cases and disagreements are merged. Journals and pytest-benchmark's files are not.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynbench.benchmarks.results import files, folders, tables
from dynbench.benchmarks.results.folders import KEYS, RESULTS, UNIT, Folder, Record
from dynbench.benchmarks.results.verdicts import with_verdicts
from dynbench.robots.errors import DynbenchError

TABLES = {**KEYS, **RESULTS}
RELATIVE = ("floor", "times_best", "verdict")  # columns of timing.csv
UNITED, LISTED = ("methods", "robots", "left out"), ("quantities", "notes")


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


def merge(output: Path, inputs: Sequence[Path]) -> str:
    """Write ``output`` from the folders, and return a line that says what came together.

    Raises
    ------
    DynbenchError
        If ``output`` holds something already, or an input is no results folder.
    """
    if output.is_symlink() or (output.exists() and (not output.is_dir() or any(output.iterdir()))):
        raise DynbenchError(f"{output} is not empty; a folder to write was wanted that is empty or absent")
    parts: list[Part] = []
    for path in inputs:
        for part in apart(folders.read(path, TABLES)):
            _take(part, parts)
    _label_runs(parts)
    _write(output, parts, shlex.join(["dynbench", "merge", *map(str, (output, *inputs))]))
    machines = list(dict.fromkeys(part.host for part in parts))
    rows = sum(len(part.tables["timing"]) + len(part.tables["agreement"]) for part in parts)
    runs = f" in {len(parts)} runs" if len(parts) > len(machines) else ""
    return f"{len(inputs)} folders, {len(machines)} machine(s){runs}: {', '.join(machines)}; {rows} rows"


def apart(folder: Folder) -> list[Part]:
    """Return the parts of a folder, by machine and run."""
    home = folders.home(folder)
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

    for name, rows in folder.tables.items():
        for row in rows:
            of(row).tables[name].append({key: value for key, value in row.items() if key not in UNIT})
    for found, where in ((folder.worst, "worst"), (folder.disagreements.get("rows", []), "wrong")):
        for row in found:
            getattr(of(row), where).append({key: value for key, value in row.items() if key not in UNIT})
    for simulation in folder.simulations:
        of(simulation).simulations.append({key: value for key, value in simulation.items() if key not in UNIT})
    return list(parts.values()) or [of({})]


def _take(part: Part, parts: list[Part]) -> None:
    """Add a part to the first of its machine that it does not contradict, or as a run of its own."""
    for other in parts:
        if other.host == part.host and not _contradicts(part, other):
            for name in TABLES:
                _unite(other.tables[name], part.tables[name], name)
            for mine, theirs in ((other.worst, part.worst), (other.wrong, part.wrong)):
                mine += [row for row in theirs if row not in mine]
            known = {simulation["name"] for simulation in other.simulations}
            other.simulations += [one for one in part.simulations if one["name"] not in known]
            other.run = other.run or part.run
            other.facts = _united([(other.label, other.facts), (part.label, part.facts)])
            return
    parts.append(part)


def _contents(rows: Iterable[Record], table: str) -> dict[tuple[str, ...], set[tuple[tuple[str, str], ...]]]:
    """What the rows of a table say, by what they are about."""
    found: dict[tuple[str, ...], set[tuple[tuple[str, str], ...]]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in TABLES[table]), set()).add(_content(row, table))
    return found


def _content(row: Record, table: str) -> tuple[tuple[str, str], ...]:
    dropped = RELATIVE if table == "timing" else ()
    return tuple(sorted((key, value) for key, value in row.items() if value and key not in dropped))


def _contradicts(one: Part, two: Part) -> bool:
    """Whether both say something about the same thing, and not the same."""
    for name in TABLES:
        mine, theirs = _contents(one.tables[name], name), _contents(two.tables[name], name)
        if any(mine[key].isdisjoint(theirs[key]) for key in mine.keys() & theirs.keys()):
            return True
    stored = {simulation["name"]: simulation for simulation in two.simulations}
    return any(stored.get(simulation["name"], simulation) != simulation for simulation in one.simulations)


def _unite(rows: list[Record], more: Iterable[Record], table: str) -> None:
    known = _contents(rows, table)
    key = TABLES[table]
    rows += [row for row in more if _content(row, table) not in known.get(tuple(row[name] for name in key), ())]


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
    for name in TABLES:
        rows = [
            {**row, "host": part.host, "run": part.run}
            for part in parts
            for row in (with_verdicts(part.tables[name], _methods(part)) if name == "timing" else part.tables[name])
        ]
        if rows:
            columns = dict.fromkeys(column for row in rows for column in row)
            tables.write(output / f"{name}.csv", tuple(columns), rows)
    for file, where in (("worst.json", "worst"), ("disagreements.json", "wrong")):
        marked = [{**row, "host": part.host, "run": part.run} for part in parts for row in getattr(part, where)]
        files.write_json(output / file, {"rows": marked})
    named = Counter(simulation["name"] for part in parts for simulation in part.simulations)
    number = 0
    for part in parts:
        for simulation in part.simulations:
            mark = f" ({part.label})" if named[simulation["name"]] > 1 else ""
            told = {key: f"{simulation[key]}{mark}" for key in ("name", "title")}
            number += 1  # a stored name is no file name: it may be anybody's
            content = {**simulation, **told, "host": part.host, "run": part.run}
            files.write_json(output / "simulations" / f"{number:03d}.json", content)
    facts = _united([(part.label, part.facts) for part in parts]) | {"command": command}
    if len(parts) > 1:
        facts["hosts"] = {part.label: part.facts for part in parts}
    else:
        facts["host"] = parts[0].host
    files.write_json(output / "environment.json", facts, indent=2)


def _methods(part: Part) -> dict[str, Any]:
    return part.facts.get("methods") or {}
