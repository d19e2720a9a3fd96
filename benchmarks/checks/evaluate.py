"""One method at the states of one robot: the numbers that pairs are compared by, and the method's own invariants.

This is the only part of a check that runs a method's code. `reference` and `evaluate` are jobs (see `processes.jobs`),
so they can run in a worker process: a method that hangs or crashes loses its own rows. Results come back as plain data.
Every process draws the states again from their seed; the forces and the condition of M, which depend on other methods,
are arguments.
"""

from __future__ import annotations

import base64
import functools
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from dynbench import methods
from dynbench import robots as machines
from dynbench.benchmarks.checks.agreement import CASES, COMPARED, Case, Evaluation, condition, values_of
from dynbench.benchmarks.checks.invariants import derivative_checks, invariants
from dynbench.benchmarks.checks.sampling import Sample, draw, moved, with_forces
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.rows import Row, row_from
from dynbench.benchmarks.tiers import GENERIC, TIERS, TRACED, Variant, prepare, why_not_traced
from dynbench.methods.base import Method, Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.families.elastic_rp_chain import elastic_rp_family
from dynbench.robots.families.trees import KINDS, aligned_tree, random_tree
from dynbench.robots.robot import FloatArray, Robot

BASELINE = "it is the baseline of the timing tables: it computes nothing and is not compared"
PLAIN = tuple(case for case in CASES if not case.wrench)
BY_LABEL = {case.label: case for case in CASES}
MAX_SECONDS = 2.0  # for the states of one case; slower methods are left out of the larger robots of a family


def geared(robot: Robot) -> Robot:
    """Return a robot with rotors, damping and friction in its joints, different in each."""
    each = 1.0 + np.arange(robot.n, dtype=np.float64)
    name = f"geared-tree-{robot.n}"
    return replace(robot, name=name, armature=0.03 * each, damping=0.1 * each, friction=0.2 * np.ones(robot.n))


# Robots that the zoo does not have; a worker process builds them again from their name.
RECIPES = {
    "random-tree-12-seed1": lambda: random_tree(12, seed=1, kinds=KINDS[:3], floating=True, massless=True),
    "random-tree-9-seed2": lambda: random_tree(9, seed=2, kinds=KINDS),
    "random-tree-8-seed4": lambda: random_tree(8, seed=4, kinds=("revolute", "spherical"), floating=True),
    "free-body": lambda: replace(random_tree(1, seed=6, floating=True), name="free-body"),
    "geared-tree-7": lambda: geared(random_tree(7, seed=5, kinds=KINDS[:3])),
    "aligned-tree-12": lambda: replace(aligned_tree(12, seed=3), name="aligned-tree-12"),
    "elastic-rp-2-torsion": lambda: replace(
        elastic_rp_family(2, modes=(("y", 1), ("t", 1))), name="elastic-rp-2-torsion"
    ),
}

RobotSource = str | Robot  # a name of `RECIPES`, what `robots.load` takes, or the robot itself
MethodSource = str | Variant | Method | Solver  # only names and variants, which are names, reach other processes
Checked = tuple[int, str | None]  # how many states of a robot were checked, and with which forces, packed


@dataclass(frozen=True)
class Evaluated:
    """The results of one method on one robot."""

    numbers: Evaluation
    rows: list[Row] = field(default_factory=list)  # of its invariants, or the one that says why there are none

    def plain(self) -> dict[str, Any]:
        """The same as plain data; `evaluated_from` reads it."""
        numbers = self.numbers
        return {
            "name": numbers.name,
            "exact": numbers.exact,
            "code": numbers.code,
            "values": {case.label: [packed(x), numbers.noise[case]] for case, x in numbers.values.items()},
            "failures": {case.label: reason for case, reason in numbers.failures.items()},
            "rows": [asdict(row) for row in self.rows],
        }


def evaluated_from(data: dict[str, Any], states: int) -> Evaluated:
    """The reverse of `Evaluated.plain`."""
    numbers = Evaluation(data["name"], data["exact"], code=data["code"])
    for label, (rows, noise) in data["values"].items():
        numbers.values[BY_LABEL[label]], numbers.noise[BY_LABEL[label]] = unpacked(rows, states), noise
    numbers.failures.update({BY_LABEL[label]: reason for label, reason in data["failures"].items()})
    return Evaluated(numbers, [row_from(row) for row in data["rows"]])


def load(source: RobotSource) -> Robot:
    """Return the robot of a source."""
    if isinstance(source, Robot):
        return source
    return RECIPES[source]() if source in RECIPES else machines.load(source)


def method_of(source: MethodSource) -> Method:
    """Return the method of a source."""
    if isinstance(source, Solver):
        return source.method
    if isinstance(source, Variant):
        return methods.get(source.method)
    return methods.get(source) if isinstance(source, str) else source


def code_of(source: MethodSource) -> str:
    """Return the tier of a source; "" for a method that has none."""
    if isinstance(source, Variant):
        return source.code
    if isinstance(source, Solver):
        return source.code if source.code in TIERS else ""
    return GENERIC if isinstance(method_of(source), KernelMethod) else ""


def drawn(source: RobotSource, states: int, seed: int) -> Sample:
    """Return the sample of a robot: drawn once in a process, since closing loops can take 50 ms a state."""
    sample = _drawn(source, states, seed)
    arrays = {name: getattr(sample, name).copy() for name in ("q", "v", "a", "tau", "wrench")}
    return replace(sample, **arrays)  # copies: a method that writes to its arguments must not change the next one's


@functools.lru_cache(maxsize=4)
def _drawn(source: RobotSource, states: int, seed: int) -> Sample:
    return draw(load(source), states, seed)


