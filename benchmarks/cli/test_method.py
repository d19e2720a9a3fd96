"""``dynbench test-method``: which parts of the contract a method fulfils, and likely causes of the rest."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say

if TYPE_CHECKING:
    from dynbench.methods.base import Method


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "test-method",
        help="the conformance suite on one method, with likely causes",
        description="Compare a method's numbers with plain Newton-Euler equations on small robots with every kind of "
        "joint, and check that it fulfils the contract of methods. Exit code 0: it does; 1: not all; 2: misuse.",
    )
    verb.add_argument("name", metavar="NAME", help="a method of `dynbench list methods`")
    verb.add_argument("-r", "--robot", action="append", metavar="ROBOT", help="try these instead; repeat for more")
    options.add_reading(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Examine the method: print a line for each part of the contract, then what was found."""
    from dynbench.methods import registry
    from dynbench.robots.errors import UnsupportedError

    method = registry.get(args.name)
    if method.unavailable():
        raise UnsupportedError(f"{method.name} cannot be used here: {method.unavailable()}")

    from dynbench.benchmarks.checks.conformance.examine import each_once, examine
    from dynbench.robots import load

    sources = options.sources(args)
    robots = [load(source) for source in sources] if sources else None
    say(f"{method.name} ({method.title}): {', '.join(method.computes)}\nbatches: {batches(method)}\n", flush=True)
    promises = []
    for promise in examine(method, robots):
        promises.append(promise)
        say(f"{'BROKEN' if promise.defects else 'kept':<6}  {promise.sentence}", flush=True)
    if not method.exact:
        say("\nThe method declares itself not exact: its numbers were not compared.")
    for number, defect in enumerate(each_once(defect for promise in promises for defect in promise.defects), 1):
        say(f"\n{number}. {defect}")
    broken = sum(bool(promise.defects) for promise in promises)
    after = "" if broken else f"; next: dynbench check -m {method.name}"
    say(f"\n{len(promises) - broken} of {len(promises)} kept{after}")
    return int(broken > 0)


def batches(method: Method) -> str:
    """How batches are computed, in words."""
    from dynbench.methods.kernel_method import KernelMethod

    if isinstance(method, KernelMethod):
        return "compiled from the same source, eight states at a time"
    return "a loop over states in Python, except for quantities with a batch function of the method"
