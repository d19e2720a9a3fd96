"""Paired rounds: calls that are compared are measured in turns, A B C B A C ..., in one process.

A *turn* is some calls of one contestant, as many as make all turns about equally long; a *round* is a turn of each, in
random order, with the two loops of `calibration` before and after. For every turn the CPU time of the thread and the
wall time are kept, and whether the system interrupted it; for every round what the calibration loops took, and what
other processes did. A turn is *disturbed* when one of these says that the core was not this thread's alone
(`undisturbed`), on either side of its round: a neighbour that comes or goes within a round shows on one side only.
Rounds are repeated until every contestant has enough undisturbed turns, or until the budget is used up. Nothing is
judged here: `quiet` makes times, intervals and ratios of what was measured.
"""

from __future__ import annotations

import gc
import itertools
import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dynbench.benchmarks.timing import calibration
from dynbench.robots.robot import FloatArray

Call = Callable[[], Any]
Best = tuple[float, float]  # seconds of the throughput and of the latency loop at their best
ROUNDS_AT_ONCE = 5  # between two looks at what other processes do
UNKNOWN_BEST = 0.1  # quantile of the calibration loops that counts as their best while no quiet rounds are known


@dataclass(frozen=True)
class Budget:
    """How long a group may take, and what is measured in that time."""

    turn: float = 0.5e-3  # seconds; longer when one call of a contestant is longer, up to `longest_turn`
    longest_turn: float = 3e-3  # a scheduler's time slice: longer turns are interrupted in most rounds
    rounds: int = 40  # undisturbed turns of each contestant
    least: int = 12  # with fewer undisturbed turns a contestant has no quiet time
    seconds: float = 2.0  # for all rounds of a group


@dataclass(frozen=True)
class Limits:
    """Beyond these a turn counts as disturbed."""

    wall: float = 1.05  # wall time over CPU time of a turn ...
    wall_slack: float = 20e-6  # ... beyond so many seconds, by which the two clocks may differ
    calibration: float = 1.10  # of a calibration loop, over its best
    steal: float = 0.02  # share of the time that the hypervisor took away
    others: float = 0.15  # processors' worth of work by other processes, where no undisturbed calibration is known


@dataclass(frozen=True)
class Clocks:
    """What a turn is measured by; tests put others in their place."""

    cpu: Callable[[], int] = time.thread_time_ns
    wall: Callable[[], int] = time.perf_counter_ns
    switches: Callable[[], int] = lambda: _switches()


DEFAULT_BUDGET, DEFAULT_LIMITS, SYSTEM_CLOCKS = Budget(), Limits(), Clocks()


@dataclass
class Rounds:
    """What was measured: an entry for each contestant and round; NaN where a contestant sat a round out."""

    calls: list[int]  # in a turn, by contestant
    cpu: list[list[float]]  # seconds of one call, by contestant, then round; of several threads: wall seconds
    wall: list[list[float]]
    switches: list[list[int]]  # involuntary context switches in the turn
    throughput: list[float] = field(default_factory=list)  # seconds of the calibration loops before each round
    latency: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)  # processors' worth of work by other processes, by round
    steal: list[float] = field(default_factory=list)  # share, by round
    after: Best | None = None  # seconds of the calibration loops after the last round; None in older journals

    def __len__(self) -> int:
        return len(self.throughput)


