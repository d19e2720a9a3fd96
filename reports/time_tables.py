"""Tables of times: what has one, one state by robots and methods, growth with size, start-up, work over precision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.schema import SCALING, STARTUP, TIMING, WORK_PRECISION
from dynbench.benchmarks.results.verdicts import FASTEST, NO_DIFFERENCE
from dynbench.reports.figures import OWN_CALL
from dynbench.reports.grids import SEVERITY, Cell, Grid, Head, Line, heads, look_of, numeric, texts
from dynbench.reports.rows import (
    Record,
    StoredRun,
    each_tier,
    in_tier,
    known,
    number,
    outcome,
    percent,
    seconds,
    unique,
    words,
)

# An engine's own call stands in the same table as the calls it answers
SHOWN_WITH = {own: mode for mode, own in OWN_CALL.items()}
MODES = {
    "call": "one state, checked call",
    "unchecked": "one state, unchecked handle",
    "batch": "per state in a batch of {rows}, one thread",
    "threads": "per state in a batch of {rows}, all threads",
}
TWIN = " (again)"
NO_CALL = "this engine has no such call of its own"
NO_TWIN = "of each line, only the first method that can do it is timed twice"


def coverage(run: StoredRun) -> Grid:
    """Methods in each tier by robots: whether all, some or none of the quantities have a time, and why not."""
    grid = Grid("coverage", "Methods by robots", [Head("method"), *map(Head, run.robots)])
    by_pair: dict[tuple[str, str, str], list[Record]] = {}
    tiers: dict[str, set[str]] = {}
    for row in run["timing"]:
        if row["label"] == row["method"]:
            by_pair.setdefault((row["method"], row["code"], row["robot"]), []).append(row)
            tiers.setdefault(row["method"], set()).add(row["code"])
    for method in run.methods:
        for code in sorted(tiers.get(method, {""})):
            cells = (_covered(grid, by_pair.get((method, code, robot), [])) for robot in run.robots)
            grid.lines.append(Line([Cell(in_tier(method, code)), *cells], method))
    return grid


def _covered(grid: Grid, rows: Sequence[Record]) -> Cell:
    """The cell of a method and a robot, from its rows of timing.csv; text and look follow from the outcomes."""
    asked = unique(row["quantity"] for row in rows)
    timed = [q for q in asked if any(row["quantity"] == q and outcome(row) is Outcome.NUMBER for row in rows)]
    if not rows:
        return grid.absent("no row of the run names this robot with this method", text="no")
    missing = [row for row in rows if row["quantity"] not in timed]
    offered = {row["quantity"] for row in rows if outcome(row) is not Outcome.UNSUPPORTED}
    if timed and offered == set(timed):
        rest = ", ".join(words(quantity) for quantity in asked if quantity not in timed)
        return Cell("ok", "good", grid.note(f"does not compute {rest}") if rest else 0, 1.0)
    reasons: dict[str, list[str]] = {}
    for row in missing:
        if words(row["quantity"]) not in reasons.setdefault(row["reason"], []):
            reasons[row["reason"]].append(words(row["quantity"]))
    whole = len(reasons) == 1 and not timed
    note = "; ".join(reason if whole else f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    worst = max((outcome(row) for row in missing), key=SEVERITY.index)
    text = f"{len(timed)} of {len(asked)}" if timed else "no" if worst is Outcome.UNSUPPORTED else worst.value
    look = "part" if timed and not worst.failure else look_of(worst)
    return Cell(text, look, grid.note(note), len(timed) / len(asked))


@each_tier
def times(run: StoredRun) -> list[Grid]:
    """For each quantity and mode, robots by methods: the time, and how many times the fastest it is."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for row in run["timing"]:
        groups.setdefault((row["quantity"], SHOWN_WITH.get(row["mode"], row["mode"]), row["rows"]), []).append(row)
    return [_times(run, *key, mine) for key, mine in groups.items() if key[1:] in shown_modes(run)]


