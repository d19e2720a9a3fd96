"""Built-in functions around machine code: one state per call, checked in some nanoseconds.

A call from Python to a numba function costs 45 ns and 60 ns for every array; the checks around it, in Python, cost
more than the physics of an arm. Here is the same in machine code, by Python's own calling convention
(METH_FASTCALL | METH_KEYWORDS): type, dtype, contiguity, alignment and length of the arrays are read from their structs
(`layout`), the result is allocated by numpy, and the code behind it is called,

    i64 function(header, q, v, a, wrench, out)        0, or why the result must not be used (`Status`)

Whatever is unusual goes to a Python function with the same parameters: lists, other dtypes, batches, wrenches,
strided or overlapping memory, a status other than 0. It converts what can be converted and explains what cannot.

There are two kinds. *Checked* calls, ``f(q, v, a)`` and ``f(q, v, a, out=x)``, return the result; they also take rows
of states where there is code for these (traced code), which runs in one thread, without the global lock. *Handles*,
``f(q, v, a, wrench, out)``, return the status and raise nothing because of a number; where it is not 0, ``out`` is
filled with NaN. The code is the same for all
robots: what differs is in a table of numbers that the function is bound to.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from dynbench.methods.kernels import cache
from dynbench.methods.kernels.status import Status
from dynbench.methods.native import layout, llvm
from dynbench.robots.robot import IntArray

METH_FASTCALL, METH_KEYWORDS = 0x80, 0x02
PYARRAY_NEW = 93  # its index in numpy's API table; unlike others it takes no reference to a dtype
PYARRAY_SET_BASE = 282  # PyArray_SetBaseObject
NPY_DOUBLE = 12


class Slot(IntEnum):
    """What a table holds, by index."""

    # the same in all tables of a process
    NDARRAY = 0
    FLOAT64 = 1
    NEW = 2
    INCREF = 3
    DECREF = 4
    VECTORCALL = 5
    TUPLE_SIZE = 6
    TUPLE_ITEM = 7
    OUT_NAME = 8
    NONE = 9
    LONG = 10
    SAVE_THREAD = 11
    RESTORE_THREAD = 12
    SET_BASE = 13
    TUPLE_NEW = 14
    TUPLE_SET = 15
    # of one quantity of one robot
    FUNCTION = 16  # address of the code; 0 while there is none
    HEADER = 17
    NDIM = 18
    ROWS = 19
    COLUMNS = 20
    DEPTH = 21
    COUNT = 22  # numbers in the result
    Q = 23  # widths
    V = 24
    A = 25
    WRENCH = 26  # 0: None is expected
    STILL = 27  # address of zeros, the acceleration where there is no argument for it
    FINITE = 28  # 1: results must be finite too, or the state is bad
    BATCH = 29  # address of the code for rows of states; 0 if there is none
    FEWEST = 30  # how many rows it takes at least
    SLEEVES = 31  # how many pairs follow: where in q a number must be inside (0, length), and the length
    PARTS = 32  # 1: the result is returned as a tuple of the two parts of its first axis
    SIZE = 33


@dataclass(frozen=True)
class Call:
    """One quantity of one robot as a built-in function sees it."""

    name: str
    arguments: tuple[str, ...]  # of which the first letters are q, v, a (or tau)
    widths: tuple[int, ...]  # of q, v, a; the last is there even if the argument is not
    shape: tuple[int, ...]
    finite: bool = False
    sleeves: tuple[tuple[int, float], ...] = ()
    pushed: bool = True  # takes external wrenches, if there is more than one argument


@functools.cache
def _common() -> list[int]:
    """The part of a table that is the same in all of a process; what is named by address lives as long."""
    python = layout.python_function
    _immortal.extend([np.ndarray, np.dtype(np.float64), "out", None])
    return [
        id(np.ndarray),
        id(np.dtype(np.float64)),
        layout.numpy_function(PYARRAY_NEW),
        python("Py_IncRef"),
        python("Py_DecRef"),
        python("PyObject_Vectorcall"),
        python("PyTuple_Size"),
        python("PyTuple_GetItem"),
        id(_OUT),
        id(None),
        python("PyLong_FromLong"),
        python("PyEval_SaveThread"),
        python("PyEval_RestoreThread"),
        layout.numpy_function(PYARRAY_SET_BASE),
        python("PyTuple_New"),
        python("PyTuple_SetItem"),
    ]


_immortal: list[Any] = []
_OUT = "out"  # an interned string, as keywords in calls are


def table(call: Call, wrench: int = 0, parts: bool = False) -> IntArray:
    """Return the numbers that a built-in function is bound to; there is no code behind it yet, see `bind`.

    With ``parts`` a checked function returns a tuple, for one state: batches go to the general function.
    """
    found = np.zeros(Slot.SIZE + 2 * len(call.sleeves), dtype=np.int64)
    if layout.why_not() is None:
        found[: Slot.FUNCTION] = _common()
    found[Slot.NDIM] = len(call.shape)
    found[Slot.ROWS : Slot.ROWS + len(call.shape)] = call.shape
    found[Slot.COUNT] = int(np.prod(call.shape))
    found[Slot.Q : Slot.Q + len(call.widths)] = call.widths
    found[Slot.WRENCH] = wrench
    found[Slot.FINITE] = call.finite
    found[Slot.PARTS] = parts
    found[Slot.SLEEVES] = len(call.sleeves)
    for k, (at, length) in enumerate(call.sleeves):
        found[Slot.SIZE + 2 * k : Slot.SIZE + 2 * k + 2] = at, struct.unpack("<q", struct.pack("<d", length))[0]
    return found


def bind(numbers: IntArray, function: int, header: int) -> None:
    """Put code behind a built-in function. The header comes first: another thread may be calling."""
    numbers[Slot.HEADER] = header
    numbers[Slot.FUNCTION] = function


def bind_batch(numbers: IntArray, function: int, fewest: int) -> None:
    """Put code for rows of states behind a checked function: ``i64 function(header, N, q, v, a, out)``."""
    numbers[Slot.FEWEST] = fewest
    numbers[Slot.BATCH] = function


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def checked(call: Call, numbers: IntArray, general: Callable[..., Any], kept: Sequence[Any] = ()) -> Callable[..., Any]:
    """Return the checked function of a quantity; ``general`` has the same parameters and takes what is unusual."""
    wrench = ["wrench=None"] if len(call.arguments) > 1 and call.pushed else []
    parameters = [*call.arguments, *wrench, "threads=1", "out=None"]
    return _builtin(f"checked{len(call.arguments)}", call, parameters, numbers, general, kept)


def handle(call: Call, numbers: IntArray, general: Callable[..., Any], kept: Sequence[Any] = ()) -> Callable[..., Any]:
    """Return the handle of a quantity, which fills ``out`` and returns the status."""
    parameters = [*call.arguments, *(["wrench"] if len(call.arguments) > 1 else []), "out"]
    return _builtin(f"handle{len(call.arguments)}", call, parameters, numbers, general, kept)


def _builtin(
    which: str, call: Call, parameters: list[str], numbers: IntArray, general: Callable[..., Any], kept: Sequence[Any]
) -> Callable[..., Any]:
    if layout.why_not() is not None:
        return general
    numbers[Slot.STILL] = _still(call.widths[-1])
    library, addresses = _entries()
    doc = f"{call.name}({', '.join(parameters)})\n--\n\n{general.__doc__ or ''}"
    method = _MethodDef(call.name.encode(), addresses[which], METH_FASTCALL | METH_KEYWORDS, doc.encode())
    # The struct and the code must outlive the function: they are kept alive by what the function is bound to.
    bound = layout.Bound(numbers, general, (method, library, *kept))
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    made: Callable[..., Any] = new(ctypes.addressof(method), bound, None)
    return made


@functools.cache
def _zeros(count: int) -> Any:
    return np.zeros(count)


def _still(count: int) -> int:
    return int(_zeros(count).ctypes.data)


@functools.cache
def _entries() -> tuple[llvm.Library, dict[str, int]]:
    """Compile the built-in functions, once in a process: some 20 ms, or one from the disk."""
    text = module()
    folder, key = cache.base() / "native-entries", f"{text}\n{llvm.target_key()}"
    code = llvm.kept(folder, key)
    if code is None:
        code = llvm.compile_text(text)
        llvm.keep(folder, key, code)
    library = llvm.Library(code)
    names = [f"{kind}{k}" for kind in ("checked", "handle") for k in (1, 2, 3)]
    return library, {name: library.address(name) for name in names}


# The text ------------------------------------------------------------------------------------------------------------


def module() -> str:
    """Return the IR of all built-in functions."""
    functions = [f(k) for k in (1, 2, 3) for f in (_checked_text, _handle_text)]
    return "\n".join([_HELPERS, *functions, llvm.attributes(width=128)])


def _slot(register: str, slot: Slot, kind: str = "i64") -> str:
    return (
        f"  {register}.at = getelementptr i64, ptr %table, i64 {int(slot)}\n"
        f"  {register} = load {kind}, ptr {register}.at\n"
    )


# data_of: the numbers of an array, or null if it is not an aligned, C-contiguous float64 array of these dimensions
# apart:   whether two ranges of doubles have nothing in common
# finite:  whether all doubles of a range are finite; 0 x is NaN exactly when x is not
# inside:  whether elastic arms are partly out of their sleeves
# spoil:   fill a range of doubles with NaN
_HELPERS = f"""
declare double @llvm.vector.reduce.fadd.v8f64(double, <8 x double>)

