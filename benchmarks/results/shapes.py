"""What the JSON files of a results folder must look like, and a check that names the place where one does not.

A shape is a type or tuple of types; `TEXT` or `NAME`, text of bounded length; `[shape]`, a list of such; `{"key":
shape}`, an object with that key (one that ends in ``?`` may be absent or null) and any others; `Each(shape)`, an object
whose values all have the shape.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynbench.robots.errors import DynbenchError

NUMBER = (int, float)
LARGEST = 64_000_000  # bytes of a file that is read: a hundred times what a full run writes
DEEPEST = 50  # brackets inside each other; ours have eight


@dataclass(frozen=True)
class Text:
    """Text that is not too long to be shown."""

    longest: int


TEXT = Text(20_000)
NAME = Text(300)  # ends up in a figure or a head of a table


@dataclass(frozen=True)
class Each:
    """An object with values of one shape, under any names."""

    shape: Any


MACHINE = {
    "methods?": Each({"title?": NAME, "reference?": TEXT, "cost?": NAME}),
    "robots?": Each({"bodies": NUMBER, "nq": NUMBER, "nv": NUMBER}),
    "quantities?": [NAME],
    "notes?": [TEXT],
    "versions?": Each(NAME),
    "left out?": Each(TEXT),
    "simd?": [NAME],
    "peak flop/s?": NUMBER,
    "host?": NAME,
    "date?": TEXT,  # of a merged folder: all of them
    "command?": TEXT,
    "commit?": TEXT,
}
FACTS = {**MACHINE, "hosts?": Each(MACHINE)}  # the latter in a merged folder
WORST = {"rows?": [dict.fromkeys(("robot", "method", "other", "quantity", "measure"), NAME)]}
DISAGREEMENTS = {"rows?": [{"robot": NAME}]}
SERIES = {"label": NAME, "method": NAME, "x": [NUMBER], "y": [NUMBER]}
PLOT = {
    **dict.fromkeys(("name", "title", "xlabel", "xscale", "yscale"), NAME),
    "caption": TEXT,
    "panels": [{"title": NAME, "ylabel": NAME, "series": [SERIES]}],
}
SIMULATION = {
    **dict.fromkeys(("name", "paper", "title", "robot"), NAME),
    "reason": TEXT,
    "plots": [PLOT],
    "motion?": {"t": [NUMBER], "points": [[NUMBER]], "lines": [list], "dots": [list], "planar": bool},
    "provenance?": [[TEXT]],
}


def read(path: Path, shape: Any) -> Any:
    """Return the content of a JSON file that has the shape; None if there is no such file.

    Raises
    ------
    DynbenchError
        Naming the file, and the place in it.
    """
    if not path.is_file():
        return None
    if path.stat().st_size > LARGEST:
        raise DynbenchError(f"{path} has {path.stat().st_size} bytes, at most {LARGEST} are read")
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text, and cannot be written
    except (OSError, ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise DynbenchError(f"{path} is no JSON: {_brief(error)}") from error
    if depth(value) > DEEPEST:
        raise DynbenchError(f"{path} is nested more than {DEEPEST} deep, which no file of a run is")
    check(value, shape, str(path))
    return value


def check(value: Any, shape: Any, where: str) -> None:
    """Raise a DynbenchError that begins with ``where`` and names the first place that lacks the shape."""
    match shape:
        case Text():
            check(value, str, where)
            if len(value) > shape.longest:
                raise DynbenchError(f"{where} has {len(value)} characters, at most {shape.longest} are shown")
        case Each():
            check(value, dict, where)
            for key, item in value.items():
                check(key, NAME, f"{where}: a name")
                check(item, shape.shape, f"{where}: {key[:80]!r}")
        case dict():
            check(value, dict, where)
            for name, inner in shape.items():
                key = name.removesuffix("?")
                if value.get(key) is not None:
                    check(value[key], inner, f"{where}: {key!r}")
                elif key == name:
                    raise DynbenchError(f"{where} lacks {key!r}")
        case [inner]:
            check(value, list, where)
            for k, item in enumerate(value):
                check(item, inner, f"{where}[{k}]")
        case _:
            if not isinstance(value, shape) or (shape == NUMBER and isinstance(value, bool)):
                raise DynbenchError(f"{where} must be {_called(shape)}, got {_brief(repr(value))}")


def depth(value: Any) -> int:
    """Return how many brackets are inside each other, by a walk that does not recurse."""
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        deepest += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _called(shape: Any) -> str:
    if shape == NUMBER:
        return "a number"
    return {str: "text", list: "a list", dict: "an object", bool: "true or false"}.get(shape, str(shape))


def _brief(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 160 else line[:160] + "..."


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value