def time_lines(run: StoredRun) -> Grid:
    """Every row of timing.csv that has a time or lost it: one line each, whatever the quantity and mode."""
    tiers = ("code",) * any(row.get("code") for row in run["timing"])
    named = ("robot", "label", "quantity", "mode", "rows", *tiers)
    columns = heads(TIMING, *named, "seconds", "95 % interval", "times_best", "its 95 % interval", "verdict", "noise")
    columns[1] = replace(columns[1], by="method")
    grid = Grid("timing-lines", "Times of one state", columns)
    for row in run["timing"]:
        ended = outcome(row)
        if ended in (Outcome.UNSUPPORTED, Outcome.LEFT_OUT):
            continue
        told = [Cell(row["robot"]), Cell(_label(row)), *texts(row, *named[2:])]
        if not known(row["seconds"]):
            cells = [grid.absent(row["reason"], ended), *[Cell("–")] * 5]
        else:
            value, low, high = (number(row[name]) for name in ("seconds", "low", "high"))
            times_best = number(row["times_best"])
            bounds = [number(row[name]) for name in ("times_best_low", "times_best_high")]
            span = f"{bounds[0]:.3g} to {bounds[1]:.3g}" if all(map(math.isfinite, bounds)) else "–"
            look = {FASTEST: "good", NO_DIFFERENCE: "tie"}.get(row["verdict"], "")
            interval = f"{seconds(low)} to {seconds(high)}" if known(row["low"], row["high"]) else "–"
            verdict = Cell(row["verdict"] or "–", look) if not row["reason"] else grid.absent(row["reason"], ended)
            cells = [Cell(seconds(value), value=value), Cell(interval),
                     Cell(f"{times_best:.3g}" if math.isfinite(times_best) else "–", value=times_best), Cell(span),
                     verdict, _noise([row])]  # fmt: skip
        grid.lines.append(Line([*told, *cells], row["method"]))
    return grid


def shown_modes(run: StoredRun) -> list[tuple[str, str]]:
    """One size of batch for each mode: the figures have all sizes, and so has timing.csv."""
    threads = max((row["rows"] for row in run["timing"] if row["mode"] == "threads"), key=int, default="")
    return [("call", "1"), ("unchecked", "1"), ("batch", run.batch_size), ("threads", threads)]


def _times(run: StoredRun, quantity: str, mode: str, count: str, rows: Sequence[Record]) -> Grid:
    columns = unique(_label(row) for row in rows)
    of = {_label(row): row["method"] for row in rows}
    first, last = heads(TIMING, "robot", "noise")
    shown = [first, *(Head(label, of[label]) for label in columns), last]
    grid = Grid(f"times-{quantity}-{mode}", f"{words(quantity)}: {MODES[mode].format(rows=count)}", shown)
    for robot in unique(row["robot"] for row in rows):
        mine = {_label(row): row for row in rows if row["robot"] == robot}
        if all(outcome(row) in (Outcome.UNSUPPORTED, Outcome.LEFT_OUT) for row in mine.values()):
            continue
        cells = [
            grid.absent(NO_TWIN) if label.endswith(TWIN) and label not in mine else _time(grid, mine.get(label))
            for label in columns
        ]
        grid.lines.append(Line([Cell(robot), *cells, _noise(mine.values())]))
    return grid


def _noise(rows: Iterable[Record]) -> Cell:
    noise = max((number(row["noise"]) for row in rows if known(row["noise"])), default=math.nan)
    return Cell(percent(noise), value=noise)


def _label(row: Record) -> str:
    return f"{row['label']}, own call" if row["mode"].startswith("engine") else row["label"]


