"""One process of pytest-benchmark, watched by its parent: which cells it measured, and in which it crashed or hung.

The process appends an event to a file when it begins, finishes or fails a cell (`bench_timing`), so that its
measurements are known at once, even if it crashes later. It is a `Child`: its memory and its output are limited, and it
is killed with all its descendants.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynbench.benchmarks.processes.child import Child, crashed, timed_out
from dynbench.benchmarks.processes.outcomes import Missing
from dynbench.benchmarks.timing.cases import Cell

OUTSIDE_CELLS = 120.0  # additional seconds for imports and for what pytest-benchmark does after the last cell
CURRENT = "current"  # file with the number of the cell that is being called
Event = dict[str, Any]  # event: start, measured or missing; key: of the cell; record, or outcome and reason


@dataclass(frozen=True)
class Ended:
    """How a session ended."""

    cell: str  # key of the cell that was being measured, "" if none was
    missing: Missing | None  # why it ended early, None if it did not
    output: str  # the last lines it printed
    report: str  # pytest-benchmark's own JSON, "" if it ended early


def run_session(
    spec: Path, script: Path, options: list[str], cell_timeout: float, memory: int, handle: Callable[[Event], None]
) -> Ended:
    """Run the script on the cells of a spec.

    Parameters
    ----------
    spec : Path
        The file that ``$DYNBENCH_TIMING`` names; events go to ``events`` beside it.
    handle
        Called with every event when it happens.
    """
    folder = spec.parent
    events, report = folder / "events", folder / "report.json"
    events.write_text("", encoding="utf-8")
    spec.with_name(CURRENT).unlink(missing_ok=True)
    report.unlink(missing_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        *(sys.executable, "-P", "-m", "pytest", "-q", "-s", "--no-header", "--tb=line"),
        *("-p", "pytest_benchmark.plugin", "-p", "no:cacheprovider", "-p", "no:faulthandler"),
        *("-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "--import-mode=importlib"),
        *("--benchmark-only", "--benchmark-quiet", f"--benchmark-json={report}", *options),
        str(script),
    ]
    # this process may be a pytest-xdist worker, in which pytest-benchmark measures nothing: do not inherit that
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings = {"DYNBENCH_TIMING": str(spec), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # no other plugins
    child = Child(command, inherited | settings, memory=memory)
    try:
        cell, late = _watch(child, events, cell_timeout, handle)
    finally:
        child.kill()
        output, status = child.output(), child.end()
    cell = _current(spec) if late or status not in (0, 1) else cell
    output = output.rpartition(cell)[2].strip() if cell else output  # it prints the key when it begins a cell
    if late:
        return Ended(cell, timed_out(cell_timeout), output, "")
    if status not in (0, 1):  # 1: some cells have no number, and reported why
        return Ended(cell, crashed(status, output, memory), output, "")
    return Ended("", None, output, report.read_text(encoding="utf-8") if report.is_file() else "")


def _current(spec: Path) -> str:
    """The key of the cell that was being called when the process ended, "" if none was."""
    try:
        (number,) = struct.unpack("i", spec.with_name(CURRENT).read_bytes()[:4])
    except (OSError, struct.error):
        return ""
    cells = json.loads(spec.read_text(encoding="utf-8"))["cells"]
    return Cell(**cells[number]).key if 0 <= number < len(cells) else ""


def _watch(child: Child, events: Path, cell_timeout: float, handle: Callable[[Event], None]) -> tuple[str, bool]:
    """Follow the events until the process ends or reports nothing for too long; return the open cell, and which."""
    last_event = time.monotonic()
    cell, text = "", ""
    with open(events, encoding="utf-8") as file:
        while True:
            ended = child.ended()
            text += file.read()
            *lines, text = text.split("\n")
            for line in lines:
                event = json.loads(line)
                cell = event["key"] if event["event"] == "start" else "" if event["event"] == "measured" else cell
                last_event = time.monotonic()
                handle(event)
            if ended:
                return cell, False
            if time.monotonic() - last_event > cell_timeout + (0.0 if cell else OUTSIDE_CELLS):
                return cell, True
            child.wait(seconds=0.05)