class Machine:
    """What other processes do on this machine, from the counters of the system (Linux; elsewhere nothing is known)."""

    WINDOW = 0.3  # seconds: the counters advance by 10 ms a processor, so shorter spans say nothing

    def __init__(self) -> None:
        self._seen = deque([self._read()], maxlen=1000)

    def load(self) -> tuple[float, float]:
        """Return the processors' worth of work by other processes, and the share of stolen time, of late."""
        now = self._read()
        while len(self._seen) > 1 and now[0] - self._seen[1][0] >= self.WINDOW:
            self._seen.popleft()
        then = self._seen[0]
        self._seen.append(now)
        span = now[0] - then[0]
        if span <= 0.0:
            return 0.0, 0.0
        return max(0.0, (now[1] - then[1]) / span), max(0.0, (now[2] - then[2]) / span)

    @staticmethod
    def _read() -> tuple[float, float, float]:
        """Wall time, CPU seconds of all other processes, and stolen seconds, each since some fixed moment."""
        now = time.perf_counter()
        try:
            with open("/proc/stat", encoding="ascii") as file:
                ticks = [int(word) for word in file.readline().split()[1:9]]
            tick = 1.0 / os.sysconf("SC_CLK_TCK")
            user, nice, system, _, _, irq, softirq, steal = (ticks + [0] * 8)[:8]
        except (OSError, ValueError):
            return now, 0.0, 0.0
        return now, (user + nice + system + irq + softirq) * tick - time.process_time(), steal * tick


def _switches() -> int:
    """Involuntary context switches of this thread so far; 0 where the system does not count them."""
    try:
        import resource

        return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
    except (ImportError, AttributeError):
        return 0


class Stopwatch:
    """Measures groups in one process, and knows the best that the calibration loops reached while all was quiet.

    Parameters
    ----------
    best : tuple of float, optional
        What they reached before, on this machine.
    """

    def __init__(
        self,
        best: Best | None = None,
        limits: Limits = DEFAULT_LIMITS,
        clocks: Clocks = SYSTEM_CLOCKS,
        machine: Machine | None = None,
        calibrate: Callable[[], Best] = calibration.calibrate,
    ) -> None:
        self.best = best
        self.limits = limits
        self.clocks = clocks
        self.machine = machine or Machine()
        self.calibrate = calibrate

    def measure(
        self,
        contestants: Sequence[Call],
        budget: Budget = DEFAULT_BUDGET,
        threads: bool = False,
        turn: Callable[[int], None] = lambda place: None,
    ) -> Rounds:
        """Measure contestants in turns.

        Parameters
        ----------
        contestants : sequence of callables
            Warm: compiled, and called before.
        threads : bool
            Whether the calls use several threads; then wall time is measured.
        turn
            Called before every turn with the place of the contestant.
        """
        first = []
        for place, call in enumerate(contestants):
            turn(place)
            first.append(self.seconds_of(call, budget.turn, threads))
        length = min(max(budget.turn, *first), budget.longest_turn)
        # A contestant whose single call is much longer than a turn takes part in every second, third, ... round only
        stride = [max(1, math.ceil(seconds / (8.0 * budget.longest_turn))) for seconds in first]
        wanted = np.array([math.ceil(budget.rounds / step) for step in stride])
        calls = [max(1, round(length / seconds)) for seconds in first]
        found = Rounds(calls, [[] for _ in first], [[] for _ in first], [[] for _ in first])
        order = np.random.default_rng(0)
        until = self.clocks.wall() + budget.seconds * 1e9
        enabled = gc.isenabled()
        gc.disable()
        try:
            while True:
                for _ in range(ROUNDS_AT_ONCE):
                    self._round(contestants, found, stride, order, threads, turn)
                self._note_others(found)
                found.after = self.calibrate()
                if np.all(undisturbed(found, self.limits, self.best, threads).sum(axis=1) >= wanted):
                    return found
                if self.clocks.wall() > until:
                    return found
        finally:
            if enabled:
                gc.enable()

    def seconds_of(self, call: Call, turn: float, threads: bool = False) -> float:
        """Return the seconds of one call, roughly: the smallest of three measurements of at least a part of a turn."""
        clock = self.clocks.wall if threads else self.clocks.cpu
        count = 1
        while True:
            seconds = math.inf
            for _ in range(3):
                start = clock()
                for _ in itertools.repeat(None, count):
                    call()
                seconds = min(seconds, (clock() - start) * 1e-9 / count)
            if count * seconds > turn / 8 or count >= 1 << 16:
                return max(seconds, 1e-9)
            count *= 4

    def _round(
        self,
        contestants: Sequence[Call],
        found: Rounds,
        stride: Sequence[int],
        order: Any,
        threads: bool,
        turn: Callable[[int], None],
    ) -> None:
        number = len(found)
        throughput, latency = self.calibrate()
        found.throughput.append(throughput)
        found.latency.append(latency)
        for k in order.permutation(len(contestants)):  # none always follows the same other, whose data it shares
            turn(k)
            sits_out = number % stride[k] != 0
            cpu, wall, switches = (math.nan, math.nan, 0) if sits_out else self._turn(contestants[k], found.calls[k])
            found.cpu[k].append(wall if threads else cpu)
            found.wall[k].append(wall)
            found.switches[k].append(switches)

    def _turn(self, call: Call, count: int) -> tuple[float, float, int]:
        """Return CPU and wall seconds of one call, and how often the system interrupted the turn.

        One call goes before: it brings back to the caches what the contestants before have displaced.
        """
        clocks = self.clocks
        call()
        switches = clocks.switches()
        wall = clocks.wall()
        cpu = clocks.cpu()
        for _ in itertools.repeat(None, count):
            call()
        cpu = clocks.cpu() - cpu
        wall = clocks.wall() - wall
        return cpu * 1e-9 / count, wall * 1e-9 / count, clocks.switches() - switches

    def _note_others(self, found: Rounds) -> None:
        """Note what other processes did in the last rounds; if nothing, these show what the core can give."""
        others, steal = self.machine.load()
        found.others += [others] * ROUNDS_AT_ONCE
        found.steal += [steal] * ROUNDS_AT_ONCE
        self.best = better(self.best, quiet_best([found], self.limits))


