"""Tables of a report as data: cells with a text, a look, and the number they sort by; reasons as notes of cells.

Headings and their tooltips are those of `schema`. A heading or line that belongs to a method names it, since the page
hides it with the method. The template draws all of them by one macro, `tex` and `markdown` write them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import orders
from dynbench.benchmarks.results.schema import (
    CLAIMS,
    COUNTS,
    ERRATA,
    OPERATIONS,
    PAPER_COUNTS,
    RATIOS,
    SCALING,
    STARTUP,
    TIMING,
    WORK_PRECISION,
    Table,
)
from dynbench.benchmarks.results.verdicts import FASTEST, NO_DIFFERENCE, OWN_CALLS
from dynbench.reports.figures import OWN_CALL
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
    short,
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
# Columns by which the page chooses lines
CHOICES = {name: name for name in ("robot", "quantity", "mode", "code", "method", "other", "family")} | {
    "peer": "other"
}
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
class Head:
    """The heading of a column, the method it belongs to (if any), and what the page shows on hovering over it.

    ``by`` is the choice of the page (robot, quantity, mode, code, method, other, family) that its cells name: the page
    shows the lines of what is chosen.
    """

    text: str
    method: str = ""
    tooltip: str = ""
    by: str = ""


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
    heads: Sequence[Head]
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


def heads(table: Table, *names: str) -> list[Head]:
    """Return the headings of columns of a table; a name that is no column is a heading as it stands."""
    known = {
        column.name: Head(column.heading, tooltip=column.tooltip, by=CHOICES.get(column.name, ""))
        for column in table.columns
    }
    return [known.get(name) or Head(name) for name in names]


def texts(row: Record, *names: str) -> list[Cell]:
    """Return columns of a row as they are, quantities in words, a dash for what is empty."""
    return [Cell(words(row[name]) if name == "quantity" else row[name] or "–") for name in names]


def numeric(text: str, form: str, look: str = "") -> Cell:
    """Return a number in a format, a dash for none."""
    return Cell(format(number(text), form) if known(text) else "–", look, value=number(text))


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
    return [_times(run, *key, mine) for key, mine in groups.items() if key[1:] in _shown_modes(run)]


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


def _shown_modes(run: StoredRun) -> list[tuple[str, str]]:
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


def targets(run: StoredRun) -> Grid:
    """The ratios that have a target."""
    named = ("robot", "quantity", "mode", "method", "code", "peer")
    columns = heads(RATIOS, *named, "peer_call", "ratio", "low", "high", "target", "met")
    grid = Grid("targets", "Ratios that have a target", columns)
    for row in run["ratios"]:
        if known(row["target"]):
            look = {"yes": "good", "no": "bad"}.get(row["met"], "tie")
            absent = bool(row["reason"])
            ratio = grid.absent(row["reason"], outcome(row)) if absent else numeric(row["ratio"], ".2f", look)
            met = Cell(row["met"], look) if row["met"] else Cell("–")
            low, high, target = (numeric(row[name], ".2f") for name in ("low", "high", "target"))
            cells = [*texts(row, *named, "peer_call"), ratio, low, high, target, met]
            grid.lines.append(Line(cells, row["method"], row["peer"]))
    return grid


@each_tier
def ratios(run: StoredRun) -> list[Grid]:
    """For each engine, call of it, quantity and mode, robots by methods: how many times faster, with the interval."""
    shown = _shown_modes(run)
    groups: dict[tuple[str, str, str, str, str], list[Record]] = {}
    for row in run["ratios"]:
        if (row["mode"], row["rows"]) in shown:
            head = (row["peer"], row["peer_call"], row["quantity"], row["mode"], row["rows"])
            groups.setdefault(head, []).append(row)
    grids = []
    for (peer, called, quantity, mode, count), rows in groups.items():
        names = [name for name in run.methods if any(row["method"] == name and known(row["ratio"]) for row in rows)]
        if not names:
            continue
        title = f"times faster than {peer} ({called}), {words(quantity)}: {MODES[mode].format(rows=count)}"
        columns = [*heads(RATIOS, "robot"), *(Head(name, name) for name in names)]
        wrapped = "" if called in OWN_CALLS else "-wrapper"
        grid = Grid(f"ratio-{peer}-{quantity}-{mode}{wrapped}", title, columns)
        for robot in unique(row["robot"] for row in rows):
            mine = {row["method"]: row for row in rows if row["robot"] == robot}
            if any(known(row["ratio"]) for row in mine.values()):
                cells = [_ratio(grid, mine.get(name)) for name in names]
                grid.lines.append(Line([Cell(robot), *cells]))
        grids.append(grid)
    return grids


def ratio_lines(run: StoredRun) -> Grid:
    """Every ratio to another engine that has a number, with what of the engine was called."""
    tiers = ("code",) * any(row.get("code") for row in run["ratios"])
    named = ("robot", "quantity", "mode", "rows", *tiers, "method", "peer", "peer_call")
    columns = heads(RATIOS, *named, "ratio", "95 % interval", "shared", "verdict")
    grid = Grid("ratio-lines", "Times faster than other engines", columns)
    for row in run["ratios"]:
        if known(row["ratio"]):
            interval = f"{number(row['low']):.3g} to {number(row['high']):.3g}" if known(row["low"]) else "–"
            ended = outcome(row)
            judged = Cell(row["verdict"] or "–", "tie" if row["verdict"] in (NO_DIFFERENCE, "") else "")
            last = judged if ended is Outcome.NUMBER else grid.absent(row["reason"], ended)
            numbers = [numeric(row["ratio"], ".3g"), Cell(interval), numeric(row["shared"], ".3g"), last]
            grid.lines.append(Line([*texts(row, *named), *numbers], row["method"], row["peer"]))
    return grid


def _ratio(grid: Grid, row: Record | None) -> Cell:
    if row is None:
        return grid.absent("was not timed on the same")
    if outcome(row) is not Outcome.NUMBER:
        return grid.absent(row["reason"], outcome(row))
    ratio = number(row["ratio"])
    look = "tie" if row["verdict"] in (NO_DIFFERENCE, "") else "good" if ratio > 1.0 else ""
    interval = f" [{number(row['low']):.3g}, {number(row['high']):.3g}]" if known(row["low"]) else ""
    return Cell(f"{ratio:.3g}{interval}", look, value=ratio)


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


def counts(run: StoredRun) -> tuple[Grid, Grid]:
    """Operations on each robot with the share of the peak; and as polynomials in N on families."""
    named = ("robot", "quantity", "method", "code")
    shared = heads(COUNTS, *named, *OPERATIONS)
    rate = Head("GFLOP/s", tooltip=COUNTS["rate"].tooltip)
    found = Grid("counts", "operations of one evaluation", [*shared, rate, *heads(COUNTS, "fraction")])
    grown = Grid("polynomials", "operations as polynomials in N", shared)
    for row in run["counts"]:
        if not known(row["flops"]) and row["robot"].endswith("-N"):
            absent = grown.absent(row["reason"], outcome(row)) if row["reason"] else None
            cells = [absent or Cell(row[kind]) for kind in OPERATIONS]
            grown.lines.append(Line([*texts(row, *named), *cells], row["method"]))
        elif row["reason"]:
            cells = [found.absent(row["reason"], outcome(row))] * (len(OPERATIONS) + 2)
            found.lines.append(Line([*texts(row, *named), *cells], row["method"]))
        else:
            share, speed = number(row["fraction"]), number(row["rate"]) / 1e9
            cells = [Cell(short(row[kind]), value=number(row[kind])) for kind in OPERATIONS]
            last = [Cell(f"{speed:.1f}" if known(row["rate"]) else "–", value=speed), Cell(percent(share), value=share)]
            found.lines.append(Line([*texts(row, *named), *cells, *last], row["method"]))
    return found, grown


def traced_counts(run: StoredRun) -> Grid:
    """Operations before and after tracing, and the place of each exact method by them; the title says what changes."""
    found = orders.beside(run["counts"])
    said = orders.sentence(run["counts"], run.facts["methods"])
    title = f"operations before and after tracing. {said}".strip()
    named = heads(COUNTS, "robot", "quantity", "method")
    words_ = ("generic code", "traced code", "left", "place before", "place after")
    grid = Grid("traced-counts", title, [*named, *map(Head, words_)])
    ranked = {(order.robot, order.quantity): order for order in orders.orders(found, run.facts["methods"])}
    for one in found:
        order = ranked.get((one.robot, one.quantity))
        places = [side.index(one) + 1 for side in (order.before, order.after)] if order and one in order.before else []
        moved = "tie" if len(set(places)) == 2 else ""
        share = one.traced / one.generic if one.generic else math.nan
        cells = [Cell(one.robot), Cell(words(one.quantity)), Cell(one.method),
                 *(Cell(f"{count:.0f}", value=count) for count in (one.generic, one.traced)),
                 Cell(percent(share), value=share),
                 *(Cell(str(place), moved, value=place) for place in places or ())]  # fmt: skip
        cells += [Cell("–", "none")] * (len(grid.heads) - len(cells))
        grid.lines.append(Line(cells, one.method))
    return grid


def paper_counts(run: StoredRun) -> Grid:
    """Operation counts that papers print, beside ours: a line for each way to count, a column for each size."""
    sizes = unique(row["n"] for row in run["paper_counts"])
    (ratio,) = heads(PAPER_COUNTS, "ratio")
    columns = [replace(ratio, text=f"{ratio.text}, n={n}") for n in sizes]
    named = heads(PAPER_COUNTS, "paper", "quantity", "operations", "formula", "ours")
    grid = Grid("paper-counts", "the papers' formulas, and what was counted", [*named, *columns])
    lines: dict[tuple[str, ...], dict[str, Record]] = {}
    for row in run["paper_counts"]:
        key = (row["paper"], row["quantity"], row["operations"], row["formula"], f"{row['ours']} ({row['counted']})")
        lines.setdefault(key, {})[row["n"]] = row
    for said, found in lines.items():
        cells = []
        for n in sizes:
            if n not in found:  # of another paper
                cells.append(Cell("–", "none"))
                continue
            ours, theirs, value = (number(found[n][k]) for k in ("our_value", "printed_value", "ratio"))
            cells.append(Cell(f"{ours:.0f} / {theirs:.0f} = {value:.2f}", value=value))
        grid.lines.append(Line([*map(Cell, said), *cells]))
    return grid


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


def papers(run: StoredRun) -> list[str]:
    """The papers that have claims or errata."""
    return unique(row["paper"] for row in run["claims"] + run["errata"])


def claims(run: StoredRun, paper: str, kind: str = "statement") -> Grid:
    """A paper's statements (its number, ours, the verdict and why), or the checks that it does not state."""
    checks = kind == "check"
    named = ("statement",) if checks else ("statement", "place", "printed")
    columns = heads(CLAIMS, *named, "measured", "verdict", "reason")
    title = f"{paper}: our own checks" if checks else f"{paper}: statements"
    grid = Grid(f"{'checks' if checks else 'claims'}-{paper}", title, columns)
    looks = {"reproduced": "good", "differs": "bad", "not run": "bad"}
    for row in run["claims"]:
        if row["paper"] == paper and (row.get("kind") == "check") == checks:
            verdict = Cell(row["verdict"], looks.get(row["verdict"], "tie"))
            grid.lines.append(Line([*texts(row, *named), _ours(row), verdict, Cell(row["reason"])]))
    return grid


def _ours(claim: Record) -> Cell:
    return Cell(f"{short(claim['measured'])} {claim['unit']}".strip() or "–")


def claimed_counts(run: StoredRun) -> Grid:
    """The claims of all papers that are about operations and growth."""
    named = ("paper", "statement", "printed")
    title = "What the papers print about operations and growth, and what was counted"
    grid = Grid("claimed-counts", title, heads(CLAIMS, *named, "measured", "reason"))
    for row in run["claims"]:
        text = f"{row['statement']} {row['unit']}".lower()
        about = any(word in text for word in ("additions", "multiplications", "operations", "flops", "exponent"))
        if about and row.get("kind") != "check":
            grid.lines.append(Line([*texts(row, *named), _ours(row), Cell(row["reason"])]))
    return grid


def errata(run: StoredRun, paper: str) -> Grid:
    """A paper's errata, each with the test that shows it."""
    named = ("where", "printed", "correct", "evidence", "test")
    lines = [Line(texts(row, *named)) for row in run["errata"] if row["paper"] == paper]
    return Grid(f"errata-{paper}", f"{paper}: errata", heads(ERRATA, *named), lines)
