"""From paired rounds to times and ratios, each with a 95 % interval, and the rule by which two times differ.

Two figures are made of the rounds of `rounds`:

    quiet core     a low quantile of the CPU times of the undisturbed turns: what the code costs on a core of its own.
                   Tables and verdicts use it.
    shared core    the median of the paired ratios of all rounds: what the same two calls cost beside whatever else ran
                   on the machine, a neighbour on the same physical core included.

The unit of replication is the pass, a process of its own: the same code takes other times in other processes, mostly
all through each (docs/comparing-runs.md), so the rounds of a process are not independent measurements of the code. The
estimate is the geometric mean of what the passes give, with Student's interval of its logarithm (Kalibera and Jones,
"Rigorous benchmarking in reasonable time", 2013). Of a single pass there is only a bootstrap interval over its rounds,
which says nothing of other processes. Contestants are compared within a pass, and their rounds are resampled together,
so that what a pass or a round has in common cancels in a ratio.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dynbench.benchmarks.timing.rounds import DEFAULT_BUDGET, DEFAULT_LIMITS, Best, Limits, Rounds, undisturbed
from dynbench.robots.robot import FloatArray

QUANTILE = 0.1
CONFIDENCE = 0.95
RESAMPLES = 999
SEED = 20_260  # of the bootstrap: the same rounds give the same interval


@dataclass(frozen=True)
class Estimate:
    """A positive number with its 95 % interval."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan

    def widened(self, relative: float) -> Estimate:
        """The interval widened by a relative amount on both sides; NaN (unknown) leaves it as it is."""
        wider = 1.0 + (relative if relative == relative else 0.0)
        return replace(self, low=self.low / wider, high=self.high * wider)

    def times(self, factor: float) -> Estimate:
        """The estimate and its interval times a factor."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    @property
    def resolved(self) -> bool:
        """Whether the interval excludes 1."""
        return self.low > 1.0 or self.high < 1.0


class Group:
    """The rounds of one group of contestants, of one or several passes.

    Parameters
    ----------
    passes : sequence of Rounds
        Of the same contestants.
    best
        What the calibration loops reach on this machine when it is quiet, see `undisturbed`.
    """

    def __init__(
        self,
        passes: Sequence[Rounds],
        best: Best | None,
        threads: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        least: int = DEFAULT_BUDGET.least,
    ) -> None:
        self.cpu = np.hstack([np.array(one.cpu) for one in passes])
        self.wall = np.hstack([np.array(one.wall) for one in passes])
        self.kept = np.hstack([undisturbed(one, limits, best, threads) for one in passes])
        self.seen = _seen(passes, best, limits)
        self.others = float(np.mean(np.concatenate([one.others for one in passes])))  # processors other processes used
        self.count = self.kept.sum(axis=1)  # undisturbed turns of each contestant
        self.taken = np.isfinite(self.wall).sum(axis=1)  # turns in all
        self.least = np.minimum(least, np.maximum(3, self.taken // 3))  # slow contestants take part in fewer rounds
        usable = np.where(self.disturbed()[:, None], np.isfinite(self.cpu), self.kept)
        ends = np.cumsum([len(one) for one in passes])
        self._turns = np.split(np.where(usable, self.cpu, np.nan), ends[:-1], axis=1)  # of each pass
        self._quiet = np.array([low_quantile(turns) for turns in self._turns]).T  # (contestants, passes)

    def disturbed(self) -> FloatArray:
        """Which contestants have too few undisturbed turns: their numbers are of all turns, and allow no verdict."""
        found: FloatArray = self.count < self.least
        return found

    def disturbance(self, k: int) -> str:
        """What disturbed a contestant so often that it has no verdict; "" if it has enough undisturbed turns."""
        if self.count[k] >= self.least[k]:
            return ""
        seen = ", ".join(self.seen) or "interrupted turns"
        return f"{self.count[k]} of {self.taken[k]} turns were undisturbed, {self.least[k]} are needed: {seen}"

    def seconds(self, k: int) -> Estimate:
        """The time of one call of a contestant on a quiet core."""
        return self._estimate(lambda times: times[k])

    def ratio(self, a: int, b: int) -> Estimate:
        """The time of ``a`` over that of ``b``, both on a quiet core."""
        return self._estimate(lambda times: times[a] / times[b])

    def _estimate(self, of: Callable[[FloatArray], FloatArray]) -> Estimate:
        """The estimate of a function of the contestants' times."""
        found = of(self._quiet)
        known = np.flatnonzero(np.isfinite(found))
        if len(known) > 1:
            return over_passes(found[known])
        return over_rounds(of(_bootstrap(self._turns[known[0]]))) if len(known) else Estimate()

    def shared_ratio(self, a: int, b: int) -> float:
        """The median of the ratios of the two in the same rounds, disturbed ones too; NaN with less than three."""
        both = self.cpu[a] / self.cpu[b]
        both = both[np.isfinite(both)]
        return float(np.median(both)) if len(both) > 2 else math.nan


