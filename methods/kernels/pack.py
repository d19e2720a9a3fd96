"""The SIMD pack, and numba's reading of the generic scalar's vocabulary.

``Pack(W)`` maps LLVM's ``<W x double>`` to a numba type with ``+ - * /`` and unary minus, so that a formulation
written over a scalar compiles to packed AVX code: LLVM's own vectoriser does not manage that. The overloads below
give compiled code its `load`, `store`, `splat`, `sincos`, ... ; the plain-Python ones are in `scalar`.

Floating-point flags are ``contract, nsz, arcp``: never ``nnan`` or ``ninf``, because this suite must see a NaN.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, make_attribute_wrapper, models, overload, register_model

from dynbench.methods.kernels import scalar

FLAGS = ("contract", "nsz", "arcp")
JIT_OPTIONS: dict[str, Any] = {"fastmath": set(FLAGS), "error_model": "numpy", "boundscheck": False}

double = ir.DoubleType()
i64 = ir.IntType(64)


class Pack(types.Type):
    """W doubles side by side, one per state."""

    def __init__(self, W: int) -> None:
        self.W = W
        super().__init__(name=f"f64x{W}")

    @property
    def key(self) -> int:
        return self.W


@register_model(Pack)
class PackModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Pack) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(double, fe_type.W))


def width(tag: types.Type) -> int:
    return int(tag.count)


def scalar_type(tag: types.Type) -> types.Type:
    return types.float64 if width(tag) == 1 else Pack(width(tag))


def broadcast(builder: Any, x: Any, W: int) -> Any:
    undefined = ir.Constant(ir.VectorType(double, W), ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), W), [0] * W))


def widen(context: Any, builder: Any, x: Any, given: types.Type, wanted: types.Type) -> Any:
    """A number of type ``given`` as the scalar type ``wanted`` (float64 or a pack)."""
    if isinstance(given, Pack):
        return x
    x = context.cast(builder, x, given, types.float64)
    return broadcast(builder, x, wanted.W) if isinstance(wanted, Pack) else x


# Arithmetic --------------------------------------------------------------------------------------------------------


def _binary(op: Any, instruction: str) -> None:
    @infer_global(op)
    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != 2:
                return None
            a, b = args
            if isinstance(a, Pack) and isinstance(b, Pack | types.Float | types.Integer):
                return signature(a, a, b)
            if isinstance(b, Pack) and isinstance(a, types.Float | types.Integer):
                return signature(b, a, b)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = widen(context, builder, args[0], sig.args[0], sig.return_type)
        y = widen(context, builder, args[1], sig.args[1], sig.return_type)
        return getattr(builder, instruction)(x, y, flags=FLAGS)

    for a, b in (
        (Pack, Pack),
        (Pack, types.Float),
        (types.Float, Pack),
        (Pack, types.Integer),
        (types.Integer, Pack),
    ):
        lower_builtin(op, a, b)(lower)


for _op, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"),
    (operator.isub, "fsub"),
    (operator.imul, "fmul"),
    (operator.itruediv, "fdiv"),
):
    _binary(_op, _name)


@infer_global(operator.neg)
class _Negation(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if isinstance(args[0], Pack) else None


@lower_builtin(operator.neg, Pack)
def _negate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0], flags=FLAGS)


# Memory ------------------------------------------------------------------------------------------------------------


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
    """An address, and how many doubles there are: what kernels get for a buffer.

    An array would be counted: with references to it taken and dropped in the middle of a sweep, which numba does not
    always see to be needless, all packs go to the stack and back each time. A span owns nothing; see `keep`.
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
    """Does nothing: numba frees an array after its last use, of which spans of it are none"""
    return types.void(array), lambda context, builder, sig, args: context.get_dummy_value()


ON_STACK = 4096  # doubles