define private ptr @data_of(ptr %table, ptr %o, i32 %wanted, i32 %ndim, ptr %dims) #0 {{
entry:
  %type.p = getelementptr i8, ptr %o, i64 {layout.TYPE}
  %type = load i64, ptr %type.p
{_slot("%ndarray", Slot.NDARRAY)}  %is.array = icmp eq i64 %type, %ndarray
  br i1 %is.array, label %array, label %no
array:
  %flags.p = getelementptr i8, ptr %o, i64 {layout.FLAGS}
  %flags = load i32, ptr %flags.p
  %masked = and i32 %flags, %wanted
  %ok1 = icmp eq i32 %masked, %wanted
  %ndim.p = getelementptr i8, ptr %o, i64 {layout.NDIM}
  %nd = load i32, ptr %ndim.p
  %ok2 = icmp eq i32 %nd, %ndim
  %descr.p = getelementptr i8, ptr %o, i64 {layout.DESCRIPTOR}
  %descr = load i64, ptr %descr.p
{_slot("%float64", Slot.FLOAT64)}  %ok3 = icmp eq i64 %descr, %float64
  %ok12 = and i1 %ok1, %ok2
  %ok123 = and i1 %ok12, %ok3
  br i1 %ok123, label %shape, label %no
shape:
  %has.p = getelementptr i8, ptr %o, i64 {layout.DIMENSIONS}
  %has = load ptr, ptr %has.p
  %n64 = zext i32 %ndim to i64
  br label %next
