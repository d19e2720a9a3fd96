"""The papers' experiments as curves and moving pictures, stored as ``simulations/<name>.json``.

A paper, ours or that of another package, offers them by ``simulations()``: functions that return a `Simulation`, by
name. Each runs in another process; one that fails is stored with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dynbench.benchmarks.papers import plugins, registry
from dynbench.benchmarks.processes.jobs import Ask
from dynbench.benchmarks.results import files
from dynbench.benchmarks.results.rows import plain
from dynbench.benchmarks.simulation.recording import Simulation

TIMEOUT = 900.0  # seconds a simulation


def simulations(paper: str, quick: bool = False) -> dict[str, Callable[[], Simulation]]:
    """Return the simulations of a paper by name; ``quick`` leaves out those that take more than a few seconds."""
    module = plugins.load(paper)
    return dict(registry.call(module.simulations, quick)) if hasattr(module, "simulations") else {}


def listed(papers: Sequence[str], quick: bool = False) -> list[dict[str, str]]:
    """Return the arguments of all jobs (itself a job of `workers`: it imports the papers, which may fail)."""
    return [{"paper": paper, "name": name} for paper in papers for name in simulations(paper, quick)]


def job(paper: str, name: str) -> dict[str, Any]:
    """Run one simulation (a job of `workers`)."""
    return asdict(simulations(paper)[name]())


def run(folder: Path, papers: Sequence[str], quick: bool = False, ask: Ask | None = None) -> None:
    """Run the simulations of the papers named and store each in a file; those of an earlier run are removed.

    ``ask`` is as for `run_papers`.
    """
    from dynbench.benchmarks.processes.workers import Job, ask_all

    ask = ask or ask_all
    target = folder / "simulations"
    for old in target.glob("*.json"):
        old.unlink()
    found: dict[tuple[str, str], dict[str, Any]] = {}
    asked = [Job(f"{__name__}:listed", {"papers": [paper], "quick": quick}, TIMEOUT) for paper in papers]
    jobs = []
    for paper, answer in zip(papers, ask("listing simulations", asked) if asked else [], strict=True):
        if answer.reason:
            found[paper, paper] = asdict(Simulation(paper, paper, paper, "", [], None, answer.why))
        else:
            jobs += [Job(f"{__name__}:job", arguments, TIMEOUT) for arguments in answer.value]
    for asked_for, answer in zip(jobs, ask("simulations", jobs) if jobs else [], strict=True):
        paper, name = asked_for.arguments["paper"], asked_for.arguments["name"]
        found[paper, name] = answer.value or asdict(Simulation(name, paper, name, "", [], None, answer.why))
    if found:
        target.mkdir(parents=True, exist_ok=True)
    names = [name for _, name in found]
    for (paper, name), simulation in found.items():
        unique = name if names.count(name) == 1 else f"{paper}-{name}"  # two papers may use the same name
        files.write_json(target / f"{unique}.json", plain({**simulation, "name": unique}))
