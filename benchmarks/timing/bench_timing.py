"""Timing cases for pytest-benchmark; `passes` runs them, and so can anybody:

    pytest benchmarks/timing/bench_timing.py -o python_files='bench_*.py' --benchmark-autosave

Which cells are timed is told by the JSON file that ``$DYNBENCH_TIMING`` names (see `passes.Spec`); without it, every
method that does the Panda. The pass is the outermost parameter and methods are innermost, so that the methods compared
with each other alternate, and slow drift of the machine hits them alike.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dynbench.benchmarks.processes import child
from dynbench.benchmarks.processes.jobs import one_line, size_text
from dynbench.benchmarks.timing import cases, passes

MEMORY = child.join()
PROCESS = os.getpid()
SPEC = passes.Spec.read(Path(os.environ["DYNBENCH_TIMING"])) if "DYNBENCH_TIMING" in os.environ else passes.by_hand()
CASES = [(number, cell) for number in SPEC.passes for cell in SPEC.cells]


def tell(event: str, cell: cases.Cell, **more: Any) -> None:
    """Say to whoever runs us how far we are, in case that we do not return."""
    if os.getpid() != PROCESS:  # a method that forked, and came back in both
        os._exit(0)
    if SPEC.status:
        with open(SPEC.status, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "key": cell.key, **more}) + "\n")


@pytest.mark.parametrize(("number", "cell"), CASES, ids=[f"pass{number}-{cell.key}" for number, cell in CASES])
def test_time(benchmark: Any, number: int, cell: cases.Cell) -> None:
    print(f"\n{cell.key}", flush=True)  # what is said from here on is this cell's
    tell("start", cell)
    try:
        checked = SPEC.checked.get(cell.robot, cases.UNCHECKED)
        ready = cases.timed(cell, SPEC.seed, SPEC.call_limit, SPEC.give_up, checked)
        benchmark.group = cell.group
        benchmark.extra_info.update(cell.plain(), label=cell.label, key=cell.key, number=number, timed_rows=ready.rows)
        benchmark(ready.function, *ready.arguments, **ready.keywords)
    except MemoryError:
        tell("failed", cell, reason=f"ran out of memory (limit {size_text(MEMORY)})")
        os._exit(3)  # what is left of it belongs to no other cell
    except BaseException as error:  # SystemExit too: whatever it is, it is this cell's alone
        reason = str(error) if isinstance(error, cases.NotTimed) else f"failed: {one_line(error)}"
        tell("failed", cell, reason=reason)
        pytest.fail(reason, pytrace=False)
    tell("done", cell, record=record(benchmark, ready.rows))


def record(benchmark: Any, rows: int) -> dict[str, float]:
    """What is kept of pytest-benchmark's statistics, in seconds a call."""
    found = benchmark.stats.stats
    return {"median": found.median, "iqr": found.iqr, "rounds": found.rounds, "timed_rows": rows}
