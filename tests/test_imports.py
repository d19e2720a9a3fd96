"""Imports go one way, robots <- methods <- benchmarks <- reports, and the light modules stay light.

The first is read off the source, lazy imports included, so that a wrong-way import is named with its file
and line whether or not a test happens to run it. Subpackages of one folder form no cycle either. The second is
read off the source where a heavy library is imported by name, and off a fresh interpreter for what comes in
through another module.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("robots", "methods", "benchmarks", "reports")

# What `dynbench list` must not wait for: half a second or more each, or not installed at all.
COMPILER = ("numba", "llvmlite")
TABLES = ("pandas", "scipy", "matplotlib")
PEERS = ("pinocchio", "mujoco", "pydrake")
HEAVY = COMPILER + TABLES + PEERS


class Import(NamedTuple):
    """One imported name: where, what, and whether it is imported together with its file."""

    line: int
    name: str
    eager: bool


def imports(source: str, package: str) -> list[Import]:
    """Return every import in a module of ``package``, absolute, with ``from a import b`` as ``a.b``."""
    return sorted(_imports(ast.parse(source), package.split("."), eager=True))


def _imports(node: ast.AST, package: list[str], eager: bool) -> Iterator[Import]:
    match node:
        case ast.Import():
            yield from (Import(node.lineno, alias.name, eager) for alias in node.names)
        case ast.ImportFrom():
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (Import(node.lineno, f"{base}.{alias.name}", eager) for alias in node.names)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield Import(node.lineno, name, eager)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            eager = False
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            for child in node.body:
                yield from _imports(child, package, eager=False)
            for child in node.orelse:
                yield from _imports(child, package, eager)
            return
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, package, eager)


def wrong_way(file: str, source: str) -> list[str]:
    """Return a sentence for each import in ``file`` (from the root, with /) that goes the wrong way."""
    layer = file.split("/")[0]
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    if file.startswith("benchmarks/cli"):
        allowed.add("reports")  # the command line writes the report when the benchmark is done
    found = []
    for line, name, _ in imports(source, _package(file)):
        top, _, rest = name.partition(".")
        if top in LAYERS:
            found.append(f"{file}:{line} imports {name}; its name when installed is dynbench.{name}")
        elif top == "dynbench" and rest.split(".")[0] in set(LAYERS) - allowed:
            may = ", ".join(sorted(allowed))
            found.append(f"{file}:{line} imports {name}, but {layer} may import {may} only")
    return found


def too_heavy(file: str, source: str) -> list[str]:
    """Return a sentence for each library in ``file`` that may be imported inside functions only."""
    heavy = set(HEAVY)
    if file.startswith("methods/kernels/"):
        heavy -= set(COMPILER)  # this folder is itself imported inside functions
    elif file.startswith(("benchmarks/", "reports/")) and not file.startswith("benchmarks/cli"):
        heavy -= set(TABLES)  # so are the harness and the reports, by the command line
    return [
        f"{file}:{line} imports {name} with the module; import it inside the function that needs it"
        for line, name, eager in imports(source, _package(file))
        if eager and name.split(".")[0] in heavy
    ]


def _package(file: str) -> str:
    return "dynbench." + ".".join(file.split("/")[:-1])


def sources() -> dict[str, str]:
    """Return the text of every module by its path from the root."""
    files = (path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


Graph = dict[tuple[str, str], list[str]]  # (importer, imported): the lines that do it


def subpackage(name: str) -> str:
    """Return the subpackage that a dotted name is in, such as ``benchmarks.results``; "" outside of one.

    Modules directly in a layer are in none: they are its surface, and share their types with its subpackages.
    """
    layer, *inside = name.removeprefix("dynbench.").split(".")
    return f"{layer}.{inside[0]}" if inside and (ROOT / layer / inside[0]).is_dir() else ""


def subpackage_graph(files: dict[str, str]) -> Graph:
    """Return the imports between subpackages of one layer, those inside functions too."""
    found: Graph = {}
    for file, source in files.items():
        here = subpackage(_package(file))
        for line, name, _ in imports(source, _package(file)):
            there = subpackage(name) if name.startswith("dynbench.") else ""
            if here and there and here != there and here.split(".")[0] == there.split(".")[0]:
                found.setdefault((here, there), []).append(f"{file}:{line} imports {name}")
    return found


def module_graph(files: dict[str, str]) -> Graph:
    """Return the imports between modules that happen with the module itself."""
    modules = {file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in files}
    found: Graph = {}
    for file, source in files.items():
        here = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for line, name, eager in imports(source, _package(file)):
            there = name.removeprefix("dynbench.")
            there = there if there in modules else there.rpartition(".")[0]
            if eager and there in modules and there != here:
                found.setdefault((here, there), []).append(f"{file}:{line} imports {name}")
    return found


def cycles(graph: Graph) -> list[str]:
    """Return a sentence for each import that closes a cycle, naming file and line."""
    reach = {a: {b for first, b in graph if first == a} for a, _ in graph}
    for through in list(reach):
        for start in reach:
            if through in reach[start]:
                reach[start] |= reach[through]
    return [
        f"{line}, and {there} imports {here}"
        for (here, there), lines in sorted(graph.items())
        if here in reach.get(there, ())
        for line in lines
    ]


@pytest.mark.parametrize("graph_of", [subpackage_graph, module_graph])
def test_imports_form_no_cycle(graph_of):
    graph = graph_of(sources())
    for here in sorted({here for here, _ in graph}):
        print(f"{here} -> {', '.join(there for first, there in sorted(graph) if first == here)}")
    closed = cycles(graph)
    assert not closed, "\n".join(["", *closed])


@pytest.mark.parametrize(
    "planted",
    [
        "from dynbench.benchmarks.runs import plan",
        "def late():\n    from dynbench.benchmarks.runs.plan import Plan",
        "from importlib import import_module\nimport_module('dynbench.benchmarks.runs.plan')",
    ],
)
def test_an_import_that_closes_a_cycle_is_named_with_its_line(planted):
    files = sources()
    files["benchmarks/results/tables.py"] += "\n" + planted
    last = files["benchmarks/results/tables.py"].count("\n") + 1
    assert any(
        sentence.startswith(f"benchmarks/results/tables.py:{last} ") for sentence in cycles(subpackage_graph(files))
    )


@pytest.mark.parametrize("rule", [wrong_way, too_heavy])
def test_every_import_keeps_the_rule(rule):
    broken = [sentence for file, source in sources().items() for sentence in rule(file, source)]
    assert not broken, "\n".join(["", *broken])


@pytest.mark.parametrize(
    ("file", "source", "line"),
    [
        ("robots/robot.py", "import dynbench.methods", 1),
        ("robots/robot.py", "from dynbench import robots, methods", 1),
        ("robots/zoo/arms.py", "from ...methods import base", 1),
        ("robots/__init__.py", "from ..reports.html import page", 1),
        ("methods/base.py", "def f():\n    from dynbench.benchmarks import timing", 2),
        ("methods/base.py", "from importlib import import_module\nimport_module('dynbench.reports')", 2),
        ("methods/base.py", "if TYPE_CHECKING:\n    from dynbench.reports import html", 2),
        ("benchmarks/timing/passes.py", "import os\n\nimport dynbench.reports.html", 3),
        ("reports/html.py", "from robots import load", 1),
    ],
)
def test_a_wrong_way_import_is_named_with_file_and_line(file, source, line):
    (sentence,) = wrong_way(file, source)
    assert sentence.startswith(f"{file}:{line} imports ")


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("robots/robot.py", "from . import joints\nfrom .errors import RobotError"),
        ("methods/peers/pinocchio.py", "from ..base import Method\nfrom dynbench.robots import Robot"),
        ("benchmarks/cli.py", "def main():\n    from dynbench.reports import html"),
        ("reports/html.py", "from dynbench.benchmarks.results.rows import Row"),
    ],
)
def test_a_right_way_import_is_let_through(file, source):
    assert wrong_way(file, source) == []


@pytest.mark.parametrize(
    ("file", "source", "heavy"),
    [
        ("robots/files/urdf.py", "import scipy.linalg", True),
        ("robots/files/urdf.py", "def f():\n    import scipy.linalg", False),
        ("robots/files/urdf.py", "if TYPE_CHECKING:\n    import pandas", False),
        ("robots/files/urdf.py", "class A:\n    import pandas", True),
        ("methods/kane.py", "try:\n    from numba import njit\nexcept ImportError:\n    pass", True),
        ("methods/kernels/jit.py", "from numba import njit", False),
        ("methods/peers/pinocchio.py", "import pinocchio", True),
        ("benchmarks/results/rows.py", "import pandas", False),
        ("benchmarks/cli.py", "import pandas", True),
    ],
)
def test_a_heavy_import_is_noticed(file, source, heavy):
    assert bool(too_heavy(file, source)) is heavy


def test_robots_and_methods_import_without_compiling():
    """Import each module of robots/ and each method in one fresh interpreter, and look what came along."""
    light = [
        _package(file) + ("" if file.endswith("__init__.py") else f".{Path(file).stem}")
        for file in sources()
        if file.startswith(("robots/", "methods/")) and not file.startswith("methods/kernels/")
    ]
    assert "dynbench.robots" in light
    program = f"""
import importlib, sys
for module in {light!r}:
    importlib.import_module(module)
    heavy = [name for name in {HEAVY!r} if name in sys.modules]
    if heavy:
        sys.exit(f"importing {{module}} imports {{', '.join(heavy)}}")
"""
    command = [sys.executable, "-P", "-c", program]  # -P: no folder on the path but the installed ones
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
