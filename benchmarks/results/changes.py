"""Which methods became slower or faster between two runs, beyond noise and beyond the machine's own drift.

A cell's change is the logarithm of its time in B over that in A, both of a quiet core (`quiet`). Still, cells scatter,
some wildly, and all of them drift together when the machine is slower.

    location    Hodges-Lehmann: the median of the means of all pairs of cells; a quarter of the cells may be wild
    drift       of the machine, for each kind of mode: the median over the *other* methods of their locations
    scatter     of cells about their method's location, 1.4826 MAD: the method's own, moderated towards that of all
                cells as if `PRIOR` more cells had shown the latter (Smyth, 2004, has this for genes)
    between     what the other methods' locations scatter by beyond what their cells explain (as in a random-effects
                meta-analysis): does not shrink with the number of cells

A method's location less the drift is then held, by Student's t with standard error sqrt(scatter^2/n + between^2), to
the question whether it exceeds the threshold (and not merely zero: code that is moved in memory changes by a few per
cent). The same is asked of its parts, by quantity and mode over robots and by robot and quantity over modes. The
answers are corrected for their number by Holm's rule. A cell alone counts only if its intervals are apart, it is
beyond the A/A noise of both runs, and `ALONE` times further out than any cell of the other methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from dynbench.robots.robot import FloatArray

LEVEL = 0.05  # of the family-wise error
FLOOR = 0.01  # scatter is never taken to be below 1 %: code that moves in memory changes by as much
PRIOR = 4.0
ALONE = 2.0
# One cell changes with the process it was measured in, on a quiet machine too: see docs/comparing-runs.md
ALONE_LEAST = 0.25
MANY = 20  # cells of other methods that it takes to know how far out one can be
FEWEST = 3  # cells that a location needs
# the rest: "batch"
KINDS = {"call": "single", "unchecked": "single", "engine": "single", "threads": "threads", "engine-threads": "threads"}
ENGINE = ("engine", "engine-batch")
SHARED = "every method of ours"


@dataclass(frozen=True)
class Change:
    """What became of a method's time, or a part of it: factors, above one is slower, the drift taken out."""

    who: str
    cells: int
    factor: float
    low: float  # 95 % interval of the factor
    high: float
    drift: float  # factor of the machine that was taken out
    p: float  # corrected
    verdict: str  # "slower", "faster", "within the noise", "too few cells"


@dataclass(frozen=True)
class CellChange:
    """A single cell that changed: its times with their 95 % intervals, in s."""

    cell: tuple[str, ...]
    a: tuple[float, float, float]
    b: tuple[float, float, float]
    factor: float  # the drift taken out
    verdict: str


@dataclass(frozen=True)
class Judgement:
    """What `judge` found; ``drift`` by kind of mode."""

    drift: dict[str, float]
    scatter: float
    methods: list[Change]
    parts: list[Change]  # method x quantity x mode, method x robot x quantity
    shared: list[Change]  # at most one: our methods together, against other engines' own calls
    cells: list[CellChange]

    def slower(self) -> Iterator[Change | CellChange]:
        """Yield whatever is a regression."""
        yield from (change for change in (*self.methods, *self.parts, *self.shared) if change.verdict == "slower")
        yield from (change for change in self.cells if change.verdict == "slower")


def location(values: FloatArray) -> float:
    """Return the Hodges-Lehmann estimate of where values lie; the median when there are very many."""
    if len(values) > 500:
        return float(np.median(values))
    i, j = np.triu_indices(len(values))
    return float(np.median((values[i] + values[j]) / 2.0))


def scatter(residuals: FloatArray, fitted: int = 1) -> float:
    """Return the robust standard deviation of residuals about so many fitted locations, at least `FLOOR`."""
    free = len(residuals) - fitted
    if free < 1:
        return FLOOR
    return max(FLOOR, 1.4826 * float(np.median(np.abs(residuals))) * math.sqrt(len(residuals) / free))


