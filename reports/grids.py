"""Tables of a report as data: cells with a text, a look, and the number they sort by; reasons as numbered notes.

A column or row that belongs to a method says so, for the page hides it with the method. The template draws all of
them by one macro, `tex` and `markdown` write them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.verdicts import FASTEST, NO_DIFFERENCE
from dynbench.reports.figures import OWN_CALL
from dynbench.reports.rows import Record, Run, known, number, outcome, percent, seconds, short, unique, words

# An engine's own call stands in the same table as the calls it answers
SHOWN_WITH = {own: mode for mode, own in OWN_CALL.items()}
MODES = {
    "call": "one state, checked call",
    "unchecked": "one state, unchecked handle",
    "batch": "per state in a batch of {rows}, one thread",
    "threads": "per state in a batch of {rows}, all threads",
}
TWIN = " (again)"
# Outcomes from the least to the most serious: of several, a cell shows the last
SEVERITY = (Outcome.NUMBER, Outcome.UNSUPPORTED, Outcome.LEFT_OUT, Outcome.INTERRUPTED, Outcome.DISTURBED,
            Outcome.FAILED, Outcome.OUT_OF_MEMORY, Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.DISAGREED)  # fmt: skip
NO_CALL = "this engine has no such call of its own"
NO_TWIN = "of each line, only the first method that can do it is timed twice"


@dataclass(frozen=True)
class Cell:
    """Text, how it looks, the number of its note, and what it sorts by (the text, if NaN)."""

    text: str
    look: str = ""
    note: int = 0
    value: float = math.nan
    fastest: bool = False  # alone or tied: bold in LaTeX


@dataclass(frozen=True)
class Column:
    """A column's head, and the method it belongs to, if any."""

    text: str
    method: str = ""


@dataclass
class Line:
    """A row's cells; ``method`` and ``other`` if it belongs to one or two methods."""

    cells: list[Cell]
    method: str = ""
    other: str = ""


@dataclass
class Grid:
    """A table."""

    name: str
    title: str
    columns: Sequence[Column]
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, reason: str) -> int:
        """The number of a reason among the notes, added if new."""
        if reason not in self.notes:
            self.notes.append(reason)
        return self.notes.index(reason) + 1

    def absent(self, reason: str, ended: Outcome = Outcome.UNSUPPORTED, text: str = "") -> Cell:
        """A cell without a number: a failure is named and red, other outcomes are a dash."""
        shown = text or (ended.value if look_of(ended) != "none" else "–")
        return Cell(shown, look_of(ended), self.note(reason))


def look_of(ended: Outcome) -> str:
    """The look of a cell without a number: failures are red, what should be repeated is amber, the rest is grey."""
    if ended.failure:
        return "bad"
    return "part" if ended in (Outcome.INTERRUPTED, Outcome.DISTURBED) else "none"


def coverage(run: Run) -> Grid:
    """Methods by robots: whether all, some or none of the quantities have a time, and why not."""
    grid = Grid("coverage", "Methods by robots", [Column("method"), *map(Column, run.robots)])
    by_pair: dict[tuple[str, str], list[Record]] = {}
    for row in run["timing"]:
        if row["label"] == row["method"]:
            by_pair.setdefault((row["method"], row["robot"]), []).append(row)
    for method in run.methods:
        cells = (_covered(grid, by_pair.get((method, robot), [])) for robot in run.robots)
        grid.lines.append(Line([Cell(method), *cells], method))
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


