"""What every method owes its callers, whatever it computes: checks that run on any plugin the day it is registered.

Each check takes a `Subject` (a method on a robot it supports, with its solver and seeded states) and raises
`NonConformance` with a sentence when the contract of `dynbench.methods.base` is broken. Whether the numbers are right
is not asked by these: see `agreement`, `invariants`, and `examine`, which asks everything of one method and names the
likely cause of what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from dynbench.benchmarks.checks.conformance import arguments, results
from dynbench.benchmarks.checks.conformance.subject import (
    NonConformance,
    Subject,
    refusal,
    require,
    robots_to_try,
    subject_of,
)
from dynbench.methods.base import Method
from dynbench.robots.errors import UnsupportedError
from dynbench.robots.robot import Robot

__all__ = ["CHECKS", "NonConformance", "Subject", "reasons_are_sentences", "robots_to_try", "subject_of"]

CHECKS: tuple[Callable[[Subject], None], ...] = (
    results.description,
    results.declared_quantities,
    results.shapes,
    results.batch_equals_singles,
    results.handles,
    results.solvers_are_independent,
    results.threads_agree,
    arguments.inputs_untouched,
    arguments.any_array_like,
    arguments.fills_out,
    arguments.takes_wrenches,
    arguments.wrong_input,
)


def reasons_are_sentences(method: Method, robots: Iterable[Robot]) -> None:
    """`supports` answers None or a sentence and never raises; `prepare` refuses with that sentence."""
    for robot in robots:
        reason = method.supports(robot)
        require(reason is None or (isinstance(reason, str) and len(reason.split()) > 2), f"reason {reason!r}")
        if reason is not None:
            message = refusal(UnsupportedError, partial(method.prepare, robot), f"prepare for {robot.name!r}")
            for part in (method.name, robot.name, reason):
                require(part in message, f"the message does not say {part!r}: {message}")
