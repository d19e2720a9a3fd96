"""Timing by pytest-benchmark: several interleaved passes, merged; noise from A/A pairs; no verdict within the noise.

Each pass is a process of its own that runs `bench_timing` on all cells, so that what differs between processes (memory
layout, hash seeds) shows in the spread and not as a difference between methods. Within a pass pytest-benchmark
calibrates the number of calls a round and takes the statistics over rounds.

    seconds     of one state: the smallest over passes of the median over rounds
    median      the median over passes
    low, high   smallest and largest over passes
    iqr         between the quartiles of the rounds, median over passes
    noise       relative; see `noise`

A cell whose process dies or hangs gets the reason, its robot and method are left out, and another process goes on with
the rest of the pass (`sessions`). Every measurement goes into a journal as soon as it is there.
"""

from __future__ import annotations

import functools
import json
import math
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Protocol

from dynbench import methods
from dynbench.benchmarks.checks.evaluate import Checked
from dynbench.benchmarks.processes.jobs import INTERRUPTED, MEMORY, Answer, here
from dynbench.benchmarks.results import files
from dynbench.benchmarks.results.verdicts import compared_mode
from dynbench.benchmarks.timing.cases import Cell, load
from dynbench.benchmarks.timing.sessions import Ended, Event, run_session

FEWEST = 0.02  # noise is never taken to be below 2 %: a handful of A/A pairs cannot show less


@dataclass(frozen=True)
class Spec:
    """What a run of `bench_timing` times, and how long it may take over it."""

    cells: tuple[Cell, ...]
    passes: tuple[int, ...] = (0,)
    seed: int = 0
    max_time: float = 0.1  # seconds of rounds a cell
    min_rounds: int = 5
    call_limit: float = 0.1  # seconds a call; larger batches are cut
    give_up: float = 5.0  # seconds for eight states; slower cells are left out
    checked: dict[str, Checked] = field(default_factory=dict)  # by robot: the states and forces of its check
    status: str = ""  # file to which progress is appended

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Spec:
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["cells"] = tuple(Cell(**cell) for cell in plain["cells"])
        plain["passes"] = tuple(plain["passes"])
        plain["checked"] = {robot: (states, tau) for robot, (states, tau) in plain["checked"].items()}
        return cls(**plain)


@dataclass(frozen=True)
class Timing:
    """One cell's merged time, per state; ``reason`` is "" exactly when there is one."""

    cell: Cell
    seconds: float = math.nan
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    iqr: float = math.nan
    rows: int = 0  # as timed: fewer than the cell's when one call would have taken too long
    rounds: int = 0
    passes: int = 0
    noise: float = math.nan
    reason: str = ""
    host: str = ""  # where it was measured


def by_hand() -> Spec:
    """Cells for somebody who runs `bench_timing` without a spec: every method that does the Panda."""
    robot = load("panda")
    able = [name for name in methods.names() if methods.get(name).supports(robot) is None]
    cells = [
        Cell("panda", name, "inverse_dynamics", mode, rows)
        for mode, rows in (("call", 1), ("unchecked", 1), ("batch", 1000))
        for name in able
        if "inverse_dynamics" in methods.get(name).computes
    ]
    return Spec(tuple(cells), passes=(0, 1))


class Journal(Protocol):
    """What remembers finished cells of earlier runs, by cell and pass."""

    def find(self, cell: Cell, number: int) -> Answer | None:
        """Return pytest-benchmark's record of a cell as an answer, or why it has none; None if nothing is known."""

    def put(self, cell: Cell, number: int, answer: Answer) -> None:
        """Keep the same."""


class Nothing:
    """A journal that forgets."""

    def find(self, cell: Cell, number: int) -> Answer | None:
        return None

    def put(self, cell: Cell, number: int, answer: Answer) -> None:
        return None


class Run:
    """The state of a run: what was measured in each pass, and which cells have no number, with the reasons."""

    def __init__(self, spec: Spec, journal: Journal, step: Callable[[str, bool], None]) -> None:
        self.spec = spec
        self.journal = journal
        self.step = step
        self.cells = {cell.key: cell for cell in spec.cells}
        self.reasons: dict[str, str] = {}
        self.found: dict[str, dict[int, Answer]] = {key: {} for key in self.cells}

    def recall(self, number: int) -> None:
        """Take what the journal has of a pass."""
        for key, cell in self.cells.items():
            answer = self.journal.find(cell, number)
            if answer is not None:
                self._note(key, number, answer)

    def hear(self, number: int, event: Event) -> None:
        """Note an event of a session, in the journal first."""
        if event["event"] == "start":
            return
        answer = Answer(event.get("record"), event.get("reason", ""), host=here())
        self._keep(event["key"], number, answer)
        self.step(event["key"], bool(answer.reason))

    def ended(self, number: int, ended: Ended) -> None:
        """Note what a session died or hung at."""
        if ended.at:
            self._keep(ended.at, number, Answer(None, ended.reason, ended.said, here()))

    def left(self, number: int) -> tuple[Cell, ...]:
        """The cells of a pass that are still to be measured."""
        return tuple(
            cell for key, cell in self.cells.items() if key not in self.reasons and number not in self.found[key]
        )

    def _keep(self, key: str, number: int, answer: Answer) -> None:
        self.journal.put(self.cells[key], number, answer)
        self._note(key, number, answer)

    def _note(self, key: str, number: int, answer: Answer) -> None:
        if not answer.reason:
            self.found[key][number] = answer
            return
        self.reasons[key] = answer.why
        culprit = self.cells[key]
        for other, cell in self.cells.items():
            if answer.deadly and (cell.robot, cell.method) == (culprit.robot, culprit.method):
                self.reasons.setdefault(other, f"not run: {key} {answer.reason}")


