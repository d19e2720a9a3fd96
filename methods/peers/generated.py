"""What baselines of generated C share: a file per quantity, compiled when the quantity is first called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.peers import native
from dynbench.robots.robot import FloatArray, Robot

COMPUTES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
MOST_COORDINATES = 64  # straight-line code of larger robots takes the compiler minutes
Sources = Callable[[Robot, str], dict[str, str]]  # the C files of a quantity, the one to compile first


class GeneratedMethod(Method):
    """A method whose quantities are generated C functions for one robot."""

    computes: ClassVar[tuple[str, ...]] = COMPUTES
    cost: ClassVar[str] = "O(n)"
    extras: ClassVar[bool] = True
    compiles: ClassVar[bool] = True
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = native.own_calls(COMPUTES)

    @classmethod
    def unavailable(cls) -> str | None:
        return super().unavailable() or native.absent("c")

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is None and robot.nv > MOST_COORDINATES:
            reason = f"straight-line code of {robot.nv} coordinates is too large, it is for {MOST_COORDINATES} at most"
        return reason


def generated_solver(method: Method, robot: Robot, sources: Sources, included: Collection[str] = ()) -> Solver:
    """Return a solver whose quantities are generated C functions of one state, in a loop over rows.

    ``included`` are the joint extras that the functions take into account, see `function_solver`.
    """
    engine = Engine(method, robot, sources)
    functions = {name: getattr(engine, name) for name in COMPUTES}
    batches = {name: functools.partial(engine.batch, name) for name in COMPUTES}
    return function_solver(method, robot, functions, engine, batches, included, engine.own_names)


class Engine:
    """The compiled functions of one robot; our coordinates are theirs."""

    def __init__(self, method: Method, robot: Robot, sources: Sources) -> None:
        self.method = method
        self.robot = robot
        self.sources = sources
        self._libraries: dict[str, native.Library] = {}

    def library(self, quantity: str) -> native.Library:
        """The compiled quantity."""
        if quantity not in self._libraries:
            files = {**self.sources(self.robot, quantity), "rows.h": (native.FOLDER / "rows.h").read_text("utf-8")}
            path = native.built(f"{self.method.name}-{quantity}", files, "c")
            self._libraries[quantity] = native.Library(self.robot, quantity, path)
        return self._libraries[quantity]

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        tau = self.library("inverse_dynamics").one(q, v, a)
        return tau if wrench is None else tau - native.joint_forces(self.robot, q, wrench)

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        if wrench is not None:
            tau = tau + native.joint_forces(self.robot, q, wrench)
        return self.library("forward_dynamics").one(q, v, tau)

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        return self.library("mass_matrix").one(q)

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        h = self.library("bias").one(q, v)
        return h if wrench is None else h - native.joint_forces(self.robot, q, wrench)

    def batch(self, quantity: str, *given: Any) -> None:
        """Fill the last argument, an array, for states in rows; the one before it is the number of threads."""
        *states, threads, out = given
        self.library(quantity).rows([np.ascontiguousarray(x) for x in states], threads, out)

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in the code of own calls stand for."""
        library = self.library(quantity)
        return {**library.own_names(inputs, threads), quantity: library.call}
