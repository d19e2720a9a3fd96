"""The rules of comparison: which of two times is shorter, which method is the fastest, which calls are compared.

Used by the terminal, summary.md, the report, `merge` and the tables, so that all of them give the same result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dynbench.benchmarks.processes.outcomes import Outcome

# an engine's own call: the mode it is compared with
COMPARED_WITH = {"engine": "unchecked", "engine-batch": "batch", "engine-threads": "threads"}
OWN_CALLS = ("its own call", "its own batch call", "its own call in a loop in Python")  # of a peer: ratios to these
# are of what the engine's users call; others are of our wrapper around it, and make no headline
HEADLINE_ROWS = 1000  # states of the batch that stands for all batches
Row = Mapping[str, Any]  # of timing.csv, its cells as text or numbers
Group = tuple[str, str, str, str, str]  # robot, quantity, mode, rows, tier
FASTEST, FASTER, SLOWER, NOT_EXACT, FLOOR = "fastest", "faster", "slower", "not exact", "floor"
NO_DIFFERENCE = "no difference"  # the interval of the ratio includes 1


class Timed(NamedTuple):
    """A time of a method in a group whose times are compared with each other."""

    method: str
    seconds: float
    low: float = math.nan  # 95 % interval; NaN if it is not known
    high: float = math.nan
    noise: float = math.nan  # relative: what two measurements of the same code differ by
    exact: bool = True
    outcome: Outcome = Outcome.NUMBER
    floor: bool = False  # whether the method computes nothing: the baseline
    again: bool = False  # the second of an A/A pair
    wrapper: bool = False  # another engine's call through our wrapper, which is not what its users call

    @property
    def competes(self) -> bool:
        """Whether it can be the fastest: a measured, undisturbed time of an exact method, of an engine its own call."""
        counts = not (self.floor or self.again or self.wrapper)
        return self.outcome is Outcome.NUMBER and self.exact and counts


Interval = tuple[float, float]  # 95 % interval of a ratio of two times
Pairing = Callable[[int, int], Interval | None]  # of two rows, by their places: None if they were not measured in pairs
Paired = Callable[[Row, Row], Interval | None]  # the same, by rows of timing.csv


class Ranking(NamedTuple):
    """The result of `rank`."""

    fastest: tuple[str, ...]  # methods that do not differ from the best, the best first; empty if no row competes
    best: float  # the shortest time of a method that competes, NaN if there is none
    verdicts: tuple[str, ...]  # of each row; "" for one without a time
    intervals: tuple[Interval, ...]  # of each row's time over the best

    @property
    def text(self) -> str:
        """The fastest method, marked with ``~`` if others do not differ from it; "" if there is none."""
        return self.fastest[0] + "~" * (len(self.fastest) > 1) if self.fastest else ""


def compared_mode(mode: str) -> str:
    """Return the mode whose times a mode is compared with: for an engine's own call, ours of the same kind."""
    return COMPARED_WITH.get(mode, mode)


def interval_verdict(low: float, high: float) -> str:
    """Return what the interval of a ratio (the other's time over ours) allows to say: faster, slower, no difference."""
    if not (low == low and high == high):
        return NO_DIFFERENCE
    return FASTER if low > 1.0 else SLOWER if high < 1.0 else NO_DIFFERENCE


def ratio_interval(a: Timed, b: Timed) -> Interval:
    """Return bounds of the ratio of two times that were not measured in pairs, from the interval of each."""
    noise = 1.0 + (math.nan if math.isnan(a.noise) or math.isnan(b.noise) else max(a.noise, b.noise))
    return a.low / b.high / noise, a.high / b.low * noise


def rank(rows: Sequence[Timed], pairing: Pairing = lambda a, b: None) -> Ranking:
    """Return the fastest methods of a group and the verdict of each row: the one rule of "fastest".

    Only exact methods with an undisturbed time compete. The methods whose ratio to the shortest time has an interval
    that includes 1 are one group with it: a method is called the fastest only if it is alone in it.

    Parameters
    ----------
    pairing : callable
        The interval of the ratio of two rows that were measured in pairs; for others it is bounded by their own.
    """
    competing = [k for k, row in enumerate(rows) if row.competes]
    if not competing:
        unknown = (math.nan, math.nan)
        return Ranking((), math.nan, tuple(_shown(row, NO_DIFFERENCE) for row in rows), (unknown,) * len(rows))
    first = min(competing, key=lambda k: rows[k].seconds)
    best = rows[first]
    intervals = [
        (1.0, 1.0) if k == first else pairing(k, first) or ratio_interval(row, best) for k, row in enumerate(rows)
    ]
    verdicts = [{FASTER: SLOWER, SLOWER: FASTER}.get(one, one) for one in (interval_verdict(*i) for i in intervals)]
    tied = sorted((rows[k].seconds, rows[k].method) for k in competing if verdicts[k] == NO_DIFFERENCE)
    group = tuple(dict.fromkeys(method for _, method in tied))
    if len(group) == 1:
        verdicts[first] = FASTEST
    shown = tuple(_shown(row, one) for row, one in zip(rows, verdicts, strict=True))
    return Ranking(group, best.seconds, shown, tuple(intervals))


