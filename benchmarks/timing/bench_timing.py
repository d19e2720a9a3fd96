"""Timing cases for pytest-benchmark; `passes` runs them, and they can be run by hand:

    pytest benchmarks --benchmark-autosave

The JSON file that ``$DYNBENCH_TIMING`` names holds the cells to time (see `passes.Spec`); without it, every method that
supports the Panda is timed. Cells that are compared with each other are measured together, in turns (`rounds`), when
the first of them is run; pytest-benchmark then gets the CPU times of each cell's turns through a timer that replays
them, so that its statistics, JSON files and comparisons work as always.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from dynbench.benchmarks.processes import child
from dynbench.benchmarks.processes.jobs import one_line
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.timing import calibration, cases, passes
from dynbench.benchmarks.timing.rounds import Rounds, Stopwatch
from dynbench.benchmarks.timing.sessions import CURRENT

MEMORY = child.join()
PROCESS = os.getpid()
SPEC = passes.Spec.read(Path(os.environ["DYNBENCH_TIMING"])) if "DYNBENCH_TIMING" in os.environ else passes.by_hand()
GROUPS = SPEC.groups()
CASES = [(number, cell) for number in SPEC.passes for group in GROUPS.values() for cell in group]
NUMBERS = {cell.key: place for place, cell in enumerate(SPEC.cells)}


def report(event: str, **more: Any) -> None:
    """Append an event to the status file, so that the parent process knows it even if this one crashes."""
    if os.getpid() != PROCESS:  # the child of a method that forked and returned in both processes
        os._exit(0)
    if SPEC.status:
        with open(SPEC.status, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **more}) + "\n")


class Current:
    """The number of the cell that is being called, where the parent process finds it after a crash."""

    def __init__(self) -> None:
        self._map: mmap.mmap | None = None
        if SPEC.status:
            path = Path(SPEC.status).with_name(CURRENT)
            with open(path, "w+b") as file:
                file.write(struct.pack("i", -1))
                file.flush()
                self._map = mmap.mmap(file.fileno(), 4)

    def set(self, number: int) -> None:
        if self._map is not None:
            self._map[:4] = struct.pack("i", number)


@pytest.fixture(scope="session")
def measured() -> Measuring:
    return Measuring()


class Measuring:
    """Measures each group once, when the first of its cells is asked for."""

    def __init__(self) -> None:
        self.current = Current()
        self.watch = Stopwatch(better_known(SPEC.best))
        self.done: dict[tuple[int, str], dict[str, tuple[list[float], int] | Missing]] = {}

    def cell(self, number: int, cell: cases.Cell) -> tuple[list[float], int] | Missing:
        """Return the CPU seconds of a cell's turns and the states of a call, or why there are none."""
        if (number, cell.group) not in self.done:
            self.done = {(number, cell.group): self._group(GROUPS[cell.group])}  # earlier groups are not needed again
        return self.done[number, cell.group][cell.key]

    def _group(self, cells: Sequence[cases.Cell]) -> dict[str, tuple[list[float], int] | Missing]:
        ready: dict[str, cases.Timed] = {}
        found: dict[str, tuple[list[float], int] | Missing] = {}
        for cell in cells:
            print(f"\n{cell.key}", flush=True)  # output from here on belongs to this cell
            report("start", key=cell.key)
            self.current.set(NUMBERS[cell.key])
            outcome = self._prepared(cell)
            if isinstance(outcome, Missing):
                found[cell.key] = outcome
                report("missing", key=cell.key, **outcome._asdict())
            else:
                ready[cell.key] = outcome
        if ready:
            rounds = self._measured(cells, ready)
            for place, key in enumerate(ready):
                found[key] = [x for x in rounds.cpu[place] if math.isfinite(x)], ready[key].rows
            rows, code = [one.rows for one in ready.values()], [one.code for one in ready.values()]
            record = {"cells": list(ready), "rows": rows, "code": code, "rounds": rounded(rounds)}
            report("measured", key="", record=record)
        self.current.set(-1)
        return found

    def _prepared(self, cell: cases.Cell) -> cases.Timed | Missing:
        try:
            checked = SPEC.checked.get(cell.robot, cases.UNCHECKED)
            return cases.timed(cell, SPEC.seed, SPEC.call_limit, SPEC.give_up, checked)
        except MemoryError:
            report("missing", key=cell.key, **child.out_of_memory(MEMORY)._asdict())
            os._exit(3)  # the memory that is still in use must not affect other cells
        except cases.NotTimed as error:
            return Missing(Outcome.LEFT_OUT, str(error))
        except BaseException as error:  # SystemExit too: it concerns this cell only
            return Missing(Outcome.FAILED, f"raised {one_line(error)}")

    def _measured(self, cells: Sequence[cases.Cell], ready: dict[str, cases.Timed]) -> Rounds:
        numbers = [NUMBERS[key] for key in ready]
        calls = [one.call for one in ready.values()]

        def turn(place: int) -> None:
            self.current.set(numbers[place])

        return self.watch.measure(calls, SPEC.budget, threads=cells[0].kind == "threads", turn=turn)


def better_known(best: Any) -> Any:
    """What the calibration loops reach on this machine: of the run so far, or remembered from earlier ones."""
    return best or calibration.remembered()


def rounded(rounds: Rounds) -> dict[str, Any]:
    """Rounds as plain data, times with five digits."""

    def five(value: Any) -> Any:
        if isinstance(value, list):
            return [five(item) for item in value]
        return float(f"{value:.5g}") if isinstance(value, float) else value

    return {name: five(value) for name, value in asdict(rounds).items()}


class Replay:
    """A timer that advances by the given times, one between every two readings."""

    def __init__(self, times: Sequence[float]) -> None:
        self.times = iter(times)
        self.now, self.running = 0.0, False

    def __call__(self) -> float:
        self.now += next(self.times, 0.0) if self.running else 0.0
        self.running = not self.running
        return self.now


@pytest.mark.parametrize(("number", "cell"), CASES, ids=[f"pass{number}-{cell.key}" for number, cell in CASES])
def test_time(benchmark: Any, measured: Measuring, number: int, cell: cases.Cell) -> None:
    found = measured.cell(number, cell)
    if isinstance(found, Missing):
        pytest.fail(found.reason, pytrace=False)
    seconds, rows = found
    benchmark.group = cell.group
    benchmark.extra_info.update(cell.plain(), label=cell.label, key=cell.key, number=number, timed_rows=rows)
    benchmark._timer = Replay(seconds)
    benchmark.pedantic(lambda: None, rounds=len(seconds), iterations=1)
