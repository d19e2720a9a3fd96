"""Kernels as plain Python, with the environment variable NUMBA_DISABLE_JIT=1: to step through them in a debugger.

It has the interface of `generic_code.GenericCode` as far as `KernelRun` needs it. Errors inside a kernel (a misspelt
name, an index out of range) are raised where they happen. About a thousand times slower than compiled code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynbench.methods.generic_code import GenericCode
from dynbench.methods.kernels import triangle
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.kernels.status import Status
from dynbench.robots.robot import FloatArray
from dynbench.robots.states import UNIT


def disabled() -> bool:
    """Whether compiling by numba is switched off, in the way numba documents."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class PlainCode(GenericCode):
    """One kernel on one robot, run as it stands."""

    def one(self, arrays: Sequence[FloatArray], wrench: FloatArray | None, out: FloatArray) -> int:
        """Fill the flat result of one state and return the status."""
        work = np.full(self.size, np.nan)
        with np.errstate(all="ignore"):
            if self.form == "configuration":
                n = self.shape[0]
                below = np.zeros(n * n + 1)
                self.kernel(ONE, self.model, arrays[0], below, work)
                below[-1] = 0.0  # entries of coordinates that do not couple are read from here
                out[...] = below[triangle.places(self.robot, n)]
            else:
                self.kernel(ONE, self.model, *arrays, wrench, out, work)
        if any(abs(arrays[0][j : j + 4] @ arrays[0][j : j + 4] - 1.0) > UNIT for j, _ in self.robot.quaternions):
            return Status.NOT_UNIT
        return Status.OK if all(np.isfinite(x).all() for x in arrays) else Status.NOT_FINITE

    def batch(self, wrench: bool) -> Callable[..., int]:
        def run(*arrays: Any) -> int:
            *inputs, out = arrays
            push = inputs.pop() if self.form == "state" else None
            found = Status.OK
            for k in range(len(out)):
                row = None if push is None else push[k if len(push) > 1 else 0]
                found = Status(self.one([x[k] for x in inputs], row, out[k]) or found)
            return found

        return run
