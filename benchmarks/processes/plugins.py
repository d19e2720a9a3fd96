"""Methods of other packages: whose process runs them, and which cannot even be imported."""

from __future__ import annotations

from dynbench.benchmarks.processes.jobs import Job
from dynbench.benchmarks.processes.workers import run_jobs
from dynbench.methods import registry

IMPORT_TIMEOUT = 60.0  # seconds


def owner(name: str) -> str:
    """Return whose process runs a method: its own for plugins and other engines, "" for ours, which share them.

    The code that the kernels of our methods have in common takes numba ten seconds in every process that compiles one.
    """
    method = registry.get(name)
    return name if registry.is_foreign(method) or method.requires else ""


def vet() -> dict[str, str]:
    """Leave out the plugins whose import crashes, hangs or eats memory, and return why, by name.

    Each is imported in a process of its own before it is imported in this one.
    """
    names = registry.foreign()
    jobs = [Job(f"{registry.__name__}:load_alone", {"name": name}, IMPORT_TIMEOUT, owner=name) for name in names]
    answers = run_jobs(jobs) if jobs else []
    reasons = {
        name: f"its import failed: {answer.why}" for name, answer in zip(names, answers, strict=True) if answer.reason
    }
    if reasons:
        registry.leave_out(reasons)
    return reasons
