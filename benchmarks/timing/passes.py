"""Timing by pytest-benchmark: several interleaved passes, merged; noise from A/A pairs; no verdict within the noise.

Each pass is a separate process that runs `bench_timing` on all cells, so that differences between processes (memory
layout, hash seeds) show in the spread and not as a difference between methods. Within a pass pytest-benchmark
calibrates the number of calls per round and computes the statistics over rounds.

    seconds     per state: the smallest over passes of the median over rounds
    median      the median over passes
    low, high   smallest and largest over passes
    iqr         between the quartiles of the rounds, median over passes
    noise       relative; see `noise`

If a process crashes or hangs in a cell, that cell and the others of its robot and method get the outcome, and another
process measures the rest of the pass (`sessions`). Every measurement is written to a journal at once.
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
from dynbench.benchmarks.processes.outcomes import Missing, Outcome, WithOutcome
from dynbench.benchmarks.results import files
from dynbench.benchmarks.results.verdicts import compared_mode
from dynbench.benchmarks.timing.cases import Cell, load
from dynbench.benchmarks.timing.sessions import Ended, Event, run_session

MIN_NOISE = 0.02  # a few A/A pairs cannot show less
NO_MEASUREMENT = Missing(Outcome.FAILED, "pytest-benchmark returned no measurement")


@dataclass(frozen=True)
class Spec:
    """The cells that a run of `bench_timing` times, and its limits."""

    cells: tuple[Cell, ...]
    passes: tuple[int, ...] = (0,)
    seed: int = 0
    max_time: float = 0.1  # seconds of rounds per cell
    min_rounds: int = 5
    call_limit: float = 0.1  # seconds per call; larger batches are cut
    give_up: float = 5.0  # seconds for eight states; slower cells are left out
    checked: dict[str, Checked] = field(default_factory=dict)  # by robot: the states and forces of its check
    status: str = ""  # file to which events are appended

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
class Timing(WithOutcome):
    """The merged time of a cell, per state, or the reason why there is none."""

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
    outcome: Outcome = Outcome.NUMBER

    @classmethod
    def without(cls, cell: Cell, missing: Missing) -> Timing:
        """A cell that has no time."""
        return cls(cell, reason=missing.reason, outcome=missing.outcome)


def by_hand() -> Spec:
    """The cells of a run of `bench_timing` by hand: every method that supports the Panda."""
    robot = load("panda")
    able = [name for name in methods.names() if methods.get(name).supports(robot) is None]
    cells = [
        Cell("panda", name, "inverse_dynamics", mode, rows)
        for mode, rows in (("call", 1), ("unchecked", 1), ("batch", 1000))
        for name in able
        if "inverse_dynamics" in methods.get(name).computes
    ]
    return Spec(tuple(cells), passes=(0, 1))


class CellJournal(Protocol):
    """Stores the measurements of cells, by cell and pass."""

    def find(self, cell: Cell, number: int) -> Answer | None:
        """Return pytest-benchmark's record of a cell as an answer, or why it has none; None if nothing is stored."""

    def put(self, cell: Cell, number: int, answer: Answer) -> None:
        """Store the same."""


class NullJournal:
    """A journal that stores nothing."""

    def find(self, cell: Cell, number: int) -> Answer | None:
        return None

    def put(self, cell: Cell, number: int, answer: Answer) -> None:
        return None


class Run:
    """The state of a run: the measurements of each pass, and why other cells have none."""

    def __init__(self, spec: Spec, journal: CellJournal, step: Callable[[str, Outcome], None]) -> None:
        self.spec = spec
        self.journal = journal
        self.step = step
        self.cells = {cell.key: cell for cell in spec.cells}
        self.missing: dict[str, Missing] = {}
        self.found: dict[str, dict[int, Answer]] = {key: {} for key in self.cells}

    def recall(self, number: int) -> None:
        """Read the cells of a pass from the journal."""
        for key, cell in self.cells.items():
            answer = self.journal.find(cell, number)
            if answer is not None:
                self._note(key, number, answer)

    def handle(self, number: int, event: Event) -> None:
        """Store the result of a cell that a session reports, in the journal first."""
        if event["event"] == "start":
            return
        outcome, reason = Outcome(event.get("outcome", Outcome.NUMBER)), event.get("reason", "")
        self._put(event["key"], number, Answer(event.get("record"), reason, host=here(), outcome=outcome))

    def ended(self, number: int, ended: Ended) -> None:
        """Store the cell in which a session crashed or hung."""
        if ended.cell and ended.missing:
            outcome, reason = ended.missing
            self._put(ended.cell, number, Answer(None, reason, ended.output, here(), outcome=outcome))

    def left(self, number: int) -> tuple[Cell, ...]:
        """The cells of a pass that are still to be measured."""
        return tuple(
            cell for key, cell in self.cells.items() if key not in self.missing and number not in self.found[key]
        )

    def _put(self, key: str, number: int, answer: Answer) -> None:
        self.journal.put(self.cells[key], number, answer)
        self._note(key, number, answer)
        self.step(key, answer.outcome)

    def _note(self, key: str, number: int, answer: Answer) -> None:
        if answer.missing is None:
            self.found[key][number] = answer
            return
        self.missing[key] = answer.missing
        failed = self.cells[key]
        for other, cell in self.cells.items():
            if answer.outcome.ended_process and (cell.robot, cell.method) == (failed.robot, failed.method):
                self.missing.setdefault(other, Missing(answer.outcome, f"not run: {key} {answer.reason}"))


