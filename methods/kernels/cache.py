"""The folder of compiled kernels, named by a digest of the sources they were compiled from.

numba's disk cache checks only the file of the function it compiles. After an edit of a helper in another file the
caller would still use the old helper and give wrong results. The folder's name is therefore a digest of every source
file the kernel may use: all that its file imports when it is loaded, directly or not, from dynbench.methods or from its
plugin's package. The folder is in ``$NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder
(`platformdirs`).

The digest is computed from the files, but a process runs the code it loaded. A process whose source files were edited
after it started caches nothing: its old machine code would be stored under the digest of the new files.

numba's key also contains the folder of the function's file, so the same sources installed twice would be compiled
twice. Drivers are therefore declared as coming from a copy of their file in the cache folder itself.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import resolve_name
from pathlib import Path

from platformdirs import user_cache_dir

from dynbench.methods.kernels.scalar import LOADED

DRIVERS = "dynbench.methods.kernels.compiled"  # every kernel is called by one of its drivers
JOINTS = "dynbench.robots.joints"  # the codes of joint kinds are compiled into kernels
UNUSED_DAYS = 30
PROBE = bytes(1 << 16)  # what `unwritable` writes: a full disk often takes a few bytes


class CacheWarning(UserWarning):
    """Compiled code cannot be kept on disk."""




@functools.cache  # parsed once per process: many kernels share their sources
def imported(module: str, path: Path, when_called: bool = True) -> tuple[str, ...]:
    """Modules that a source file imports; ``from a import b`` may mean a.b as well as a.

    Parameters
    ----------
    when_called : bool
        Whether to include what functions import when they are called, and what only type checkers import.
    """
    return tuple(_imported(module, path, when_called))


def _imported(module: str, path: Path, when_called: bool) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse(path.read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif when_called or not _is_later(node):
            waiting += ast.iter_child_nodes(node)


def _is_later(node: ast.AST) -> bool:
    """Whether the statements in a node are not executed when the file is loaded."""
    types_only = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return types_only or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def import_closure(start: Iterable[str], locate: Callable[[str], Path | None]) -> dict[str, Path]:
    """Return the source files of the modules ``start`` and of all they import, directly or not, sorted by module name.

    Only what is imported when a file is loaded: no kernel imports anything when it is called, and whether modules that
    other functions import are loaded depends on what the process did before. They would give the same kernel another
    digest, and it would be compiled again.

    Parameters
    ----------
    start : iterable of str
        Module names.
    locate : callable
        The source file of a module, or None for modules to leave out (with what only they import).
    """
    found: dict[str, Path] = {}
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        path = None if name in found else locate(name)
        if path is not None:
            found[name] = path
            waiting.extend(imported(name, path, when_called=False))
    return dict(sorted(found.items()))


def sources(module: str) -> dict[str, Path]:
    """Return the loaded source files behind ``module``, by module name, in its own package and dynbench.methods."""
    roots = (module.partition(".")[0] if not module.startswith("dynbench.") else "dynbench.methods", "dynbench.methods")

    def locate(name: str) -> Path | None:
        file = getattr(sys.modules.get(name), "__file__", None)
        inside = name == JOINTS or any(name == root or name.startswith(root + ".") for root in roots)
        return Path(file) if inside and file and file.endswith(".py") else None

    return import_closure((module, DRIVERS), locate)


@functools.cache
def digest(module: str) -> str:
    """Twelve hex digits that change when any source file that a kernel of ``module`` may use changes."""
    total = hashlib.sha256()
    for name, path in sources(module).items():
        total.update(name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def base() -> Path:
    """The folder that contains the folders of compiled kernels."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_dir("dynbench", appauthor=False))


def unwritable() -> str | None:
    """Return why compiled code cannot be kept, in a sentence, None if it can."""
    try:
        base().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=base()) as file:
            file.write(PROBE)
            file.flush()
    except OSError as error:
        return _sentence(error)
    return None


def _sentence(error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error)
    return f"compiled code cannot be kept in {base()}: {why}; it is compiled in memory, again in every process"


_warned = False


def not_kept(error: Exception) -> None:
    """Warn, once in a process, that compiled code stays in memory."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(_sentence(error), CacheWarning, stacklevel=2)


def folder(module: str) -> Path:
    """The folder for kernels of ``module``, created if needed; folders unused for `UNUSED_DAYS` are removed."""
    path = base() / f"kernels-{digest(module)}"
    if not path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob("kernels-*"):
            if old != path and time.time() - old.stat().st_mtime > UNUSED_DAYS * 86400:
                shutil.rmtree(old, ignore_errors=True)
    os.utime(path)
    return path


def edited(module: str) -> bool:
    """Whether a source of ``module`` was written after this process started to load them."""
    return any(max(s.st_mtime, s.st_ctime) > LOADED for s in (path.stat() for path in sources(module).values()))


def _copied(source: Path, path: Path) -> Path:
    """The copy of a source file in a cache folder, created if needed; other processes may create it too."""
    copy = path / source.name
    if not copy.exists():
        fresh = path / f"{source.name}.{os.getpid()}"
        try:
            fresh.write_bytes(source.read_bytes())
            fresh.replace(copy)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
    return copy


@contextmanager
def numba_cache(module: str) -> Iterator[Path | None]:
    """Set numba's cache folder to the one for ``module`` while a kernel is declared.

    Yields the file that the driver must be declared from, or None if nothing is cached.
    """
    from numba import config

    drivers = None
    try:
        if not edited(module):
            drivers = _copied(Path(sys.modules[DRIVERS].__file__ or ""), folder(module))
    except OSError as error:
        not_kept(error)
    if drivers is None:
        yield None
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(drivers.parent)
    try:
        yield drivers
    finally:
        config.CACHE_DIR = before
