"""The papers' experiments and claims: every module of `scenarios` that has ``claims()``, by name.

``dynbench papers`` runs them (each in a process of its own, two at a time), prints our numbers beside the printed ones
with a verdict, and writes claims.csv and errata.csv. To add a paper, add a module with ``claims() -> list[Claim]`` and,
if it has any, ``errata() -> list[Erratum]``; its name here is the module's, with dashes. Other packages add theirs by
an entry point, see `scenario_plugins`.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynbench.benchmarks import scenario_plugins, scenarios
from dynbench.robots.errors import UnknownNameError, near

CLAIM_COLUMNS = ("paper", "statement", "printed", "measured", "unit", "verdict", "reason")
ERRATUM_COLUMNS = ("paper", "where", "printed", "correct", "evidence", "test")
NOT_RUN = "not run"
TIMEOUT, QUICK_TIMEOUT = 900.0, 240.0  # seconds a paper


@dataclass(frozen=True)
class Paper:
    """What a paper's module found, as plain rows."""

    name: str
    claims: list[dict[str, Any]]
    errata: list[dict[str, Any]]


def names() -> tuple[str, ...]:
    """Return the names of the papers, without importing their modules."""
    found = []
    for folder in scenarios.__path__:
        for module in pkgutil.iter_modules([folder]):
            source = Path(folder) / (f"{module.name}/__init__.py" if module.ispkg else f"{module.name}.py")
            if _has_claims(ast.parse(source.read_text(encoding="utf-8"))):
                found.append(module.name.replace("_", "-"))
    trees = {name: scenario_plugins.syntax(point) for name, point in scenario_plugins.plugins().items()}
    found += [name for name, tree in trees.items() if isinstance(tree, ast.Module) and _has_claims(tree)]
    return tuple(sorted(found))


def _has_claims(tree: ast.Module) -> bool:
    """Whether a module defines ``claims``, or takes it from another part of its package."""
    taken: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            taken.add(node.name)
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(scenarios.__name__)):
            taken.update(alias.asname or alias.name for alias in node.names)
    return "claims" in taken


def checked_names(wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the papers asked for, all if none is named."""
    known = names()
    for name in wanted:
        if name.replace("_", "-") not in known:
            raise UnknownNameError(f"no paper is called {name!r}; {near(name, known)}")
    return tuple(name.replace("_", "-") for name in wanted) or known


def job(name: str, quick: bool = False) -> dict[str, Any]:
    """Run one paper's experiments (a job of `workers`)."""
    module = scenario_plugins.load(name)
    takes_quick = "quick" in inspect.signature(module.claims).parameters
    claims = module.claims(quick=quick) if takes_quick else module.claims()
    errata = module.errata() if hasattr(module, "errata") else []
    return {
        "claims": [dataclasses.asdict(claim) for claim in claims],
        "errata": [dataclasses.asdict(erratum) for erratum in errata],
    }


def run_papers(wanted: Sequence[str], quick: bool = False) -> list[Paper]:
    """Run the experiments of the papers named; one that fails or hangs gets a row that says so."""
    from dynbench.benchmarks.runs.progress import Progress
    from dynbench.benchmarks.runs.workers import Answer, Job, run_jobs

    jobs = [
        Job(f"{__name__}:job", {"name": name, "quick": quick}, QUICK_TIMEOUT if quick else TIMEOUT) for name in wanted
    ]
    with Progress("papers", len(jobs)) as progress:

        def done(job: Job, answer: Answer) -> None:
            progress.step(job.arguments["name"], bool(answer.reason))

        answers = run_jobs(jobs, done=done)
    found = []
    for name, answer in zip(wanted, answers, strict=True):
        if answer.reason:
            row = {"paper": name, "statement": "its experiments run", "verdict": NOT_RUN, "reason": answer.reason}
            found.append(Paper(name, [row], []))
        else:
            found.append(Paper(name, answer.value["claims"], answer.value["errata"]))
    return found


def write(folder: Path, papers: Sequence[Paper]) -> None:
    """Write claims.csv and errata.csv."""
    from dynbench.benchmarks.runs import tables

    folder.mkdir(parents=True, exist_ok=True)
    tables.write(folder / "claims.csv", CLAIM_COLUMNS, [claim for paper in papers for claim in paper.claims])
    tables.write(folder / "errata.csv", ERRATUM_COLUMNS, [erratum for paper in papers for erratum in paper.errata])


def table(papers: Sequence[Paper]) -> str:
    """Return the claims as text, a line each."""
    lines = []
    for paper in papers:
        counts: dict[str, int] = {}
        for claim in paper.claims:
            counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
        summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no claims"
        lines.append(f"{paper.name}: {summary}; errata: {len(paper.errata)}")
        for claim in paper.claims:
            measured = claim.get("measured")
            ours = "" if measured is None else f"{measured:.6g} {claim.get('unit', '')}".rstrip()
            lines.append(f"  [{claim['verdict']}] {claim['statement']}")
            lines.append(f"      printed {claim.get('printed') or '-'}; ours {ours or '-'}; {claim['reason']}")
    return "\n".join(lines)
