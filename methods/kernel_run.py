"""One kernel on one robot: compiled when first needed, checked calls and unchecked handles, rows in threads.

Checked calls first try the fast road: arguments go straight to the compiled driver, which takes only C-contiguous
float64 arrays and itself looks at lengths, NaN, infinities and quaternions. Whenever it balks, the general road
converts what can be converted and explains what cannot (`door`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from dynbench.methods import door
from dynbench.methods.base import INTERNAL, QUANTITIES, width
from dynbench.methods.kernels import triangle
from dynbench.methods.kernels.scalar import LANES
from dynbench.robots.robot import FloatArray, Robot

Kernel = Callable[..., None]


class KernelRun:
    """One kernel on one robot, compiled when first needed."""

    def __init__(
        self,
        kernel: Kernel,
        quantity: str,
        robot: Robot,
        model: FloatArray,
        size: int,
        otherwise: KernelRun | None = None,
    ) -> None:
        self.otherwise = otherwise  # another kernel for states for which this one gives NaN
        self.kernel = kernel
        self.quantity = quantity
        self.robot = robot
        self.model = model
        self.size = size
        described = QUANTITIES.get(quantity) or INTERNAL[quantity]
        arguments = described.arguments
        self.arguments = ("q", "v", "a") if arguments == ("q", "v") else arguments
        self.shape = described.shape(robot)
        self.flat = int(np.prod(self.shape))
        self.form = "configuration" if self.arguments == ("q",) else "state"
        arms = zip(robot.elastic.arm, robot.elastic.length, strict=True)
        self.sleeves = [(int(robot.iq[arm]), float(length)) for arm, length in arms]
        self.bound: dict[tuple[bool, bool], Callable[..., int]] = {}

    def driver(self, batch: bool, wrench: bool) -> Callable[..., int]:
        """driver(q[, v, a, wrench], out) with the model bound; compiled at the first call."""
        if (batch, wrench) not in self.bound:
            driver = functools.partial(shared_driver(self.kernel, self.form, batch, wrench), self.header.ctypes.data)
            driver.keep_alive = self.header  # type: ignore[attr-defined]
            self.bound[batch, wrench] = driver
        return self.bound[batch, wrench]

    @functools.cached_property
    def header(self) -> FloatArray:
        from dynbench.methods.kernels.compiled import header

        widths = (self.robot.nq, self.robot.nv, width(self.robot, self.arguments[-1]))
        quaternions = [j for j, _ in self.robot.quaternions]
        matrix = self.form == "configuration"
        places = triangle.places(self.robot, self.shape[0]) if matrix else np.empty(0, dtype=np.int64)
        return header(self.model, self.size, *widths, self.flat, quaternions, places)

    def unchecked(self, wrench: bool) -> Callable[..., int]:
        return self.driver(False, wrench)

    def checked(self) -> Callable[..., FloatArray]:
        """The public function."""
        shape, flat, empty, isfinite, general = self.shape, self.flat, np.empty, np.isfinite, self.general
        vector = len(shape) == 1
        driver: Callable[..., int] | None = None
        # with loops a bad state gives NaN, with elastic arms a number; the general road explains both
        sure, extended = self.robot.is_tree and not self.robot.is_elastic, self.extended

        if self.form == "configuration":

            def configuration_call(q: Any, threads: int | None = 1, out: Any = None) -> FloatArray:
                nonlocal driver
                if driver is not None and out is None:
                    result = empty(flat)
                    try:
                        if driver(q, result) == 0 and (sure or (isfinite(result).all() and extended(q))):
                            return result.reshape(shape)
                    except TypeError:
                        pass
                if driver is None and np.ndim(q) == 1:
                    driver = self.driver(False, False)
                return general((q,), None, threads, out)

            return named(configuration_call, self.quantity)

        def state_call(
            q: Any, v: Any, a: Any, wrench: Any = None, threads: int | None = 1, out: Any = None
        ) -> FloatArray:
            nonlocal driver
            if driver is not None and wrench is None and out is None and type(q) is np.ndarray and q.ndim == 1:
                result = empty(flat)
                try:
                    if driver(q, v, a, None, result) == 0 and (sure or (isfinite(result).all() and extended(q))):
                        return result if vector else result.reshape(shape)
                except TypeError:
                    pass  # a list, float32, a strided or read-only view: the general road converts or explains
            if driver is None and np.ndim(q) == 1:
                driver = self.driver(False, False)
            return general((q, v, a), wrench, threads, out)

        if self.arguments[-1] != "tau":
            return named(state_call, self.quantity)

        def force_call(
            q: Any, v: Any, tau: Any, wrench: Any = None, threads: int | None = 1, out: Any = None
        ) -> FloatArray:
            return state_call(q, v, tau, wrench, threads, out)

        return named(force_call, self.quantity)

    def general(self, values: tuple[Any, ...], wrench: Any, threads: int | None, out: Any) -> FloatArray:
        """Rows as they are if the driver takes them; else check everything, convert, and run one state or all rows."""
        q = values[0]
        count = door.thread_count(threads)
        if wrench is None and self.robot.is_tree and getattr(q, "ndim", 0) == 2:
            result = door.check_out(self.robot, out, (len(q), *self.shape))
            inputs = [*values, None] if self.form == "state" else [q]
            if all(type(x) is np.ndarray and len(x) == len(q) > 0 for x in values):
                try:
                    bad = in_threads(self.driver(True, False), [*inputs, result.reshape(len(q), -1)], len(q), count)
                    if not bad and self.extended(q):
                        return result
                except TypeError:
                    pass
        arrays, rows, single = door.check(self.robot, self.arguments, values, wrench, finite=False)
        N = len(arrays[0])
        result = door.check_out(self.robot, out, self.shape if single else (N, *self.shape))
        whole = result.reshape(N, -1) if N else np.empty((0, self.flat))
        run = self.driver(not single, rows is not None)
        inputs = [*arrays, rows] if self.form == "state" else [*arrays]
        if single:
            status = run(*(x if x is None else x[0] for x in inputs), whole[0])
        else:
            status = in_threads(run, [*inputs, whole], N, count)
        if status:
            door.check(self.robot, self.arguments, values, wrench)  # says which number is not finite
        if not self.robot.is_tree and not np.isfinite(result).all():
            self.complete(arrays, rows, whole)
        return result

    def complete(self, arrays: list[FloatArray], rows: FloatArray | None, whole: FloatArray) -> None:
        """Fill rows of results that are not numbers by the other kernel; say why those that remain are not."""
        if self.otherwise is not None:
            left = np.flatnonzero(~np.isfinite(whole).all(axis=1))
            inputs: list[FloatArray | None] = [x[left] for x in arrays]
            if self.form == "state":
                inputs.append(None if rows is None else rows[left])
            found = np.empty((len(left), self.flat))
            self.otherwise.driver(True, rows is not None)(*inputs, found)
            whole[left] = found
        if not np.isfinite(whole).all():
            self.explain(arrays)

    def extended(self, q: FloatArray) -> bool:
        """Whether all elastic arms are partly out of their sleeves; `door.check` says which one is not."""
        return all(((q[..., at] > 0.0) & (q[..., at] < length)).all() for at, length in self.sleeves)

    def explain(self, arrays: list[FloatArray]) -> None:
        """Say why a looped robot's results are not numbers; only inverse dynamics and reactions look at a."""
        v = arrays[1] if len(arrays) > 1 else None
        looks_at_a = self.arguments[-1] == "a" and self.quantity != "bias"
        near = self.quantity in ("forward_dynamics", "mass_matrix", "bias")
        tolerance = door.NEAR_LOOPS if near else door.ON_LOOPS
        door.check_loops(self.robot, arrays[0], v, arrays[2] if looks_at_a else None, tolerance)


