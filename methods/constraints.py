"""Formulations that keep the coordinates of the spanning tree and solve for the motion under constraints.

Those that have an operator of their own, ``prepare`` and ``solve``, get their quantities from `kernels.constrained`;
the others have kernels. Integrators move a state onto the loops and accelerate it by `kernels.following`; a
formulation may replace parts of it (``following``). Mass matrix, inverse dynamics and wrenches of bodies of the
spanning tree are those of `newton_euler`, with springs and joint extras where the robot has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dynbench.methods.base import Solver
from dynbench.methods.extras import extended
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import Kernel, KernelRun
from dynbench.methods.kernels import constrained, nominal, spatial, springs
from dynbench.methods.loops import Follow, around, followed, undetermined
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.methods.springs import Sprung
from dynbench.robots.robot import FloatArray, Robot

QUANTITIES_BY_OPERATOR: Mapping[str, Kernel] = {
    "inverse_dynamics": constrained.inverse_dynamics,
    "forward_dynamics": constrained.forward_dynamics,
    "mass_matrix": constrained.mass_matrix,
    "bias": constrained.bias,
}
States = Literal["regular", "any", "following"]  # which a model is for: the last are those of integrators
OF_TREE = ("inverse_dynamics", "mass_matrix")


class ConstraintMethod(KernelMethod):
    """A formulation of robots with loops on the tree kernels of Newton and Euler."""

    loops: ClassVar[bool] = True
    springs: ClassVar[bool] = True
    trees: ClassVar[bool] = False  # whether it is for robots without loops too
    couplings: ClassVar[bool] = True  # whether it takes joints that follow others: rows of the loops without a closure
    operator: ClassVar[Mapping[str, Kernel]] = {}  # prepare and solve of `kernels.constrained`
    # of `kernels.following`, what is replaced: weigh, directions, sharp, acceleration or accelerate, tree_mass_matrix
    following: ClassVar[Mapping[str, Kernel]] = {}
    fallbacks: ClassVar[tuple[str, ...]] = ()  # quantities that have another model for states that are not regular

    def own_size(self, robot: Robot) -> int:
        """Return the number of scalars of workspace that the formulation itself needs."""
        raise NotImplementedError(f"{type(self).__name__} must say its own workspace")

    def table(self, robot: Robot, states: States = "regular") -> FloatArray:
        """Return the numbers of the model that the formulation itself needs."""
        return nominal.NOTHING

    def absent(self, quantity: str, robot: Robot) -> bool:
        """Return whether a quantity is not determined, or not computed, for this robot."""
        return not robot.is_tree and undetermined(quantity, robot)

    def supports(self, robot: Robot) -> str | None:
        if robot.is_tree and not self.trees:
            return f"{self.name} is for robots with closed loops; a tree has no constraints"
        if robot.has_couplings and not self.couplings:
            return f"{self.name} does not handle joints that follow others"
        return super().supports(robot)

    def spanning_tree(self, robot: Robot) -> Any:
        """Return the method that gives mass matrix and inverse dynamics of the spanning tree."""
        made = extended(NewtonEuler(), robot)
        return Sprung(made) if robot.has_springs else made

    def pack(self, robot: Robot, states: States = "regular", thorough: bool = False) -> FloatArray:
        packed = self.spanning_tree(robot).pack(robot)
        return nominal.pack(robot, packed, thorough, self.own_size(robot), self.table(robot, states))

    def work_size(self, robot: Robot, quantity: str) -> int:
        tree = self.spanning_tree(robot)
        inner = max(tree.work_size(robot, name) for name in OF_TREE)
        return nominal.layout(robot, self.own_size(robot))[-1] + int(inner)

    def build(self, robot: Robot) -> Solver:
        home, model, names = type(self).__module__, self.pack(robot), self.names(robot)
        runs = {}
        for quantity, template in self.kernels.items():
            if not self.absent(quantity, robot):
                kernel = around(template, home, **names, **self.operator)
                size, pivots, other = self.work_size(robot, quantity), robot.loop_analysis.redundant, None
                if quantity in self.fallbacks:
                    other = KernelRun(kernel, quantity, robot, self.pack(robot, "any"), size, pivots=True)
                runs[quantity] = KernelRun(kernel, quantity, robot, model, size, other, pivots)
        calls = {name: run.checked() for name, run in runs.items()}
        solver = Solver(self, robot, calls, {name: run.unchecked for name, run in runs.items()}, model)
        if not robot.is_tree:
            solver.follow = self.followed(robot, names)
        return solver

    def names(self, robot: Robot) -> dict[str, Kernel]:
        """Return the kernels of the spanning tree, by the names that templates have for them."""
        tree = self.spanning_tree(robot)
        wrenches: Kernel = spatial.body_wrenches
        if robot.has_springs:
            wrenches = around(springs.state, type(self).__module__, tree_kernel=wrenches)
        return {"body_wrenches": wrenches, **{f"tree_{name}": tree.kernels[name] for name in OF_TREE}}

    def followed(self, robot: Robot, names: dict[str, Kernel]) -> Follow:
        """Return what integrators use."""
        models = (self.pack(robot, "following", thorough) for thorough in (False, True))
        size = self.work_size(robot, "forward_dynamics")
        return followed(robot, type(self).__module__, {**names, **self.following}, models, size)
