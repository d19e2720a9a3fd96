"""The generic scalar: what a formulation may do with a number, whatever the number is.

A formulation is written once, as plain Python functions marked ``@generic``. Its numbers may be

* Python floats: the functions run as they stand and can be stepped through in a debugger;
* float64 in compiled code: one state per call;
* a SIMD pack of eight doubles in compiled code: eight states at once (`pack`);
* symbols: what comes out is a graph of operations on the state, for one robot (`traced`);
* counting scalars: every operation is tallied (`count`).

The first argument of a function, the *tag*, decides which of these it works on: a tuple whose length is the number of
lanes. `load` and `store` read and write one scalar of that width; buffers are flat and lane-blocked, so that scalar
``i`` of a block of eight states occupies ``buffer[8 i : 8 i + 8]``. With one lane a buffer is just a vector.

The functions here are the plain-Python versions; `pack` defines those for numba when something is first compiled. This
module does not import numba.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeVar

Scalar = Any  # float, float64, a pack or a counting scalar
Tag = tuple[int, ...]
Buffer = Any  # flat float64 array, or an object array of counting scalars

ONE: Tag = (0,)
LANES = 8  # best overall: 16 ties on AVX-512 and loses on AVX2
EIGHT: Tag = (0,) * LANES

Function = TypeVar("Function", bound=Callable[..., Any])

LOADED = time.time()  # before the source of any kernel is loaded: they all import this module
pending: list[Callable[..., Any]] = []  # generic functions not yet registered with numba


def generic(function: Function) -> Function:
    """Mark ``function`` as written over the generic scalar; it stays a plain Python function."""
    pending.append(function)
    return function


def with_globals(
    function: Callable[..., Any], name: str, module: str, names: Mapping[str, Any], file: str | None = None
) -> Callable[..., Any]:
    """Return a copy of ``function`` with other globals; not a closure, because numba's disk cache never finds those.

    Parameters
    ----------
    function
        What to copy.
    name, module : str
        Qualified name and module of the copy. numba's disk cache is keyed on them: copies need different names.
    names : mapping
        Globals of the copy that replace or extend those of the function.
    file : str, optional
        The source file that the copy claims to be from.
    """
    source: Any = function
    code = source.__code__ if file is None else source.__code__.replace(co_filename=file)
    copy = FunctionType(code, {**source.__globals__, **names}, name.replace(".", "_"))
    copy.__module__, copy.__qualname__, copy.__doc__ = module, name, source.__doc__
    return copy


def called(function: Function) -> Function:
    """Mark ``function`` as `generic`, and as one to call, not to inline: linear algebra that many places use.

    A call is nothing beside some hundred operations, and inlined everywhere they take a minute to compile.
    """
    function.called = True  # type: ignore[attr-defined]
    return generic(function)


def load(tag: Tag, buffer: Buffer, i: int) -> Scalar:
    """Return scalar ``i`` of a lane-blocked buffer."""
    return buffer[i]


def store(tag: Tag, buffer: Buffer, i: int, x: Scalar) -> None:
    """Write scalar ``i`` of a lane-blocked buffer."""
    buffer[i] = x


def const(model: Buffer, i: int) -> Scalar:
    """Return number ``i`` of the packed model, the same for every lane."""
    return model[i]


def index(model: Buffer, i: int) -> int:
    """Return number ``i`` of the packed model as an integer (indices ride along as doubles, exact to 2**53)."""
    return int(model[i])


def splat(tag: Tag, x: Scalar) -> Scalar:
    """Return the constant ``x`` as a scalar of the tag's width."""
    return x


def sincos(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return (sin x, cos x), right for every finite ``x``; NaN for infinities and NaN."""
    if not isinstance(x, float):
        both: tuple[Scalar, Scalar] = x.sincos()
        return both
    if math.isinf(x):
        return math.nan, math.nan
    return math.sin(x), math.cos(x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root; NaN for negative numbers."""
    if not isinstance(x, float):
        return x.sqrt()
    return math.sqrt(x) if x >= 0.0 else math.nan


def guard(x: Scalar) -> Scalar:
    """Return zero, or NaN if ``x`` is negative or NaN: added to a result, it takes the place of a comparison.

    A word of its own, so that no reading of a kernel takes it for a product with zero.
    """
    if not isinstance(x, float):
        return x.guard()
    return 0.0 if x >= 0.0 else math.nan


def choose(x: Scalar, y: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """Return ``a`` where ``x > y``, else ``b``, lane by lane: a pivot without a branch."""
    if not isinstance(x, float):
        return x.choose(y, a, b)
    return a if x > y else b


def any_above(x: Scalar, limit: float) -> bool:
    """Return whether any lane of ``x`` is above ``limit`` in size, or NaN: to leave out work that no lane needs."""
    return not abs(float(x)) <= limit
