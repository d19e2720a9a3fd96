"""Methods made of generic kernels: single calls, batches and threads from one source.

A subclass names its kernels and the workspace they need; `prepare` packs the robot into one flat array. A quantity is
compiled when it is first called, separately for single states and batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

from dynbench.methods.base import DERIVATIVES, QUANTITIES, Method, Solver
from dynbench.methods.derived import add_derivatives
from dynbench.methods.extras import extended
from dynbench.methods.kernel_run import Code, Kernel, KernelRun
from dynbench.methods.kernels import tree
from dynbench.methods.loops import looped_solver
from dynbench.methods.springs import sprung_solver
from dynbench.robots.errors import MethodError
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

    def computes_with(self, code: str) -> tuple[str, ...]:
        """Traced code has the derivatives of all that the method's kernels compute."""
        more = [name for name, source in DERIVATIVES.items() if name not in self.computes and source in self.kernels]
        return self.computes if code == "generic" else (*self.computes, *more)

    def _forward_with_armature(self) -> bool:
        solved = {"inverse_dynamics", "mass_matrix"} <= set(self.kernels)
        return self.rotors or solved or "forward_dynamics" not in self.kernels

    def prepare(self, robot: Robot, code: Code = "generic") -> Solver:
        """Return a solver for ``robot``.

        Parameters
        ----------
        robot : Robot
        code : "generic", "traced" or "auto"
            Generic code is compiled by numba, once for all robots. Traced code is straight-line code for this robot
            alone: faster to run and to compile, and refused, with a sentence, when the robot is too large for it; it
            is made when a quantity is first called. "auto" is traced code where it can be had, else generic code.
        """
        if code not in get_args(Code):
            raise MethodError(f"method {self.name!r}: code is {code!r}, expected one of {', '.join(get_args(Code))}")
        self.require(robot)
        solver = self.build(robot)
        solver.code = code
        if code != "generic":
            add_derivatives(solver)
        for run in solver.runs.values():
            if isinstance(run, KernelRun):
                run.use(self, code)
        return solver

    def build(self, robot: Robot) -> Solver:
        """Return the solver of a robot that is supported; nothing is compiled yet."""
        made: Any = extended(self, robot)
        if robot.has_springs:
            solver = sprung_solver(made, robot)
        elif robot.is_tree:
            solver = self.direct_solver(robot) if made is self else KernelMethod.direct_solver(made, robot)
        else:
            solver = looped_solver(made, robot)
        solver.method = self
        return solver

    def direct_solver(self, robot: Robot) -> Solver:
        """The solver whose quantities are the kernels themselves."""
        model = self.pack(robot)
        runs = {}
        for name in self.computes:
            if name in DERIVATIVES and name not in self.kernels:  # of a robot with springs
                continue
            source = name if name in self.kernels else "inverse_dynamics"  # bias is inverse dynamics at a = 0
            runs[name] = KernelRun(self.kernels[source], name, robot, model, self.work_size(robot, source))
        calls = {name: run.checked() for name, run in runs.items()}
        return Solver(self, robot, calls, {name: run.unchecked for name, run in runs.items()}, model)


class TreeMethod(KernelMethod):
    """A formulation on the packed tree with ``work[quantity]`` scalars of workspace per row (bodies and ground)."""

    springs: ClassVar[bool] = True  # as external wrenches, see `dynbench.methods.springs`
    loops: ClassVar[bool] = True  # by projection, see `dynbench.methods.loops`
    work: ClassVar[Mapping[str, int]]

    def work_size(self, robot: Robot, quantity: str) -> int:
        return self.work[quantity] * (robot.n + 1)
