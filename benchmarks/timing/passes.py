"""Timing of all cells: groups of cells in paired rounds, in several passes, each a process of its own.

What is compared (the methods, in both tiers, and engines of one robot, quantity and kind of call) is a group, and is
measured in turns in one process (`rounds`). Each pass is another process, so that differences between processes (memory
layout, hash seeds) enter the intervals. Results:

    seconds     per state, on a quiet core: see `quiet`
    low, high   95 % interval of seconds
    median      over all turns, disturbed ones too: what the call took on the core as it was
    wall        the same by the wall clock
    noise       the resolution: how far two measurements of the same code are apart, from A/A pairs

A cell with too few undisturbed turns has the outcome DISTURBED: its numbers are kept, no verdict uses them. If a
process crashes or hangs in a cell, that cell and the others of its robot and method get the outcome, and another
process measures the rest of the pass (`sessions`). Every measurement is written to a journal at once.
"""

from __future__ import annotations

import functools
import json
import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dynbench import methods
from dynbench.benchmarks.checks.evaluate import Checked
from dynbench.benchmarks.processes.jobs import INTERRUPTED, MEMORY, Answer, here
from dynbench.benchmarks.processes.outcomes import Missing, Outcome, WithOutcome
from dynbench.benchmarks.results import files
from dynbench.benchmarks.timing import calibration
from dynbench.benchmarks.timing.cases import Cell, load
from dynbench.benchmarks.timing.quiet import Estimate, Group, resolution
from dynbench.benchmarks.timing.rounds import Best, Budget, Rounds, better, quiet_best
from dynbench.benchmarks.timing.sessions import Ended, Event, run_session

NO_MEASUREMENT = Missing(Outcome.FAILED, "pytest-benchmark returned no measurement")
# Each pass is a process of its own: the same code takes other times in other processes, mostly all through each, so
# intervals are of what passes differ by (`quiet`), and six of them make Student's factor 2.6
PASSES = tuple(range(6))
QUICK_BUDGET = Budget(rounds=5, least=8, seconds=0.25)
FULL_BUDGET = Budget(rounds=20, least=12, seconds=1.0)


