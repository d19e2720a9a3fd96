"""A campaign from its blocks to campaign.csv, in bounded memory.

Blocks are made, handed out and answered a few at a time; an answer goes to the journal of the folder
(`processes.journal`) at once and is not kept in memory. At the end campaign.csv is written from the journal, in the
order of the blocks, so that it does not depend on the number of processes or machines.

A process that dies loses the other cells of its block. They are run again in halves, until only the cell that crashes
has the reason. A robot and method of which `DEATHS` jobs have died and none has finished is given up.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from typing import Any

from dynbench.benchmarks.campaigns.campaign import Block, Campaign, Choice
from dynbench.benchmarks.campaigns.summary import CampaignSummary
from dynbench.benchmarks.processes import hosts
from dynbench.benchmarks.processes.executors import MAX_PROCESSES, stream
from dynbench.benchmarks.processes.interrupts import interruptible
from dynbench.benchmarks.processes.jobs import INTERRUPTED, Answer, Job
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.processes.workers import run_job
from dynbench.benchmarks.results import environment, files, schema

AHEAD = 4  # blocks handed out for every process, so that none has to wait
DEATHS = 8  # of jobs


def shared(job: Job) -> Answer:
    """Run a job in a process of this machine, unless something is being timed there."""
    with hosts.machine_lock(alone=False):
        return run_job(job)


class CampaignRun:
    """One run of a campaign in a results folder."""

    def __init__(self, campaign: Campaign, journal: Journal) -> None:
        self.campaign = campaign
        self.journal = journal
        self._out: dict[int, tuple[Block, str]] = {}  # blocks without an answer yet, with their keys
        self._again: list[Block] = []  # parts of blocks that died
        self._deaths: Counter[tuple[str, Choice]] = Counter()
        self._last_death: dict[tuple[str, Choice], Outcome] = {}
        self._alive: set[tuple[str, Choice]] = set()  # pairs of which a job has finished
        self._lost: dict[str, Missing] = {}  # key of a block that was not run: reason

    def compute(self, executor: Executor, progress: Progress) -> None:
        """Run what is missing."""
        blocks: Iterable[Block] = self.campaign.blocks()
        while blocks:
            self._stream(executor, blocks, progress)
            blocks, self._again = self._again, []

    def _stream(self, executor: Executor, blocks: Iterable[Block], progress: Progress) -> None:
        ahead = AHEAD * getattr(executor, "slots", min(os.cpu_count() or 1, MAX_PROCESSES))
        with closing(stream(executor, self._jobs(blocks, progress), shared, ahead)) as answers:
            for number, job, answer in answers:
                block, name = self._out.pop(number)
                if answer.missing and answer.outcome is Outcome.INTERRUPTED:
                    self._lost[name] = answer.missing
                self.journal.put(name, job, answer)
                self._took(block, answer, progress)

    def _jobs(self, blocks: Iterable[Block], progress: Progress) -> Iterator[Job]:
        """Yield the jobs of blocks that the journal does not have, the halves of those that died first."""
        number = 0
        for block in blocks:
            waiting = [block]
            while waiting or self._again:
                one = self._again.pop() if self._again else waiting.pop()
                name = self.key(one)
                if self._given_up(one):
                    progress.step("", self._last_death[one.pair], len(one))
                    continue
                known = self.journal.find(name)
                if known is not None:
                    self._took(one, known, progress)
                    continue
                self._out[number] = one, name
                number += 1
                yield self.campaign.job(one)

    def _took(self, block: Block, answer: Answer, progress: Progress) -> None:
        """Note how a block ended."""
        if answer.outcome.ended_process:
            self._deaths[block.pair] += 1
            self._last_death[block.pair] = answer.outcome
            if len(block) > 1 and not self._given_up(block):
                self._again += reversed(block.halves())
                return
        elif not answer.reason:
            self._alive.add(block.pair)
        progress.step(f"{block.target.name} {block.choice.method}", answer.outcome, len(block))

    def _given_up(self, block: Block) -> bool:
        return self._deaths[block.pair] >= DEATHS and block.pair not in self._alive

    def key(self, block: Block) -> str:
        return key(self.campaign.job(block))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for every cell, in the order of the product."""
        for block in self.campaign.blocks():
            yield from self._rows(block, "")

    def _rows(self, block: Block, died: str) -> Iterator[dict[str, Any]]:
        name = self.key(block)
        answer = self.journal.find(name)
        if answer is not None and answer.outcome.ended_process and len(block) > 1:
            for half in block.halves():
                yield from self._rows(half, answer.reason)
            return
        if answer is None:
            missing = self._lost.get(name) or self._why_missing(block, died)
            answer = Answer(reason=missing.reason, outcome=missing.outcome)
        results = answer.value if _whole(answer.value, len(block)) else None
        failed = answer.missing or Missing(Outcome.FAILED, f"returned {len(block)} results that cannot be read")
        for number, cell in enumerate(block.cells):
            result = results[number] if results is not None else failed._asdict()
            yield self.campaign.row(block, cell, {"outcome": Outcome.NUMBER, **result}, answer.host)

    def _why_missing(self, block: Block, died: str) -> Missing:
        if not self._given_up(block):
            return INTERRUPTED
        said = f"; this block {died}" if died else ""
        reason = f"not run: {self._deaths[block.pair]} jobs of {block.choice.label} on {block.target.name} died{said}"
        return Missing(self._last_death[block.pair], reason)

    def write(self, folder: Path) -> CampaignSummary:
        """Write campaign.csv and return its summary."""
        summary = CampaignSummary(self.campaign)
        schema.CAMPAIGN.write(folder, map(summary.add, self.rows()), self.campaign.columns)
        return summary


def _whole(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(isinstance(item, dict) for item in value)


def run(campaign: Campaign, journal: Journal, executor: Executor) -> tuple[CampaignSummary, bool]:
    """Run a campaign in the folder of a journal; return the summary, and whether it was interrupted.

    The folder also gets a copy of the campaign file, and where and with what it was run.
    """
    folder = journal.folder
    files.write_text(folder / "campaign.toml", campaign.path.read_text(encoding="utf-8"))
    files.write_json(folder / "environment.json", environment.describe(), indent=1)
    one = CampaignRun(campaign, journal)
    interrupted = False
    with interruptible():
        try:
            with Progress(campaign.name, len(campaign)) as progress:
                one.compute(executor, progress)
        except KeyboardInterrupt:
            interrupted = True  # the table has what is there
        journal.retry_failed = False  # what failed in this run is its result
        summary = one.write(folder)
    if not interrupted:
        journal.finish()
    return summary, interrupted
