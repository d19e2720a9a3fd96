"""Files of strangers, read with care: ordinary files of a sane size only, and TOML that the parser can cope with."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from dynbench.robots.errors import DynbenchError, RobotError

PARTS = 20  # of a dotted key, on which the parser takes quadratic time; ours have two
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{PARTS},}}")


def read_bytes(
    path: str | os.PathLike[str], largest: int, what: str = "a robot file", kind: type[DynbenchError] = RobotError
) -> bytes:
    """Read a whole file; a missing, unreadable or huge one, a folder or a device is an error of the given kind."""
    file, where = Path(path), os.fspath(path)
    try:
        if file.is_dir():
            raise kind(f"{where}: this is a folder, {what} was wanted")
        if file.exists() and not file.is_file():
            raise kind(f"{where}: this is a device or a pipe, {what} was wanted")
        size = file.stat().st_size
        if size > largest:
            raise kind(f"{where}: has {size} bytes, at most {largest} are read")
        return file.read_bytes()
    except FileNotFoundError as error:
        raise kind(f"{where}: no such file") from error
    except DynbenchError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise kind(f"{where}: cannot be read: {error}") from error


def read_toml(
    path: str | os.PathLike[str], largest: int, what: str = "a robot file", kind: type[DynbenchError] = RobotError
) -> dict[str, Any]:
    """Read a TOML file; what is wrong with it is an error of the given kind, with line and column if there are any."""
    where = os.fspath(path)
    content = read_bytes(path, largest, what, kind)
    try:
        text = content.decode("utf-8")
        if _DOTTED.search(text):
            raise kind(f"{where}: not {what}: a key of more than {PARTS} parts")
        return tomllib.loads(text)
    except DynbenchError:
        raise
    except UnicodeDecodeError as error:
        raise kind(f"{where}: not UTF-8 text: {error}") from error
    except ValueError as error:  # TOMLDecodeError, and the plain one of an integer with thousands of digits
        raise kind(f"{where}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise kind(f"{where}: not {what}: brackets nested too deep") from error