def _shown(row: Timed, found: str) -> str:
    """The verdict of a row, whose time has been compared with the best."""
    if row.outcome is not Outcome.NUMBER:
        return ""
    return FLOOR if row.floor else found if row.exact else NOT_EXACT


def stored(row: Row, best: Row) -> Interval | None:
    """Return the interval of a row's time over the best that its row of timing.csv holds, if it is of this best time.

    That of an engine's own call is beside generic code, and so is not of the best of traced code: see `stored_with`.
    """
    columns = ("times_best", "times_best_low", "times_best_high")
    ratio, low, high = (float(row.get(column) or "nan") for column in columns)
    ours = float(row["seconds"] or "nan") / float(best["seconds"])
    # digits of stored numbers may have been cut
    return (low, high) if low == low and high == high and math.isclose(ratio, ours, rel_tol=1e-4) else None


def stored_with(ratios: Iterable[Row]) -> Paired:
    """Return the pairing of rows of timing.csv by what they hold, or else by a ratio to an engine's own call."""
    names = ("robot", "quantity", "mode", "rows", "method", "code", "peer")
    kept = (row for row in ratios if row["outcome"] == Outcome.NUMBER and row["peer_call"] in OWN_CALLS)
    found = {tuple(row[name] for name in names): (float(row["low"]), float(row["high"])) for row in kept}

    def beside(ours: Row, engine: Row) -> Interval | None:
        if engine["mode"] not in COMPARED_WITH or any(row["label"] != row["method"] for row in (ours, engine)):
            return None
        return found.get((*(ours[name] for name in names[:-1]), engine["method"]))

    def pairing(row: Row, best: Row) -> Interval | None:
        if (held := stored(row, best) or beside(best, row)) is not None:
            return held
        inverse = beside(row, best)
        return (1.0 / inverse[1], 1.0 / inverse[0]) if inverse else None

    return pairing


def rank_records(rows: Iterable[Row], methods: Mapping[str, Mapping[str, Any]], pairing: Paired = stored) -> Ranking:
    """Rank rows of timing.csv; ``methods`` is that of environment.json, ``pairing`` as for `rank`, of rows."""
    rows, found = list(rows), []
    for row in rows:
        name, about = row["method"], methods.get(row["method"], {})
        seconds, low, high, noise = (float(row[column] or "nan") for column in ("seconds", "low", "high", "noise"))
        exact, floor = about.get("exact") is not False, bool(about.get("floor"))
        again, wrapper = row["label"] != name, bool(about.get("peer")) and row["mode"] not in COMPARED_WITH
        found.append(Timed(name, seconds, low, high, noise, exact, Outcome(row["outcome"]), floor, again, wrapper))
    return rank(found, lambda a, b: pairing(rows[a], rows[b]))


def grouped(rows: Iterable[Row]) -> dict[Group, list[Row]]:
    """The rows of timing.csv by what is compared with each other: an engine's own call with ours of the same kind.

    A group is of one tier. Rows without a tier (engines, plain Python) are in the groups of both; groups of generic
    code come first.
    """
    together: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        key = (row["robot"], row["quantity"], compared_mode(row["mode"]), str(row["rows"]))
        together.setdefault(key, []).append(row)
    groups: dict[Group, list[Row]] = {}
    for head, mine in together.items():
        for tier in sorted({row.get("code") or "" for row in mine} - {""}) or [""]:
            groups[*head, tier] = [row for row in mine if (row.get("code") or "") in ("", tier)]
    return groups


def with_verdicts(
    rows: Sequence[Row], methods: Mapping[str, Mapping[str, Any]], pairing: Paired = stored
) -> Iterator[dict[str, Any]]:
    """Yield rows of timing.csv with the columns that depend on other rows.

    These are ``floor``, ``times_best`` with its interval ``times_best_low`` and ``times_best_high``, and ``verdict``.
    """
    found: dict[int, dict[str, Any]] = {}
    for group in grouped(rows).values():
        ranking = rank_records(group, methods, pairing)
        both = list(zip(group, ranking.verdicts, ranking.intervals, strict=True))
        floor = min((float(row["seconds"]) for row, one, _ in both if one == FLOOR), default=math.nan)
        for row, one, (low, high) in both:
            ratio = float(row["seconds"] or "nan") / ranking.best
            interval = {"times_best_low": low, "times_best_high": high} if ratio == ratio else {}
            # a row without a tier is judged beside generic code, whose group comes first
            found.setdefault(id(row), {**row, "floor": floor, "times_best": ratio, **interval, "verdict": one})
    yield from (found[id(row)] for row in rows)


def shown_rows(sizes: Iterable[int]) -> int | None:
    """The size of the batches that summaries show: `HEADLINE_ROWS`, or the largest; None if there are none."""
    known = set(sizes)
    return HEADLINE_ROWS if HEADLINE_ROWS in known else max(known, default=None)
