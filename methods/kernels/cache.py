"""Where compiled kernels are kept: a folder keyed on the sources they were compiled from.

numba's disk cache looks only at the file of the function it compiles. Edit a helper in another file and the caller
silently goes on with the old one: a wrong torque. So the folder's name is a digest of every source file the kernel
could have used: all it imports, directly or not, from dynbench.methods or from the package of the plugin it belongs
to. The folder lies below ``$NUMBA_CACHE_DIR`` when that is set, else in the user's cache folder.

A digest is of files, and a process computes with what it has read of them. A process whose sources were edited since
it began keeps nothing: its old machine code would lie under the digest of the new files.

numba also keys on the folder in which the function's file lies, so that the same sources installed twice would be
compiled twice. Drivers therefore say that they are from a copy of their file in the cache folder itself.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import resolve_name
from pathlib import Path

from dynbench.methods.kernels.scalar import LOADED

DRIVERS = "dynbench.methods.kernels.compiled"  # every kernel runs in one of its drivers
JOINTS = "dynbench.robots.joints"  # joint codes are compiled in
UNUSED_DAYS = 30


@functools.cache  # what this process has read of it; many kernels share their sources
def imported(module: str, path: Path) -> tuple[str, ...]:
    """Modules that a source file imports; ``from a import b`` may mean a.b as well as a."""
    return tuple(_imported(module, path))


def _imported(module: str, path: Path) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def sources(module: str) -> dict[str, Path]:
    """Return the source files behind ``module``, by module name, within its own package and dynbench.methods."""
    roots = (module.partition(".")[0] if not module.startswith("dynbench.") else "dynbench.methods", "dynbench.methods")
    found: dict[str, Path] = {}
    waiting = [module, DRIVERS]
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        ours = name == JOINTS or any(name == root or name.startswith(root + ".") for root in roots)
        if name not in found and file and ours and file.endswith(".py"):
            found[name] = Path(file)
            waiting.extend(imported(name, found[name]))
    return dict(sorted(found.items()))


@functools.cache
def digest(module: str) -> str:
    """Twelve hex digits that change when any source a kernel of ``module`` may call changes."""
    total = hashlib.sha256()
    for name, path in sources(module).items():
        total.update(name.encode())
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


def edited(module: str) -> bool:
    """Whether a source of ``module`` has been written since this process began to load them."""
    return any(max(s.st_mtime, s.st_ctime) > LOADED for s in (path.stat() for path in sources(module).values()))


def _copied(source: Path, path: Path) -> Path:
    """The copy of a source file in a cache folder, made if need be; another process may be making it too."""
    copy = path / source.name
    if not copy.exists():
        fresh = path / f"{source.name}.{os.getpid()}"
        fresh.write_bytes(source.read_bytes())
        fresh.replace(copy)
    return copy


@contextmanager
def numba_cache(module: str) -> Iterator[Path | None]:
    """Point numba's cache at the folder for ``module`` while a kernel is declared.

    What comes is the file that its driver is to be declared from, None if nothing is to be kept.
    """
    from numba import config

    drivers = None
    with suppress(OSError):
        if not edited(module):
            drivers = _copied(Path(sys.modules[DRIVERS].__file__ or ""), folder(module))
    if drivers is None:
        yield None
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(drivers.parent)
    try:
        yield drivers
    finally:
        config.CACHE_DIR = before
