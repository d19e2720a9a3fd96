"""Papers and scenarios by name: ours, and those of other packages under the entry-point group ``dynbench.scenarios``.

    [project.entry-points."dynbench.scenarios"]
    my-paper = "my_package.my_paper"

Such a module is like the packages beside this file, see `registry`: its docstring begins with what the experiment is,
``claims() -> list[Claim]`` checks what a paper says; ``errata``, ``scenarios``, ``simulations`` and ``formulas`` are
optional. Nothing is imported before it is run.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from dynbench.robots.errors import DynbenchError, UnknownNameError, near

GROUP = "dynbench.scenarios"


# Experiments beside a paper's own that have a name too: module of the paper's package -> name
EXTRA_EXPERIMENTS = {
    "gibbs_appell_elastic.exudyn_beam": "exudyn-beam",
    "lagrange_stewart.printed": "lagrange-stewart-printed",
    "lagrange_stewart.speed": "lagrange-stewart-speed",
}


def ours() -> Iterator[tuple[str, Path]]:
    """Yield the name and the source of every paper here, and of the `EXTRA_EXPERIMENTS`; nothing is imported."""
    folder = Path(__file__).parent
    files = {path.parent.name.replace("_", "-"): path for path in folder.glob("[!_]*/__init__.py")}
    files |= {name: folder / f"{module.replace('.', '/')}.py" for module, name in EXTRA_EXPERIMENTS.items()}
    yield from sorted(files.items())


@cache
def plugins() -> dict[str, EntryPoint]:
    """Return the scenarios of other packages by name, not loaded; our own names cannot be taken."""
    taken = {name for name, _ in ours()}
    found = {point.name.replace("_", "-"): point for point in entry_points(group=GROUP)}
    return {name: point for name, point in sorted(found.items()) if name not in taken}


def chosen(kind: str, wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the names asked for, with dashes, all known ones if none is named; ``kind`` is what they are names of."""
    for name in wanted:
        if name.replace("_", "-") not in known:
            raise UnknownNameError(f"no {kind} is called {name!r}; {near(name, known)}")
    return tuple(name.replace("_", "-") for name in wanted) or tuple(known)


def load(name: str) -> ModuleType:
    """Return the module of a scenario, ours or a plugin's."""
    point = plugins().get(name)
    if point is None:
        inner = next((module for module, other in EXTRA_EXPERIMENTS.items() if other == name), name.replace("-", "_"))
        return importlib.import_module(f"{__package__}.{inner}")
    try:
        return importlib.import_module(point.module)
    except Exception as error:
        raise DynbenchError(
            f"the scenario {name!r} ({point.value}) cannot be imported: {type(error).__name__}: {error}"
        ) from error


def syntax(point: EntryPoint) -> ast.Module | str:
    """The source of a plugin's module, or why it cannot be read; only the packages around it are imported."""
    try:
        spec = find_spec(point.module)
        if spec is None or not spec.origin:
            return f"{point.value} of the group {point.group!r}: there is no such module"
        return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    except Exception as error:
        return f"{point.value} of the group {point.group!r}: {type(error).__name__}: {error}"
