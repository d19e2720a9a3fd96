"""Problems by name: every module of this folder that has ``problems()``, and those of other packages.

A module's docstring begins with what the problem is, and it has

    problems() -> list[Problem]         one, or several with other data; may take ``quick``

Its name here is the module's, with dashes. Another package adds a module by an entry point:

    [project.entry-points."dynbench.problems"]
    my-problem = "my_package.my_problem"

Nothing is imported before it is run. A plugin that cannot be read or imported is listed with the reason and stops
nothing.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from dynbench.benchmarks.papers.plugins import chosen, syntax
from dynbench.benchmarks.papers.registry import call
from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots.errors import DynbenchError

GROUP = "dynbench.problems"
MAKER = "problems"


def ours() -> dict[str, Path]:
    """Return the sources of our problems by name; nothing is imported."""
    folder = Path(__file__).parent
    files = {path.stem.replace("_", "-"): path for path in sorted(folder.glob("[!_]*.py"))}
    return {name: path for name, path in files.items() if _makes(ast.parse(path.read_text("utf-8")))}


def _makes(tree: ast.Module) -> bool:
    """Whether a module defines or imports ``problems``."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == MAKER:
            return True
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == MAKER for alias in node.names):
            return True
    return False


@cache
def plugins() -> dict[str, EntryPoint]:
    """Return the problems of other packages by name, not loaded; our own names cannot be taken."""
    taken = ours()
    found = {point.name.replace("_", "-"): point for point in entry_points(group=GROUP)}
    return {name: point for name, point in sorted(found.items()) if name not in taken}


def titles() -> dict[str, str]:
    """Return the first line of the docstring of every problem that can be read, by name."""
    trees: dict[str, ast.Module | str] = {name: ast.parse(path.read_text("utf-8")) for name, path in ours().items()}
    trees |= {name: syntax(point) for name, point in plugins().items()}
    return {
        name: (ast.get_docstring(tree) or "").partition("\n")[0]
        for name, tree in trees.items()
        if isinstance(tree, ast.Module)
    }


def broken() -> dict[str, str]:
    """Return why plugins cannot be read, by name."""
    found = {name: syntax(point) for name, point in plugins().items()}
    return {name: reason for name, reason in found.items() if isinstance(reason, str)}


def names() -> tuple[str, ...]:
    """Return the names of the problems, without importing their modules; broken plugins included."""
    return tuple(sorted([*ours(), *plugins()]))


def checked_names(wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the problems asked for, all if none is named."""
    return chosen("problem", wanted, names())


def load(name: str, quick: bool = False) -> list[Problem]:
    """Return the problems of a module, ours or a plugin's."""
    point = plugins().get(name)
    try:
        module = _module(name, point)
        found = list(call(getattr(module, MAKER), quick))
    except Exception as error:
        if point is None:
            raise
        raise DynbenchError(
            f"the problem {name!r} ({point.value}) cannot be used: {type(error).__name__}: {error}"
        ) from error
    wrong = next((one for one in found if not isinstance(one, Problem)), None)
    if wrong is not None or not found:
        got = "an empty list" if not found else repr(wrong)
        raise DynbenchError(f"the problem {name!r}: expected {MAKER}() to return a list of Problem, got {got}")
    return found


def _module(name: str, point: EntryPoint | None) -> ModuleType:
    if point is None:
        return importlib.import_module(f"{__package__}.{name.replace('-', '_')}")
    return importlib.import_module(point.module)