@dataclass(frozen=True)
class Spec:
    """The cells that a run of `bench_timing` times, and its limits."""

    cells: tuple[Cell, ...]
    passes: tuple[int, ...] = (0,)
    seed: int = 0
    budget: Budget = FULL_BUDGET
    call_limit: float = 0.02  # seconds per call; larger batches are cut
    give_up: float = 0.5  # seconds for eight states; slower cells are left out
    checked: dict[str, Checked] = field(default_factory=dict)  # by robot: the states and forces of its check
    best: Best | None = None  # what the calibration loops reached on this machine before
    status: str = ""  # file to which events are appended

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Spec:
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["cells"] = tuple(Cell(**cell) for cell in plain["cells"])
        plain["passes"] = tuple(plain["passes"])
        plain["budget"] = Budget(**plain["budget"])
        plain["checked"] = {robot: tuple(value) for robot, value in plain["checked"].items()}
        plain["best"] = tuple(plain["best"]) if plain["best"] else None
        return cls(**plain)

    def groups(self) -> dict[str, list[Cell]]:
        """The cells by what is compared with each other."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.group, []).append(cell)
        return found


@dataclass(frozen=True)
class Timing(WithOutcome):
    """The time of a cell, per state.

    ``outcome`` is NUMBER, and ``reason`` "", exactly when there is a time that verdicts may use. A disturbed cell has
    its numbers and a reason.
    """

    cell: Cell
    seconds: float = math.nan
    low: float = math.nan
    high: float = math.nan
    median: float = math.nan
    wall: float = math.nan
    rows: int = 0  # as timed: fewer than the cell's when one call would have taken too long
    rounds: int = 0  # turns in all
    kept: int = 0  # undisturbed turns
    passes: int = 0
    noise: float = math.nan
    reason: str = ""
    host: str = ""  # where it was measured
    outcome: Outcome = Outcome.NUMBER
    expression: str = ""  # what was timed, as one would write it
    group: Group | None = field(default=None, repr=False, compare=False)
    place: int = 0  # in the group

    @classmethod
    def without(cls, cell: Cell, missing: Missing) -> Timing:
        """A cell that has no time."""
        return cls(cell, reason=missing.reason, outcome=missing.outcome)


@dataclass(frozen=True)
class Paired:
    """The time of one cell over that of another, on a quiet core and on the core as it was."""

    quiet: Estimate
    shared: float


def paired(a: Timing, b: Timing) -> Paired:
    """Return the ratio of two times per state, with the interval that the resolution of the run allows.

    Both are of one group: they were measured in the same rounds.
    """
    if a.group is None or a.group is not b.group:
        raise ValueError(f"{a.cell.key} and {b.cell.key} were not measured in the same rounds")
    rows = b.rows / a.rows
    noise = max(a.noise, b.noise) if a.noise == a.noise and b.noise == b.noise else math.nan
    quiet, shared = a.group.ratio(a.place, b.place), a.group.shared_ratio(a.place, b.place)
    return Paired(quiet.times(rows).widened(noise), shared * rows)


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
    return Spec(tuple(cells), passes=(0,))


class GroupJournal(Protocol):
    """Stores the measurements of groups by their cells and pass, and why a cell has none."""

    def find(self, cells: Sequence[Cell], number: int) -> Answer | None:
        """Return the rounds of these cells as an answer, or why they have none; None if nothing is stored."""

    def put(self, cells: Sequence[Cell], number: int, answer: Answer) -> None:
        """Store the same."""


class NullJournal:
    """A journal that stores nothing."""

    def find(self, cells: Sequence[Cell], number: int) -> Answer | None:
        return None

    def put(self, cells: Sequence[Cell], number: int, answer: Answer) -> None:
        return None


@dataclass
class Measured:
    """A group in one pass: which cells, how many states in a call of each, and the rounds."""

    cells: list[str]  # keys
    rows: list[int]
    rounds: Rounds
    host: str
    code: list[str] = field(default_factory=list)  # what was called; [] in journals of older versions

    def part(self, keys: Sequence[str]) -> Rounds:
        """The rounds of some of the cells."""
        places, whole = [self.cells.index(key) for key in keys], self.rounds

        def some(rows: list[Any]) -> list[Any]:
            return [rows[k] for k in places]

        return replace(
            whole, calls=some(whole.calls), cpu=some(whole.cpu), wall=some(whole.wall), switches=some(whole.switches)
        )


class Run:
    """The state of a run: the measurements of each group and pass, and why cells have none."""

    def __init__(self, spec: Spec, journal: GroupJournal, step: Callable[[str, Outcome, int], None]) -> None:
        self.spec = spec
        self.journal = journal
        self.step = step
        self.groups = spec.groups()
        self.cells = {cell.key: cell for cell in spec.cells}
        self.missing: dict[str, Missing] = {}
        self.found: dict[str, dict[int, Measured]] = {group: {} for group in self.groups}

    def recall(self, number: int) -> None:
        """Read a pass from the journal: first the cells that have no number, then the groups of the others."""
        for key, cell in self.cells.items():
            answer = self.journal.find([cell], number)
            if answer is not None and answer.missing:
                self._note_missing(key, answer)
        for group in self.groups:
            answer = self.journal.find(self.members(group), number)
            if answer is not None and not answer.missing:
                self._note(group, number, answer)

    def members(self, group: str) -> list[Cell]:
        """The cells of a group that may still have a number."""
        return [cell for cell in self.groups[group] if cell.key not in self.missing]

    def handle(self, number: int, event: Event) -> None:
        """Store what a session reports, in the journal first."""
        if event["event"] == "missing":
            outcome = Outcome(event["outcome"])
            self._put_missing(event["key"], number, Answer(None, event["reason"], host=here(), outcome=outcome))
        elif event["event"] == "measured":
            group = self.cells[event["record"]["cells"][0]].group
            answer = Answer(event["record"], host=here())
            self.journal.put([self.cells[key] for key in event["record"]["cells"]], number, answer)
            self._note(group, number, answer)
            self.step(group, Outcome.NUMBER, len(event["record"]["cells"]))

    def ended(self, number: int, ended: Ended) -> None:
        """Store the cell in which a session crashed or hung."""
        if ended.cell and ended.missing and ended.cell not in self.missing:
            outcome, reason = ended.missing
            self._put_missing(ended.cell, number, Answer(None, reason, ended.output, here(), outcome=outcome))

    def left(self, number: int) -> tuple[Cell, ...]:
        """The cells of a pass that are still to be measured."""
        return tuple(
            cell for group in self.groups if number not in self.found[group] for cell in self.members(group)
        )

    def _put_missing(self, key: str, number: int, answer: Answer) -> None:
        self.journal.put([self.cells[key]], number, answer)
        self._note_missing(key, answer)
        self.step(key, answer.outcome, 1)

    def _note(self, group: str, number: int, answer: Answer) -> None:
        record = answer.value
        rounds, code = Rounds(**record["rounds"]), record.get("code", [])
        self.found[group][number] = Measured(record["cells"], record["rows"], rounds, answer.host, code)

    def _note_missing(self, key: str, answer: Answer) -> None:
        assert answer.missing is not None
        self.missing[key] = answer.missing
        failed = self.cells[key]
        for other, cell in self.cells.items():
            if answer.outcome.ended_process and (cell.robot, cell.variant) == (failed.robot, failed.variant):
                self.missing.setdefault(other, Missing(answer.outcome, f"not run: {key} {answer.reason}"))


def run(
    spec: Spec,
    cell_timeout: float = 60.0,
    step: Callable[[str, Outcome, int], None] = lambda key, outcome, cells: None,
    folder: Path | None = None,
    journal: GroupJournal | None = None,
    memory: int = MEMORY,
    begin: bool = True,
) -> list[Timing]:
    """Time all cells of ``spec``; one `Timing` for each, in order.

    Parameters
    ----------
    cell_timeout : float
        Seconds after which the process of a cell that reports nothing is killed.
    step
        Called with a group or cell, its outcome and the number of cells, once per pass.
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
    best = quiet_best([one.rounds for found in state.found.values() for one in found.values()])
    if begin and best is not None:
        calibration.remember(best)
    return timings(state, NO_MEASUREMENT if begin else INTERRUPTED)