def run(
    spec: Spec,
    cell_timeout: float = 60.0,
    step: Callable[[str, bool], None] = lambda key, failed: None,
    folder: Path | None = None,
    journal: Journal | None = None,
    memory: int = MEMORY,
    begin: bool = True,
) -> list[Timing]:
    """Time all cells of ``spec``; one `Timing` for each, in order.

    Parameters
    ----------
    cell_timeout : float
        Seconds after which a cell that says nothing is given up, with its process.
    step
        Called with a cell's key and whether it failed, once per cell and pass.
    folder : Path
        Where pytest-benchmark's own JSON files are kept (``pytest-benchmark compare`` reads them), of passes that one
        process did from beginning to end; default: nowhere.
    journal
        What was measured before, and where to keep what is measured now.
    memory : int
        Bytes a process may take.
    begin : bool
        False: take what the journal has, and measure nothing.
    """
    state = Run(spec, journal or Nothing(), step)
    for number in spec.passes:
        state.recall(number)
    with tempfile.TemporaryDirectory(prefix="dynbench-") as name:
        for number in spec.passes if begin else ():
            _one_pass(state, number, Path(name), cell_timeout, memory, folder)
    missing = "pytest-benchmark returned no measurement" if begin else INTERRUPTED
    return with_noise(
        [
            merge(cell, list(state.found[key].values()), state.reasons.get(key, "" if state.found[key] else missing))
            for key, cell in state.cells.items()
        ]
    )


def _one_pass(state: Run, number: int, temporary: Path, cell_timeout: float, memory: int, folder: Path | None) -> None:
    """Measure the cells of a pass that are missing, in as many processes as it takes."""
    spec = state.spec
    options = [f"--benchmark-max-time={spec.max_time}", f"--benchmark-min-rounds={spec.min_rounds}"]
    script = Path(__file__).with_name("bench_timing.py")
    while left := state.left(number):
        replace(spec, cells=left, passes=(number,), status=str(temporary / "events")).write(temporary / "spec.json")
        ended = run_session(
            temporary / "spec.json", script, options, cell_timeout, memory, functools.partial(state.hear, number)
        )
        state.ended(number, ended)
        if ended.report and len(left) == len(spec.cells) and folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            files.write_text(folder / f"pass{number}.json", ended.report)
        if len(state.left(number)) == len(left) or not ended.reason:
            said = " ".join(ended.said.split())[-300:]
            for cell in state.left(number):  # it did nothing, and would do so again
                why = ended.reason or "it measured nothing"
                state.reasons[cell.key] = f"not run: pytest-benchmark, outside of any cell: {why}: {said}"
            return


def merge(cell: Cell, passes: Sequence[Answer], reason: str = "") -> Timing:
    """Return one `Timing` from pytest-benchmark's records of a cell, one per pass."""
    if reason or not passes:
        return Timing(cell, reason=reason or "pytest-benchmark returned no measurement")
    records = [answer.value for answer in passes]
    rows = min(record["timed_rows"] for record in records)
    medians = [record["median"] / record["timed_rows"] for record in records]
    spreads = [record["iqr"] / record["timed_rows"] for record in records]
    rounds = sum(record["rounds"] for record in records)
    return Timing(
        cell,
        min(medians),
        statistics.median(medians),
        min(medians),
        max(medians),
        statistics.median(spreads),
        rows,
        rounds,
        len(passes),
        host=", ".join(sorted({answer.host for answer in passes})),
    )


def noise(pairs: Iterable[tuple[float, float]]) -> float:
    """Return how far two measurements of the same code are apart, relative: the 95 % quantile over A/A pairs.

    With few pairs that is the largest. Never below `FEWEST`.
    """
    apart = sorted(abs(math.log(a / b)) for a, b in pairs)
    if not apart:
        return math.nan
    return max(FEWEST, math.expm1(apart[math.ceil(0.95 * len(apart)) - 1]))


def with_noise(timings: Sequence[Timing]) -> list[Timing]:
    """Fill in the noise of each: of the A/A pairs of its mode, or of all modes where its own has none.

    An engine's own calls, of which there are no pairs, have the noise of the calls they stand beside: as long, and
    measured in turn with them. (Threads, which share processors with whatever else runs, are noisier by far.)
    """
    by_key = {timing.cell.key: timing for timing in timings}
    pairs: dict[str, list[tuple[float, float]]] = {}
    for timing in timings:
        first = by_key.get(replace(timing.cell, again=False).key)
        if timing.cell.again and first and not timing.reason and not first.reason:
            pairs.setdefault(timing.cell.mode, []).append((first.seconds, timing.seconds))
    everything = noise(pair for found in pairs.values() for pair in found)
    of_mode = {mode: noise(found) for mode, found in pairs.items()}
    return [
        timing if timing.reason else replace(timing, noise=of_mode.get(compared_mode(timing.cell.mode), everything))
        for timing in timings
    ]
