"""What formulations of Gough-Stewart platforms share: kernels on states, the robots they are for.

The reason of a NaN becomes an error that names the leg or the pose.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import KernelRun
from dynbench.methods.lagrange_stewart.kinematics import arms_and_legs, smallest_singular_value, twist_jacobian
from dynbench.methods.validation import check_loops
from dynbench.robots import quaternion
from dynbench.robots.errors import StateError
from dynbench.robots.families.stewart_legs import check_legs, parts, require_parts
from dynbench.robots.robot import FloatArray, Robot

NEAR = 1e-5  # a pose with a smaller singular value is called singular; kernels return NaN below about 1e-6


class StewartRun(KernelRun):
    """One kernel on one Gough-Stewart platform."""

    def explain(self, arrays: list[FloatArray]) -> None:
        """Raise a StateError: the state does not satisfy the loops, or a leg or the pose is singular."""
        q = arrays[0]
        v = arrays[1] if len(arrays) > 1 else None
        a = arrays[2] if self.arguments[-1] == "a" and self.quantity != "bias" else None
        at = require_parts(self.robot)
        R, p = platform_pose(self.robot, q)
        if np.abs(self.robot.loop_residual(q)).max() <= 1e-6:
            check_legs(self.robot, at, arms_and_legs(at, R, p)[1])
            least = smallest_singular_value(at, twist_jacobian(at, R, p))
            k = int(least.argmin())
            if self.quantity != "forward_dynamics" and least[k] < NEAR:
                raise StateError(
                    f"{self.quantity} of robot {self.robot.name!r}: the pose of state {k} is singular "
                    f"(p = {p[k].tolist()}, R = {R[k].tolist()}): the smallest singular value of its Jacobian is "
                    f"{least[k]:.2g}, and the leg forces are not determined"
                )
        check_loops(self.robot, q, v, a)


class StewartMethod(KernelMethod):
    """A formulation of Gough-Stewart platforms alone."""

    cost: ClassVar[str] = "O(1), six legs"
    loops: ClassVar[bool] = True
    extras: ClassVar[bool] = False

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is not None:
            return reason
        found = parts(robot)
        return f"{self.name} is for Gough-Stewart platforms only: {found}" if isinstance(found, str) else None

    def calls(self, robot: Robot, model: FloatArray) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the checked calls of all quantities, and the functions that make unchecked ones."""
        runs = {
            name: StewartRun(kernel, name, robot, model, self.work_size(robot, name))
            for name, kernel in self.kernels.items()
        }
        checked = {name: runs[name].checked() for name in self.computes}
        return checked, {name: runs[name].unchecked for name in self.computes}


def platform_pose(robot: Robot, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rotation and position of the platform, (..., 3, 3) and (..., 3), from tree configurations (..., nq)."""
    j = int(robot.iq[robot.platform])
    return quaternion.matrix(q[..., j + 3 : j + 7]), q[..., j : j + 3]
