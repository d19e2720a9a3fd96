"""The own calls of engines, ready to be timed: what a method offers in `dynbench.methods.own_calls`.

States are converted before the timing. Timed is what every user of the engine needs: setting the state, if the engine
stores one, and the call. Where an engine has no call for a batch, a batch is a loop in Python that stores the results.

Every call from Python has a cost before the engine computes anything. `call_overhead` measures it by the cheapest call
of an engine (`NULL_CALL`).
"""

from __future__ import annotations

import timeit
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dynbench import methods, robots
from dynbench.methods import own_calls
from dynbench.methods.base import Method, Solver
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.benchmarks.timing.cases import Timed

KIND = {"engine": "single", "engine-batch": "batch", "engine-threads": "batch"}  # of the own call, by mode


def offers(method: Method, robot: Robot, quantity: str, mode: str) -> bool:
    """Whether an engine can be timed in a mode; a batch on one thread may be a loop over its single call."""
    kinds = ("single", "batch") if mode == "engine-batch" else (KIND[mode],)
    return any((quantity, kind) in method.own_calls_on(robot) for kind in kinds)


def batched(method: str, quantity: str) -> bool:
    """Whether an engine has a call for a whole batch."""
    return (quantity, "batch") in methods.get(method).own_calls


def timed(solver: Solver, quantity: str, inputs: Sequence[FloatArray], mode: str) -> Timed:
    """Return the engine's own call for the states in the rows of ``inputs``."""
    from dynbench.benchmarks.timing.cases import DISTINCT, Timed
    from dynbench.methods.validation import thread_count

    if mode == "engine":
        found, rows = own_calls.single(solver, quantity, inputs), 1
    else:
        threads, rows = thread_count(None) if mode == "engine-threads" else 1, len(inputs[0])
        found = own_calls.batch(solver, quantity, inputs, threads, repeat=DISTINCT)
    return Timed(found.call, rows, found.code, found.out, found)


def with_null_call(names: Sequence[str]) -> list[str]:
    """Return the methods among ``names`` that have a call which computes nothing."""
    return [name for name in names if own_calls.NULL_CALL in methods.get(name).own_calls]


def call_overhead(method: str, calls: int = 2000, repeats: int = 7) -> float:
    """Return the seconds of an engine's null call, the smallest of a few measurements; a job (see `workers`)."""
    null = own_calls.null(methods.get(method).prepare(robots.load("two-link")))
    return min(timeit.repeat(null.call, number=calls, repeat=repeats)) / calls
