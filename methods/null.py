"""The baseline of timings: zeros for every quantity, with the same validation, drivers and threads as other methods.

Its row in a timing table is the cost of the harness: checking arguments, gathering eight states into a block,
scattering the results. It is excluded from agreement (``floor``).
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.base import DERIVATIVES, Solver
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
    """Zeros, for any robot: O(1), apart from copying the arrays."""

    name: ClassVar[str] = "null"
    title: ClassVar[str] = "Null (zeros: the baseline)"
    reference: ClassVar[str] = "none; measures the cost of the harness"
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
        **dict.fromkeys(DERIVATIVES, state),
    }

    def build(self, robot: Robot) -> Solver:
        return self.direct_solver(robot)  # also with loops: zeros need no projection

    def work_size(self, robot: Robot, quantity: str) -> int:
        return 0
