"""What is timed: cells of robot x method x quantity x mode, and the very call behind each.

    call           one state through the checked public call, as a script uses it
    unchecked      one state through `Solver.handle`, as a control loop uses it
    batch          rows of states in one call, one thread, into a preallocated array
    threads        the same with as many threads as there are processors
    engine         another engine's own call from Python for one state, without our checks and conversions
    engine-batch   the engine's own batch call, one thread; if it has none, its call in a loop that stores the results

The engine modes are the ones to measure a peer by: what our wrapper adds to it is not its fault. A cell may be there
twice (``again``): the two are the same code, so their ratio is the noise of the measurement.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.checks.evaluate import Checked, with_tau
from dynbench.benchmarks.checks.sampling import Sample, draw
from dynbench.methods.base import QUANTITIES, Solver, width
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.robot import FloatArray, Robot

SINGLE = ("call", "unchecked", "engine")
BATCH = ("batch", "threads", "engine-batch")
MODES = (*SINGLE, *BATCH)
BLOCK = 8  # smallest batch that is timed when a call takes too long
UNCHECKED = (16, None)  # states and forces of a robot that no check was run on
DISTINCT = 192  # rows after which all samples repeat: a multiple of the 64, 16 or 3 states of a check
MEMORY = 256e6  # bytes that the arrays of one batch may take


class NotTimed(Exception):
    """A cell that is not worth its time, with the reason."""


@dataclass(frozen=True)
class Cell:
    """One thing to time; ``robot`` as `robots.load` takes it."""

    robot: str
    method: str
    quantity: str
    mode: str
    rows: int = 1
    again: bool = False

    @property
    def label(self) -> str:
        """The method's name, told from its twin's in an A/A pair."""
        return f"{self.method} (again)" if self.again else self.method

    @property
    def key(self) -> str:
        return "|".join((self.robot, self.label, self.quantity, self.mode, str(self.rows)))

    @property
    def group(self) -> str:
        """What is compared with each other."""
        return f"{self.robot} {self.quantity} {self.mode} {self.rows}"

    def plain(self) -> dict[str, Any]:
        return asdict(self)


class Timed:
    """A call with its arguments, ready for the clock."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, rows: int = 1, **keywords: Any) -> None:
        self.function = function
        self.arguments = arguments
        self.keywords = keywords
        self.rows = rows

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.keywords)

    def seconds(self) -> float:
        start = time.perf_counter()
        self()
        return time.perf_counter() - start


@functools.cache
def load(robot: str) -> Robot:
    return robots.load(robot)


def solver(robot: str, method: str) -> Solver:
    """Return what a method prepared for a robot, once for as long as that robot's cells last."""
    prepared = _prepared(robot)
    if method not in prepared:
        prepared[method] = methods.get(method).prepare(load(robot))
    return prepared[method]


@functools.lru_cache(maxsize=1)  # cells come robot by robot, and what Pinocchio has for 256 bodies takes a gigabyte
def _prepared(robot: str) -> dict[str, Solver]:
    return {}


@functools.lru_cache(maxsize=4)
def sample(robot: str, seed: int, checked: Checked = UNCHECKED) -> Sample:
    """Return the states and forces at which the methods of a robot were checked."""
    states, forces = checked
    return with_tau(draw(load(robot), states, seed), forces)


def states(robot: str, rows: int, seed: int, checked: Checked = UNCHECKED) -> dict[str, FloatArray]:
    """Return so many rows of the states that were checked, over and over: kernels do not branch on data."""
    found = sample(robot, seed, checked)
    return {name: np.resize(getattr(found, name), (rows, width(found.robot, name))) for name in ("q", "v", "a", "tau")}


def timed(
    cell: Cell, seed: int = 0, call_limit: float = 0.1, give_up: float = 5.0, checked: Checked = UNCHECKED
) -> Timed:
    """Return the call of a cell, compiled and warm.

    Parameters
    ----------
    seed, checked
        Of the check of the cell's robot: how many states, and the forces that go with them.
    call_limit : float
        Seconds that one call may take; a larger batch is cut to as many whole blocks as fit.
    give_up : float
        Seconds one block of eight states (or one single call) may take; beyond, `NotTimed` is raised.
    """
    if cell.mode in SINGLE:
        ready = _build(cell, 1, seed, checked)
        ready()
        _worth_it(ready.seconds(), 1, give_up)
        return ready
    rows = min(cell.rows, BLOCK)
    one = _build(cell, 1, seed, checked)
    one()
    # kernels do eight states at once; of others, eight take eight times as long, which need not be waited for
    times = 1 if isinstance(methods.get(cell.method), KernelMethod) else rows
    _worth_it(one.seconds() * times, times, give_up)
    block = _build(cell, rows, seed, checked)
    block()
    seconds = block.seconds()
    _worth_it(seconds, block.rows, give_up)
    if cell.rows <= BLOCK:
        return block
    rows = cell.rows
    if seconds / block.rows * rows > call_limit:
        rows = max(BLOCK, int(call_limit * block.rows / seconds) // BLOCK * BLOCK)
    ready = _build(cell, rows, seed, checked)
    ready()
    return ready


def _worth_it(seconds: float, count: int, give_up: float) -> None:
    if seconds > give_up:
        states = f"{count} states take" if count > 1 else "1 state takes"
        raise NotTimed(f"{states} {seconds:.2g} s, more than the limit of {give_up:g} s")


def _build(cell: Cell, rows: int, seed: int, checked: Checked) -> Timed:
    robot, quantity = load(cell.robot), QUANTITIES[cell.quantity]
    shape = quantity.shape(robot)
    size = 8.0 * rows * (int(np.prod(shape)) + sum(width(robot, name) for name in quantity.arguments))
    if size > MEMORY:
        raise NotTimed(f"{rows} states take {size / 1e6:.0f} MB, more than the limit of {MEMORY / 1e6:.0f} MB")
    given = states(cell.robot, rows, seed, checked)
    inputs = [given[name] for name in quantity.arguments]
    if cell.mode in ("engine", "engine-batch"):
        from dynbench.benchmarks.timing import engines

        return engines.timed(cell.method, robot, cell.quantity, inputs, batch=cell.mode == "engine-batch")
    ready = solver(cell.robot, cell.method)
    if cell.mode in BATCH:
        out = np.zeros((rows, *shape))
        threads = 1 if cell.mode == "batch" else None
        return Timed(getattr(ready, cell.quantity), *inputs, threads=threads, out=out, rows=rows)
    one = [np.ascontiguousarray(array[0]) for array in inputs]
    if cell.mode == "call":
        return Timed(getattr(ready, cell.quantity), *one)
    wrench = [] if quantity.arguments == ("q",) else [None]
    return Timed(ready.handle(cell.quantity), *one, *wrench, np.zeros(int(np.prod(shape))))
