"""How a cell of a run ended: with a number, or one of the ways in which there is none.

An outcome goes with the sentence that explains it, from the worker process to the page: code decides by the outcome,
people read the sentence.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How a cell ended; the value is what tables and the report show."""

    NUMBER = "number"
    UNSUPPORTED = "unsupported"  # the method does not take this robot, or does not compute this quantity
    DISAGREED = "disagreed"  # it computed, and other methods have another result
    FAILED = "failed"  # it raised an exception, or returned something that is no result
    CRASHED = "crashed"  # its process died
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    INTERRUPTED = "interrupted"  # the run was stopped before it began or ended
    DISTURBED = "disturbed"  # measured, but other load on the machine spoiled every attempt
    LEFT_OUT = "left out"  # by choice: too slow for this kind of run, or left to the full run

    @property
    def failure(self) -> bool:
        """Whether something went wrong that the author of the method should know."""
        return self in FAILURES

    @property
    def ended_process(self) -> bool:
        """Whether the process that ran the job did not survive it."""
        return self in (Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY)


FAILURES = frozenset({Outcome.DISAGREED, Outcome.FAILED, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY})


class WithOutcome:
    """Base of frozen dataclasses with ``reason`` ("" exactly when there is a number) and ``outcome``.

    A reason that is given without an outcome is a failure; an outcome other than NUMBER needs a reason.
    """

    reason: str
    outcome: Outcome

    def __post_init__(self) -> None:
        if self.reason and self.outcome is Outcome.NUMBER:
            object.__setattr__(self, "outcome", Outcome.FAILED)
        if not self.reason and self.outcome is not Outcome.NUMBER:
            raise ValueError(f"the outcome '{self.outcome}' needs a reason")


class Missing(NamedTuple):
    """Why a cell has no number: how it ended, and the sentence that explains it."""

    outcome: Outcome
    reason: str
