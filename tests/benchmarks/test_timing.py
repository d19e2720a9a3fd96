"""Merging of passes, noise and verdicts from made-up records; what a dying or hanging cell costs, in a real run."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from pace import Clock

from dynbench.benchmarks.processes.jobs import Answer
from dynbench.benchmarks.results.verdicts import verdict
from dynbench.benchmarks.timing import passes, sessions
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Spec, Timing, merge, noise, with_noise

CELL = Cell("panda", "kane", "inverse_dynamics", "batch", 1000)


def record(median: float, rows: int = 1000, iqr: float = 0.0, rounds: int = 10, host: str = "here") -> Answer:
    return Answer({"median": median, "iqr": iqr, "rounds": rounds, "timed_rows": rows}, host=host)


def test_passes_are_merged_per_state_by_the_smallest_median():
    merged = merge(CELL, [record(3e-3), record(1e-3, iqr=2e-4), record(2e-3, iqr=4e-4)])
    assert merged.seconds == merged.low == pytest.approx(1e-6)
    assert merged.median == pytest.approx(2e-6)
    assert merged.high == pytest.approx(3e-6)
    assert merged.iqr == pytest.approx(2e-7)
    assert (merged.rounds, merged.passes, merged.rows, merged.host) == (30, 3, 1000, "here")
    assert merge(CELL, [record(1e-3, host="b"), record(1e-3, host="a")]).host == "a, b"


def test_a_batch_that_was_cut_is_divided_by_the_states_it_had():
    assert merge(CELL, [record(1e-3, rows=8)]).seconds == pytest.approx(1e-3 / 8)


def test_without_a_measurement_there_is_a_reason():
    assert merge(CELL, [], "crashed").reason == "crashed"
    assert merge(CELL, []).reason


@pytest.mark.parametrize(
    ("a", "b", "limit", "said"),
    [
        (1.0, 2.0, 0.5, "faster"),
        (2.0, 1.0, 0.5, "slower"),
        (1.0, 1.04, 0.05, "within the noise"),
        (1.04, 1.0, 0.05, "within the noise"),
        (1.0, 2.0, math.nan, "within the noise"),
        (math.nan, 2.0, 0.1, "not measured"),
    ],
)
def test_there_is_no_verdict_within_the_noise(a, b, limit, said):
    assert verdict(a, b, limit) == said


def test_noise_is_what_pairs_of_the_same_code_differ_by():
    pairs = [(1.0, 1.0)] * 18 + [(1.0, 1.10), (1.30, 1.0)]
    assert noise(pairs) == pytest.approx(0.10)  # 95 % of 20 pairs: all but the worst
    assert noise([(1.0, 1.3)]) == pytest.approx(0.3)
    assert noise([(1.0, 1.0)]) == passes.FEWEST
    assert math.isnan(noise([]))


def test_the_noise_of_a_mode_comes_from_its_own_pairs():
    def timed(mode: str, seconds: float, again: bool = False) -> Timing:
        return Timing(Cell("panda", "kane", "bias", mode, again=again), seconds)

    found = with_noise(
        [
            timed("call", 1.0),
            timed("call", 1.5, True),
            timed("batch", 1.0),
            timed("batch", 1.1, True),
            timed("engine-batch", 1.0),  # beside batches
            timed("engine", 1.0),  # beside unchecked calls, of which there is no pair
        ]
    )
    assert [t.noise for t in found] == pytest.approx([0.5, 0.5, 0.1, 0.1, 0.1, 0.5])


def test_a_spec_survives_its_file(tmp_path):
    spec = Spec((CELL, Cell("a b|c.urdf", "kane", "bias", "call", again=True)), passes=(0, 1), max_time=0.5)
    spec = replace(spec, checked={"panda": (16, "AAAA"), "chain-4": (3, None)})
    spec.write(tmp_path / "spec.json")
    assert Spec.read(tmp_path / "spec.json") == spec


FAKE = """
import json, os, sys, time
from pathlib import Path
import pytest
from dynbench.benchmarks.processes import child
from dynbench.benchmarks.timing import bench_timing
from dynbench.benchmarks.timing.bench_timing import CASES, tell