def prepared(source: MethodSource, robot: Robot, quantities: Iterable[str] | None = None) -> Solver | Row:
    """Return a solver that offers these quantities (default: all), or the row that says why there is none.

    Quantities that are left out are not compiled.
    """
    if isinstance(source, Solver):
        return source
    method, code = method_of(source), code_of(source)
    reason = refusal(method, robot)
    if reason is not None:
        return Row(robot.name, method.name, "", "supports", None, "", "unsupported", reason, code=code)
    try:
        solver = prepare(method, robot, code)
    except Exception as error:  # of a plugin: named, and the others go on
        said = f"{type(error).__name__}: {error}"
        return Row(robot.name, method.name, "", "prepare", None, "", "failed", said, code=code)
    solver.method = method  # it may have returned the solver of another method: the rows are its own
    if quantities is not None:
        chosen = set(quantities)
        solver.computes = tuple(quantity for quantity in solver.computes if quantity in chosen)
    if code == TRACED:
        solver.computes = tuple(quantity for quantity in solver.computes if not why_not_traced(solver, quantity))
    return solver


def refusal(method: Method, robot: Robot) -> str | None:
    """Return why a method is not checked on a robot, None if it is."""
    return BASELINE if method.floor else method.supports(robot)


@functools.cache
def start_compiler() -> None:
    """Import numba and compile something small: a job that makes a worker process ready for its first kernel."""
    import numba

    numba.njit(_nothing)(1.0)


def _nothing(x: float) -> float:
    return x


def source_of(method: MethodSource, code: str) -> MethodSource:
    """Return the source that the arguments of a job stand for."""
    return Variant(method, code) if isinstance(method, str) and code else method


def reference(
    robot: RobotSource, method: MethodSource, quantities: list[str], states: int, seed: int, code: str = ""
) -> dict[str, Any]:
    """Return what all methods share: forces at the states, and the condition of M, by one method.

    Returns
    -------
    dict
        ``tau``: packed array (states, actuated), None if the method gives no finite ones; ``condition``: 0 if it
        gives no M.
    """
    solver = prepared(source_of(method, code), load(robot), quantities)
    if isinstance(solver, Row):
        return {"tau": None, "condition": 0.0}
    sample = drawn(robot, states, seed)
    found = with_forces(sample, [solver])
    return {"tau": None if found is sample else packed(found.tau), "condition": condition(found, [solver])}


def evaluate(
    robots: Sequence[RobotSource],
    method: MethodSource,
    quantities: list[str],
    states: int,
    seed: int,
    tau: list[str | None],
    condition: list[float],
    brief: bool = False,
    code: str = "",
    wrenches: bool = True,
) -> list[dict[str, Any]]:
    """Evaluate a method on robots, one after the other; plain data for each, as `evaluated_from` reads it.

    Parameters
    ----------
    tau, condition : list
        Of `reference`, for each robot.
    brief : bool
        Without wrenches and invariants; a quantity that takes too long is left out of the robots that follow.
    code : str
        Tier. Traced code has no wrenches, with which calls use generic code, and of the invariants only those of
        derivatives, which many methods have in traced code alone.
    wrenches : bool
        Whether to evaluate with external wrenches too, which takes other kernels.
    """
    one_source = source_of(method, code)
    made, code = method_of(one_source), code_of(one_source)
    slow: dict[str, float] = {}
    found = []
    for source, forces, cond in zip(robots, tau, condition, strict=True):
        solver = prepared(one_source, load(source), quantities)
        if isinstance(solver, Row):
            found.append(Evaluated(Evaluation(made.name, made.exact, code=code), [solver]).plain())
            continue
        sample = with_tau(drawn(source, states, seed), forces)
        if brief:
            one = _briefly(sample, solver, quantities, slow, code)
        elif code == TRACED:
            one = Evaluated(
                values_of(sample, moved(sample), solver, PLAIN, code),
                [replace(row, code=code) for row in derivative_checks(sample, solver, cond)],
            )
        else:
            one = Evaluated(
                values_of(sample, moved(sample), solver, CASES if wrenches else PLAIN, code),
                [replace(row, code=code) for row in invariants(sample, solver, cond)],
            )
        found.append(one.plain())
    return found


def _briefly(
    sample: Sample, solver: Solver, quantities: Sequence[str], slow: dict[str, float], code: str
) -> Evaluated:
    nearby, numbers = moved(sample), Evaluation(solver.method.name, solver.method.exact, code=code)
    rows = []
    for quantity in (name for name in quantities if name in COMPARED):
        if quantity in slow:
            said = f"{len(sample)} states took {slow[quantity]:.2g} s on a smaller robot: not tried"
            head = (sample.robot.name, solver.method.name, quantity, "error")
            rows.append(Row(*head, None, "relative", "unsupported", said, code=code, ended=Outcome.LEFT_OUT))
            continue
        start = time.perf_counter()
        one = values_of(sample, nearby, solver, [Case(quantity)], code)
        seconds = time.perf_counter() - start
        if seconds > MAX_SECONDS:
            slow[quantity] = seconds
        numbers.values.update(one.values)
        numbers.noise.update(one.noise)
        numbers.failures.update(one.failures)
    return Evaluated(numbers, rows)


def with_tau(sample: Sample, forces: str | None) -> Sample:
    """Return the sample with the forces of `reference`."""
    return sample if forces is None else replace(sample, tau=unpacked(forces, len(sample)))


def packed(array: FloatArray) -> str:
    """Return an array as text: its bytes, little-endian doubles, in base 64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode("ascii")


def unpacked(text: str, rows: int) -> FloatArray:
    """The reverse of `packed`, for an array of two axes."""
    return np.frombuffer(base64.b64decode(text), dtype="<f8").reshape(rows, -1).astype(np.float64)
