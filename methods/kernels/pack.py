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
from numba.extending import intrinsic, lower_builtin, models, overload, register_jitable, register_model

from dynbench.methods.kernels import scalar

FLAGS = ("contract", "nsz", "arcp")
JIT_OPTIONS: dict[str, Any] = {"fastmath": set(FLAGS), "error_model": "numpy", "boundscheck": False}

double = ir.DoubleType()
i64 = ir.IntType(64)


class Pack(types.Type):  # type: ignore[misc]
    """W doubles side by side, one per state."""

    def __init__(self, W: int) -> None:
        self.W = W
        super().__init__(name=f"f64x{W}")

    @property
    def key(self) -> int:
        return self.W


@register_model(Pack)
class PackModel(models.PrimitiveModel):  # type: ignore[misc]
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
    class Typing(AbstractTemplate):  # type: ignore[misc]
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
class _Negation(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if isinstance(args[0], Pack) else None


@lower_builtin(operator.neg, Pack)
def _negate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0], flags=FLAGS)


# Memory ------------------------------------------------------------------------------------------------------------


def _address(context: Any, builder: Any, array_type: Any, array: Any, i: Any, W: int) -> Any:
    """Pointer to scalar ``i`` of a lane-blocked array: no bounds check, no wrap-around of negative indices."""
    data = context.make_array(array_type)(context, builder, array).data
    if W == 1:
        return builder.gep(data, [i])
    blocked = builder.bitcast(data, ir.VectorType(double, W).as_pointer())
    return builder.gep(blocked, [i])


@intrinsic  # type: ignore[misc]
def _load(typingctx: Any, tag: Any, array: Any, i: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[1], args[1], args[2], width(tag)), align=8)

    return scalar_type(tag)(tag, array, types.intp), code


@intrinsic  # type: ignore[misc]
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


@intrinsic  # type: ignore[misc]
def load_column(typingctx: Any, tag: Any, rows: Any, k: Any, j: Any) -> Any:
    """One coordinate of W states that lie in rows: a transposing load"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        x = ir.Constant(ir.VectorType(double, width(tag)), ir.Undefined)
        for lane, p in enumerate(_column(context, builder, sig.args[1], *args[1:4], width(tag))):
            x = builder.insert_element(x, builder.load(p, align=8), ir.Constant(ir.IntType(32), lane))
        return x

    return scalar_type(tag)(tag, rows, types.intp, types.intp), code


@intrinsic  # type: ignore[misc]
def store_column(typingctx: Any, tag: Any, rows: Any, k: Any, j: Any, x: Any) -> Any:
    """The reverse of `load_column`"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        for lane, p in enumerate(_column(context, builder, sig.args[1], *args[1:4], width(tag))):
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
    rows = [builder.bitcast(p, pack.as_pointer()) for p in _column(context, builder, sig.args[0], *args[:3], 8)]
    data = context.make_array(sig.args[3])(context, builder, args[3]).data
    blocked = builder.bitcast(data, pack.as_pointer())
    block = [builder.gep(blocked, [builder.add(args[2], ir.Constant(i64, lane))]) for lane in range(8)]
    source, target = (rows, block) if rows_to_block else (block, rows)
    for x, p in zip(_transpose(builder, [builder.load(p, align=8) for p in source]), target, strict=True):
        builder.store(x, p, align=8)
    return context.get_dummy_value()


@intrinsic  # type: ignore[misc]
def load_tile(typingctx: Any, rows: Any, k: Any, j: Any, block: Any) -> Any:
    """Eight coordinates of eight states that lie in rows, into a lane-blocked buffer"""
    sig = types.void(rows, types.intp, types.intp, block)
    return sig, lambda context, builder, sig, args: _tile(context, builder, sig, args, True)


@intrinsic  # type: ignore[misc]
def store_tile(typingctx: Any, rows: Any, k: Any, j: Any, block: Any) -> Any:
    """The reverse of `load_tile`"""
    sig = types.void(rows, types.intp, types.intp, block)
    return sig, lambda context, builder, sig, args: _tile(context, builder, sig, args, False)


@intrinsic  # type: ignore[misc]
def _splat(typingctx: Any, tag: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return widen(context, builder, args[1], sig.args[1], sig.return_type)

    return scalar_type(tag)(tag, x), code


@overload(scalar.load, strict=False)  # type: ignore[misc]
def _overload_load(tag: Any, buffer: Any, i: Any) -> Any:
    return lambda tag, buffer, i: _load(tag, buffer, i)


@overload(scalar.store, strict=False)  # type: ignore[misc]
def _overload_store(tag: Any, buffer: Any, i: Any, x: Any) -> Any:
    return lambda tag, buffer, i, x: _store(tag, buffer, i, x)


@overload(scalar.const, strict=False)  # type: ignore[misc]
def _overload_const(model: Any, i: Any) -> Any:
    return lambda model, i: _load((0,), model, i)


@overload(scalar.index, strict=False)  # type: ignore[misc]
def _overload_index(model: Any, i: Any) -> Any:
    return lambda model, i: int(_load((0,), model, i))


@overload(scalar.splat, strict=False)  # type: ignore[misc]
def _overload_splat(tag: Any, x: Any) -> Any:
    return lambda tag, x: _splat(tag, x)


# Functions ---------------------------------------------------------------------------------------------------------


def _call(builder: Any, name: str, *args: Any) -> Any:
    """Call an LLVM intrinsic at the width of its arguments."""
    kind = args[0].type
    suffix = f".v{kind.count}f64" if isinstance(kind, ir.VectorType) else ".f64"
    function_type = ir.FunctionType(kind, [kind] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name + suffix), args)