def times(run: Run) -> list[Grid]:
    """For each quantity and mode, robots by methods: the time, and how many times the fastest it is."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for row in run["timing"]:
        groups.setdefault((row["quantity"], SHOWN_WITH.get(row["mode"], row["mode"]), row["rows"]), []).append(row)
    return [_times(run, *key, mine) for key, mine in groups.items() if key[1:] in _shown_modes(run)]


def _shown_modes(run: Run) -> list[tuple[str, str]]:
    """One size of batch for each mode: the figures have all sizes, and so has timing.csv."""
    threads = max((row["rows"] for row in run["timing"] if row["mode"] == "threads"), key=int, default="")
    return [("call", "1"), ("unchecked", "1"), ("batch", run.batch_size), ("threads", threads)]


def _times(run: Run, quantity: str, mode: str, count: str, rows: Sequence[Record]) -> Grid:
    columns = unique(_label(row) for row in rows)
    of = {_label(row): row["method"] for row in rows}
    heads = [Column("robot"), *(Column(label, of[label]) for label in columns), Column("noise")]
    grid = Grid(f"times-{quantity}-{mode}", f"{words(quantity)}: {MODES[mode].format(rows=count)}", heads)
    for robot in unique(row["robot"] for row in rows):
        mine = {_label(row): row for row in rows if row["robot"] == robot}
        if all(outcome(row) in (Outcome.UNSUPPORTED, Outcome.LEFT_OUT) for row in mine.values()):
            continue
        noise = max((number(row["noise"]) for row in mine.values() if known(row["noise"])), default=math.nan)
        cells = [
            grid.absent(NO_TWIN) if label.endswith(TWIN) and label not in mine else _time(grid, mine.get(label))
            for label in columns
        ]
        grid.lines.append(Line([Cell(robot), *cells, Cell(percent(noise), value=noise)]))
    return grid


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


def targets(run: Run) -> Grid:
    """The ratios that have a target."""
    heads = ("robot", "quantity", "mode", "method", "engine", "times faster", "noise", "target", "met")
    grid = Grid("targets", "Ratios that have a target", [Column(head) for head in heads])
    for row in run["ratios"]:
        if known(row["target"]):
            met = {"yes": "good", "no": "bad"}.get(row["met"], "tie")
            ratio = (
                grid.absent(row["reason"], outcome(row))
                if row["reason"]
                else Cell(f"{number(row['ratio']):.2f}", met, value=number(row["ratio"]))
            )
            said = [
                Cell(row["robot"]),
                Cell(words(row["quantity"])),
                Cell(row["mode"]),
                Cell(row["method"]),
                Cell(row["peer"]),
            ]
            target = Cell(f"{number(row['target']):.2f}", value=number(row["target"]))
            line = [
                *said,
                ratio,
                Cell(percent(number(row["noise"]))),
                target,
                Cell(row["met"] or "–", met if row["met"] else ""),
            ]
            grid.lines.append(Line(line, row["method"], row["peer"]))
    return grid


def ratios(run: Run) -> list[Grid]:
    """For each engine, quantity and mode, robots by methods: how many times faster than the engine's own call."""
    shown = _shown_modes(run)
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    for row in run["ratios"]:
        if (row["mode"], row["rows"]) in shown:
            groups.setdefault((row["peer"], row["quantity"], row["mode"], row["rows"]), []).append(row)
    grids = []
    for (peer, quantity, mode, count), rows in groups.items():
        names = [name for name in run.methods if any(row["method"] == name and known(row["ratio"]) for row in rows)]
        if not names:
            continue
        title = f"times faster than {peer}, {words(quantity)}: {MODES[mode].format(rows=count)}"
        heads = [Column("robot"), *(Column(name, name) for name in names), Column("noise")]
        grid = Grid(f"ratio-{peer}-{quantity}-{mode}", title, heads)
        for robot in unique(row["robot"] for row in rows):
            mine = {row["method"]: row for row in rows if row["robot"] == robot}
            if any(known(row["ratio"]) for row in mine.values()):
                noise = max((number(row["noise"]) for row in mine.values() if known(row["noise"])), default=math.nan)
                cells = [_ratio(grid, mine.get(name)) for name in names]
                grid.lines.append(Line([Cell(robot), *cells, Cell(percent(noise), value=noise)]))
        grids.append(grid)
    return grids


def _ratio(grid: Grid, row: Record | None) -> Cell:
    if row is None:
        return grid.absent("was not timed on the same")
    if not known(row["ratio"]):
        return grid.absent(row["reason"], outcome(row))
    ratio = number(row["ratio"])
    look = "tie" if row["verdict"] == NO_DIFFERENCE else "good" if ratio > 1.0 else ""
    return Cell(f"{ratio:.3g}", look, value=ratio)


