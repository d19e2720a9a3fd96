"""The whole suite on one method: are its numbers right, does it keep the contract, can its operations be counted?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dynbench.benchmarks.checks.conformance import (
    CHECKS,
    NonConformance,
    Subject,
    reasons_are_sentences,
    robots_to_try,
    subject_of,
)
from dynbench.benchmarks.checks.conformance.arguments import inputs_untouched
from dynbench.benchmarks.checks.conformance.failures import explain
from dynbench.benchmarks.checks.conformance.findings import Finding, Outcome, told_once, wrong_numbers
from dynbench.benchmarks.checks.conformance.machines import machine, machines, special_machines
from dynbench.benchmarks.checks.invariants import invariants
from dynbench.methods.base import Method
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.errors import UnsupportedError
from dynbench.robots.robot import Robot

SENTENCE_CAUSES = {
    "writes to its argument": "mutated input: a function changes q, v, a in place; work on copies, x = x.copy()",
    "with out= gives other numbers": "the result is added to what was in out: set out to zero first",
    "changes when another solver is used": "something is shared: what belongs to a robot is made in prepare, no global",
    "called from four threads": "something is shared between calls: a buffer or an engine's data needs one per thread",
    "hasattr says that it computes": "a quantity is an attribute although it is not in computes",
    "declares": "computes and the functions in prepare name different quantities; bias comes with inverse_dynamics",
    "the effect of wrenches is not linear": "external wrenches enter more than once, or not as forces",
    "of a batch and of its states one by one": "something is left from the state before: a buffer that is not set anew",
    "reuses memory": "the same array is returned every time: return a new one",
    "cost is": "say in a few words how the cost grows with the number of bodies: cost = 'O(n)'",
}

SUPPORTS = "supports returns None or a sentence, and never raises; prepare begins with self.require(robot)"


def findings(method: Method, robots: Sequence[Robot] | None = None) -> list[Finding]:
    """Return everything that is wrong with ``method``, each cause once; an empty list if nothing is."""
    return told_once([finding for outcome in examine(method, robots) for finding in outcome.findings])


def examine(method: Method, robots: Sequence[Robot] | None = None) -> Iterator[Outcome]:
    """Try everything that ``method`` promises, the numbers first.

    Parameters
    ----------
    method : Method
        One that is available here.
    robots : sequence of Robot, optional
        To try it on; small ones with every kind of joint, and those of the papers, if not given.

    Raises
    ------
    UnsupportedError
        When it supports none of the robots.
    """
    reasons = _reasons(method, robots or robots_to_try())
    yield reasons
    if reasons.findings:
        return
    if robots is None:
        tried = [*machines(), *special_machines(method)]
    else:
        made = [machine(robot, method, robot.name) for robot in robots]
        tried = [one for one in made if one is not None]
    subject = subject_of(method, robots or robots_to_try())
    if subject is None:
        refusals = {method.supports(robot): None for robot in robots or robots_to_try()}
        raise UnsupportedError(f"{method.name} can do none of the robots: {'; '.join(map(str, refusals))}")
    if method.exact:
        yield from wrong_numbers(method, [one for one in tried if method.supports(one.robot) is None])
    first, *rest = sorted(CHECKS, key=lambda check: check is not inputs_untouched)
    touched = _checked(first, subject)
    yield touched
    if touched.findings:
        return  # what the others would say is of states that have changed
    for check in rest:
        yield _checked(check, subject)
    if "coriolis_matrix" in method.computes:
        yield Outcome("C(q, v) is a Coriolis matrix.", tuple(_coriolis(subject)))
    if isinstance(method, KernelMethod) and subject.robot.is_tree:
        yield Outcome("Its operations can be counted.", tuple(uncountable(method, subject.robot)))


def _reasons(method: Method, robots: Sequence[Robot]) -> Outcome:
    promise = (reasons_are_sentences.__doc__ or "").strip()
    try:
        reasons_are_sentences(method, robots)
    except Exception as error:
        sentence, cause = (str(error), "") if isinstance(error, NonConformance) else explain(error, method)
        return Outcome(promise, (Finding("supports", sentence, cause=cause or SUPPORTS),))
    return Outcome(promise)


def _checked(check: Callable[[Subject], None], subject: Subject) -> Outcome:
    """One check of the contract."""
    name, promise = check.__name__.replace("_", " "), (check.__doc__ or "").partition("\n")[0]
    try:
        check(subject)
    except NonConformance as error:
        cause = next((words for part, words in SENTENCE_CAUSES.items() if part in str(error)), "")
        return Outcome(promise, (Finding(name, str(error), subject.robot.name, cause=cause),))
    except Exception as error:
        sentence, cause = explain(error, subject.method)
        return Outcome(promise, (Finding(name, sentence, subject.robot.name, cause=cause),))
    return Outcome(promise)


def _coriolis(subject: Subject) -> Iterator[Finding]:
    """It is not unique, so it is not compared with another, but asked for what must hold."""
    for row in invariants(subject.sample, subject.solver, 0.0):
        if row.quantity == "coriolis_matrix" and not row.ok:
            yield Finding(row.quantity, f"{row.measure}: {row.value}; {row.reason}", subject.robot.name)


def uncountable(method: KernelMethod, robot: Robot) -> Iterator[Finding]:
    """Kernels that the counting scalar does not get through: they use what not every scalar has."""
    from dynbench.methods.kernels.count import count_operations

    for quantity in method.kernels:
        try:
            count_operations(method, robot, quantity)
        except Exception as error:
            sentence, _ = explain(error, method)
            cause = "use load, store, sincos, sqrt and + - * / alone: no math, no numpy, no comparison, no power"
            yield Finding(f"{quantity}: counting", sentence, robot.name, cause=cause)
