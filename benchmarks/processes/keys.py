"""The key of a job: a digest of everything that its answer depends on.

It is a SHA-256 of the job's function and arguments, with every name replaced by the content that it stands for:

    robot, robots       the robot's data, independent of where it was loaded from
    method, reference   the class, its options, its sources with all their imports, the engine it wraps; for another
                        package, all files of that package
    group               robot and method of each cell of a timing group

and of what all jobs share: the versions of Python, dynbench, numpy, numba and scipy, the sources of `robots` and of the
benchmark harness. Timings also depend on the processor. The order of arguments and the limits of time and memory do not
matter.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import platform
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.processes.hosts import cpu_model, package_version
from dynbench.benchmarks.processes.jobs import Job, dumps
from dynbench.methods.kernels import cache
from dynbench.robots.errors import DynbenchError

PACKAGES = ("dynbench", "numpy", "numba", "llvmlite", "scipy")
# Jobs of these modules measure times, which depend on the processor; counts do not
TIMED = ("dynbench.benchmarks.timing.", "dynbench.benchmarks.papers.")
COUNTED = "dynbench.benchmarks.timing.counts:"
# Folders of `benchmarks` that any job may use
HARNESS = ("checks", "timing", "simulation", "processes", "results", "runs")
ROOT = Path(__file__).resolve().parents[2]


def key(job: Job) -> str:
    """Return the key of a job: 64 hex digits."""
    module = job.function.partition(":")[0]
    content: dict[str, Any] = {
        "function": job.function,
        "arguments": {name: _content(name, value) for name, value in job.arguments.items()},
        "versions": versions(),
        "python": platform.python_version(),
        "sources": [_tree(_folder("dynbench.robots")), _tree(_folder(module)), *map(_tree, _harness())],
    }
    if "method" not in job.arguments and "group" not in job.arguments:
        content["methods"] = _tree(_folder("dynbench.methods"))  # it may call any method of dynbench
    if timed(job):
        content["processor"] = [cpu_model(), os.cpu_count(), os.environ.get("NUMBA_NUM_THREADS", "")]
    return hashlib.sha256(dumps(content).encode()).hexdigest()


def timed(job: Job) -> bool:
    """Whether the answer of a job depends on the processor."""
    return job.function.startswith(TIMED) and not job.function.startswith(COUNTED)


def versions() -> dict[str, str]:
    """The versions of the packages that all numbers depend on."""
    return {name: package_version(name) for name in PACKAGES}


def source_digest() -> str:
    """Digest of all sources of dynbench that compute numbers."""
    trees = [_tree(_folder(f"dynbench.{layer}")) for layer in ("robots", "methods", "benchmarks")]
    return hashlib.sha256(dumps(trees).encode()).hexdigest()


def package_digest(module: str) -> str:
    """Digest of the folder of a module of dynbench, or of the whole imported package of another module."""
    return _tree(_folder(module))


def method_digest(name: str) -> str:
    """Digest of a method: its class, options, sources and engine."""
    return hashlib.sha256(dumps(_method(name)).encode()).hexdigest()


def _content(name: str, value: Any) -> Any:
    """The content that an argument stands for."""
    if name == "robot":
        return _robot(value)
    if name == "robots":
        return [_robot(each) for each in value]
    if name in ("method", "reference"):
        return _method(value)
    if name == "group":
        return [{word: _content(word, item) for word, item in cell.items()} for cell in value]
    return value


@functools.cache
def _robot(source: str) -> str:
    try:
        return robots.load(source).digest
    except (DynbenchError, OSError) as error:
        return f"{source}: {error}"  # the job will fail with the same message


@functools.cache
def _method(name: str) -> dict[str, Any]:
    made = methods.get(name)
    module = type(made).__module__
    return {
        "class": f"{module}.{type(made).__qualname__}",
        "options": {field: repr(getattr(made, field)) for field in _options(made)},
        "sources": _closure(module) if module.startswith("dynbench.") else _tree(_package(module)),
        "engine": {required: _engine(required) for required in made.requires},
    }


def _options(made: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(made)] if dataclasses.is_dataclass(made) else []


def _engine(module: str) -> list[str]:
    return [f"{name} {package_version(name)}" for name in sorted(_distributions().get(module, ()))]


@functools.cache
def _distributions() -> dict[str, set[str]]:
    return {module: set(names) for module, names in packages_distributions().items()}


def _file(module: str) -> Path | None:
    found = getattr(sys.modules.get(module), "__file__", None)
    return Path(found) if found else None


def _package(module: str) -> Path:
    """The folder of a plugin's top-level package, or its file; of a namespace package, the deepest that has one."""
    names = module.split(".")
    for count in range(1, len(names) + 1):
        file = _file(".".join(names[:count]))
        if file is not None:
            return file.parent if file.name.startswith("__init__.") else file
    return Path(os.devnull)


def _harness() -> list[Path]:
    return [_folder(f"dynbench.benchmarks.{name}") for name in HARNESS]


def _folder(module: str) -> Path:
    """The folder of a package of dynbench, or the one that contains a module of it."""
    layer, *inside = module.removeprefix("dynbench.").split(".")
    root = ROOT / layer
    if not module.startswith("dynbench.") or not root.is_dir():
        return _package(module)
    path = root.joinpath(*inside)
    return path if path.is_dir() else path.parent


@functools.cache
def _tree(path: Path) -> str:
    """Digest of a file, or of all files below a folder except compiled Python files."""
    total = hashlib.sha256()
    for file in _files(path):
        total.update(str(file.relative_to(path)).encode())
        total.update(file.read_bytes() if file != Path(os.devnull) else b"")
    return total.hexdigest()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [file for file in path.rglob("*") if file.is_file()]
    return sorted(file for file in found if not {"__pycache__", "latest"} & set(file.relative_to(path).parts))


@functools.cache
def _closure(module: str) -> str:
    """Digest of all that a module of dynbench imports from `dynbench.methods`, directly or indirectly.

    Like `cache.digest` for kernels, but by files: imports inside functions count too.
    """
    waiting = [module, cache.DRIVERS]
    found: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        inside = _folder("dynbench.methods").joinpath(*name.split(".")[2:])
        file = inside / "__init__.py" if inside.is_dir() else inside.with_suffix(".py")
        if name.startswith("dynbench.methods.") and name not in found and file.is_file():
            found[name] = file
            waiting.extend(cache.imported(name, file))
    return hashlib.sha256(dumps({name: _tree(file) for name, file in found.items()}).encode()).hexdigest()
