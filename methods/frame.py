"""A named frame in machine code: ``frame(robot, "tool")`` has pose, Jacobian and velocity, for loops and batches.

The numbers are those of `Robot.frame_pose`, `Robot.frame_jacobian` and `Robot.frame_velocity`. Only the bodies between
the ground and the frame are computed. Compiled when first called, once for all robots and frames.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynbench.methods.kernels import frames as kernels
from dynbench.robots.errors import UnsupportedError
from dynbench.robots.frames import Axes, find, is_local
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import check_state


def frame(robot: Robot, name: str, axes: Axes = "world") -> FrameSolver:
    """Return the compiled kinematics of a frame or body.

    Parameters
    ----------
    robot : Robot
        With rigid links.
    name : str
        Of a frame (`Robot.frames`) or a body.
    axes : "world" or "local"
        Axes of Jacobian and velocity: the world's, or the frame's own. Their point is the frame's origin.
    """
    if robot.is_elastic:
        raise UnsupportedError(f"robot {robot.name!r} has elastic links; its frames depend on their deformation")
    return FrameSolver(robot, name, axes)


class FrameSolver:
    """Pose, Jacobian and velocity of one frame; all take one state or a batch, by shape."""

    def __init__(self, robot: Robot, name: str, axes: Axes) -> None:
        self.robot = robot
        self.name = name
        self.axes = axes
        self._frame = find(robot, name)
        self._model = kernels.pack(robot, self._frame, is_local(axes))

    def pose(self, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return R, (3, 3) or (N, 3, 3), and p, (3,) or (N, 3): ``x_world = R x_frame + p``."""
        out = self._run("pose", 12, q)
        return out[..., :9].reshape(*out.shape[:-1], 3, 3), out[..., 9:]

    def jacobian(self, q: ArrayLike) -> FloatArray:
        """Return J, (6, nv) or (N, 6, nv): the frame's twist, linear then angular, is J v."""
        out = self._run("jacobian", 6 * self.robot.nv, q)
        return out.reshape(*out.shape[:-1], 6, self.robot.nv)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the frame's twist, (6,) or (N, 6): velocity of its origin, then angular velocity."""
        return self._run("velocity", 6, q, v)

    def _run(self, what: str, count: int, *values: Any) -> FloatArray:
        driver, address = self._drivers[what]
        q = values[0]
        if type(q) is np.ndarray and q.ndim in (1, 2):
            try:
                return self._rows(driver, address, count, values, q.ndim == 1)
            except (TypeError, ValueError):
                pass  # a list, float32, a strided or read-only view, a wrong shape or number
        arrays, single = check_state(self.robot, **dict(zip("qv", values, strict=False)))
        clean = tuple(np.require(array, requirements=["C", "W"]) for array in arrays)
        return self._rows(driver, address, count, clean, single)

    def _rows(
        self, driver: Callable[..., int], address: int, count: int, values: tuple[FloatArray, ...], single: bool
    ) -> FloatArray:
        """Run the driver; a ValueError if it does not take the numbers."""
        rows = tuple(x[None] for x in values) if single else values
        N = len(rows[0])
        if any(len(x) != N for x in rows):
            raise ValueError("rows differ in number")
        out = np.empty((N, count))
        none = np.empty((N, 0))
        if N and driver(address, rows[0], rows[1] if len(rows) > 1 else none, none, None, out):
            raise ValueError("not finite, not of unit length, or of the wrong shape")
        return out[0] if single else out

    @functools.cached_property
    def _drivers(self) -> _Drivers:
        return _Drivers(self.robot, self._model)

    def __repr__(self) -> str:
        return f"<Frame {self.name!r} of {self.robot.name!r}, {self.axes} axes>"


class _Drivers(dict[str, tuple[Callable[..., int], int]]):
    """Drivers of pose, jacobian and velocity with the address of their header, compiled when first needed."""

    def __init__(self, robot: Robot, model: FloatArray) -> None:
        super().__init__()
        self.robot, self.model = robot, model
        self.kept: list[FloatArray] = []

    def __missing__(self, what: str) -> tuple[Callable[..., int], int]:
        from dynbench.methods.kernels.compiled import header

        robot, count = self.robot, {"pose": 12, "jacobian": 6 * self.robot.nv, "velocity": 6}[what]
        widths = (robot.nq, robot.nv if what == "velocity" else 0, 0, count)
        quaternions, places = [j for j, _ in robot.quaternions], np.empty(0, dtype=np.int64)
        numbers = header(self.model, kernels.WORK * robot.n, *widths, quaternions, places)
        self.kept.append(numbers)
        self[what] = compiled(what), int(numbers.ctypes.data)
        return self[what]


@functools.cache
def compiled(what: str) -> Callable[..., int]:
    """Return the driver of rows of states, the same for all robots and frames."""
    from dynbench.methods.kernels.compiled import compile_kernel

    return compile_kernel(getattr(kernels, what), "state", batch=True)
