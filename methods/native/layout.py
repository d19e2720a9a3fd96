"""How this Python and this numpy lay out what the built-in functions of `entry` read: arrays, and objects with slots.

The offsets are those of numpy's public struct PyArrayObject_fields. They are not taken on trust: `why_not` reads known
objects through them once, and says what differs. Then, as in a build without a global lock and on processors for which
this is not tested, calls go through Python functions instead, with the same results.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import struct
import sys
import sysconfig
from importlib import import_module
from typing import Any

import numpy as np

OFF = "DYNBENCH_NO_BUILTINS"  # environment variable: any value but "" turns the built-in functions off

# PyObject, then PyArrayObject_fields
TYPE = 8
DATA, NDIM, DIMENSIONS, DESCRIPTOR, FLAGS = 16, 24, 32, 56, 64
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400


class Bound:
    """What a built-in function is bound to: its numbers, the Python function for everything unusual, and what must
    live as long as the function does."""

    __slots__ = ("a_table", "b_general", "c_kept")  # laid out in the order of their names

    def __init__(self, table: Any, general: Any, kept: Any) -> None:
        self.a_table = table
        self.b_general = general
        self.c_kept = kept


TABLE, GENERAL = object.__basicsize__, object.__basicsize__ + 8  # of `Bound`


@functools.cache
def why_not() -> str | None:
    """Return why built-in functions cannot be used here, in a sentence, or None if they can."""
    if os.environ.get(OFF):
        return f"the environment variable {OFF} is set"
    if sys.implementation.name != "cpython":
        return f"expected CPython, got {sys.implementation.name}"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python is built without a global lock"
    if platform.machine().lower() not in ("x86_64", "amd64") or struct.calcsize("P") != 8:
        return f"expected a 64-bit x86 processor, got {platform.machine()}"
    wrong = _differences()
    return f"the layout of objects differs from the expected one: {', '.join(wrong)}" if wrong else None


def _differences() -> list[str]:
    """Read known objects through the offsets and return what does not come out as it should."""
    wrong = []
    for array in (np.arange(6.0), np.arange(6.0).reshape(2, 3), np.arange(12.0)[::2], np.arange(3)):
        at = id(array)
        flags = _read(at + FLAGS, ctypes.c_int32)
        found: dict[str, tuple[Any, Any]] = {
            "type": (_read(at + TYPE), id(type(array))),
            "data": (_read(at + DATA), array.__array_interface__["data"][0]),
            "number of dimensions": (_read(at + NDIM, ctypes.c_int32), array.ndim),
            "dimensions": (
                [_read(_read(at + DIMENSIONS) + 8 * k) for k in range(array.ndim)],
                list(array.shape),
            ),
            "dtype": (_read(at + DESCRIPTOR), id(array.dtype)),
            "contiguity": (bool(flags & C_CONTIGUOUS), array.flags.c_contiguous),
            "alignment": (bool(flags & ALIGNED), array.flags.aligned),
            "writability": (bool(flags & WRITEABLE), array.flags.writeable),
        }
        wrong += [name for name, (got, expected) in found.items() if got != expected]
    locked = np.arange(2.0)
    locked.flags.writeable = False
    if _read(id(locked) + FLAGS, ctypes.c_int32) & WRITEABLE:
        wrong.append("writability")
    table, general = np.zeros(1), _differences
    bound = Bound(table, general, None)
    if (_read(id(bound) + TABLE), _read(id(bound) + GENERAL)) != (id(table), id(general)):
        wrong.append("slots")
    if np.dtype(np.float64) is not np.zeros(1).dtype:
        wrong.append("dtype singleton")
    return list(dict.fromkeys(wrong))


def _read(address: int, kind: Any = ctypes.c_int64) -> int:
    return int(kind.from_address(address).value)


def numpy_function(index: int) -> int:
    """Return the address of a function of numpy's C API by its index in the API table."""
    core: Any = import_module(f"numpy.{'_core' if np.__version__ >= '2' else 'core'}._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(core._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    found = table[index]
    assert found is not None
    return int(found)


def python_function(name: str) -> int:
    """Return the address of a function of Python's C API."""
    found = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert found is not None
    return int(found)
