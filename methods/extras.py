"""Joint extras (armature, damping, friction) for every kernel method: its kernels inside those of `kernels.extras`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dynbench.methods.kernel_run import Kernel
from dynbench.methods.kernels import extras
from dynbench.methods.loops import around
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.methods.kernel_method import KernelMethod

# kernel of `kernels.extras` -> the kernels of the rigid bodies that it is made of
NEEDS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("inverse_dynamics",),
    "forward_dynamics": ("forward_dynamics",),
    "solved_forward_dynamics": ("inverse_dynamics", "mass_matrix"),
    "mass_matrix": ("mass_matrix",),
    "inverse_dynamics_derivatives": ("inverse_dynamics_derivatives",),
    "forward_dynamics_derivatives": ("forward_dynamics", "inverse_dynamics_derivatives", "mass_matrix"),
}


class Extended:
    """A kernel method whose kernels include the joint extras of a robot; in all else it is the method itself.

    ``rotors`` of the method says whether its forward dynamics takes the armature from the packed tree.
    """

    def __init__(self, method: KernelMethod, robot: Robot) -> None:
        self.method = method
        self.home = type(method).__module__
        self.solved = bool(robot.armature.any()) and not method.rotors
        self.kernels: Mapping[str, Kernel] = {name: self._kernel(name) for name in method.kernels}

    def _kernel(self, quantity: str) -> Kernel:
        own = self.method.kernels
        form = "solved_forward_dynamics" if quantity == "forward_dynamics" and self.solved else quantity
        if form not in NEEDS:  # reactions, Coriolis matrix, regressor: those of the rigid bodies
            return around(extras.rigid_state, self.home, rigid_kernel=own[quantity])
        return around(getattr(extras, form), self.home, **{f"rigid_{name}": own[name] for name in NEEDS[form]})

    def pack(self, robot: Robot) -> FloatArray:
        return extras.pack(robot, self.method.pack(robot))

    def work_size(self, robot: Robot, quantity: str) -> int:
        if quantity == "forward_dynamics_derivatives":
            return robot.nv * (robot.nv + 2) + max(self.method.work_size(robot, name) for name in NEEDS[quantity])
        if quantity != "forward_dynamics":
            return self.method.work_size(robot, quantity)
        if self.solved:
            inner = max(self.method.work_size(robot, name) for name in NEEDS["solved_forward_dynamics"])
            return robot.nv * (robot.nv + 1) + inner
        return robot.nv + self.method.work_size(robot, quantity)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)


def extended(method: KernelMethod, robot: Robot) -> Any:
    """Return the method itself, or with the joint extras of a robot that has some."""
    return Extended(method, robot) if robot.has_extras else method