next:
  %k = phi i64 [0, %shape], [%k1, %same]
  %end = icmp eq i64 %k, %n64
  br i1 %end, label %yes, label %compare
compare:
  %x.p = getelementptr i64, ptr %has, i64 %k
  %x = load i64, ptr %x.p
  %y.p = getelementptr i64, ptr %dims, i64 %k
  %y = load i64, ptr %y.p
  %eq = icmp eq i64 %x, %y
  br i1 %eq, label %same, label %no
same:
  %k1 = add i64 %k, 1
  br label %next
yes:
  %data.p = getelementptr i8, ptr %o, i64 {layout.DATA}
  %data = load ptr, ptr %data.p
  ret ptr %data
no:
  ret ptr null
}}

define private i1 @apart(ptr %x, i64 %n, ptr %y, i64 %m) #0 {{
  %xe = getelementptr double, ptr %x, i64 %n
  %ye = getelementptr double, ptr %y, i64 %m
  %before = icmp ule ptr %xe, %y
  %behind = icmp ule ptr %ye, %x
  %either = or i1 %before, %behind
  ret i1 %either
}}

define private i1 @finite(ptr %x, i64 %n) #0 {{
entry:
  %whole = and i64 %n, -8
  br label %eight
eight:
  %i = phi i64 [0, %entry], [%i8, %more8]
  %sums = phi <8 x double> [zeroinitializer, %entry], [%sums8, %more8]
  %end8 = icmp eq i64 %i, %whole
  br i1 %end8, label %rest, label %more8
more8:
  %p8 = getelementptr double, ptr %x, i64 %i
  %v8 = load <8 x double>, ptr %p8, align 8
  %zero8 = fmul <8 x double> %v8, zeroinitializer
  %sums8 = fadd <8 x double> %sums, %zero8
  %i8 = add i64 %i, 8
  br label %eight
rest:
  %all = call double @llvm.vector.reduce.fadd.v8f64(double 0.0, <8 x double> %sums)
  br label %next
next:
  %k = phi i64 [%whole, %rest], [%k1, %more]
  %sum = phi double [%all, %rest], [%sum1, %more]
  %end = icmp eq i64 %k, %n
  br i1 %end, label %done, label %more
