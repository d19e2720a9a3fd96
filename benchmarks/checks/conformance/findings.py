"""Everything that is wrong with one method, in words: `examine` compares its numbers and runs the checks.

Numbers are compared with `plain` on small robots, the simplest first. Where they differ, `mistakes` is asked for the
cause; if it knows none, the finding says which terms are wrong and what the robots have in common on which they are.
Of findings with one cause the first is told, with a list of where else it was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from dynbench.benchmarks.checks.agreement import Case, relative
from dynbench.benchmarks.checks.conformance import mistakes
from dynbench.benchmarks.checks.conformance.failures import explain
from dynbench.benchmarks.checks.conformance.machines import SEED, Machine, reference
from dynbench.methods.base import QUANTITIES as CONTRACT
from dynbench.methods.base import Method, Solver
from dynbench.robots.robot import FloatArray

TRIED = 3  # states on which a cause must explain what came out
COMPARED = ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics", "reactions")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: where it was seen, what was wanted and what came, and why that may be."""

    what: str  # the quantity, or the check
    sentence: str
    robot: str = ""  # how to make it
    state: str = ""  # how to make it
    expected: str = ""
    got: str = ""
    cause: str = ""
    also: tuple[str, ...] = field(default=())  # where else the same was seen

    def __str__(self) -> str:
        rows = {label: getattr(self, label) for label in ("robot", "state", "expected", "got")}
        rows |= {"also": "; ".join(self.also), "likely": self.cause}
        return "\n".join([f"{self.what}: {self.sentence}", *(f"    {k:<9} {x}" for k, x in rows.items() if x)])


@dataclass(frozen=True)
class Outcome:
    """A promise, in a sentence, and how it was broken; kept if there is no finding."""

    promise: str
    findings: tuple[Finding, ...] = ()


def wrong_numbers(method: Method, tried: Iterable[Machine]) -> Iterator[Outcome]:
    """Compare the numbers of a method on each of the machines."""
    right: set[str] = set()
    for machine in tried:
        found = tuple(_on(machine, method))
        if found:
            only = sorted(machine.features - right)
            hint = f"only robots with {' and '.join(only)} are wrong" if only and right else ""
            found = tuple(replace(finding, cause=finding.cause or hint) for finding in found)
        else:
            right |= machine.features
        judge = "plain Newton-Euler" if machine.judge is None else machine.judge.method.name
        yield Outcome(f"Its numbers on {machine.robot.name} are those of {judge}.", found)


def _on(machine: Machine, method: Method) -> Iterator[Finding]:
    """What is wrong on one robot; a quantity that is wrong is not asked for again with wrenches."""
    try:
        solver = method.prepare(machine.robot)
    except Exception as error:
        sentence, cause = explain(error, method)
        yield Finding("prepare", sentence, machine.how, cause=cause)
        return
    wrong = set()
    for case in (*(Case(quantity) for quantity in COMPARED), Case("inverse_dynamics", wrench=True)):
        if case.quantity == "bias" and "inverse_dynamics" in wrong:
            continue  # the same, at a = 0
        if case.quantity in solver.computes and case.quantity not in wrong:
            finding = compare(machine, solver, case)
            if finding is not None:
                wrong.add(case.quantity)
                yield finding


def compare(machine: Machine, solver: Solver, case: Case) -> Finding | None:
    """A finding if a quantity is not what it should be at some state."""
    sample, method = machine.sample, solver.method
    what = f"{case.quantity} with wrenches" if case.wrench else case.quantity
    inputs = sample.inputs(case.quantity, case.wrench)
    try:
        got = np.full((len(sample), *CONTRACT[case.quantity].shape(machine.robot)), np.nan)  # what stays so was not set
        getattr(solver, case.quantity)(**{name: x.copy() for name, x in inputs.items()}, out=got)
        got = got.reshape(len(sample), -1)
    except Exception as error:
        sentence, cause = explain(error, method)
        return Finding(what, sentence, machine.how, cause=cause)
    expected, limit = reference(machine, case.quantity, case.wrench)
    errors = relative(got, expected)
    if not method.exact or (errors <= limit).all():
        return None
    worst = int(np.argmax(errors))
    states = [{name: x[k] for name, x in inputs.items()} for k in range(TRIED)]
    cause = ""
    if machine.judge is None:
        cause = mistakes.cause(machine.robot, case.quantity, states, list(got[:TRIED]))
        if not cause and case.quantity == "inverse_dynamics" and not case.wrench:
            cause = terms(machine, solver)
    return Finding(
        what,
        f"off by {errors[worst]:.1e} of its largest component, more than {limit:.0e}",
        f"{machine.how}, called {machine.robot.name!r}",
        f"robot.sample({len(sample)}, seed={SEED}), state {worst}",
        numbers(expected[worst]),
        numbers(got[worst]),
        cause,
    )


def terms(machine: Machine, solver: Solver) -> str:
    """Which of the terms in M a + velocity terms + gravity are wrong."""
    sample = machine.sample
    zero = np.zeros_like(sample.v)
    states = {
        "gravity": (replace(sample, v=zero, a=zero), None),
        "inertia": (replace(sample, v=zero), replace(sample, v=zero, a=zero)),
        "velocity": (replace(sample, a=zero), replace(sample, v=zero, a=zero)),
    }
    wrong: list[str] = []
    right: list[str] = []
    for name, (one, less) in states.items():
        ours, theirs = machine.expected("inverse_dynamics", one), solver.inverse_dynamics(one.q, one.v, one.a)
        if less is not None:
            ours = ours - machine.expected("inverse_dynamics", less)
            theirs = theirs - solver.inverse_dynamics(less.q, less.v, less.a)
        (wrong if relative(ours, theirs).max() > mistakes.SAME else right).append(name)
    if not wrong or not right:
        return ""
    return f"the {' and '.join(wrong)} terms are wrong; the {' and '.join(right)} terms are right"


def numbers(x: FloatArray, shown: int = 8) -> str:
    """A vector for a line of text."""
    more = ", ..." if x.size > shown else ""
    return f"[{', '.join(f'{number:.6g}' for number in x[:shown])}{more}]"


def told_once(findings: list[Finding]) -> list[Finding]:
    """Of findings with the same cause (or, without one, of the same quantity) the first, with where else it was."""
    kept: dict[str, Finding] = {}
    for finding in findings:
        key = finding.cause or f"{finding.what}: {finding.sentence if not finding.expected else ''}"
        if key in kept:
            where = f"{finding.what} on {finding.robot.partition(', called ')[2] or finding.robot}".removesuffix(" on ")
            first = kept[key]
            kept[key] = replace(first, also=tuple(dict.fromkeys((*first.also, where))))
        else:
            kept[key] = finding
    return list(kept.values())