class Ready:
    def __init__(self, function):
        self.function, self.arguments, self.keywords, self.rows = function, (), {}, 1

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
    if what == "eat":
        bytearray(8 << 30)
    if what == "fork":
        os.fork()
    if what == "flood":
        return Ready(lambda: print("x" * 10000))
    return Ready(lambda: None)

bench_timing.cases.timed = build
test_time = bench_timing.test_time
"""
GOOD = ("fine", "flood", "fork", "good")
BAD = {
    "crash": "killed by signal 6 (SIGABRT); it said: its last words",
    "raise": "failed: ValueError: no",
    "hang": "timed out after 30 s",
    "leave": "failed: SystemExit: 0",
    "eat": "ran out of memory (limit 2 GiB)",
}


class Kept:
    """A journal in memory."""

    def __init__(self):
        self.known = {}
        self.asked = []

    def find(self, cell, number):
        return self.known.get((cell, number))

    def put(self, cell, number, answer):
        self.asked.append((cell.key, number))
        self.known[cell, number] = answer


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The real runner and `bench_timing` on methods that are named for what they do."""
    (tmp_path / "bench_timing.py").write_text(FAKE)
    monkeypatch.setenv("HANGING", str(tmp_path / "hanging"))
    monkeypatch.setattr(sessions, "time", Clock(tmp_path / "hanging", 31.0))
    monkeypatch.setattr(passes, "__file__", str(tmp_path / "passes.py"))

    def run(names, journal, numbers=(0,), **more):
        cells = tuple(Cell("panda", name, "bias", mode) for name in names for mode in ("call", "unchecked"))
        spec = Spec(cells, passes=numbers, max_time=0.001, min_rounds=1)
        return passes.run(spec, 30.0, journal=journal, memory=2 << 30, **more)

    return run


def test_what_crashes_hangs_or_raises_costs_its_own_cells_only(fake):
    names, journal, steps = [*GOOD[:2], *BAD, *GOOD[2:]], Kept(), []
    found = fake(names, journal, step=lambda key, failed: steps.append(key))
    assert [t.cell.method for t in found] == [name for name in names for _ in range(2)]
    for name in GOOD:
        assert [t.reason for t in found if t.cell.method == name] == ["", ""], name
        assert all(t.seconds > 0.0 and t.host for t in found if t.cell.method == name)
    reasons = {t.cell.key: t.reason for t in found}
    for name, reason in BAD.items():
        assert reasons[f"panda|{name}|bias|call|1"].startswith(reason)
    for name in ("crash", "hang", "eat"):
        assert reasons[f"panda|{name}|bias|unchecked|1"].startswith(f"not run: panda|{name}|bias|call|1 ")
    assert journal.asked.count(("panda|fine|bias|call|1", 0)) == 1  # a crash later on costs it nothing
    assert len(journal.asked) == len(set(journal.asked))
    assert len(steps) == len(set(steps))


def test_what_the_journal_has_is_not_measured_again(fake):
    journal = Kept()
    first = fake(["fine", "raise"], journal, numbers=(0, 1))
    asked = len(journal.asked)
    del journal.known[first[1].cell, 1]
    again = fake(["fine", "raise"], journal, numbers=(0, 1))
    assert journal.asked[asked:] == [("panda|fine|bias|unchecked|1", 1)]
    assert again[0] == first[0]
    assert [t.reason for t in again] == [t.reason for t in first]


def test_once_interrupted_only_the_journal_speaks(fake):
    journal = Kept()
    first = fake(["fine"], journal)
    later = fake(["fine", "good"], journal, begin=False)
    assert later[:2] == first
    assert {t.reason for t in later[2:]} == {"not run: the run was interrupted"}


def test_a_process_that_cannot_measure_gives_a_reason(fake, tmp_path):
    (tmp_path / "bench_timing.py").write_text("raise ImportError('nobody')")
    found = fake(["fine"], Kept())
    assert all(t.reason.startswith("not run: pytest-benchmark, outside of any cell") for t in found)
    assert "nobody" in found[0].reason
