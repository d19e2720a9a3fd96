"""Timings from made-up seconds, by the same way as those of a run: rounds, groups, resolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dynbench.benchmarks.processes.jobs import here
from dynbench.benchmarks.processes.outcomes import Missing
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import NO_MEASUREMENT, Measured, NullJournal, Run, Spec, Timing, timings
from dynbench.benchmarks.timing.rounds import Rounds

COUNT = 40


def made_rounds(seconds: Sequence[float], spread: float = 0.005, disturbed: bool = False, seed: int = 0) -> Rounds:
    """Rounds in which calls take so many seconds; ``disturbed``: the system interrupted every turn."""
    rng = np.random.default_rng(seed)
    cpu = [(one * (1.0 + spread * rng.random(COUNT))).tolist() for one in seconds]
    wall = [[2.0 * x + 1e-3 for x in row] if disturbed else row for row in cpu]
    switches = [[int(disturbed)] * COUNT for _ in seconds]
    quiet = [0.0] * COUNT
    return Rounds([1] * len(seconds), cpu, wall, switches, [2e-5] * COUNT, [3e-5] * COUNT, quiet, quiet)


def made_timings(
    seconds: Mapping[Cell, float],
    missing: Mapping[Cell, Missing] | None = None,
    spread: float = 0.005,
    disturbed: Sequence[str] = (),
    passes: int = 1,
) -> list[Timing]:
    """Timings of cells that take so many seconds a state.

    Parameters
    ----------
    missing
        Cells without a time.
    disturbed
        Groups in which every turn was interrupted.
    """
    missing = missing or {}
    numbers = tuple(range(passes))
    state = Run(Spec((*seconds, *missing), numbers), NullJournal(), lambda key, outcome, cells: None)
    state.missing = {cell.key: why for cell, why in missing.items()}
    for group, cells in state.groups.items():
        mine = [cell for cell in cells if cell in seconds]
        for number in numbers if mine else ():
            times = [seconds[cell] * cell.rows for cell in mine]
            rounds = made_rounds(times, spread, group in disturbed, seed=number)
            rows = [cell.rows for cell in mine]
            state.found[group][number] = Measured([cell.key for cell in mine], rows, rounds, here())
    return timings(state, NO_MEASUREMENT)
