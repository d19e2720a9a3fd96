"""Time in tests: none may fail because a machine is slow, busy, or stands still for a while.

pace            how many times slower than a usual machine this one is just now, for limits of processor time
times_faster    how many times faster one call is than another, measured until it is enough or clearly is not
wait_until      polling, up to a deadline that only what never happens reaches
Clock           a clock that jumps when something has happened, for code with time limits
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

NEVER = 300.0  # seconds after which what has not happened never will
LOOP = 0.06  # seconds of processor time of `_loop`, on an ordinary machine


def pace() -> float:
    """Return how many times longer plain Python takes here and now than on an ordinary machine, at least 1.

    A neighbour on the same core slows even processor time, by as much as it slows this.
    """
    return max(1.0, min(_processor(_loop) for _ in range(3)) / LOOP)


def times_faster(fast: Callable[[], object], slow: Callable[[], object], enough: float, rounds: int = 60) -> float:
    """Return how many times the processor time of ``fast`` a call of ``slow`` takes.

    In turns, the shortest of each, and five rounds at least. More only while the ratio is not ``enough``: what a
    neighbour takes away in one round it does not take away in all of them.
    """
    best, other = float("inf"), float("inf")
    for number in range(rounds):
        best, other = min(best, _processor(fast)), min(other, _processor(slow))
        if number >= 4 and other > enough * best:
            break
    return other / best


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that is about to happen, and fail when it never does."""
    until = time.monotonic() + NEVER
    while not condition():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.02)


class Clock:
    """In place of the module `time`: as the real one, and ``later`` seconds ahead of it from when a file exists.

    What hangs makes the file. So a limit can be long enough for a machine that stands still for a while, and yet what
    hangs is late at once.
    """

    def __init__(self, mark: Path, later: float) -> None:
        self.mark = mark
        self.later = later

    def monotonic(self) -> float:
        return time.monotonic() + (self.later if self.mark.exists() else 0.0)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def _processor(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def _loop() -> int:
    total = 0
    for number in range(1_000_000):
        total += number * number
    return total
