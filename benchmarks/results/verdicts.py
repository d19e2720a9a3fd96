"""The rules of comparison: which of two times is shorter, which method is the fastest, which calls are compared.

Used by the terminal, summary.md, the report, `merge` and the tables, so that all of them give the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dynbench.benchmarks.processes.outcomes import Outcome

COMPARED_WITH = {"engine": "unchecked", "engine-batch": "batch"}  # an engine's own call: the mode it is compared with
HEADLINE_ROWS = 1000  # states of the batch that stands for all batches
Row = Mapping[str, Any]  # of timing.csv, its cells as text or numbers
Group = tuple[str, str, str, str]  # robot, quantity, mode, rows
FASTEST, TIED, SLOWER, NOT_EXACT, FLOOR = "fastest", "within the noise", "slower", "not exact", "floor"


class Timed(NamedTuple):
    """A time of a method in a group whose times are compared with each other."""

    method: str
    seconds: float
    noise: float  # relative; NaN if it was not measured
    exact: bool = True
    outcome: Outcome = Outcome.NUMBER
    floor: bool = False  # whether the method computes nothing: the baseline
    again: bool = False  # the second of an A/A pair

    @property
    def competes(self) -> bool:
        """Whether it can be the fastest: a measured time of an exact method."""
        return self.outcome is Outcome.NUMBER and self.exact and not self.floor and not self.again


class Ranking(NamedTuple):
    """The result of `rank`."""

    fastest: tuple[str, ...]  # methods within the noise of the best, the best first; empty if no row competes
    best: float  # the shortest time of a method that competes, NaN if there is none
    verdicts: tuple[str, ...]  # of each row; "" for one without a time

    @property
    def text(self) -> str:
        """The fastest method, marked with ``~`` if others are within the noise; "" if there is none."""
        return self.fastest[0] + "~" * (len(self.fastest) > 1) if self.fastest else ""


def compared_mode(mode: str) -> str:
    """Return the mode whose times a mode is compared with: for an engine's own call, ours of the same kind."""
    return COMPARED_WITH.get(mode, mode)


def verdict(a: float, b: float, noise: float) -> str:
    """Return which of two times is shorter: "faster" (a is), "slower", or "within the noise".

    Parameters
    ----------
    a, b : float
        Seconds.
    noise : float
        Relative; NaN (never measured) allows no verdict.
    """
    if not (a > 0.0 and b > 0.0 and noise >= 0.0):
        return TIED if a > 0.0 and b > 0.0 else "not measured"
    if abs(math.log(a / b)) <= math.log1p(noise):
        return TIED
    return "faster" if a < b else SLOWER


def rank(rows: Sequence[Timed]) -> Ranking:
    """Return the fastest methods of a group and the verdict of each row: the one rule of "fastest".

    Only exact methods compete. The methods whose times are within the noise of the shortest are one group: a method is
    called the fastest only if it is alone in it.
    """
    none = Timed("", math.nan, math.nan)
    first = min((row for row in rows if row.competes), key=lambda row: row.seconds, default=none)
    found = [verdict(row.seconds, first.seconds, _larger(row.noise, first.noise)) for row in rows]
    both = list(zip(rows, found, strict=True))
    tied = sorted((row.seconds, row.method) for row, one in both if row.competes and one == TIED)
    group = tuple(dict.fromkeys(method for _, method in tied))
    alone = first if len(group) == 1 else None
    return Ranking(group, first.seconds, tuple(_shown(row, FASTEST if row is alone else one) for row, one in both))


def _shown(row: Timed, found: str) -> str:
    """The verdict of a row, whose time has been compared with the best."""
    if row.outcome is not Outcome.NUMBER:
        return ""
    return FLOOR if row.floor else found if row.exact else NOT_EXACT


def rank_records(rows: Iterable[Row], methods: Mapping[str, Mapping[str, Any]]) -> Ranking:
    """Rank rows of timing.csv; ``methods`` is that of environment.json."""
    found = []
    for row in rows:
        name, about = row["method"], methods.get(row["method"], {})
        seconds, noise = (float(row[column] or "nan") for column in ("seconds", "noise"))
        exact, floor = about.get("exact") is not False, bool(about.get("floor"))
        found.append(Timed(name, seconds, noise, exact, Outcome(row["outcome"]), floor, row["label"] != name))
    return rank(found)


def grouped(rows: Iterable[Row]) -> dict[Group, list[Row]]:
    """The rows of timing.csv by what is compared with each other: an engine's own call with ours of the same kind."""
    groups: dict[Group, list[Row]] = {}
    for row in rows:
        groups.setdefault((row["robot"], row["quantity"], compared_mode(row["mode"]), str(row["rows"])), []).append(row)
    return groups


def with_verdicts(rows: Sequence[Row], methods: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows of timing.csv with the columns that depend on other rows: ``floor``, ``times_best``, ``verdict``."""
    found: dict[int, dict[str, Any]] = {}
    for group in grouped(rows).values():
        ranking = rank_records(group, methods)
        both = list(zip(group, ranking.verdicts, strict=True))
        floor = min((float(row["seconds"]) for row, one in both if one == FLOOR), default=math.nan)
        for row, one in both:
            ratio = float(row["seconds"] or "nan") / ranking.best
            found[id(row)] = {**row, "floor": floor, "times_best": ratio, "verdict": one}
    yield from (found[id(row)] for row in rows)


def shown_rows(sizes: Iterable[int]) -> int | None:
    """The size of the batches that summaries show: `HEADLINE_ROWS`, or the largest; None if there are none."""
    known = set(sizes)
    return HEADLINE_ROWS if HEADLINE_ROWS in known else max(known, default=None)


def _larger(a: float, b: float) -> float:
    """The larger noise; NaN if one was not measured."""
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)
