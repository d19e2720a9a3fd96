"""Malformed results folders, seeded: files cut, swapped for links, pipes or folders, with other cells and types."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import NAMES, NUMBERS, garbled, renamed, renumbered

# in the place of a value in a JSON file
NASTY = ("null", "[]", "{}", '"x"', "NaN", "1e999", "-1", "true", "0", "1e300", "9" * 5000, "[[1, 2], [3]]",
         "[" * 5000 + "]" * 5000, "[" * 99 + "]" * 99, '"\\ud8"', '"\\ud800"', '{"a": {"b": [1]}}', '"../../x"',
         '"<img src=x onerror=alert(1)>"', '"</script><script>alert(1)</script>"', f'"{"y" * 200_000}"')  # fmt: skip


def folder(random: Random, path: Path, sound: Path, outside: Path) -> None:
    """Make a malformed results folder from a sound one; ``outside`` is a file that links may point to."""
    shutil.copytree(sound, path)
    for _ in range(random.randint(1, 2)):
        file = random.choice(sorted(p for p in path.rglob("*") if p.suffix in (".csv", ".json") and not p.is_symlink()))
        if not file.is_file():
            continue
        inside = _csv if file.suffix == ".csv" else _json
        changed: Callable[[Random, Path], None] = random.choice((_bytes, inside, inside, _gone))
        match random.randrange(12):
            case 0:
                file.unlink()
                file.symlink_to(outside)
            case 1:
                file.unlink()
                random.choice((file.mkdir, lambda file=file: os.mkfifo(file)))()
            case 2:
                name = random.choice(("report.html", "summary.md", "figures", "tables"))
                if not (path / name).is_symlink():
                    (path / name).symlink_to(outside if "." in name else outside.parent)
            case _:
                changed(random, file)


def _gone(random: Random, file: Path) -> None:
    file.unlink()


def _bytes(random: Random, file: Path) -> None:
    data = file.read_bytes() or b" "
    file.write_bytes(random.choice((garbled, renumbered, renamed))(random, data))


def _csv(random: Random, file: Path) -> None:
    """Another cell, column or row."""
    lines = [line.split(",") for line in file.read_text(encoding="utf-8", errors="replace").split("\n")]
    row = random.choice(lines)
    at = random.randrange(len(row))
    match random.randrange(7):
        case 0:
            lines[0][at % len(lines[0])] = random.choice((*NAMES, "robot", "seconds"))
        case 1:
            for line in lines:
                del line[at : at + 1]
        case 2:
            row[at] = "x" * 200_000
        case 3:
            lines.append(row + row)
        case 4:
            lines += [list(row) for _ in range(300)]
        case _:
            row[at] = random.choice((*NUMBERS, *NAMES)).replace("\n", " ")
    file.write_text("\n".join(",".join(line) for line in lines), encoding="utf-8")


def _json(random: Random, file: Path) -> None:
    """Another value somewhere in the tree."""
    try:
        tree = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return
    marker = "\x00mutated"
    holder: Any = tree
    while isinstance(holder, dict | list) and holder:
        key: Any = random.choice(list(holder)) if isinstance(holder, Mapping) else random.randrange(len(holder))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.25:
            holder[key] = marker
            break
        holder = inner
    file.write_text(json.dumps(tree).replace(json.dumps(marker), random.choice(NASTY)), encoding="utf-8")
