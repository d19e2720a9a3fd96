"""The floor: zeros for every quantity, through the same doors, drivers and threads as everything else.

Its row in a timing table is what the harness itself costs: checking arguments, gathering eight states into a block,
scattering the results. Nobody agrees with it, so it is compared with nothing (``floor``).
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.base import Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, splat, store
from dynbench.robots.robot import Robot


@generic
def state(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    for i in range(out.size // len(tag)):
        store(tag, out, i, splat(tag, 0.0))


@generic
def configuration(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    for i in range(out.size // len(tag)):
        store(tag, out, i, splat(tag, 0.0))


class Null(KernelMethod):
    """Zeros, for any robot: O(1) but for moving the numbers."""

    name: ClassVar[str] = "null"
    title: ClassVar[str] = "Null (zeros: the floor)"
    reference: ClassVar[str] = "none; what the harness itself costs"
    cost: ClassVar[str] = "O(1)"
    exact: ClassVar[bool] = False
    floor: ClassVar[bool] = True
    loops: ClassVar[bool] = True
    elastic: ClassVar[bool] = True
    springs: ClassVar[bool] = True
    kernels: ClassVar = {
        "inverse_dynamics": state,
        "forward_dynamics": state,
        "mass_matrix": configuration,
        "reactions": state,
    }

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        return self.direct_solver(robot)  # with loops too: there is nothing to project

    def work_size(self, robot: Robot, quantity: str) -> int:
        return 0
