"""What a benchmark run covers: robots, methods, quantities, and the cells to time, each with its reason if it is not.

`Plan` is the selection with its defaults; `Matrix` keeps, for every robot x method x quantity, why it has no number
("" while it may still get one), as one stage after the other rules cells out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dynbench import methods, robots
from dynbench.benchmarks.results.verdicts import COMPARED_WITH
from dynbench.benchmarks.timing import engines
from dynbench.benchmarks.timing.cases import Cell
from dynbench.methods.base import QUANTITIES, Method
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.registry import is_foreign
from dynbench.robots.errors import DynbenchError, UnknownNameError, near
from dynbench.robots.robot import Robot

# Every kind of machine the methods are for: an arm, a long chain, a humanoid, the papers' robots, loops, elastic links
QUICK_ROBOTS = ("panda", "chain-30", "talos", "rp3", "space-dual-arm", "3rrr", "gough-stewart", "elastic-rp1")
MORE_ROBOTS = ("pendulum", "two-link", "puma560", "ur5", "anymal", "tree-30", "four-bar", "delta")
QUICK_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
REFERENCE = "newton-euler"  # first in tables, and the A/A pair where it can be
QUICK_ROWS, QUICK_THREAD_ROWS = (1000,), ()  # one core tells methods apart
ROWS, THREAD_ROWS = (1, 10, 100, 1000, 10_000, 100_000), (1000, 100_000)


@dataclass(frozen=True)
class Plan:
    """What was chosen; ``robots`` by name, with what `robots.load` takes in ``sources``."""

    robots: dict[str, Robot]
    sources: dict[str, str]
    methods: tuple[str, ...]
    quantities: tuple[str, ...]
    quick: bool = False
    seed: int = 0
    left_out: dict[str, str] = field(default_factory=dict)  # robots that are not there, and why

    @property
    def peers(self) -> tuple[str, ...]:
        """The methods that are other engines."""
        return tuple(name for name in self.methods if methods.get(name).requires)

    @property
    def modes(self) -> list[tuple[str, int]]:
        """How each cell is timed: mode and rows."""
        rows, thread_rows = (QUICK_ROWS, QUICK_THREAD_ROWS) if self.quick else (ROWS, THREAD_ROWS)
        return [
            ("call", 1),
            ("unchecked", 1),
            *(("batch", count) for count in rows),
            *(("threads", count) for count in thread_rows),
        ]


def choose(
    robot_names: Sequence[str] | None,
    method_names: Sequence[str] | None,
    quantities: Sequence[str] | None,
    quick: bool = False,
    seed: int = 0,
) -> Plan:
    """Return the plan for what was asked for, defaults for the rest.

    Raises
    ------
    UnknownNameError
        For a robot, method or quantity that nobody knows.
    """
    for quantity in quantities or ():
        if quantity.replace("-", "_") not in QUANTITIES:
            raise UnknownNameError(f"no quantity is called {quantity!r}; {near(quantity, QUANTITIES)}")
    wanted = tuple(quantity.replace("-", "_") for quantity in quantities or ())
    chosen = wanted or (QUICK_QUANTITIES if quick else tuple(QUANTITIES))
    names = tuple(dict.fromkeys(methods.get(name).name for name in method_names or methods.names()))
    names = tuple(sorted(names, key=_rank))
    found: dict[str, Robot] = {}
    sources: dict[str, str] = {}
    left_out: dict[str, str] = {}
    defaults = QUICK_ROBOTS if quick else QUICK_ROBOTS + MORE_ROBOTS
    for name in robot_names or defaults:
        try:
            robot = robots.load(name)
        except UnknownNameError as error:
            if robot_names:
                raise
            left_out[name] = str(error)  # a default that comes with an optional package
            continue
        source = str(Path(name).absolute()) if Path(name).is_file() else name
        if sources.setdefault(robot.name, source) != source:
            raise DynbenchError(f"{sources[robot.name]} and {source} both hold a robot {robot.name!r}; rename one")
        found[robot.name] = robot
    return Plan(found, sources, names, chosen, quick, seed, left_out)


def _rank(name: str) -> tuple[bool, bool, bool, str]:
    """The order of columns: the reference, formulations, the floor, other engines."""
    method = methods.get(name)
    return name != REFERENCE, bool(method.requires), method.floor, name


def _too_much(method: Method, robot: Robot) -> str:
    """Why a method is left out of a quick run: ten more kernels to compile that say little new."""
    if robot.is_tree or method.name == REFERENCE or type(method).prepare is not KernelMethod.prepare:
        return ""
    return f"left to the full run: {method.name} reaches closed loops by the same projection as {REFERENCE}"


class Matrix:
    """Why each robot x method x quantity has no number; "" while it may get one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.reasons: dict[tuple[str, str, str], str] = {}
        for robot_name, robot in plan.robots.items():
            for name in plan.methods:
                method = methods.get(name)
                # those of other packages are asked in processes of their own, see `stages.ask_whom`
                reason = None if is_foreign(method) else method.supports(robot)
                refusal = reason or (_too_much(method, robot) if plan.quick else "")
                for quantity in plan.quantities:
                    missing = "" if quantity in method.computes else f"{name} does not compute {quantity}"
                    self.reasons[robot_name, name, quantity] = refusal or missing

    def able(self, robot: str, method: str) -> list[str]:
        """The quantities that a method may still be asked for."""
        return [quantity for quantity in self.plan.quantities if not self.reasons[robot, method, quantity]]

    def pairs(self) -> list[tuple[str, str]]:
        """Robot and method, wherever there is something to compute."""
        return [(robot, name) for robot in self.plan.robots for name in self.plan.methods if self.able(robot, name)]

    def refuse(self, robot: str, method: str, quantity: str, reason: str) -> None:
        """Rule a cell out; the first reason stays."""
        if reason and not self.reasons[robot, method, quantity]:
            self.reasons[robot, method, quantity] = reason

    def cells(self) -> tuple[list[Cell], dict[Cell, str]]:
        """Return the cells to time (methods innermost, an A/A pair in each group) and the others with their reasons."""
        wanted: list[Cell] = []
        refused: dict[Cell, str] = {}
        for robot, quantity, mode, rows in self._groups():
            first = True
            for name in self.plan.methods:
                cell = Cell(self.plan.sources[robot], name, quantity, mode, rows)
                reason = self.reasons[robot, name, quantity]
                if reason:
                    refused[cell] = reason
                    continue
                wanted.append(cell)
                if first and not methods.get(name).floor:
                    wanted.append(Cell(cell.robot, name, quantity, mode, rows, again=True))
                    first = False
                wanted.extend(self._engine_cells(cell))
        return wanted, refused

    def _groups(self) -> Iterator[tuple[str, str, str, int]]:
        for robot in self.plan.robots:
            for quantity in self.plan.quantities:
                for mode, rows in self.plan.modes:
                    yield robot, quantity, mode, rows

    @staticmethod
    def _engine_cells(cell: Cell) -> list[Cell]:
        """Beside a peer's wrapped call and batch, its own."""
        if cell.quantity not in engines.QUANTITIES_OF.get(cell.method, ()):
            return []
        own = [mode for mode, answered in COMPARED_WITH.items() if answered == cell.mode]
        return [Cell(cell.robot, cell.method, cell.quantity, mode, cell.rows) for mode in own]
