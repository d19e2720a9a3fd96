"""Merging of passes, noise and verdicts from made-up records; what a dying or hanging cell costs, in a real run."""

from __future__ import annotations

import math

import pytest

from dynbench.benchmarks.timing import passes
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Spec, Timing, merge, noise, verdict, with_noise

CELL = Cell("panda", "kane", "inverse_dynamics", "batch", 1000)


def record(median: float, rows: int = 1000, iqr: float = 0.0, rounds: int = 10) -> dict[str, object]:
    return {"stats": {"median": median, "iqr": iqr, "rounds": rounds}, "extra_info": {"timed_rows": rows}}


def test_passes_are_merged_per_state_by_the_smallest_median():
    merged = merge(CELL, [record(3e-3), record(1e-3, iqr=2e-4), record(2e-3, iqr=4e-4)])
    assert merged.seconds == merged.low == pytest.approx(1e-6)
    assert merged.median == pytest.approx(2e-6)
    assert merged.high == pytest.approx(3e-6)
    assert merged.iqr == pytest.approx(2e-7)
    assert (merged.rounds, merged.passes, merged.rows) == (30, 3, 1000)


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
            timed("engine", 1.0),
        ]
    )
    assert [t.noise for t in found] == pytest.approx([0.5, 0.5, 0.1, 0.1, 0.5])


def test_a_spec_survives_its_file(tmp_path):
    spec = Spec((CELL, Cell("a b|c.urdf", "kane", "bias", "call", again=True)), passes=(0, 1), max_time=0.5)
    spec.write(tmp_path / "spec.json")
    assert Spec.read(tmp_path / "spec.json") == spec


FAKE = """
import json, os, time
from pathlib import Path
import pytest
from dynbench.benchmarks.timing import passes
SPEC = passes.Spec.read(Path(os.environ["DYNBENCH_TIMING"]))
def tell(**event):
    with open(SPEC.status, "a") as file:
        file.write(json.dumps(event) + "\\n")
@pytest.mark.parametrize("cell", SPEC.cells, ids=[cell.key for cell in SPEC.cells])
def test_time(benchmark, cell):
    tell(event="start", key=cell.key)
    if cell.method == "crash":
        os.abort()
    if cell.method == "hang":
        time.sleep(60)
    if cell.method == "raise":
        tell(event="failed", key=cell.key, reason="failed: ValueError: no")
        pytest.fail("no")
    benchmark.extra_info.update(key=cell.key, timed_rows=1)
    benchmark(lambda: None)
    tell(event="done", key=cell.key)
"""


def test_what_crashes_hangs_or_raises_costs_its_own_cells_only(tmp_path, monkeypatch):
    """The real runner on a stand-in for bench_timing.py whose methods are named for what they do."""
    (tmp_path / "bench_timing.py").write_text(FAKE)
    monkeypatch.setattr(passes, "__file__", str(tmp_path / "passes.py"))
    names = ["fine", "crash", "raise", "hang", "good"]
    cells = tuple(Cell("panda", name, "bias", mode) for name in names for mode in ("call", "unchecked"))
    steps = []
    found = passes.run(Spec(cells, max_time=0.001, min_rounds=1), 2.0, lambda key, failed: steps.append(key))
    reasons = {t.cell.key: t.reason for t in found}
    assert [t.cell for t in found] == list(cells)
    for name in ("fine", "good"):
        assert [t.reason for t in found if t.cell.method == name] == ["", ""]
        assert all(t.seconds > 0.0 for t in found if t.cell.method == name)
    assert reasons["panda|crash|bias|call|1"].startswith("crashed")
    assert reasons["panda|crash|bias|unchecked|1"].startswith("not run: panda|crash|bias|call|1 crashed")
    assert reasons["panda|hang|bias|call|1"] == "timed out after 2 s"
    assert reasons["panda|raise|bias|call|1"] == "failed: ValueError: no"
    assert "panda|good|bias|call|1" in steps
