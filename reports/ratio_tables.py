"""Tables of times beside those of other engines."""

from __future__ import annotations

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.schema import RATIOS
from dynbench.benchmarks.results.verdicts import NO_DIFFERENCE, OWN_CALLS
from dynbench.reports.grids import Cell, Grid, Head, Line, heads, numeric, texts
from dynbench.reports.rows import Record, StoredRun, each_tier, known, number, outcome, unique, words
from dynbench.reports.time_tables import MODES, shown_modes


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
    shown = shown_modes(run)
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
