"""Timing cases for pytest-benchmark; `passes` runs them, and they can be run by hand:

    pytest benchmarks/timing/bench_timing.py -o python_files='bench_*.py' --benchmark-autosave

The JSON file that ``$DYNBENCH_TIMING`` names holds the cells to time (see `passes.Spec`); without it, every method that
supports the Panda is timed. The pass is the outermost parameter and methods are innermost, so that the methods compared
with each other alternate, and slow drift of the machine affects them alike.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dynbench.benchmarks.processes import child
from dynbench.benchmarks.processes.jobs import one_line
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.timing import cases, passes

MEMORY = child.join()
PROCESS = os.getpid()
SPEC = passes.Spec.read(Path(os.environ["DYNBENCH_TIMING"])) if "DYNBENCH_TIMING" in os.environ else passes.by_hand()
CASES = [(number, cell) for number in SPEC.passes for cell in SPEC.cells]


def report(event: str, cell: cases.Cell, **more: Any) -> None:
    """Append an event to the status file, so that the parent process knows it even if this one crashes."""
    if os.getpid() != PROCESS:  # the child of a method that forked and returned in both processes
        os._exit(0)
    if SPEC.status:
        with open(SPEC.status, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "key": cell.key, **more}) + "\n")


@pytest.mark.parametrize(("number", "cell"), CASES, ids=[f"pass{number}-{cell.key}" for number, cell in CASES])
def test_time(benchmark: Any, number: int, cell: cases.Cell) -> None:
    print(f"\n{cell.key}", flush=True)  # output from here on belongs to this cell
    report("start", cell)
    try:
        checked = SPEC.checked.get(cell.robot, cases.UNCHECKED)
        ready = cases.timed(cell, SPEC.seed, SPEC.call_limit, SPEC.give_up, checked)
        benchmark.group = cell.group
        benchmark.extra_info.update(cell.plain(), label=cell.label, key=cell.key, number=number, timed_rows=ready.rows)
        benchmark(ready.function, *ready.arguments, **ready.keywords)
    except MemoryError:
        report("missing", cell, **child.out_of_memory(MEMORY)._asdict())
        os._exit(3)  # the memory that is still in use must not affect other cells
    except BaseException as error:  # SystemExit too: it concerns this cell only
        ended = Missing(Outcome.FAILED, f"raised {one_line(error)}")
        if isinstance(error, cases.NotTimed):
            ended = Missing(Outcome.LEFT_OUT, str(error))
        report("missing", cell, **ended._asdict())
        pytest.fail(ended.reason, pytrace=False)
    report("done", cell, record=record(benchmark, ready.rows))


def record(benchmark: Any, rows: int) -> dict[str, float]:
    """The part of pytest-benchmark's statistics that is kept, in seconds per call."""
    found = benchmark.stats.stats
    return {"median": found.median, "iqr": found.iqr, "rounds": found.rounds, "timed_rows": rows}
