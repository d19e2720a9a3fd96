"""report.html and the files beside it, from the rows of a run: one page, nothing fetched, everything escaped.

`write_report` reads what `dynbench bench` left in a folder, and nothing else, so an old run can be written again by a
newer version. The page forbids itself any request, and any script but its own, by a content security policy.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

from dynbench.benchmarks.results import files
from dynbench.benchmarks.results.best_runs import RECORDED
from dynbench.reports import agreement, gallery, grids, markdown, problems, rows, style, tex, verdict
from dynbench.reports.figure import Rendered
from dynbench.reports.grids import Cell, Grid, Head, Line
from dynbench.reports.rows import StoredRun
from dynbench.robots.errors import DynbenchError

SEVERAL = "Times of different machines are not compared with each other: each robot stands here once for each machine."
LIMITATIONS = (
    "One machine, one compiler, one run: ratios carry over to other machines better than times do.",
    "Methods are compared through the same kernels and drivers. A formulation that would gain from another data layout "
    "does not get it.",
    "Other engines are timed by their own calls from Python (rows marked 'own call'); what their rows without that "
    "mark cost more is our wrapper's checking and converting. What a call from Python costs an engine before it "
    "computes anything is its 'null call' in the start-up table. An engine without a call for batches is timed in a "
    "loop in Python ('peer_call' in ratios.csv). C++ code that works on several states at once could gain "
    "what our batches gain: the gain is the layout, not the language.",
    "Times are of warm calls on states drawn at random; caches of a real control loop are colder.",
    "Noise is measured between two copies of the same code on this machine at that time. A difference below it is "
    "called none, which does not prove that there is none.",
    "Agreement is tested at sampled states. It shows errors, it does not prove their absence.",
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
MARKS = dict(zip(style.MARKERS, "●■▲◆▼✚✖★", strict=True))


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
    drawn, shown = gallery.draw(run), tables(run)
    text = page(run, drawn, shown)
    path = folder / "report.html"
    try:
        _clear(folder)
        for rendered in [one for group in drawn.values() for one in group]:
            rendered.write(folder / "figures")
        tex.write(folder / "tables", [grid for group in shown.values() for grid in group])
    except OSError as error:
        raise DynbenchError(f"{folder}: the report cannot be written: {error.strerror}") from error
    files.write_text(folder / "summary.md", markdown.summary(run))
    files.write_text(path, text)
    return path


def _clear(folder: Path) -> None:
    """Remove the figures and tables of an earlier report, which this one may not have."""
    for pattern in ("figures/*.svg", "figures/*.pdf", "figures/*.csv", "tables/*.tex"):
        for old in folder.glob(pattern):
            old.unlink()


def tables(run: StoredRun) -> dict[str, list[Grid]]:
    """All tables, by section."""
    cases = agreement.cases(run)
    counts, polynomials = grids.counts(run)
    return {
        "coverage": [grids.coverage(run)],
        "failed checks": [agreement.failed_checks(run)],
        "agreement": [agreement.table(cases)],
        "matrices": agreement.matrices(run, cases),
        "times": grids.times(run),
        "targets": [grids.targets(run)],
        "ratios": grids.ratios(run),
        "startup": [grids.startup(run)],
        "exponents": [grids.exponents(run)],
        "counts": [grids.paper_counts(run), polynomials, grids.traced_counts(run), counts],
        "claimed counts": [grids.claimed_counts(run)],
        "claims": [grids.claims(run, paper) for paper in grids.papers(run)],
        "checks": [grids.claims(run, paper, "check") for paper in grids.papers(run)],
        "errata": [grids.errata(run, paper) for paper in grids.papers(run)],
        "invariants": [agreement.invariants(run)],
        "problems": problems.tables(run),
    }


def left_out(run: StoredRun, drawn: dict[str, list[Rendered]], shown: dict[str, list[Grid]]) -> set[str]:
    """Return the sections that a run of papers or problems alone has nothing for; any other run has all sections."""
    if "only papers" not in run.facts and "only problems" not in run.facts:
        return set()
    others = [one for one in run.simulations if one["paper"] != RECORDED]
    simulated = any(one["motion"] or one["reason"] or drawn[f"simulation {one['name']}"] for one in others)
    filled = {
        "compared": bool(run.methods),
        "coverage": bool(run.robots),
        "agreement": bool(run["agreement"]),
        "speed": bool(run["timing"]),
        "scaling": bool(drawn["scaling"]),
        "counts": any(grid.lines for grid in shown["counts"]),
        "precision": bool(drawn[gallery.PRECISION]),
        "simulations": simulated,
        "papers": bool(grids.papers(run)),
        "invariants": bool(shown["invariants"][0].lines),
        "problems": bool(run["problems"]),
    }
    return {section for section, there in filled.items() if not there}


def page(run: StoredRun, drawn: dict[str, list[Rendered]], shown: dict[str, list[Grid]]) -> str:
    """Return the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("dynbench.reports", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["svg"] = lambda rendered: Markup(rendered.inline)  # escaped by matplotlib and `figure`
    script, sheet = (_asset(name) for name in ("report.js", "report.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html").render(
        run=run,
        facts=run.facts,
        surroundings=surroundings(run),
        verdict=verdict.sentences(run),
        methods=[(name, run.facts["methods"].get(name, {}), style.look(name), MARKS) for name in run.methods],
        figures=drawn,
        tables=shown,
        cases=agreement.cases(run),
        precise=drawn[gallery.PRECISION],
        papers=list(zip(grids.papers(run), shown["claims"], shown["checks"], shown["errata"], strict=True)),
        problems=problems.shown(run, drawn["problems"]),
        problem_tables=shown["problems"],
        recorded=RECORDED,
        left_out=left_out(run, drawn, shown),
        limitations=(SEVERAL, *LIMITATIONS[1:]) if run.machines else LIMITATIONS,
        light=style.variables(dark=False),
        dark=style.variables(dark=True),
        data=packed(run, drawn),
        sheet=Markup(sheet),
        script=Markup(script),
        digest=digest,
    )


def packed(run: StoredRun, drawn: dict[str, list[Rendered]]) -> str:
    """What only the page's script reads, a tenth of its size: worst cases, motions, the data of figures."""
    content = {
        "cases": agreement.cases(run),
        "motions": {f"motion-{one['name']}": one["motion"] for one in run.simulations if one["motion"]},
        "figures": {f"{one.figure.name}.csv": one.csv for group in drawn.values() for one in group},
    }
    return base64.b64encode(gzip.compress(json.dumps(content).encode(), mtime=0)).decode()


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
