"""The papers' experiments as curves and moving pictures, stored as ``simulations/<name>.json``.

Each function of `SIMULATIONS` runs one experiment and returns a `Simulation`. `run` does all of them in other
processes; one that fails is stored with its reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dynbench.benchmarks import experiments_loops as loops
from dynbench.benchmarks import experiments_trees as trees
from dynbench.benchmarks.runs.records import plain
from dynbench.benchmarks.simulation.recording import Simulation

TIMEOUT = 900.0  # seconds a simulation

SIMULATIONS: dict[str, Callable[[], Simulation]] = {
    "planar-platform": loops.planar_platform,
    "virtual-springs": loops.virtual_springs,
    "stewart-platform": loops.stewart_platform,
    "space-robot": trees.space_robot,
    "sliding-rods": trees.sliding_rods,
    "sliding-rods-cost": trees.sliding_rods_cost,
    "elastic-arm": trees.elastic_arm,
}
PAPERS = {
    "denoc-virtual-spring": ("planar-platform", "virtual-springs"),
    "lagrange-gough-stewart": ("stewart-platform",),
    "boltzmann-hamel-space": ("space-robot",),
    "gibbs-appell-rigid": ("sliding-rods", "sliding-rods-cost"),
    "gibbs-appell-elastic": ("elastic-arm",),
}
QUICK = ("planar-platform", "stewart-platform", "sliding-rods", "elastic-arm")  # a few seconds each, once compiled


def job(name: str) -> dict[str, Any]:
    """Run one simulation (a job of `workers`)."""
    return asdict(SIMULATIONS[name]())


def of_papers(names: Sequence[str]) -> tuple[str, ...]:
    """Return the simulations of the papers named."""
    return tuple(simulation for name in names for simulation in PAPERS.get(name, ()))


def run(folder: Path, wanted: Sequence[str] = tuple(SIMULATIONS)) -> None:
    """Run simulations and store each as ``simulations/<name>.json``; those of an earlier run are removed."""
    from dynbench.benchmarks.runs.progress import Progress
    from dynbench.benchmarks.runs.workers import Answer, Job, run_jobs

    target = folder / "simulations"
    for old in target.glob("*.json"):
        old.unlink()
    if not wanted:
        return
    jobs = [Job(f"{__name__}:job", {"name": name}, TIMEOUT) for name in wanted]
    with Progress("simulations", len(jobs)) as progress:

        def done(job: Job, answer: Answer) -> None:
            progress.step(job.arguments["name"], bool(answer.reason))

        answers = run_jobs(jobs, done=done)
    target.mkdir(parents=True, exist_ok=True)
    for name, answer in zip(wanted, answers, strict=True):
        found = answer.value or asdict(Simulation(name, "", name, "", [], None, answer.reason))
        (target / f"{name}.json").write_text(json.dumps(plain(found)) + "\n", encoding="utf-8")
