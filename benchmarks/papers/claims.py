"""The papers' statements, our numbers beside them, and the errata found on the way: plain data.

A claim is something a paper says that a run can check. Its verdict is one of three words, with the reason:

    reproduced          our number agrees with the printed one within the tolerance the reason names
    differs             it was computed and does not agree
    not reproducible    what it would take is not in the paper

A formula is an operation count that a paper prints, beside ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["reproduced", "differs", "not reproducible"]


@dataclass(frozen=True)
class Claim:
    """One checkable statement of a paper."""

    paper: str  # short name of the paper, such as "gibbs-appell-rp"
    statement: str  # what it says, and where
    printed: str  # its value as printed
    measured: float | None  # ours; None only when not reproducible
    unit: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Erratum:
    """One printed equation or number that is wrong, and what shows it."""

    paper: str
    where: str  # equation, table or figure number
    printed: str
    correct: str
    evidence: str  # what goes wrong, with a number
    test: str  # the test that fails on the printed form, "" if it cannot be run


@dataclass(frozen=True)
class Formula:
    """A printed operation count at one size, beside what was counted."""

    paper: str
    quantity: str  # what is computed
    operations: str  # "additions" or "multiplications"
    formula: str  # as printed, a polynomial in n
    counted: str  # the rule by which ours were counted, and in what source
    ours: str  # our polynomial
    n: int
    printed_value: float  # the printed formula at n
    our_value: float
    ratio: float  # ours over the printed one
