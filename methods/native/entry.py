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
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynbench.methods.kernels import cache
from dynbench.methods.native import layout, llvm
from dynbench.methods.native.checked_text import checked_text
from dynbench.methods.native.handle_text import handle_text
from dynbench.methods.native.pieces import HELPERS
from dynbench.methods.native.table import Call, Slot
from dynbench.robots.robot import IntArray

METH_FASTCALL, METH_KEYWORDS = 0x80, 0x02


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


def module() -> str:
    """Return the IR of all built-in functions."""
    functions = [f(k) for k in (1, 2, 3) for f in (checked_text, handle_text)]
    return "\n".join([HELPERS, *functions, llvm.attributes(width=128)])
