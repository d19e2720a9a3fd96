"""Files that are there whole or not at all: written under another name in the same folder, then put in place."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from dynbench.robots.errors import DynbenchError


@contextmanager
def replaced(path: Path) -> Iterator[IO[str]]:
    """Open a text file for writing that takes the place of ``path`` when all of it is on disk.

    Raises
    ------
    DynbenchError
        When the disk is full, or the folder cannot be written; what was at ``path`` before is still there.
    """
    draft = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}-", delete=False, encoding="utf-8", newline=""
        ) as file:
            draft = file.name
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except OSError as error:
        raise DynbenchError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            if draft:
                os.unlink(draft)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Put a text in place of what is at ``path``."""
    with replaced(path) as file:
        file.write(text)


def write_json(path: Path, content: Any, indent: int | None = None) -> None:
    """Put plain data in place of what is at ``path``, as JSON without NaN."""
    write_text(path, json.dumps(content, indent=indent, allow_nan=False) + "\n")
