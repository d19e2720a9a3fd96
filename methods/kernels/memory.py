"""Memory in compiled code: spans, the buffers that kernels get, and the workspace and stack of a driver.

Packs are not used here: `pack` loads and stores them, `tiles` transposes between rows and packs.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, make_attribute_wrapper, models, overload, register_model

from dynbench.methods.kernels.jit import HELPER

double = ir.DoubleType()
i64 = ir.IntType(64)


@intrinsic
def pointer(typingctx: Any, address: Any) -> Any:
    """An address as a pointer to doubles"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], double.as_pointer())

    return types.CPointer(types.float64)(types.intp), code


@intrinsic
def integers(typingctx: Any, address: Any) -> Any:
    """An address as a pointer to integers of 64 bits"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], i64.as_pointer())

    return types.CPointer(types.int64)(types.intp), code


class Span(types.Type):
    """An address and a number of doubles: the type of a kernel's buffers.

    Arrays are reference counted. numba does not always remove the counting inside a sweep, and each time all packs are
    spilled to the stack. A span holds no reference to its memory; see `keep`.
    """

    def __init__(self) -> None:
        super().__init__(name="span")


SPAN = Span()


@register_model(Span)
class SpanModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Span) -> None:
        super().__init__(dmm, fe_type, [("data", types.CPointer(types.float64)), ("size", types.intp)])


make_attribute_wrapper(Span, "size", "size")


def _span(context: Any, builder: Any, data: Any, size: Any) -> Any:
    made = cgutils.create_struct_proxy(SPAN)(context, builder)
    made.data, made.size = data, size
    return made._getvalue()


@intrinsic
def span(typingctx: Any, array: Any) -> Any:
    """The numbers of a contiguous array; None for None"""
    if isinstance(array, types.NoneType):
        return array(array), lambda context, builder, sig, args: args[0]

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        given = context.make_array(array)(context, builder, args[0])
        return _span(context, builder, given.data, given.nitems)

    return SPAN(array), code


@intrinsic
def span_at(typingctx: Any, address: Any, size: Any) -> Any:
    """The numbers from an address on"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _span(context, builder, builder.inttoptr(args[0], double.as_pointer()), args[1])

    return SPAN(types.intp, types.intp), code


@intrinsic
def keep(typingctx: Any, array: Any) -> Any:
    """Keep an array alive up to here: numba frees it after its last use, and does not see the use of its spans"""
    return types.void(array), lambda context, builder, sig, args: context.get_dummy_value()


ON_STACK = 4096  # doubles


@intrinsic
def scratch(typingctx: Any, size: Any) -> Any:
    """Address of ``size`` doubles, on the caller's stack if there are few; must be freed by `release`

    0 if there is no memory for them. With an array instead, a single call of Panda's inverse dynamics takes 8 % longer.
    """

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        malloc = cgutils.get_or_insert_function(builder.module, ir.FunctionType(byte, [i64]), "malloc")
        address = cgutils.alloca_once(builder, i64)
        few = builder.icmp_unsigned("<=", args[0], ir.Constant(i64, ON_STACK))
        with builder.if_else(few) as (here, there):
            with here:
                room = builder.alloca(double, size=args[0])
                room.align = 64
                builder.store(builder.ptrtoint(room, i64), address)
            with there:
                room = builder.call(malloc, [builder.mul(args[0], ir.Constant(i64, 8))])
                builder.store(builder.ptrtoint(room, i64), address)
        return builder.load(address)

    return types.intp(types.intp), code


@intrinsic
def release(typingctx: Any, address: Any, size: Any) -> Any:
    """Free the memory of `scratch`"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        free = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [byte]), "free")
        with builder.if_then(builder.icmp_unsigned(">", args[1], ir.Constant(i64, ON_STACK))):
            builder.call(free, [builder.inttoptr(args[0], byte)])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), code


@overload(operator.getitem, strict=False, jit_options=HELPER)
def _part(buffer: Any, where: Any) -> Any:
    if not isinstance(buffer, Span):
        return None
    if isinstance(where, types.Integer):
        return lambda buffer, where: _number(buffer, where)
    return lambda buffer, where: _between(buffer, where.start, min(where.stop, buffer.size))


@intrinsic
def _between(typingctx: Any, buffer: Any, start: Any, stop: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = builder.gep(builder.extract_value(args[0], 0), [args[1]])
        return _span(context, builder, data, builder.sub(args[2], args[1]))

    return SPAN(buffer, types.intp, types.intp), code


@intrinsic
def _number(typingctx: Any, buffer: Any, i: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(builder.gep(builder.extract_value(args[0], 0), [args[1]]), align=8)

    return types.float64(buffer, types.intp), code


def data(context: Any, builder: Any, kind: Any, buffer: Any) -> Any:
    """Pointer to the first double of a span or an array"""
    if isinstance(kind, Span):
        return builder.extract_value(buffer, 0)
    return context.make_array(kind)(context, builder, buffer).data


@intrinsic
def align_stack(typingctx: Any) -> Any:
    """Align the stack of the calling function to cache lines

    A kernel keeps dozens of packs on the stack. LLVM aligns it only to 16 bytes unless a variable needs more. If packs
    cross cache lines, which differs from process to process, kernels take up to 1.7 times as long.
    """

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        room = cgutils.alloca_once(builder, ir.VectorType(double, 8))
        room.align = 64
        used = ir.FunctionType(ir.VoidType(), [room.type])  # so that the optimiser does not remove it
        builder.asm(used, "", "r", [room], side_effect=True)
        return context.get_dummy_value()

    return types.void(), code