def quiet_best(passes: Sequence[Rounds], limits: Limits = DEFAULT_LIMITS) -> Best | None:
    """Return the best of the calibration loops in rounds beside which other processes did little; None without any.

    The best is the smallest *median* of rounds in succession (`ROUNDS_AT_ONCE`): one reading that a clock made too
    short would otherwise make every later round look disturbed.
    """
    best: Best | None = None
    for one in passes:
        for start in range(0, len(one), ROUNDS_AT_ONCE):
            part = slice(start, start + ROUNDS_AT_ONCE)
            if max(one.others[part]) <= limits.others and max(one.steal[part]) <= limits.steal:
                reached = float(np.median(one.throughput[part])), float(np.median(one.latency[part]))
                best = better(best, reached)
    return best


def better(one: Best | None, other: Best | None) -> Best | None:
    """Return the smaller times of two, either of which may be unknown."""
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), min(one[1], other[1])


def undisturbed(found: Rounds, limits: Limits, best: Best | None, threads: bool = False) -> Any:
    """Return which turns nothing disturbed: an array of booleans, contestants x rounds.

    Parameters
    ----------
    best
        What the calibration loops reach on this machine when it is quiet. None if that is not known: then it is taken
        from these rounds, and only rounds count beside which other processes did little.
    """
    cpu, wall, switches = (np.array(rows) for rows in (found.cpu, found.wall, found.switches))
    calls = np.array(found.calls)[:, None]
    fine = np.isfinite(wall)
    if not threads:  # several threads share processors with whatever runs, and wait for each other
        fine &= (wall - limits.wall * cpu) * calls <= limits.wall_slack
        fine &= switches == 0
    after = found.after or (found.throughput[-1], found.latency[-1])
    loops: FloatArray = np.array([[*found.throughput, after[0]], [*found.latency, after[1]]])
    reached = np.array(best or np.quantile(loops, UNKNOWN_BEST, axis=1))
    near = np.all(loops <= limits.calibration * reached[:, None], axis=0)
    quiet = near[:-1] & near[1:] & (np.array(found.steal) <= limits.steal)
    if best is None:
        quiet &= np.array(found.others) <= limits.others
    return fine & quiet
