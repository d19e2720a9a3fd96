"""A campaign: a product of axes, and its cells in blocks that are made one after the other.

The outer axes are robots (or scenarios) and methods with their options; a block has cells of one of each, for
neighbouring seeds. Blocks of seeds begin at multiples of their size, so that a longer range of seeds begins with the
same blocks, and the results of the shorter one are found again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dynbench.benchmarks.campaigns.kinds import KINDS, Kind
from dynbench.benchmarks.processes.jobs import MEMORY, Job


@dataclass(frozen=True)
class Target:
    """A robot or a scenario: its columns in tables, and the arguments by which a job finds it."""

    name: str
    columns: tuple[tuple[str, str], ...]
    arguments: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Choice:
    """A method with options."""

    method: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """The options as a table shows them."""
        return ", ".join(f"{name}={value}" for name, value in self.options)

    @property
    def label(self) -> str:
        return f"{self.method} ({self.text})" if self.options else self.method


@dataclass(frozen=True)
class Block:
    """Cells of one target and one choice: one job."""

    target: Target
    choice: Choice
    cells: tuple[tuple[Any, ...], ...]  # coordinates in the order of the kind's axes

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def pair(self) -> tuple[str, Choice]:
        return self.target.name, self.choice

    def halves(self) -> tuple[Block, Block]:
        """Return the same cells in two blocks."""
        half = len(self) // 2
        return replace(self, cells=self.cells[:half]), replace(self, cells=self.cells[half:])


@dataclass(frozen=True)
class Campaign:
    """A sweep; `reading.read` makes one from a file."""

    name: str
    kind_name: str
    targets: tuple[Target, ...]
    choices: tuple[Choice, ...]
    axes: Mapping[str, Sequence[Any]]  # of the kind's axes, values each; a range for seeds
    common: Mapping[str, Any] = field(default_factory=dict)  # what every job gets
    timeout: float = 300.0  # seconds a job
    memory: int = MEMORY  # bytes a process
    path: Path = Path("campaign.toml")

    @property
    def kind(self) -> Kind:
        return KINDS[self.kind_name]

    @property
    def columns(self) -> tuple[str, ...]:
        """Of campaign.csv."""
        kind = self.kind
        head = (*kind.columns, "method", "options", *kind.common, *kind.axes)
        names = (*head, *kind.measured, "host", "outcome", "reason")
        return tuple(dict.fromkeys(names))

    def __len__(self) -> int:
        """The number of cells."""
        return math.prod(map(len, (self.targets, self.choices, *self.axes.values())))

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks, one after the other."""
        for target, choice in itertools.product(self.targets, self.choices):
            for cells in self._pieces():
                yield Block(target, choice, cells)

    def _pieces(self) -> Iterator[tuple[tuple[Any, ...], ...]]:
        """The cells of one robot and method, as many at a time as a job takes."""
        first, *others = (self.axes[name] for name in self.kind.axes)
        rest = list(itertools.product(*others))
        most = self.kind.block
        together = max(1, most // max(1, len(rest)))
        for _, group in itertools.groupby(first, key=lambda value: _number(value) // together):
            cells = [(value, *more) for value in group for more in rest]
            for start in range(0, len(cells), most):
                yield tuple(cells[start : start + most])

    def job(self, block: Block) -> Job:
        """Return the job of a block."""
        arguments = {
            **dict(block.target.arguments),
            "method": block.choice.method,
            "options": dict(block.choice.options),
            **self.common,
            "cells": [list(cell) for cell in block.cells],
        }
        # the reference runs in the same process: effects of one on the other stay in these cells
        owner = f"{block.choice.method} beside {self.common['reference']}" if "reference" in self.common else ""
        return Job(self.kind.function, arguments, self.timeout, self.memory, owner or block.choice.method)

    def row(self, block: Block, cell: tuple[Any, ...], result: Mapping[str, Any], host: str) -> dict[str, Any]:
        """Return a line of campaign.csv."""
        given = {**dict(block.target.columns), "method": block.choice.method, "options": block.choice.text}
        return {**given, **self.common, **dict(zip(self.kind.axes, cell, strict=True)), **result, "host": host}


def _number(value: Any) -> int:
    """Return the seed, by which cells are grouped; axes without seeds are one group."""
    return value if isinstance(value, int) else 0
