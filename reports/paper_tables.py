"""Tables of papers: statements and our checks with verdicts, and errata."""

from __future__ import annotations

from dynbench.benchmarks.results.schema import CLAIMS, ERRATA
from dynbench.reports.grids import Cell, Grid, Line, heads, texts
from dynbench.reports.rows import Record, StoredRun, short, unique


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
            grid.lines.append(Line([*texts(row, *named), ours(row), verdict, Cell(row["reason"])]))
    return grid


def ours(claim: Record) -> Cell:
    return Cell(f"{short(claim['measured'])} {claim['unit']}".strip() or "–")


def errata(run: StoredRun, paper: str) -> Grid:
    """A paper's errata, each with the test that shows it."""
    named = ("where", "printed", "correct", "evidence", "test")
    lines = [Line(texts(row, *named)) for row in run["errata"] if row["paper"] == paper]
    return Grid(f"errata-{paper}", f"{paper}: errata", heads(ERRATA, *named), lines)
