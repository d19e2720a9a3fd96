"""Scenarios of other packages, under the entry-point group ``dynbench.scenarios``: name = "module".

    [project.entry-points."dynbench.scenarios"]
    my-paper = "my_package.my_paper"

Such a module is like those of `scenarios`: its docstring begins with what the experiment is, ``claims() ->
list[Claim]`` checks what a paper says, ``errata() -> list[Erratum]`` is optional. Nothing is imported before it is run.
"""

from __future__ import annotations

import ast
import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from dynbench.benchmarks import scenarios
from dynbench.robots.errors import DynbenchError

GROUP = "dynbench.scenarios"


@cache
def plugins() -> dict[str, EntryPoint]:
    """Return the scenarios of other packages by name, not loaded; our own names cannot be taken."""
    ours = {path.stem for folder in scenarios.__path__ for path in Path(folder).iterdir()}
    found = {point.name.replace("_", "-"): point for point in entry_points(group=GROUP)}
    return {name: point for name, point in sorted(found.items()) if name.replace("-", "_") not in ours}


def load(name: str) -> ModuleType:
    """Return the module of a scenario, ours or a plugin's."""
    point = plugins().get(name)
    if point is None:
        return importlib.import_module(f"{scenarios.__name__}.{name.replace('-', '_')}")
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
            return f"{point.value} of the group {GROUP!r}: there is no such module"
        return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    except Exception as error:
        return f"{point.value} of the group {GROUP!r}: {type(error).__name__}: {error}"
