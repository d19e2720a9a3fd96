"""Answers that are kept beside the compiled kernels, so that the default run need not compute them again.

An answer is found by the key of its job (`keys`): sources, versions, robot and method, and the processor if it is about
speed. The default run uses what is there; the full run and ``dynbench papers`` always run everything, and leave their
answers here. Code of other packages is not kept: the key may not have all of their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dynbench.benchmarks.processes.jobs import Answer, Ask, Job, dumps, here, loads
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.results import files
from dynbench.methods.kernels import cache
from dynbench.robots.errors import DynbenchError


def folder() -> Path:
    """Where answers are kept."""
    return cache.base() / "answers"


def keeping(ask: Ask) -> Ask:
    """Return an `Ask` that runs everything, and keeps the answers."""

    def asked(stage: str, jobs: Sequence[Job]) -> list[Answer]:
        answers = ask(stage, jobs)
        for job, answer in zip(jobs, answers, strict=True):
            keep(job, answer)
        return answers

    return asked


def using(ask: Ask, used: Callable[[Job], None] = lambda job: None) -> Ask:
    """Return an `Ask` that takes what is kept, has the rest run, and keeps it too.

    ``used`` is called with each job whose answer was kept.
    """

    def asked(stage: str, jobs: Sequence[Job]) -> list[Answer]:
        found = {number: answer for number, job in enumerate(jobs) if (answer := find(job)) is not None}
        for number in found:
            used(jobs[number])
        left = [number for number in range(len(jobs)) if number not in found]
        answers = keeping(ask)(stage, [jobs[number] for number in left]) if left else []
        found |= dict(zip(left, answers, strict=True))
        return [found[number] for number in range(len(jobs))]

    return asked


def find(job: Job) -> Answer | None:
    """Return the answer of a job, None if it is not kept; a paper's claims in long form count for the short form."""
    forms = [job]
    if set(job.arguments) == {"name", "quick"}:
        forms.insert(0, replace(job, arguments={**job.arguments, "quick": False}))
    for form in forms:
        try:
            value = loads(_file(form).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there, or damaged
            continue
        return Answer(value, host=here())
    return None


def keep(job: Job, answer: Answer) -> None:
    """Keep the answer of a job that runs code of dynbench alone, if it has one; a full disk is no error."""
    if answer.reason or not _ours(job):
        return
    try:
        folder().mkdir(parents=True, exist_ok=True)
        files.write_text(_file(job), dumps(answer.value))
    except (OSError, DynbenchError, TypeError, ValueError):
        return


def _ours(job: Job) -> bool:
    """Whether a job runs code of dynbench alone."""
    from dynbench.benchmarks.papers import plugins  # papers use jobs too

    name = job.arguments.get("paper") or job.arguments.get("name")
    papers = {ours for ours, _ in plugins.ours()}
    return not job.owner and (name in papers if name else "method" in job.arguments)


def _file(job: Job) -> Path:
    return folder() / f"{key(job)}.json"
