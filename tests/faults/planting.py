"""A method with a fault, and how faults are planted.

Each is Newton-Euler with one thing changed: the robot it is computed for, what goes into a quantity, what comes out of
it, or how it behaves as a function. Whatever the fault does not touch is right, ``out=`` and wrenches included, so that
nothing is found for another reason. Functions of numbers see batches: q (N, nq), wrench None or (N, n, 6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynbench import methods
from dynbench.methods.base import Method, Solver
from dynbench.robots.robot import Robot

TREES = ("random-tree-9-seed2", "random-tree-12-seed1")  # of the robots that `dynbench check` takes by default


class On(NamedTuple):
    """What a fault is planted in."""

    solver: Solver
    robot: Robot


HANDLE = "handle of "  # before a quantity: its unchecked function, as of `Solver.handle`

Plant = Callable[[On], dict[str, Callable[..., Any]]]  # the quantities that are replaced


@dataclass(frozen=True)
class Fault(Method):
    """A method with a fault, computed by another that has none."""

    label: str
    plant: Plant
    base: Method
    robots: tuple[str, ...] = TREES
    states: int = 40  # enough to have the special configurations

    name: ClassVar[str] = "faulty"
    title: ClassVar[str] = "A method with a fault"
    reference: ClassVar[str] = "a test"
    cost: ClassVar[str] = "O(n)"
    loops: ClassVar[bool] = True
    elastic: ClassVar[bool] = True

    def prepare(self, robot: Robot) -> Solver:
        right = self.base.prepare(robot)
        quantities = {name: right.whole(name) for name in right.computes}
        planted = self.plant(On(right, robot))
        handles = {name.removeprefix(HANDLE): get for name, get in planted.items() if name.startswith(HANDLE)}
        changed = {name: function for name, function in planted.items() if not name.startswith(HANDLE)}
        return Solver(self, robot, {**quantities, **changed}, {**right._handles, **handles})


NEWTON_EULER = methods.get("newton-euler")
FAULTS: list[Fault] = []


def add(label: str, plant: Plant, base: Method = NEWTON_EULER, **options: Any) -> None:
    FAULTS.append(Fault(label, plant, base, **options))


def numbers(**functions: Callable[..., Any]) -> Plant:
    """Quantities by functions ``f(on, wrench, *state)`` of a batch; single states, out= and threads= are seen to."""

    def plant(on: On) -> dict[str, Callable[..., Any]]:
        def public(quantity: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*state: Any, wrench: Any = None, threads: int | None = 1, out: Any = None, **named: Any) -> Any:
                arrays = [np.asarray(x, dtype=float) for x in (*state, *named.values())]
                single = arrays[0].ndim == 1
                rows = [np.atleast_2d(x) for x in arrays]
                each = None if wrench is None else np.broadcast_to(wrench, (len(rows[0]), on.robot.n, 6))
                result = np.asarray(function(on, each, *rows))
                result = result[0] if single else result
                if out is None:
                    return result
                out[...] = result
                return out

            return call

        return {quantity: public(quantity, function) for quantity, function in functions.items()}

    return plant


def behaviour(quantity: str, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Plant:
    """A quantity by another function of the same arguments, whatever they are."""
    return lambda on: {quantity: change(getattr(on.solver, quantity))}


def of_another_robot(**fields: Callable[[Robot], Any]) -> Plant:
    """Everything, computed for a robot with other numbers."""

    def plant(on: On) -> dict[str, Callable[..., Any]]:
        other = replace(on.robot, **{name: value(on.robot) for name, value in fields.items()})
        solver = on.solver.method.prepare(other)
        return {name: solver.whole(name) for name in solver.computes}

    return plant


def tau(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    return on.solver.inverse_dynamics(q, v, a, wrench=wrench)
