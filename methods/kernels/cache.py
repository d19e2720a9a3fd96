"""Where compiled kernels are kept: a folder keyed on the sources they were compiled from.

numba's disk cache looks only at the file of the function it compiles. Edit a helper in another file and the caller
silently goes on with the old one: a wrong torque. So the folder's name is a digest of every source file a kernel
could have used: ours, and those of the plugin it belongs to. The folder lies below ``$NUMBA_CACHE_DIR`` when that is
set, else in the user's cache folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OURS = Path(__file__).parents[1]  # all of dynbench.methods
UNUSED_DAYS = 30


def _sources(module: str) -> list[Path]:
    """Source files behind ``module``: the methods folder, and for a plugin all loaded files of its package."""
    files = sorted(OURS.rglob("*.py"))
    root = module.partition(".")[0]
    if root != "dynbench":
        loaded = [m for name, m in sorted(sys.modules.items()) if name == root or name.startswith(root + ".")]
        files += [Path(m.__file__) for m in loaded if getattr(m, "__file__", None)]
    return [path for path in files if path.suffix == ".py" and path.is_file()]


@functools.cache
def digest(module: str) -> str:
    """Twelve hex digits that change when any source a kernel of ``module`` may call changes."""
    total = hashlib.sha256()
    for path in _sources(module):
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def base() -> Path:
    """The folder below which compiled kernels are kept."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(home) / "dynbench"


def folder(module: str) -> Path:
    """The folder for kernels of ``module``; made if need be, and long-unused neighbours removed."""
    path = base() / f"kernels-{digest(module)}"
    if not path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob("kernels-*"):
            if old != path and time.time() - old.stat().st_mtime > UNUSED_DAYS * 86400:
                shutil.rmtree(old, ignore_errors=True)
    os.utime(path)
    return path


@contextmanager
def numba_cache(module: str) -> Iterator[bool]:
    """Point numba's cache at the folder for ``module`` while a kernel is declared; False if it cannot be written."""
    from numba import config

    try:
        path = folder(module)
    except OSError:
        yield False
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(path)
    try:
        yield True
    finally:
        config.CACHE_DIR = before
