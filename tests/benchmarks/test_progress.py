"""A bar on a terminal, lines elsewhere."""

from __future__ import annotations

import io

import pytest

from dynbench.benchmarks.processes import progress
from dynbench.benchmarks.processes.outcomes import Outcome


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_come_now_and_then_with_the_time_left(clock):
    stream = io.StringIO()
    with progress.Progress("timing", 4, stream) as bar:
        bar.step("a")
        clock[0] = 12.0
        bar.step("b")
        clock[0] = 15.0
        bar.step("c", Outcome.CRASHED)
    lines = stream.getvalue().splitlines()
    assert lines == ["timing: 2 of 4, 12 s left (b)", "timing: 3 of 4, 1 failed done in 15.0 s"]


def test_only_failures_are_called_failed_and_no_name_needs_no_brackets(clock):
    stream = io.StringIO()
    with progress.Progress("counting", 7, stream) as bar:
        clock[0] = 12.0
        for outcome in (Outcome.LEFT_OUT, Outcome.UNSUPPORTED, Outcome.INTERRUPTED, Outcome.DISTURBED):
            bar.step("", outcome)
        bar.step("", Outcome.TIMED_OUT, steps=3)
    lines = stream.getvalue().splitlines()
    assert lines == ["counting: 1 of 7, 72 s left", "counting: 7 of 7, 3 failed done in 12.0 s"]


def test_a_terminal_gets_a_bar(clock):
    stream = Terminal()
    with progress.Progress("timing", 2, stream) as bar:
        clock[0] = 5.0
        bar.step("panda kane", Outcome.CRASHED)
        *_, last = stream.getvalue().split("\r")
        assert last.startswith("timing [############............] 1 of 2, ")
        assert last.rstrip().endswith("left, 1 failed, panda kane")
    *_, last = stream.getvalue().split("\r")
    assert last == "timing: 1 of 2, 1 failed done in 5.0 s\n"


def test_an_empty_stage_is_done(clock):
    stream = Terminal()
    with progress.Progress("papers", 0, stream):
        pass
    assert stream.getvalue().endswith("papers: 0 of 0 done in 0.0 s\n")
