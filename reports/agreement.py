"""Agreement and invariants as tables, and the worst case of every robot and pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynbench.benchmarks.results.schema import AGREEMENT
from dynbench.reports.figures import digits, severity, untraced
from dynbench.reports.grids import Cell, Grid, Head, Line, heads, numeric, texts
from dynbench.reports.rows import Record, StoredRun, known, number, outcome, unique, words

PAIR = ("robot", "method", "code", "other", "other_code")
LEVELS = (13.0, 10.0, 7.0, 4.0)  # digits from which a cell has the look d4, d3, d2, d1; below, d0


def compared(run: StoredRun) -> list[Record]:
    """The rows of pairs."""
    return [row for row in run["agreement"] if row["other"]]


def wrong(run: StoredRun) -> list[Record]:
    """What disagrees, or failed."""
    return [row for row in run["agreement"] if outcome(row).failure]


def cases(run: StoredRun) -> list[dict[str, Any]]:
    """The worst row of every robot and pair, with its state where it was stored."""
    worst: dict[tuple[str, ...], Record] = {}
    for row in compared(run):
        key = tuple(row[name] for name in PAIR)
        if key not in worst or severity(row) > severity(worst[key]):
            worst[key] = row
    kept = (*PAIR, "quantity", "measure")
    states = {tuple(w.get(name, "") for name in kept): w for w in run.worst}
    found = []
    for row in worst.values():
        stored: dict[str, Any] = states.get(tuple(row[name] for name in kept), {})
        state = {key: stored[key] for key in ("state", "component", "ours", "theirs", "inputs") if key in stored}
        shared = round(digits(number(row["value"])), 1) if known(row["value"]) else None
        found.append(dict[str, Any](row) | {"digits": shared} | state)
    return found


def table(found: Sequence[dict[str, Any]]) -> Grid:
    """One line a robot and pair, with error, noise floor, tolerance and verdict."""
    named, numbers = PAIR, ("value", "noise", "tolerance")
    columns = heads(AGREEMENT, *named, "digits", "worst quantity", *numbers, "status")
    grid = Grid("agreement", "the worst quantity of each robot and pair", columns)
    for row in found:
        shown = [numeric(row[key], ".1e") for key in numbers]
        verdict = Cell(row["status"], "bad" if outcome(row).failure else "good" if row["status"] == "agrees" else "tie")
        where = Cell(words(row["quantity"]) + row["measure"].removeprefix("error"))
        cells = [*texts(row, *named), _digit_cell(row), where, *shown, verdict]
        grid.lines.append(Line(cells, row["method"], row["other"]))
    return grid


def failed_checks(run: StoredRun) -> Grid:
    """What disagrees, or failed, with the reason."""
    named = (*PAIR, "quantity", "measure")
    columns = heads(AGREEMENT, *named, "value", "tolerance", "reason")
    grid = Grid("failed-checks", "Checks that did not pass", columns)
    for row in wrong(run):
        value = Cell(row["value"] or row["status"], "bad")
        cells = [*texts(row, *named), value, *texts(row, "tolerance", "reason")]
        grid.lines.append(Line(cells, row["method"], row["other"]))
    return grid


def _digit_cell(row: dict[str, Any]) -> Cell:
    if row["digits"] is None:
        return Cell("–", "bad")
    return Cell(f"{row['digits']:.1f}", level(row["digits"]), value=row["digits"])


def level(shared: float) -> str:
    """The look of so many digits."""
    return f"d{sum(shared >= limit for limit in LEVELS)}"


def matrices(run: StoredRun, found: Sequence[dict[str, Any]]) -> list[Grid]:
    """For each robot, methods by methods: digits of the worst quantity; on the diagonal, those of the noise floor."""
    grids = []
    floors: dict[tuple[str, str], float] = {}
    for row in run["agreement"]:
        if row["measure"].startswith("noise floor") and known(row["value"]):
            key = (row["robot"], row["method"])
            floors[key] = max(floors.get(key, 0.0), number(row["value"]))
    for robot in unique(row["robot"] for row in found):
        mine = {(row["method"], row["other"]): row for row in untraced([r for r in found if r["robot"] == robot])}
        names = [name for name in run.methods if any(name in pair for pair in mine)]
        grid = Grid(f"agreement-{robot}", robot, [Head("digits"), *(Head(name, name) for name in names)])
        for one in names:
            cells = [Cell(one)]
            for two in names:
                pair = mine.get((one, two)) or mine.get((two, one))
                if one == two and (robot, one) in floors:
                    cells.append(Cell(f"({digits(floors[robot, one]):.1f})", "none"))
                elif pair is None:
                    cells.append(Cell("–", "none"))
                else:
                    crossed = outcome(pair).failure
                    cell = _digit_cell(pair)
                    cells.append(Cell(f"✗ {cell.text}" if crossed else cell.text, "bad" if crossed else cell.look))
            grid.lines.append(Line(cells, one))
        grids.append(grid)
    return grids


def invariants(run: StoredRun) -> Grid:
    """What must hold for a method alone, by methods: the worst value over robots."""
    rows = [row for row in run["agreement"] if not row["other"] and not row["measure"].startswith("noise floor")]
    names = [name for name in run.methods if any(row["method"] == name for row in rows)]
    grid = Grid("invariants", "worst value over robots", [Head("invariant"), *(Head(name, name) for name in names)])
    for measure in unique(row["measure"] for row in rows):
        cells = [Cell(measure)]
        for name in names:
            mine = [row for row in rows if (row["measure"], row["method"]) == (measure, name)]
            broken = [row for row in mine if outcome(row).failure]
            values = [row for row in mine if known(row["value"])]
            if broken:
                text = f"✗ {broken[0]['robot']}: {broken[0]['value'] or broken[0]['outcome']}"
                cells.append(Cell(text, "bad", grid.note(broken[0]["reason"])))
            elif values:
                largest = max(values, key=lambda row: number(row["value"]))
                held = largest["status"] == "agrees"
                cells.append(numeric(largest["value"], ".1e", "good" if held else "tie"))
            else:
                reason = "the method does not compute the quantities that this needs"
                cells.append(grid.absent(mine[0]["reason"], outcome(mine[0])) if mine else grid.absent(reason))
        grid.lines.append(Line(cells))
    return grid
