"""Automatic mutants of the kernels: one operator, index or sign changed, and judged as `dynbench check` judges methods.

    python tests/mutants.py [--only TEXT] [--list]          or  nox -s mutants

A mutant is the syntax tree of one function of `FILES` with one change. Kernels run as plain Python on floats, so that
nothing is compiled: the code object of the function is replaced where it is, and all that call it see the change. The
numbers of all quantities of the methods that use the file are compared with those of the right kernels at states of
`sampling.draw`, with and without wrenches, by the error and tolerance of `agreement`. An exception, or no end within
some seconds, counts as found. Survivors that change nothing are listed in `EQUIVALENT`, each with the reason.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import inspect
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from dynbench import methods
from dynbench.benchmarks.checks.agreement import WITH_WRENCHES, relative, tolerance
from dynbench.benchmarks.checks.evaluate import load
from dynbench.benchmarks.checks.sampling import UNUSUAL, Sample, away_from_rest, draw, moved
from dynbench.methods.base import QUANTITIES
from dynbench.methods.kernels.count import mirror
from dynbench.methods.kernels.scalar import ONE

# Modules, and the methods by which their kernels are judged
FILES: dict[str, tuple[str, ...]] = {
    "kernels.sweeps": ("newton-euler", "gibbs-appell"),
    "kernels.inertia": ("newton-euler", "gibbs-appell", "denoc", "boltzmann-hamel"),
    "newton_euler.rnea": ("newton-euler",),
    "newton_euler.crba": ("newton-euler",),
    "newton_euler.aba": ("newton-euler",),
    "gibbs_appell.gradient": ("gibbs-appell",),
    "gibbs_appell.hessian": ("gibbs-appell",),
    "gibbs_appell.forward": ("gibbs-appell",),
    "denoc.inverse": ("denoc",),
    "denoc.inertia": ("denoc",),
    "denoc.forward": ("denoc",),
    "boltzmann_hamel.kinematics": ("boltzmann-hamel", "boltzmann-hamel-recursions"),
    "boltzmann_hamel.momentum": ("boltzmann-hamel",),
    "boltzmann_hamel.composite": ("boltzmann-hamel",),
    "boltzmann_hamel.elimination": ("boltzmann-hamel", "boltzmann-hamel-recursions"),
    "boltzmann_hamel.partials": ("boltzmann-hamel-recursions",),
    "boltzmann_hamel.recursions": ("boltzmann-hamel-recursions",),
}
ROBOTS = (
    "random-tree-9-seed2", "random-tree-12-seed1", "random-tree-8-seed4", "aligned-tree-12", "geared-tree-7",
    "space-dual-arm", "tree-12", "free-body",
)  # fmt: skip
STATES, SEED = 33, 0
_FIRST = -4 - UNUSUAL
TRIED = (0, _FIRST, _FIRST + 3, _FIRST + 5, _FIRST + 6, -2)  # usual; rest, slow, fast, turns; half a turn
SECONDS = 20  # until a mutant counts as one that does not end
WORTH = 0.98  # of the mutants must be found

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.And: ast.Or,
    ast.Or: ast.And, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
RENAMED = {"add": "sub", "sub": "add", "mul": "mulT", "mulT": "mul", "add3": "store3"}
TURNED = ("cross", "sub")  # arguments the other way round

# Changes that cannot show: module, function, change -> reason
GROUND = "only changes what the ground's row gets, which nothing reads"
FIRST = "the pose of the first body, whose parent is the ground, is not read"
MULTIPLE = "u is a multiple of the length of a row"
PASSED = "what is passed to the ground is not used"
AFTERWARDS = "what it writes over is not read afterwards"
LANES = "one number later, where there is room; with the eight lanes of compiled code rows would overlap"
NOT_ZERO = "parts other than 0 are taken for 1"
CLEARED = "all entries that are read are written afterwards"
ELIMINATED = "the numbers exchanged are zero, or not read, once the axes before this one are eliminated"
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("newton_euler.rnea", "inward", "0 -> 1"): GROUND,
    ("newton_euler.rnea", "inward", "u > 0 -> u >= 0"): GROUND,
    ("newton_euler.rnea", "inward", "0 -> 1 (2)"): MULTIPLE,
    ("newton_euler.crba", "mass_matrix", "(bodies + 1) * BODY * len(tag) -> (bodies + 1) * BODY + len(tag)"): LANES,
    ("newton_euler.crba", "fill_row", "0 -> 1"): "body 1 is a root, whose entries joint_force has written",
    ("newton_euler.crba", "mass_matrix", "1 -> 2"): "the axes begin one row later, where there is room too",
    ("newton_euler.crba", "mass_matrix", "u > 0 -> u >= 0"): GROUND,
    ("newton_euler.crba", "mass_matrix", "0 -> 1 (2)"): MULTIPLE,
    ("newton_euler.crba", "turns", "1 -> 2"): FIRST,
    ("newton_euler.aba", "rigid", "3 -> 4"): "splat3 reads the first three numbers",
    ("newton_euler.aba", "eliminate_joint", "u > 0 -> u >= 0"): GROUND,
    ("newton_euler.aba", "eliminate_joint", "0 -> 1"): MULTIPLE,
    **{("newton_euler.aba", "column", change): ELIMINATED for change in (
        "4 -> 5 (6)", "3 -> 4 (7)", "4 -> 5 (7)", "5 -> 6 (7)", "1 -> 2 (6)", "2 -> 3 (6)", "0 -> 1 (6)", "1 -> 2 (7)",
        "2 -> 3 (7)")},
    ("gibbs_appell.gradient", "inward", "u > 0 -> u >= 0"): GROUND,
    ("gibbs_appell.gradient", "inward", "0 -> 1 (3)"): MULTIPLE,
    ("gibbs_appell.hessian", "mass_matrix", "1 -> 2"): FIRST,
    ("gibbs_appell.hessian", "second_derivatives", "u > 0 -> u >= 0"): GROUND,
    ("gibbs_appell.hessian", "second_derivatives", "0 -> 1 (2)"): MULTIPLE,
    ("gibbs_appell.hessian", "chain_rule", "i > 0 -> i >= 0 (2)"): PASSED,
    ("denoc.inertia", "mass_matrix", "nv * nv -> nv + nv"): CLEARED,
    ("denoc.inertia", "mass_matrix", "u > 0 -> u >= 0"): GROUND,
    ("denoc.inertia", "mass_matrix", "0 -> 1 (3)"): MULTIPLE,
    ("denoc.inertia", "carry", "i > 0 -> i >= 0 (2)"): PASSED,
    ("denoc.inertia", "coriolis_matrix", "nv * nv -> nv + nv"): CLEARED,
    ("denoc.inertia", "coriolis_matrix", "u > 0 -> u >= 0"): GROUND,
    ("denoc.inertia", "coriolis_matrix", "0 -> 1 (4)"): MULTIPLE,
    ("denoc.forward", "eliminate", "u > 0 -> u >= 0"): GROUND,
    ("denoc.forward", "eliminate", "0 -> 1"): MULTIPLE,
    ("denoc.forward", "solve", "u > 0 -> u >= 0"): GROUND,
    ("denoc.forward", "solve", "u > 0 -> u >= 0 (2)"): "the ground's row is zero",
    ("denoc.forward", "solve", "0 -> 1 (2)"): MULTIPLE,
    ("denoc.forward", "solve", "0 -> 1 (3)"): MULTIPLE,
    ("boltzmann_hamel.kinematics", "rotations", "1 -> 2"): FIRST,
    ("boltzmann_hamel.momentum", "inverse_dynamics", "parent(model, i) > 0 -> parent(model, i) >= 0"): GROUND,
    ("boltzmann_hamel.elimination", "last_coordinate", "1 -> 2 (2)"): "the ground's number is only compared with zero",
    ("boltzmann_hamel.partials", "fill_partials", "1 -> 2 (2)"): "rows of one body more are filled, and not read",
    ("boltzmann_hamel.recursions", "linear_momentum", "i * WORK + P_DOT -> i * WORK - P_DOT"): AFTERWARDS,
    ("boltzmann_hamel.recursions", "linear_momentum", "i * WORK -> i + WORK"): AFTERWARDS,
    ("boltzmann_hamel.recursions", "angular_momentum", "1 -> 2"): NOT_ZERO,
    ("boltzmann_hamel.composite", "fill_mass_matrix", "nv * nv -> nv + nv"): CLEARED,
    ("boltzmann_hamel.composite", "fill_mass_matrix", "parent_row > 0 -> parent_row >= 0"): GROUND,
    ("boltzmann_hamel.composite", "fill_mass_matrix", "0 -> 1 (2)"): "the row is a multiple of the length of a row",
    ("boltzmann_hamel.composite", "column_of_momenta", "i > 0 -> i >= 0 (2)"): PASSED,
    ("boltzmann_hamel.partials", "fill_mass_matrix", "nv * nv -> nv + nv"): CLEARED,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one function."""

    module: str
    function: str
    line: int
    change: str
    code: Any

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.module, self.function, self.change)

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.change}"


