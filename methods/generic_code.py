"""The generic tier: a kernel compiled by numba, the same machine code for all robots, which come in as a header."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.methods.base import width
from dynbench.methods.kernels import triangle
from dynbench.robots.robot import FloatArray, Robot

Kernel = Callable[..., None]


class GenericCode:
    """One kernel on one robot. Nothing is compiled before it is asked for."""

    def __init__(
        self, kernel: Kernel, form: str, robot: Robot, model: FloatArray, size: int, last: str, shape: tuple[int, ...]
    ) -> None:
        self.kernel = kernel
        self.form = form
        self.robot = robot
        self.model = model
        self.size = size
        self.last = last  # the name of the third argument: a or tau
        self.shape = shape

    @functools.cached_property
    def _numbers(self) -> FloatArray:
        from dynbench.methods.kernels.compiled import header

        robot = self.robot
        matrix = self.form == "configuration"
        places = triangle.places(robot, self.shape[0]) if matrix else np.empty(0, dtype=np.int64)
        lengths = (self.size, robot.nq, robot.nv, width(robot, self.last), int(np.prod(self.shape)))
        return header(self.model, *lengths, [j for j, _ in robot.quaternions], places, 6 * robot.n)

    @property
    def header(self) -> int:
        """Address of what the machine code must know of the robot."""
        return int(self._numbers.ctypes.data)

    def single(self, wrench: bool) -> int:
        """Return the address of the code for one state: ``i64 f(header, q, v, a, wrench, out)``."""
        return shared_address(self.kernel, self.form, wrench)

    def batch(self, wrench: bool) -> Callable[..., int]:
        """Return ``run(q[, v, a, wrench], out)`` on rows of states."""
        driver, header = shared_driver(self.kernel, self.form, True, wrench), self.header

        def run(*arrays: Any) -> int:
            # the driver is compiled for arrays that may be written to, and writes to none but the last
            return driver(header, *(x if x is None else np.require(x, requirements="W") for x in arrays))

        return run


@functools.cache
def shared_driver(kernel: Kernel, form: str, batch: bool, wrench: bool) -> Callable[..., int]:
    """The compiled driver, the same for all robots: even from the disk cache, loading one takes 30 ms."""
    from dynbench.methods.kernels.compiled import compile_kernel

    return compile_kernel(kernel, form, batch, wrench)


@functools.cache
def shared_address(kernel: Kernel, form: str, wrench: bool) -> int:
    """The address of the driver for single states; the driver itself is kept by `shared_driver`."""
    from dynbench.methods.kernels.compiled import address_of

    return address_of(shared_driver(kernel, form, False, wrench))
