"""Statements about speed, "A is r times as fast as B", measured again on this machine and judged by one rule.

Both calls are measured in turns, as all times of a benchmark are (`timing.rounds`), by what `dynbench time` runs. A
statement whose engine or robot is not installed, or whose measurement was disturbed, is not decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynbench import methods, robots
from dynbench.benchmarks.papers.claims import Claim, Interval, Source, missing, of_size
from dynbench.benchmarks.timing import calibration, cases, engines
from dynbench.benchmarks.timing.quiet import Group
from dynbench.benchmarks.timing.rounds import Budget, Stopwatch
from dynbench.robots.errors import DynbenchError

ROWS = 1000  # of a batch


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a method, the kind of call, and the tier of its code."""

    method: str
    mode: str  # of `timing.cases`: "call", "batch", or "engine", "engine-batch" for an engine's own call
    code: str = ""

    @property
    def rows(self) -> int:
        return ROWS if "batch" in self.mode else 1


@dataclass(frozen=True)
class Speedup:
    """One statement: ``fast`` is ``printed`` times as fast as ``slow``."""

    statement: str
    place: str
    quote: str
    printed: float
    robot: str
    quantity: str
    fast: Side
    slow: Side


def judged(source: Source, said: Speedup, where: str, seconds: float = 2.0) -> Claim:
    """Return a statement with our number and a verdict; ``where`` is the machine that the statement is of."""
    head = {"place": said.place, "quote": said.quote, "printed": f"{said.printed:g} times", "unit": "times as fast"}
    try:
        found, why = measured(said, seconds)
    except DynbenchError as error:
        return source.statement(said.statement, **head, measured=None, verdict=missing(str(error)), reason=str(error))
    if why:
        return source.statement(said.statement, **head, measured=found.middle, verdict=missing(why), reason=why)
    called = f"{_called(said.fast, said.quantity)} against {_called(said.slow, said.quantity)}"
    reason = f"{found} on {cases_robot(said)}, this machine; theirs: {where}; timed: {called}"
    return source.statement(
        said.statement, **head, measured=found.middle, verdict=of_size(found, said.printed), reason=reason
    )


def measured(said: Speedup, seconds: float) -> tuple[Interval, str]:
    """Return how many times as fast, with its interval, and what disturbed the measurement ("" if nothing did)."""
    (ratio,), disturbed = ratios(said.robot, said.quantity, said.fast, [said.slow], seconds)
    return ratio, disturbed


def ratios(
    robot: str, quantity: str, first: Side, others: Sequence[Side], seconds: float
) -> tuple[list[Interval], str]:
    """Return the times that the others take for a state over that of the first, all measured in turns.

    The second value says what disturbed the measurement ("" if nothing did).

    Raises
    ------
    DynbenchError
        If a robot or an engine is not there, or does not compute the quantity.
    """
    machine = robots.load(robot)
    ready = []
    for side in (first, *others):
        method = methods.get(side.method)
        reason = method.unavailable() or method.supports(machine)
        own = side.mode.startswith("engine")
        if reason is None and own and not engines.offers(method, machine, quantity, side.mode):
            reason = f"it has no call of its own for {quantity}"
        if reason:
            raise DynbenchError(f"{side.method} on {machine.name}: {reason}")
        cell = cases.Cell(robot, side.method, quantity, side.mode, side.rows, code=side.code)
        ready.append(cases.timed(cell, 0, give_up=60.0))
    watch = Stopwatch(calibration.remembered())
    group = Group([watch.measure([one.call for one in ready], Budget(rounds=60, seconds=seconds))], watch.best)
    found = []
    for k in range(1, len(ready)):
        ratio = group.ratio(k, 0).times(ready[0].rows / ready[k].rows)
        found.append(Interval(ratio.low, ratio.value, ratio.high))
    return found, next((f"disturbed: {why}" for k in range(len(ready)) if (why := group.disturbance(k))), "")


def _called(side: Side, quantity: str) -> str:
    from dynbench.methods import own_calls

    if side.mode.startswith("engine"):
        kind = "batch" if "batch" in side.mode else "single"
        return " ".join(own_calls.shown(methods.get(side.method), quantity, kind).split())
    return f"{side.method}, {side.code + ' code, ' if side.code else ''}{side.mode}"


def cases_robot(said: Speedup) -> str:
    """The robot of a statement, in words."""
    return said.robot if said.fast.rows == 1 else f"{said.robot}, {said.fast.rows} states"
