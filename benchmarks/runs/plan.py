"""What a benchmark run covers: robots, methods, tiers, quantities, and the cells to time.

`Plan` is the selection with its defaults; `Matrix` records, for every robot x method x tier x quantity, why it has no
number (None while it may still get one); each stage can rule out cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from dynbench import methods, robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results.verdicts import COMPARED_WITH
from dynbench.benchmarks.runs import short
from dynbench.benchmarks.runs.short import REFERENCE
from dynbench.benchmarks.tiers import BOTH, GENERIC, TIERS, Variant, tiers, variants
from dynbench.benchmarks.timing import engines
from dynbench.benchmarks.timing.cases import Cell
from dynbench.methods.base import QUANTITIES, Method
from dynbench.methods.registry import is_foreign
from dynbench.robots.errors import DynbenchError, UnknownNameError, near
from dynbench.robots.robot import Robot
from dynbench.robots.sources import Options

MORE_ROBOTS = ("pendulum", "two-link", "puma560", "ur5", "anymal", "tree-30", "four-bar", "delta")
QUICK_ROWS, QUICK_THREAD_ROWS = (1000,), ()  # one thread is enough to compare methods
ROWS, THREAD_ROWS = (1, 10, 100, 1000, 10_000, 100_000), (1000, 100_000)


@dataclass(frozen=True)
class Plan:
    """The selection; ``robots`` by name, with the arguments of `robots.load` in ``sources``."""

    robots: dict[str, Robot]
    sources: dict[str, str]
    methods: tuple[str, ...]
    quantities: tuple[str, ...]
    quick: bool = False
    seed: int = 0
    left_out: dict[str, str] = field(default_factory=dict)  # robots that are not available, and why
    codes: tuple[str, ...] = TIERS
    asked: tuple[str, ...] = ()  # methods that were named
    short: bool = False  # the default run, of which nothing special was asked: see `short`
    whole: bool = False  # the full run of which neither robots nor methods were named
    named: tuple[str, ...] = ()  # quantities that were

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The methods in their tiers."""
        return variants(self.methods, self.codes)

    @property
    def peers(self) -> tuple[str, ...]:
        """The methods that are other engines."""
        return tuple(name for name in self.methods if is_engine(methods.get(name)))

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
    code: str = BOTH,
) -> Plan:
    """Return the plan for a selection, with defaults for what is not given.

    Raises
    ------
    UnknownNameError
        For an unknown robot, method or quantity.
    """
    named = tuple(map(known_quantity, quantities or ()))
    unnamed = not (robot_names or method_names)
    nothing_asked = quick and unnamed
    default = (*short.QUANTITIES, *(short.ON_ONE_ROBOT if nothing_asked else ())) if quick else tuple(QUANTITIES)
    chosen = named or default
    every = tuple(name for name in methods.names() if not (quick and methods.get(name).compiles))
    names = with_reference(method_names) if method_names else every
    names = tuple(sorted(names, key=_rank))
    found: dict[str, Robot] = {}
    sources: dict[str, str] = {}
    left_out: dict[str, str] = {}
    defaults = short.ROBOTS if quick else short.ROBOTS + MORE_ROBOTS
    for name in robot_names or defaults:
        try:
            robot = robots.load(name)
        except UnknownNameError as error:
            if robot_names:
                raise
            left_out[name] = str(error)  # a default that needs an optional package
            continue
        source = Options.absolute(name)
        if sources.setdefault(robot.name, source) != source:
            raise DynbenchError(f"{sources[robot.name]} and {source} both hold a robot {robot.name!r}; rename one")
        found[robot.name] = robot
    asked = names if method_names else ()
    head = (found, sources, names, chosen, quick, seed, left_out, tiers(code), asked, nothing_asked)
    return Plan(*head, whole=unnamed and not quick, named=named)


def with_reference(names: Sequence[str]) -> tuple[str, ...]:
    """Return the methods of these names, and the reference beside a single one: alone it is compared with nothing."""
    chosen = tuple(dict.fromkeys(methods.get(name).name for name in names))
    return (*chosen, REFERENCE) if len(chosen) == 1 and REFERENCE not in chosen else chosen


def known_quantity(name: str) -> str:
    """Return the name of a quantity, which may be written with dashes."""
    quantity = name.replace("-", "_")
    if quantity not in QUANTITIES:
        raise UnknownNameError(f"no quantity is called {name!r}; {near(name, QUANTITIES)}")
    return quantity


def _rank(name: str) -> tuple[bool, bool, bool, str]:
    """The order of columns: the reference, formulations, the floor, other engines."""
    method = methods.get(name)
    return name != REFERENCE, is_engine(method), method.floor, name