def judge(cells: pd.DataFrame, threshold: float = 0.03, ours: Sequence[str] = ()) -> Judgement:
    """Judge the cells that have a time in both runs.

    Parameters
    ----------
    cells : DataFrame
        A row for each, with ``robot, label, quantity, mode, rows, method`` and, for each run, ``seconds, low, high,
        noise, passes`` with ``_a`` or ``_b`` appended.
    threshold : float
        The smallest relative change that counts.
    ours : names of methods
        Those that share code with each other, for `SHARED`.
    """
    if cells.empty:
        return Judgement({}, math.nan, [], [], [], [])
    table = cells.assign(
        change=np.log(cells["seconds_b"] / cells["seconds_a"]),
        kind=[KINDS.get(mode, "batch") for mode in cells["mode"]],
    )
    drifts = _Drifts(table)
    whose = table[["method", "kind"]].itertuples(index=False)
    table["drift"] = [drifts.without(method, kind) for method, kind in whose]
    table["moved"] = table["change"] - table["drift"]
    residuals = table["moved"] - table.groupby("method", sort=False)["moved"].transform(_located)
    spread = scatter(residuals.to_numpy(), table["method"].nunique())
    methods = _changes(table, ["method"], threshold, spread)
    parts = [
        change
        for by in (["method", "quantity", "mode"], ["method", "robot", "quantity"])
        for change in _changes(table, by, threshold, spread)
    ]
    others = {name: residuals[table["method"] != name].abs() for name in table["method"].unique()}
    furthest = {name: float(rest.max()) if len(rest) >= MANY else math.inf for name, rest in others.items()}
    alone = [_alone(row, threshold, ALONE * furthest[row["method"]]) for row in table.to_dict("records")]
    found = [change for change in alone if change is not None]
    return Judgement(drifts.machine(), spread, methods, parts, _shared(table, threshold, ours), found)


def _located(values: pd.Series[float]) -> float:
    return location(values.to_numpy())


