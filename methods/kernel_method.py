"""Methods made of generic kernels: single calls, batches and threads from one source.

A subclass names its kernels and how much workspace they need; `prepare` packs the robot into one flat array. Nothing
is compiled before it is called, and each quantity only at the widths it is called with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.kernel_run import Kernel, KernelRun, MotionRun
from dynbench.methods.kernels import tree
from dynbench.methods.loops import looped_solver
from dynbench.methods.springs import sprung_solver
from dynbench.robots.robot import FloatArray, Robot


class KernelMethod(Method):
    """A formulation written over the generic scalar."""

    kernels: ClassVar[Mapping[str, Kernel]]  # quantity -> kernel, see `kernels.compiled` for its form

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "kernels" in cls.__dict__:
            given = set(cls.kernels) | ({"bias"} if "inverse_dynamics" in cls.kernels else set())
            cls.computes = tuple(quantity for quantity in QUANTITIES if quantity in given)

    def pack(self, robot: Robot) -> FloatArray:
        """Return everything the kernels need to know of the robot, as one flat array."""
        return tree.pack(robot)

    def work_size(self, robot: Robot, quantity: str) -> int:
        """Return how many scalars of workspace a kernel needs."""
        raise NotImplementedError(f"{type(self).__name__} must say the workspace of {quantity!r}")

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        if robot.has_springs:
            return sprung_solver(self, robot)
        return self.direct_solver(robot) if robot.is_tree else looped_solver(self, robot)

    def direct_solver(self, robot: Robot) -> Solver:
        """The solver whose quantities are the kernels themselves."""
        model = self.pack(robot)
        given = {
            name: KernelRun(kernel, name, robot, model, self.work_size(robot, name))
            for name, kernel in self.kernels.items()
        }
        runs: dict[str, KernelRun | MotionRun] = {**given}
        for name in self.computes:
            if QUANTITIES[name].arguments == ("q", "v"):
                runs[name] = MotionRun(given.get(name) or given["inverse_dynamics"], name)
        calls = {name: runs[name].checked() for name in self.computes}
        handles = {name: runs[name].unchecked for name in self.computes}
        return Solver(self, robot, calls, handles, model)


class TreeMethod(KernelMethod):
    """A formulation on the packed tree whose workspace is so many scalars a row (bodies and ground)."""

    springs: ClassVar[bool] = True  # as external wrenches, see `dynbench.methods.springs`
    loops: ClassVar[bool] = True  # by projection, see `dynbench.methods.loops`
    work: ClassVar[Mapping[str, int]]

    def work_size(self, robot: Robot, quantity: str) -> int:
        return self.work[quantity] * (robot.n + 1)
