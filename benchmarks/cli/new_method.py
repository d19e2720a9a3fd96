"""``dynbench new-method``: write a package with one working method, as a starting point for a new one."""

from __future__ import annotations

import argparse
import keyword
import re
from pathlib import Path
from string import Template
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say

TEMPLATES = Path(__file__).with_name("templates") / "new_method"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
KINDS = {
    "generic": """\
It is written over the generic scalar: one source gives single calls, batches of eight states at a time and operation
counts. `methods/kane.py` of dynbench is a whole formulation in this style.""",
    "wrap": """\
It wraps a plain function of one state: no compiler is involved, batches loop over states, operations are not counted.
When the numbers are right, `dynbench new-method` without `--wrap` shows the fast way to write it.""",
}


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "new-method",
        help="write a package with a method of your own, ready to install",
        description="Write the folder DIR/NAME: a Python package with one method that works, its test and its README.",
    )
    verb.add_argument("name", metavar="NAME", help="as it will be called on the command line, such as my-method")
    where = "where to put it (default: here)"
    verb.add_argument("--output", type=options.path, default=Path(), metavar="DIR", help=where)
    verb.add_argument("--wrap", action="store_true", help="wrap a function tau = f(q, v, a), or an engine")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the package and print the next steps."""
    folder = write(args.name, args.output, args.wrap)
    say(f"{folder} is ready. Next:\n")
    for line in (f"pip install -e {folder}", f"dynbench test-method {args.name.replace('_', '-')}"):
        say(f"    {line}")
    return 0


def write(name: str, output: Path, wrap: bool = False) -> Path:
    """Write the package of a method and return its folder.

    Raises
    ------
    DynbenchError
        If the name is not valid or taken, or the folder exists already.
    """
    from dynbench.robots.errors import DynbenchError

    name = checked(name)
    folder = output / name
    if folder.exists():
        raise DynbenchError(f"{folder} exists already; choose another name or another --output")
    kind = "wrap" if wrap else "generic"
    words = substitutions(name, kind)
    files = {
        "pyproject.toml": "pyproject.toml.tmpl",
        "README.md": "README.md.tmpl",
        f"{words['module']}.py": f"{kind}.py.tmpl",
        f"tests/test_{words['identifier']}.py": "test_method.py.tmpl",
    }
    try:
        for file, template in files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(filled(template, words), encoding="utf-8")
    except OSError as error:
        raise DynbenchError(f"{folder} cannot be written: {error.strerror}") from error
    return folder


def checked(name: str) -> str:
    """The name of a method in its usual form, checked."""
    from dynbench.methods import registry
    from dynbench.robots.errors import DynbenchError

    name = name.replace("_", "-")
    if not NAME.fullmatch(name):
        raise DynbenchError(f"{name!r} cannot name a method: use small letters, digits and dashes, as in my-method2")
    if name in registry.names():
        raise DynbenchError(f"there is a method called {name!r} already; choose another name")
    return name


def substitutions(name: str, kind: str) -> dict[str, str]:
    """The values of the placeholders in the templates."""
    from importlib.metadata import version

    from dynbench.methods.base import CONTRACT

    title = name.replace("-", " ").capitalize()
    class_name = "".join(part.capitalize() for part in name.split("-"))
    body = (TEMPLATES / f"{kind}.py.tmpl").read_text(encoding="utf-8")
    if keyword.iskeyword(class_name) or re.search(rf"\b{class_name}\b", body):  # such as None, or Method
        class_name += "Plugin"
    identifier = name.replace("-", "_")
    return {
        "name": name,
        "identifier": identifier,
        "module": f"dynbench_{identifier}",
        "class_name": class_name,
        "title": title,
        "kind": KINDS[kind],
        "contract": str(CONTRACT),
        "version": version("dynbench"),
    }


def filled(template: str, words: dict[str, str]) -> str:
    """A template with its placeholders replaced."""
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)
