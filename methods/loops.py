"""Closed loops for every kernel method: its tree kernels inside those of `projection`, `nominal` and `following`.

Their kernels call ``tree_inverse_dynamics``, ``tree_mass_matrix`` and ``tree_reactions``. For each method they are
copied with these names bound to the method's own kernels (`with_globals`): all methods share one source, and each copy
compiles to machine code like any other kernel.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Container, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dynbench.methods.base import Solver
from dynbench.methods.kernel_run import Kernel, KernelRun
from dynbench.methods.kernels import closure, following, nominal, projection
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
ON_LOOPS = ("inverse_dynamics", "regressor")  # of states on the loops, where redundant rows follow from the others
OF_ACCELERATE = ("tree_inverse_dynamics", "body_wrenches", "acceleration")  # what a `following.accelerate` calls

# numbers of workspace that a quantity needs besides that of the tree kernels
ROOM: dict[str, Callable[[Robot], int]] = {
    "regressor": lambda robot: robot.nv * projection.PARAMETERS * robot.n,  # that of the tree
}


def looped_solver(
    method: KernelMethod,
    robot: Robot,
    own: Mapping[str, Kernel] = MappingProxyType({}),
    parts: Mapping[str, Kernel] = MappingProxyType({}),
    whose: KernelMethod | None = None,
) -> Solver:
    """Return the solver of ``method`` for a robot with closed loops.

    At states where the rows and coordinates chosen for the robot are regular, `kernels.projection` serves, with
    redundant closures for quantities of states on the loops alone (`ON_LOOPS`); where it gives no number, and for all
    other robots, `kernels.nominal`.

    Parameters
    ----------
    method
        Its kernels are those of the spanning tree.
    own : mapping
        Kernels, on the model of `kernels.closure.pack`, instead of those of `kernels.projection`.
    parts : mapping
        Functions instead of those that `kernels.nominal` and `kernels.following` call.
    whose
        The formulation that has these ``own`` and ``parts``, and says what is computed, if it is not ``method``.
    """
    analysis = robot.loop_analysis
    packed = method.pack(robot)
    partitioned = len(robot.actuated) == analysis.dof
    rows = np.argsort(~np.isin(np.arange(analysis.rows), analysis.independent), kind="stable")  # independent ones first
    model = closure.pack(robot, packed, rows, rank=analysis.rank)
    wide = nominal.pack(robot, packed)
    common, wide_common = closure.layout(robot, len(rows))[-1], nominal.layout(robot)[-1]
    # whose sources the compiled code is cached under
    home = getattr(method, "home", type(method).__module__) if whose is None else type(whose).__module__
    runs: dict[str, KernelRun] = {}
    for quantity, needs in NEEDS.items():
        if not all(name in method.kernels for name in needs) or undetermined(quantity, robot):
            continue
        if whose is not None and quantity not in whose.computes:
            continue
        inner = _of_tree(method, needs)
        size = max(method.work_size(robot, name) for name in {quantity, *needs} & set(method.kernels))
        size += ROOM[quantity](robot) if quantity in ROOM else 0
        run = None
        if quantity not in UNDETERMINED:
            replaced = parts if quantity == "forward_dynamics" else {}
            kernel = around(getattr(nominal, quantity), home, **inner, **replaced)
            run = KernelRun(kernel, quantity, robot, wide, wide_common + size, pivots=True)
        if partitioned and (not analysis.redundant or quantity in ON_LOOPS):
            kernel = own.get(quantity) or around(getattr(projection, quantity), home, **inner)
            run = KernelRun(kernel, quantity, robot, model, common + size, run, some=analysis.redundant)
        assert run is not None
        runs[quantity] = run
    calls = {name: run.checked() for name, run in runs.items()}
    solver = Solver(whose or method, robot, calls, {name: run.unchecked for name, run in runs.items()}, model)
    if "forward_dynamics" in runs:
        size = wide_common + max(method.work_size(robot, name) for name in NEEDS["forward_dynamics"])
        models = (wide, nominal.pack(robot, packed, thorough=True))
        names = _of_tree(method, NEEDS["forward_dynamics"])
        solver.follow = followed(robot, home, {**names, **parts}, models, size)
    return solver


def _of_tree(method: KernelMethod, needs: Iterable[str]) -> dict[str, Kernel]:
    return {f"tree_{name}": method.kernels[name] for name in needs}


def followed(
    robot: Robot, home: str, parts: Mapping[str, Kernel], models: Iterable[FloatArray], size: int
) -> Follow:
    """Return what integrators use: `kernels.following` with these ``parts``, for stages and for accepted states."""
    moves = around(parts.get("accelerate", following.accelerate), home, **{
        name: kernel for name, kernel in parts.items() if name in OF_ACCELERATE
    })  # fmt: skip
    kernel = around(following.follow, home, **{**parts, "accelerate": moves})
    return Follow(robot, *(KernelRun(kernel, "follow", robot, model, size) for model in models))


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
    """For integrators: states are moved onto the loops, then accelerated (`kernels.following`).

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
    """Return a copy of ``kernel`` with the named globals replaced, also in the functions of its module that it calls.

    ``home`` is a module that imports, directly or not, everything that is called: its sources key the compiled code.
    """
    return _copy(kernel, home, tuple(sorted(inner.items())))


@functools.cache
def _copy(kernel: Kernel, home: str, inner: tuple[tuple[str, Kernel], ...]) -> Kernel:
    # The name becomes a file name, so the list of bound functions is shortened to a digest.
    names = " ".join(f"{function.__module__}.{function.__qualname__}" for _, function in inner)
    digest = hashlib.sha256(names.encode()).hexdigest()[:12]
    bound = dict(inner)
    for name, function in _called(kernel).items():
        if name not in bound and _uses(function, bound):
            bound[name] = _copy(function, home, inner)
    return generic(with_globals(kernel, f"{kernel.__module__}.{kernel.__qualname__}_{digest}", home, bound))


def _called(kernel: Kernel) -> dict[str, Kernel]:
    """Return the functions of its own module that ``kernel`` calls, by name."""
    found: dict[str, Any] = {name: kernel.__globals__.get(name) for name in kernel.__code__.co_names}
    return {name: value for name, value in found.items() if getattr(value, "__globals__", None) is kernel.__globals__}


def _uses(kernel: Kernel, names: Container[str]) -> bool:
    """Whether a function, or one of its module that it calls, uses one of the names."""
    return any(name in names for name in kernel.__code__.co_names) or any(
        _uses(function, names) for function in _called(kernel).values()
    )