def _one_pass(state: Run, number: int, temporary: Path, cell_timeout: float, memory: int, folder: Path | None) -> None:
    """Measure the groups of a pass that are missing, in as many processes as necessary."""
    spec = state.spec
    script = Path(__file__).with_name("bench_timing.py")
    while left := state.left(number):
        reached = better(spec.best, quiet_best([m.rounds for found in state.found.values() for m in found.values()]))
        part = replace(spec, cells=left, passes=(number,), best=reached, status=str(temporary / "events"))
        part.write(temporary / "spec.json")
        handle = functools.partial(state.handle, number)
        ended = run_session(temporary / "spec.json", script, [], cell_timeout, memory, handle)
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


def timings(state: Run, absent: Missing) -> list[Timing]:
    """Return the times of all cells, in the order of the spec."""
    measured = [one for found in state.found.values() for one in found.values()]
    best = better(state.spec.best, quiet_best([one.rounds for one in measured]))
    times: dict[str, Timing] = {}
    for group, found in state.found.items():
        keys = [cell.key for cell in state.members(group)]
        passes = [one for one in found.values() if set(keys) <= set(one.cells)]
        if keys and passes:
            times |= _group_timings(state, keys, passes, best)
    return with_noise(
        [times.get(key) or Timing.without(cell, state.missing.get(key, absent)) for key, cell in state.cells.items()]
    )


