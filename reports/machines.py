"""Rows of several machines in one report: a robot stands in it once for each, so that no time meets another machine's.

``dynbench merge`` writes such folders, and so does a run that was spread over a cluster: their rows say in the columns
``host`` and ``run`` where they are from.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from dynbench.benchmarks.results.columns import MERGED, Record
from dynbench.benchmarks.results.folders import Folder

# What gets the machine's name beside it; in other tables, the robot
MARKED = {"scaling": "family", "claims": "statement", "errata": "where", "paper_counts": "quantity",
          "work_precision": "scenario"}  # fmt: skip
PRINTED = ("claims", "errata", "paper_counts")  # about papers: what machines say alike needs no machine

ORIGIN = tuple(column.name for column in MERGED)
UNKNOWN = {"bodies": "–", "nq": "–", "nv": "–"}


def label(row: dict[str, Any]) -> str:
    """The machine, and which of its runs, a row is from; "" if it does not say."""
    return ", ".join(str(row[key]) for key in ORIGIN if row.get(key))


def names(found: Folder) -> list[str]:
    """The machines and runs that rows are from."""
    return list(dict.fromkeys(name for rows in found.tables.values() for row in rows if (name := label(row))))


def marked(found: Folder) -> Folder:
    """Return a folder of several machines with each row's machine beside its robot; any other as it is."""
    machines = names(found)
    if len(machines) < 2:
        return found
    tables = {name: _marked(rows, name) for name, rows in found.tables.items()}
    worst = [{**row, "robot": _with(row["robot"], row)} for row in found.worst]
    of = {_with(row["robot"], row): row["robot"] for name in ("timing", "agreement") for row in found.tables[name]}
    robots = {name: found.facts["robots"].get(robot, UNKNOWN) for name, robot in of.items()}
    return replace(found, facts={**found.facts, "robots": robots}, tables=tables, worst=worst)


def _with(name: str, row: dict[str, Any]) -> str:
    """A polynomial in N is the same on every machine."""
    machine = label(row)
    return f"{name} ({machine})" if machine and not name.endswith("-N") else name


def _marked(rows: list[Record], table: str) -> list[Record]:
    """Rows with their machine; what all machines say alike, once."""
    column = MARKED.get(table, "robot")
    alike = Counter(map(_told, rows)) if table in PRINTED else Counter()
    return _once([row if alike[_told(row)] > 1 else {**row, column: _with(row[column], row)} for row in rows])


def _told(row: Record) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in row.items() if key not in ORIGIN)


def _once(rows: list[Record]) -> list[Record]:
    return list({_told(row): row for row in rows}.values())
