"""The whole suite on one method: its numbers, its contract, whether its operations can be counted.

Numbers are compared with `plain` on small robots, the simplest first. Where they differ, `mistakes` is searched for the
cause; if it has none, the defect says which terms are wrong and which features the wrong robots have in common. Of
defects with one cause only the first is listed, with the other places where it was seen.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dynbench.benchmarks.checks.agreement import Case, relative
from dynbench.benchmarks.checks.conformance import mistakes
from dynbench.benchmarks.checks.conformance.contract import (
    CHECKS,
    Candidate,
    NonConformance,
    candidate_of,
    inputs_untouched,
    reasons_are_sentences,
    robots_to_try,
)
from dynbench.benchmarks.checks.conformance.machines import (
    SEED,
    Machine,
    machine_for,
    machines,
    reference,
    special_machines,
)
from dynbench.benchmarks.checks.invariants import invariants
from dynbench.methods.base import DERIVATIVES, QUANTITIES, Method, Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.errors import DynbenchError, UnsupportedError
from dynbench.robots.robot import FloatArray, Robot

MISTAKE_STATES = 3  # at which a mistake must explain the results
COMPARED = ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics", "reactions", "regressor", *DERIVATIVES)
SUPPORTS = "supports returns None or a sentence, and never raises; prepare begins with self.require(robot)"
REHEARSED = 8  # bodies of the robots on which kernels run as plain Python, at most
UNSET = "work is read before it is written: it holds NaN when a kernel starts"
COUNTABLE = "use load, store, sincos, sqrt and + - * / alone: no math, no numpy, no comparison, no power"
NOT_COMPILED = "it does not compile; NUMBA_DISABLE_JIT=1 runs it as plain Python, where the message is clearer"

# Part of the sentence of a broken check -> likely cause
SENTENCE_CAUSES = {
    "writes to its argument": "mutated input: a function changes q, v, a in place; work on copies, x = x.copy()",
    "with out= gives other numbers": "the result is added to what was in out: set out to zero first",
    "is the same for another robot of the same name": "something is kept by the robot's name: two robots may have one",
    "gives other numbers in call": "something is left from the calls before: a counter, a buffer, a cache",
    "with one set of wrenches and with": "one set of wrenches, shape (n, 6), is for all states of a batch",
    "changes when another solver is used": "something is shared: what belongs to a robot is made in prepare, no global",
    "called from four threads": "something is shared between calls: a buffer or an engine's data needs one per thread",
    "hasattr says that it computes": "a quantity is an attribute although it is not in computes",
    "declares": "computes and the functions in prepare name different quantities; bias comes with inverse_dynamics",
    "the effect of wrenches is not linear": "external wrenches enter more than once, or not as forces",
    "of a batch and of its states one by one": "something is left from the state before: a buffer that is not set anew",
    "reuses memory": "the same array is returned every time: return a new one",
    "cost is": "say in a few words how the cost grows with the number of bodies: cost = 'O(n)'",
}

# Pattern of the message of an exception -> likely cause
EXCEPTION_CAUSES = {
    r"of shape \((\d+), 1\).*expected \(\1,\)": "wrong shape: a column was returned, not a vector; tau.ravel() is one",
    r"returned \w+ of shape .* expected \(": "wrong shape: expected one number per coordinate in v, in that order",
    r"positional arguments? but \d+ (was|were) given": (
        "the functions given to function_solver take (q, v, a, wrench); wrench is None or has shape (n, 6)"
    ),
    r"takes? .*wrench|unexpected keyword argument 'wrench'": "the functions take wrench by position, as the last one",
    r"must say the workspace": "a TreeMethod names its workspace for every kernel: work = {'inverse_dynamics': WORK}",
    r"[Uu]nbound|[Uu]ndefined|[Uu]ntyped global name": "a name is not defined in the module, or is not marked @generic",
    r"Cannot unify": "a variable has two types in two branches; splat(tag, 0.0), zero3(tag) are zeros of its type",
    r"assignment destination is read-only|read-only": "mutated input: a function writes to q, v, a, or to the robot",
    r"could not broadcast|shapes? .* not aligned|mismatch in its core dimension": (
        "wrong shape: q has robot.nq numbers, v, a and tau have robot.nv; they differ for spherical and free joints"
    ),
    r"name '\w+' is not defined": "a name is misspelt, or was not imported",
    r"must not branch on data": "a branch on a scalar: branch on the model, or use guard(x) or choose(x, y, a, b)",
    r"out of range of '(work|out|model|wrench)'": (
        "wrong index: rows of work and of the model begin at i times their length, row 0 is the ground, and work "
        "has as many numbers as the class declares"
    ),
    r"index -?\d+ is out of (bounds|range)": (
        "wrong index: a joint's numbers start at robot.iq[i] in q and at robot.iv[i] in v, not at i"
    ),
    r"got an unexpected keyword argument": "options are fields of a frozen dataclass",
}


@dataclass(frozen=True)
class Defect:
    """One thing that is wrong: where it was seen, what was expected and what came, and the likely cause."""

    what: str  # the quantity, or the check
    sentence: str
    robot: str = ""  # how to make it
    state: str = ""  # how to make it
    expected: str = ""
    got: str = ""
    cause: str = ""
    also: tuple[str, ...] = ()  # where else the same was seen

    def __str__(self) -> str:
        rows = {label: getattr(self, label) for label in ("robot", "state", "expected", "got")}
        rows |= {"also": "; ".join(self.also), "likely": self.cause}
        return "\n".join([f"{self.what}: {self.sentence}", *(f"    {k:<9} {x}" for k, x in rows.items() if x)])


@dataclass(frozen=True)
class Promise:
    """A promise, in a sentence, and how it is broken; kept if there is no defect."""

    sentence: str
    defects: tuple[Defect, ...] = ()


def defects(method: Method, robots: Sequence[Robot] | None = None) -> list[Defect]:
    """Return everything that is wrong with ``method``, each cause once; an empty list if nothing is."""
    return each_once([defect for promise in examine(method, robots) for defect in promise.defects])


def examine(method: Method, robots: Sequence[Robot] | None = None) -> Iterator[Promise]:
    """Test everything that ``method`` promises, the numbers first.

    Parameters
    ----------
    method : Method
        One that is available here.
    robots : sequence of Robot, optional
        To test it on; default: small ones with every kind of joint, and those of the papers.

    Raises
    ------
    UnsupportedError
        When it supports none of the robots.
    """
    tried = robots or robots_to_try()
    reasons = _reasons(method, tried)
    yield reasons
    if reasons.defects:
        return
    if robots is None:
        compared = [*machines(), *special_machines(method)]
    else:
        compared = [one for robot in robots if (one := machine_for(robot, method, robot.name)) is not None]
    candidate = candidate_of(method, tried)
    if candidate is None:
        refusals = {method.supports(robot): None for robot in tried}
        raise UnsupportedError(f"{method.name} can do none of the robots: {'; '.join(map(str, refusals))}")
    if isinstance(method, KernelMethod):
        small = [one.robot for one in compared if method.supports(one.robot) is None and one.robot.n <= REHEARSED]
        rehearsed = Promise("Its kernels run as plain Python.", tuple(rehearse(method, small or [candidate.robot])))
        yield rehearsed
        if rehearsed.defects:
            return  # compiled, the same mistakes are errors of the compiler without a line, or crash
    if method.exact:
        yield from wrong_numbers(method, [one for one in compared if method.supports(one.robot) is None])
    first, *rest = sorted(CHECKS, key=lambda check: check is not inputs_untouched)
    touched = _checked(first, candidate)
    yield touched
    if touched.defects:
        return  # the others would be about states that have changed
    for check in rest:
        yield _checked(check, candidate)
    if "coriolis_matrix" in method.computes:
        yield Promise("C(q, v) is a Coriolis matrix.", tuple(_coriolis(candidate)))


def _reasons(method: Method, robots: Sequence[Robot]) -> Promise:
    sentence = (reasons_are_sentences.__doc__ or "").strip()
    try:
        reasons_are_sentences(method, robots)
    except Exception as error:
        said, cause = (str(error), "") if isinstance(error, NonConformance) else explain(error, method)
        return Promise(sentence, (Defect("supports", said, cause=cause or SUPPORTS),))
    return Promise(sentence)


def _checked(check: Callable[[Candidate], None], candidate: Candidate) -> Promise:
    """Run one check of the contract."""
    name, promise = check.__name__.replace("_", " "), (check.__doc__ or "").partition("\n")[0]
    try:
        check(candidate)
    except Exception as error:
        if isinstance(error, NonConformance):
            said = str(error)
            cause = next((words for part, words in SENTENCE_CAUSES.items() if part in said), "")
        else:
            said, cause = explain(error, candidate.method)
        return Promise(promise, (Defect(name, said, candidate.robot.name, cause=cause),))
    return Promise(promise)


def _coriolis(candidate: Candidate) -> Iterator[Defect]:
    """A Coriolis matrix is not unique, so it is not compared with another but checked for its invariants."""
    for row in invariants(candidate.sample, candidate.solver, 0.0):
        if row.quantity == "coriolis_matrix" and not row.ok:
            yield Defect(row.quantity, f"{row.measure}: {row.value}; {row.reason}", candidate.robot.name)


def rehearse(method: KernelMethod, robots: Iterable[Robot]) -> Iterator[Defect]:
    """Run the kernels as plain Python before anything is compiled; yield the first defect of each.

    They run on counting scalars, in buffers that check every index: names that do not exist, indices out of range,
    branches on scalars and operations that not every scalar has are found here, with file and line.
    """
    from dynbench.methods.kernels.count import run_counting

    left = {(quantity, wrench) for quantity in method.kernels for wrench in (False, True) if quantity in COMPARED}
    for robot in robots:
        for quantity, wrench in sorted(left):
            if (quantity, wrench) not in left or (wrench and QUANTITIES[quantity].arguments == ("q",)):
                continue
            try:
                result = run_counting(method, robot, quantity, wrench)[1]
            except Exception as error:
                sentence, cause = explain(error, method)
                yield Defect(f"{quantity}: as plain Python", sentence, robot.name, cause=cause or COUNTABLE)
                left -= {(quantity, False), (quantity, True)}
                continue
            if robot.is_tree and not np.isfinite(result).all():
                said = "its result is not finite, and all inputs are"
                yield Defect(f"{quantity}: as plain Python", said, robot.name, cause=UNSET)
                left -= {(quantity, False), (quantity, True)}


# ---------------------------------------------------------------------- numbers


def wrong_numbers(method: Method, tried: Iterable[Machine]) -> Iterator[Promise]:
    """Compare the numbers of a method on each of the machines."""
    right: set[str] = set()
    for machine in tried:
        found = tuple(_on(machine, method))
        if found:
            only = sorted(machine.features - right)
            hint = f"only robots with {' and '.join(only)} are wrong" if only and right else ""
            found = tuple(replace(defect, cause=defect.cause or hint) for defect in found)
        else:
            right |= machine.features
        judge = "plain Newton-Euler" if machine.judge is None else machine.judge.method.name
        yield Promise(f"Its numbers on {machine.robot.name} are those of {judge}.", found)


def _on(machine: Machine, method: Method) -> Iterator[Defect]:
    """Yield the defects on one robot; a quantity that is wrong is not compared again with wrenches."""
    try:
        solver = method.prepare(machine.robot)
    except Exception as error:
        sentence, cause = explain(error, method)
        yield Defect("prepare", sentence, machine.how, cause=cause)
        return
    wrong = set()
    pushed = (Case(quantity, wrench=True) for quantity in ("inverse_dynamics", "bias", "forward_dynamics"))
    for case in (*(Case(quantity) for quantity in COMPARED), *pushed):
        if case.quantity == "bias" and "inverse_dynamics" in wrong:
            continue  # the same, at a = 0
        if case.quantity in solver.computes and case.quantity not in wrong:
            defect = compare(machine, solver, case)
            if defect is not None:
                wrong.add(case.quantity)
                yield defect


def compare(machine: Machine, solver: Solver, case: Case) -> Defect | None:
    """Return a defect if a quantity is not what it should be at some state."""
    sample, method = machine.sample, solver.method
    inputs = sample.inputs(case.quantity, case.wrench)
    try:
        got = np.full((len(sample), *QUANTITIES[case.quantity].shape(machine.robot)), np.nan)  # NaN stays if not set
        solver.whole(case.quantity)(**{name: x.copy() for name, x in inputs.items()}, out=got)
        got = got.reshape(len(sample), -1)
    except Exception as error:
        sentence, cause = explain(error, method)
        return Defect(case.label, sentence, machine.how, cause=cause)
    expected, limit = reference(machine, case.quantity, case.wrench)
    errors = relative(got, expected)
    if not method.exact or (errors <= limit).all():
        return None
    worst = int(np.argmax(errors))
    states = [{name: x[k] for name, x in inputs.items()} for k in range(MISTAKE_STATES)]
    cause = ""
    if machine.judge is None:
        cause = mistakes.cause(machine.robot, case.quantity, states, list(got[:MISTAKE_STATES]))
        if not cause and case.quantity == "inverse_dynamics" and not case.wrench:
            cause = terms(machine, solver)
    return Defect(
        case.label,
        f"off by {errors[worst]:.1e} of its largest component, more than {limit:.0e}",
        f"{machine.how}, called {machine.robot.name!r}",
        f"robot.sample({len(sample)}, seed={SEED}), state {worst}",
        numbers(expected[worst]),
        numbers(got[worst]),
        cause,
    )


def terms(machine: Machine, solver: Solver) -> str:
    """Return which of the terms in M a + velocity terms + gravity are wrong."""
    sample, zero = machine.sample, np.zeros_like(machine.sample.v)
    rest = replace(sample, v=zero, a=zero)
    states = {
        "gravity": (rest, None),
        "inertia": (replace(sample, v=zero), rest),
        "velocity": (replace(sample, a=zero), rest),
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
    """Return a vector as a line of text."""
    more = ", ..." if x.size > shown else ""
    return f"[{', '.join(f'{number:.6g}' for number in x[:shown])}{more}]"


def each_once(found: Iterable[Defect]) -> list[Defect]:
    """Return the first defect of each cause (or, without one, of each quantity), with where else it was seen."""
    kept: dict[str, Defect] = {}
    for defect in found:
        key = defect.cause or f"{defect.what}: {defect.sentence if not defect.expected else ''}"
        if key in kept:
            where = f"{defect.what} on {defect.robot.partition(', called ')[2] or defect.robot}".removesuffix(" on ")
            kept[key] = replace(kept[key], also=tuple(dict.fromkeys((*kept[key].also, where))))
        else:
            kept[key] = defect
    return list(kept.values())


# ---------------------------------------------------------------------- exceptions


def explain(error: BaseException, method: Method) -> tuple[str, str]:
    """Return the exception in a sentence, with the line of the method's file that raised it, and the likely cause."""
    said, of_numba = " ".join(str(error).split()), type(error).__module__.startswith("numba")
    if of_numba:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = next((line for line in lines if not line.startswith(("Failed in", "During", "-"))), str(error))
        place = next((line for line in lines if line.startswith("File ")), "")
        said = f"{said} ({place})" if place else said
    sentence = said if isinstance(error, DynbenchError) else f"{type(error).__name__}: {said}"
    cause = next((words for pattern, words in EXCEPTION_CAUSES.items() if re.search(pattern, said)), "")
    return f"{sentence[:400]}{_where(error, method)}", cause or (NOT_COMPILED if of_numba else "")


def _where(error: BaseException, method: Method) -> str:
    """Return the last line of the method's own package that was running."""
    try:
        home = Path(inspect.getfile(type(method)))
    except (TypeError, OSError):
        return ""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent == home.parent]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}: {frames[-1].line})" if frames else ""
