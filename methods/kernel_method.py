"""Methods made of generic kernels: single calls, batches and threads from one source.

A subclass names its kernels and how much workspace they need; `prepare` packs the robot into one flat array. Nothing
is compiled before it is called, and each quantity only at the widths it is called with.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np

from dynbench.methods import door
from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.kernels import tree
from dynbench.methods.kernels.scalar import LANES
from dynbench.robots.robot import FloatArray, Robot

Kernel = Callable[..., None]


class KernelMethod(Method):
    """A formulation written over the generic scalar."""

    kernels: ClassVar[Mapping[str, Kernel]]  # quantity -> kernel, see `kernels.compiled` for its form

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "kernels" in cls.__dict__:
            given = set(cls.kernels) | ({"bias"} if "inverse_dynamics" in cls.kernels else set())
            cls.computes = tuple(quantity for quantity in QUANTITIES if quantity in given)

    def pack(self, robot: Robot) -> FloatArray:
        """Return everything the kernels need to know of the robot, as one flat array."""
        return tree.pack(robot)

    def work_size(self, robot: Robot, quantity: str) -> int:
        """Return how many scalars of workspace a kernel needs."""
        raise NotImplementedError(f"{type(self).__name__} must say the workspace of {quantity!r}")

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        model = self.pack(robot)
        runs = {
            name: KernelRun(kernel, name, robot, model, self.work_size(robot, name))
            for name, kernel in self.kernels.items()
        }
        if "bias" in self.computes and "bias" not in runs:
            runs["bias"] = BiasRun(runs["inverse_dynamics"])
        calls = {name: runs[name].checked() for name in self.computes}
        handles = {name: runs[name].unchecked for name in self.computes}
        return Solver(self, robot, calls, handles, model)


class TreeMethod(KernelMethod):
    """A formulation on the packed tree whose workspace is so many scalars a row (bodies and ground)."""

    work: ClassVar[Mapping[str, int]]

    def work_size(self, robot: Robot, quantity: str) -> int:
        return self.work[quantity] * (robot.n + 1)


class KernelRun:
    """One kernel on one robot, compiled when first needed."""

    def __init__(self, kernel: Kernel, quantity: str, robot: Robot, model: FloatArray, size: int) -> None:
        self.kernel = kernel
        self.quantity = quantity
        self.robot = robot
        self.model = model
        self.size = size
        self.arguments = QUANTITIES[quantity].arguments
        self.shape = QUANTITIES[quantity].shape(robot)
        self.form = "configuration" if self.arguments == ("q",) else "state"

    @functools.cache  # noqa: B019  (a run lives as long as its solver)
    def driver(self, batch: bool, wrench: bool) -> Callable[..., int]:
        from dynbench.methods.kernels.compiled import compile_kernel

        return compile_kernel(self.kernel, self.form, batch, wrench)

    def unchecked(self, wrench: bool) -> Callable[..., int]:
        """driver(q[, v, a, wrench], out) with the model bound."""
        return functools.partial(self.driver(False, wrench), self.model, self.size, self.robot.nq)

    def checked(self) -> Callable[..., FloatArray]:
        """The public function: the fast road when the arguments are already as the kernel wants them."""
        nq, flat, shape = self.robot.nq, int(np.prod(self.shape)), self.shape
        model, size, empty, general = self.model, self.size, np.empty, self.general
        quaternions = bool((self.robot.kind >= tree.SPHERICAL).any())
        driver: Callable[..., int] | None = None

        if self.form == "configuration":

            def configuration_call(q: Any, threads: int | None = 1, out: Any = None) -> FloatArray:
                return general((q,), None, threads, out)

            return named(configuration_call, self.quantity)

        def state_call(
            q: Any, v: Any, a: Any, wrench: Any = None, threads: int | None = 1, out: Any = None
        ) -> FloatArray:
            nonlocal driver
            if driver is not None and wrench is None and out is None:
                out = empty(flat)
                try:
                    if driver(model, size, nq, q, v, a, None, out) == 0:
                        return out if len(shape) == 1 else out.reshape(shape)
                except TypeError:
                    pass  # a batch, a list, float32, a strided view: the general road converts or explains
                out = None
            result = general((q, v, a), wrench, threads, out)
            if driver is None and not quaternions and result.shape == shape:
                driver = self.driver(False, False)
            return result

        return named(state_call, self.quantity)

    def general(self, values: tuple[Any, ...], wrench: Any, threads: int | None, out: Any) -> FloatArray:
        """Check everything, then run one state or all rows."""
        arrays, rows, single = door.check(self.robot, self.arguments, values, wrench, finite=False)
        N = len(arrays[0])
        result = door.check_out(self.robot, out, self.shape if single else (N, *self.shape))
        flat = result.reshape(N, -1) if N else np.empty((0, int(np.prod(self.shape))))
        run = functools.partial(self.driver(not single, rows is not None), self.model, self.size, self.robot.nq)
        inputs = [*arrays, rows] if self.form == "state" else arrays
        if single:
            status = run(*(x if x is None else x[0] for x in inputs), flat[0])
        else:
            status = in_threads(run, [*inputs, flat], N, threads)
        if status:
            door.check(self.robot, self.arguments, values, wrench)  # says which number is not finite
        return result


class BiasRun:
    """Bias as inverse dynamics at zero acceleration: no kernel, and nothing to compile, of its own."""

    def __init__(self, inverse: KernelRun) -> None:
        self.inverse = inverse
        self.zero = np.zeros(inverse.robot.nv)

    def unchecked(self, wrench: bool) -> Callable[..., int]:
        run, zero = self.inverse.unchecked(wrench), self.zero

        def bias(q: FloatArray, v: FloatArray, wrench: FloatArray | None, out: FloatArray) -> int:
            return run(q, v, zero, wrench, out)

        return bias

    def checked(self) -> Callable[..., FloatArray]:
        call, zero = self.inverse.checked(), self.zero

        def bias(q: Any, v: Any, wrench: Any = None, threads: int | None = 1, out: Any = None) -> FloatArray:
            still = zero if np.ndim(q) <= 1 else np.zeros((len(q), len(zero)))
            return call(q, v, still, wrench, threads, out)

        return named(bias, "bias")


def named(function: Callable[..., FloatArray], name: str) -> Callable[..., FloatArray]:
    function.__name__ = function.__qualname__ = name
    return function


def in_threads(run: Callable[..., int], arrays: list[FloatArray | None], N: int, threads: int | None) -> int:
    """Run a batch in contiguous parts of whole blocks; the drivers release the GIL. Return the worst status."""
    count = os.cpu_count() or 1 if threads is None else threads
    if count < 1:
        raise ValueError(f"threads is {threads}, wanted a positive number or None for all")
    blocks = -(-N // LANES)
    parts = max(1, min(count, blocks))
    if parts == 1:
        return run(*arrays)
    edges = [LANES * (blocks * k // parts) for k in range(parts)] + [N]
    slices = [slice(*pair) for pair in zip(edges, edges[1:], strict=False)]
    return max(pool(count).map(lambda s: run(*(x if x is None else x[s] for x in arrays)), slices))


@functools.cache
def pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="dynbench")