more:
  %p = getelementptr double, ptr %x, i64 %k
  %v = load double, ptr %p
  %zero = fmul double %v, 0.0
  %sum1 = fadd double %sum, %zero
  %k1 = add i64 %k, 1
  br label %next
done:
  %ok = fcmp oeq double %sum, 0.0
  ret i1 %ok
}}

define private void @spoil(ptr %x, i64 %n) #0 {{
entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %more]
  %end = icmp eq i64 %k, %n
  br i1 %end, label %done, label %more
more:
  %p = getelementptr double, ptr %x, i64 %k
  store double 0x7FF8000000000000, ptr %p
  %k1 = add i64 %k, 1
  br label %next
done:
  ret void
}}

define private i1 @inside(ptr %table, ptr %q) #0 {{
entry:
{_slot("%count", Slot.SLEEVES)}  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %good]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %yes, label %more
more:
  %two = shl i64 %k, 1
  %at = add i64 %two, {int(Slot.SIZE)}
  %place.p = getelementptr i64, ptr %table, i64 %at
  %place = load i64, ptr %place.p
  %length.p = getelementptr i64, ptr %place.p, i64 1
  %length = load double, ptr %length.p
  %x.p = getelementptr double, ptr %q, i64 %place
  %x = load double, ptr %x.p
  %out = fcmp ogt double %x, 0.0
  %in = fcmp olt double %x, %length
  %both = and i1 %out, %in
  %k1 = add i64 %k, 1
  br i1 %both, label %good, label %no
good:
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

_WIDTHS = (Slot.Q, Slot.V, Slot.A)
_LETTERS = "qva"
_IN, _TO = layout.C_CONTIGUOUS | layout.ALIGNED, layout.C_CONTIGUOUS | layout.ALIGNED | layout.WRITEABLE


def _begin(name: str) -> str:
    return (
        f"define ptr @{name}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #0 {{\nentry:\n"
        f"  %table.p = getelementptr i8, ptr %self, i64 {layout.TABLE}\n"
        "  %table.o = load ptr, ptr %table.p\n"
        f"  %table.d = getelementptr i8, ptr %table.o, i64 {layout.DATA}\n"
        "  %table = load ptr, ptr %table.d\n"
        "  br label %begin\nbegin:\n"
    )


def _argument(index: int, letter: str, slot: Slot, following: str) -> str:
    return (
        f"  %{letter}.a = getelementptr ptr, ptr %args, i64 {index}\n"
        f"  %{letter}.o = load ptr, ptr %{letter}.a\n"
        f"  %{letter}.w = getelementptr i64, ptr %table, i64 {int(slot)}\n"
        f"  %{letter} = call ptr @data_of(ptr %table, ptr %{letter}.o, i32 {_IN}, i32 1, ptr %{letter}.w)\n"
        f"  %{letter}.no = icmp eq ptr %{letter}, null\n"
        f"  br i1 %{letter}.no, label %slow, label %{following}\n{following}:\n"
    )


def _arguments(k: int) -> str:
    text = "".join(_argument(i, _LETTERS[i], _WIDTHS[i], f"have.{_LETTERS[i]}") for i in range(k))
    if k == 2:
        text += _slot("%a", Slot.STILL, "ptr")
    return text


def _overlap(letters: str, target: str, following: str) -> str:
    """Go on at ``following`` if no input shares memory with the result."""
    lines = _slot("%result.n", Slot.COUNT)
    slots = {"q": Slot.Q, "v": Slot.V, "a": Slot.A, "w": Slot.WRENCH}
    last = None
    for letter in letters:
        lines += _slot(f"%{letter}.n", slots[letter])
        lines += f"  %{letter}.apart = call i1 @apart(ptr %{letter}, i64 %{letter}.n, ptr {target}, i64 %result.n)\n"
        if last is None:
            last = f"%{letter}.apart"
        else:
            lines += f"  %{letter}.all = and i1 {last}, %{letter}.apart\n"
            last = f"%{letter}.all"
    return f"{lines}  br i1 {last}, label %{following}, label %slow\n"


def _slow() -> str:
    return (
        "slow:\n"
        f"  %general.p = getelementptr i8, ptr %self, i64 {layout.GENERAL}\n"
        "  %general = load ptr, ptr %general.p\n"
        f"{_slot('%vectorcall', Slot.VECTORCALL, 'ptr')}"
        "  %general.result = call ptr %vectorcall(ptr %general, ptr %args, i64 %nargs, ptr %kwnames)\n"
        "  ret ptr %general.result\n}\n"
    )