def _seen(passes: Sequence[Rounds], best: Best | None, limits: Limits) -> list[str]:
    """What was noticed while the rounds were measured, in a few words each."""
    found = []
    switches = sum(sum(map(sum, one.switches)) for one in passes)
    if switches:
        found.append(f"{switches} interruptions by the system")
    others = max(float(np.mean(one.others)) for one in passes)
    if others > limits.others:
        found.append(f"other processes used {others:.1f} processors")
    steal = max(float(np.mean(one.steal)) for one in passes)
    if steal > limits.steal:
        found.append(f"{100 * steal:.0f} % of the time was taken by the hypervisor")
    for name in ("throughput", "latency"):
        reached = min(min(getattr(one, name)) for one in passes)
        known = best[name == "latency"] if best else reached
        typical = float(np.median(np.concatenate([getattr(one, name) for one in passes])))
        if typical > limits.calibration * known:
            found.append(f"the core gave {100 * known / typical:.0f} % of its {name}")
    return found


def _bootstrap(turns: FloatArray) -> FloatArray:
    """Return the low quantile of each row, then those of the resamples of its rounds; NaN marks what is left out."""
    from scipy import stats  # the process of a pass does not need it, which takes half a second to import

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of resamples in which a contestant has no turn
        found = stats.bootstrap(
            (turns,), low_quantile, axis=-1, n_resamples=RESAMPLES, method="percentile", vectorized=True,
            random_state=np.random.default_rng(SEED),
        ).bootstrap_distribution  # fmt: skip
        return np.hstack([low_quantile(turns)[:, None], found])


def low_quantile(x: FloatArray, axis: int = -1) -> FloatArray:
    """Return the low quantile of the numbers along an axis, NaN left out; NaN if there are no others.

    numpy's nanquantile gives the same, by a Python loop over all rows: 20 s of a run of a minute and a half.
    """
    ordered = np.sort(x, axis=axis)  # NaN last
    count = np.isfinite(x).sum(axis=axis, keepdims=True)
    place = QUANTILE * np.maximum(count - 1, 0)
    below = place.astype(int)
    low, high = (np.take_along_axis(ordered, np.minimum(k, x.shape[axis] - 1), axis) for k in (below, below + 1))
    part = place - below
    # where the place is that of a turn itself, the one above may be NaN
    found: FloatArray = np.where(part > 0.0, low + part * (high - low), low).squeeze(axis)
    return found


def over_passes(found: FloatArray) -> Estimate:
    """The estimate from what several passes give: their geometric mean, with Student's interval of its logarithm."""
    logs = np.log(found)
    student = special.stdtrit(len(logs) - 1, 0.5 + CONFIDENCE / 2.0)
    reach = student * logs.std(ddof=1) / math.sqrt(len(logs))
    mean = logs.mean()
    return Estimate(*(float(np.exp(x)) for x in (mean, mean - reach, mean + reach)))


def over_rounds(values: FloatArray) -> Estimate:
    """The estimate from one pass: its value, and a percentile interval of the bootstrap values that follow it."""
    spread = values[1:][np.isfinite(values[1:])]
    if not len(spread):
        return Estimate(float(values[0]))
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(spread, [tail, 100.0 - tail])
    return Estimate(float(values[0]), float(min(low, values[0])), float(max(high, values[0])))


def resolution(ratios: Sequence[float]) -> float:
    """Return the smallest relative difference that measurements of the same code allow to tell.

    Parameters
    ----------
    ratios : sequence of float
        Of A/A pairs: two contestants that are the same code.

    Returns
    -------
    float
        The 95 % quantile of their distance from 1 (with few pairs, the largest), at least `LEAST`; NaN without pairs.
    """
    apart = sorted(abs(math.log(ratio)) for ratio in ratios if ratio > 0.0)
    if not apart:
        return math.nan
    return max(LEAST, math.expm1(apart[math.ceil(0.95 * len(apart)) - 1]))


LEAST = 0.01  # a resolution is never taken to be below 1 %: pairs in one process share more than two methods do
