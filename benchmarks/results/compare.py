"""Two runs side by side: what differs in their surroundings, coverage, agreement, operation counts, claims and times.

Rows are matched by what they measure (the keys of `schema`), whatever machine or commit they come from; in folders that
``dynbench merge`` wrote, also by host and run. Times are judged by `changes`. A regression is

    lost        a number in A, none in B: failed, refused, or not there at all
    disagrees   agreed or was reported in A, differs in B; a claim that was reproduced and is not
    slower      beyond noise, drift and threshold

An error that has grown tenfold above its noise floor but is within its tolerance, and another count of operations, are
listed, and are no regression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dynbench.benchmarks.results import changes, folders
from dynbench.benchmarks.results.changes import Judgement
from dynbench.benchmarks.results.columns import Record
from dynbench.benchmarks.results.folders import Folder
from dynbench.benchmarks.results.schema import OPERATIONS, TABLES
from dynbench.robots.errors import DynbenchError

SURROUNDINGS = ("date", "host", "command", "commit", "system", "python", "cpu", "cores usable", "governor", "turbo",
                "threads", "seed", "quick", "code")  # fmt: skip
MEASURED = ("seconds", "low", "high", "noise", "passes")
GROWN = 10.0  # times that an error must grow by, and stand above its noise floor, to be named
ROUNDING = 1e-15  # noise floor of a relative error that has none written beside it
ABSENT = "no such row"

Key = tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same; ``a`` and ``b`` as they are printed."""

    what: str
    a: str
    b: str
    regression: bool = False


@dataclass(frozen=True)
class Comparison:
    """All that `compare` found."""

    a: str
    b: str
    surroundings: list[Difference]
    lost: list[Difference]
    gained: list[Difference]
    agreement: list[Difference]
    counts: list[Difference]
    claims: list[Difference]
    cells: int  # that have a time in both
    judgement: Judgement
    notes: list[str] = field(default_factory=list)

    @property
    def regressions(self) -> int:
        """How many things became worse."""
        listed = (*self.lost, *self.agreement, *self.claims)
        return sum(one.regression for one in listed) + sum(1 for _ in self.judgement.slower())

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "regressions": self.regressions}


def compare(first: Path, second: Path, threshold: float = 0.03, common: bool = False) -> Comparison:
    """Compare two results folders.

    Parameters
    ----------
    first, second : Path
        The earlier run, and the one that is judged.
    threshold : float
        The smallest relative change of a time that counts.
    common : bool
        Leave out robots, methods and quantities that one of the runs was not asked for, instead of calling them lost.

    Raises
    ------
    DynbenchError
        If one of them is no results folder, or they have nothing in common.
    """
    a, b = folders.read(first), folders.read(second)
    pair = _Pair(a, b, common)
    times = pair.match(_timed)
    checks = pair.match(lambda folder: _rows(folder, "agreement"))
    said = pair.match(lambda folder: _rows(folder, "claims"))
    counts = pair.match(lambda folder: _rows(folder, "counts"))
    if not any(None not in rows for table in (times, checks, said, counts) for rows in table.values()):
        raise DynbenchError(f"{first} and {second} have no row in common: they measure different things")
    spread = any(len({row["host"] for row in folder.tables["timing"] if row.get("host")}) > 1 for folder in (a, b))
    both = _both(times, same_host=spread and not pair.by_unit)
    methods = {**a.facts["methods"], **b.facts["methods"]}
    mine = [name for name, about in methods.items() if not about.get("peer") and not about.get("floor")]
    ours = [one for name in mine for one in (name, f"{name}, traced")]
    lost, gained = _coverage(times, _has_time)
    more_lost, more_gained = _coverage(checks, lambda row: row["status"] not in ("failed", "unsupported"))
    return Comparison(
        str(first),
        str(second),
        list(_surroundings(a.facts, b.facts)),
        lost + more_lost,
        gained + more_gained,
        list(_agreement(checks)),
        list(_counts(counts)),
        list(_claims(said)),
        len(both),
        changes.judge(both, threshold, ours),
        pair.notes,
    )


