"""Times of GDAHJ and of its rivals on serial chains, measured in turns; generic code of all formulations of ours."""

from __future__ import annotations

from dataclasses import dataclass

from dynbench.benchmarks.papers.claims import Interval
from dynbench.benchmarks.papers.performance import Side, ratios
from dynbench.robots.errors import DynbenchError

SIZES = (4, 7, 10, 13, 14, 16, 20, 25, 30)  # joints; "more than 13" is from 14 on
GDAHJ = "gdahj"
RIVALS = ("composite-link-frames", "newton-euler")
MODES = {"one call": ("unchecked", "engine"), "batches": ("batch", "engine-batch")}  # of ours, of an engine
SECONDS = 0.6  # for a number of joints and a kind of call


@dataclass(frozen=True)
class Series:
    """How many times the time of GDAHJ a rival takes, by number of joints."""

    rival: str
    mode: str
    ratios: dict[int, Interval]  # without numbers of joints at which something disturbed the measurement
    disturbed: str = ""  # what did, or why there is no measurement

    def faster_above(self, limit: int) -> bool:
        """Whether GDAHJ is faster for every number of joints above the limit."""
        return all(ratio.low > 1.0 for n, ratio in self.ratios.items() if n > limit)

    def faster_from(self) -> int | None:
        """Return the number of joints, of those measured, from which on GDAHJ is faster; None: not at the last one."""
        sizes = sorted(self.ratios)
        slower = [k for k, n in enumerate(sizes) if self.ratios[n].low <= 1.0]
        after = max(slower, default=-1) + 1
        return sizes[after] if after < len(sizes) else None

    def __str__(self) -> str:
        begin = self.faster_from()
        words = "not faster at the last" if begin is None else f"faster from {begin} joints on"
        shown = ", ".join(f"{n}: {ratio.middle:.2f}" for n, ratio in self.ratios.items())
        return f"{self.rival}, {self.mode}: GDAHJ {words} ({shown})"


def measured(sizes: tuple[int, ...] = SIZES, seconds: float = SECONDS) -> list[Series]:
    """Return the times of each rival over those of GDAHJ, for one call and for batches of 1000 states."""
    found = []
    for mode, (own, engine) in MODES.items():
        sides = [*(Side(name, own, "generic") for name in RIVALS), Side("pinocchio", engine)]
        table: dict[str, dict[int, Interval]] = {side.method: {} for side in sides}
        disturbed = ""
        for n in sizes:
            first = Side(GDAHJ, own, "generic")
            try:
                values, why = ratios(f"chain-{n}", "mass_matrix", first, sides, seconds)
            except DynbenchError as error:  # no Pinocchio here
                missing = sides.pop()
                del table[missing.method]
                found.append(Series(missing.method, mode, {}, str(error)))
                values, why = ratios(f"chain-{n}", "mass_matrix", first, sides, seconds)
            if why:  # once more, and longer
                values, why = ratios(f"chain-{n}", "mass_matrix", first, sides, 3.0 * seconds)
            if why:
                disturbed = f"{mode}, {n} joints: {why}"
                continue
            for side, value in zip(sides, values, strict=True):
                table[side.method][n] = value
        found += [Series(rival, mode, values, disturbed) for rival, values in table.items()]
    return found