def exponents(run: Run) -> Grid:
    """Exponents of time over N with their intervals."""
    heads = ("family", "quantity", "method", "exponent", "95 % interval", "fitted")
    grid = Grid("exponents", "time per state grows as N to the power of", [Column(head) for head in heads])
    for row in run["scaling"]:
        if row["measure"] == "exponent":
            said = [Cell(row["family"]), Cell(words(row["quantity"])), Cell(row["method"])]
            if known(row["value"]):
                low, high, value = (number(row[key]) for key in ("low", "high", "value"))
                fitted = row["unit"].rpartition(", ")[2]
                cells = [Cell(f"{value:.2f}", value=value), Cell(f"{low:.2f} to {high:.2f}", value=low), Cell(fitted)]
            else:
                cells = [grid.absent(row["reason"], outcome(row)), Cell("–", "none"), Cell("–", "none")]
            grid.lines.append(Line([*said, *cells], row["method"]))
    return grid


def counts(run: Run) -> tuple[Grid, Grid]:
    """Operations on each robot with the share of the peak; and as polynomials in N on families."""
    kinds = ("additions", "multiplications", "divisions", "square_roots", "sincos", "flops")
    heads = ["robot", "quantity", "method", *(kind.replace("_", " ") for kind in kinds)]
    found = Grid("counts", "operations of one evaluation", [Column(h) for h in [*heads, "GFLOP/s", "of the peak"]])
    grown = Grid("polynomials", "operations as polynomials in N", [Column(h) for h in heads])
    for row in run["counts"]:
        said = [Cell(row["robot"]), Cell(words(row["quantity"])), Cell(row["method"])]
        if not known(row["flops"]) and row["robot"].endswith("-N"):
            cells = [grown.absent(row["reason"], outcome(row)) if row["reason"] else Cell(row[kind]) for kind in kinds]
            grown.lines.append(Line([*said, *cells], row["method"]))
        elif row["reason"]:
            absent = found.absent(row["reason"], outcome(row))
            found.lines.append(Line([*said, *([absent] * (len(kinds) + 2))], row["method"]))
        else:
            share, rate = number(row["fraction"]), number(row["rate"]) / 1e9
            cells = [Cell(short(row[kind]), value=number(row[kind])) for kind in kinds]
            last = [Cell(f"{rate:.1f}" if known(row["rate"]) else "–", value=rate), Cell(percent(share), value=share)]
            found.lines.append(Line([*said, *cells, *last], row["method"]))
    return found, grown


def paper_counts(run: Run) -> Grid:
    """Operation counts that papers print, beside ours: a line for each way to count, a column for each size."""
    rows = run["paper_counts"]
    sizes = unique(row["n"] for row in rows)
    heads = ["paper", "what", "operations", "printed", "ours, how counted", *(f"ours / printed, n={n}" for n in sizes)]
    grid = Grid("paper-counts", "the papers' formulas, and what was counted", [Column(head) for head in heads])
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for row in rows:
        key = (row["paper"], row["quantity"], row["operations"], row["formula"], f"{row['ours']} ({row['counted']})")
        lines.setdefault(key, {})[row["n"]] = row
    for said, found in lines.items():
        cells = []
        for n in sizes:
            ours, theirs, ratio = (number(found[n][k]) for k in ("our_value", "printed_value", "ratio"))
            cells.append(Cell(f"{ours:.0f} / {theirs:.0f} = {ratio:.2f}", value=ratio))
        grid.lines.append(Line([*map(Cell, said), *cells]))
    return grid


def startup(run: Run) -> Grid:
    """What a method costs before its first result; of break-evens those of one size of batch, as in other tables."""
    shown = f"batches of {run.batch_size}"
    heads = ("method", "robot", "quantity", "measure", "value")
    grid = Grid("startup", "before the first result", [Column(head) for head in heads])
    for row in run["startup"]:
        if row["measure"].startswith("break-even") and not row["measure"].endswith(shown):
            continue
        said = [Cell(row["method"]), Cell(row["robot"]), Cell(words(row["quantity"])), Cell(row["measure"])]
        value = number(row["value"])
        unit = {"s": seconds(value), "B": f"{value / 1e6:.0f} MB"}.get(row["unit"], f"{value:.4g} {row['unit']}")
        last = Cell(unit, value=value) if known(row["value"]) else grid.absent(row["reason"], outcome(row))
        grid.lines.append(Line([*said, last], row["method"]))
    return grid
