"""How time grows with size: families of robots, exponents with confidence intervals.

The cells are ordinary batch cells, timed with all others. The exponent is the slope of log time over log N from
`SMALLEST` on, where the constant part is small; its interval is Student's, from the scatter about the line. For a
method that is not a pure power there, the interval is wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dynbench import methods, robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome, WithOutcome
from dynbench.benchmarks.tiers import Variant
from dynbench.benchmarks.timing.cases import Cell, load
from dynbench.benchmarks.timing.passes import Timing
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.registry import is_foreign
from dynbench.robots.errors import DynbenchError

# Names of the zoo that end in -N, and about how many coordinates one unit of N adds
FAMILIES = {"chain": 1, "tree": 1, "rp": 2, "space-arms": 4, "elastic-rp": 4, "elastic-modes": 4}
QUICK_FAMILIES = ("chain", "rp")  # of a quick run
LARGEST = {"elastic-modes": 50}  # no beam has modes of higher orders
SIZES = (4, 8, 16, 32, 64, 128, 256)
QUICK_SIZES = (8, 16, 32, 64)
SMALLEST = 8  # coordinates of the smallest robot that is fitted
ROWS = 64
QUICK_QUANTITIES = ("inverse_dynamics", "forward_dynamics")

Refusals = Mapping[tuple[str, str], Missing | None]  # why a plugin does not take a robot, by robot and plugin


@dataclass(frozen=True)
class Exponent(WithOutcome):
    """time ~ N ** exponent, between low and high with 95 % confidence; or the reason why it is not known."""

    family: str
    method: str
    quantity: str
    code: str = ""  # tier
    exponent: float = math.nan
    low: float = math.nan
    high: float = math.nan
    smallest: int = 0
    largest: int = 0
    points: int = 0
    reason: str = ""
    outcome: Outcome = Outcome.NUMBER


def families() -> list[str]:
    """The families that the zoo has."""
    known = robots.names()
    return [family for family in FAMILIES if f"{family}-N" in known]


def sizes(family: str, quick: bool) -> tuple[int, ...]:
    """Sizes to time, with similar numbers of coordinates in each family; none if the family is left out."""
    if quick and family not in QUICK_FAMILIES:
        return ()
    wanted = (size // FAMILIES[family] for size in (QUICK_SIZES if quick else SIZES))
    return tuple(min(size, LARGEST.get(family, size)) for size in wanted)


def members(quick: bool) -> list[str]:
    """The robots of all families."""
    return [f"{family}-{size}" for family in families() for size in sizes(family, quick)]


def cells(
    chosen: Sequence[Variant], quantities: Sequence[str], quick: bool, refusals: Refusals = MappingProxyType({})
) -> tuple[list[Cell], dict[Cell, Missing]]:
    """Return the cells to time, methods innermost, and why the others are not; ``refusals`` as in `why_not`."""
    wanted: list[Cell] = []
    refused: dict[Cell, Missing] = {}
    for name_of_family in families():
        for size in sizes(name_of_family, quick):
            robot = f"{name_of_family}-{size}"
            for quantity in quantities:
                for name, code in chosen:
                    cell = Cell(robot, name, quantity, "batch", ROWS, code=code)
                    missing = why_not(name, robot, quantity, refusals) or (_too_slow(name) if quick else None)
                    if missing:
                        refused[cell] = missing
                    else:
                        wanted.append(cell)
    return wanted, refused


def _too_slow(name: str) -> Missing | None:
    """Why a method is left out of a quick run: plain Python would reach the time limit before three sizes."""
    method = methods.get(name)
    if is_foreign(method) or method.requires or isinstance(method, KernelMethod):
        return None
    return Missing(Outcome.LEFT_OUT, f"left to the full run: {name} is plain Python")


def family(cell: Cell) -> str:
    """The family of a scaling cell."""
    return cell.robot.rpartition("-")[0]


def why_not(name: str, robot: str, quantity: str, refusals: Refusals = MappingProxyType({})) -> Missing | None:
    """Return why a method has no number for a robot and quantity, None if it has.

    ``refusals`` holds the answers of plugins, which were queried in separate processes; other methods are queried here.
    """
    if (robot, name) in refusals and (refused := refusals[robot, name]):
        return refused
    try:
        method = methods.get(name)
        reason = None if (robot, name) in refusals else method.supports(load(robot))
    except DynbenchError as error:
        reason = str(error)
    if not reason and quantity not in method.computes:
        reason = f"{name} does not compute {quantity}"
    return Missing(Outcome.UNSUPPORTED, reason) if reason else None


def family_of(robot: str) -> tuple[str, int] | None:
    """Split "chain-16" into its family and size; None for other robots."""
    family, _, number = robot.rpartition("-")
    return (family, int(number)) if family in FAMILIES and number.isdigit() else None


def exponents(timings: Iterable[Timing]) -> list[Exponent]:
    """Fit each family, method and quantity of the scaling cells among ``timings``."""
    groups: dict[tuple[str, str, str, str], list[tuple[int, Timing]]] = {}
    for timing in timings:
        cell = timing.cell
        found = family_of(cell.robot)
        if found and cell.mode == "batch" and cell.rows == ROWS and not cell.again:
            groups.setdefault((found[0], cell.method, cell.quantity, cell.code), []).append((found[1], timing))
    return [_fit(*key, points) for key, points in groups.items()]


def _fit(family: str, method: str, quantity: str, code: str, points: Sequence[tuple[int, Timing]]) -> Exponent:
    head = (family, method, quantity, code)
    least = SMALLEST // FAMILIES[family]
    used = sorted((size, timing.seconds) for size, timing in points if not timing.reason and size >= least)
    if len(used) < 3:
        absent = next((timing for _, timing in points if timing.reason), None)
        reason = f"{len(used)} sizes were timed, three are needed" + (f": {absent.reason}" if absent else "")
        outcome = absent.outcome if absent else Outcome.LEFT_OUT
        return Exponent(*head, points=len(used), reason=reason, outcome=outcome)
    slope, low, high = fit_power([size for size, _ in used], [seconds for _, seconds in used])
    return Exponent(*head, slope, low, high, used[0][0], used[-1][0], len(used))


def fit_power(x: Sequence[float], y: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the exponent p of y ~ x ** p by least squares on logarithms, and its confidence interval.

    Parameters
    ----------
    x, y : sequences of at least three positive numbers
    """
    import numpy as np
    from scipy import stats

    line = stats.linregress(np.log(x), np.log(y))
    reach = float(stats.t.ppf(0.5 + confidence / 2, len(x) - 2) * line.stderr)
    return float(line.slope), float(line.slope) - reach, float(line.slope) + reach
