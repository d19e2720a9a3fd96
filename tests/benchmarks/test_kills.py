"""Runs that are killed, interrupted or terminated at seeded random moments and resumed: nothing finished is lost, the
exit code is the documented one, and the rows end up the same.

Three signals in the suite; ``DYNBENCH_KILLS=1000 nox -s long -- tests/benchmarks/test_kills.py`` for more, at other
moments with ``DYNBENCH_KILL_SEED``. When all cells of a folder are finished, its tables are compared and the next run
begins in a new one.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.processes.journal import NAME, Journal
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import tables

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("DYNBENCH_KILLS", "3"))
SEED = int(os.environ.get("DYNBENCH_KILL_SEED", "11"))
LONGEST = 1.1  # the latest signal, as a multiple of the duration of an undisturbed run
# how often each; Ctrl-C reaches all processes of a terminal, `kill` only the one that is named
SIGNALS = {signal.SIGKILL: 1, signal.SIGINT: 1, signal.SIGTERM: 1}
COMMAND = [sys.executable, "-P", "-m", "dynbench.benchmarks", "bench", "-r", "two-link", "-m", "newton-euler"]
COMMAND += ["-m", "kane", "--quantity", "inverse_dynamics", "--quick"]
# What is not a time, nor made from times
SAME = {
    "agreement.csv": None,
    "counts.csv": ("robot", "method", "quantity", "additions", "multiplications", "sincos", "flops", "reason"),
    "timing.csv": ("robot", "label", "quantity", "mode", "rows", "passes", "reason", "host"),
    "results.csv": ("robot", "method", "quantity", "measure", "unit", "other", "rows", "tolerance", "status", "seed"),
    "startup.csv": ("robot", "method", "quantity", "measure", "unit"),
}


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "--output", str(folder), *more]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def listens(pid: int) -> bool:
    """Whether a process handles SIGTERM: before, Python is starting, and the system ends it in its own way."""
    try:
        caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    except OSError:
        return False
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def finish(folder: Path, *more: str) -> None:
    process = start(folder, *more)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said


def rows(folder: Path) -> dict[str, list[tuple[str, ...]]]:
    found = {}
    for file, columns in SAME.items():
        table = tables.read(folder / file)
        for row in table:  # what disturbed a cell, and whether, is a matter of the machine and not of the signals
            if row.get("outcome") == Outcome.DISTURBED:
                row["reason"] = ""
        found[file] = sorted(tuple(row[column] for column in columns or row) for row in table)
    # what was compiled in this run or an earlier one is told by other rows, and is a matter of time
    for file in ("results.csv", "startup.csv"):
        found[file] = [row for row in found[file] if not row[3].startswith(("compile", "load"))]
    return found


def finished(folder: Path) -> dict[str, object]:
    """The answers in the journal, by key."""
    with Journal(folder, resume=True) as journal:
        found = {key: journal.find(key) for key in journal._where}
    return {key: (answer.value, answer.reason, answer.host) for key, answer in found.items()}


@pytest.fixture(scope="module", autouse=True)
def ctrl_c():
    """Shells start what runs in the background with Ctrl-C ignored, which all processes below would inherit."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """The folder of an undisturbed run and its duration in seconds; an earlier run compiles the kernels."""
    finish(tmp_path_factory.mktemp("compiling"))
    folder = tmp_path_factory.mktemp("untouched")
    begin = time.monotonic()
    finish(folder)
    return folder, time.monotonic() - begin


def test_killed_runs_lose_nothing_and_end_alike(untouched, tmp_path, capsys):
    untouched, seconds = untouched
    wanted, chance = rows(untouched), random.Random(SEED)
    assert all(wanted.values())
    killed, number, known, cells = 0, 0, {}, len(finished(untouched))
    stages = []
    ended: dict[tuple[str, int], int] = {}
    while killed < KILLS:
        folder = tmp_path / str(number)
        (number_sent,) = chance.choices(list(SIGNALS), list(SIGNALS.values()))
        process = start(folder, "--resume")
        while process.poll() is None and not listens(process.pid):
            time.sleep(0.02)
        time.sleep(chance.uniform(0.0, LONGEST * seconds))
        running = process.poll() is None
        if running:
            (os.kill if number_sent == signal.SIGTERM else os.killpg)(process.pid, number_sent)
            killed += 1
        _, said = process.communicate(timeout=600)
        assert "Traceback" not in said, said
        codes = {-number_sent} if number_sent == signal.SIGKILL else {options.INTERRUPTED}
        assert process.returncode in (codes | {0} if running else {0}), (number_sent, process.returncode, said)
        ended[number_sent.name, process.returncode] = ended.get((number_sent.name, process.returncode), 0) + 1
        stages.append((said.strip().splitlines() or ["start"])[-1].partition(":")[0])
        now = finished(folder) if (folder / NAME).is_file() else {}
        assert {key: now.get(key) for key in known} == known, "a finished cell was lost"
        known = now
        if len(now) == cells:  # nothing is left to lose here
            finish(folder, "--resume")
            assert rows(folder) == wanted
            number, known = number + 1, {}
    folder = tmp_path / str(number)
    finish(folder, "--resume")
    assert rows(folder) == wanted
    assert set(known) <= set(finished(folder))
    with capsys.disabled():
        print(f"\n{killed} signals, {number + 1} folders, exit codes {ended}, sent after: {', '.join(stages)}")
