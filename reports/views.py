"""What the page shows for each choice of robot, quantity, mode and code: rows, who is fastest, and the sentences.

Everything is decided here, by the rules of `dynbench.benchmarks.results.verdicts`; the script of the page only draws
it. A view holds the rows of one tier of code, and the own calls of other engines, which belong to every tier.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.verdicts import (
    COMPARED_WITH,
    FASTER,
    FASTEST,
    NO_DIFFERENCE,
    OWN_CALLS,
    SLOWER,
    Paired,
    Ranking,
    rank_records,
    stored_with,
)
from dynbench.reports.rows import Record, StoredRun, known, listed, number, outcome, plural, seconds, unique, words

LABELS = {"call": "One call", "unchecked": "Control loop", "batch": "Batch", "threads": "All threads"}
USES = {
    "call": "For one call",
    "unchecked": "For a control loop",
    "batch": "For batches",
    "threads": "For batches on all cores",
}
PHRASES = {
    "call": "one checked call",
    "unchecked": "one call without checks",
    "batch": "batches of {rows} states, one thread",
    "threads": "batches of {rows} states, all threads",
}
GROUPS = {
    "general": "General formulations",
    "special": "For one kind of robot",
    "engine": "Engines",
    "floor": "Baseline",
}
TRACED = "traced"  # the tier whose pairs are with generic code
SPECIAL = 2  # robots up to which a method is called special, unless these are all there are
NAMED = 3  # methods of a tie that a sentence names
Key = tuple[str, str, str, str]  # robot, quantity, mode, code


@dataclass(frozen=True)
class Entry:
    """One method in a view: its time, or why there is none."""

    method: str
    kind: str  # "method", "again" (the second of an A/A pair), "own" (an engine's own call), "wrapper" or "floor"
    row: Record
    verdict: str = ""
    ratio: float = math.nan  # to the fastest
    low: float = math.nan
    high: float = math.nan
    called: str = ""  # what of an engine

    @property
    def timed(self) -> bool:
        return known(self.row["seconds"])


@dataclass(frozen=True)
class View:
    """The rows of one choice, the fastest methods first among them."""

    key: Key
    entries: Sequence[Entry]
    fastest: Sequence[str]  # one, or those that are tied
    best: float  # seconds
    only: bool = False  # whether the fastest is the only exact formulation that was timed here
    said: Sequence[str] = ()  # speed, engines, agreement

    def entry(self, method: str) -> Entry | None:
        """The entry that stands for a method: of an engine, its own call."""
        mine = [one for one in self.entries if one.method == method and one.kind != "again"]
        return next((one for one in mine if one.kind == "own"), mine[0] if mine else None)


@dataclass(frozen=True)
class Agreement:
    """How a method agrees with the exact ones on a robot and a quantity."""

    typical: float  # the median of the errors, so that one wrong method does not spoil all others
    worst: float
    partner: str  # of the worst
    differs: bool


@dataclass
class Views:
    """All views of a run."""

    run: StoredRun
    found: dict[Key, View] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._groups: dict[tuple[str, str, str, str], list[Record]] = {}  # robot, quantity, mode, rows
        for row in self.run["timing"]:
            self._groups.setdefault((row["robot"], row["quantity"], row["mode"], row["rows"]), []).append(row)
        self._ratios: dict[tuple[str, ...], Record] = {}  # robot, quantity, mode, rows, code, method, peer
        for row in self.run["ratios"]:
            key = ("robot", "quantity", "mode", "rows", "method", "peer")
            self._ratios[(*(row[name] for name in key), row.get("code", ""))] = row
        for robot in self.run.robots:
            for quantity in self.quantities:
                for mode, rows in self.modes.items():
                    for code in self.codes:
                        view = self._view((robot, quantity, mode, code), rows)
                        if view.entries:
                            self.found[view.key] = view

    @cached_property
    def _pairing(self) -> Paired:
        return stored_with(self.run["ratios"])

    @cached_property
    def quantities(self) -> list[str]:
        return unique(row["quantity"] for row in self.run["timing"])

    @cached_property
    def codes(self) -> list[str]:
        """The tiers of code; one without a name if rows name none."""
        return sorted({code for row in self.run["timing"] if (code := row.get("code", ""))}) or [""]

    @cached_property
    def modes(self) -> dict[str, str]:
        """Modes with the size of batch that is shown."""
        sizes = {"call": "1", "unchecked": "1", "batch": self.run.batch_size}
        sizes["threads"] = max((r["rows"] for r in self.run["timing"] if r["mode"] == "threads"), key=int, default="")
        there = {(row["mode"], row["rows"]) for row in self.run["timing"]}
        return {mode: rows for mode, rows in sizes.items() if (mode, rows) in there}

    @cached_property
    def first(self) -> Key:
        """The view that is shown first: batches, if there are any."""
        mode = next((mode for mode in ("batch", "unchecked", "call", "threads") if mode in self.modes), "")
        mine = [view for view in self.found.values() if view.key[2] == mode]
        some = [view for view in mine if view.fastest] or mine
        return some[0].key if some else ("", "", "", self.codes[0])

    @cached_property
    def kinds(self) -> dict[str, str]:
        """For each method, its group among `GROUPS`."""
        robots: dict[str, set[str]] = {}
        for row in self.run["timing"]:
            if known(row["seconds"]):
                robots.setdefault(row["method"], set()).add(row["robot"])
        few = min(SPECIAL, len(self.run.robots) - 1)
        return {
            name: "floor"
            if name in self.run.floors
            else "engine"
            if name in self.run.peers
            else "general"
            if len(robots.get(name, ())) > few
            else "special"
            for name in self.run.methods
        }

    def phrase(self, mode: str) -> str:
        """A mode in words."""
        return PHRASES[mode].format(rows=self.modes[mode])

    def called(self, peer: str, quantity: str, mode: str) -> str:
        """What of an engine was timed by its own call in a mode."""
        return self._called.get((peer, quantity, mode), OWN_CALLS[0])

    @cached_property
    def _called(self) -> dict[tuple[str, str, str], str]:
        return {
            (row["peer"], row["quantity"], row["mode"]): row["peer_call"]
            for row in self.run["ratios"]
            if row["peer_call"] in OWN_CALLS
        }

    def _view(self, key: Key, count: str) -> View:
        robot, quantity, mode, code = key

        def rows_of(one: str, rows: str) -> list[Record]:
            found = self._groups.get((robot, quantity, one, rows), [])
            return [row for row in found if row.get("code", "") in ("", code)]

        own = next((one for one, ours in COMPARED_WITH.items() if ours == mode), "")
        rows = rows_of(mode, count) + rows_of(own, count)
        ranking = rank_records(rows, self.run.facts["methods"], self._pairing)
        entries = [
            Entry(row["method"], self._kind(row), row, one, number(row["seconds"]) / ranking.best, *interval,
                  called=self.called(row["method"], quantity, mode) if row["mode"] == own
                  else "our wrapper" if row["method"] in self.run.peers else "")
            for row, one, interval in zip(rows, ranking.verdicts, ranking.intervals, strict=True)
        ]  # fmt: skip
        if not own and mode == "call":  # an engine's call has no checks: the same as without them
            entries += self._against(key, count, rows_of("engine", count), ranking)
        entries.sort(key=lambda entry: (not entry.timed, number(entry.row["seconds"])))
        timed = {one.method for one in entries if one.kind == "method" and one.timed and self._exact(one.method)}
        view = View(key, entries, ranking.fastest, ranking.best, timed == set(ranking.fastest) and len(timed) == 1)
        said = (self._speed(view), self._engines(view), self.agreed(robot, quantity, code))
        return replace(view, said=said)

    def _exact(self, method: str) -> bool:
        return self.run.facts["methods"].get(method, {}).get("exact") is not False

    def _against(self, key: Key, count: str, rows: Iterable[Record], ranking: Ranking) -> list[Entry]:
        """Own calls of engines in a view whose group they are not measured in: by the stored ratio to the fastest."""
        robot, quantity, mode, code = key
        found = []
        for row in rows:
            best = ranking.fastest[0] if ranking.fastest else ""
            stored = [self._ratios.get((robot, quantity, mode, count, best, row["method"], c)) for c in (code, "")]
            ratio = next((one for one in stored if one), None)
            value, low, high = (number(ratio[name]) if ratio else math.nan for name in ("ratio", "low", "high"))
            verdict = {FASTER: SLOWER, SLOWER: FASTER}.get(said := ratio["verdict"] if ratio else "", said)
            called = self.called(row["method"], quantity, mode)
            found.append(Entry(row["method"], self._kind(row), row, verdict, value, low, high, called))
        return found

    def _kind(self, row: Record) -> str:
        if row["label"] != row["method"]:
            return "again"
        if row["method"] in self.run.floors:
            return "floor"
        if row["method"] in self.run.peers:
            return "own" if row["mode"] in COMPARED_WITH else "wrapper"
        return "method"

    def _speed(self, view: View) -> str:
        robot, quantity, mode, _ = view.key
        what = f"the {words(quantity)} of {robot}, {self.phrase(mode)}"
        if not view.fastest:
            disturbed = any(outcome(one.row) is Outcome.DISTURBED for one in view.entries)
            why = "every time was disturbed" if disturbed else "no exact method was timed"
            return f"No winner for {what}: {why}."
        if view.only:
            return f"{view.fastest[0]} is the only formulation timed for {what}: {seconds(view.best)} a state."
        if len(view.fastest) == 1:
            return f"{self._name(view, view.fastest[0])} is the fastest for {what}: {seconds(view.best)} a state."
        names = [self._name(view, name) for name in view.fastest]
        more = [f"{len(names) - NAMED + 1} more"] if len(names) > NAMED else []
        shown = listed([*names[: NAMED - len(more)], *more])
        last = max(number(one.row["seconds"]) for one in map(view.entry, view.fastest) if one is not None)
        span = f"{seconds(view.best)} to {seconds(last)}"
        return f"No single winner: {shown} are tied for {what}: {span} a state."

    def _name(self, view: View, method: str) -> str:
        entry = view.entry(method)
        return f"{method} ({entry.called})" if entry is not None and entry.called else method

    def _engines(self, view: View) -> str:
        """What the own calls of engines take; those of our wrappers make no headline."""
        own = [one for one in view.entries if one.kind == "own" and one.method not in view.fastest]
        judged = [one for one in own if one.timed and one.verdict in (SLOWER, FASTER, NO_DIFFERENCE)]
        parts = [
            f"{one.method} ({one.called}) takes {one.ratio:.3g} times as long [{one.low:.3g} to {one.high:.3g}]"
            for one in judged
            if one.verdict != NO_DIFFERENCE
        ]
        parts += [f"{one.method} ({one.called}) does not differ" for one in judged if one.verdict == NO_DIFFERENCE]
        said = f"Of the engines, {listed(parts)}." if parts else ""
        disturbed = [one.method for one in own if outcome(one.row) is Outcome.DISTURBED]
        if disturbed:
            said += f" {listed(disturbed)}: disturbed, not judged."
        if not own and not any(one.kind == "own" for one in view.entries):
            said = "No other engine was timed here by its own call."
        return said.strip()

    @cached_property
    def agreement(self) -> dict[tuple[str, str, str], dict[str, Agreement]]:
        """For each robot, quantity and tier, how methods agree with the exact ones."""
        exact = {name: about.get("exact") is not False for name, about in self.run.facts["methods"].items()}
        errors: dict[tuple[str, str, str], dict[str, list[tuple[float, str, bool]]]] = {}
        for row in self.run["agreement"]:
            if not row["other"] or not known(row["value"]):
                continue
            first, second = (row["method"], row.get("code", "")), (row["other"], row.get("other_code", ""))
            for (one, its), (two, other) in ((first, second), (second, first)):
                if not exact.get(two, True) or (other == TRACED != its):
                    continue  # generic code is not judged by traced code
                for code in [its] if its in self.codes else self.codes:
                    mine = errors.setdefault((row["robot"], row["quantity"], code), {})
                    mine.setdefault(one, []).append((number(row["value"]), two, outcome(row).failure))
        return {
            key: {
                name: Agreement(median(e[0] for e in found), *max(found)[:2], any(e[2] for e in found))
                for name, found in mine.items()
            }
            for key, mine in errors.items()
        }

    def agreed(self, robot: str, quantity: str, code: str) -> str:
        """Whether the exact methods agree on a robot and a quantity, in a sentence."""
        mine = [row for row in self._pairs.get((robot, quantity), ()) if in_tier(row, code)]
        pairs = [row for row in mine if row["status"] in ("agrees", "differs", "failed")]
        wrong = [row for row in pairs if outcome(row).failure]
        if wrong:
            first = max(wrong, key=lambda row: number(row["value"]))
            return (
                f"{plural(len(wrong), 'comparison')} of {len(pairs)} did not pass: {first['method']} and "
                f"{first['other']} differ by {number(first['value']):.0e}."
            )
        held = [row for row in pairs if known(row["value"])]
        if not held:
            return "There are no two exact methods to compare here."
        names = unique(name for row in held for name in (row["method"], row["other"]))
        worst = max(held, key=lambda row: number(row["value"]))
        count = (
            "Both" if len(names) == 2 else f"All {len(names)}" if len(names) > 1 else "Traced and generic code of the"
        )
        return f"{count} exact methods agree to at least {digits(number(worst['value']))} digits."

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], list[Record]]:
        found: dict[tuple[str, str], list[Record]] = {}
        for row in self.run["agreement"]:
            if row["other"]:
                found.setdefault((row["robot"], row["quantity"]), []).append(row)
        return found


def in_tier(row: Record, code: str) -> bool:
    """Whether a comparison belongs to a tier: any with traced code to that tier, all others to the other."""
    return (TRACED in (row.get("code", ""), row.get("other_code", ""))) == (code == TRACED)


def times(ratio: float) -> str:
    """A ratio in few digits: 1.04, 1.3, 15, 230; a dash for none."""
    if not math.isfinite(ratio):
        return "–"
    if ratio < 9.95:
        return f"{ratio:.2f}" if ratio < 1.095 and f"{ratio:.2f}" != "1.00" else f"{ratio:.1f}".removesuffix(".0")
    return f"{ratio:.0f}"


def digits(error: float) -> int:
    """Whole decimal digits that a relative error leaves."""
    return max(0, math.floor(-math.log10(error))) if error > 0.0 else 16


def off_by(error: float) -> str:
    """The error of an approximate method in few characters."""
    return f"≈ {100.0 * error:.2g} %" if error >= 5e-4 else f"≈ {digits(error)}"


def tied(entry: Entry) -> bool:
    """Whether an entry is among the fastest."""
    return entry.kind in ("method", "own") and entry.verdict in (FASTEST, NO_DIFFERENCE)