def _checked_text(k: int) -> str:
    """The function branches on the dimensions of q: one state, or rows of states."""
    text = _begin_checked(k)
    text += (
        "  %q.p = load ptr, ptr %args\n"
        f"  %q.type.p = getelementptr i8, ptr %q.p, i64 {layout.TYPE}\n"
        "  %q.type = load i64, ptr %q.type.p\n"
    )
    text += _slot("%ndarray", Slot.NDARRAY)
    text += (
        "  %q.array = icmp eq i64 %q.type, %ndarray\n  br i1 %q.array, label %dimensions, label %slow\ndimensions:\n"
        f"  %q.ndim.p = getelementptr i8, ptr %q.p, i64 {layout.NDIM}\n"
        "  %q.ndim = load i32, ptr %q.ndim.p\n"
        "  %one.state = icmp eq i32 %q.ndim, 1\n  br i1 %one.state, label %single, label %several\nseveral:\n"
        "  %two = icmp eq i32 %q.ndim, 2\n"
    )
    text += _slot("%rows.function", Slot.BATCH, "ptr")
    text += (
        "  %has.rows = icmp ne ptr %rows.function, null\n  %rows.ok = and i1 %two, %has.rows\n"
        "  br i1 %rows.ok, label %rows, label %slow\n"
    )
    return text + _state_text(k) + _rows_text(k) + _slow()


def _begin_checked(k: int) -> str:
    """Positional arguments, and the keyword ``out`` if there is one: %out.o, null if not."""
    text = _begin(f"checked{k}")
    text += "  %dims = alloca [4 x i64]\n"
    text += f"  %right.n = icmp eq i64 %nargs, {k}\n  br i1 %right.n, label %keywords, label %slow\nkeywords:\n"
    text += "  %no.kw = icmp eq ptr %kwnames, null\n  br i1 %no.kw, label %states, label %keyword\nkeyword:\n"
    text += _slot("%tuple.size", Slot.TUPLE_SIZE, "ptr") + _slot("%tuple.item", Slot.TUPLE_ITEM, "ptr")
    text += (
        "  %kw.n = call i64 %tuple.size(ptr %kwnames)\n"
        "  %one.kw = icmp eq i64 %kw.n, 1\n  br i1 %one.kw, label %which, label %slow\nwhich:\n"
        "  %kw = call ptr %tuple.item(ptr %kwnames, i64 0)\n"
    )
    text += _slot("%out.name", Slot.OUT_NAME, "ptr")
    return text + (
        "  %is.out = icmp eq ptr %kw, %out.name\n  br i1 %is.out, label %given, label %slow\ngiven:\n"
        f"  %given.a = getelementptr ptr, ptr %args, i64 {k}\n"
        "  %given.o = load ptr, ptr %given.a\n  br label %states\nstates:\n"
        "  %out.o = phi ptr [null, %keywords], [%given.o, %given]\n"
        "  %fresh = icmp eq ptr %out.o, null\n"
    )


def _result(p: str, ndim: str, dims: str, overlap: str) -> str:
    """The array to fill, %{p}.result.o with its numbers %{p}.result: a new one, or the one given if it fits."""
    return (
        f"  br i1 %fresh, label %{p}.allocate, label %{p}.given\n{p}.given:\n"
        f"  %{p}.out.d = call ptr @data_of(ptr %table, ptr %out.o, i32 {_TO}, i32 {ndim}, ptr {dims})\n"
        f"  %{p}.out.no = icmp eq ptr %{p}.out.d, null\n  br i1 %{p}.out.no, label %slow, label %{p}.overlap\n"
        f"{p}.overlap:\n{overlap}{p}.fits:\n  br label %{p}.run\n{p}.allocate:\n"
        + _slot(f"%{p}.ndarray", Slot.NDARRAY, "ptr")
        + _slot(f"%{p}.new", Slot.NEW, "ptr")
        + f"  %{p}.new.o = call ptr %{p}.new(ptr %{p}.ndarray, i32 {ndim}, ptr {dims}, i32 {NPY_DOUBLE}, ptr null, "
        "ptr null, i32 0, i32 0, ptr null)\n"
        f"  %{p}.failed = icmp eq ptr %{p}.new.o, null\n"
        f"  br i1 %{p}.failed, label %{p}.error, label %{p}.allocated\n{p}.error:\n  ret ptr null\n{p}.allocated:\n"
        f"  %{p}.new.p = getelementptr i8, ptr %{p}.new.o, i64 {layout.DATA}\n"
        f"  %{p}.new.d = load ptr, ptr %{p}.new.p\n  br label %{p}.run\n{p}.run:\n"
        f"  %{p}.result.o = phi ptr [%{p}.new.o, %{p}.allocated], [%out.o, %{p}.fits]\n"
        f"  %{p}.result = phi ptr [%{p}.new.d, %{p}.allocated], [%{p}.out.d, %{p}.fits]\n"
    )