@intrinsic
def scratch(typingctx: Any, size: Any) -> Any:
    """Address of so many doubles, to be given back by `release`; on the caller's stack if they are few

    An array costs a single call of Panda's inverse dynamics 8 % more.
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
                with cgutils.if_unlikely(builder, cgutils.is_null(builder, room)):
                    context.call_conv.return_user_exc(builder, MemoryError, ("no memory for a kernel's workspace",))
                builder.store(builder.ptrtoint(room, i64), address)
        return builder.load(address)

    return types.intp(types.intp), code


@intrinsic
def release(typingctx: Any, address: Any, size: Any) -> Any:
    """The reverse of `scratch`"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        free = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [byte]), "free")
        with builder.if_then(builder.icmp_unsigned(">", args[1], ir.Constant(i64, ON_STACK))):
            builder.call(free, [builder.inttoptr(args[0], byte)])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), code


@overload(operator.getitem, strict=False)
def _part(buffer: Any, where: Any) -> Any:
    if not isinstance(buffer, Span):
        return None
    if isinstance(where, types.Integer):
        return lambda buffer, where: _load((0,), buffer, where)
    return lambda buffer, where: _between(buffer, where.start, min(where.stop, buffer.size))


@intrinsic
def _between(typingctx: Any, buffer: Any, start: Any, stop: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = builder.gep(builder.extract_value(args[0], 0), [args[1]])
        return _span(context, builder, data, builder.sub(args[2], args[1]))

    return SPAN(buffer, types.intp, types.intp), code


def _data(context: Any, builder: Any, kind: Any, buffer: Any) -> Any:
    """Pointer to the first double of a span or an array"""
    if isinstance(kind, Span):
        return builder.extract_value(buffer, 0)
    return context.make_array(kind)(context, builder, buffer).data


@intrinsic
def align_stack(typingctx: Any) -> Any:
    """Have the calling function's stack begin at a cache line

    A kernel keeps dozens of packs on the stack. LLVM aligns it to 16 bytes only, unless something there asks for more:
    when packs straddle two cache lines, a matter of luck in every new process, kernels take up to 1.7 times as long.
    """

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        room = cgutils.alloca_once(builder, ir.VectorType(double, 8))
        room.align = 64
        used = ir.FunctionType(ir.VoidType(), [room.type])  # or the optimiser would take it away
        builder.asm(used, "", "r", [room], side_effect=True)
        return context.get_dummy_value()

    return types.void(), code


def _address(context: Any, builder: Any, array_type: Any, array: Any, i: Any, W: int) -> Any:
    """Pointer to scalar ``i`` of a lane-blocked array: no bounds check, no wrap-around of negative indices."""
    data = _data(context, builder, array_type, array)
    if W == 1:
        return builder.gep(data, [i])
    blocked = builder.bitcast(data, ir.VectorType(double, W).as_pointer())
    return builder.gep(blocked, [i])


@intrinsic
def _load(typingctx: Any, tag: Any, array: Any, i: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[1], args[1], args[2], width(tag)), align=8)

    return scalar_type(tag)(tag, array, types.intp), code


@intrinsic
def _store(typingctx: Any, tag: Any, array: Any, i: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = widen(context, builder, args[3], sig.args[3], scalar_type(tag))
        builder.store(value, _address(context, builder, sig.args[1], args[1], args[2], width(tag)), align=8)
        return context.get_dummy_value()

    return types.void(tag, array, types.intp, x), code


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


@intrinsic
def _splat(typingctx: Any, tag: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return widen(context, builder, args[1], sig.args[1], sig.return_type)

    return scalar_type(tag)(tag, x), code


@overload(scalar.load, strict=False)
def _overload_load(tag: Any, buffer: Any, i: Any) -> Any:
    return lambda tag, buffer, i: _load(tag, buffer, i)


@overload(scalar.store, strict=False)
def _overload_store(tag: Any, buffer: Any, i: Any, x: Any) -> Any:
    return lambda tag, buffer, i, x: _store(tag, buffer, i, x)


@overload(scalar.const, strict=False)
def _overload_const(model: Any, i: Any) -> Any:
    return lambda model, i: _load((0,), model, i)


@overload(scalar.index, strict=False)
def _overload_index(model: Any, i: Any) -> Any:
    return lambda model, i: int(_load((0,), model, i))


@overload(scalar.splat, strict=False)
def _overload_splat(tag: Any, x: Any) -> Any:
    return lambda tag, x: _splat(tag, x)
