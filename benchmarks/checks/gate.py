"""What may be timed: only what agrees. From the rows of a check to a reason for every cell that may not.

Where two methods differ, one of them is wrong, and a third tells which: a method is refused when it differs from more
than half of those it was compared with. Two that differ with no third to ask are both refused.

`check_robot` and `compare_family` are jobs (see `workers`): rows as plain data.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.checks import agreement, check
from dynbench.benchmarks.checks.sampling import draw, moved, with_forces
from dynbench.benchmarks.runs.records import Row, Worst
from dynbench.methods.base import Method, Solver
from dynbench.robots.robot import Robot

Refusals = dict[tuple[str, str, str], str]  # (robot, method, quantity) -> reason
EVERYTHING = "*"  # in place of a quantity
COMPARED_STATES = 3
SLOWEST = 2.0  # seconds for the states of one comparison; slower methods are left out of larger robots of the family


class Restricted:
    """A method that admits to some of its quantities only: what is not asked for need not be compiled."""

    def __init__(self, method: Method, quantities: list[str]) -> None:
        self.method = method
        self.quantities = quantities

    def prepare(self, robot: Robot) -> Solver:
        solver = self.method.prepare(robot)
        solver.computes = tuple(quantity for quantity in solver.computes if quantity in self.quantities)
        return solver

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)


def check_robot(robot: str, names: list[str], quantities: list[str], states: int, seed: int) -> list[dict[str, Any]]:
    """Run the check on one robot, for these quantities."""
    chosen: list[Any] = [Restricted(methods.get(name), quantities) for name in names]
    rows = check.check_robot(robots.load(robot), chosen, states, seed, lambda line: None)
    return [plain(row) for row in rows]


def compare_family(
    family: str, sizes: list[int], names: list[str], quantities: list[str], seed: int
) -> list[dict[str, Any]]:
    """Compare all pairs at a few states of each size of a family: enough to see that what is timed is right."""
    rows: list[Row] = []
    slow: dict[tuple[str, str], float] = {}
    for size in sorted(sizes):
        robot = robots.load(f"{family}-{size}")
        made = {name: methods.get(name) for name in names}
        solvers = {name: method.prepare(robot) for name, method in made.items() if method.supports(robot) is None}
        sample = with_forces(draw(robot, COMPARED_STATES, seed), solvers.values())
        nearby = moved(sample)
        for quantity in quantities:
            case, results = agreement.Case(quantity), agreement.Results()
            for name, solver in solvers.items():
                if (name, quantity) in slow:
                    said = f"{COMPARED_STATES} states took {slow[name, quantity]:.2g} s on a smaller robot: not tried"
                    rows.append(Row(robot.name, name, quantity, "error", None, "relative", "unsupported", said))
                    continue
                start = time.perf_counter()
                one = agreement.evaluate(case, sample, nearby, {name: solver})
                if time.perf_counter() - start > SLOWEST:
                    slow[name, quantity] = time.perf_counter() - start
                results.values.update(one.values)
                results.noise.update(one.noise)
                results.failures.update(one.failures)
            rows += agreement.floors(case, sample, results)
            cond = agreement.condition(sample, solvers) if quantity == "forward_dynamics" else 0.0
            for i, first in enumerate(results.values):
                for second in list(results.values)[i + 1 :]:
                    held = made[first].exact and made[second].exact
                    rows.append(agreement.compare(case, sample, results, first, second, cond, held))
    return [plain(row) for row in rows]


def plain(row: Row) -> dict[str, Any]:
    """A row as plain data."""
    return dataclasses.asdict(row)


def row_from(data: Mapping[str, Any]) -> Row:
    """The reverse of `plain`."""
    worst = data.get("worst")
    return Row(**{**data, "worst": None if worst is None else Worst(**worst)})


def refusals(rows: Iterable[Row]) -> Refusals:
    """Return why cells may not be timed, for those that may not; `EVERYTHING` stands for all quantities of a method."""
    rows = list(rows)
    found: Refusals = {}
    pairs: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.status in ("agrees", "differs") and row.other:
            for name in (row.method, row.other):
                pairs.setdefault((row.robot, name, row.quantity), []).append(row)
        elif row.status in ("differs", "failed") or (row.status == "unsupported" and row.measure == "error"):
            key = (row.robot, row.method, row.quantity or EVERYTHING)
            found.setdefault(key, _sentence(row))
    for key, compared in pairs.items():
        apart = [row for row in compared if row.status == "differs"]
        if 2 * len(apart) > len(compared):
            worst = max(apart, key=lambda row: row.value or 0.0)
            others = ", ".join(sorted({row.other if row.method == key[1] else row.method for row in apart}))
            found[key] = f"disagreed with {others}: error {worst.value:.2g}, {worst.reason} (seed {worst.seed})"
    return found


def reason(found: Refusals, robot: str, method: str, quantity: str) -> str:
    """Return why a cell may not be timed, "" if it may."""
    key = "inverse_dynamics" if quantity == "bias" and (robot, method, "bias") not in found else quantity
    return found.get((robot, method, key), "") or found.get((robot, method, EVERYTHING), "")


def _sentence(row: Row) -> str:
    if row.value is None:
        return f"{row.measure}: {row.reason}" if row.status == "failed" else row.reason
    return f"violates '{row.measure}': {row.value:.2g} {row.unit}, {row.reason}"
