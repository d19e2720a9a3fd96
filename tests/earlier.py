"""Leaves out tests that an earlier session has passed and that optional engines cannot change.

The session `tests` writes the names of the tests that passed to the folder ``$DYNBENCH_EARLIER``, in a file named by a
digest of all sources; the session `peers` reads it. A test is left out if it passed there and neither its function nor
its parameters mention what differs with engines installed. Tests that were skipped for want of an engine run.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("robots", "methods", "benchmarks", "reports", "tests", "docs", "examples")

# What tests mention whose result may differ with engines and models installed
WITH_PEERS = re.compile(
    r"importorskip|pinocchio|mujoco|pydrake|drake|exudyn|dynibo|frax|simbody|talos|distributed|\bpin\b|names\(|"
    r"find_spec|available|subprocess|dynbench\(|command|main\("
)
LEAST = 100  # passed tests of a session that ran everything; a part of them is not recorded


@functools.cache
def record() -> Path | None:
    """The file of the passed tests of these sources, None if no folder is given."""
    folder = os.environ.get("DYNBENCH_EARLIER")
    if not folder:
        return None
    digest = hashlib.sha256()
    for path in sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts and not path.is_relative_to(ROOT / "reports" / "latest"):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return Path(folder) / f"passed-{digest.hexdigest()[:16]}.txt"


def repeated(item: pytest.Item, passed: frozenset[str]) -> bool:
    """Whether a test passed before and would do the same again."""
    if item.nodeid not in passed or WITH_PEERS.search(item.nodeid):
        return False
    function = getattr(item, "function", None)
    return function is not None and not WITH_PEERS.search(inspect.getsource(function))


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what another session has passed."""
    file = record()
    if os.environ.get("DYNBENCH_EARLIER_USE") != "1" or file is None or not file.exists():
        return
    passed = frozenset(file.read_text(encoding="utf-8").splitlines())
    kept, left = [], []
    for item in items:
        (left if repeated(item, passed) else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


class Recorder:
    """Writes the names of passed tests at the end of a session that ran many."""

    def __init__(self) -> None:
        self.passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        file = record()
        if file is not None and len(self.passed) >= LEAST:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(sorted(self.passed)), encoding="utf-8")
