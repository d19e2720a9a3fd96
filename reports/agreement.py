"""Agreement and invariants as tables."""

from __future__ import annotations

from dataclasses import replace

from dynbench.benchmarks.results.rows import AS_ARMATURE
from dynbench.benchmarks.results.schema import AGREEMENT
from dynbench.reports.figures import digits, severity
from dynbench.reports.grids import Cell, Grid, Head, Line, heads, numeric, texts
from dynbench.reports.rows import Record, StoredRun, known, number, outcome, unique


def compared(run: StoredRun) -> list[Record]:
    """The rows of pairs."""
    return [row for row in run["agreement"] if row["other"]]


def wrong(run: StoredRun) -> list[Record]:
    """What disagrees, or failed."""
    return [row for row in run["agreement"] if outcome(row).failure]


def table(run: StoredRun) -> Grid:
    """One line a robot, pair and quantity, with error, noise floor, tolerance and verdict.

    Of robots that only agreement was tested on, as those of families, one line a quantity: the worst pair.
    """
    tiers = ("code", "other_code") * any(row.get("code") for row in run["agreement"])
    named, numbers = ("robot", "quantity", "measure", "method", "other", *tiers), ("value", "noise", "tolerance")
    columns = heads(AGREEMENT, *named, "digits", *numbers, "status")
    shown_by = [replace(head, by="") if head.text == "code" else head for head in columns]  # a pair may be of two tiers
    grid = Grid("agreement", "Errors of pairs", shown_by)
    rest: dict[tuple[str, str, str], Record] = {}
    shown = []
    for row in compared(run):
        if row["robot"] in run.robots:
            shown.append(row)
            continue
        key = (row["robot"], row["quantity"], row["measure"])
        if key not in rest or severity(row) > severity(rest[key]):
            rest[key] = row
    for row in (*shown, *rest.values()):
        values = [numeric(row[key], ".1e") for key in numbers]
        verdict = Cell(row["status"], "bad" if outcome(row).failure else "" if row["status"] == "agrees" else "tie")
        cells = [*texts(row, *named), _digit_cell(row), *values, verdict]
        grid.lines.append(Line(cells, row["method"], row["other"]))
    return grid


def failed_checks(run: StoredRun) -> Grid:
    """What disagrees, or failed, with the reason."""
    named = ("robot", "method", "code", "other", "other_code", "quantity", "measure")
    columns = heads(AGREEMENT, *named, "value", "tolerance", "reason")
    grid = Grid("failed-checks", "Checks that did not pass", columns)
    for row in wrong(run):
        value = Cell(row["value"] or row["status"], "bad")
        cells = [*texts(row, *named), value, *texts(row, "tolerance", "reason")]
        grid.lines.append(Line(cells, row["method"], row["other"]))
    return grid


def _digit_cell(row: Record) -> Cell:
    if not known(row["value"]):
        return Cell("–", "bad")
    shared = digits(number(row["value"]))
    return Cell(f"{shared:.1f}", value=shared)


def invariants(run: StoredRun) -> Grid:
    """What must hold for a method alone, by methods: the worst value over robots."""
    apart = ("noise floor", AS_ARMATURE)
    rows = [row for row in run["agreement"] if not row["other"] and not row["measure"].startswith(apart)]
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


def rotors(run: StoredRun) -> Grid:
    """How much the forces of robots with rotors change if armatures take their place, by robots and methods."""
    rows = [row for row in run["agreement"] if row["measure"] == AS_ARMATURE]
    names = [name for name in run.methods if any(row["method"] == name for row in rows)]
    grid = Grid("rotors", "Armatures in the place of rotors", [Head("robot"), *(Head(name, name) for name in names)])
    for robot in unique(row["robot"] for row in rows):
        found = {row["method"]: row for row in rows if row["robot"] == robot}
        cells = [
            numeric(found[name]["value"], ".1e") if name in found else grid.absent("not compared") for name in names
        ]
        grid.lines.append(Line([Cell(robot), *cells]))
    return grid
