"""Progress on stderr: a bar with the time left on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

from dynbench.benchmarks.processes.outcomes import Outcome

WIDTH = 24  # of the bar, in characters
BETWEEN_LINES = 10.0  # seconds, when not a terminal


class Progress:
    """Counts steps of one stage: ``with Progress("timing", 120) as progress: progress.step("panda kane")``."""

    def __init__(self, stage: str, total: int, stream: TextIO | None = None) -> None:
        self.stage = stage
        self.total = total
        self.stream = stream if stream is not None else sys.stderr
        self.terminal = self.stream.isatty()
        self.count = 0
        self.failed = 0

    def __enter__(self) -> Progress:
        self.start = self.last_line = time.monotonic()
        if self.terminal:
            self._bar("")
        return self

    def step(self, what: str = "", outcome: Outcome = Outcome.NUMBER, steps: int = 1) -> None:
        """Count one or more steps that ended with an outcome; only failures are counted as failed."""
        self.count += steps
        self.failed += steps if outcome.failure else 0
        now = time.monotonic()
        if self.terminal:
            self._bar(what)
        elif now - self.last_line >= BETWEEN_LINES:
            self.last_line = now
            current = f" ({what})" if what else ""
            self.stream.write(f"{self.stage}: {self._counts()}, {self._left()} left{current}\n")
            self.stream.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ending = "stopped" if kind else "done"
        clear = "\r\x1b[K" if self.terminal else ""
        self.stream.write(f"{clear}{self.stage}: {self._counts()} {ending} in {time.monotonic() - self.start:.1f} s\n")
        self.stream.flush()

    def _counts(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.count} of {self.total}{failed}"

    def _left(self) -> str:
        spent = time.monotonic() - self.start
        seconds = spent / self.count * (self.total - self.count) if self.count else 0.0
        return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"

    def _bar(self, what: str) -> None:
        full = round(WIDTH * self.count / self.total) if self.total else WIDTH
        left = f" {self._left()} left" if self.count else ""
        text = f"{self.stage} [{'#' * full}{'.' * (WIDTH - full)}] {self._counts()}{left} {what}".rstrip()
        self.stream.write(f"\r\x1b[K{text[:110]}")
        self.stream.flush()