def changes(node: ast.AST, names: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield copies of a node with one change of its own; x + ROT is not changed to x - ROT where ROT is zero."""
    nothing = isinstance(node, ast.BinOp) and isinstance(node.right, ast.Name) and names.get(node.right.id) == 0
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPPED and not nothing:
        made: Any = copy.deepcopy(node)
        made.op = SWAPPED[type(node.op)]()
        yield made
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        made = copy.deepcopy(node)
        made.ops[0] = SWAPPED[type(node.ops[0])]()
        yield made
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield copy.deepcopy(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        made = copy.deepcopy(node)
        made.value = node.value + 1
        yield made
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in RENAMED:
            made = copy.deepcopy(node)
            made.func.id = RENAMED[node.func.id]
            yield made
        if node.func.id in TURNED:
            made = copy.deepcopy(node)
            made.args = made.args[::-1]
            yield made


def mutants(name: str) -> Iterator[Mutant]:
    """Yield the mutants of a module's kernels, in the order of the file."""
    module = importlib.import_module(f"dynbench.methods.{name}")
    tree = ast.parse(inspect.getsource(module))
    for function in tree.body:
        marked = isinstance(function, ast.FunctionDef) and any(
            isinstance(mark, ast.Name) and mark.id in ("generic", "called") for mark in function.decorator_list
        )
        if not marked:
            continue
        assert isinstance(function, ast.FunctionDef)
        bare = copy.deepcopy(function)
        bare.decorator_list, bare.returns = [], None
        for argument in bare.args.args:
            argument.annotation = None
        places = [node for part in bare.body for node in ast.walk(part)]
        seen: dict[str, int] = {}
        for place in places:
            for made in changes(place, vars(module)):
                change = f"{ast.unparse(place)} -> {ast.unparse(made)}"
                seen[change] = seen.get(change, 0) + 1
                change += f" ({seen[change]})" if seen[change] > 1 else ""
                code = _compiled(module, bare, place, made)
                if code is not None:
                    yield Mutant(name, function.name, getattr(place, "lineno", function.lineno), change, code)


def _compiled(module: Any, function: ast.FunctionDef, place: ast.AST, made: ast.AST) -> Any:
    """Return the code of a function in which one node is replaced, None if a name it needs does not exist."""

    parents = {id(child): parent for parent in ast.walk(function) for child in ast.iter_child_nodes(parent)}
    parent = parents[id(place)]
    for field, value in ast.iter_fields(parent):
        if value is place:
            setattr(parent, field, made)
            restore = (setattr, parent, field, place)
        elif isinstance(value, list) and any(item is place for item in value):
            at = next(k for k, item in enumerate(value) if item is place)
            value[at] = made
            restore = (list.__setitem__, value, at, place)
    try:
        whole = ast.fix_missing_locations(ast.Module([copy.deepcopy(function)], []))
        calls = [node.func for node in ast.walk(made) if isinstance(node, ast.Call)]
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        space = dict(vars(module))
        vectors = vars(importlib.import_module("dynbench.methods.kernels.vectors"))
        missing = [one for one in names if one not in space]
        for one in missing:
            if one in vectors:
                vars(module)[one] = space[one] = vectors[one]  # the module does not import it; the mutant needs it
        exec(compile(whole, f"<mutant of {module.__name__}>", "exec"), space)
        found: FunctionType = space[function.name]
        return found.__code__
    finally:
        restore[0](*restore[1:])


# ---------------------------------------------------------------------- judging


@dataclass(frozen=True)
class Case:
    """One quantity of one method on one robot: what runs, at which states, and what is right."""

    label: str
    run: Callable[[int], list[float]]  # of the k-th state that is tried
    right: list[list[float]]
    limit: float

    def wrong(self, k: int) -> bool:
        """Whether the result at a state is not what it should be."""
        got = np.array([self.run(k)])
        return bool(relative(got, np.array([self.right[k]]))[0] > self.limit)


def cases(names: Sequence[str]) -> list[Case]:
    """Return the cases of some methods; what is right is computed now."""
    return [case for name in names for robot in ROBOTS for case in _on(name, robot)]


def _on(name: str, source: str) -> Iterator[Case]:
    method, robot = methods.get(name), load(source)
    if method.supports(robot) is not None:
        return
    sample = draw(robot, STATES, SEED)
    solver = method.prepare(robot)
    torque = _runner(solver.runs["inverse_dynamics"], "inverse_dynamics", sample, False)
    for k in TRIED:
        sample.tau[k] = torque(k)
    sample.tau[:] = away_from_rest(sample, sample.tau)
    nearby = moved(sample)
    for quantity in solver.computes:
        for wrench in (False, True) if quantity in WITH_WRENCHES and quantity != "bias" else (False,):
            run = _runner(solver.runs[quantity], quantity, sample, wrench)
            there = _runner(solver.runs[quantity], quantity, nearby, wrench)
            right = {k: run(k) for k in TRIED}
            noise = max(float(relative(np.array([right[k]]), np.array([there(k)]))[0]) for k in TRIED)
            label = f"{name} {quantity}{' with wrenches' if wrench else ''} on {source}"
            yield Case(label, lambda k, run=run: run(TRIED[k]), [right[k] for k in TRIED], tolerance(noise)[0])


class Numbers:
    """A buffer of floats, as kernels see one: parts are views, and indices beyond its ends are errors."""

    def __init__(self, values: list[float], start: int = 0, size: int | None = None) -> None:
        self.values, self.start = values, start
        self.size = len(values) - start if size is None else size

    def __getitem__(self, k: Any) -> Any:
        if type(k) is slice:
            first = k.start or 0
            return Numbers(self.values, self.start + first, (self.size if k.stop is None else k.stop) - first)
        if k < 0:
            raise IndexError
        return self.values[self.start + k]

    def __setitem__(self, k: int, x: float) -> None:
        if k < 0:
            raise IndexError
        self.values[self.start + k] = x


def _runner(run: Any, quantity: str, sample: Sample, wrench: bool) -> Callable[[int], list[float]]:
    """Return a function that runs a kernel in plain Python at state k of a sample."""
    model, size, matrix = Numbers(run.model.tolist()), run.size, QUANTITIES[quantity].arguments == ("q",)
    count = math.prod(QUANTITIES[quantity].shape(sample.robot))

    def at(k: int) -> list[float]:
        inputs = [Numbers(getattr(sample, name)[k].tolist()) for name in QUANTITIES[quantity].arguments]
        inputs += [Numbers([0.0] * sample.robot.nv)] if len(inputs) == 2 else []
        push = [Numbers(sample.wrench[k].ravel().tolist()) if wrench else None] if not matrix else []
        out = Numbers([0.0 if matrix else math.nan] * count)
        run.kernel(ONE, model, *inputs, *push, out, Numbers([math.nan] * size))
        if matrix:
            mirror(ONE, out, 0, QUANTITIES[quantity].shape(sample.robot)[0])
        return out.values

    return at


def found(mutant: Mutant, judged: Sequence[Case]) -> str | None:
    """Return what finds a mutant, None if nothing does."""
    module = importlib.import_module(f"dynbench.methods.{mutant.module}")
    function = getattr(module, mutant.function)
    right = function.__code__
    function.__code__ = mutant.code
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        for k in range(len(TRIED)):
            for case in judged:
                if case.wrong(k):
                    return case.label
    except TimeoutError:
        return "it does not end"
    except Exception as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        function.__code__ = right
    return None


def _too_long(*_: object) -> None:
    raise TimeoutError


@dataclass
class Score:
    """How many mutants there were, and which survived."""

    total: int
    survivors: list[Mutant]

    @property
    def unexplained(self) -> list[Mutant]:
        return [one for one in self.survivors if one.key not in EQUIVALENT]

    @property
    def share(self) -> float:
        """Found ones over those that can be found."""
        able = self.total - (len(self.survivors) - len(self.unexplained))
        return 1.0 - len(self.unexplained) / max(able, 1)

    def __str__(self) -> str:
        lines = [f"{one}: {EQUIVALENT.get(one.key, 'SURVIVED')}" for one in self.survivors]
        equivalent = len(self.survivors) - len(self.unexplained)
        head = f"{self.total} mutants, {self.total - len(self.survivors)} found, {equivalent} equivalent"
        return "\n".join([*lines, f"{head}, {len(self.unexplained)} survived: {100.0 * self.share:.1f} %"])


def score(only: str = "", step: int = 1, tell: Callable[[str], None] = lambda line: None) -> Score:
    """Judge the mutants of the modules whose name has ``only`` in it, every ``step``-th of them."""
    result = Score(0, [])
    for name, judges in FILES.items():
        if only not in name:
            continue
        start, judged, before = time.monotonic(), cases(judges), result.total
        for mutant in list(mutants(name))[::step]:
            result.total += 1
            if found(mutant, judged) is None:
                result.survivors.append(mutant)
        tell(f"{name}: {result.total - before} mutants, {time.monotonic() - start:.0f} s")
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge automatic mutants of the kernels.")
    parser.add_argument("--only", default="", metavar="TEXT", help="modules whose name contains this")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="every N-th mutant")
    args = parser.parse_args()
    result = score(args.only, args.step, lambda line: print(line, file=sys.stderr, flush=True))
    print(result)
    return int(result.share < WORTH)


if __name__ == "__main__":
    sys.exit(main())
