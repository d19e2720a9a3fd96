"""Faults that an earlier check did not find: it tried no such states, robots, sizes and counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.methods.base import Solver
from dynbench.robots.joints import JointKind
from faults.behaviour import twist, where
from faults.planting import HANDLE, On, Plant, add, behaviour, numbers

Call = Callable[..., Any]
ESCAPED: list[str] = []
ALIGNED = ("aligned-tree-12",)
SMALL = 1e-6  # relative error of a fault


def escaped(label: str, plant: Plant, **options: Any) -> None:
    ESCAPED.append(label)
    add(label, plant, **options)


# ---------------------------------------------------------------------- states


def speed(on: On, q: Any, v: Any, *rest: Any) -> Any:
    return np.abs(v).max(axis=1)


def coordinates(kind: JointKind) -> Callable[[On, Any], Any]:
    """The numbers in q of the joints of a kind; of free ones the position."""

    def chosen(on: On, q: Any) -> Any:
        first = on.robot.iq[on.robot.kind == kind]
        return q[:, np.concatenate([first + k for k in range(3 if kind == JointKind.FREE else 1)])]

    return chosen


angles, travel, position = map(coordinates, (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FREE))

STATES: dict[str, Callable[..., Any]] = {
    "angles beyond pi": lambda on, q, *s: np.abs(angles(on, q)).max(axis=1) > 3.1416,
    "angles beyond three turns": lambda on, q, *s: np.abs(angles(on, q)).max(axis=1) > 6.0 * np.pi,
    "negative angles beyond a turn": lambda on, q, *s: angles(on, q).min(axis=1) < -2.0 * np.pi,
    "travel beyond 1 m": lambda on, q, *s: np.abs(travel(on, q)).max(axis=1) > 1.001,
    "positions beyond 4 m": lambda on, q, *s: np.abs(position(on, q)).max(axis=1) > 4.0,
    "rates above 20": lambda on, *s: speed(on, *s) > 20.0,
    "rates below 0.1": lambda on, *s: speed(on, *s) < 0.1,
    "rates below 1e-4": lambda on, *s: (speed(on, *s) < 1e-4) & (speed(on, *s) > 0.0),
    "rest": lambda on, *s: speed(on, *s) == 0.0,
}
for words, mask in STATES.items():
    escaped(f"wrong at {words}", where(mask, twist(SMALL)))
pushing = where(STATES["rates above 20"], twist(SMALL), "forward_dynamics")
escaped("wrong in forward dynamics at rates above 20", pushing)
escaped("wrong in bias at rest", where(STATES["rest"], twist(SMALL), "bias"))
escaped("wrong in M at angles beyond pi", where(STATES["angles beyond pi"], twist(SMALL), "mass_matrix"))
escaped("wrong without acceleration", where(lambda on, q, v, a: ~a.any(axis=1) & v.any(axis=1), twist(SMALL)))
escaped("wrong at rest with acceleration", where(lambda on, q, v, a: a.any(axis=1) & ~v.any(axis=1), twist(SMALL)))


# ---------------------------------------------------------------------- robots


def with_axis(*axis: float) -> Callable[..., Any]:
    """All states, if a joint of the robot has exactly this axis."""
    return lambda on, q, *s: np.full(len(q), bool((on.robot.axis == np.array(axis)).all(axis=1).any()))


for axis in np.concatenate([np.eye(3), -np.eye(3)]):
    escaped(f"wrong for the axis {axis.astype(int).tolist()}", where(with_axis(*axis), twist(SMALL)), robots=ALIGNED)


def on_moving_parent(on: On, q: Any, *state: Any) -> Any:
    carried = on.robot.parent[on.robot.kind == JointKind.FREE] >= 0
    return np.full(len(q), bool(carried.any()))


escaped("wrong for more than six bodies", where(lambda on, q, *s: np.full(len(q), on.robot.n > 6), twist(SMALL)))
escaped("wrong for free joints on moving bodies", where(on_moving_parent, twist(SMALL)))

MODELS: dict[str, Solver] = {}


def kept_by_name(on: On) -> dict[str, Call]:
    solver = MODELS.setdefault(on.robot.name, on.solver)
    return {name: getattr(solver, name) for name in solver.computes}


escaped("model kept by the robot's name", kept_by_name)


# ---------------------------------------------------------------------- wrenches


def shared_wrench(call: Call) -> Call:
    """One wrench for a batch is used for its first state alone."""

    def careless(*state: Any, wrench: Any = None, **options: Any) -> Any:
        rows = np.shape(state[0] if state else options["q"])
        if wrench is not None and np.ndim(wrench) == 2 and len(rows) == 2:
            each = np.zeros((rows[0], *np.shape(wrench)))
            each[:1] = wrench
            wrench = each
        return call(*state, wrench=wrench, **options)

    return careless


def pushed(quantity: str) -> Plant:
    """Another result if there are wrenches."""

    def function(on: On, wrench: Any, *state: Any) -> Any:
        right = getattr(on.solver, quantity)(*state, wrench=wrench)
        return right if wrench is None else right * (1.0 + SMALL)

    return numbers(**{quantity: function})


for quantity in ("inverse_dynamics", "forward_dynamics", "bias"):
    escaped(f"one wrench for all used for the first state only, {quantity}", behaviour(quantity, shared_wrench))
    escaped(f"wrong with wrenches, {quantity}", pushed(quantity))


# ---------------------------------------------------------------------- handles, batches, calls, threads, out


def wrong_handle(quantity: str, chosen: Callable[..., bool]) -> Plant:
    """The unchecked function is wrong at the states for which ``chosen(q, *others)`` holds."""

    def plant(on: On) -> dict[str, Call]:
        def get(wrench: bool) -> Call:
            right = on.solver.handle(quantity, wrench)

            def handle(*inputs: Any) -> int:
                status: int = right(*inputs)
                if chosen(*inputs[:2]):
                    inputs[-1][:] *= 1.0 + SMALL
                return status

            return handle

        return {HANDLE + quantity: get}

    return plant


escaped("handle wrong everywhere", wrong_handle("inverse_dynamics", lambda *s: True))
escaped("handle wrong where q0 > 1", wrong_handle("inverse_dynamics", lambda q, *s: q[0] > 1.0))
escaped("handle of M wrong where q0 < -1", wrong_handle("mass_matrix", lambda q, *s: q[0] < -1.0))
escaped("handle wrong at rest", wrong_handle("forward_dynamics", lambda q, v, *s: not v.any()))


def long_batches(call: Call) -> Call:
    def careless(*state: Any, **options: Any) -> Any:
        result = call(*state, **options)
        q = state[0] if state else options["q"]
        if np.ndim(q) == 2 and len(q) >= 1000:
            result[900:] *= 1.0 + SMALL
        return result

    return careless


def counted(call: Call) -> Call:
    calls = itertools.count(1)

    def careless(*state: Any, **options: Any) -> Any:
        result = call(*state, **options)
        return result if next(calls) < 1000 else np.multiply(result, 1.0 + SMALL, out=result)

    return careless


def threads_of(count: int) -> Callable[[Call], Call]:
    def change(call: Call) -> Call:
        def careless(*state: Any, threads: int | None = 1, **options: Any) -> Any:
            result = call(*state, threads=threads, **options)
            return result if threads != count else np.multiply(result, 1.0 + SMALL, out=result)

        return careless

    return change


def adding(call: Call) -> Call:
    """Adds to what is in ``out``, unless that is NaN."""

    def careless(*state: Any, out: Any = None, **options: Any) -> Any:
        before = None if out is None else np.nan_to_num(out.copy())
        result = call(*state, out=out, **options)
        if before is not None:
            result += before
        return result

    return careless


for quantity in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
    escaped(f"wrong in batches of 1000 and more, {quantity}", behaviour(quantity, long_batches))
    escaped(f"wrong from call number 1000 on, {quantity}", behaviour(quantity, counted))
    escaped(f"wrong in three threads, {quantity}", behaviour(quantity, threads_of(3)))
    escaped(f"adds to out, {quantity}", behaviour(quantity, adding))

