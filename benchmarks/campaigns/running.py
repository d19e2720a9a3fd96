"""A campaign from its blocks to campaign.csv, in bounded memory.

Blocks are made, handed out and answered a few at a time; an answer goes to the journal of the folder (`runs.store`) at
once, and is forgotten. At the end the blocks are gone through again, in their order, and campaign.csv is written from
the journal, so that it is the same however many processes or machines there were, and whoever came first.

A process that dies takes the other cells of its block along. They are run again in halves, until the cell alone that
kills has the reason. Where nothing of a robot and method ever came to an end and `DEATHS` jobs have died, the rest is
given up.
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
from dynbench.benchmarks.campaigns.tally import Tally
from dynbench.benchmarks.processes import hosts
from dynbench.benchmarks.processes.executors import MOST, stream
from dynbench.benchmarks.processes.jobs import INTERRUPTED, Answer, Job
from dynbench.benchmarks.processes.journal import Store
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.processes.workers import run_job
from dynbench.benchmarks.results import environment, files, schema
from dynbench.benchmarks.runs.bench import terminated_as_interrupted
from dynbench.benchmarks.runs.findings import NOT_KEPT

AHEAD = 4  # blocks handed out for every process, so that none waits for us
DEATHS = 8


def shared(job: Job) -> Answer:
    """Run a job in a process of this machine, unless something is being timed there."""
    with hosts.place(alone=False):
        return run_job(job)


class CampaignRun:
    """One run of a campaign in a results folder."""

    def __init__(self, campaign: Campaign, store: Store) -> None:
        self.campaign = campaign
        self.store = store
        self._out: dict[int, tuple[Block, str]] = {}  # blocks without an answer yet, with their keys
        self._again: list[Block] = []  # parts of blocks that died
        self._deaths: Counter[tuple[str, Choice]] = Counter()
        self._alive: set[tuple[str, Choice]] = set()  # pairs of which something came to an end
        self._lost: dict[str, str] = {}  # key of a block that was not run: reason

    def compute(self, executor: Executor, progress: Progress) -> None:
        """Run what is missing."""
        blocks: Iterable[Block] = self.campaign.blocks()
        while blocks:
            self._stream(executor, blocks, progress)
            blocks, self._again = self._again, []

    def _stream(self, executor: Executor, blocks: Iterable[Block], progress: Progress) -> None:
        ahead = AHEAD * getattr(executor, "slots", min(os.cpu_count() or 1, MOST))
        with closing(stream(executor, self._jobs(blocks, progress), shared, ahead)) as answers:
            for number, job, answer in answers:
                block, name = self._out.pop(number)
                if answer.reason.startswith(NOT_KEPT):
                    self._lost[name] = answer.why
                else:
                    self.store.put(name, job, answer)
                self._took(block, answer, progress)

    def _jobs(self, blocks: Iterable[Block], progress: Progress) -> Iterator[Job]:
        """Yield the jobs of blocks that the journal does not have, those that died before all others."""
        number = 0
        for block in blocks:
            waiting = [block]
            while waiting or self._again:
                one = self._again.pop() if self._again else waiting.pop()
                name = self.key(one)
                if self._given_up(one):
                    progress.step(failed=len(one), steps=len(one))
                    continue
                known = self.store.find(name)
                if known is not None:
                    self._took(one, known, progress)
                    continue
                self._out[number] = one, name
                number += 1
                yield self.campaign.job(one)

    def _took(self, block: Block, answer: Answer, progress: Progress) -> None:
        """Note what became of a block."""
        if answer.deadly:
            self._deaths[block.pair] += 1
            if len(block) > 1 and not self._given_up(block):
                self._again += reversed(block.halves())
                return
        elif not answer.reason:
            self._alive.add(block.pair)
        failed = len(block) if answer.reason else 0
        progress.step(f"{block.subject.name} {block.choice.method}", failed, len(block))

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
        answer = self.store.find(name)
        if answer is not None and answer.deadly and len(block) > 1:
            for half in block.halves():
                yield from self._rows(half, answer.reason)
            return
        if answer is None:
            answer = Answer(reason=self._lost.get(name) or self._why_missing(block, died))
        results = answer.value if _whole(answer.value, len(block)) else None
        reason = answer.why or f"gave back {len(block)} results that cannot be read"
        for number, cell in enumerate(block.cells):
            result = results[number] if results is not None else {"reason": reason}
            yield self.campaign.row(block, cell, result, answer.host)

    def _why_missing(self, block: Block, died: str) -> str:
        if not self._given_up(block):
            return INTERRUPTED
        said = f"; this block {died}" if died else ""
        return f"not run: {self._deaths[block.pair]} jobs of {block.choice.label} on {block.subject.name} died{said}"

    def write(self, folder: Path) -> Tally:
        """Write campaign.csv and return what it says in short."""
        tally = Tally(self.campaign)
        schema.CAMPAIGN.write(folder, map(tally.add, self.rows()), self.campaign.columns)
        return tally


def _whole(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(isinstance(item, dict) for item in value)


def run(campaign: Campaign, store: Store, executor: Executor) -> tuple[Tally, bool]:
    """Run a campaign in the folder of a store; return the tally, and whether it was interrupted.

    The folder also gets a copy of the campaign file, and where and with what it was run.
    """
    folder = store.folder
    files.write_text(folder / "campaign.toml", campaign.path.read_text(encoding="utf-8"))
    files.write_json(folder / "environment.json", environment.describe(), indent=1)
    one = CampaignRun(campaign, store)
    interrupted = False
    with terminated_as_interrupted():
        try:
            with Progress(campaign.name, len(campaign)) as progress:
                one.compute(executor, progress)
        except KeyboardInterrupt:
            interrupted = True  # the table has what is there
        store.retry_failed = False  # what failed in this run is its result
        tally = one.write(folder)
    if not interrupted:
        store.finish()
    return tally, interrupted