def _tuple() -> str:
    """Return the result, or if it has parts a tuple of them: views that keep it alive."""
    text = _slot("%parts", Slot.PARTS) + "  %in.parts = icmp ne i64 %parts, 0\n"
    text += "  br i1 %in.parts, label %parts.views, label %one.whole\n"
    text += "one.whole:\n  ret ptr %one.result.o\nparts.views:\n"
    text += _slot("%parts.array", Slot.NDARRAY, "ptr") + _slot("%parts.new", Slot.NEW, "ptr")
    text += _slot("%parts.base", Slot.SET_BASE, "ptr") + _slot("%parts.tuple", Slot.TUPLE_NEW, "ptr")
    text += _slot("%parts.set", Slot.TUPLE_SET, "ptr") + _slot("%parts.n", Slot.COUNT)
    text += _slot("%parts.incref", Slot.INCREF, "ptr") + _slot("%parts.decref", Slot.DECREF, "ptr")
    text += (
        f"  %parts.dims = getelementptr i64, ptr %table, i64 {int(Slot.COLUMNS)}\n"
        "  %parts.half = lshr i64 %parts.n, 1\n"
        "  %parts.second = getelementptr double, ptr %one.result, i64 %parts.half\n"
    )
    previous: list[str] = []
    for name, data in (("a", "%one.result"), ("b", "%parts.second")):
        text += (
            f"  %parts.{name} = call ptr %parts.new(ptr %parts.array, i32 2, ptr %parts.dims, i32 {NPY_DOUBLE}, "
            f"ptr null, ptr {data}, i32 0, i32 {_TO}, ptr null)\n" + _unless(f"parts.{name}", previous)
        )
        previous.append(f"%parts.{name}")
    text += "  %parts.both = call ptr %parts.tuple(i64 2)\n" + _unless("parts.both", previous)
    # both views take a reference to the result, of which one is there
    text += "  call void %parts.incref(ptr %one.result.o)\n"
    for k, name in enumerate("ab"):
        text += (
            f"  %parts.{name}.based = call i32 %parts.base(ptr %parts.{name}, ptr %one.result.o)\n"
            f"  %parts.{name}.in = call i32 %parts.set(ptr %parts.both, i64 {k}, ptr %parts.{name})\n"
        )
    return text + "  ret ptr %parts.both\n"


def _unless(name: str, previous: list[str]) -> str:
    """Give back what there is and return null if an object could not be made."""
    drop = "".join(f"  call void %parts.decref(ptr {x})\n" for x in [*previous, "%one.result.o"])
    return (
        f"  %{name}.null = icmp eq ptr %{name}, null\n"
        f"  br i1 %{name}.null, label %{name}.failed, label %{name}.made\n"
        f"{name}.failed:\n{drop}  ret ptr null\n{name}.made:\n"
    )


def _finish(p: str, give: str = "") -> str:
    """Return the result, as it is or as ``give`` does it, or drop it and take the slow way."""
    give = give or f"  ret ptr %{p}.result.o\n"
    return (
        f"{p}.done:\n  br i1 %fresh, label %{p}.return, label %{p}.share\n{p}.share:\n"
        + _slot(f"%{p}.incref2", Slot.INCREF, "ptr")
        + f"  call void %{p}.incref2(ptr %{p}.result.o)\n  br label %{p}.return\n{p}.return:\n"
        f"{give}{p}.bad:\n  br i1 %fresh, label %{p}.drop, label %slow\n{p}.drop:\n"
        + _slot(f"%{p}.decref", Slot.DECREF, "ptr")
        + f"  call void %{p}.decref(ptr %{p}.result.o)\n  br label %slow\n"
    )


