"""Paired rounds: the same code comes out equal, a slower one by how much it is slower, whatever disturbs the machine.

Clocks, calibration loops and the counters of the system are replaced by fake ones, so that no quiet machine is needed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from dynbench.benchmarks.timing import calibration
from dynbench.benchmarks.timing.quiet import QUANTILE, Estimate, Group, low_quantile, resolution
from dynbench.benchmarks.timing.rounds import Budget, Clocks, Limits, Machine, Rounds, Stopwatch, undisturbed

BUDGET = Budget(turn=1e-4, rounds=30, seconds=0.4)
CALIBRATED = (20e-6, 25e-6)


@dataclass
class FakeCore:
    """A core with clocks of its own: calls advance them, and so does what disturbs it."""

    wall: float = 0.0
    cpu: float = 0.0
    interrupts: int = 0
    slowdown: Callable[[], float] = lambda: 1.0  # of SIMD code; half of the excess hits other code
    preempted: Callable[[float], float] = lambda seconds: 0.0  # wall seconds lost in a call
    rng: Any = field(default_factory=lambda: np.random.default_rng(0))

    def call(self, seconds: float, simd: bool = True) -> Callable[[], None]:
        def run() -> None:
            factor = self.slowdown()
            factor = factor if simd else 1.0 + (factor - 1.0) / 2.0
            spent = seconds * factor * (1.0 + 0.01 * self.rng.random())
            lost = self.preempted(spent)
            self.interrupts += lost > 0.0
            self.cpu += spent + 0.02 * lost  # caches are cold after it
            self.wall += spent + lost

        return run

    def calibrate(self) -> tuple[float, float]:
        factor = self.slowdown()
        return CALIBRATED[0] * factor, CALIBRATED[1] * (1.0 + (factor - 1.0) / 2.0)

    def stopwatch(self, load: tuple[float, float] = (0.0, 0.0), best: tuple[float, float] | None = None) -> Stopwatch:
        class Loaded(Machine):
            def load(self) -> tuple[float, float]:
                return load

        clocks = Clocks(lambda: int(self.cpu * 1e9), lambda: int(self.wall * 1e9), lambda: self.interrupts)
        return Stopwatch(best, clocks=clocks, machine=Loaded(), calibrate=self.calibrate)


def test_a_quiet_core_gives_the_ratio_and_no_difference_between_twins() -> None:
    core = FakeCore()
    watch = core.stopwatch()
    found = watch.measure([core.call(1e-6), core.call(1e-6), core.call(11e-6)], BUDGET)
    group = Group([found], watch.best)
    assert not group.disturbed().any()
    assert found.calls[0] > 5 * found.calls[2]  # turns are equally long
    ratio = group.ratio(2, 0)
    assert ratio.low <= 11.0 <= ratio.high + 0.05
    assert ratio.value == pytest.approx(11.0, rel=0.01)
    assert not group.ratio(1, 0).widened(0.01).resolved


def test_preempted_turns_are_dropped_and_repeated() -> None:
    """A call as long as a time slice is interrupted in most rounds, a short one fits between: the old trap."""
    core = FakeCore(rng=np.random.default_rng(1))
    core.preempted = lambda seconds: 4e-3 if core.rng.random() < seconds / 4e-3 else 0.0
    watch = core.stopwatch(load=(1.5, 0.0), best=CALIBRATED)
    found = watch.measure([core.call(100e-6), core.call(1200e-6, simd=False)], Budget(rounds=30, seconds=5.0))
    group = Group([found], watch.best)
    kept = undisturbed(found, Limits(), watch.best)
    assert kept[1].sum() < 0.95 * len(found)  # there was something to drop
    assert not group.disturbed().any()
    assert group.ratio(1, 0).value == pytest.approx(12.0, rel=0.02)


def test_a_neighbour_on_the_same_core_is_seen_by_the_calibration_loops() -> None:
    """Wall over CPU time is 1 and nothing is interrupted: only the loops show it."""
    core = FakeCore()
    core.slowdown = lambda: 1.5 if core.wall % 0.01 < 0.006 else 1.0
    watch = core.stopwatch()
    found = watch.measure([core.call(10e-6), core.call(120e-6, simd=False)], Budget(turn=2e-4, rounds=30, seconds=2.0))
    group = Group([found], watch.best)
    assert not group.disturbed().any()
    assert group.ratio(1, 0).value == pytest.approx(12.0, rel=0.02)
    assert group.shared_ratio(1, 0) < 11.5


def test_a_neighbour_that_never_leaves_makes_the_group_disturbed() -> None:
    core = FakeCore(slowdown=lambda: 1.5)
    for best in (None, CALIBRATED):  # never seen quiet, and known from before
        watch = core.stopwatch(load=(1.0, 0.0), best=best)
        found = watch.measure([core.call(10e-6), core.call(120e-6, simd=False)], BUDGET)
        group = Group([found], watch.best)
        assert group.disturbed().all()
        assert np.isfinite(group.seconds(0).value)  # the numbers stay


def test_a_machine_known_to_be_quiet_is_not_disturbed_by_load_elsewhere() -> None:
    core = FakeCore()
    watch = core.stopwatch(load=(1.0, 0.0), best=CALIBRATED)
    found = watch.measure([core.call(10e-6), core.call(120e-6)], BUDGET)
    assert not Group([found], watch.best).disturbed().any()


def test_stolen_time_disturbs() -> None:
    core = FakeCore()
    watch = core.stopwatch(load=(0.0, 0.3), best=CALIBRATED)
    found = watch.measure([core.call(10e-6)], BUDGET)
    assert Group([found], watch.best).disturbed().all()


def test_a_clock_that_jumps_is_dropped() -> None:
    core = FakeCore()
    jumps = iter([k % 7 == 3 for k in range(1_000_000)])
    core.preempted = lambda seconds: 0.5 if next(jumps) else 0.0
    watch = core.stopwatch(best=CALIBRATED)
    found = watch.measure([core.call(150e-6), core.call(150e-6)], Budget(rounds=20, seconds=100.0))
    assert Group([found], watch.best).ratio(1, 0).value == pytest.approx(1.0, rel=0.01)


def test_one_calibration_that_a_clock_made_too_short_disturbs_nothing() -> None:
    """A reading a third too short was once taken for the best, and made all cells of a quiet run disturbed."""
    core = FakeCore()
    watch = core.stopwatch()
    readings = iter([CALIBRATED, (CALIBRATED[0], 0.68 * CALIBRATED[1])])
    watch.calibrate = lambda: next(readings, CALIBRATED)
    found = watch.measure([core.call(1e-6), core.call(11e-6)], BUDGET)
    assert watch.best == CALIBRATED
    assert not Group([found], watch.best).disturbed().any()


def test_a_difference_of_ten_percent_is_resolved() -> None:
    core = FakeCore()
    watch = core.stopwatch()
    group = Group([watch.measure([core.call(10e-6), core.call(11e-6)], BUDGET)], watch.best)
    assert group.ratio(1, 0).widened(0.02).resolved


def test_slow_contestants_take_part_in_fewer_rounds() -> None:
    core = FakeCore()
    watch = core.stopwatch()
    found = watch.measure([core.call(1e-5), core.call(0.2)], Budget(rounds=20, seconds=30.0))
    group = Group([found], watch.best)
    assert group.taken[1] < group.taken[0] / 4
    assert not group.disturbed().any()
    assert group.ratio(1, 0).value == pytest.approx(2e4, rel=0.02)


def test_the_rounds_of_all_passes_are_kept() -> None:
    core = FakeCore()
    watch = core.stopwatch()
    passes = [watch.measure([core.call(10e-6), core.call(20e-6)], BUDGET) for _ in range(2)]
    group = Group(passes, watch.best)
    assert len(group.cpu[0]) == sum(len(one) for one in passes)


def passes_of_twins(rng: Any, count: int, slower: float) -> list[Rounds]:
    """Two contestants that are the same code, each up to so much slower in a process, all through it."""
    found = []
    for _ in range(count):
        factors = 1.0 + slower * rng.random(2)
        cpu = [list(1e-5 * factor * (1.0 + 0.01 * rng.random(20))) for factor in factors]
        quiet = {"throughput": [CALIBRATED[0]] * 20, "latency": [CALIBRATED[1]] * 20}
        found.append(Rounds([50, 50], cpu, cpu, [[0] * 20] * 2, **quiet, others=[0.0] * 20, steal=[0.0] * 20))
    return found


def test_intervals_include_what_processes_differ_by() -> None:
    """Pooled rounds gave intervals of a per cent, and a verdict between twins in most runs."""
    rng = np.random.default_rng(3)
    groups = [Group(passes_of_twins(rng, 6, 0.25), CALIBRATED) for _ in range(100)]
    ratios = [group.ratio(1, 0).widened(0.01) for group in groups]
    assert sum(ratio.resolved for ratio in ratios) <= 8
    assert np.median([ratio.high / ratio.low for ratio in ratios]) < 1.3
    alike = Group(passes_of_twins(rng, 6, 0.0), CALIBRATED).ratio(1, 0)
    assert alike.high / alike.low < 1.01


def test_a_pass_without_an_undisturbed_turn_is_left_out() -> None:
    passes = passes_of_twins(np.random.default_rng(0), 4, 0.0)
    passes[1].steal = [0.5] * 20
    passes[1].cpu = [[2.0 * x for x in row] for row in passes[1].cpu]
    group = Group(passes, CALIBRATED)
    assert group.seconds(0).value == pytest.approx(1e-5, rel=0.01)
    one = Group([passes[0], passes[1]], CALIBRATED).ratio(1, 0)  # nothing but the rounds of one pass
    assert one.low <= one.value <= one.high < 1.02


@pytest.mark.parametrize(
    ("estimate", "resolved"), [((1.2, 1.1, 1.3), True), ((1.05, 0.99, 1.1), False), ((0.8, 0.7, 0.9), True)]
)
def test_no_difference_where_the_interval_includes_one(estimate: tuple[float, ...], resolved: bool) -> None:
    assert Estimate(*estimate).resolved is resolved


def test_the_resolution_comes_from_pairs_of_the_same_code() -> None:
    assert resolution([1.0, 1.0]) == 0.01
    assert resolution([1.02, 0.9]) == pytest.approx(1.0 / 0.9 - 1.0)
    assert np.isnan(resolution([]))


def test_a_real_thread_that_burns_cpu_gives_the_same_ratio_or_a_disturbed_group() -> None:
    """The loops of the calibration as contestants: their ratio is known from a run without the thread."""
    stop = threading.Event()

    def burn() -> None:
        while not stop.is_set():
            sum(range(1000))

    short, long = calibration.throughput(), calibration.latency()
    calls = [lambda: short.run(500, 0.999, 1e-3), lambda: long.run(20_000, 0.999, 1e-3)]
    best = min(calibration.calibrate() for _ in range(200))
    budget = Budget(rounds=20, seconds=1.0)
    alone = Group([Stopwatch(best).measure(calls, budget)], best)
    thread = threading.Thread(target=burn)
    thread.start()
    try:
        watch = Stopwatch(best)
        group = Group([watch.measure(calls, budget)], watch.best)
    finally:
        stop.set()
        thread.join()
    disturbed = group.disturbed().any() or alone.disturbed().any()  # the latter by something else on this machine
    assert disturbed or group.ratio(1, 0).value == pytest.approx(alone.ratio(1, 0).value, rel=0.15)


def test_the_loops_are_what_they_claim() -> None:
    """Throughput: so many independent chains take far less than so many times one chain."""
    steps = 20_000
    one = min(calibration.latency().seconds(steps) for _ in range(50))
    ten = min(calibration.throughput(10).seconds(steps) for _ in range(50))
    assert ten < 6.0 * one
    assert calibration.throughput(10).run(3, 0.0, 2.0) == pytest.approx(20.0)  # x <- 0 x + 2, ten chains


def test_counting_of_other_processes_sees_none_of_our_own_work() -> None:
    machine = Machine()
    until = time.perf_counter() + 0.35
    while time.perf_counter() < until:
        pass
    others, steal = machine.load()
    assert 0.0 <= others < 64.0
    assert 0.0 <= steal <= 64.0


def test_rounds_are_plain_data() -> None:
    from dataclasses import asdict

    core = FakeCore()
    found = core.stopwatch().measure([core.call(1e-5)], BUDGET)
    again = Rounds(**asdict(found))
    assert again == found


@pytest.mark.parametrize("shape", [(5, 20), (7, 99, 20), (3, 1), (4, 100, 3)])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_the_low_quantile_is_that_of_numpy(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    x = random.random(shape)
    x[random.random(shape) < 0.4] = np.nan
    np.testing.assert_allclose(low_quantile(x), np.nanquantile(x, QUANTILE, axis=-1), rtol=1e-14)
