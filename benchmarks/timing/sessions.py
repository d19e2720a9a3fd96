"""One process of pytest-benchmark, watched from outside: which cells it measured, and at which it died or hung.

The process appends to a file of events when it begins, finishes or fails a cell (`bench_timing`), so that what it
measured is known at once, whatever becomes of it later. It is a `Child`: its memory is limited, what it prints is kept
in part, and it is ended with all it started.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynbench.benchmarks.processes.child import Child, how

OUTSIDE = 120.0  # seconds more than a cell has, for what happens before the first and after the last
Event = dict[str, Any]  # event: start, done or failed; key: of the cell; record or reason


@dataclass(frozen=True)
class Ended:
    """How a session ended."""

    at: str  # key of the cell that was being measured, "" if none was
    reason: str  # why it ended early, "" if it did not
    said: str  # its last lines
    report: str  # pytest-benchmark's own JSON, "" if it ended early


def run_session(
    spec: Path, script: Path, options: list[str], cell_timeout: float, memory: int, tell: Callable[[Event], None]
) -> Ended:
    """Run the script on the cells of a spec.

    Parameters
    ----------
    spec : Path
        The file that ``$DYNBENCH_TIMING`` names; events go to ``events`` beside it.
    tell
        Called with every event, as it happens.
    """
    folder = spec.parent
    events, report = folder / "events", folder / "report.json"
    events.write_text("", encoding="utf-8")
    report.unlink(missing_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        *(sys.executable, "-P", "-m", "pytest", "-q", "-s", "--no-header", "--tb=line"),
        *("-p", "pytest_benchmark.plugin", "-p", "no:cacheprovider", "-p", "no:faulthandler"),
        *("-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "--import-mode=importlib"),
        *("--benchmark-only", "--benchmark-disable-gc", "--benchmark-quiet", f"--benchmark-json={report}"),
        *("--benchmark-min-time=0.0001", "--benchmark-warmup=off", *options),
        str(script),
    ]
    # not a worker of the test run that may have started this one: pytest-benchmark measures nothing in those
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    told = {"DYNBENCH_TIMING": str(spec), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # no plugin but the one that times
    child = Child(command, outside | told, memory=memory)
    try:
        at, late = _watch(child, events, cell_timeout, tell)
    finally:
        child.kill()
        said, status = child.said(), child.end()
    said = said.rpartition(at)[2].strip() if at else said  # it prints the key when it begins a cell
    if late:
        return Ended(at, f"timed out after {cell_timeout:g} s", said, "")
    if status not in (0, 1):  # 1: some cells failed, and said so
        return Ended(at, how(status), said, "")
    return Ended("", "", said, report.read_text(encoding="utf-8") if report.is_file() else "")


def _watch(child: Child, events: Path, cell_timeout: float, tell: Callable[[Event], None]) -> tuple[str, bool]:
    """Follow the events until the process ends or says nothing for too long (True); return the open cell too."""
    heard = time.monotonic()
    at, text = "", ""
    with open(events, encoding="utf-8") as file:
        while True:
            ended = child.ended()
            text += file.read()
            *lines, text = text.split("\n")
            for line in lines:
                event = json.loads(line)
                at = event["key"] if event["event"] == "start" else ""
                heard = time.monotonic()
                tell(event)
            if ended:
                return at, False
            # outside of a cell there are imports, or pytest-benchmark's own work
            if time.monotonic() - heard > cell_timeout + (0.0 if at else OUTSIDE):
                return at, True
            child.hear(seconds=0.05)
