"""Times from made-up rounds, resolution and verdicts; what a dying or hanging cell costs, in a real run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_rounds import made_timings
from pace import Clock

from dynbench.benchmarks.processes.jobs import here
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.timing import passes, sessions
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Spec, disturbance, paired
from dynbench.benchmarks.timing.rounds import Budget

CELL = Cell("panda", "kane", "inverse_dynamics", "batch", 1000)
OTHER = replace(CELL, method="newton-euler")


def test_times_are_per_state_with_an_interval():
    (found,) = made_timings({CELL: 1e-6}, passes=2)
    assert found.low <= found.seconds <= found.high
    assert found.seconds == pytest.approx(1e-6, rel=0.01)
    assert found.median == pytest.approx(1e-6, rel=0.01)
    assert (found.passes, found.rows, found.host, found.outcome) == (2, 1000, here(), Outcome.NUMBER)
    assert found.rounds == found.kept == 80


def test_without_a_measurement_there_is_a_reason():
    dead, alive = made_timings({OTHER: 1.0}, {CELL: Missing(Outcome.CRASHED, "killed by signal 11 (SIGSEGV)")})[::-1]
    assert (dead.outcome, dead.reason) == (Outcome.CRASHED, "killed by signal 11 (SIGSEGV)")
    assert alive.outcome is Outcome.NUMBER


def test_a_disturbed_cell_keeps_its_numbers_and_has_a_reason():
    (found,) = made_timings({CELL: 1e-6}, disturbed=[CELL.group])
    assert found.outcome is Outcome.DISTURBED
    assert found.seconds == pytest.approx(1e-6, rel=0.01)
    assert found.reason == "0 of 40 turns were undisturbed, 12 are needed: 40 interruptions by the system"


@pytest.mark.parametrize(("factor", "resolved"), [(1.0, False), (1.005, False), (1.1, True), (0.9, True)])
def test_a_ratio_excludes_one_only_where_there_is_a_difference(factor, resolved):
    again = replace(OTHER, again=True)
    a, b, _ = made_timings({CELL: factor, OTHER: 1.0, again: 1.0})
    found = paired(a, b)
    assert found.quiet.value == pytest.approx(factor, rel=0.01)
    assert found.quiet.resolved is resolved
    assert found.shared == pytest.approx(factor, rel=0.01)


def test_what_was_not_measured_together_has_no_ratio():
    a, b = made_timings({CELL: 1.0, replace(CELL, robot="ur5"): 1.0})
    with pytest.raises(ValueError, match="not measured in the same rounds"):
        paired(a, b)


def test_the_resolution_of_a_kind_comes_from_its_own_pairs():
    def cell(mode: str, again: bool = False) -> Cell:
        return Cell("panda", "kane", "bias", mode, again=again)

    times = {cell("call"): 1.0, cell("call", True): 1.5, cell("batch"): 1.0, cell("batch", True): 1.1}
    found = made_timings({**times, cell("engine-batch"): 1.0, cell("threads"): 1.0}, spread=0.0)
    assert [t.noise for t in found] == pytest.approx([0.5, 0.5, 0.1, 0.1, 0.1, 0.5])


def test_a_run_says_whether_it_was_quiet():
    pair = {CELL: 1e-6, replace(CELL, again=True): 1e-6}
    quiet = disturbance(made_timings(pair), [0.3], 2)
    assert quiet["quiet"]
    assert quiet["sentence"] == "quiet: load 0.3 on 2 cores; 0 % of the turns dropped and repeated"
    assert quiet["resolution"] == {"batch": pytest.approx(0.01)}
    busy = disturbance(made_timings(pair, disturbed=[CELL.group]), [6.8], 2)
    assert not busy["quiet"]
    assert busy["sentence"].startswith("disturbed: load 6.8 on 2 cores; 100 % of the turns dropped")
    assert "2 of 2 cells stayed disturbed and have no verdict" in busy["sentence"]
    beside = made_timings(pair)
    beside[0].group.others = 1.8  # nothing was interrupted, and yet the machine was not quiet
    said = disturbance(beside, [2.8], 2)["sentence"]
    assert said.startswith("disturbed: load 2.8 on 2 cores; other processes used 1.8 processors")
    assert disturbance([], [], 2)["sentence"] == "quiet: nothing was timed"


def test_a_spec_survives_its_file(tmp_path):
    spec = Spec((CELL, Cell("a b|c.urdf", "kane", "bias", "call", again=True)), passes=(0, 1), best=(1e-5, 2e-5))
    spec = replace(spec, checked={"panda": (16, "AAAA"), "chain-4": (3, None)}, budget=Budget(rounds=7))
    spec.write(tmp_path / "spec.json")
    assert Spec.read(tmp_path / "spec.json") == spec


FAKE = """
import json, os, sys, time
from pathlib import Path
import pytest
from dynbench.benchmarks.processes import child
from dynbench.benchmarks.timing import bench_timing
from dynbench.benchmarks.timing.bench_timing import measured
from dynbench.benchmarks.timing.cases import NotTimed, Timed as Ready

def build(cell, *rest):
    what = cell.method
    if what == "crash":
        print("its last words", flush=True)
        os.abort()
    if what == "hang":
        time.sleep(1)  # so that the beginning of the cell has been heard of, else this takes its whole limit
        Path(os.environ["HANGING"]).touch()
        time.sleep(600)
    if what == "raise":
        raise ValueError("no")
    if what == "leave":
        sys.exit(0)
    if what == "slow":
        raise NotTimed("1 state takes 9 s, more than the limit of 5 s")
    if what == "eat":
        bytearray(8 << 30)
    if what == "fork":
        os.fork()
    if what == "late":  # in the rounds, long after it was prepared
        calls = iter(range(20))
        return Ready(lambda: next(calls, None) is None and os.abort())
    if what == "flood":
        return Ready(lambda: print("x" * 10000))
    return Ready(lambda: None)

