"""What a paper hands in: its statements with our numbers beside them, our own checks, errata, provenance. Plain data.

A *statement* is a sentence or a number of the paper that a run can test; it has a place in the text and a short
quotation. A *check* is our own: something that must hold if the implementation is right, and that the paper does not
say, so that nothing stands in its column "printed". Both get a verdict, computed by one of the rules below:

    reproduced          it holds, by the rule that the reason names
    differs             it was tested and does not hold
    depends             it holds under some of the settings that the paper leaves open, and not under others
    not reproducible    what it would take is not in the paper, or the measurement cannot decide it

    when(holds)                     reproduced or differs
    across(cases)                   reproduced if it holds in all cases, differs if in none, else depends
    decided(interval, threshold)    for ratios of times: reproduced above the threshold, differs below it, not
                                    reproducible if the interval includes it
    of_size(interval, printed)      for "r times as fast": reproduced if the interval, widened by 15 %, includes r;
                                    differs if, widened so, it is on the other side of 1; else depends (on processor
                                    and versions): a ratio near 1 must not change its verdict from run to run
    missing(what, ...)              not reproducible, because of what is missing; printed run times are of this kind:
                                    the machine, the language and the accuracy are not available

A formula is an operation count that a paper prints, beside ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple, get_args

Verdict = Literal["reproduced", "differs", "depends", "not reproducible"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Kind = Literal["statement", "check"]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, or one check of our own."""

    paper: str  # short name of the paper, such as "gibbs-appell-rp"
    statement: str  # what it says, in English
    printed: str  # its value as printed; "" for a check
    measured: float | None  # ours; None only when not reproducible
    unit: str
    verdict: Verdict
    reason: str  # how it was judged
    kind: Kind = "statement"
    place: str = ""  # page, section, equation, figure or table of the statement
    quote: str = ""  # a few of the paper's own words


@dataclass(frozen=True)
class Source:
    """A paper whose statements and checks are being listed."""

    paper: str

    def statement(
        self,
        statement: str,
        *,
        place: str,
        quote: str,
        printed: str,
        measured: float | None,
        unit: str = "",
        verdict: Verdict,
        reason: str,
    ) -> Claim:
        """Return a statement of the paper; ``place`` and ``quote`` say where it is."""
        if not place or not quote:
            raise ValueError(f"{self.paper}: the statement {statement!r} has no place or no quotation")
        ours = None if measured is None else float(measured)
        return Claim(self.paper, statement, printed, ours, unit, verdict, reason, "statement", place, quote)

    def check(self, statement: str, *, measured: float, unit: str = "", verdict: Verdict, reason: str) -> Claim:
        """Return a check of our own, which the paper does not state."""
        return Claim(self.paper, statement, "", float(measured), unit, verdict, reason, "check")


# ---------------------------------------------------------------------------- rules


def when(holds: bool) -> Verdict:
    """Return the verdict of a statement that was tested once."""
    return "reproduced" if holds else "differs"


def across(cases: Mapping[str, bool]) -> Verdict:
    """Return the verdict of a statement that was tested under several settings, by whether it holds in each."""
    if not cases:
        raise ValueError("a statement tested across settings needs at least one")
    return "reproduced" if all(cases.values()) else "depends" if any(cases.values()) else "differs"


def decided(interval: Interval, threshold: float) -> Verdict:
    """Return the verdict of "the ratio is above the threshold"; no verdict where the interval includes it."""
    if interval.low > threshold:
        return "reproduced"
    return "differs" if interval.high < threshold else "not reproducible"


SIZE_TOLERANCE = 0.15  # relative; versions and processors differ by more than a measurement scatters


def of_size(interval: Interval, printed: float) -> Verdict:
    """Return the verdict of "r times as fast" for a ratio that was measured on another machine."""
    wider = 1.0 + SIZE_TOLERANCE
    if interval.low / wider <= printed <= interval.high * wider:
        return "reproduced"
    other_side = interval.high * wider < 1.0 if printed > 1.0 else interval.low / wider > 1.0
    return "differs" if other_side else "depends"


def missing(*what: str) -> Verdict:
    """Return the verdict of a statement that cannot be tested without ``what``."""
    if not what:
        raise ValueError("say what is missing")
    return "not reproducible"


# ---------------------------------------------------------------------------- ratios of times


class Interval(NamedTuple):
    """Median of paired ratios with an interval that holds it with a probability of at least 95 %."""

    low: float
    middle: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.3g} ({self.low:.3g} to {self.high:.3g})"


def paired_ratio(first: Callable[[], float], second: Callable[[], float], rounds: int = 11) -> Interval:
    """Return processor time of the first over that of the second, measured in turns.

    Each call runs its piece of work once and returns the seconds of processor time that it took. The interval is that
    of order statistics for the median: no assumption on how times scatter. Both are called once before they count.
    """
    first(), second()
    ratios = []
    for turn in range(rounds):
        if turn % 2:
            one, two = first(), second()
        else:
            two, one = second(), first()
        ratios.append(one / two)
    return order_interval(ratios)


def order_interval(values: list[float]) -> Interval:
    """Return the median of independent values with its interval of order statistics, at least 95 %."""
    from scipy.stats import binom

    ordered, n = sorted(values), len(values)
    rank = next((k for k in range(n // 2, -1, -1) if 1.0 - 2.0 * binom.cdf(k, n, 0.5) >= 0.95), None)
    if rank is None:
        raise ValueError(f"{n} values are too few for an interval of 95 %; 6 are the least")
    return Interval(ordered[rank], median(ordered), ordered[n - 1 - rank])


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call in this thread."""
    begin = time.thread_time()
    call()
    return time.thread_time() - begin


# ---------------------------------------------------------------------------- errata, provenance, formulas


@dataclass(frozen=True)
class Erratum:
    """One printed equation or number that is wrong, and what shows it."""

    paper: str
    where: str  # equation, table or figure number
    printed: str
    correct: str
    evidence: str  # what goes wrong, with a number
    test: str  # the test that fails on the printed form; "" if there is nothing to run, as with a lost mark


Status = Literal["given", "inferred", "chosen"]


@dataclass(frozen=True)
class Provenance:
    """Where a datum of the paper's experiment comes from."""

    item: str
    value: str
    status: Status  # "given" in the text, "inferred" from it, or "chosen" here
    note: str  # where in the text, from what, or why


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
