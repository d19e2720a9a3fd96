"""Ratios to other engines from made-up times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_rounds import made_timings

from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.ratios import headline, ratios


def cell(method: str, mode: str, rows: int = 1000, robot: str = "panda") -> Cell:
    return Cell(robot, method, "inverse_dynamics", mode, rows if "batch" in mode else 1)


OURS, THEIRS = cell("newton-euler", "batch"), cell("pinocchio", "engine-batch")


def test_a_peer_is_measured_by_its_own_call():
    times = made_timings({OURS: 1.0, cell("pinocchio", "batch"): 50.0, THEIRS: 12.0})
    (found,) = ratios(times, ["pinocchio"], "AVX2")
    assert found.ratio == pytest.approx(12.0, rel=0.01)
    assert found.low < found.ratio < found.high
    assert (found.verdict, found.target, found.met, found.own_call) == ("faster", 10.0, "yes", True)


def test_the_target_depends_on_the_processor():
    times = made_timings({OURS: 1.0, THEIRS: 12.0})
    assert ratios(times, ["pinocchio"], "AVX-512")[0].met == "no"
    assert ratios(times, ["pinocchio"], "other")[0].met == ""


@pytest.mark.parametrize("seconds", [9.7, 10.3])
def test_a_target_within_the_interval_is_neither_met_nor_missed(seconds):
    twins = {OURS: 1.0, replace(OURS, again=True): 1.05, THEIRS: seconds}
    assert ratios(made_timings(twins), ["pinocchio"], "AVX2")[0].met == "no difference"


def test_no_difference_where_the_interval_includes_one():
    twins = {OURS: 1.0, replace(OURS, again=True): 1.1, THEIRS: 1.05}
    assert ratios(made_timings(twins), ["pinocchio"], "AVX2")[0].verdict == "no difference"


def test_a_disturbed_ratio_keeps_its_number_and_gets_no_verdict():
    times = made_timings({OURS: 1.0, THEIRS: 12.0}, disturbed=[OURS.group])
    (found,) = ratios(times, ["pinocchio"], "AVX2")
    assert found.ratio == pytest.approx(12.0, rel=0.01)
    assert (found.outcome, found.verdict, found.met) == (Outcome.DISTURBED, "", "")


def test_the_checked_call_may_take_a_third_longer():
    times = made_timings({cell("newton-euler", "call"): 1.25, cell("pinocchio", "engine"): 1.0})
    (found,) = ratios(times, ["pinocchio"], "AVX2")
    assert found.ratio == pytest.approx(0.8, rel=0.01)
    assert found.met == "yes"


def test_only_own_calls_make_headlines():
    wrapped = made_timings({cell("newton-euler", "batch"): 1.0, cell("pinocchio", "batch"): 280.0})
    found = ratios(wrapped, ["pinocchio"], "AVX2")
    assert (found[0].peer_call, found[0].own_call) == ("our wrapper", False)
    assert headline(found) == []
    own = ratios(made_timings({OURS: 1.0, THEIRS: 12.0}), ["pinocchio"], "AVX2")
    assert headline([*found, *own]) == own


@pytest.mark.parametrize("rows", [1, 10, 100_000])
def test_batches_of_other_sizes_make_no_headlines(rows):
    """A batch of one state has the name of the batch that stands for all, and another ratio."""
    mine, theirs = (cell(name, mode, rows) for name, mode in (("newton-euler", "batch"), ("pinocchio", "engine-batch")))
    found = ratios(made_timings({OURS: 1.0, THEIRS: 12.0, mine: 6.0, theirs: 1.0}), ["pinocchio"], "AVX2")
    assert [ratio.rows for ratio in headline(found)] == [1000]
    assert len(found) == 2


@pytest.mark.parametrize(
    ("peer", "mode", "own", "said"),
    [
        ("pinocchio", "batch", "engine-batch", "its own batch call"),
        ("mujoco", "batch", "engine-batch", "its own call in a loop in Python"),
        ("drake", "unchecked", "engine", "its own call"),
        ("drake", "call", "engine", "its own call"),
        ("exudyn", "threads", "threads", "our wrapper"),
        ("other-engine", "batch", "batch", "our wrapper"),
        ("other-engine", "call", "unchecked", "our wrapper"),
    ],
)
def test_what_of_a_peer_was_timed_is_said(peer, mode, own, said):
    times = made_timings({cell("kane", mode): 1.0, cell(peer, own): 3.0})
    (found,) = ratios(times, [peer], "AVX2")
    assert found.peer_call == said
    assert found.ratio == pytest.approx(3.0, rel=0.01)


def test_a_peer_that_cannot_do_the_robot_says_why():
    missing = {cell("exudyn", "batch"): Missing(Outcome.UNSUPPORTED, "joint 'base' is free")}
    (found,) = ratios(made_timings({cell("kane", "batch"): 1.0}, missing), ["exudyn"], "AVX2")
    assert (found.reason, found.peer_call) == ("joint 'base' is free", "")


def test_every_peer_has_its_ratio():
    peers = ["pinocchio", "mujoco", "drake", "exudyn"]
    times = made_timings({cell("kane", "batch"): 1.0, **{cell(peer, "engine-batch"): 2.0 for peer in peers}})
    assert [ratio.peer for ratio in ratios(times, peers, "AVX2")] == peers


def test_a_cell_without_a_time_gives_the_reason():
    times = made_timings({THEIRS: 12.0}, {OURS: Missing(Outcome.CRASHED, "killed by signal 11")})
    (found,) = ratios(times, ["pinocchio"], "AVX2")
    assert (found.reason, found.outcome) == ("killed by signal 11", Outcome.CRASHED)
