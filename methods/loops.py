"""Closed loops for every kernel method: its tree kernels inside the projection of `kernels.projection`.

The projection's kernels call ``tree_inverse_dynamics``, ``tree_mass_matrix`` and ``tree_reactions``. For each method
they are copied with these names bound to the method's own kernels (`with_globals`): all methods share one source, and
each copy compiles to machine code like any other kernel.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from dynbench.methods.base import Solver
from dynbench.methods.kernel_run import Kernel, KernelRun, MotionRun
from dynbench.methods.kernels import closure, projection
from dynbench.methods.kernels.scalar import generic, with_globals
from dynbench.robots.robot import Robot

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
}
UNDETERMINED = ("reactions", "multipliers")  # not unique if the robot has redundant closures


def looped_solver(method: KernelMethod, robot: Robot, own: Mapping[str, Kernel] = MappingProxyType({})) -> Solver:
    """Return the solver of ``method`` for a robot with closed loops.

    ``own`` are the method's own kernels for the model of `kernels.closure.pack`, used instead of the shared ones.
    """
    analysis = robot.loop_analysis
    model = closure.pack(robot, method.pack(robot), analysis.independent)
    common = closure.layout(robot, analysis.rank)[-1]
    runs: dict[str, KernelRun | MotionRun] = {}
    for quantity, needs in NEEDS.items():
        if all(name in method.kernels for name in needs) and not (analysis.redundant and quantity in UNDETERMINED):
            inner = {f"tree_{name}": method.kernels[name] for name in needs}
            kernel = own.get(quantity) or around(getattr(projection, quantity), type(method).__module__, **inner)
            size = max(method.work_size(robot, name) for name in {quantity, *needs} & set(method.kernels))
            run = KernelRun(kernel, quantity, robot, model, common + size)
            runs[quantity] = MotionRun(run, quantity) if quantity == "bias" else run
    calls = {name: run.checked() for name, run in runs.items()}
    return Solver(method, robot, calls, {name: run.unchecked for name, run in runs.items()}, model)


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