def _state_text(k: int) -> str:
    v, a = ("%v" if k > 1 else "null"), ("%a" if k > 1 else "null")
    text = "single:\n" + _slot("%function", Slot.FUNCTION, "ptr")
    text += "  %no.function = icmp eq ptr %function, null\n  br i1 %no.function, label %slow, label %state\nstate:\n"
    text += _arguments(k) + _slot("%ndim", Slot.NDIM, "i32")
    text += f"  %shape = getelementptr i64, ptr %table, i64 {int(Slot.ROWS)}\n"
    text += _result("one", "%ndim", "%shape", _overlap(_LETTERS[:k], "%one.out.d", "one.fits"))
    text += _slot("%header", Slot.HEADER, "ptr")
    text += (
        f"  %status = call i64 %function(ptr %header, ptr %q, ptr {v}, ptr {a}, ptr null, ptr %one.result)\n"
        "  %good = icmp eq i64 %status, 0\n  br i1 %good, label %look, label %one.bad\nlook:\n"
    )
    text += _slot("%look.n", Slot.FINITE) + "  %looks = icmp eq i64 %look.n, 0\n"
    text += "  br i1 %looks, label %one.done, label %looking\nlooking:\n" + _slot("%count", Slot.COUNT)
    text += (
        "  %numbers = call i1 @finite(ptr %one.result, i64 %count)\n"
        "  %out.of.sleeves = call i1 @inside(ptr %table, ptr %q)\n"
        "  %fine = and i1 %numbers, %out.of.sleeves\n  br i1 %fine, label %one.done, label %one.bad\n"
    )
    return text + _finish("one", _tuple())


def _rows_text(k: int) -> str:
    letters = _LETTERS[:k]
    text = "rows:\n" + (
        f"  %N.dims = getelementptr i8, ptr %q.p, i64 {layout.DIMENSIONS}\n"
        "  %N.p = load ptr, ptr %N.dims\n  %N = load i64, ptr %N.p\n"
    )
    text += _slot("%fewest", Slot.FEWEST)
    text += (
        "  %enough = icmp sge i64 %N, %fewest\n  br i1 %enough, label %rows.q, label %slow\nrows.q:\n"
        "  store i64 %N, ptr %dims\n  %dims.1 = getelementptr i64, ptr %dims, i64 1\n"
    )
    following = [*(f"rows.{letter}" for letter in letters[1:]), "rows.all"]
    for i, letter in enumerate(letters):
        text += _slot(f"%r{letter}.n", _WIDTHS[i])
        text += (
            f"  store i64 %r{letter}.n, ptr %dims.1\n"
            f"  %r{letter}.a = getelementptr ptr, ptr %args, i64 {i}\n  %r{letter}.o = load ptr, ptr %r{letter}.a\n"
            f"  %r{letter} = call ptr @data_of(ptr %table, ptr %r{letter}.o, i32 {_IN}, i32 2, ptr %dims)\n"
            f"  %r{letter}.no = icmp eq ptr %r{letter}, null\n"
            f"  br i1 %r{letter}.no, label %slow, label %{following[i]}\n{following[i]}:\n"
        )
    text += _slot("%rows.1", Slot.ROWS) + _slot("%rows.2", Slot.COLUMNS) + _slot("%rows.ndim", Slot.NDIM, "i32")
    text += (
        "  store i64 %rows.1, ptr %dims.1\n  %dims.2 = getelementptr i64, ptr %dims, i64 2\n"
        "  store i64 %rows.2, ptr %dims.2\n  %all.ndim = add i32 %rows.ndim, 1\n"
    )
    text += _slot("%rows.3", Slot.DEPTH)
    text += "  %dims.3 = getelementptr i64, ptr %dims, i64 3\n  store i64 %rows.3, ptr %dims.3\n"
    text += _slot("%all.count", Slot.COUNT) + "  %all.n = mul i64 %N, %all.count\n"
    overlap, last = "", ""
    for letter in letters:
        overlap += (
            f"  %r{letter}.all = mul i64 %N, %r{letter}.n\n"
            f"  %r{letter}.apart = call i1 @apart(ptr %r{letter}, i64 %r{letter}.all, ptr %all.out.d, i64 %all.n)\n"
        )
        overlap += f"  %r{letter}.ok = and i1 %r{letter}.apart, {last or 'true'}\n"
        last = f"%r{letter}.ok"
    overlap += f"  br i1 {last}, label %all.fits, label %slow\n"
    text += _result("all", "%all.ndim", "%dims", overlap)
    given = [f"ptr %r{letter}" for letter in letters] + ["ptr null"] * (3 - k)
    text += _slot("%all.header", Slot.HEADER, "ptr")
    text += _slot("%save", Slot.SAVE_THREAD, "ptr") + _slot("%restore", Slot.RESTORE_THREAD, "ptr")
    text += (
        "  %thread = call ptr %save()\n"
        f"  %all.status = call i64 %rows.function(ptr %all.header, i64 %N, {', '.join(given)}, ptr %all.result)\n"
        "  call void %restore(ptr %thread)\n"
        "  %all.good = icmp eq i64 %all.status, 0\n  br i1 %all.good, label %all.look, label %all.bad\nall.look:\n"
    )
    text += _slot("%all.looks", Slot.FINITE) + "  %all.trust = icmp eq i64 %all.looks, 0\n"
    text += (
        "  br i1 %all.trust, label %all.done, label %all.looking\nall.looking:\n"
        "  %all.numbers = call i1 @finite(ptr %all.result, i64 %all.n)\n"
        "  br i1 %all.numbers, label %all.done, label %all.bad\n"
    )
    return text + _finish("all")


