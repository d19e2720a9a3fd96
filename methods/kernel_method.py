"""Methods made of generic kernels: single calls, batches and threads from one source.

A subclass names its kernels and the workspace they need; `prepare` packs the robot into one flat array. A quantity is
compiled when it is first called, separately for single states and batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.extras import Parts, with_extras
from dynbench.methods.kernel_run import Kernel, KernelRun, MotionRun
from dynbench.methods.kernels import tree
from dynbench.methods.loops import looped_solver
from dynbench.robots.robot import FloatArray, Robot


class KernelMethod(Method):
    """A formulation written over the generic scalar."""

    kernels: ClassVar[Mapping[str, Kernel]]  # quantity -> kernel, see `kernels.compiled` for its form
    extras: ClassVar[bool] = True
    rotors: ClassVar[bool] = False  # forward dynamics takes the armature of joints from the packed tree

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "kernels" in cls.__dict__:
            given = set(cls.kernels) | ({"bias"} if "inverse_dynamics" in cls.kernels else set())
            cls.computes = tuple(quantity for quantity in QUANTITIES if quantity in given)

    def pack(self, robot: Robot) -> FloatArray:
        """Return everything that the kernels need about the robot, as one flat array."""
        return tree.pack(robot)

    def work_size(self, robot: Robot, quantity: str) -> int:
        """Return the number of scalars of workspace that a kernel needs."""
        raise NotImplementedError(f"{type(self).__name__} must say the workspace of {quantity!r}")

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is None and robot.armature.any() and not self._forward_with_armature():
            reason = f"{self.name} does not handle the armature of joints in forward dynamics"
        return reason

    def _forward_with_armature(self) -> bool:
        solved = {"inverse_dynamics", "mass_matrix"} <= set(self.kernels)
        return self.rotors or solved or "forward_dynamics" not in self.kernels

    def parts(self, robot: Robot) -> Parts:
        """Return kernels, packed model and workspace for the spanning tree of a robot, joint extras included."""
        plain = Parts(self.kernels, self.pack(robot), partial(self.work_size, robot))
        return with_extras(plain, robot, type(self).__module__, self.rotors) if robot.has_extras else plain

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        return self.direct_solver(robot) if robot.is_tree else looped_solver(self, robot)

    def direct_solver(self, robot: Robot) -> Solver:
        """The solver whose quantities are the kernels themselves."""
        kernels, model, work = self.parts(robot)
        given = {name: KernelRun(kernel, name, robot, model, work(name)) for name, kernel in kernels.items()}
        runs: dict[str, KernelRun | MotionRun] = {**given}
        for name in self.computes:
            if QUANTITIES[name].arguments == ("q", "v"):
                runs[name] = MotionRun(given.get(name) or given["inverse_dynamics"], name)
        calls = {name: runs[name].checked() for name in self.computes}
        handles = {name: runs[name].unchecked for name in self.computes}
        return Solver(self, robot, calls, handles, model)


class TreeMethod(KernelMethod):
    """A formulation on the packed tree with ``work[quantity]`` scalars of workspace per row (bodies and ground)."""

    loops: ClassVar[bool] = True  # by projection, see `dynbench.methods.loops`
    work: ClassVar[Mapping[str, int]]

    def work_size(self, robot: Robot, quantity: str) -> int:
        return self.work[quantity] * (robot.n + 1)
