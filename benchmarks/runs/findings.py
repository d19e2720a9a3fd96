"""Everything a run found, and how it asks: a stage hands its jobs to `Findings.ask` and gets an answer for each.

What the journal has is not done again; what is done goes into the journal at once. When ``interrupted``, nothing is
begun: `ask` gives what the journal has, and for the rest the reason, so that the stages, gone through once more, make
complete tables of what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from dynbench.benchmarks import papers
from dynbench.benchmarks.checks.evaluate import Checked
from dynbench.benchmarks.processes.executors import AHEAD, stream
from dynbench.benchmarks.processes.jobs import INTERRUPTED, NO_LIMITS, Answer, Job, Limits
from dynbench.benchmarks.processes.journal import Store
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.runs.plan import Matrix, Plan
from dynbench.benchmarks.timing import ratios, scaling
from dynbench.benchmarks.timing.passes import Timing

NOT_MEASURED = Answer(reason="was not measured")
NOT_KEPT = "not run"  # how the reasons of answers begin that say nothing of the job itself


@dataclass
class Findings:
    """Everything a run found."""

    plan: Plan
    matrix: Matrix
    environment: dict[str, Any]
    store: Store
    executor: Executor
    limits: Limits = NO_LIMITS
    told: dict[tuple[str, str], str] = field(default_factory=dict)  # robot's source, plugin: why it does not take it
    checks: list[Row] = field(default_factory=list)
    checked: dict[str, Checked] = field(default_factory=dict)  # robot's source: the states and forces of its check
    compiled: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # method, quantity, single or batch
    timings: list[Timing] = field(default_factory=list)  # cells that were refused have theirs, with the reason
    grown: list[Timing] = field(default_factory=list)  # of the scaling families
    exponents: list[scaling.Exponent] = field(default_factory=list)
    prepared: dict[tuple[str, str], Answer] = field(default_factory=dict)  # robot, method
    first_calls: dict[str, tuple[str, str, Answer]] = field(default_factory=dict)  # method: robot, quantity, answer
    null_calls: dict[str, Answer] = field(default_factory=dict)  # other engines, by method
    counts: dict[tuple[str, str], Answer] = field(default_factory=dict)  # robot, method
    polynomials: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # family, method, quantity
    peak: Answer = NOT_MEASURED
    compared: list[ratios.Ratio] = field(default_factory=list)
    claimed: list[papers.Paper] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was left out, and why
    interrupted: bool = False
    asked: int = 0  # cells so far
    missing: int = 0  # of these, without an answer because of the interrupt

    def ask(
        self, stage: str, jobs: Sequence[Job], name: Callable[[Job], str] = lambda job: "", alone: bool = False
    ) -> list[Answer]:
        """Return the answers of jobs, in order.

        Parameters
        ----------
        name
            What progress calls a job.
        alone : bool
            One at a time: two that are timed together slow each other down.
        """
        most, time = self.limits.memory, self.limits.seconds
        jobs = [replace(job, memory=most, timeout=min(job.timeout, time), alone=alone) for job in jobs]
        names = [key(job) for job in jobs]
        answers = {number: found for number, k in enumerate(names) if (found := self.store.find(k)) is not None}
        # those of one owner together, so that few processes have to be started
        order = sorted((n for n in range(len(jobs)) if n not in answers), key=lambda n: jobs[n].owner)
        reused = f", {len(answers)} found in the journal" if answers else ""
        with Progress(stage + reused, 0 if self.interrupted else len(order)) as progress:
            chosen = () if self.interrupted else order
            begun = stream(self.executor, (jobs[number] for number in chosen), ahead=1 if alone else AHEAD)
            with closing(begun) as found_now:
                for place, job, answer in found_now:
                    number = order[place]
                    if not answer.reason.startswith(NOT_KEPT):
                        self.store.put(names[number], job, answer)
                    answers[number] = answer
                    progress.step(name(job), bool(answer.reason))
        self.asked += len(jobs)
        self.missing += len(jobs) - len(answers)
        return [answers.get(number, Answer(reason=INTERRUPTED)) for number in range(len(jobs))]
