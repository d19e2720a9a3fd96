"""What is timed: cells of robot x method x tier x quantity x mode, and the call of each.

    call           one state through the public call with its checks, as in a script
    unchecked      one state through `Solver.handle`, as in a control loop
    batch          rows of states in one call, one thread, into a preallocated array
    threads        the same with as many threads as there are processors
    engine         another engine's own call from Python for one state, without our checks and conversions
    engine-batch   the engine's own batch call, one thread; if it has none, its call in a loop that stores the results
    engine-threads the engine's own batch call with as many threads as there are processors

A peer is measured by the engine modes, which leave out the cost of our wrapper. A cell may be timed twice (``again``):
both are the same code, so their ratio is the noise of the measurement.

Both tiers of a method (`tiers`) and the engines are measured in the same rounds, so that each tier has its ratios to
the same calls of an engine; which method is the fastest is asked within a tier.
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
from dynbench.benchmarks.tiers import TRACED, Variant, prepare, why_not_traced
from dynbench.methods import own_calls
from dynbench.methods.base import QUANTITIES, Solver, width
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.own_calls import OwnCall
from dynbench.robots.robot import FloatArray, Robot

SINGLE = ("call", "unchecked", "engine")
BATCH = ("batch", "threads", "engine-batch", "engine-threads")
THREADS = ("threads", "engine-threads")
BLOCK = 8  # smallest batch that is timed when a call takes too long
UNCHECKED = (16, None)  # states and forces of a robot that no check was run on
DISTINCT = 192  # rows after which all samples repeat: a multiple of the 64, 16 or 3 states of a check
MEMORY = 256e6  # bytes that the arrays of one batch may take


class NotTimed(Exception):
    """A cell that would take too long or too much memory; the message is the reason."""


@dataclass(frozen=True)
class Cell:
    """One call to time; ``robot`` is the argument of `robots.load`."""

    robot: str
    method: str
    quantity: str
    mode: str
    rows: int = 1
    again: bool = False
    code: str = ""  # tier

    @property
    def variant(self) -> Variant:
        return Variant(self.method, self.code)

    @property
    def label(self) -> str:
        """The method's name, with a mark for the second of an A/A pair."""
        return f"{self.method} (again)" if self.again else self.method

    @property
    def key(self) -> str:
        tier = [self.code] if self.code == TRACED else []
        return "|".join((self.robot, self.label, *tier, self.quantity, self.mode, str(self.rows)))

    @property
    def kind(self) -> str:
        """What kind of call it is: "single", "batch" or "threads"."""
        return "threads" if self.mode in THREADS else "single" if self.mode in SINGLE else "batch"

    @property
    def group(self) -> str:
        """Cells of the same group are measured in turns; those of one tier, and engines, are compared."""
        return f"{self.robot} {self.quantity} {self.kind} {self.rows}"

    def plain(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Timed:
    """A call with its arguments, ready to be timed."""

    call: Callable[[], Any]  # nothing stands between it and the clock
    rows: int = 1
    code: str = ""  # what is called: this very code is compiled, of ours as of engines
    out: Any = None  # the array that is filled; None if the call returns the result
    own: OwnCall | None = None  # of an engine: its own call, with the state or the results

    def seconds(self) -> float:
        """The CPU seconds of one call, the smaller of two: an interrupted call must not decide what is timed."""
        found = []
        for _ in range(2):
            start = time.thread_time()
            self.call()
            found.append(time.thread_time() - start)
        return min(found)


@functools.cache
def load(robot: str) -> Robot:
    return robots.load(robot)


def solver(robot: str, method: str, code: str = "") -> Solver:
    """Return the solver of a method for a robot, which is prepared once while cells of that robot are timed."""
    prepared = _prepared(robot)
    if (method, code) not in prepared:
        prepared[method, code] = prepare(methods.get(method), load(robot), code)
    return prepared[method, code]


@functools.lru_cache(maxsize=1)  # cells are ordered by robot, and Pinocchio's model of 256 bodies takes a gigabyte
def _prepared(robot: str) -> dict[tuple[str, str], Solver]:
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
        Limit of one call in seconds; a larger batch is cut to as many whole blocks as fit.
    give_up : float
        Limit of one block of eight states (or one single call) in seconds; beyond it, `NotTimed` is raised.
    """
    if cell.mode in SINGLE:
        ready = _build(cell, 1, seed, checked)
        ready.call()
        _worth_it(ready.seconds(), 1, give_up)
        return ready
    rows = min(cell.rows, BLOCK)
    one = _build(cell, 1, seed, checked)
    one.call()
    # kernels compute eight states at once; for other methods eight states take eight times as long as one
    times = 1 if isinstance(methods.get(cell.method), KernelMethod) else rows
    _worth_it(one.seconds() * times, times, give_up)
    block = _build(cell, rows, seed, checked)
    block.call()
    seconds = block.seconds()
    _worth_it(seconds, block.rows, give_up)
    if cell.rows <= BLOCK:
        return block
    rows = cell.rows
    while block.rows < rows and seconds < call_limit / BLOCK:  # of eight states alone the call itself is a large part
        block = _build(cell, min(rows, BLOCK * block.rows), seed, checked)
        block.call()
        seconds = block.seconds()
    if seconds / block.rows * rows > call_limit:
        rows = max(BLOCK, int(call_limit * block.rows / seconds) // BLOCK * BLOCK)
    ready = _build(cell, rows, seed, checked)
    ready.call()
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
    given: dict[str, Any] = dict(states(cell.robot, rows, seed, checked))
    inputs, names = [given[name] for name in quantity.arguments], ", ".join(quantity.arguments)
    prepared = solver(cell.robot, cell.method, cell.code)
    if cell.mode.startswith("engine"):
        from dynbench.benchmarks.timing import engines

        return engines.timed(prepared, cell.quantity, inputs, cell.mode)
    if cell.code == TRACED and (reason := why_not_traced(prepared, cell.quantity)):
        raise NotTimed(reason)  # calls would use generic code
    if cell.mode in BATCH:
        # one thread is the default; said explicitly, the call takes a slower way through Python
        call = "derivatives" if quantity.parts else f"solver.{cell.quantity}"
        code = f"{call}({names}, {'' if cell.mode == 'batch' else 'threads=None, '}out=out)"
        code += f'  # derivatives = solver.whole("{cell.quantity}")' if quantity.parts else ""
        given |= {"solver": prepared, "derivatives": prepared.whole(cell.quantity), "out": np.zeros((rows, *shape))}
        return Timed(own_calls.compiled(cell.key, code, given), rows, code, given["out"])
    given = {name: np.ascontiguousarray(array[0]) for name, array in given.items()}
    if cell.mode == "call":
        code = f"solver.{cell.quantity}({names})"
        return Timed(own_calls.compiled(cell.key, code, {**given, "solver": prepared}, returns=True), code=code)
    wrench = "" if quantity.arguments == ("q",) else ", None"
    code = f'handle({names}{wrench}, out)  # handle = solver.handle("{cell.quantity}")'
    given |= {"handle": prepared.handle(cell.quantity), "out": np.zeros(int(np.prod(shape)))}
    return Timed(own_calls.compiled(cell.key, code, given), code=code, out=given["out"])
