"""What must hold for a method as a function of arrays; `invariants` lists it.

A batch gives what its states give one by one and what a longer batch gives (of more than a thousand states too), the
unchecked handle gives what the call gives, one wrench for a batch what the same for each state gives, a second call and
the thousandth give the same bits whatever was called in between and in how many threads, ``out`` is filled, and inputs
are not changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from dynbench.benchmarks.checks.agreement import (
    SOLVED,
    WITH_WRENCHES,
    Measurement,
    NotApplicable,
    compared,
    relative,
    tolerance,
)
from dynbench.benchmarks.checks.sampling import Sample
from dynbench.methods.base import Solver
from dynbench.robots.robot import FloatArray

LONG_BATCH = 1029  # states
MANY_CALLS = 1100
MAX_SECONDS = 0.5  # for many calls or a long batch of one quantity; methods in plain Python get fewer and shorter ones
SINGLE_STATES = 13  # one call a state; no multiple of eight, so that the last block of a batch is not full

Pairs = Iterable[tuple[FloatArray, FloatArray]]


def batch_equals_singles(solver: Solver, sample: Sample, cond: float) -> Measurement:
    K = min(SINGLE_STATES, len(sample))

    def pairs(quantity: str, call: Callable[..., FloatArray], inputs: dict[str, FloatArray]) -> Pairs:
        part = call(**{name: x[:K] for name, x in inputs.items()})
        yield part, np.array([call(**{name: x[k] for name, x in inputs.items()}) for k in range(K)])
        yield part, call(**inputs)[:K]

    return _worst(solver, sample, cond, pairs)


def long_batch_equals_short(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """The states again and again in one long batch."""

    def pairs(quantity: str, call: Callable[..., FloatArray], inputs: dict[str, FloatArray]) -> Pairs:
        start = time.thread_time()
        once = call(**inputs)
        seconds = time.thread_time() - start
        rows = LONG_BATCH if seconds * LONG_BATCH < MAX_SECONDS * len(sample) else 2 * len(sample)
        every = np.arange(rows) % len(sample)
        long = call(**{name: x[every] for name, x in inputs.items()})
        yield long[: len(sample)], once
        yield long[rows - len(sample) :], once[every[rows - len(sample) :]]
        worst = int(np.argmax(relative(long.reshape(rows, -1), once[every].reshape(rows, -1))))
        if worst >= len(sample):  # in the middle
            yield long[worst : worst + 1], once[every[worst] : every[worst] + 1]

    return _worst(solver, sample, cond, pairs)


def handles_equal_calls(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """The unchecked handle, which is what is timed, at every state."""

    def pairs(quantity: str, call: Callable[..., FloatArray], inputs: dict[str, FloatArray]) -> Pairs:
        handle, expected = solver.handle(quantity), call(**inputs)
        wrench = [] if set(inputs) == {"q"} else [None]
        given = np.full((len(sample), expected[0].size), np.nan)
        for k in range(len(sample)):
            handle(*(np.ascontiguousarray(x[k]) for x in inputs.values()), *wrench, given[k])
        yield given.reshape(expected.shape), expected

    return _worst(solver, sample, cond, pairs)


def one_wrench_serves_all(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """One set of wrenches for a batch, and the same for each of its states."""
    if not set(WITH_WRENCHES) & set(solver.computes):
        raise NotApplicable("it computes nothing that depends on external wrenches")

    def pairs(quantity: str, call: Callable[..., FloatArray], inputs: dict[str, FloatArray]) -> Pairs:
        if quantity in WITH_WRENCHES:
            each = np.repeat(sample.wrench[:1], len(sample), axis=0)
            yield call(**inputs, wrench=sample.wrench[0].copy()), call(**inputs, wrench=each)

    return _worst(solver, sample, cond, pairs)


def _worst(solver: Solver, sample: Sample, cond: float, pairs: Callable[..., Pairs]) -> Measurement:
    """Return the largest difference, over its tolerance, of the pairs of results of all quantities.

    ``pairs(quantity, call, inputs)`` yields results that must be equal but for rounding.
    """
    found = [
        compared(sample, quantity, x, y, *_rounding(quantity, cond))
        for quantity in solver.computes
        for x, y in pairs(quantity, solver.whole(quantity), sample.inputs(quantity))
    ]
    return max(found, key=lambda one: one.value / one.tolerance)


def _rounding(quantity: str, cond: float) -> tuple[float, str]:
    """The tolerance of the same operations, contracted differently by the compiler."""
    if quantity in SOLVED:
        return tolerance(noise=0.0, cond=10.0 * cond)
    return 1e-13, "tolerance 1e-13: the same operations, contracted differently by the compiler"


def _counted(solver: Solver, wrong: Callable[[Callable[..., FloatArray], str], int], why: str) -> Measurement:
    """Return the sum of ``wrong(call, quantity)`` over all quantities, which must be 0."""
    count = sum(wrong(solver.whole(quantity), quantity) for quantity in solver.computes)
    return Measurement(float(count), 0.0, why, "quantities")


def deterministic(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        first = call(**sample.inputs(quantity))
        call(**{name: x[::-1].copy() for name, x in sample.inputs(quantity).items()})  # leaves other numbers behind
        return int(first.tobytes() != call(**sample.inputs(quantity)).tobytes())

    return _counted(solver, wrong, "two calls must give the same bits")


def threads_change_nothing(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        one, *others = (call(**sample.inputs(quantity), threads=n) for n in (1, 2, 3, 5))
        return int(any(one.tobytes() != other.tobytes() for other in others))

    return _counted(solver, wrong, "several threads must give the bits of one")


def calls_change_nothing(solver: Solver, sample: Sample, cond: float) -> Measurement:
    """Call number 1000 gives what the first gives; fewer calls of slow methods."""

    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        state = {name: np.ascontiguousarray(x[0]) for name, x in sample.inputs(quantity).items()}
        first = call(**state).tobytes()
        start = time.thread_time()
        for _ in range(MANY_CALLS):
            if call(**state).tobytes() != first:
                return 1
            if time.thread_time() - start > MAX_SECONDS:
                break
        return 0

    return _counted(solver, wrong, f"{MANY_CALLS} calls must give the same bits")


def out_is_filled(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        expected = call(**sample.inputs(quantity))
        for before in (np.nan, 7.0):
            out = np.full_like(expected, before)
            given = call(**sample.inputs(quantity), out=out)
            if given is not out or out.tobytes() != expected.tobytes():
                return 1
        return 0

    return _counted(solver, wrong, "out= must be filled with the result, and returned")


def inputs_untouched(solver: Solver, sample: Sample, cond: float) -> Measurement:
    def wrong(call: Callable[..., FloatArray], quantity: str) -> int:
        before, given = sample.inputs(quantity), sample.inputs(quantity)
        call(**given)
        return sum(x.tobytes() != given[name].tobytes() for name, x in before.items())

    return replace(_counted(solver, wrong, "a method must not write to its arguments"), unit="arguments")
