"""Progress on stderr: a bar with the time left when it is a terminal, a line now and then when it is not."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

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
        self.start = self.spoke = time.monotonic()
        if self.terminal:
            self._bar("")
        return self

    def step(self, what: str = "", failed: int = 0, steps: int = 1) -> None:
        """One more step is done, or several; so many ``failed``."""
        self.count += steps
        self.failed += failed
        now = time.monotonic()
        if self.terminal:
            self._bar(what)
        elif now - self.spoke >= BETWEEN_LINES:
            self.spoke = now
            self.stream.write(f"{self.stage}: {self._counts()}, {self._left()} left ({what})\n")
            self.stream.flush()

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self.stream.write(("\r\x1b[K" if self.terminal else "") + line + "\n")
        if self.terminal:
            self._bar("")
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
        text = f"{self.stage} [{'#' * full}{'.' * (WIDTH - full)}] {self._counts()}{left} {what}"
        self.stream.write(f"\r\x1b[K{text[:110]}")
        self.stream.flush()
