"""Tables and figures for papers that people write: chosen methods, robots and quantities of a results folder.

A table is robots by methods, without internal columns; the winner is chosen anew among the chosen methods, by the rules
of `dynbench.benchmarks.results.verdicts`. Engines are shown by their own calls alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from dynbench.benchmarks.results import tables
from dynbench.benchmarks.results.verdicts import NO_DIFFERENCE, OWN_CALLS
from dynbench.reports import curves, figures, markdown, overview, rows, style, tex
from dynbench.reports.figure import Figure, render
from dynbench.reports.grids import Cell, Grid, Head, Line
from dynbench.reports.rows import Record, StoredRun, known, listed, number, outcome, seconds, unique, words
from dynbench.reports.views import Entry, View, Views, tied, times
from dynbench.robots.errors import DynbenchError

DASH = "–"


@dataclass(frozen=True)
class Choice:
    """What is shown; empty: everything that the run has."""

    robots: Sequence[str] = ()
    methods: Sequence[str] = ()
    quantities: Sequence[str] = ()
    mode: str = "batch"
    code: str = ""
    engine: str = ""
    family: str = ""


def read(folder: Path, choice: Choice) -> StoredRun:
    """Return a stored run with the chosen robots, methods and quantities alone.

    Raises
    ------
    DynbenchError
        If a name is not in the run: with those that are.
    """
    run = rows.read(folder)
    style.assign(run.methods)  # of all methods, so that each looks as on the page
    timed = unique(row["quantity"] for row in run["timing"] + run["agreement"] if row["quantity"])
    there = {
        "robot": unique([*run.robots, *(row["robot"] for row in run["agreement"])]),
        "method": run.methods,
        "quantity": timed,
        "code": unique(c for row in run["timing"] if (c := row.get("code", ""))),
        "engine": run.peers,
        "family": unique(row["family"] for row in run["scaling"]),
    }
    asked = {
        "robot": choice.robots,
        "method": choice.methods,
        "quantity": choice.quantities,
        "code": [choice.code] * bool(choice.code),
        "engine": [choice.engine] * bool(choice.engine),
        "family": [choice.family] * bool(choice.family),
    }
    for what, names in asked.items():
        for name in names:
            if name not in there[what]:
                near = get_close_matches(name, there[what], 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                found = ", ".join(there[what]) or "none"
                raise DynbenchError(f"{folder}: no {what} {name!r} in this run, which has {found}{hint}")

    def kept(row: Record) -> bool:
        others = [row[name] for name in ("method", "other", "peer") if row.get(name)]
        return (
            (not choice.robots or "robot" not in row or row["robot"] in choice.robots)
            and (not choice.methods or all(name in choice.methods or name in run.peers for name in others))
            and (not choice.methods or row.get("method", "") not in run.peers or row["method"] in choice.methods)
            and (not choice.quantities or not row.get("quantity") or row["quantity"] in choice.quantities)
            and (not choice.code or not (tiers := _tiers(row)) or choice.code in tiers)
            and (not choice.engine or not row.get("peer") or row["peer"] == choice.engine)
            and (not choice.family or not row.get("family") or row["family"] == choice.family)
        )

    facts = dict(run.facts)
    facts["robots"] = {n: a for n, a in run.facts["robots"].items() if not choice.robots or n in choice.robots}
    named = ("timing", "ratios", "agreement", "scaling", "counts", "work_precision")
    chosen = {name: list(filter(kept, found)) if name in named else found for name, found in run.tables.items()}
    order = [name for name in choice.methods or run.methods if name in run.methods]
    facts["methods"] = {name: run.facts["methods"].get(name, {}) for name in unique([*order, *run.peers, *run.floors])}
    return replace(run, tables=chosen, facts=facts)


def _tiers(row: Record) -> set[str]:
    """The tiers of code that a row is of: a pair may be of two, an engine has none."""
    return {row.get("code", ""), row.get("other_code", "")} - {""}


def where(run: StoredRun) -> str:
    """The processor, for a caption."""
    return str(run.facts.get("cpu") or "an unknown processor")


# ---------------------------------------------------------------- tables


def times_table(run: StoredRun, choice: Choice) -> Grid:
    """Time of one state, robots by methods, with how many times the fastest it is."""
    views = Views(run)
    if choice.mode not in views.modes:
        there = ", ".join(views.modes) or "none"
        raise DynbenchError(f"{run.path}: no times of the mode {choice.mode!r}; this run has {there}")
    code = choice.code or views.codes[0]
    mine = [view for view in views.found.values() if (view.key[2], view.key[3]) == (choice.mode, code)]
    mine = [view for view in mine if any(_main(one) for one in view.entries)]
    shown = [name for name in _methods(run, choice) if any(_entry(view, name) for view in mine)]
    several = len(unique(view.key[1] for view in mine)) > 1
    what = "" if several else f"the {words(mine[0].key[1])}, " if mine else ""
    tier = f" {code.capitalize()} code." if len(views.codes) > 1 else ""
    engines = [name for name in shown if name in run.peers]
    called = {name: unique(e.called for view in mine if (e := _entry(view, name))) for name in engines}
    own = (
        f" Engines by their own calls: {listed([f'{n} ({listed(c)})' for n, c in called.items()])}." if engines else ""
    )
    title = (
        f"Time of {what or 'one state, '}{views.phrase(choice.mode)}, on {where(run)}; in brackets, times the fastest. "
        f"Bold: the fastest; several in a row are tied (the 95 % interval of their ratio includes 1).{tier}{own}"
    )
    grid = Grid(
        f"times-{choice.mode}",
        title,
        [Head("robot"), *([Head("quantity")] if several else []), *(Head(name, name) for name in shown)],
    )
    for view in mine:
        cells = [Cell(view.key[0]), *([Cell(words(view.key[1]))] if several else [])]
        for name in shown:
            entry = _entry(view, name)
            cells.append(_time_cell(run, entry) if entry is not None else Cell(DASH))
        grid.lines.append(Line(cells))
    return grid


def _methods(run: StoredRun, choice: Choice) -> list[str]:
    """The chosen methods in their order; by default all but the baseline."""
    order = [name for name in choice.methods or run.methods if name in run.methods]
    return [name for name in order if choice.methods or name not in run.floors]


def _main(entry: Entry) -> bool:
    """Whether an entry belongs in a table for a paper: a time, no twin and no wrapper."""
    return entry.timed and entry.kind in ("method", "own", "floor") and outcome(entry.row).value == "number"


def _entry(view: View, name: str) -> Entry | None:
    return next((one for one in view.entries if one.method == name and _main(one)), None)


def _time_cell(run: StoredRun, entry: Entry) -> Cell:
    value = number(entry.row["seconds"])
    ratio = f" ({times(entry.ratio)}×)" if math.isfinite(entry.ratio) and entry.ratio != 1.0 else ""
    exact = run.facts["methods"].get(entry.method, {}).get("exact") is not False
    return Cell(f"{'' if exact else '≈ '}{seconds(value)}{ratio}", value=value, fastest=tied(entry))


def ratios_table(run: StoredRun, choice: Choice) -> Grid:
    """Times faster than the own calls of another engine, robots by methods, with intervals."""
    sized = [row for row in run["ratios"] if row["mode"] == choice.mode and row["peer_call"] in OWN_CALLS]
    sizes = unique(row["rows"] for row in sized)
    size = run.batch_size if run.batch_size in sizes else max(sizes, key=int, default="")
    found = [row for row in sized if known(row["ratio"]) and not row["reason"] and row["rows"] == size]
    found = [row for row in found if row.get("code", "") in ("", choice.code) or not choice.code]
    engines = unique(row["peer"] for row in found)
    engine = choice.engine or (engines[0] if engines else "")
    mine = [row for row in found if row["peer"] == engine]
    calls = unique(row["peer_call"] for row in mine)
    shown = [name for name in _methods(run, choice) if any(row["method"] == name for row in mine)]
    several = len(unique(row["quantity"] for row in mine)) > 1
    what = "" if several else f" ({words(mine[0]['quantity'])})" if mine else ""
    title = (
        f"Times faster than {engine}{what}, with 95 % intervals, on {where(run)}; {engine} is timed by "
        f"{calls[0] if len(calls) == 1 else 'the call that is named'}. Values in italics do not differ."
    )
    extra = [Head("quantity")] * several + [Head(f"call of {engine}")] * (len(calls) > 1)
    grid = Grid(f"ratios-{choice.mode}", title, [Head("robot"), *extra, *(Head(name, name) for name in shown)])
    for robot, quantity in dict.fromkeys((row["robot"], row["quantity"]) for row in mine):
        of = {row["method"]: row for row in mine if (row["robot"], row["quantity"]) == (robot, quantity)}
        called = listed(unique(row["peer_call"] for row in of.values()))
        cells = [Cell(robot), *[Cell(words(quantity))] * several, *[Cell(called)] * (len(calls) > 1)]
        grid.lines.append(Line([*cells, *_or_dash(shown, of, _ratio_cell)]))
    return grid


def _or_dash(shown: Iterable[str], of: Mapping[str, Record], cell: Callable[[Record], Cell]) -> Iterator[Cell]:
    """The cells of the methods that are shown, with a dash for those that have no row."""
    return (cell(of[name]) if name in of else Cell(DASH) for name in shown)


def _ratio_cell(row: Record) -> Cell:
    value = number(row["ratio"])
    interval = f" [{number(row['low']):.3g}, {number(row['high']):.3g}]" if known(row["low"]) else ""
    return Cell(f"{value:.3g}{interval}", "same" if row["verdict"] == NO_DIFFERENCE else "", value=value)


def agreement_table(run: StoredRun, choice: Choice) -> Grid:
    """The largest error of any pair of the chosen methods, robots by quantities."""
    names = set(_methods(run, choice))
    found = [r for r in run["agreement"] if r["other"] and {r["method"], r["other"]} <= names and known(r["value"])]
    held = [row for row in found if row["status"] in ("agrees", "differs")]
    robots = unique(row["robot"] for row in held)
    robots = [name for name in choice.robots or run.robots if name in robots]
    quantities = unique(row["quantity"] for row in held)
    title = (
        "Largest error of all pairs of exact methods relative to the largest component, over all states, with the "
        "number of pairs in brackets. Bold: beyond the tolerance."
    )
    grid = Grid("agreement", title, [Head("robot"), *(Head(words(quantity)) for quantity in quantities)])
    for robot in robots:
        cells = [Cell(robot)]
        for quantity in quantities:
            mine = [row for row in held if (row["robot"], row["quantity"]) == (robot, quantity)]
            if not mine:
                cells.append(Cell(DASH))
                continue
            worst = max(mine, key=figures.severity)
            pairs = len({(row["method"], row["other"]) for row in mine})
            error = number(worst["value"])
            cells.append(Cell(f"{error:.1e} ({pairs})", value=error, fastest=outcome(worst).failure))
        grid.lines.append(Line(cells))
    return grid


def counts_table(run: StoredRun, choice: Choice) -> Grid:
    """Operations of one evaluation, robots by methods."""
    found = [row for row in run["counts"] if known(row["flops"]) and row["robot"] in run.robots]
    shown = [name for name in _methods(run, choice) if any(row["method"] == name for row in found)]
    several = len(unique(row["quantity"] for row in found)) > 1
    what = "" if several else f", {words(found[0]['quantity'])}" if found else ""
    title = f"Floating-point operations of one evaluation{what}, counted in the source. Bold: the fewest."
    heads = [Head("robot"), *([Head("quantity")] if several else []), *(Head(name, name) for name in shown)]
    grid = Grid("counts", title, heads)
    for robot, quantity in dict.fromkeys((row["robot"], row["quantity"]) for row in found):
        of = {row["method"]: row for row in found if (row["robot"], row["quantity"]) == (robot, quantity)}
        least = min(number(row["flops"]) for row in of.values())

        def cell(row: Record, least: float = least) -> Cell:
            value = number(row["flops"])
            return Cell(f"{value:.0f}", value=value, fastest=value == least)

        cells = [Cell(robot), *([Cell(words(quantity))] if several else [])]
        grid.lines.append(Line([*cells, *_or_dash(shown, of, cell)]))
    return grid


def growth_table(run: StoredRun, choice: Choice) -> Grid:
    """Exponents of time over size with their intervals, families by methods."""
    found = [row for row in run["scaling"] if row["measure"] == "exponent" and known(row["value"])]
    shown = [name for name in _methods(run, choice) if any(row["method"] == name for row in found)]
    title = "Exponent of the time of one state over the size N of the robot, with its 95 % interval."
    grid = Grid("growth", title, [Head("family"), Head("quantity"), *(Head(name, name) for name in shown)])
    for family, quantity in dict.fromkeys((row["family"], row["quantity"]) for row in found):
        of = {row["method"]: row for row in found if (row["family"], row["quantity"]) == (family, quantity)}
        cells = [Cell(f"{family}-N"), Cell(words(quantity))]
        grid.lines.append(Line([*cells, *_or_dash(shown, of, _exponent_cell)]))
    return grid


def _exponent_cell(row: Record) -> Cell:
    value, low, high = (number(row[key]) for key in ("value", "low", "high"))
    return Cell(f"{value:.2f} [{low:.2f}, {high:.2f}]", value=value)


TABLES: dict[str, Callable[[StoredRun, Choice], Grid]] = {
    "times": times_table,
    "ratios": ratios_table,
    "agreement": agreement_table,
    "counts": counts_table,
    "growth": growth_table,
}


def table(folder: Path, content: str, choice: Choice, form: str, caption: str = "", label: str = "") -> str:
    """Return a table of a run as text in one of `FORMS`.

    Raises
    ------
    DynbenchError
        If the run has no row for it.
    """
    run = read(folder, choice)
    grid = TABLES[content](run, choice)
    if not grid.lines or len(grid.heads) < 2:
        raise DynbenchError(f"{folder}: no row of this run fits the chosen robots, methods and quantities")
    grid.title = caption or grid.title
    return FORMS[form](grid, label or f"tab:{content}")


def as_csv(grid: Grid, label: str = "") -> str:
    """Return a grid as CSV: numbers where cells have them, in seconds or as they are."""
    cells = [[_plain(cell) for cell in line.cells] for line in grid.lines]
    return tables.text([head.text for head in grid.heads], cells)


def _plain(cell: Cell) -> object:
    if not math.isfinite(cell.value):
        return None if cell.text == DASH else cell.text
    return int(cell.value) if cell.text.isdigit() else cell.value


def as_markdown(grid: Grid, label: str = "") -> str:
    """Return a grid as a table in Markdown, with its title above."""
    from tabulate import tabulate

    def text(cell: Cell) -> str:
        shown = markdown.escape(cell.text)
        return f"**{shown}**" if cell.fastest else f"*{shown}*" if cell.look == "same" else shown

    heads = [markdown.escape(head.text) for head in grid.heads]
    body = tabulate(
        [[text(cell) for cell in line.cells] for line in grid.lines], heads, "github", disable_numparse=True
    )
    return f"{markdown.escape(grid.title)}\n\n{body}\n"


FORMS: dict[str, Callable[[Grid, str], str]] = {
    "latex": lambda grid, label: tex.table(grid, label),
    "csv": as_csv,
    "markdown": as_markdown,
}
ENDINGS = {".tex": "latex", ".csv": "csv", ".md": "markdown"}

# ---------------------------------------------------------------- figures

FIGURES: dict[str, Callable[[StoredRun], Iterable[Figure]]] = {
    "speed": figures.speed,
    "ratios": figures.ratios,
    "growth": curves.scaling,
    "batches": curves.batches,
    "agreement": figures.agreement,
    "peak": figures.peak,
    "precision": curves.precision,
}
PICTURES = (".pdf", ".svg", ".csv")


def figure(folder: Path, content: str, choice: Choice, target: Path) -> list[Path]:
    """Draw a figure of a run into a file, PDF, SVG or (its data) CSV; several figures become numbered files by name.

    Returns
    -------
    list of Path
        Of the files that were written.
    """
    if target.suffix not in PICTURES:
        raise DynbenchError(f"{target}: expected a name that ends in {', '.join(PICTURES)}, got {target.suffix!r}")
    run = read(folder, choice)
    shown = [name for name in run.methods if not choice.methods or name in choice.methods]
    if content == "ratios":
        shown += [name for name in run.peers if name not in shown]
    mine = replace(run, tables=_of_methods(run, shown))
    found = list(overview.figures(mine, choice.mode) if content == "overview" else FIGURES[content](mine))
    if not found:
        raise DynbenchError(f"{folder}: no row of this run fits the chosen robots, methods and quantities")
    written = []
    for one in found:
        path = target if len(found) == 1 else target.with_name(f"{target.stem}-{one.name}{target.suffix}")
        drawn = render(one)
        content_ = {".pdf": drawn.pdf, ".svg": drawn.svg.encode(), ".csv": drawn.csv.encode()}[target.suffix]
        try:
            path.write_bytes(content_)
        except OSError as error:
            raise DynbenchError(f"cannot write {path}: {error.strerror}") from None
        written.append(path)
    return written


def _of_methods(run: StoredRun, shown: Iterable[str]) -> dict[str, list[Record]]:
    """The tables without rows of other methods."""
    names = set(shown)
    return {
        name: [row for row in found if row.get("method", "") in names or not row.get("method")]
        for name, found in run.tables.items()
    }
