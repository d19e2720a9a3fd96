"""From a generic kernel to machine code: the drivers that feed it one state, or rows of states eight at a time.

A kernel has one of two forms,

    kernel(tag, model, q, out, work)                            "configuration": a mass matrix
    kernel(tag, model, q, v, a, wrench, out, work)              "state": inverse or forward dynamics, reactions

(``a`` is the force in forward dynamics; ``wrench`` may be None). Of a mass matrix only the lower triangle is read, and
there only what couples coordinates (`triangle`): a kernel need not write the rest. Drivers of single states take
addresses and trust them (`native.entry` checks the arrays); those of rows are compiled for exactly the argument types
below, and with others raise TypeError. Drivers of rows release the GIL.

Drivers return a `Status`: 0, or why the result must not be used, such as NaN in an argument or a quaternion that is
not of unit length. The caller then finds out which and where, so valid calls do not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from dynbench.methods.kernels import cache, scalar
from dynbench.methods.kernels.functions import beyond
from dynbench.methods.kernels.jit import DRIVER, HELPER, no_collection
from dynbench.methods.kernels.memory import align_stack, integers, keep, pointer, release, scratch, span, span_at
from dynbench.methods.kernels.scalar import EIGHT, LANES, ONE, load, splat, store
from dynbench.methods.kernels.status import Status
from dynbench.methods.kernels.tiles import load_column, load_tile, store_column, store_placed_tile, store_tile
from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.states import LARGEST, UNIT

BAD_SHAPE, NOT_FINITE, NOT_UNIT, NO_MEMORY = (
    int(status) for status in (Status.BAD_SHAPE, Status.NOT_FINITE, Status.NOT_UNIT, Status.NO_MEMORY)
)

Driver = Callable[..., int]
LARGEST_SQUARE = LARGEST * LARGEST
kernel: Any = None  # stands for the kernel in the driver templates below; each compiled copy has its own


def register_pending() -> None:
    """Register the pending generic functions with numba."""
    for waiting in scalar.pending:
        inline = not getattr(waiting, "called", False)
        register_jitable(forceinline=inline, **HELPER)(waiting)
    scalar.pending.clear()


@no_collection()
def compile_kernel(function: Callable[..., Any], form: str, batch: bool, wrench: bool = False) -> Driver:
    """Compile the driver that runs ``function`` on single states or on rows.

    Parameters
    ----------
    function
        A kernel, marked ``@generic``, at module level (so that its machine code can be cached on disk).
    form : "configuration" or "state"
    batch : bool
        False: ``driver(header, q, v, a, wrench, out)``, all addresses, those of what a kernel does not take being 0;
        see `address_of`. True: ``driver(header, q[, v, a, wrench], out)`` with 2-D arrays, a state per row. The header
        goes in by its address; q, v and a must have the lengths it says.
    wrench : bool
        Whether external wrenches are passed or None. As an array they are rows like the others, or one row for all.
    """
    register_pending()
    template = TEMPLATES[form, batch, wrench and not batch]
    # A copy of the template whose global ``kernel`` is this one. Each driver has its own name, and so its own index in
    # numba's cache: two processes that write to one index at the same time can get each other's machine code.
    name = f"{function.__module__}.{function.__qualname__}.{template.__name__}{'_with_wrenches' if wrench else ''}"
    array = types.Array(types.float64, 2, "C")
    states = [array, array, array if wrench else types.none] if form == "state" else []
    arguments = [types.intp, array, *states, array] if batch else [types.intp] * 6
    with cache.numba_cache(function.__module__) as file:
        path = None if file is None else str(file)
        copy = scalar.with_globals(template, name, template.__module__, {"kernel": function}, path)
        driver: Any = None
        if file is not None:
            try:
                driver = numba.njit(nogil=True, cache=True, **DRIVER)(copy)
            except (OSError, RuntimeError) as error:  # RuntimeError: numba can write to no folder
                cache.not_kept(error)
    driver = driver or numba.njit(nogil=True, **DRIVER)(copy)
    try:
        driver.compile(types.int64(*arguments))
    except OSError as error:  # of a full disk, after the code is there
        cache.not_kept(error)
        if not driver.overloads:
            driver = numba.njit(nogil=True, **DRIVER)(copy)
            driver.compile(types.int64(*arguments))
    driver.disable_compile()
    ready: Driver = driver
    return ready


def address_of(driver: Any) -> int:
    """Return the address of a driver of single states, to be called as C."""
    (compiled,) = driver.overloads.values()
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


@register_jitable(**HELPER)
def _not_finite(tag: Any, buffer: Any) -> Any:
    """Whether a number is NaN, infinite, or so large that results could overflow: the sum of squares tells."""
    total = splat(tag, 0.0)
    for i in range(buffer.size // len(tag)):
        x = load(tag, buffer, i)
        total += x * x
    return beyond(total, LARGEST_SQUARE)


HEADER = 9


def header(
    model: FloatArray,
    size: int,
    nq: int,
    nv: int,
    na: int,
    nout: int,
    quaternions: Sequence[int],
    places: IntArray,
    wrench: int = 0,
) -> FloatArray:
    """The packed model preceded by what a driver needs: lengths of model, workspace, q, v, a (or tau) and result of one
    state, the length of external wrenches, where quaternions begin in q, and for matrices where their entries are
    stored (`triangle.places`).

    It is passed as an address: an integer argument costs about 15 ns per call, an array 85 ns. The caller must keep it
    alive as long as the driver.
    """
    lengths = [model.size, size, nq, nv, na, nout, len(quaternions), len(places), wrench]
    return np.concatenate([lengths, quaternions, places.view(np.float64), model])  # integers, bit by bit


@register_jitable(**HELPER)
def _unpack(address: int) -> Any:
    """The lengths, the indices of quaternions, and the model, from the address of a header."""
    lengths = numba.carray(pointer(address), (HEADER,))
    count, behind = int(lengths[6]), int(lengths[6]) + int(lengths[7])
    quaternions = numba.carray(pointer(address + 8 * HEADER), (count,))
    return lengths, quaternions, span_at(address + 8 * (HEADER + behind), int(lengths[0]))


@register_jitable(**HELPER)
def _places(address: int) -> Any:
    """Where the entries of a matrix are in the output of the kernel."""
    lengths = numba.carray(pointer(address), (HEADER,))
    return numba.carray(integers(address + 8 * (HEADER + int(lengths[6]))), (int(lengths[7]),))


@register_jitable(**HELPER)
def _not_unit(tag: Any, quaternions: Any, q: Any) -> Any:
    bad = False
    for k in range(quaternions.size):
        j = int(quaternions[k])
        x, y, z, w = load(tag, q, j), load(tag, q, j + 1), load(tag, q, j + 2), load(tag, q, j + 3)
        bad |= beyond(x * x + y * y + z * z + w * w - 1.0, UNIT)
    return bad


def _single_configuration(header: int, q: int, v: int, a: int, wrench: int, out: int) -> int:
    align_stack()
    lengths, quaternions, model = _unpack(header)
    places = _places(header)
    size, count = int(lengths[1]), int(lengths[5])
    room = scratch(size + count + 1)
    if room == 0:
        return NO_MEMORY
    state, result = span_at(q, int(lengths[2])), span_at(out, count)
    triangle = span_at(room + 8 * size, count + 1)
    store(ONE, triangle, count, 0.0)  # entries of coordinates that do not couple are read from here
    kernel(ONE, model, state, triangle, span_at(room, size))
    for j in range(count):
        store(ONE, result, j, load(ONE, triangle, places[j]))
    release(room, size + count + 1)
    if _not_unit(ONE, quaternions, state):
        return NOT_UNIT
    return NOT_FINITE if _not_finite(ONE, state) else 0


@register_jitable(**HELPER)
def _checks(quaternions: Any, q: Any, v: Any, a: Any) -> Any:
    if _not_unit(ONE, quaternions, q):
        return NOT_UNIT
    return NOT_FINITE if _not_finite(ONE, q) or _not_finite(ONE, v) or _not_finite(ONE, a) else 0


def _single_state(header: int, q: int, v: int, a: int, wrench: int, out: int) -> int:
    align_stack()
    lengths, quaternions, model = _unpack(header)
    size = int(lengths[1])
    room = scratch(size)
    if room == 0:
        return NO_MEMORY
    q1, v1, a1 = span_at(q, int(lengths[2])), span_at(v, int(lengths[3])), span_at(a, int(lengths[4]))
    kernel(ONE, model, q1, v1, a1, None, span_at(out, int(lengths[5])), span_at(room, size))
    release(room, size)
    return int(_checks(quaternions, q1, v1, a1))


def _single_state_pushed(header: int, q: int, v: int, a: int, wrench: int, out: int) -> int:
    align_stack()
    lengths, quaternions, model = _unpack(header)
    size = int(lengths[1])
    room = scratch(size)
    if room == 0:
        return NO_MEMORY
    q1, v1, a1 = span_at(q, int(lengths[2])), span_at(v, int(lengths[3])), span_at(a, int(lengths[4]))
    push = span_at(wrench, int(lengths[8]))
    kernel(ONE, model, q1, v1, a1, push, span_at(out, int(lengths[5])), span_at(room, size))
    release(room, size)
    if _not_finite(ONE, push):
        return NOT_FINITE
    return int(_checks(quaternions, q1, v1, a1))


@register_jitable(**HELPER)
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


@register_jitable(**HELPER)
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


@register_jitable(**HELPER)
def _scatter_matrices(block: Any, places: Any, k: int, rows: Any) -> None:
    """Whole matrices into rows k to k + 7, from their lower triangles in a lane-blocked buffer."""
    count = rows.shape[1]
    if k + LANES <= rows.shape[0] and count >= LANES:
        # Tiles are aligned to cache lines, and the first and last overlap with others: numpy's arrays begin 16 bytes
        # into a line, and stores across two lines take 1.4 times as long.
        aligned = LANES - rows[k:].ctypes.data // 8 % LANES
        store_placed_tile(rows, k, 0, block, places)
        for j in range(aligned, count - LANES, LANES):
            store_placed_tile(rows, k, j, block, places)
        store_placed_tile(rows, k, count - LANES, block, places)
        return
    for lane in range(min(LANES, rows.shape[0] - k)):
        for j in range(count):
            rows[k + lane, j] = block[places[j] * LANES + lane]


@register_jitable(**HELPER)
def _blocks(size: int) -> Any:
    """A lane-blocked buffer for so many numbers of each lane, from the beginning of a cache line.

    numba aligns arrays to 32 bytes: with packs of 64, all would cross cache lines in one process and none in another,
    and a batch takes up to 1.3 times as long.
    """
    room = np.empty((size + 1) * LANES)
    begin = -(room.ctypes.data // 8) % LANES
    return room[begin : begin + size * LANES]


def _block(rows: Any) -> Any:
    """A lane-blocked buffer for rows, None for None."""


@overload(_block, strict=False, jit_options=HELPER)
def _block_by_type(rows: Any) -> Any:
    # By type, not by ``if rows is None``: numba prunes that branch for None only, an array would give an Optional.
    if isinstance(rows, types.NoneType):
        return lambda rows: None
    return lambda rows: _blocks(rows.shape[1])


def _batch_configuration(address: int, q: Any, out: Any) -> int:
    align_stack()
    lengths, quaternions, model = _unpack(address)
    if q.shape[1] != lengths[2] or out.shape[1] != lengths[5]:
        return BAD_SHAPE
    work = _blocks(int(lengths[1]))
    places = _places(address)
    q8, out8 = _blocks(q.shape[1]), _blocks(out.shape[1] + 1)
    store(EIGHT, out8, out.shape[1], splat(EIGHT, 0.0))
    status = 0
    for k in range(0, q.shape[0], LANES):
        _gather(q, k, q8)
        kernel(EIGHT, model, span(q8), span(out8), span(work))
        _scatter_matrices(out8, places, k, out)
        if _not_finite(EIGHT, q8):
            status = NOT_FINITE
        elif _not_unit(EIGHT, quaternions, q8):
            status = NOT_UNIT
    keep(work)
    return status


def _batch_state(address: int, q: Any, v: Any, a: Any, wrench: Any, out: Any) -> int:
    align_stack()
    lengths, quaternions, model = _unpack(address)
    if q.shape[1] != lengths[2] or v.shape[1] != lengths[3] or a.shape[1] != lengths[4] or out.shape[1] != lengths[5]:
        return BAD_SHAPE
    work = _blocks(int(lengths[1]))
    q8, out8 = _blocks(q.shape[1]), _blocks(out.shape[1])
    v8, a8 = _blocks(v.shape[1]), _blocks(a.shape[1])
    w8 = _block(wrench)
    if wrench is not None:
        _gather(wrench, 0, w8)  # one row for all states is gathered once
    status = 0
    for k in range(0, q.shape[0], LANES):
        _gather(q, k, q8)
        _gather(v, k, v8)
        _gather(a, k, a8)
        if wrench is not None and wrench.shape[0] > 1:
            _gather(wrench, k, w8)
        kernel(EIGHT, model, span(q8), span(v8), span(a8), span(w8), span(out8), span(work))
        _scatter(out8, k, out)
        if _not_finite(EIGHT, q8) or _not_finite(EIGHT, v8) or _not_finite(EIGHT, a8):
            status = NOT_FINITE
        elif _not_unit(EIGHT, quaternions, q8):
            status = NOT_UNIT
    keep(work)
    return status


# form, whether for rows, whether a single state comes with external wrenches
TEMPLATES: dict[tuple[str, bool, bool], Any] = {
    ("configuration", False, False): _single_configuration,
    ("configuration", True, False): _batch_configuration,
    ("state", False, False): _single_state,
    ("state", False, True): _single_state_pushed,
    ("state", True, False): _batch_state,
}
