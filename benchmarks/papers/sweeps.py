"""Work against precision for every scenario of every paper, stored as ``work_precision.csv``.

A job for each method of each scenario, in other processes; one that fails is one row with its reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynbench.benchmarks.papers import plugins, registry
from dynbench.benchmarks.processes.jobs import Ask
from dynbench.benchmarks.simulation import work_precision
from dynbench.benchmarks.simulation.scenario import Scenario

TIMEOUT = 600.0  # seconds a job


def scenarios(paper: str, quick: bool = False) -> list[Scenario]:
    """Return what a paper, ours or a plugin's, wants swept."""
    module = plugins.load(paper)
    return list(registry.call(module.scenarios, quick)) if hasattr(module, "scenarios") else []


def listed(papers: Sequence[str], quick: bool = False) -> list[dict[str, Any]]:
    """Return the arguments of all jobs (itself a job of `workers`: it imports the papers, which may fail)."""
    return [
        {"paper": paper, "scenario": scenario.name, "number": number, "quick": quick}
        for paper in papers
        for scenario in scenarios(paper, quick)
        for number in range(len(scenario.methods))
    ]


def job(paper: str, scenario: str, number: int, quick: bool = False) -> list[dict[str, Any]]:
    """Sweep one of the methods of a scenario, by its number (a job of `workers`)."""
    swept = next(found for found in scenarios(paper, quick) if found.name == scenario)
    grid = (work_precision.QUICK_SOLVERS, work_precision.QUICK_RTOLS) if quick else ()
    points = work_precision.work_precision(swept, [swept.methods[number]], *grid)
    return [dataclasses.asdict(point) for point in points]


def run(folder: Path, papers: Sequence[str], quick: bool = False, ask: Ask | None = None) -> None:
    """Sweep the scenarios of the papers named, and write work_precision.csv; an earlier one is removed.

    ``ask`` is as for `run_papers`.
    """
    from dynbench.benchmarks.processes.workers import Job, ask_all
    from dynbench.benchmarks.results import schema

    ask = ask or ask_all

    (folder / schema.WORK_PRECISION.file).unlink(missing_ok=True)
    asked = [Job(f"{__name__}:listed", {"papers": [paper], "quick": quick}, TIMEOUT) for paper in papers]
    rows: list[dict[str, Any]] = []
    jobs = []
    for paper, answer in zip(papers, ask("listing sweeps", asked), strict=True):
        if answer.reason:
            rows.append({"scenario": paper, "reason": answer.why, "outcome": answer.outcome})
        else:
            jobs += [Job(f"{__name__}:job", arguments, TIMEOUT) for arguments in answer.value]
    answers = ask("work and precision", jobs)
    for asked_for, answer in zip(jobs, answers, strict=True):
        failed = {"scenario": asked_for.arguments["scenario"], "reason": answer.why, "outcome": answer.outcome}
        rows += answer.value or [failed]
    if rows:
        folder.mkdir(parents=True, exist_ok=True)
        schema.WORK_PRECISION.write(folder, rows)
