"""Functions of the generic scalar in compiled code: square root, and a sincos right for every argument.

Up to `REDUCTION_LIMIT` the argument is reduced by pi/2 in three parts (Cody-Waite) and sine and cosine are Cephes'
polynomials, without a branch and at the width of the pack; beyond it, and for NaN, each lane goes through the C
library.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from dynbench.methods.kernels import scalar
from dynbench.methods.kernels.jit import HELPER
from dynbench.methods.kernels.memory import i64
from dynbench.methods.kernels.pack import Pack, widen


def _call(builder: Any, name: str, *args: Any) -> Any:
    """Call an LLVM intrinsic at the width of its arguments."""
    kind = args[0].type
    suffix = f".v{kind.count}f64" if isinstance(kind, ir.VectorType) else ".f64"
    function_type = ir.FunctionType(kind, [kind] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name + suffix), args)


def _one_argument(name: str) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        return x(x), lambda context, builder, sig, args: _call(builder, name, args[0])

    return function


_rint = _one_argument("llvm.rint")
_sqrt = _one_argument("llvm.sqrt")


@overload(scalar.sqrt, strict=False, jit_options=HELPER)
def _overload_sqrt(x: Any) -> Any:
    return lambda x: _sqrt(x)


@overload(scalar.guard, strict=False, jit_options=HELPER)
def _overload_guard(x: Any) -> Any:
    return lambda x: _sqrt(x) * 0.0


@intrinsic
def _fnma(typingctx: Any, n: Any, p: Any, x: Any) -> Any:
    """x - n p in one rounding; explicit, so that no flag can reassociate the argument reduction"""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        p = widen(context, builder, args[1], sig.args[1], sig.args[0])
        return _call(builder, "llvm.fma", args[0], builder.fneg(p), args[2])

    return x(n, p, x), code


@intrinsic
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


@intrinsic
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


@overload(scalar.any_above, strict=False, jit_options=HELPER)
def _overload_any_above(x: Any, limit: Any) -> Any:
    return lambda x, limit: beyond(x, limit)


@intrinsic
def _choose(typingctx: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
    wide = next((kind for kind in (x, y, a, b) if isinstance(kind, Pack)), types.float64)

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, second, yes, no = (widen(context, builder, *pair, wide) for pair in zip(args, sig.args, strict=True))
        return builder.select(builder.fcmp_ordered(">", first, second), yes, no)

    return wide(x, y, a, b), code


@overload(scalar.choose, strict=False, jit_options=HELPER)
def _overload_choose(x: Any, y: Any, a: Any, b: Any) -> Any:
    return lambda x, y, a, b: _choose(x, y, a, b)


@intrinsic
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


@register_jitable(**HELPER)
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


@overload(scalar.sincos, strict=False, jit_options=HELPER)
def _overload_sincos(x: Any) -> Any:
    if not isinstance(x, Pack | types.Float):
        return None

    def sincos(x: Any) -> Any:
        if beyond(x, REDUCTION_LIMIT):
            return _sincos_libm(x)
        return _sincos_polynomial(x)

    return sincos
