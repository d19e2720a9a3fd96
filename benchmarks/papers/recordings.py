"""The papers' experiments as curves and moving pictures, stored as ``simulations/<name>.json``.

Each is a function in the ``recording`` module of its paper that returns a `Simulation`. `run` does all of them in other
processes; one that fails is stored with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from dynbench.benchmarks.processes.jobs import Ask
from dynbench.benchmarks.results import files
from dynbench.benchmarks.results.rows import plain
from dynbench.benchmarks.simulation.recording import Simulation

TIMEOUT = 900.0  # seconds a simulation

PAPERS = {
    "virtual-spring-denoc": ("planar-platform", "virtual-springs"),
    "lagrange-stewart": ("stewart-platform",),
    "boltzmann-hamel": ("space-robot",),
    "gibbs-appell-rp": ("sliding-rods",),
    "gibbs-appell-elastic": ("elastic-arm",),
}
SIMULATIONS = {simulation: paper for paper, simulations in PAPERS.items() for simulation in simulations}
QUICK = ("planar-platform", "stewart-platform", "sliding-rods", "elastic-arm")  # a few seconds each, once compiled


def job(name: str) -> dict[str, Any]:
    """Run one simulation (a job of `workers`)."""
    module = import_module(f"{__package__}.{SIMULATIONS[name].replace('-', '_')}.recording")
    found: Simulation = getattr(module, name.replace("-", "_"))()
    return asdict(found)


def of_papers(names: Sequence[str]) -> tuple[str, ...]:
    """Return the simulations of the papers named."""
    return tuple(simulation for name in names for simulation in PAPERS.get(name, ()))


def run(folder: Path, wanted: Sequence[str] = tuple(SIMULATIONS), ask: Ask | None = None) -> None:
    """Run simulations and store each as ``simulations/<name>.json``; those of an earlier run are removed.

    ``ask`` is as for `run_papers`.
    """
    from dynbench.benchmarks.processes.workers import Job, ask_all

    target = folder / "simulations"
    for old in target.glob("*.json"):
        old.unlink()
    if not wanted:
        return
    jobs = [Job(f"{__name__}:job", {"name": name}, TIMEOUT) for name in wanted]
    answers = (ask or ask_all)("simulations", jobs)
    target.mkdir(parents=True, exist_ok=True)
    for name, answer in zip(wanted, answers, strict=True):
        found = answer.value or asdict(Simulation(name, "", name, "", [], None, answer.why))
        files.write_json(target / f"{name}.json", plain(found))
