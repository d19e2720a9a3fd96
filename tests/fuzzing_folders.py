"""Hypothesis strategies for malformed results folders.

``changes(files)`` draws what happens to one or two files of a valid folder: other bytes, cells or values, no file at
all, or a link, a folder or a pipe in its place. `apply` makes the folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzing import BYTES, NAMES, NUMBERS, change_name, change_number
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

# in place of a value in a JSON file
VALUES = ("null", "0", "-1", "true", "[]", "{}", '"x"', "NaN", "1e999", "1e300", "9" * 5000, "[[1, 2], [3]]",
          "[" * 5000 + "]" * 5000, "[" * 99 + "]" * 99, '"\\ud8"', '"\\ud800"', '{"a": {"b": [1]}}', '"../../x"',
          '"<img src=x onerror=alert(1)>"', '"</script><script>alert(1)</script>"', f'"{"y" * 200_000}"')  # fmt: skip
LINKS = ("report.html", "summary.md", "figures", "tables")  # names that a report writes
SPECIAL = ("removed", "link", "folder", "pipe")

Changes = dict[str, bytes | str]  # name of a file: its content, or one of SPECIAL


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a results folder that are read, by name."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".csv", ".json"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@st.composite
def changes(draw: DrawFn, files: Mapping[str, bytes]) -> Changes:
    """Return one or two changes of the given files."""
    made: Changes = {}
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(list(files)))
        inside = csv_cells if name.endswith(".csv") else json_values
        kind = draw(st.sampled_from(("inside", "inside", "inside", "bytes", "bytes", "special", "report")))
        if kind == "report":
            made[draw(st.sampled_from(LINKS))] = "link"
        elif kind == "special":
            made[name] = draw(st.sampled_from(SPECIAL))
        else:
            edit = inside if kind == "inside" else draw(st.sampled_from((change_number, change_name, *BYTES)))
            made[name] = edit(draw, files[name] or b" ")
    return made


def apply(made: Changes, folder: Path, valid: Path, outside: Path) -> None:
    """Copy the valid folder and change it; links point to ``outside`` or its folder."""
    shutil.copytree(valid, folder)
    for name, change in made.items():
        file = folder / name
        if file.is_file():
            file.unlink()
        match change:
            case bytes():
                file.write_bytes(change)
            case "link":
                file.symlink_to(outside if file.suffix else outside.parent)
            case "folder":
                file.mkdir()
            case "pipe":
                os.mkfifo(file)


def csv_cells(draw: DrawFn, content: bytes) -> bytes:
    """Change a cell, a column or a row of a table."""
    lines = [line.split(",") for line in content.decode("utf-8", "replace").split("\n")]
    row = draw(st.sampled_from(lines))
    at = draw(st.integers(0, len(row) - 1))
    match draw(st.sampled_from(("cell", "cell", "name", "column", "long cell", "long row", "repeated row"))):
        case "cell":
            row[at] = draw(st.sampled_from(NUMBERS) | st.sampled_from(NAMES) | st.text(max_size=8)).replace("\n", " ")
        case "name":
            lines[0][at % len(lines[0])] = draw(st.sampled_from((*NAMES, "robot", "seconds")))
        case "column":
            for line in lines:
                del line[at : at + 1]
        case "long cell":
            row[at] = "x" * 200_000
        case "long row":
            lines.append(row + row)
        case "repeated row":
            lines += [list(row) for _ in range(300)]
    return "\n".join(",".join(line) for line in lines).encode("utf-8", "replace")


def json_values(draw: DrawFn, content: bytes) -> bytes:
    """Replace a value somewhere in the tree."""
    tree = json.loads(content)
    marker = "\x00changed"
    holder: Any = tree
    while isinstance(holder, dict | list) and holder:
        key: Any = draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.sampled_from((False, False, False, True))):
            holder[key] = marker
            break
        holder = inner
    return json.dumps(tree).replace(json.dumps(marker), draw(st.sampled_from(VALUES))).encode("utf-8", "replace")
