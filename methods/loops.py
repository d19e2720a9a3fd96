"""Closed loops for every kernel method: its tree kernels inside those of `kernels.projection` and `kernels.nominal`.

Their kernels call ``tree_inverse_dynamics``, ``tree_mass_matrix`` and ``tree_reactions``. For each method they are
copied with these names bound to the method's own kernels (`with_globals`): all methods share one source, and each copy
compiles to machine code like any other kernel.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynbench.methods.base import Solver
from dynbench.methods.kernel_run import Kernel, KernelRun
from dynbench.methods.kernels import closure, nominal, projection
from dynbench.methods.kernels.scalar import generic, with_globals
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.methods.kernel_method import KernelMethod

# quantity with loops -> the tree kernels it is made of
NEEDS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("inverse_dynamics",),
    "forward_dynamics": ("inverse_dynamics", "mass_matrix"),
    "mass_matrix": ("mass_matrix",),
    "bias": ("inverse_dynamics",),
    "reactions": ("inverse_dynamics", "reactions"),
    "multipliers": ("inverse_dynamics",),
    "regressor": ("regressor",),
}
UNDETERMINED = ("reactions", "multipliers")  # not unique if the robot has redundant closures
ONE_FORCE_EACH = ("mass_matrix", "bias")  # of the actuated coordinates: as many as there are degrees of freedom

# numbers of workspace that a quantity needs besides that of the tree kernels
ROOM: dict[str, Callable[[Robot], int]] = {
    "regressor": lambda robot: robot.nv * projection.PARAMETERS * robot.n,  # that of the tree
}


def looped_solver(method: KernelMethod, robot: Robot, own: Mapping[str, Kernel] = MappingProxyType({})) -> Solver:
    """Return the solver of ``method`` for a robot with closed loops.

    At regular states of robots without redundant closures or actuators, `kernels.projection` serves; where it gives no
    number, and for all other robots, `kernels.nominal`.

    ``own`` are kernels, on the model of `kernels.closure.pack`, that the method has instead of the shared ones.
    """
    analysis = robot.loop_analysis
    packed = method.pack(robot)
    partitioned = not analysis.redundant and len(robot.actuated) == analysis.dof
    model = closure.pack(robot, packed, analysis.independent)
    wide = nominal.pack(robot, packed)
    common, wide_common = closure.layout(robot, analysis.rank)[-1], nominal.layout(robot)[-1]
    home = getattr(method, "home", type(method).__module__)  # whose sources the compiled code is cached under
    runs: dict[str, KernelRun] = {}
    for quantity, needs in NEEDS.items():
        if not all(name in method.kernels for name in needs) or undetermined(quantity, robot):
            continue
        inner = {f"tree_{name}": method.kernels[name] for name in needs}
        size = max(method.work_size(robot, name) for name in {quantity, *needs} & set(method.kernels))
        size += ROOM[quantity](robot) if quantity in ROOM else 0
        run = None
        if quantity not in UNDETERMINED:
            kernel = around(getattr(nominal, quantity), home, **inner)
            run = KernelRun(kernel, quantity, robot, wide, wide_common + size, pivots=True)
        if partitioned:
            kernel = own.get(quantity) or around(getattr(projection, quantity), home, **inner)
            run = KernelRun(kernel, quantity, robot, model, common + size, otherwise=run)
        assert run is not None
        runs[quantity] = run
    calls = {name: run.checked() for name, run in runs.items()}
    solver = Solver(method, robot, calls, {name: run.unchecked for name, run in runs.items()}, model)
    if "forward_dynamics" in runs:
        moves = around(nominal.accelerate, home, tree_inverse_dynamics=method.kernels["inverse_dynamics"])
        kernel = around(nominal.follow, home, tree_mass_matrix=method.kernels["mass_matrix"], accelerate=moves)
        size = wide_common + max(method.work_size(robot, name) for name in NEEDS["forward_dynamics"])
        thorough = nominal.pack(robot, packed, thorough=True)
        stage, accepted = (KernelRun(kernel, "follow", robot, each, size) for each in (wide, thorough))
        solver.follow = Follow(robot, stage, accepted)
    return solver


def undetermined(quantity: str, robot: Robot) -> bool:
    """Whether a quantity is not determined by the dynamics of this robot."""
    found = robot.loop_analysis
    if quantity in UNDETERMINED:
        return found.redundant or len(robot.actuated) > found.dof
    return quantity in ONE_FORCE_EACH and len(robot.actuated) > found.dof


class Followed(NamedTuple):
    """A state moved onto the loops, and what was found there."""

    q: FloatArray  # (nq,)
    v: FloatArray  # (nv,)
    a: FloatArray  # (nv,)
    off: float  # residual of the loops at the state as given, over their length
    left: float  # and at this one
    rate: float  # of A v, v as given
    ratio: float  # last singular value of the loops, by their nominal rank, over the first; small: nearly singular


class Follow:
    """For integrators: states are moved onto the loops, then accelerated (`kernels.nominal.follow`).

    ``stage(q, v, tau, wrench)`` for stages of a step, ``accepted(...)`` for accepted states, whose loops are closed to
    rounding. Both give numbers through singular positions, on the branch on which the velocity is continuous.
    """

    def __init__(self, robot: Robot, stage: KernelRun, accepted: KernelRun) -> None:
        self.robot = robot
        self.stages = stage
        self._runs = {"stage": stage, "accepted": accepted}
        self._calls: dict[tuple[str, bool], Callable[..., int]] = {}
        self._out = np.empty(stage.shape)

    def stage(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None = None) -> Followed:
        """One or two Newton steps."""
        return self._call("stage", q, v, tau, wrench)

    def accepted(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None = None) -> Followed:
        """Newton steps to rounding."""
        return self._call("accepted", q, v, tau, wrench)

    def _call(self, which: str, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> Followed:
        key = which, wrench is not None
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = self._runs[which].unchecked(wrench is not None)
        out, nq, nv = self._out, self.robot.nq, self.robot.nv
        call(q, v, tau, wrench, out)
        a, moving, moved, rest = np.split(out.copy(), (nv, 2 * nv, 2 * nv + nq))
        return Followed(moved, moving, a, *rest.tolist())


def around(kernel: Kernel, home: str, **inner: Kernel) -> Kernel:
    """Return a copy of ``kernel`` with the named globals replaced.

    ``home`` is a module that imports, directly or not, everything that is called: its sources key the compiled code.
    """
    return _copy(kernel, home, tuple(sorted(inner.items())))


@functools.cache
def _copy(kernel: Kernel, home: str, inner: tuple[tuple[str, Kernel], ...]) -> Kernel:
    # The name becomes a file name, so the list of bound functions is shortened to a digest.
    names = " ".join(f"{function.__module__}.{function.__qualname__}" for _, function in inner)
    digest = hashlib.sha256(names.encode()).hexdigest()[:12]
    return generic(with_globals(kernel, f"{kernel.__module__}.{kernel.__qualname__}_{digest}", home, dict(inner)))
