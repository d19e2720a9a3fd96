"""Ratios to other engines from made-up times."""

from __future__ import annotations

import pytest

from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Timing
from dynbench.benchmarks.timing.ratios import headline, ratios


def timed(method: str, mode: str, seconds: float, noise: float = 0.02, reason: str = "", rows: int = 1000) -> Timing:
    count = rows if "batch" in mode else 1
    return Timing(Cell("panda", method, "inverse_dynamics", mode, count), seconds, noise=noise, reason=reason)


def test_a_peer_is_measured_by_its_own_call():
    times = [
        timed("newton-euler", "batch", 1.0),
        timed("pinocchio", "batch", 50.0),
        timed("pinocchio", "engine-batch", 12.0),
    ]
    (found,) = ratios(times, ["pinocchio"], "AVX2")
    assert (found.ratio, found.verdict, found.target, found.met) == (12.0, "faster", 10.0, "yes")


def test_the_target_depends_on_the_processor():
    times = [timed("newton-euler", "batch", 1.0), timed("pinocchio", "engine-batch", 12.0)]
    assert ratios(times, ["pinocchio"], "AVX-512")[0].met == "no"
    assert ratios(times, ["pinocchio"], "other")[0].met == ""


@pytest.mark.parametrize("seconds", [9.5, 10.5])
def test_a_target_within_the_noise_is_neither_met_nor_missed(seconds):
    times = [timed("newton-euler", "batch", 1.0, noise=0.1), timed("pinocchio", "engine-batch", seconds)]
    assert ratios(times, ["pinocchio"], "AVX2")[0].met == "within the noise"


def test_the_checked_call_may_take_a_third_longer():
    times = [timed("newton-euler", "call", 1.25), timed("pinocchio", "engine", 1.0)]
    (found,) = ratios(times, ["pinocchio"], "AVX2")
    assert found.ratio == pytest.approx(0.8)
    assert found.met == "yes"


def test_other_methods_and_batches_have_ratios_without_targets():
    times = [
        timed("kane", "batch", 1.0),
        timed("newton-euler", "batch", 1.0, rows=10),
        timed("pinocchio", "engine-batch", 12.0),
        timed("pinocchio", "engine-batch", 12.0, rows=10),
    ]
    found = ratios(times, ["pinocchio"], "AVX2")
    assert len(found) == 2
    assert headline(found) == []


@pytest.mark.parametrize(
    ("peer", "mode", "own", "said"),
    [
        ("pinocchio", "batch", "engine-batch", "its own batch call"),
        ("mujoco", "batch", "engine-batch", "its own call in a loop in Python"),
        ("drake", "unchecked", "engine", "its own call"),
        ("drake", "call", "engine", "its own call"),
        ("exudyn", "threads", "threads", "our wrapper"),
        ("somebody", "batch", "batch", "our wrapper"),
        ("somebody", "call", "unchecked", "our wrapper"),
    ],
)
def test_what_of_a_peer_was_timed_is_said(peer, mode, own, said):
    times = [timed("kane", mode, 1.0), timed(peer, own, 3.0)]
    (found,) = ratios(times, [peer], "AVX2")
    assert (found.ratio, found.peer_call) == (3.0, said)


def test_a_peer_that_cannot_do_the_robot_says_why():
    times = [timed("kane", "batch", 1.0), timed("exudyn", "batch", 0.0, reason="joint 'base' is free")]
    (found,) = ratios(times, ["exudyn"], "AVX2")
    assert (found.reason, found.peer_call) == ("joint 'base' is free", "")


def test_every_peer_has_its_ratio():
    peers = ["pinocchio", "mujoco", "drake", "exudyn"]
    times = [timed("kane", "batch", 1.0), *(timed(peer, "engine-batch", 2.0) for peer in peers)]
    assert [ratio.peer for ratio in ratios(times, peers, "AVX2")] == peers


def test_a_cell_without_a_time_gives_the_reason():
    times = [timed("newton-euler", "batch", 1.0, reason="crashed"), timed("pinocchio", "engine-batch", 12.0)]
    assert ratios(times, ["pinocchio"], "AVX2")[0].reason == "crashed"
