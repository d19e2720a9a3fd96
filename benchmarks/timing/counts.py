"""Operation counts of the timed source: numbers for each robot, polynomials for the families, fraction of the peak.

The functions that run kernels are jobs (see `workers`): counting the operations of a large robot takes seconds.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.processes.jobs import one_line
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results.schema import OPERATIONS
from dynbench.benchmarks.tiers import TRACED, prepare, why_not_traced
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.errors import DynbenchError, MethodError

SIZES = (3, 4, 5, 6, 7, 8, 9)  # enough for polynomials up to the fourth degree, with two points to confirm


def sample(family: str) -> str:
    """The smallest robot of a family, on which it is checked whether a method can be counted."""
    return f"{family}-{SIZES[0]}"


def kernel_method(name: str, **options: Any) -> KernelMethod:
    """Return a method whose operations can be counted."""
    found = methods.get(name, **options)
    if not isinstance(found, KernelMethod):
        raise TypeError(f"{name} is not written over the generic scalar")
    return found


def count(
    robot: str, method: str, quantities: list[str], options: dict[str, Any] | None = None, code: str = ""
) -> dict[str, dict[str, Any]]:
    """Return the operations of each quantity by kind, or ``outcome`` and ``reason`` if they cannot be counted.

    Those of traced code are what tracing leaves, in the frames and with the inertias that take the fewest.
    """
    made, machine = methods.get(method, **(options or {})), robots.load(robot)
    if not isinstance(made, KernelMethod):
        missing = Missing(Outcome.UNSUPPORTED, f"{method} is not written over the generic scalar")
        return dict.fromkeys(quantities, missing._asdict())
    from dynbench.methods.kernels.count import count_operations

    found: dict[str, dict[str, Any]] = {}
    solver = prepare(made, machine, code) if code == TRACED else None
    for quantity in quantities:
        try:
            if solver is None:
                operations = count_operations(made, machine, quantity)
            elif untraced := why_not_traced(solver, quantity):
                found[quantity] = Missing(Outcome.UNSUPPORTED, untraced)._asdict()
                continue
            else:
                operations = solver.runs[quantity].traced.trace.operations
        except (DynbenchError, ArithmeticError, TypeError, ValueError) as error:
            found[quantity] = Missing(Outcome.FAILED, one_line(error))._asdict()
        else:
            found[quantity] = {**dataclasses.asdict(operations), "flops": operations.flops}
    return found


def polynomials(method: str, family: str, quantity: str) -> dict[str, str]:
    """Return the counts on a family as polynomials in its size, as text, by kind.

    Returns ``outcome`` and ``reason`` if the counts are not polynomial: those of a tree depend on where it branches.
    """
    from dynbench.methods.kernels.count import count_polynomial

    try:
        found = count_polynomial(kernel_method(method), lambda n: robots.load(f"{family}-{n}"), quantity, SIZES)
    except MethodError as error:
        return Missing(Outcome.UNSUPPORTED, str(error))._asdict()
    return {kind: str(found[kind]) for kind in OPERATIONS}