def _time(grid: Grid, row: Record | None) -> Cell:
    if row is None:
        return grid.absent(NO_CALL)
    if outcome(row) is not Outcome.NUMBER:
        return grid.absent(row["reason"], outcome(row))
    times_best, value = number(row["times_best"]), number(row["seconds"])
    look = {FASTEST: "good", NO_DIFFERENCE: "tie"}.get(row["verdict"], "")
    ratio = f" ({times_best:.3g}×)" if math.isfinite(times_best) and times_best > 1.0 else ""
    return Cell(seconds(value) + ratio, look, value=value, fastest=bool(look))


def startup(run: StoredRun) -> Grid:
    """What a method costs before its first result; of break-evens those of one size of batch, as in other tables."""
    shown = f"batches of {run.batch_size}"
    named = ("method", "robot", "quantity", "measure")
    grid = Grid("startup", "before the first result", heads(STARTUP, *named, "value"))
    for row in run["startup"]:
        if row["measure"].startswith("break-even") and not row["measure"].endswith(shown):
            continue
        value = number(row["value"])
        unit = {"s": seconds(value), "B": f"{value / 1e6:.0f} MB"}.get(row["unit"], f"{value:.4g} {row['unit']}")
        last = Cell(unit, value=value) if known(row["value"]) else grid.absent(row["reason"], outcome(row))
        grid.lines.append(Line([*texts(row, *named), last], row["method"]))
    return grid


def growth(run: StoredRun) -> Grid:
    """Time per state by size: a line for each family, quantity and method."""
    points = [row for row in run["scaling"] if row["measure"] != "exponent" and known(row["value"], row["size"])]
    sizes = sorted({int(row["size"]) for row in points})
    tiers = ("code",) * any(row.get("code") for row in points)
    named = ("family", "quantity", *tiers, "method")
    grid = Grid("growth", "Time of one state by size N", [*heads(SCALING, *named), *(Head(f"N = {n}") for n in sizes)])
    lines: dict[tuple[str, ...], dict[int, Record]] = {}
    for row in points:
        lines.setdefault(tuple(row.get(name, "") for name in named), {})[int(row["size"])] = row
    for found in lines.values():
        first = next(iter(found.values()))
        cells = [Cell(seconds(v := number(found[n]["value"])), value=v) if n in found else Cell("–") for n in sizes]
        grid.lines.append(Line([*texts(first, *named), *cells], first["method"]))
    return grid


def exponents(run: StoredRun) -> Grid:
    """Exponents of time over N with their intervals."""
    named = ("family", "quantity", "method", "code")
    title = "time per state grows as N to the power of"
    grid = Grid("exponents", title, heads(SCALING, *named, "exponent", "95 % interval", "fitted"))
    for row in run["scaling"]:
        if row["measure"] == "exponent":
            if known(row["value"]):
                low, high = number(row["low"]), number(row["high"])
                interval = Cell(f"{low:.2f} to {high:.2f}", value=low)
                cells = [numeric(row["value"], ".2f"), interval, Cell(row["unit"].rpartition(", ")[2])]
            else:
                cells = [grid.absent(row["reason"], outcome(row)), Cell("–", "none"), Cell("–", "none")]
            grid.lines.append(Line([*texts(row, *named), *cells], row["method"]))
    return grid


def precision(run: StoredRun) -> Grid:
    """Every point of work over precision, or why there is none."""
    named = ("scenario", "robot", "method", "options", "solver", "rtol")
    grid = Grid(
        "work-precision", "Work and precision", heads(WORK_PRECISION, *named, "error", "evaluations", "seconds")
    )
    for row in run["work_precision"]:
        error = grid.absent(row["reason"], outcome(row)) if row["reason"] else numeric(row["error"], ".2e")
        spent = Cell(seconds(number(row["seconds"])), value=number(row["seconds"]))
        numbers = [error, numeric(row["evaluations"], ".0f"), spent]
        grid.lines.append(Line([*texts(row, *named), *numbers], row["method"]))
    for k, head in enumerate(grid.heads):
        if head.by == "robot":  # a scenario has its own robot, whichever is chosen
            grid.heads = [*grid.heads[:k], replace(head, by=""), *grid.heads[k + 1 :]]
    return grid