def _handle_text(k: int) -> str:
    letters = _LETTERS[:k]
    v, a = ("%v" if k > 1 else "null"), ("%a" if k > 1 else "null")
    count = k + (2 if k > 1 else 1)
    text = _begin(f"handle{k}") + _slot("%function", Slot.FUNCTION, "ptr")
    text += (
        "  %no.kw = icmp eq ptr %kwnames, null\n"
        f"  %right.n = icmp eq i64 %nargs, {count}\n"
        "  %right = and i1 %no.kw, %right.n\n  br i1 %right, label %states, label %slow\nstates:\n"
    )
    text += _arguments(k)
    if k > 1:
        text += (
            f"  %w.a = getelementptr ptr, ptr %args, i64 {k}\n  %w.o = load ptr, ptr %w.a\n"
        )
        text += _slot("%none", Slot.NONE, "ptr") + _slot("%w.width", Slot.WRENCH)
        text += (
            "  %w.expected = icmp ne i64 %w.width, 0\n"
            "  br i1 %w.expected, label %pushed, label %free\nfree:\n"
            "  %w.none = icmp eq ptr %w.o, %none\n  br i1 %w.none, label %target, label %slow\npushed:\n"
            f"  %w.w = getelementptr i64, ptr %table, i64 {int(Slot.WRENCH)}\n"
            f"  %w.d = call ptr @data_of(ptr %table, ptr %w.o, i32 {_IN}, i32 1, ptr %w.w)\n"
            "  %w.no = icmp eq ptr %w.d, null\n  br i1 %w.no, label %slow, label %target\ntarget:\n"
            "  %w = phi ptr [null, %free], [%w.d, %pushed]\n"
        )
    wrench = "%w" if k > 1 else "null"
    text += (
        f"  %out.a = getelementptr ptr, ptr %args, i64 {count - 1}\n  %out.o = load ptr, ptr %out.a\n"
        f"  %out.w = getelementptr i64, ptr %table, i64 {int(Slot.COUNT)}\n"
        f"  %out = call ptr @data_of(ptr %table, ptr %out.o, i32 {_TO}, i32 1, ptr %out.w)\n"
        "  %out.no = icmp eq ptr %out, null\n  br i1 %out.no, label %slow, label %overlap\noverlap:\n"
    )
    text += _overlap(letters + ("w" if k > 1 else ""), "%out", "run")
    text += "run:\n" + _slot("%header", Slot.HEADER, "ptr") + _slot("%long", Slot.LONG, "ptr")
    text += (
        f"  %status = call i64 %function(ptr %header, ptr %q, ptr {v}, ptr {a}, ptr {wrench}, ptr %out)\n"
        f"  %far = icmp eq i64 %status, {int(Status.TOO_LARGE)}\n  br i1 %far, label %slow, label %judge\njudge:\n"
        "  %good = icmp eq i64 %status, 0\n  br i1 %good, label %look, label %spoil\nlook:\n"
    )
    text += _slot("%look.n", Slot.FINITE) + "  %trust = icmp eq i64 %look.n, 0\n"
    text += (
        "  br i1 %trust, label %tell, label %looking\nlooking:\n"
        "  %numbers = call i1 @finite(ptr %out, i64 %result.n)\n"
        "  br i1 %numbers, label %tell, label %spoil\nspoil:\n"
        f"  %why = phi i64 [%status, %judge], [{int(Status.NO_RESULT)}, %looking]\n"
        "  call void @spoil(ptr %out, i64 %result.n)\n  br label %tell\ntell:\n"
        "  %told = phi i64 [0, %look], [0, %looking], [%why, %spoil]\n"
        "  %result = call ptr %long(i64 %told)\n  ret ptr %result\n"
    )
    return text + _slow()
