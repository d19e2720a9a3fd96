"""All problems by all methods, each pair in a process of its own; rows of problems.csv, recordings, a table as text.

A job for each pair: one that crashes, hangs or raises loses its own rows, which then have the reason.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dynbench import methods
from dynbench.benchmarks.problems import exudyn_judge, recording, registry, sweep
from dynbench.benchmarks.problems.problem import Problem
from dynbench.benchmarks.processes.jobs import Answer, Ask, Job
from dynbench.benchmarks.results import files, schema, tables
from dynbench.benchmarks.results.best_runs import RECORDED, TARGETS, Row, applied, best, grouped, how, value
from dynbench.benchmarks.results.rows import plain
from dynbench.benchmarks.results.summary import clip
from dynbench.benchmarks.simulation.recording import Simulation

TIMEOUT, QUICK_TIMEOUT = 1200.0, 300.0  # seconds a job, compiling included
LONGEST = 60  # characters of a reason in the table of a terminal


def problem_of(module: str, name: str, quick: bool = False) -> Problem:
    """Return a problem of a module by its name."""
    return next(problem for problem in registry.load(module, quick) if problem.name == name)


def listed(module: str, quick: bool = False) -> list[dict[str, Any]]:
    """Return what is said of the problems of a module (a job: it imports the module, which may fail)."""
    return [
        {"name": one.name, "title": one.title, "source": one.source, "horizon": one.horizon, "bodies": one.robot.n}
        for one in registry.load(module, quick)
    ]


def job(module: str, name: str, method: str, quick: bool = False) -> list[dict[str, Any]]:
    """Run a problem by a method (a job of `workers`)."""
    found = sweep.runs(problem_of(module, name, quick), methods.get(method), quick)
    return [dataclasses.asdict(run) for run in found]


def judge(module: str, name: str, engine: str, quick: bool = False) -> list[dict[str, Any]]:
    """Run a problem by Exudyn's own solver, which is no method (a job of `workers`); ``engine`` is its version."""
    return [dataclasses.asdict(run) for run in exudyn_judge.runs(problem_of(module, name, quick), quick)]


def record(module: str, name: str) -> dict[str, Any]:
    """Record a problem for a report (a job of `workers`)."""
    return dataclasses.asdict(recording.recorded(problem_of(module, name)))


class Found(NamedTuple):
    """What a run of problems found, as plain rows."""

    rows: list[dict[str, Any]]
    problems: list[dict[str, Any]]  # as `listed` gives them, with the module
    lost: int  # jobs that gave no answer


def run(wanted: Sequence[str], chosen: Sequence[str], quick: bool = False, ask: Ask | None = None) -> Found:
    """Run the problems of the modules named by the methods named.

    ``ask`` runs jobs for a stage of that name (default: processes of their own, and nothing is remembered).
    """
    from dynbench.benchmarks.processes.workers import ask_all

    ask = ask or ask_all
    limit = QUICK_TIMEOUT if quick else TIMEOUT
    jobs = [Job(f"{__name__}:listed", {"module": name, "quick": quick}, limit) for name in wanted]
    rows: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    lost = 0
    for name, answer in zip(wanted, ask("listing problems", jobs), strict=True):
        if answer.reason:
            lost += 1
            rows.append(_missing(name, "", answer))
        else:
            found += [{"module": name, **one} for one in answer.value]
    pairs = [(one, method) for one in found for method in chosen]
    jobs = [job_of(one, method, quick, limit) for one, method in pairs]
    for (one, method), answer in zip(pairs, ask("problems", jobs), strict=True):
        if answer.reason:
            lost += 1
            rows.append(_missing(one["name"], method, answer))
        else:
            rows += answer.value
    return Found(rows, found, lost)


def job_of(problem: dict[str, Any], method: str, quick: bool, limit: float) -> Job:
    """The job that runs a problem, as `listed` gives it, by a method or by Exudyn's own solver."""
    from dynbench.benchmarks.processes.hosts import package_version
    from dynbench.benchmarks.processes.plugins import owner

    arguments = {"module": problem["module"], "name": problem["name"], "quick": quick}
    if method == exudyn_judge.NAME:
        return Job(f"{__name__}:judge", {**arguments, "engine": package_version("exudyn")}, limit, owner=method)
    return Job(f"{__name__}:job", {**arguments, "method": method}, limit, owner=owner(method))


