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

from dynbench.benchmarks.runs.workers import one_line
from dynbench.benchmarks.timing import cases, passes

SPEC = passes.Spec.read(Path(os.environ["DYNBENCH_TIMING"])) if "DYNBENCH_TIMING" in os.environ else passes.by_hand()
CASES = [(number, cell) for number in SPEC.passes for cell in SPEC.cells]


def tell(event: str, cell: cases.Cell, **more: Any) -> None:
    """Say to whoever runs us how far we are, in case that we do not return."""
    if SPEC.status:
        with open(SPEC.status, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "key": cell.key, **more}) + "\n")


@pytest.mark.parametrize(("number", "cell"), CASES, ids=[f"pass{number}-{cell.key}" for number, cell in CASES])
def test_time(benchmark: Any, number: int, cell: cases.Cell) -> None:
    tell("start", cell)
    try:
        ready = cases.timed(cell, SPEC.seed, SPEC.call_limit, SPEC.give_up)
        benchmark.group = cell.group
        benchmark.extra_info.update(cell.plain(), label=cell.label, key=cell.key, number=number, timed_rows=ready.rows)
        benchmark(ready.function, *ready.arguments, **ready.keywords)
    except Exception as error:
        reason = str(error) if isinstance(error, cases.NotTimed) else f"failed: {one_line(error)}"
        tell("failed", cell, reason=reason)
        pytest.fail(reason, pytrace=not isinstance(error, cases.NotTimed))
    tell("done", cell)