def run(
    spec: Spec,
    cell_timeout: float = 60.0,
    step: Callable[[str, Outcome], None] = lambda key, outcome: None,
    folder: Path | None = None,
    journal: CellJournal | None = None,
    memory: int = MEMORY,
    begin: bool = True,
) -> list[Timing]:
    """Time all cells of ``spec``; one `Timing` for each, in order.

    Parameters
    ----------
    cell_timeout : float
        Seconds after which the process of a cell that reports nothing is killed.
    step
        Called with a cell's key and outcome, once per cell and pass.
    folder : Path
        Where to keep pytest-benchmark's own JSON files (``pytest-benchmark compare`` reads them), for passes that one
        process completed; default: they are not kept.
    journal
        Has earlier measurements, and stores new ones.
    memory : int
        Limit of a process, bytes.
    begin : bool
        False: only read the journal, measure nothing.
    """
    state = Run(spec, journal or NullJournal(), step)
    for number in spec.passes:
        state.recall(number)
    with tempfile.TemporaryDirectory(prefix="dynbench-") as name:
        for number in spec.passes if begin else ():
            _one_pass(state, number, Path(name), cell_timeout, memory, folder)
    absent = NO_MEASUREMENT if begin else INTERRUPTED
    return with_noise(
        [
            merge(cell, list(state.found[key].values()), state.missing.get(key, None if state.found[key] else absent))
            for key, cell in state.cells.items()
        ]
    )


def _one_pass(state: Run, number: int, temporary: Path, cell_timeout: float, memory: int, folder: Path | None) -> None:
    """Measure the cells of a pass that are missing, in as many processes as necessary."""
    spec = state.spec
    options = [f"--benchmark-max-time={spec.max_time}", f"--benchmark-min-rounds={spec.min_rounds}"]
    script = Path(__file__).with_name("bench_timing.py")
    while left := state.left(number):
        replace(spec, cells=left, passes=(number,), status=str(temporary / "events")).write(temporary / "spec.json")
        ended = run_session(
            temporary / "spec.json", script, options, cell_timeout, memory, functools.partial(state.handle, number)
        )
        state.ended(number, ended)
        if ended.report and len(left) == len(spec.cells) and folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            files.write_text(folder / f"pass{number}.json", ended.report)
        if len(state.left(number)) == len(left) or not ended.missing:
            output = " ".join(ended.output.split())[-300:]
            outcome, why = ended.missing or Missing(Outcome.FAILED, "it measured nothing")
            for cell in state.left(number):  # another process would not measure them either
                reason = f"not run: pytest-benchmark, outside of any cell: {why}: {output}"
                state.missing[cell.key] = Missing(outcome, reason)
            return


def merge(cell: Cell, passes: Sequence[Answer], missing: Missing | None = None) -> Timing:
    """Return one `Timing` from pytest-benchmark's records of a cell, one per pass."""
    if missing or not passes:
        return Timing.without(cell, missing or NO_MEASUREMENT)
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

    With few pairs that is the largest. At least `MIN_NOISE`.
    """
    apart = sorted(abs(math.log(a / b)) for a, b in pairs)
    if not apart:
        return math.nan
    return max(MIN_NOISE, math.expm1(apart[math.ceil(0.95 * len(apart)) - 1]))


def with_noise(timings: Sequence[Timing]) -> list[Timing]:
    """Fill in the noise of each: of the A/A pairs of its mode, or of all modes where its own has none.

    An engine's own calls, which have no pairs, get the noise of the calls that they are compared with.
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