bench_timing.cases.timed = build
test_time = bench_timing.test_time
"""
GOOD = ("fine", "flood", "fork", "good")
BAD = {
    "crash": "killed by signal 6 (SIGABRT); it printed: its last words",
    "raise": "raised ValueError: no",
    "hang": "timed out after 30 s",
    "leave": "raised SystemExit: 0",
    "eat": "ran out of memory (limit 2 GiB)",
    "slow": "1 state takes 9 s, more than the limit of 5 s",
    "late": "killed by signal 6 (SIGABRT)",
}
OUTCOMES = {
    "crash": Outcome.CRASHED,
    "raise": Outcome.FAILED,
    "hang": Outcome.TIMED_OUT,
    "leave": Outcome.FAILED,
    "eat": Outcome.OUT_OF_MEMORY,
    "slow": Outcome.LEFT_OUT,
    "late": Outcome.CRASHED,
}


class Kept:
    """A journal in memory."""

    def __init__(self):
        self.known = {}
        self.asked = []

    def find(self, cells, number):
        return self.known.get((*cells, number))

    def put(self, cells, number, answer):
        self.asked.append((*(cell.key for cell in cells), number))
        self.known[*cells, number] = answer


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The real runner and `bench_timing` on methods that are named for what they do."""
    (tmp_path / "bench_timing.py").write_text(FAKE)
    monkeypatch.setenv("HANGING", str(tmp_path / "hanging"))
    monkeypatch.setattr(sessions, "time", Clock(tmp_path / "hanging", 31.0))
    monkeypatch.setattr(passes, "__file__", str(tmp_path / "passes.py"))

    def run(names, journal, numbers=(0,), **more):
        cells = tuple(Cell("panda", name, "bias", mode) for name in names for mode in ("call", "batch"))
        spec = Spec(cells, passes=numbers, budget=Budget(turn=1e-5, rounds=5, least=1, seconds=0.02))
        return passes.run(spec, 30.0, journal=journal, memory=2 << 30, **more)

    return run


def test_what_crashes_hangs_or_raises_costs_its_own_cells_only(fake):
    names, journal, steps = [*GOOD[:2], *BAD, *GOOD[2:]], Kept(), []
    found = fake(names, journal, step=lambda key, outcome, cells: steps.append((key, outcome)))
    assert [t.cell.method for t in found] == [name for name in names for _ in range(2)]
    for name in GOOD:
        assert {t.outcome for t in found if t.cell.method == name} <= {Outcome.NUMBER, Outcome.DISTURBED}, name
        assert all(t.seconds > 0.0 and t.host for t in found if t.cell.method == name)
    reasons = {t.cell.key: t.reason for t in found}
    for name, reason in BAD.items():
        assert reasons[f"panda|{name}|bias|call|1"].startswith(reason)
        assert {t.outcome for t in found if t.cell.method == name} == {OUTCOMES[name]}, name
        assert (f"panda|{name}|bias|call|1", OUTCOMES[name]) in steps
    for name in ("crash", "hang", "eat", "late"):
        assert reasons[f"panda|{name}|bias|batch|1"].startswith(f"not run: panda|{name}|bias|call|1 ")
    groups = [entry for entry in journal.asked if len(entry) > 2]
    assert [set(entry[:-1]) for entry in groups] == [
        {f"panda|{name}|bias|{mode}|1" for name in GOOD} for mode in ("call", "batch")
    ]  # each group once, without the cells that failed


def test_what_the_journal_has_is_not_measured_again(fake):
    journal = Kept()
    first = fake(["fine", "raise"], journal, numbers=(0, 1))
    asked = len(journal.asked)
    del journal.known[first[1].cell, 1]
    again = fake(["fine", "raise"], journal, numbers=(0, 1))
    assert journal.asked[asked:] == [("panda|fine|bias|batch|1", 1)]
    # over all turns: which of them count as undisturbed also depends on the calibration loops of the cell measured anew
    turns = [(t.median, t.wall, t.rounds) for t in (again[0], first[0])]
    assert turns[0] == turns[1]
    assert [t.outcome for t in again[2:]] == [t.outcome for t in first[2:]]


def test_once_interrupted_only_the_journal_speaks(fake):
    journal = Kept()
    first = fake(["fine"], journal)
    later = fake(["fine"], journal, begin=False)
    assert repr(later) == repr(first)  # a disturbed cell has NaN, which equals nothing
    other = fake(["fine", "good"], journal, begin=False)  # another group: its members were not measured together
    assert {t.reason for t in other} == {"not run: the run was interrupted"}


def test_a_process_that_cannot_measure_gives_a_reason(fake, tmp_path):
    (tmp_path / "bench_timing.py").write_text("raise ImportError('nobody')")
    found = fake(["fine"], Kept())
    assert all(t.reason.startswith("not run: pytest-benchmark, outside of any cell") for t in found)
    assert "nobody" in found[0].reason


def test_pytest_benchmark_gets_the_times_of_the_turns(fake, tmp_path):
    """Its own JSON has the same rounds, so that its statistics and comparisons work on our cells."""
    (timing, _) = fake(["fine"], Kept(), folder=tmp_path / "kept")
    report = json.loads((tmp_path / "kept" / "pass0.json").read_text())
    (one,) = (b for b in report["benchmarks"] if b["extra_info"]["key"] == timing.cell.key)
    assert one["stats"]["rounds"] == timing.rounds
    assert one["stats"]["median"] == pytest.approx(timing.median, rel=1e-3)