def _missing(problem: str, method: str, answer: Answer) -> dict[str, Any]:
    return {"problem": problem, "method": method, "reason": answer.why, "outcome": answer.outcome}


def record_all(folder: Path, problems: Iterable[dict[str, Any]], ask: Ask | None = None) -> None:
    """Store a recording of each problem among the simulations of a folder; those of earlier runs are removed."""
    from dynbench.benchmarks.processes.workers import ask_all

    target = folder / "simulations"
    for old in target.glob(f"{recording.prefixed('*')}.json"):
        old.unlink()
    problems = list(problems)
    jobs = [Job(f"{__name__}:record", {"module": one["module"], "name": one["name"]}, TIMEOUT) for one in problems]
    for one, answer in zip(problems, (ask or ask_all)("recording problems", jobs), strict=True):
        name = recording.prefixed(one["name"])
        absent = Simulation(name, RECORDED, one["title"], "", [], None, answer.why)
        target.mkdir(parents=True, exist_ok=True)
        files.write_json(target / f"{name}.json", plain(answer.value or dataclasses.asdict(absent)))


def write(folder: Path, rows: Sequence[Row]) -> None:
    """Write problems.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    schema.PROBLEMS.write(folder, rows)


def method_names() -> tuple[str, ...]:
    """Return all methods, and Exudyn's own solver."""
    return (*methods.names(), exudyn_judge.NAME)


def facts(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what environment.json has of each method."""
    known = {name: methods.get(name) for name in names if name != exudyn_judge.NAME}
    words = ("title", "reference", "cost", "exact", "floor")
    found: dict[str, dict[str, Any]] = {
        name: {**{word: getattr(method, word) for word in words}, "peer": bool(method.requires)}
        for name, method in known.items()
    }
    if exudyn_judge.NAME in names:
        about = {"title": "Exudyn, free bodies and constraints, its own integrator", "exact": True, "peer": True}
        found[exudyn_judge.NAME] = {**about, "reference": "Gerstmayr, Exudyn, Multibody System Dynamics 60, 2024"}
    return found


def table(rows: Sequence[Row]) -> str:
    """Return the best runs as text, a line for each problem and method, then who does not apply and why."""
    lines, failed = [], []
    absent: dict[tuple[str, str], list[str]] = {}
    for problem, by_method in grouped(rows).items():
        for method, mine in by_method.items():
            row, cheapest = best(mine)
            if not method:
                failed.append(f"not run: {problem}: {row['reason']}")
                continue
            if not applied(row):
                absent.setdefault((method, row["reason"]), []).append(problem)
                continue
            digits, energy, cpu = (value(row, name) for name in ("digits", "energy_error", "cpu"))
            times = [tables.time_text(x) if math.isfinite(x) else "-" for x in (cpu, *cheapest)]
            evaluations, singular = (value(row, name) for name in ("evaluations", "singular"))
            lines.append([
                f"{problem}  {method}", f"{digits:.1f}" if math.isfinite(digits) else "-", how(row),
                *(f"{x:.0f}" if math.isfinite(x) else "-" for x in (evaluations,)), *times,
                f"{energy:.0e}" if math.isfinite(energy) else "-", f"{singular:.0f}" if singular > 0 else "-",
                _ended(row),
            ])  # fmt: skip
    heads = ["problem and method", "digits", "at", "evaluations", "CPU", *(f"to {x:.0e}" for x in TARGETS),
             "energy, J", "singular", "ended early"]  # fmt: skip
    text = tables.aligned(heads, lines) if lines else "no problem was run"
    notes = [f"does not apply: {method} to {', '.join(where)}: {why}" for (method, why), where in absent.items()]
    return "\n".join([text, *map(clip, notes), *failed])


def _ended(row: Row) -> str:
    """Return why a run ended early, and when."""
    if not row.get("reason"):
        return ""
    reached = value(row, "reached")
    when = f"at {reached:.3g} s: " if math.isfinite(reached) else ""
    return f"{when}{row['reason']}"[:LONGEST]
