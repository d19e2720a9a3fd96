"""Between rows of states and lane-blocked buffers: columns one by one, or eight at a time, transposed in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dynbench.methods.kernels.memory import double, i64
from dynbench.methods.kernels.pack import scalar_type, width


def _column(context: Any, builder: Any, array_type: Any, array: Any, k: Any, j: Any, W: int) -> list[Any]:
    """Pointers to element j of rows k to k + W - 1 of a C-contiguous matrix."""
    matrix = context.make_array(array_type)(context, builder, array)
    width = cgutils.unpack_tuple(builder, matrix.shape, 2)[1]
    first = builder.gep(matrix.data, [builder.add(builder.mul(k, width), j)])
    return [builder.gep(first, [builder.mul(width, ir.Constant(width.type, lane))]) for lane in range(W)]


@intrinsic
def load_column(typingctx: Any, tag: Any, rows: Any, k: Any, j: Any) -> Any:
    """One coordinate of W states that lie in rows: a transposing load"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = ir.Constant(ir.VectorType(double, width(tag)), ir.Undefined)
        for lane, p in enumerate(_column(context, builder, sig.args[1], args[1], args[2], args[3], width(tag))):
            x = builder.insert_element(x, builder.load(p, align=8), ir.Constant(ir.IntType(32), lane))
        return x

    return scalar_type(tag)(tag, rows, types.intp, types.intp), code


@intrinsic
def store_column(typingctx: Any, tag: Any, rows: Any, k: Any, j: Any, x: Any) -> Any:
    """The reverse of `load_column`"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for lane, p in enumerate(_column(context, builder, sig.args[1], args[1], args[2], args[3], width(tag))):
            builder.store(builder.extract_element(args[4], ir.Constant(ir.IntType(32), lane)), p, align=8)
        return context.get_dummy_value()

    return types.void(tag, rows, types.intp, types.intp, x), code


def _transpose(builder: Any, x: list[Any]) -> list[Any]:
    """Eight packs of eight, transposed in three rounds of shuffles"""
    for step in (1, 2, 4):
        low = [k + (8 - step if k & step else 0) for k in range(8)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), 8), [k + add for k in low]) for add in (0, step)]
        for i in (i for i in range(8) if not i & step):
            x[i], x[i + step] = (builder.shuffle_vector(x[i], x[i + step], mask) for mask in masks)
    return x


def _tile(context: Any, builder: Any, sig: Any, args: Any, rows_to_block: bool) -> Any:
    """Eight columns from j on of eight rows from k on, to or from scalars j to j + 7 of a lane-blocked buffer"""
    pack = ir.VectorType(double, 8)
    starts = _column(context, builder, sig.args[0], args[0], args[1], args[2], 8)
    rows = [builder.bitcast(p, pack.as_pointer()) for p in starts]
    data = context.make_array(sig.args[3])(context, builder, args[3]).data
    blocked = builder.bitcast(data, pack.as_pointer())
    block = [builder.gep(blocked, [builder.add(args[2], ir.Constant(i64, lane))]) for lane in range(8)]
    source, target = (rows, block) if rows_to_block else (block, rows)
    for x, p in zip(_transpose(builder, [builder.load(p, align=8) for p in source]), target, strict=True):
        builder.store(x, p, align=8)
    return context.get_dummy_value()


@intrinsic
def load_tile(typingctx: Any, rows: Any, k: Any, j: Any, block: Any) -> Any:
    """Eight coordinates of eight states that lie in rows, into a lane-blocked buffer"""
    sig = types.void(rows, types.intp, types.intp, block)
    return sig, lambda context, builder, sig, args: _tile(context, builder, sig, args, True)


@intrinsic
def store_tile(typingctx: Any, rows: Any, k: Any, j: Any, block: Any) -> Any:
    """The reverse of `load_tile`"""
    sig = types.void(rows, types.intp, types.intp, block)
    return sig, lambda context, builder, sig, args: _tile(context, builder, sig, args, False)


@intrinsic
def store_placed_tile(typingctx: Any, rows: Any, k: Any, j: Any, block: Any, places: Any) -> Any:
    """As `store_tile`, but what comes to column j is the scalar at places[j] of the buffer"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pack = ir.VectorType(double, 8)
        blocked = builder.bitcast(context.make_array(sig.args[3])(context, builder, args[3]).data, pack.as_pointer())
        first = builder.gep(context.make_array(sig.args[4])(context, builder, args[4]).data, [args[2]])
        sources = [builder.load(builder.gep(first, [ir.Constant(i64, lane)])) for lane in range(8)]
        packs = _transpose(builder, [builder.load(builder.gep(blocked, [at]), align=8) for at in sources])
        starts = _column(context, builder, sig.args[0], args[0], args[1], args[2], 8)
        for x, p in zip(packs, starts, strict=True):
            builder.store(x, builder.bitcast(p, pack.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(rows, types.intp, types.intp, block, places), code
