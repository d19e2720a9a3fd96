"""What exports share: which robots and quantities can be exported, names, and states with results to check against."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.derived import DerivedRun, add_derivatives
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import GENERIC_ONLY
from dynbench.methods.kernels import triangle
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.traced.graph import TooLarge
from dynbench.methods.traced.trace import Trace, trace
from dynbench.robots.errors import NotComputedError, UnsupportedError
from dynbench.robots.robot import FloatArray, Robot

STATES = 4  # that an exported program checks itself with


class Export(NamedTuple):
    """A quantity to be exported."""

    method: KernelMethod
    robot: Robot
    quantity: str
    trace: Trace

    @property
    def arguments(self) -> tuple[str, ...]:
        return QUANTITIES[self.quantity].arguments

    @property
    def shape(self) -> tuple[int, ...]:
        return QUANTITIES[self.quantity].shape(self.robot)


def traced_for_export(method: Method, robot: Robot, quantity: str, reduced: bool = True) -> Export:
    """Trace a quantity.

    Raises
    ------
    UnsupportedError, NotComputedError
        In a sentence, if there is nothing to export.
    """
    method.require(robot)
    if not isinstance(method, KernelMethod):
        raise UnsupportedError(f"method {method.name!r} is not made of kernels, and cannot be exported")
    computed = _solver(method, robot).computes
    if quantity not in computed or quantity in GENERIC_ONLY:
        listed = ", ".join(name for name in computed if name not in GENERIC_ONLY)
        raise NotComputedError(
            f"method {method.name!r} exports {listed} of robot {robot.name!r}, and not {quantity!r}"
        )
    try:
        found = trace(method, robot, quantity, reduced=reduced)
    except TooLarge as error:
        what = f"{quantity} of robot {robot.name!r} by {method.name!r}"
        raise UnsupportedError(f"{what} cannot be exported: {error}") from None
    return Export(method, robot, quantity, found)


def _solver(method: KernelMethod, robot: Robot) -> Solver:
    """All that can be traced, derivatives too."""
    solver = method.build(robot)
    add_derivatives(solver)
    return solver


def identifier(robot: Robot, quantity: str) -> str:
    """Return a name for a function in C."""
    word = re.sub(r"[^a-zA-Z0-9]+", "_", robot.name).strip("_") or "robot"
    return f"{word if not word[0].isdigit() else f'robot_{word}'}_{quantity}"


def checked_states(export: Export, seed: int = 0) -> tuple[list[FloatArray], FloatArray]:
    """Return sampled states and their results, flat, from the kernel run in plain Python: not from what is exported."""
    robot, quantity = export.robot, export.quantity
    run = _solver(export.method, robot).runs[quantity]
    q, v, a = robot.sample(STATES, seed=seed)
    inputs = [q, v, a[:, robot.actuated] if export.arguments[-1] == "tau" else a][: len(export.arguments)]
    results = np.zeros((STATES, int(np.prod(export.shape))))
    if isinstance(run, DerivedRun):
        run.generic.batch(False)(*inputs, None, results)
        return inputs, results
    for k in range(STATES):
        state = [x[k] for x in inputs]
        if len(state) == 2:
            state.append(np.zeros(robot.nv))
        out, work = np.zeros(results.shape[1]), np.full(run.size, np.nan)
        run.kernel(ONE, run.model, *state, *(() if run.form == "configuration" else (None,)), out, work)
        if run.form == "configuration":
            out = np.append(out, 0.0)[triangle.places(robot, export.shape[0])]
        results[k] = out
    return inputs, results
