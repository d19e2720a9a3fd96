"""report.html and the files beside it, from the rows of a run: one page, nothing fetched, everything escaped.

`write_report` reads what `dynbench bench` left in a folder, and nothing else, so an old run can be written again by a
newer version. The page forbids itself any request, and any script but its own, by a content security policy.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from dynbench.benchmarks.results import files
from dynbench.benchmarks.results.best_runs import RECORDED
from dynbench.reports import (
    agreement,
    content,
    count_tables,
    derivatives,
    gallery,
    markdown,
    paper_tables,
    problems,
    ratio_tables,
    rivals,
    rows,
    style,
    tex,
    time_tables,
    verdict,
)
from dynbench.reports.figure import Rendered
from dynbench.reports.grids import Cell, Grid, Head, Line
from dynbench.reports.rows import StoredRun, outcome, plural, seconds, words
from dynbench.reports.views import GROUPS, LABELS, USES, Views, digits, off_by, tied, times
from dynbench.robots.errors import DynbenchError

SEVERAL = "Times of different machines are not compared with each other: each robot stands here once for each machine."
LIMITATIONS = (  # the first few are always shown
    "One machine, one compiler, one run: ratios carry over to other machines better than times do.",
    "Noise is measured between two copies of the same code in one process. A difference below it is called none, which "
    "does not prove that there is none. The same code takes other times in other processes, on a quiet machine too: "
    "intervals are of what the passes of a run differ by, each a process of its own. Where a run has one pass only "
    "('passes' in timing.csv), they say nothing of other processes.",
    "Agreement is tested at sampled states. It shows errors, it does not prove their absence.",
    "Times are of warm calls on states drawn at random; caches of a real control loop are colder.",
    "Methods are compared through the same kernels and drivers. A formulation that would gain from another data layout "
    "does not get it.",
    "Other engines are timed by their own calls from Python (rows marked 'own call'); what their rows without that "
    "mark cost more is our wrapper's checking and converting. What a call from Python costs an engine before it "
    "computes anything is its 'null call' in the start-up table. An engine without a call for batches is timed in a "
    "loop in Python ('peer_call' in ratios.csv). C++ code that works on several states at once could gain "
    "what our batches gain: the gain is the layout, not the language.",
    "Operation counts are of the source; the compiler merges, reorders and fuses. A sine with its cosine counts as the "
    "38 operations that it is here.",
    "Batches that would take too long are cut: 'timed_rows' in timing.csv says to how many states.",
    "Work-precision points are the shortest of a few runs of a simulation written in Python around compiled kernels; "
    "the integrator's own cost is part of them.",
)
SURROUNDINGS = (
    "date",
    "system",
    "python",
    "cpu",
    "simd",
    "cores",
    "cores usable",
    "memory GB",
    "governor",
    "turbo",
    "load",
    "load before timing",
    "load after timing",
    "threads",
    "seed",
    "commit",
    "folder",
)
CONTENTS = (("fastest", "Fastest"), ("agree", "Agree"), ("grow", "Growth"), ("arithmetic", "Operations"),
            ("derivatives", "Derivatives"), ("rivals", "Engines"), ("papers", "Papers"), ("simulations", "Motion"),
            ("problems", "Problems"), ("limits", "Limits"))  # fmt: skip
SCRIPTS = ("report.js", "charts.js", "tables.js", "motion.js", "start.js")  # in this order, as one script
MARKS = dict(zip(style.MARKERS, "●■▲◆▼✚✖★◀▶⬟⬢", strict=True))


def write_report(folder: Path) -> Path:
    """Write report.html, figures, tables and summary.md into ``folder`` from the rows that are there.

    Returns
    -------
    Path
        Of report.html.

    Raises
    ------
    DynbenchError
        If the folder holds no run, or cannot be written; nothing of an earlier report is lost in the first case.
    """
    run = rows.read(folder)
    style.assign(run.methods)
    drawn, shown = gallery.draw(run), tables(run)
    text = page(run, drawn, shown)
    path = folder / "report.html"
    try:
        _clear(folder)
        for rendered in [one for group in drawn.values() for one in group]:
            rendered.write(folder / "figures")
        tex.write(folder / "tables", files_of(run, shown))
    except OSError as error:
        raise DynbenchError(f"{folder}: the report cannot be written: {error.strerror}") from error
    files.write_text(folder / "summary.md", markdown.summary(run))
    files.write_text(path, text)
    return path


def page_alone(folder: Path) -> str:
    """Return the page of a run without any file beside it: only the figures that it shows are drawn."""
    run = rows.read(folder)
    style.assign(run.methods)
    return page(run, gallery.draw(run, _on_the_page), tables(run))


def _clear(folder: Path) -> None:
    """Remove the figures and tables of an earlier report, which this one may not have."""
    for pattern in ("figures/*.svg", "figures/*.pdf", "figures/*.csv", "tables/*.tex"):
        for old in folder.glob(pattern):
            old.unlink()


def tables(run: StoredRun) -> dict[str, list[Grid]]:
    """All tables of the page, by section."""
    counts, polynomials = count_tables.counts(run)
    return {
        "coverage": [time_tables.coverage(run)],
        "failed checks": [agreement.failed_checks(run)],
        "agreement": [agreement.table(run)],
        "times": [time_tables.time_lines(run)],
        "targets": [ratio_tables.targets(run)],
        "ratios": [ratio_tables.ratio_lines(run)],
        "derivatives": [derivatives.table(run)],
        "startup": [time_tables.startup(run)],
        "points": [time_tables.growth(run)],
        "exponents": [time_tables.exponents(run)],
        "counts": [count_tables.paper_counts(run), polynomials, count_tables.traced_counts(run), counts],
        "claimed counts": [count_tables.claimed_counts(run)],
        "claims": [paper_tables.claims(run, paper) for paper in paper_tables.papers(run)],
        "checks": [paper_tables.claims(run, paper, "check") for paper in paper_tables.papers(run)],
        "errata": [paper_tables.errata(run, paper) for paper in paper_tables.papers(run)],
        "precision": [time_tables.precision(run)],
        "invariants": [agreement.invariants(run)],
        "rotors": [agreement.rotors(run)],
        "problems": problems.tables(run),
    }


def files_of(run: StoredRun, shown: dict[str, list[Grid]]) -> list[Grid]:
    """The tables that are written for papers: robots by methods where the page has one line a measurement."""
    wide = ("times", "ratios")
    kept = [grid for name, group in shown.items() if name not in wide for grid in group]
    return [*kept, *time_tables.times(run), *ratio_tables.ratios(run)]


def left_out(run: StoredRun, drawn: dict[str, list[Rendered]], shown: dict[str, list[Grid]]) -> set[str]:
    """Return the sections that are not there: what a run of papers or problems alone has nothing for.

    Any other run has all sections, but that on derivatives, which were not asked for if there is no line.
    """
    no_derivatives = set() if shown["derivatives"][0].lines else {"derivatives"}
    if "only papers" not in run.facts and "only problems" not in run.facts:
        return no_derivatives
    filled = {
        "compared": bool(run.methods),
        "agree": bool(run["agreement"]),
        "fastest": bool(run["timing"]),
        "grow": bool(shown["exponents"][0].lines),
        "arithmetic": any(grid.lines for grid in shown["counts"]),
        "rivals": bool(shown["ratios"][0].lines),
        "simulations": bool(simulated(run, drawn) or drawn[gallery.PRECISION]),
        "papers": bool(paper_tables.papers(run)),
        "problems": bool(run["problems"]),
    }
    return no_derivatives | {section for section, there in filled.items() if not there}


def simulated(run: StoredRun, drawn: dict[str, list[Rendered]]) -> list[dict[str, Any]]:
    """The simulations that have something to show, or a reason why not."""
    papers = [one for one in run.simulations if one["paper"] != RECORDED]  # those of problems have a section
    return [one for one in papers if one["motion"] or one["reason"] or drawn[f"simulation {one['name']}"]]


def matrix(run: StoredRun, views: Views) -> Grid:
    """Robots by methods in the view that the page opens with: how many times the fastest, and digits of agreement.

    This is what is read without a script; with it, `report.js` draws the same for every view.
    """
    _, quantity, mode, code = views.first
    shown = [name for kind in ("general", "special", "engine") for name in run.methods if views.kinds[name] == kind]
    seen = {robot: views.found[key] for robot in run.robots if (key := (robot, quantity, mode, code)) in views.found}
    timed = [name for name in shown if any((e := view.entry(name)) and e.timed for view in seen.values())]
    title = f"Time relative to the fastest: {words(quantity)}, {views.phrase(mode)}" if seen else ""
    grid = Grid("matrix", title, [Head("robot"), *(Head(name, name) for name in timed)])
    for robot, view in seen.items():
        cells = [Cell(robot)]
        for name in timed:
            entry, agreed = view.entry(name), views.agreement.get((robot, quantity, code), {}).get(name)
            if entry is None or not entry.timed:
                reason = entry.row["reason"] if entry is not None else "not measured in this run"
                cells.append(Cell("·", "none", grid.note(reason)))
                continue
            if outcome(entry.row).value != "number":
                cells.append(Cell("disturbed", "part", grid.note(entry.row["reason"])))
                continue
            exact = run.facts["methods"].get(name, {}).get("exact") is not False
            shared = ""
            if agreed:
                shared = f", {digits(agreed.typical)} digits" if exact else f", {off_by(agreed.typical)}"
            mark = "tied" if len(view.fastest) > 1 else "fastest"
            look, lead = ("good", f"{mark} ") if tied(entry) else ("", "")
            cells.append(Cell(f"{lead}{times(entry.ratio)}{shared}", look, value=entry.ratio))
        grid.lines.append(Line(cells))
    return grid


def page(run: StoredRun, drawn: dict[str, list[Rendered]], shown: dict[str, list[Grid]]) -> str:
    """Return the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("dynbench.reports", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(seconds=seconds, words=words, sortable=sortable, owner=owner)
    views = Views(run)
    robot, quantity, _, code = views.first
    first = views.found.get(views.first)
    figures = [one for name, group in drawn.items() if _on_the_page(name) for one in group]
    script, early = "\n".join(map(_asset, SCRIPTS)), _asset("early.js")
    return environment.get_template("report.html").render(
        run=run,
        facts=run.facts,
        views=views,
        labels=LABELS,
        uses=USES,
        groups=GROUPS,
        contents=CONTENTS,
        surroundings=surroundings(run),
        verdict=verdict.sentences(run),
        opening=first.said if first else verdict.sentences(run),
        cards={m: view for m in views.modes if (view := views.found.get((robot, quantity, m, code)))} if first else {},
        matrix=matrix(run, views),
        covered=covered(run),
        methods=[(name, run.facts["methods"].get(name, {}), style.look(name), MARKS) for name in run.methods],
        figures=drawn,
        simulations=simulated(run, drawn),
        tables=shown,
        precise=drawn[gallery.PRECISION],
        papers=list(zip(paper_tables.papers(run), shown["claims"], shown["checks"], shown["errata"], strict=True)),
        problems=problems.shown(run, drawn["problems"]),
        problem_tables=shown["problems"],
        recorded=RECORDED,
        rivals={tier: rivals.rivals(run.of_tier(tier)) for tier in run.tiers},
        every_rival_lines=rivals.every(run),
        left_out=left_out(run, drawn, shown),
        limitations=(SEVERAL, *LIMITATIONS[1:]) if run.machines else LIMITATIONS,
        light=style.variables(dark=False) | style.page_colours(dark=False),
        dark=style.variables(dark=True) | style.page_colours(dark=True),
        data=content.packed(content.content(run, views, figures)),
        sheet=Markup(_asset("report.css")),
        script=Markup(script),
        early=Markup(early),
        digests=[base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in (early, script)],
    )


def sortable(cell: Cell) -> str:
    """The attribute with the number of a cell, which tables sort by; "" where its text is the same to two digits."""
    from markupsafe import Markup

    if not math.isfinite(cell.value) or math.isclose(rows.number(cell.text), cell.value, rel_tol=0.06):
        return ""
    return Markup(' data-value="{}"').format(f"{cell.value:.6g}")


def owner(line: Line, by: Sequence[str]) -> str:
    """The attributes with the methods that a line belongs to; "" for those that its own cells name."""
    from markupsafe import Markup

    found = Markup("")
    for what, name in (("method", line.method), ("other", line.other)):
        if name and not (what in by and line.cells[by.index(what)].text == name):
            found += Markup(' data-{}="{}"').format(what, name)
    return found


def _on_the_page(section: str) -> bool:
    """Whether the figures of a section are shown as they are; the script draws the others."""
    return section in (gallery.PRECISION, "problems") or section.startswith("simulation ")


def covered(run: StoredRun) -> str:
    """How many cells were timed, and what became of the others, in a sentence."""
    ended: dict[str, int] = {}
    for row in run["timing"]:
        if row["label"] == row["method"]:
            ended[row["outcome"]] = ended.get(row["outcome"], 0) + 1
    rest = ", ".join(f"{count} {name}" for name, count in ended.items() if name != "number")
    methods, robots = plural(len(run.methods), "method"), plural(len(run.robots), "robot")
    timed = f"{ended.get('number', 0)} of {sum(ended.values())} cells were timed"
    return f"{methods} on {robots}: {timed}{f' ({rest})' if rest else ''}."


def surroundings(run: StoredRun) -> Grid:
    """Where it was run, and with what versions: a column for each machine that has left its own."""
    stored = run.facts.get("hosts") or {"value": run.facts}
    grid = Grid("environment", "Environment", [Head("what"), *map(Head, stored)])
    packages = rows.unique(name for facts in stored.values() for name in _versions(facts))
    for name in SURROUNDINGS:
        grid.lines.append(Line([Cell(name), *(Cell(_said(facts.get(name, "unknown"))) for facts in stored.values())]))
    for name in packages:
        grid.lines.append(Line([Cell(name), *(Cell(_versions(facts).get(name, "–")) for facts in stored.values())]))
    return grid


def _versions(facts: dict[str, Any]) -> dict[str, str]:
    found = facts.get("versions")
    return {key: str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _asset(name: str) -> str:
    """A file of ours that goes into the page as it is."""
    return resources.files("dynbench.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "as set by the system"
    return str(value)
