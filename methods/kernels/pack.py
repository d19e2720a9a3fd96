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
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

from dynbench.methods.kernels import scalar
from dynbench.methods.kernels.jit import FLAGS, HELPER
from dynbench.methods.kernels.memory import data, double


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


# Loads, stores, constants -----------------------------------------------------------------------------------------


def _address(context: Any, builder: Any, array_type: Any, array: Any, i: Any, W: int) -> Any:
    """Pointer to scalar ``i`` of a lane-blocked array: no bounds check, no wrap-around of negative indices."""
    first = data(context, builder, array_type, array)
    if W == 1:
        return builder.gep(first, [i])
    blocked = builder.bitcast(first, ir.VectorType(double, W).as_pointer())
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


@intrinsic
def _splat(typingctx: Any, tag: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return widen(context, builder, args[1], sig.args[1], sig.return_type)

    return scalar_type(tag)(tag, x), code


@overload(scalar.load, strict=False, jit_options=HELPER)
def _overload_load(tag: Any, buffer: Any, i: Any) -> Any:
    return lambda tag, buffer, i: _load(tag, buffer, i)


@overload(scalar.store, strict=False, jit_options=HELPER)
def _overload_store(tag: Any, buffer: Any, i: Any, x: Any) -> Any:
    return lambda tag, buffer, i, x: _store(tag, buffer, i, x)


@overload(scalar.const, strict=False, jit_options=HELPER)
def _overload_const(model: Any, i: Any) -> Any:
    return lambda model, i: _load((0,), model, i)


@overload(scalar.index, strict=False, jit_options=HELPER)
def _overload_index(model: Any, i: Any) -> Any:
    return lambda model, i: int(_load((0,), model, i))


@overload(scalar.splat, strict=False, jit_options=HELPER)
def _overload_splat(tag: Any, x: Any) -> Any:
    return lambda tag, x: _splat(tag, x)
