"""A way to run a bit of generic code in all its readings: plain Python, compiled for one lane, and for a pack."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels import triangle
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots.errors import StateError
from dynbench.robots.families.trees import chain
from dynbench.robots.robot import FloatArray, Robot

SINGLE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)  # see `native.entry`

Evaluate = Callable[[Callable[..., None], FloatArray], FloatArray]


class Probe(KernelMethod):
    """A method whose mass matrix is whatever the kernel under test writes."""

    name = "probe"
    title = reference = "test"

    def work_size(self, robot: Robot, quantity: str) -> int:
        return 1


@pytest.fixture(params=["plain", "one lane", "pack"])
def evaluate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """``evaluate(kernel, rows)``: all k * k outputs of ``kernel(tag, model, q, out, work)`` for rows of k inputs."""
    # they are no symmetric matrix: every number is wanted where the kernel wrote it
    monkeypatch.setattr(triangle, "places", lambda robot, n: np.arange(n * n))

    def run(kernel: Callable[..., None], rows: FloatArray) -> FloatArray:
        N, k = rows.shape
        kernels: Any = {"kernels": {"mass_matrix": kernel}}
        solver = type("ProbeOf", (Probe,), kernels)().prepare(chain(k))
        out = np.full((N, k, k), np.nan)
        if request.param == "pack":
            with contextlib.suppress(StateError):  # a NaN is reported, but every row is filled
                solver.mass_matrix(rows, out=out)
            return out.reshape(N, -1)
        flat = out.reshape(N, -1)
        code = solver.runs["mass_matrix"].code
        # the code behind the handle, which would fill the result with NaN where a number is too large
        single = SINGLE(code.single(False)) if request.param == "one lane" else None
        for q, result in zip(rows, flat, strict=True):
            if single is not None:
                single(code.header, q.ctypes.data, None, None, None, result.ctypes.data)
            else:
                kernel(ONE, solver.model, q, result, np.empty(1))
        return flat

    return run
