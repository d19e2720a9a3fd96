"""The findings of a run that never happened: methods that are named for how their cell ended, on one robot."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_rounds import made_timings
from pace import wait_until

from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.benchmarks.processes.outcomes import Missing
from dynbench.benchmarks.processes.workers import Workers
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, choose
from dynbench.benchmarks.tiers import GENERIC, Variant
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Timing
from dynbench.methods import Method, registry

ROBOT, QUANTITY = "two-link", "inverse_dynamics"


def pretend(monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    """Register methods of these names, which support every robot and compute inverse dynamics."""
    known, broken = registry.available()
    words = {"title": "T", "reference": "none", "prepare": lambda self, robot: None}
    made = {name: type(name, (Method,), {"name": name, **words}) for name in names}
    monkeypatch.setattr(registry, "_scan", lambda: ({**known, **made}, broken))


def made_findings(seconds: Mapping[str, float], missing: Mapping[str, Missing] | None = None) -> Findings:
    """A run with a batch of every method: its time, or why there is none."""
    missing = missing or {}
    plan = choose([ROBOT], [*seconds, *missing], [QUANTITY], quick=True, code=GENERIC)
    codes = dict(plan.variants)
    nothing: Any = None  # neither a journal nor an executor is used
    findings = Findings(plan, Matrix(plan), {}, nothing, nothing)
    for name, reason in missing.items():
        findings.matrix.refuse(ROBOT, Variant(name, codes[name]), QUANTITY, reason)
    _, refused = findings.matrix.cells()
    cells = {name: Cell(ROBOT, name, QUANTITY, "batch", 1000, code=codes[name]) for name in seconds}
    pair = {replace(cells[name], again=True): time for name, time in [*seconds.items()][:1]}
    timed = made_timings({cells[name]: time for name, time in seconds.items()} | pair)
    findings.timings = [timing for timing in timed if not timing.cell.again]
    findings.timings += [Timing.without(*one) for one in refused.items()]
    return findings


def answer(function: str, timeout: float = 120.0, memory: int = 4 << 30) -> Answer:
    """Run a function of `tempers` in a process of its own."""
    pool = workers()
    try:
        return pool.run(Job(f"tempers:{function}", {}, timeout, memory))
    finally:
        pool.stop()


def interrupted(note: Path) -> Answer:
    """Run a function that hangs, and stop its process once the file ``note`` shows that it has begun."""
    pool, found = workers(), []
    job = Job("tempers:hang", {"note": str(note)}, 600.0)
    thread = threading.Thread(target=lambda: found.append(pool.run(job)))
    thread.start()
    wait_until(note.exists)
    pool.stop()
    thread.join()
    return found[0]


def workers() -> Workers:
    """Workers that can import `tempers`."""
    folder = str(Path(__file__).parent / "benchmarks")
    return Workers({"PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])})
