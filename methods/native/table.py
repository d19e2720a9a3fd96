"""The table of numbers that a built-in function is bound to: addresses in Python and numpy, facts of one quantity."""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from dynbench.methods.native import layout
from dynbench.robots.robot import IntArray

PYARRAY_NEW = 93  # its index in numpy's API table; unlike others it takes no reference to a dtype
PYARRAY_SET_BASE = 282  # PyArray_SetBaseObject


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
    SLEEVES = 30  # how many pairs follow: where in q a number must be inside (0, length), and the length
    PARTS = 31  # 1: the result is returned as a tuple of the two parts of its first axis
    SIZE = 32


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


def new_table(call: Call, wrench: int = 0, parts: bool = False) -> IntArray:
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


def bind_batch(numbers: IntArray, function: int) -> None:
    """Put code for rows of states behind a checked function: ``i64 function(header, N, q, v, a, out)``, N not 0."""
    numbers[Slot.BATCH] = function
