"""Springs between bodies for every kernel method: its tree kernels inside those of `kernels.springs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dynbench.methods.base import DERIVATIVES, QUANTITIES, Solver
from dynbench.methods.kernel_run import Kernel
from dynbench.methods.kernels import springs
from dynbench.methods.loops import around, looped_solver
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.methods.kernel_method import KernelMethod

UNMOVED = ("coriolis_matrix", "regressor")  # quantities that forces do not change


class Sprung:
    """A kernel method whose kernels act under the springs of a robot; in all else it is the method itself."""

    def __init__(self, method: KernelMethod) -> None:
        self.method = method
        self.home = getattr(method, "home", type(method).__module__)
        self.kernels: Mapping[str, Kernel] = {
            name: around(self.template(name), self.home, tree_kernel=kernel)
            for name, kernel in method.kernels.items()
            if name not in DERIVATIVES  # springs are not constant in body axes, as the wrenches of these kernels are
        }

    @staticmethod
    def template(quantity: str) -> Kernel:
        if QUANTITIES[quantity].arguments == ("q",):
            return springs.configuration
        return springs.motion if quantity in UNMOVED else springs.state

    def pack(self, robot: Robot) -> FloatArray:
        return springs.pack(robot, self.method.pack(robot))

    def work_size(self, robot: Robot, quantity: str) -> int:
        return springs.size(robot) + self.method.work_size(robot, quantity)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)


def sprung_solver(method: KernelMethod, robot: Robot, direct: bool = False) -> Solver:
    """Return the solver of ``method`` for a robot with springs; ``direct``: its kernels do the loops themselves."""
    made: Any = Sprung(method)
    tree = robot.is_tree or direct
    solver = direct_of(method).direct_solver(made, robot) if tree else looped_solver(made, robot)
    solver.method = method
    return solver


def direct_of(method: Any) -> Any:
    """Return the class whose ``direct_solver`` serves: that of the method inside those that extend it."""
    while hasattr(method, "method"):
        method = method.method
    return type(method)
