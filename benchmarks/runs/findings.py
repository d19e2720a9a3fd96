"""Everything a run found, and how its stages run jobs: `Findings.ask` returns an answer for each job.

Answers come from the journal if it has them, and new ones are written to it at once. When ``interrupted``, `ask` starts
no job: it returns what the journal has, and INTERRUPTED for the rest, so that running the stages once more gives
complete tables of what was finished.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from dynbench.benchmarks import papers
from dynbench.benchmarks.checks.evaluate import Checked
from dynbench.benchmarks.processes.executors import AHEAD, stream
from dynbench.benchmarks.processes.jobs import INTERRUPTED, NO_LIMITS, Answer, Job, Limits
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.runs import short
from dynbench.benchmarks.runs.plan import Matrix, Plan
from dynbench.benchmarks.tiers import Variant
from dynbench.benchmarks.timing import ratios, scaling
from dynbench.benchmarks.timing.passes import Timing

NO_TIME_LEFT = Missing(
    Outcome.LEFT_OUT, f"{short.FULL} and to `dynbench papers`: the default run had used up its time"
)
NOT_MEASURED = Answer(reason="was not measured", outcome=Outcome.LEFT_OUT)


@dataclass
class Findings:
    """Everything a run found."""

    plan: Plan
    matrix: Matrix
    environment: dict[str, Any]
    journal: Journal
    executor: Executor
    limits: Limits = NO_LIMITS
    plugin_refusals: dict[tuple[str, str], Missing | None] = field(default_factory=dict)  # robot's source, plugin
    checks: list[Row] = field(default_factory=list)
    checked: dict[str, Checked] = field(default_factory=dict)  # robot's source: the states and forces of its check
    compiled: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # method, quantity, single or batch
    timings: list[Timing] = field(default_factory=list)  # with those of cells that have no time
    grown: list[Timing] = field(default_factory=list)  # of the scaling families
    exponents: list[scaling.Exponent] = field(default_factory=list)
    prepared: dict[tuple[str, str], Answer] = field(default_factory=dict)  # robot, method
    first_calls: dict[str, tuple[str, str, Answer]] = field(default_factory=dict)  # method: robot, quantity, answer
    null_calls: dict[str, Answer] = field(default_factory=dict)  # other engines, by method
    counts: dict[tuple[str, Variant], Answer] = field(default_factory=dict)  # robot, method in a tier
    polynomials: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # family, method, quantity
    peak: Answer = NOT_MEASURED
    compared: list[ratios.Ratio] = field(default_factory=list)
    claimed: list[papers.Paper] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was left out, and why
    left: list[str] = field(default_factory=list)  # of these, what was left to the full run
    interrupted: bool = False
    began: float = field(default_factory=time.monotonic)
    compiling: float = math.nan  # seconds that compiling and trying out took
    asked: int = 0  # cells so far
    unanswered: int = 0  # of these, because of the interrupt

    def ask(
        self,
        stage: str,
        jobs: Sequence[Job],
        name: Callable[[Job], str] = lambda job: "",
        alone: bool = False,
        until: float = math.inf,
        expected: Callable[[Job], float] = lambda job: 0.0,
    ) -> list[Answer]:
        """Return the answers of jobs, in order.

        Parameters
        ----------
        name
            The name of a job in the progress display.
        alone : bool
            Run one job at a time, because they are timed.
        until : float
            Seconds after the start of the run: jobs that would not end by then are not begun.
        expected : callable
            The seconds that a job takes, roughly; with ``until`` the shortest are begun first.
        """
        most, time = self.limits.memory, self.limits.seconds
        jobs = [replace(job, memory=most, timeout=min(job.timeout, time), alone=alone) for job in jobs]
        names = [key(job) for job in jobs]
        answers = {number: found for number, k in enumerate(names) if (found := self.journal.find(k)) is not None}
        # jobs of one owner together, so that few processes have to be started
        order = sorted((n for n in range(len(jobs)) if n not in answers), key=lambda n: jobs[n].owner)
        reused = f", {len(answers)} found in the journal" if answers else ""
        with Progress(stage + reused, 0 if self.interrupted else len(order)) as progress:
            if until < math.inf:
                order.sort(key=lambda number: expected(jobs[number]))
            chosen = itertools.takewhile(
                lambda number: self.seconds() + expected(jobs[number]) < until, () if self.interrupted else order
            )
            ahead = 1 if alone else AHEAD if until == math.inf else os.cpu_count() or 1
            begun = stream(self.executor, (jobs[number] for number in chosen), ahead=ahead)
            with closing(begun) as found_now:
                for place, job, answer in found_now:
                    number = order[place]
                    self.journal.put(names[number], job, answer)
                    answers[number] = answer
                    progress.step(name(job), answer.outcome)
        self.asked += len(jobs)
        why = INTERRUPTED if self.interrupted else NO_TIME_LEFT
        self.unanswered += len(jobs) - len(answers) if self.interrupted else 0
        return [answers.get(number, Answer(reason=why.reason, outcome=why.outcome)) for number in range(len(jobs))]

    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.began