def is_engine(method: Method) -> bool:
    """Whether a method is another engine: it needs one to be installed, or offers calls of its own."""
    return bool(method.requires or method.own_calls)


class Matrix:
    """Why each robot x method x tier x quantity has no number; None while it may get one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.missing: dict[tuple[str, Variant, str], Missing | None] = {}
        self.not_run: dict[tuple[str, Variant], Missing] = {}  # operations are counted, nothing else
        self.not_timed: dict[tuple[str, Variant], Missing] = {}  # neither of these are
        for robot_name, robot in plan.robots.items():
            for variant in plan.variants:
                method = methods.get(variant.method)
                # plugins are queried in separate processes, see `stages.query_plugin_support`
                reason = None if is_foreign(method) else method.supports(robot)
                chosen = short.choice(plan, robot, variant) if reason is None else short.Choice()
                computes = method.computes_with(variant.code or GENERIC)
                for quantity in plan.quantities:
                    absent = "" if quantity in computes else f"{method.name} does not compute {quantity}"
                    found = Missing(Outcome.UNSUPPORTED, reason or absent) if reason or absent else None
                    left = chosen.any or short.left_quantity(plan, robot, variant, quantity)
                    self.missing[robot_name, variant, quantity] = found or left
                if chosen.run:
                    self.not_run[robot_name, variant] = chosen.run
                if left := chosen.run or chosen.time:
                    self.not_timed[robot_name, variant] = left

    def able(self, robot: str, variant: Variant) -> list[str]:
        """The quantities that a method may still compute for a robot."""
        return [quantity for quantity in self.plan.quantities if not self.missing[robot, variant, quantity]]

    def checked(self, robot: str, variant: Variant) -> list[str]:
        """The quantities of a method that are evaluated on a robot: all that are not left to another run."""
        left = {
            quantity
            for quantity in self.plan.quantities
            if (missing := self.missing[robot, variant, quantity]) and missing.outcome is Outcome.LEFT_OUT
        }
        return [quantity for quantity in self.plan.quantities if quantity not in left]

    def pairs(self) -> list[tuple[str, Variant]]:
        """The pairs of robot and method, in a tier, with at least one quantity."""
        return [(robot, one) for robot in self.plan.robots for one in self.plan.variants if self.able(robot, one)]

    def run(self) -> list[tuple[str, Variant]]:
        """The pairs of robot and method, in a tier, that are tried out and checked."""
        return [pair for pair in self.pairs() if pair not in self.not_run]

    def refuse(self, robot: str, variant: Variant, quantity: str, missing: Missing | None) -> None:
        """Rule out a cell; the first reason stays."""
        if missing and not self.missing[robot, variant, quantity]:
            self.missing[robot, variant, quantity] = missing

    def cells(self) -> tuple[list[Cell], dict[Cell, Missing]]:
        """Return the cells to time, and why the others are not.

        Methods are innermost. The first method of each tier and every engine's own call are there twice, as A/A pairs.
        """
        wanted: list[Cell] = []
        refused: dict[Cell, Missing] = {}
        for robot, quantity, mode, rows in self._groups():
            paired: set[str] = set()  # tiers
            for variant in self.plan.variants:
                if not short.has_mode(self.plan, robot, variant.method, quantity, mode, rows):
                    continue
                cell = Cell(self.plan.sources[robot], variant.method, quantity, mode, rows, code=variant.code)
                missing = self.missing[robot, variant, quantity] or self.not_timed.get((robot, variant))
                missing = missing or short.untimed_quantity(self.plan, quantity)
                if missing:
                    refused[cell] = missing
                    continue
                wanted.extend(self._engine_cells(self.plan.robots[robot], cell))
                if left := short.untimed(self.plan, robot, cell):
                    refused[cell] = left
                    continue
                wanted.append(cell)
                tier = variant.code or GENERIC
                if tier not in paired and not methods.get(variant.method).floor:
                    wanted.append(replace(cell, again=True))
                    paired.add(tier)
        return wanted, refused

    def _groups(self) -> Iterator[tuple[str, str, str, int]]:
        for robot in self.plan.robots:
            for quantity in self.plan.quantities:
                for mode, rows in self.plan.modes:
                    yield robot, quantity, mode, rows

    @staticmethod
    def _engine_cells(robot: Robot, cell: Cell) -> list[Cell]:
        """The engine's own calls that are timed beside a peer's wrapped call or batch."""
        method = methods.get(cell.method)
        own = [mode for mode, answered in COMPARED_WITH.items() if answered == cell.mode]
        own = [mode for mode in own if engines.offers(method, robot, cell.quantity, mode)]
        head = (cell.robot, cell.method, cell.quantity)
        return [Cell(*head, mode, cell.rows, again) for mode in own for again in (False, True)]
