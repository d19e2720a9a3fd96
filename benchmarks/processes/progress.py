"""Progress on stderr: a bar (tqdm) with the time left on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import io
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from tqdm import tqdm

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.robots.text import visible

BAR = "{desc} [{bar:24}] {n_fmt} of {total_fmt}, {remaining} left{postfix}"
BETWEEN_LINES = 10.0  # seconds, when not a terminal


class Progress:
    """Counts steps of one stage: ``with Progress("timing", 120) as progress: progress.step("panda kane")``."""

    def __init__(self, stage: str, total: int, stream: TextIO | None = None) -> None:
        self.stage = stage
        self.total = total
        self.stream = stream or sys.stderr or io.StringIO()  # stderr is None if it was closed by who started us
        self.count = 0
        self.failed = 0

    def __enter__(self) -> Progress:
        self.start = self.last_line = time.monotonic()
        self.bar = tqdm(
            total=self.total,
            desc=self.stage,
            file=self.stream,
            disable=not self.stream.isatty(),
            bar_format=BAR,
            ascii=".#",
            leave=False,
            mininterval=0.0,
            dynamic_ncols=True,
        )
        return self

    def step(self, what: str = "", outcome: Outcome = Outcome.NUMBER, steps: int = 1) -> None:
        """Count one or more steps that ended with an outcome; only failures are counted as failed."""
        what = visible(what)
        self.count += steps
        self.failed += steps if outcome.failure else 0
        shown = [f"{self.failed} failed"] * bool(self.failed) + [what] * bool(what)
        self.bar.set_postfix_str(", ".join(shown), refresh=False)
        self.bar.update(steps)
        now = time.monotonic()
        if self.bar.disable and now - self.last_line >= BETWEEN_LINES:
            self.last_line = now
            left = (now - self.start) / self.count * (self.total - self.count)
            time_left = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
            current = f" ({what})" if what else ""
            self._write(f"{self.stage}: {self._counts()}, {time_left} left{current}\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.close()
        ending = "stopped" if kind else "done"
        self._write(f"{self.stage}: {self._counts()} {ending} in {time.monotonic() - self.start:.1f} s\n")

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):  # a stream that is full or closed: progress is dropped
            self.stream.write(line)
            self.stream.flush()

    def _counts(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.count} of {self.total}{failed}"
