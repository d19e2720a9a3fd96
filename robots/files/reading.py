"""Reading untrusted files: regular files of limited size only, and TOML within the limits of the parser."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from dynbench.robots.arrays import FloatArray
from dynbench.robots.errors import DynbenchError, RobotError

MAX_KEY_PARTS = 20  # of a dotted key, which the parser handles in quadratic time; robot files need two
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS},}}")


def read_bytes(
    path: str | os.PathLike[str], largest: int, what: str = "a robot file", kind: type[DynbenchError] = RobotError
) -> bytes:
    """Return the content of a file; raise ``kind`` if it is missing, unreadable, too large, a folder or a device."""
    file, where = Path(path), os.fspath(path)
    try:
        if file.is_dir():
            raise kind(f"{where}: expected {what}, got a folder")
        if file.exists() and not file.is_file():
            raise kind(f"{where}: expected {what}, got a device or a pipe")
        size = file.stat().st_size
        if size > largest:
            raise kind(f"{where}: has {size} bytes, at most {largest} are read")
        return file.read_bytes()
    except FileNotFoundError as error:
        raise kind(f"{where}: no such file") from error
    except DynbenchError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        raise kind(f"{where}: cannot be read: {error}") from error


def read_toml(
    path: str | os.PathLike[str], largest: int, what: str = "a robot file", kind: type[DynbenchError] = RobotError
) -> dict[str, Any]:
    """Return the content of a TOML file; raise ``kind`` if it is invalid, with line and column if known."""
    where = os.fspath(path)
    content = read_bytes(path, largest, what, kind)
    try:
        text = content.decode("utf-8")
        if _DOTTED.search(text):
            raise kind(f"{where}: not {what}: a key of more than {MAX_KEY_PARTS} parts")
        return tomllib.loads(text)
    except DynbenchError:
        raise
    except UnicodeDecodeError as error:
        raise kind(f"{where}: not UTF-8 text: {error}") from error
    except ValueError as error:  # TOMLDecodeError, or a ValueError for an integer with thousands of digits
        raise kind(f"{where}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise kind(f"{where}: not {what}: brackets nested too deep") from error


def finite_numbers(where: str, key: str, value: object, *shapes: tuple[int, ...]) -> FloatArray:
    """Return the value of a key as a finite array of one of ``shapes``; () is a single number.

    Unlike `dynbench.robots.arrays.numbers`, this rejects strings and booleans, which numpy would convert.
    """
    expected = " or ".join(
        "a finite number" if shape == () else f"{' by '.join(map(str, shape))} finite numbers" for shape in shapes
    )
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different length
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or array.shape not in shapes or not np.isfinite(array).all():
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise RobotError(f"{where}: '{key}' must be {expected}, got {shown!r:.200}")
    return array.astype(np.float64)