class _Drifts:
    """Of the machine, as the methods' locations in each kind of mode show it."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.places = {
            (str(method), str(kind)): location(group["change"].to_numpy())
            for (method, kind), group in table.groupby(["method", "kind"], sort=False)
        }

    def without(self, method: str, kind: str) -> float:
        """What the others show; zero if there are none."""
        others = {whose: place for whose, place in self.places.items() if whose[0] != method}
        same = [place for whose, place in others.items() if whose[1] == kind]
        return float(np.median(same or list(others.values()))) if others else 0.0

    def machine(self) -> dict[str, float]:
        """What all of them show, as factors."""
        kinds = dict.fromkeys(kind for _, kind in self.places)
        return {kind: math.exp(np.median([p for (_, k), p in self.places.items() if k == kind])) for kind in kinds}


def _changes(table: pd.DataFrame, by: list[str], threshold: float, spread: float) -> list[Change]:
    """Judge each group of cells, and correct for their number."""
    groups = {", ".join(map(str, key)): group for key, group in table.groupby(by, sort=False)}
    whose = np.array([group["method"].iloc[0] for group in groups.values()])
    sizes = np.array([len(group) for group in groups.values()])
    places = np.array([location(group["moved"].to_numpy()) for group in groups.values()])
    found = []
    for k, (who, group) in enumerate(groups.items()):
        rest = (whose != whose[k]) & (sizes >= min(FEWEST, sizes[k]))
        between = _between(places[rest], spread**2 / sizes[rest])
        drift = float(group["drift"].median())
        found.append(_change(who, group["moved"].to_numpy(), spread, between, drift, threshold))
    return _holm(found)


def _between(places: FloatArray, explained: FloatArray) -> float:
    """Return what locations scatter by beyond the variances that their cells explain, at least `FLOOR`."""
    if len(places) < 2:
        return FLOOR
    rest = scatter(places - np.median(places)) ** 2 - float(np.median(explained))
    return max(FLOOR, math.sqrt(max(rest, 0.0)))


def _change(who: str, moved: FloatArray, spread: float, between: float, drift: float, threshold: float) -> Change:
    place, n = location(moved), len(moved)
    if n < FEWEST:
        return Change(who, n, math.exp(place), math.nan, math.nan, math.exp(drift), math.nan, "too few cells")
    free = PRIOR + n - 1.0
    moderated = math.sqrt((PRIOR * spread**2 + (n - 1.0) * scatter(moved - place) ** 2) / free)
    error = math.hypot(moderated / math.sqrt(n), between)
    reach = float(stats.t.ppf(0.975, free)) * error
    p = float(stats.t.sf((abs(place) - math.log1p(threshold)) / error, free))
    side = "slower" if place > 0.0 else "faster"
    return Change(who, n, math.exp(place), math.exp(place - reach), math.exp(place + reach), math.exp(drift), p, side)


def _holm(changes: Sequence[Change]) -> list[Change]:
    """Return the changes with corrected p, those that do not stand called "within the noise"."""
    tested = sorted((change for change in changes if change.verdict != "too few cells"), key=lambda change: change.p)
    corrected: dict[str, float] = {}
    largest = 0.0
    for k, change in enumerate(tested):
        largest = max(largest, min(1.0, change.p * (len(tested) - k)))
        corrected[change.who] = largest
    return [
        change
        if change.who not in corrected
        else replace(
            change,
            p=corrected[change.who],
            verdict=change.verdict if corrected[change.who] <= LEVEL else "within the noise",
        )
        for change in changes
    ]


def _shared(table: pd.DataFrame, threshold: float, ours: Sequence[str]) -> list[Change]:
    """Judge our methods together against other engines' own calls, which our sources cannot slow down.

    A change of shared code looks like drift to the methods, for it moves all of them.
    """
    engines = table[table["mode"].isin(ENGINE)]
    mine = table[table["method"].isin(ours) & (table["kind"] != "threads")]  # engines are timed on one thread only
    if len(engines) < FEWEST or len(mine) < FEWEST:
        return []
    by_kind = {str(kind): location(group["change"].to_numpy()) for kind, group in engines.groupby("kind")}
    anywhere = location(engines["change"].to_numpy())
    moved = mine["change"] - [by_kind.get(kind, anywhere) for kind in mine["kind"]]
    places = np.array([location(group.to_numpy()) for _, group in moved.groupby(mine["method"])])
    theirs = engines["change"] - [by_kind[kind] for kind in engines["kind"]]
    own = scatter((moved - location(moved.to_numpy())).to_numpy())
    between = math.hypot(scatter(places - np.median(places)), scatter(theirs.to_numpy()) / math.sqrt(len(theirs)))
    return _holm([_change(SHARED, moved.to_numpy(), own, between, anywhere, threshold)])


def _alone(row: dict[str, Any], threshold: float, far: float) -> CellChange | None:
    """A cell that changed beyond any doubt, whatever its method does elsewhere."""
    moved, drift = row["moved"], math.exp(row["drift"])
    noise = math.hypot(*(math.log1p(row[f"noise_{run}"]) for run in "ab"))  # NaN, never measured, passes no test
    first, last = ("a", "b") if moved > 0.0 else ("b", "a")
    scale = {"a": drift, "b": 1.0}
    apart = row[f"low_{last}"] * scale[last] > row[f"high_{first}"] * scale[first] * (1.0 + threshold)
    if not (apart and abs(moved) > max(noise, far, ALONE_LEAST) and min(row["passes_a"], row["passes_b"]) > 1):
        return None
    named = ("robot", "label", "quantity", "mode", "rows", *["code"] * (row.get("code") == "traced"))
    key = tuple(str(row[name]) for name in named)
    bands = [tuple(float(row[f"{name}_{run}"]) for name in ("seconds", "low", "high")) for run in "ab"]
    return CellChange(key, bands[0], bands[1], math.exp(moved), "slower" if moved > 0.0 else "faster")  # type: ignore[arg-type]
