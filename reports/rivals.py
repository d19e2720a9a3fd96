"""The section "Rivals": the best of each engine per robot and quantity, for one state, for batches, and on all threads.

An engine takes part by its own calls, ours by its fastest exact method. An engine may have several entries, such as the
wheel of a library and a C++ loop over it; the faster one stands for it, with the code that was timed. Sentences follow
from the numbers by the rule of `dynbench.benchmarks.results.verdicts`: an engine is called the fastest only if the
interval of every other's ratio to it excludes 1.

`every` has all of them side by side: our fastest exact method in each tier of code, and every entry of every engine,
with the ratio of its time to each tier of ours. Such a ratio is that of ratios.csv, measured in turns, where there is
one, else it is bounded by the intervals of both times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import verdicts
from dynbench.reports.rows import Record, StoredRun, listed, number, plural, seconds, words

OURS = "dynbench"
# what is compared: the mode of our methods, the mode of an engine's own call
MEASURES = {
    "latency": ("unchecked", "engine"),
    "throughput, one thread": ("batch", "engine-batch"),
    "throughput, all threads": ("threads", "engine-threads"),
}
MEANINGS = {
    "latency": "time of one state in one call",
    "throughput, one thread": "time per state in a batch of {rows}",
    "throughput, all threads": "wall time per state in a batch of {rows}",
}


@dataclass(frozen=True)
class Entry:
    """The best of one engine in a comparison."""

    engine: str
    method: str
    seconds: float
    low: float  # 95 % interval of seconds
    high: float
    expression: str
    times_best: float  # its time over that of the fastest
    verdict: str  # fastest, no difference, slower

    @property
    def time(self) -> str:
        return seconds(self.seconds)


@dataclass(frozen=True)
class Place:
    """What is compared: a quantity of a robot, by one of the `MEASURES`."""

    robot: str
    quantity: str
    measure: str
    rows: str

    @property
    def named(self) -> str:
        """The quantity in words."""
        return words(self.quantity)

    @property
    def meaning(self) -> str:
        return MEANINGS[self.measure].format(rows=self.rows)


@dataclass(frozen=True)
class Comparison(Place):
    """The engines on one robot, quantity and measure, the fastest first."""

    entries: tuple[Entry, ...]

    @property
    def fastest(self) -> list[Entry]:
        """Those that do not differ from the best."""
        return [entry for entry in self.entries if entry.verdict != verdicts.SLOWER]

    @property
    def sentence(self) -> str:
        """Which engine is fastest, and by how much."""
        what = f"{self.robot}, {words(self.quantity)}, {self.measure}"
        best = self.fastest
        if len(best) > 1:
            return f"{what}: {listed([entry.engine for entry in best])} do not differ."
        if len(self.entries) == 1:
            return f"{what}: only {best[0].engine} was timed."
        second = self.entries[1]
        return f"{what}: {best[0].engine} is fastest, {second.times_best:.2g} times as fast as {second.engine}."


@dataclass(frozen=True)
class Line(Place):
    """One entry beside the others: its time, and over that of each tier of ours with a 95 % interval."""

    method: str
    tier: str  # of our code, "" of an engine
    seconds: float
    expression: str
    ratios: Mapping[str, tuple[float, float, float]]  # by tier: ratio, low, high

    @property
    def entry(self) -> str:
        """The method; of ours with the tier of its code."""
        return f"{self.method}, {self.tier} code" if self.tier else self.method

    @property
    def time(self) -> str:
        return seconds(self.seconds)

    def over(self, tier: str) -> str:
        """Its time over that of a tier of ours, with the interval."""
        if tier == self.tier or tier not in self.ratios:
            return "–"
        ratio, low, high = self.ratios[tier]
        return f"{ratio:.3g} [{low:.3g}, {high:.3g}]"


@dataclass(frozen=True)
class Rivals:
    """What the section shows."""

    comparisons: tuple[Comparison, ...]
    engines: tuple[str, ...]  # with the one that is fastest most often first

    @property
    def sentences(self) -> list[str]:
        """What each engine is good at, one sentence each."""
        return [good_at(engine, self.comparisons) for engine in self.engines]


def rivals(run: StoredRun) -> Rivals:
    """Return the comparisons of a run; those in which only one engine was timed are left out."""
    return compare(run["timing"], run["ratios"], run.facts["methods"], run.batch_size)


def compare(
    rows: Sequence[Record], ratios: Sequence[Record], methods: Mapping[str, Mapping[str, Any]], batch_size: str
) -> Rivals:
    """Return the comparisons of rows of timing.csv and ratios.csv.

    Parameters
    ----------
    methods : mapping
        What environment.json has of each method: whether it is a peer, exact, a floor, and its engine.
    batch_size : str
        Of the batches that are shown.
    """
    groups = _groups(rows, methods, batch_size)
    pairing = verdicts.stored_with(ratios)
    found = [_comparison(key, group, methods, pairing) for key, group in groups.items()]
    compared = tuple(one for one in found if len(one.entries) > 1)
    names = list(dict.fromkeys(entry.engine for one in compared for entry in one.entries))
    return Rivals(compared, tuple(sorted(names, key=lambda name: (-_alone(name, compared), name != OURS))))


def every(run: StoredRun) -> list[Line]:
    """Return all entries of a run, the fastest first in each robot, quantity and measure."""
    return side_by_side(run["timing"], run["ratios"], run.facts["methods"], run.batch_size)


def side_by_side(
    rows: Sequence[Record], ratios: Sequence[Record], methods: Mapping[str, Mapping[str, Any]], batch_size: str
) -> list[Line]:
    """Return the lines of rows of timing.csv and ratios.csv; the other arguments are those of `compare`."""
    pairing = verdicts.stored_with(ratios)
    found: list[Line] = []
    for (robot, quantity, measure, size), group in _groups(rows, methods, batch_size).items():
        engines = [row for row in group if methods.get(row["method"], {}).get("peer")]
        ours: dict[str, Record] = {}  # the fastest of each tier
        for row in group:
            tier = row["code"] or "generic"
            if row not in engines and (tier not in ours or number(row["seconds"]) < number(ours[tier]["seconds"])):
                ours[tier] = row
        if not engines:
            continue
        entries = [*((tier, row) for tier, row in ours.items()), *(("", row) for row in engines)]
        for tier, row in sorted(entries, key=lambda entry: number(entry[1]["seconds"])):
            over = {other: _ratio(row, mine, pairing) for other, mine in ours.items()}
            code = row.get("expression", "")
            found.append(Line(robot, quantity, measure, size, row["method"], tier, number(row["seconds"]), code, over))
    return found


def _ratio(row: Record, mine: Record, pairing: verdicts.Paired) -> tuple[float, float, float]:
    """The time of a row over that of one of ours, with the interval."""
    interval = pairing(row, mine) or verdicts.ratio_interval(_timed(row), _timed(mine))
    return number(row["seconds"]) / number(mine["seconds"]), *interval


def _timed(row: Record, name: str = "") -> verdicts.Timed:
    return verdicts.Timed(
        name or row["method"], number(row["seconds"]), number(row["low"]), number(row["high"]), number(row["noise"])
    )


def _groups(
    rows: Sequence[Record], methods: Mapping[str, Mapping[str, Any]], batch_size: str
) -> dict[tuple[str, str, str, str], list[Record]]:
    """Rows that compete, by robot, quantity, measure and number of states."""
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    threaded = max((row["rows"] for row in rows if row["mode"] == "threads"), key=int, default="")
    for row in rows:
        for measure, (ours, own) in MEASURES.items():
            about = methods.get(row["method"], {})
            mode = own if about.get("peer") else ours
            size = {"latency": "1", "throughput, one thread": batch_size}.get(measure, threaded)
            if row["mode"] == mode and row["rows"] == size and _competes(row, about):
                groups.setdefault((row["robot"], row["quantity"], measure, size), []).append(row)
    return groups


def good_at(engine: str, comparisons: Sequence[Comparison]) -> str:
    """Return in which comparisons an engine is the fastest, and how far behind it is in the others."""
    mine = [(one, entry) for one in comparisons for entry in one.entries if entry.engine == engine]
    won = [one for one, entry in mine if entry.verdict == verdicts.FASTEST]
    tied = [one for one, entry in mine if entry.verdict == verdicts.NO_DIFFERENCE]
    behind = [(entry.times_best, one) for one, entry in mine if entry.verdict == verdicts.SLOWER]
    parts = []
    if won:
        parts.append(f"fastest in {len(won)} of {plural(len(mine), 'comparison')} ({_places(won)})")
    if tied:
        parts.append(f"not different from the fastest in {len(tied)} ({_places(tied)})")
    if behind:
        least, most = min(behind, key=lambda x: x[0]), max(behind, key=lambda x: x[0])
        there = f"{least[0]:.3g} times the best time at least ({_place(least[1])})"
        there += f" and {most[0]:.3g} at most ({_place(most[1])})" if len(behind) > 1 else ""
        parts.append(f"slower in {len(behind)}: {there}")
    return f"{engine}: {'; '.join(parts)}."


def _competes(row: Record, about: Mapping[str, Any]) -> bool:
    """Whether a row is an undisturbed time of an exact method, and the first of an A/A pair."""
    exact = about.get("exact") is not False and not about.get("floor")
    first = row["label"] == row["method"]
    return exact and first and Outcome(row["outcome"]) is Outcome.NUMBER and math.isfinite(number(row["seconds"]))


def engine_of(method: str, about: Mapping[str, Any]) -> str:
    """The engine of a method: what it needs to be installed; ours is dynbench."""
    return str(about.get("engine") or (method if about.get("peer") else OURS))


def _comparison(
    key: tuple[str, str, str, str],
    rows: Sequence[Record],
    methods: Mapping[str, Mapping[str, Any]],
    pairing: verdicts.Paired,
) -> Comparison:
    best: dict[str, Record] = {}
    for row in rows:
        engine = engine_of(row["method"], methods.get(row["method"], {}))
        if engine not in best or number(row["seconds"]) < number(best[engine]["seconds"]):
            best[engine] = row
    timed = [_timed(row, engine) for engine, row in best.items()]
    chosen = list(best.values())
    ranking = verdicts.rank(timed, lambda a, b: pairing(chosen[a], chosen[b]))
    entries = [
        Entry(
            one.method,
            row["method"],
            one.seconds,
            one.low,
            one.high,
            row.get("expression", ""),
            one.seconds / ranking.best,
            verdict,
        )
        for one, row, verdict in zip(timed, chosen, ranking.verdicts, strict=True)
    ]
    robot, quantity, measure, size = key
    return Comparison(robot, quantity, measure, size, tuple(sorted(entries, key=lambda entry: entry.seconds)))


def _alone(engine: str, comparisons: Sequence[Comparison]) -> int:
    """In how many comparisons an engine is alone the fastest."""
    return sum(entry.engine == engine and entry.verdict == verdicts.FASTEST for c in comparisons for entry in c.entries)


def _place(one: Comparison) -> str:
    return f"{one.measure} of {words(one.quantity)} on {one.robot}"


def _places(found: Sequence[Comparison], shown: int = 3) -> str:
    """The first few places, and how many more there are."""
    named = [_place(one) for one in found[:shown]]
    more = len(found) - shown
    return "; ".join([*named, f"{more} more"] if more > 0 else named)