def _one_argument(name: str) -> Any:
    @intrinsic  # type: ignore[misc]
    def function(typingctx: Any, x: Any) -> Any:
        return x(x), lambda context, builder, sig, args: _call(builder, name, args[0])

    return function


_rint = _one_argument("llvm.rint")
_sqrt = _one_argument("llvm.sqrt")


@overload(scalar.sqrt, strict=False)  # type: ignore[misc]
def _overload_sqrt(x: Any) -> Any:
    return lambda x: _sqrt(x)


@intrinsic  # type: ignore[misc]
def _fnma(typingctx: Any, n: Any, p: Any, x: Any) -> Any:
    """x - n p in one rounding; explicit, so that no flag can reassociate the argument reduction"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        p = widen(context, builder, args[1], sig.args[1], sig.args[0])
        return _call(builder, "llvm.fma", args[0], builder.fneg(p), args[2])

    return x(n, p, x), code


@intrinsic  # type: ignore[misc]
def _quadrant(typingctx: Any, n: Any, s: Any, c: Any) -> Any:
    """(sin, cos) from the reduced argument's sine and cosine and the quadrant number n, without a branch"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        n, s, c = args
        W = getattr(n.type, "count", None)
        bits = ir.VectorType(i64, W) if W else i64

        def constant(value: int) -> Any:
            return ir.Constant(bits, [value] * W if W else value)

        # adding 2**52 + 2**51 leaves the integer in the low bits of the mantissa
        magic = 6755399441055744.0
        i = builder.bitcast(builder.fadd(n, ir.Constant(n.type, [magic] * W if W else magic)), bits)
        odd = builder.icmp_signed("!=", builder.and_(i, constant(1)), constant(0))
        sine, cosine = builder.select(odd, c, s), builder.select(odd, s, c)
        flip_sine = builder.shl(builder.and_(i, constant(2)), constant(62))
        flip_cosine = builder.shl(builder.and_(builder.add(i, constant(1)), constant(2)), constant(62))
        sine = builder.bitcast(builder.xor(builder.bitcast(sine, bits), flip_sine), n.type)
        cosine = builder.bitcast(builder.xor(builder.bitcast(cosine, bits), flip_cosine), n.type)
        return context.make_tuple(builder, sig.return_type, (sine, cosine))

    return types.UniTuple(n, 2)(n, s, c), code


@intrinsic  # type: ignore[misc]
def beyond(typingctx: Any, x: Any, limit: Any) -> Any:
    """True where any lane is larger than ``limit`` in size, or NaN"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        size = _call(builder, "llvm.fabs", args[0])
        far = builder.fcmp_unordered("ugt", size, widen(context, builder, args[1], sig.args[1], sig.args[0]))
        if not isinstance(sig.args[0], Pack):
            return far
        mask = ir.IntType(sig.args[0].W)
        return builder.icmp_unsigned("!=", builder.bitcast(far, mask), ir.Constant(mask, 0))

    return types.boolean(x, limit), code


@intrinsic  # type: ignore[misc]
def _sincos_libm(typingctx: Any, x: Any) -> Any:
    """lane by lane through the C library: slow, and right for any argument"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not isinstance(sig.args[0], Pack):
            both = [_call(builder, name, args[0]) for name in ("llvm.sin", "llvm.cos")]
            return context.make_tuple(builder, sig.return_type, both)
        both = [ir.Constant(args[0].type, ir.Undefined)] * 2
        for lane in range(sig.args[0].W):
            k = ir.Constant(ir.IntType(32), lane)
            one = builder.extract_element(args[0], k)
            both = [
                builder.insert_element(v, _call(builder, f, one), k)
                for v, f in zip(both, ("llvm.sin", "llvm.cos"), strict=True)
            ]
        return context.make_tuple(builder, sig.return_type, both)

    return types.UniTuple(x, 2)(x), code


# pi/2 in three parts (Cody-Waite); below the limit n * P1 and the fused steps leave an error under 1.1 ulp (tested)
P1, P2, P3 = 1.5707963267341256e00, 6.0771005063039660e-11, 2.0222662487959506e-21
TWO_OVER_PI = 0.6366197723675814
REDUCTION_LIMIT = 1e5


@register_jitable(**JIT_OPTIONS)  # type: ignore[misc]
def _sincos_polynomial(x: Any) -> Any:
    """Cephes' minimax polynomials on [-pi/4, pi/4]"""
    n = _rint(x * TWO_OVER_PI)
    r = _fnma(n, P3, _fnma(n, P2, _fnma(n, P1, x)))
    z = r * r
    s = z * 1.58969099521155010221e-10 - 2.50507602534068634195e-08
    s = z * s + 2.75573137070700676789e-06
    s = z * s - 1.98412698298579493134e-04
    s = z * s + 8.33333333332248946124e-03
    s = z * s - 1.66666666666666324348e-01
    c = z * -1.13596475577881948265e-11 + 2.08757232129817482790e-09
    c = z * c - 2.75573143513906633035e-07
    c = z * c + 2.48015872894767294178e-05
    c = z * c - 1.38888888888741095749e-03
    c = z * c + 4.16666666666666019037e-02
    s = r + r * z * s
    c = 1.0 - 0.5 * z + z * z * c
    return _quadrant(n, s, c)


@overload(scalar.sincos, strict=False, jit_options=JIT_OPTIONS)  # type: ignore[misc]
def _overload_sincos(x: Any) -> Any:
    if not isinstance(x, Pack | types.Float):
        return None

    def sincos(x: Any) -> Any:
        if beyond(x, REDUCTION_LIMIT):
            return _sincos_libm(x)
        return _sincos_polynomial(x)

    return sincos
