"""From a generic kernel to machine code: the drivers that feed it one state, or rows of states eight at a time.

A kernel has one of two forms,

    kernel(tag, model, q, out, work)                            "configuration": a mass matrix
    kernel(tag, model, q, v, a, wrench, out, work)              "state": inverse or forward dynamics, reactions

(``a`` is the force in forward dynamics; ``wrench`` may be None). Each is compiled for exactly the argument types below;
with other arguments the compiled driver raises TypeError and the caller converts them. Drivers release the GIL.

Drivers return 0, or `BAD_SHAPE` / `NOT_FINITE` when an argument has the wrong size or holds a NaN or infinity. Saying
which one, and where, is left to the caller: that costs time only when something is wrong.
"""

from __future__ import annotations

import types as python_types
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import register_jitable

from dynbench.methods.kernels import cache, scalar
from dynbench.methods.kernels.pack import JIT_OPTIONS, beyond, load_column, load_tile, store_column, store_tile
from dynbench.methods.kernels.scalar import EIGHT, LANES, ONE, load, splat, store

BAD_SHAPE, NOT_FINITE = 1, 2

Driver = Callable[..., int]
kernel: Any = None  # stands for the kernel in the driver templates below; each compiled copy has its own


def compile_kernel(function: Callable[..., Any], form: str, batch: bool, wrench: bool = False) -> Driver:
    """Compile the driver that runs ``function`` on single states or on rows.

    Parameters
    ----------
    function
        A kernel, marked ``@generic``, at module level (so that its machine code can be cached on disk).
    form : "configuration" or "state"
    batch : bool
        False: ``driver(model, size, nq, q[, v, a, wrench], out)`` with 1-D arrays. True: 2-D arrays, a state per row.
    wrench : bool
        Whether external wrenches are passed (an array like the others) or None.
    """
    for waiting in scalar.pending:
        register_jitable(forceinline=True, **JIT_OPTIONS)(waiting)
    scalar.pending.clear()
    template = TEMPLATES[form, batch]
    # A copy of the template whose global ``kernel`` is this one. Not a closure: numba caches those under a key that is
    # never found again.
    name = f"{function.__module__}.{function.__qualname__}.{template.__name__}"
    copy = python_types.FunctionType(template.__code__, {**globals(), "kernel": function}, name.replace(".", "_"))
    copy.__module__, copy.__qualname__ = template.__module__, name
    array = types.Array(types.float64, 2 if batch else 1, "C")
    states = [array, array, array if wrench else types.none] if form == "state" else []
    arguments = [types.Array(types.float64, 1, "C"), types.intp, types.intp, array, *states, array]
    with cache.numba_cache(function.__module__) as writable:
        driver = numba.njit(nogil=True, cache=writable, **JIT_OPTIONS)(copy)
    driver.compile(types.int64(*arguments))
    driver.disable_compile()
    return driver  # type: ignore[no-any-return]


@register_jitable(**JIT_OPTIONS)  # type: ignore[misc]
def _not_finite(tag: Any, buffer: Any) -> bool:
    """0 x is NaN exactly when x is NaN or infinite."""
    total = splat(tag, 0.0)
    for i in range(buffer.size // len(tag)):
        total += load(tag, buffer, i) * 0.0
    return beyond(total, 0.0)


def _single_configuration(model: Any, size: int, nq: int, q: Any, out: Any) -> int:
    if q.size != nq:
        return BAD_SHAPE
    work = np.empty(size)
    kernel(ONE, model, q, out, work)
    return NOT_FINITE if _not_finite(ONE, q) else 0


def _single_state(model: Any, size: int, nq: int, q: Any, v: Any, a: Any, wrench: Any, out: Any) -> int:
    if q.size != nq or a.size != v.size:
        return BAD_SHAPE
    work = np.empty(size)
    kernel(ONE, model, q, v, a, wrench, out, work)
    return NOT_FINITE if _not_finite(ONE, q) or _not_finite(ONE, v) or _not_finite(ONE, a) else 0


@register_jitable(**JIT_OPTIONS)  # type: ignore[misc]
def _gather(rows: Any, k: int, block: Any) -> None:
    """Rows k to k + 7 into a lane-blocked buffer; past the end the last row is repeated."""
    if k + LANES <= rows.shape[0]:
        whole = rows.shape[1] // LANES * LANES
        for j in range(0, whole, LANES):
            load_tile(rows, k, j, block)
        for j in range(whole, rows.shape[1]):
            store(EIGHT, block, j, load_column(EIGHT, rows, k, j))
        return
    for lane in range(LANES):
        row = rows[min(k + lane, rows.shape[0] - 1)]
        for j in range(row.size):
            block[j * LANES + lane] = row[j]


@register_jitable(**JIT_OPTIONS)  # type: ignore[misc]
def _scatter(block: Any, k: int, rows: Any) -> None:
    if k + LANES <= rows.shape[0]:
        whole = rows.shape[1] // LANES * LANES
        for j in range(0, whole, LANES):
            store_tile(rows, k, j, block)
        for j in range(whole, rows.shape[1]):
            store_column(EIGHT, rows, k, j, load(EIGHT, block, j))
        return
    for lane in range(rows.shape[0] - k):
        for j in range(rows.shape[1]):
            rows[k + lane, j] = block[j * LANES + lane]


@register_jitable(**JIT_OPTIONS)  # type: ignore[misc]
def _block(rows: Any) -> Any:
    return None if rows is None else np.empty(rows.shape[1] * LANES)


def _batch_configuration(model: Any, size: int, nq: int, q: Any, out: Any) -> int:
    work = np.empty(size * LANES)
    q8, out8 = np.empty(q.shape[1] * LANES), np.empty(out.shape[1] * LANES)
    bad = False
    for k in range(0, q.shape[0], LANES):
        _gather(q, k, q8)
        kernel(EIGHT, model, q8, out8, work)
        _scatter(out8, k, out)
        bad |= _not_finite(EIGHT, q8)
    return NOT_FINITE if bad else 0


def _batch_state(model: Any, size: int, nq: int, q: Any, v: Any, a: Any, wrench: Any, out: Any) -> int:
    work = np.empty(size * LANES)
    q8, out8 = np.empty(q.shape[1] * LANES), np.empty(out.shape[1] * LANES)
    v8, a8 = np.empty(v.shape[1] * LANES), np.empty(a.shape[1] * LANES)
    w8 = _block(wrench)
    bad = False
    for k in range(0, q.shape[0], LANES):
        _gather(q, k, q8)
        _gather(v, k, v8)
        _gather(a, k, a8)
        if wrench is not None:
            _gather(wrench, k, w8)
        kernel(EIGHT, model, q8, v8, a8, w8, out8, work)
        _scatter(out8, k, out)
        bad |= _not_finite(EIGHT, q8) or _not_finite(EIGHT, v8) or _not_finite(EIGHT, a8)
    return NOT_FINITE if bad else 0


TEMPLATES: dict[tuple[str, bool], Any] = {
    ("configuration", False): _single_configuration,
    ("configuration", True): _batch_configuration,
    ("state", False): _single_state,
    ("state", True): _batch_state,
}