class _Pair:
    """Two folders, and which of their rows belong together."""

    def __init__(self, a: Folder, b: Folder, common: bool) -> None:
        self.folders = (a, b)
        self.notes: list[str] = []
        self.by_unit = any(folder.facts.get("hosts") for folder in self.folders)
        if self.by_unit and not _units(a) & _units(b):
            raise DynbenchError(f"{a.path} and {b.path} hold rows of several machines, none of them in both")
        unasked = [self._unasked(one, other) for one, other in ((b, a), (a, b))]
        self.skip = unasked if common else [set(), set()]
        for names, run in zip(unasked, ("B", "A"), strict=True):
            if names and not common:
                shown = ", ".join(sorted(names)[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
                self.notes.append(f"{run} was not asked for {shown}; --common leaves these out")

    @staticmethod
    def _unasked(one: Folder, other: Folder) -> set[str]:
        """What only the other run was asked for: robots, methods and quantities."""
        lists = ("robots", "methods", "quantities")
        return {name for key in lists if one.facts[key] for name in set(other.facts[key]) - set(one.facts[key])}

    def match(self, rows: Callable[[Folder], Iterable[tuple[Key, Record]]]) -> dict[Key, tuple[Record | None, ...]]:
        """Return the rows of both by what they measure, None where one has no such row."""
        found: dict[Key, list[Record | None]] = {}
        twice = 0
        for k, folder in enumerate(self.folders):
            home = folder.home()
            for key, row in rows(folder):
                if any(part in self.skip[k] for part in key):
                    continue
                unit = (row.get("host") or home, row.get("run", "")) if self.by_unit else ()
                entry = found.setdefault((*key, *unit), [None, None])
                twice += entry[k] is not None
                entry[k] = entry[k] or row
        if twice:
            self.notes.append(f"{twice} rows measure what another row of the same run does; the first was taken")
        return {key: tuple(entry) for key, entry in found.items()}


def _units(folder: Folder) -> set[Key]:
    """The machines and runs that rows are from."""
    home = folder.home()
    named = (row for rows in folder.tables.values() for row in rows)
    return {(row.get("host") or home, row.get("run", "")) for row in named}


def _rows(folder: Folder, table: str) -> Iterator[tuple[Key, Record]]:
    for row in folder.tables[table]:
        key = {name: row[name] for name in TABLES[table].keys}
        if table == "agreement":  # a pair is the same in either order
            both = [(row["method"], row["code"]), (row["other"], row["other_code"])]
            one, two = sorted(both, key=lambda who: (not who[0], who))
            (key["method"], key["code"]), (key["other"], key["other_code"]) = one, two
        yield (table, *key.values()), row


def _timed(folder: Folder) -> Iterator[tuple[Key, Record]]:
    """The cells of timing.csv, and the points of the scaling curves as cells of the mode "scaling"."""
    for row in folder.tables["timing"]:
        yield tuple(row[name] for name in ("robot", "label", "quantity", "mode", "rows", "code")), row
    for row in folder.tables["scaling"]:
        if row["size"] and row["measure"] == "time per state":
            key = (f"{row['family']}-{row['size']}", row["method"], row["quantity"], "scaling", "", row["code"])
            yield key, {**row, "seconds": row["value"]}


def _in_tier(row: Record) -> str:
    """The method of a row; traced code is judged apart."""
    return f"{row['method']}, traced" if row.get("code") == "traced" else row["method"]


def _has_time(row: Record) -> bool:
    return bool(row["seconds"]) and 0.0 < float(row["seconds"]) < float("inf")


def _both(times: dict[Key, tuple[Record | None, ...]], same_host: bool) -> pd.DataFrame:
    """The cells that have a time in both runs, as `changes.judge` takes them.

    With ``same_host``, only those timed on the same machine: a cluster may have sent a cell elsewhere.
    """
    names = ("robot", "label", "quantity", "mode", "rows", "code")
    rows = []
    for key, (a, b) in times.items():
        if a is not None and b is not None and _has_time(a) and _has_time(b):
            if same_host and a.get("host") != b.get("host"):
                continue
            found: dict[str, Any] = {**dict(zip(names, key, strict=False)), "method": _in_tier(a)}
            for run, row in (("a", a), ("b", b)):
                found |= {f"{name}_{run}": float(row.get(name) or "nan") for name in MEASURED}
            rows.append(found)
    return pd.DataFrame(rows)


def _coverage(
    rows: dict[Key, tuple[Record | None, ...]], has_number: Callable[[Record], bool]
) -> tuple[list[Difference], list[Difference]]:
    """What has a number in one run only: counted by robot, method and reason."""
    lost: Counter[tuple[str, str]] = Counter()
    gained: Counter[tuple[str, str]] = Counter()
    for a, b in rows.values():
        had, has = (row is not None and has_number(row) for row in (a, b))
        if had != has:
            there, missing = (a, b) if had else (b, a)
            reason = ABSENT if missing is None else missing["reason"] or missing.get("status") or "no number"
            (lost if had else gained)[_named(there or {}), reason] += 1

    def listed(found: Counter[tuple[str, str]], regression: bool) -> list[Difference]:
        whole = ((f"{who}: {count} number{'s' * (count > 1)}", why) for (who, why), count in found.items())
        return [Difference(what, *(("", why) if regression else (why, "")), regression) for what, why in whole]

    return listed(lost, True), listed(gained, False)


def _named(row: Record) -> str:
    """Who a row is about, for a list that must stay short."""
    robot = row.get("robot") or row.get("family", "")
    return f"{_in_tier(row)} on {robot}, {'time' if 'status' not in row else 'agreement'}"


def _agreement(rows: dict[Key, tuple[Record | None, ...]]) -> Iterator[Difference]:
    """Verdicts that changed, and errors that grew."""
    for a, b in rows.values():
        if a is None or b is None:
            continue
        other = f"{b['other']}, traced" if b["other_code"] == "traced" else b["other"]
        pair = f"{_in_tier(b)} and {other}" if b["other"] else _in_tier(b)
        what = f"{pair} on {b['robot']}, {b['quantity'] or 'any quantity'}: {b['measure']}"
        shown = [f"{row['status']} ({row['value'] or 'no value'})" for row in (a, b)]
        if a["status"] != b["status"]:
            if "differs" in (a["status"], b["status"]):  # what fails, or does no more, is coverage
                yield Difference(what, shown[0], shown[1], b["status"] == "differs")
        elif a["value"] and b["value"]:
            before, now = float(a["value"]), float(b["value"])
            floor = max(ROUNDING, *(float(row["noise"] or "0") for row in (a, b)))
            if now > GROWN * before and now > GROWN * floor:
                yield Difference(f"{what} has grown", shown[0], shown[1])


def _counts(rows: dict[Key, tuple[Record | None, ...]]) -> Iterator[Difference]:
    """Operations that are counted otherwise."""
    for a, b in rows.values():
        if a is not None and b is not None and a["flops"] and b["flops"]:
            other = [kind for kind in OPERATIONS if a[kind] != b[kind]]
            if other:
                shown = [", ".join(f"{row[kind]} {kind.replace('_', ' ')}" for kind in other) for row in (a, b)]
                yield Difference(f"{_in_tier(b)} on {b['robot']}, {b['quantity']}", shown[0], shown[1])


def _claims(rows: dict[Key, tuple[Record | None, ...]]) -> Iterator[Difference]:
    """Claims of papers with another verdict."""
    for a, b in rows.values():
        if a is not None and b is not None and a["verdict"] != b["verdict"]:
            worse = a["verdict"] == "reproduced" or b["verdict"] == "not run"
            yield Difference(f"{b['paper']}: {b['statement']}", a["verdict"], b["verdict"], worse)


def _surroundings(a: dict[str, Any], b: dict[str, Any]) -> Iterator[Difference]:
    for name in SURROUNDINGS:
        if a.get(name) != b.get(name):
            yield Difference(name, str(a.get(name, "unknown")), str(b.get(name, "unknown")))
    for name in {**a["versions"], **b["versions"]}:
        one, two = (facts["versions"].get(name, "unknown") for facts in (a, b))
        if one != two:
            yield Difference(f"version of {name}", one, two)
