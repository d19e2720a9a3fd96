"""The papers' experiments and claims: every package of this folder that has ``claims()``, by name.

``dynbench papers`` runs them (each in a process of its own, two at a time), prints our numbers beside the printed ones
with a verdict, and writes claims.csv and errata.csv. To add a paper, add a package whose ``__init__`` has

    claims() -> list[Claim]             what the paper says, and what we find; may take ``quick``
    errata() -> list[Erratum]           what is printed wrong, if anything
    scenarios() -> list[Scenario]       experiments that `sweeps` runs at many tolerances, if any; may take ``quick``
    simulations() -> dict[str, Callable[[], Simulation]]
                                        its figures and moving pictures by name, if any; may take ``quick``
    provenance() -> list[Provenance]    where each datum of its experiment comes from
    formulas() -> list[Formula]         operation counts that it prints, if it does

Its name here is the package's, with dashes. Other packages add theirs by an entry point, see `plugins`.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynbench.benchmarks.papers import plugins
from dynbench.benchmarks.processes.jobs import Ask

NOT_RUN = "not run"
TIMEOUT, QUICK_TIMEOUT = 900.0, 240.0  # seconds a paper


@dataclass(frozen=True)
class Paper:
    """What a paper's module found, as plain rows."""

    name: str
    claims: list[dict[str, Any]]
    errata: list[dict[str, Any]]
    formulas: list[dict[str, Any]] = field(default_factory=list)
    provenance: list[dict[str, Any]] = field(default_factory=list)


def not_run(paper: Paper) -> bool:
    """Whether nothing is known of a paper but that its experiments were not run."""
    return bool(paper.claims) and all(claim["verdict"] == NOT_RUN for claim in paper.claims)


def names() -> tuple[str, ...]:
    """Return the names of the papers, without importing their modules."""
    trees: dict[str, ast.Module | str] = {name: ast.parse(file.read_text("utf-8")) for name, file in plugins.ours()}
    trees |= {name: plugins.syntax(point) for name, point in plugins.plugins().items()}
    return tuple(sorted(name for name, tree in trees.items() if isinstance(tree, ast.Module) and _has_claims(tree)))


def _has_claims(tree: ast.Module) -> bool:
    """Whether a module defines ``claims``, or takes it from another part of its package."""
    taken: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            taken.add(node.name)
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(__package__)):
            taken.update(alias.asname or alias.name for alias in node.names)
    return "claims" in taken


def checked_names(wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the papers asked for, all if none is named."""
    return plugins.chosen("paper", wanted, names())


def job(name: str, quick: bool = False) -> dict[str, Any]:
    """Run one paper's experiments (a job of `workers`)."""
    module = plugins.load(name)
    optional = {part: getattr(module, part, list) for part in ("errata", "formulas", "provenance")}
    parts = {"claims": module.claims, **optional}
    return {part: [dataclasses.asdict(row) for row in call(make, quick)] for part, make in parts.items()}


def call(function: Callable[..., Any], quick: bool) -> Any:
    """Call a function of a paper, which may or may not care for ``quick``."""
    known = inspect.signature(function).parameters if inspect.isfunction(function) else {}
    return function(quick=quick) if "quick" in known else function()


def run_papers(wanted: Sequence[str], quick: bool = False, ask: Ask | None = None) -> list[Paper]:
    """Run the experiments of the papers named; one that fails or hangs gets a row that says so.

    ``ask`` runs jobs for a stage of that name (default: processes of their own, and nothing is remembered).
    """
    from dynbench.benchmarks.processes.workers import Job, ask_all

    jobs = [
        Job(f"{__name__}:job", {"name": name, "quick": quick}, QUICK_TIMEOUT if quick else TIMEOUT) for name in wanted
    ]
    answers = (ask or ask_all)("papers", jobs)
    found = []
    for name, answer in zip(wanted, answers, strict=True):
        if answer.reason:
            row = {"paper": name, "statement": "its experiments run", "verdict": NOT_RUN}
            found.append(Paper(name, [{**row, "outcome": answer.outcome, "reason": answer.why}], []))
        else:
            found.append(Paper(name, **answer.value))
    return found


def write(folder: Path, papers: Sequence[Paper]) -> None:
    """Write claims.csv, errata.csv, provenance.csv and paper_counts.csv."""
    from dynbench.benchmarks.results import schema

    folder.mkdir(parents=True, exist_ok=True)
    schema.CLAIMS.write(folder, [claim for paper in papers for claim in paper.claims])
    schema.ERRATA.write(folder, [erratum for paper in papers for erratum in paper.errata])
    origins = [{"paper": paper.name, **datum} for paper in papers for datum in paper.provenance]
    schema.PROVENANCE.write(folder, origins)
    schema.PAPER_COUNTS.write(folder, [row for paper in papers for row in paper.formulas])


def table(papers: Sequence[Paper]) -> str:
    """Return the claims as text, a line each: the statements of every paper, then our own checks."""
    lines = []
    for paper in papers:
        stated = [claim for claim in paper.claims if claim.get("kind") != "check"]
        checks = [claim for claim in paper.claims if claim.get("kind") == "check"]
        parts = [f"{_counted(stated)} of its statements"] if stated else ["no statements"]
        parts += [f"{_counted(checks)} of our checks"] if checks else []
        lines.append(f"{paper.name}: {'; '.join(parts)}; errata: {len(paper.errata)}")
        for title, claims in (("", stated), ("  our own checks:", checks)):
            lines += [title] if title and claims else []
            for claim in claims:
                measured = claim.get("measured")
                ours = "" if measured is None else f"{measured:.6g} {claim.get('unit', '')}".rstrip()
                place = f" ({claim['place']})" if claim.get("place") else ""
                lines.append(f"  [{claim['verdict']}] {claim['statement']}{place}")
                printed = "" if claim.get("kind") == "check" else f"printed {claim.get('printed') or '-'}; "
                lines.append(f"      {printed}ours {ours or '-'}; {claim['reason']}")
    return "\n".join(lines)


def _counted(claims: Sequence[dict[str, Any]]) -> str:
    """Return how many claims have which verdict."""
    counts = Counter(claim["verdict"] for claim in claims)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