def _group_timings(state: Run, keys: Sequence[str], passes: Sequence[Measured], best: Best | None) -> dict[str, Timing]:
    cells = [state.cells[key] for key in keys]
    threads = cells[0].kind == "threads"
    group = Group([one.part(keys) for one in passes], best, threads, least=state.spec.budget.least)
    hosts = ", ".join(sorted({one.host for one in passes}))
    found = {}
    for place, (key, cell) in enumerate(zip(keys, cells, strict=True)):
        rows = min(one.rows[one.cells.index(key)] for one in passes)
        code = [one.code[one.cells.index(key)] for one in passes if one.code]
        time = group.seconds(place).times(1.0 / rows)
        missing = group.disturbance(place)
        found[key] = Timing(
            cell,
            time.value,
            time.low,
            time.high,
            float(np.nanmedian(group.cpu[place])) / rows,
            float(np.nanmedian(group.wall[place])) / rows,
            rows,
            int(group.taken[place]),
            int(group.count[place]),
            len(passes),
            host=hosts,
            reason=missing,
            outcome=Outcome.DISTURBED if missing else Outcome.NUMBER,
            expression=code[0] if code else "",
            group=group,
            place=place,
        )
    return found


def with_noise(found: Sequence[Timing]) -> list[Timing]:
    """Fill in the resolution of each time, from the A/A pairs of its kind of call; of all kinds where it has none."""
    by_key = {timing.cell.key: timing for timing in found}
    pairs: dict[str, list[float]] = {}
    for timing in found:
        first = by_key.get(replace(timing.cell, again=False).key)
        if timing.cell.again and first and not timing.reason and not first.reason:
            pairs.setdefault(timing.cell.kind, []).append(timing.seconds / first.seconds)
    everything = resolution([ratio for ratios in pairs.values() for ratio in ratios])
    of_kind = {kind: resolution(ratios) for kind, ratios in pairs.items()}
    return [
        replace(timing, noise=of_kind.get(timing.cell.kind, everything)) if timing.rounds else timing
        for timing in found
    ]


def disturbance(found: Iterable[Timing], load: Sequence[float], cores: int) -> dict[str, Any]:
    """Return what is said of a whole run: whether it was quiet, in a sentence, and the smallest difference it resolves.

    Parameters
    ----------
    load : sequence of float
        Load averages of the system while it was timed.
    """
    timed = [timing for timing in found if timing.rounds]
    disturbed = sum(timing.outcome is Outcome.DISTURBED for timing in timed)
    groups = {id(timing.group): timing.group for timing in timed if timing.group is not None}
    turns = sum(int(group.taken.sum()) for group in groups.values())
    dropped = turns - sum(int(group.count.sum()) for group in groups.values())
    noise = {timing.cell.kind: timing.noise for timing in timed if timing.noise == timing.noise}
    others = float(np.mean([group.others for group in groups.values()])) if groups else 0.0
    quiet = disturbed == 0 and dropped <= QUIET_SHARE * turns and others <= QUIET_OTHERS
    seen = [f"load {load[0]:.1f} on {cores} cores"] if load and turns else []
    seen += [f"other processes used {others:.1f} processors"] if others > QUIET_OTHERS else []
    seen += [f"{100 * dropped / turns:.0f} % of the turns dropped and repeated"] if turns else []
    seen += [f"{disturbed} of {len(timed)} cells stayed disturbed and have no verdict"] if disturbed else []
    return {
        "quiet": quiet,
        "sentence": f"{'quiet' if quiet else 'disturbed'}: {'; '.join(seen) or 'nothing was timed'}",
        "resolution": noise,
    }


QUIET_SHARE = 0.1  # of turns that may be disturbed in a run that is called quiet
QUIET_OTHERS = 0.5  # processors' worth of other work beside a run that is called quiet