class MotionRun:
    """A quantity of (q, v): a state kernel at zero acceleration. Bias is inverse dynamics so run, without a kernel or
    anything to compile of its own."""

    def __init__(self, state: KernelRun, quantity: str) -> None:
        self.state = state
        self.quantity = quantity
        self.zero = np.zeros(state.robot.nv)

    def unchecked(self, wrench: bool) -> Callable[..., int]:
        run, zero = self.state.unchecked(wrench), self.zero

        def motion(q: FloatArray, v: FloatArray, wrench: FloatArray | None, out: FloatArray) -> int:
            return run(q, v, zero, wrench, out)

        return motion

    def checked(self) -> Callable[..., FloatArray]:
        call, zero = self.state.checked(), self.zero

        def motion(q: Any, v: Any, wrench: Any = None, threads: int | None = 1, out: Any = None) -> FloatArray:
            still = zero if np.ndim(q) <= 1 else np.zeros((len(q), len(zero)))
            return call(q, v, still, wrench, threads, out)

        return named(motion, self.quantity)


@functools.cache
def shared_driver(kernel: Kernel, form: str, batch: bool, wrench: bool) -> Callable[..., int]:
    """The compiled driver, the same for all robots: even from the disk cache, loading one takes 30 ms."""
    from dynbench.methods.kernels.compiled import compile_kernel

    return compile_kernel(kernel, form, batch, wrench)


def named(function: Callable[..., FloatArray], name: str) -> Callable[..., FloatArray]:
    function.__name__ = function.__qualname__ = name
    return function


def in_threads(run: Callable[..., int], arrays: list[FloatArray | None], N: int, count: int) -> int:
    """Run a batch in contiguous parts of whole blocks; the drivers release the GIL. Return the worst status."""
    blocks = -(-N // LANES)
    parts = max(1, min(count, blocks))
    if parts == 1:
        return run(*arrays)
    edges = [LANES * (blocks * k // parts) for k in range(parts)] + [N]
    slices = [slice(*pair) for pair in pairwise(edges)]
    return max(pool(count).map(lambda s: run(*(x if x is None else x[s] for x in arrays)), slices))


@functools.cache
def pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="dynbench")
