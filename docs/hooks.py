"""mkdocs hooks that insert content from the sources when the site is built. A comment in a page is replaced:

    <!-- facts NAME -->         properties of a method, from its class
    <!-- docstring FILE -->     the docstring of a module
    <!-- methods -->            a table of all methods
    <!-- help VERB -->          the output of `dynbench VERB --help`
    <!-- tables -->             the tables of a run, column by column, from its schema
    <!-- columns TABLE -->      the columns of one of them

The pages of the papers hold their tables themselves, see `paper_pages`; building the site runs no simulation.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs loads this file by its path
from paper_pages import table

ROOT = Path(__file__).parent.parent
COMMENT = re.compile(r"^<!-- (?!begin |end )(\w+)(?: (\S+))? -->$", re.MULTILINE)  # those two are of `paper_pages`


def on_page_markdown(markdown: str, **context: Any) -> str:
    """Replace the comments of a page (called by mkdocs before rendering)."""
    return COMMENT.sub(lambda found: INSERTIONS[found[1]](*filter(None, [found[2]])), markdown)


def facts(name: str) -> str:
    from dynbench.methods import registry

    method = registry.available()[0][name]
    rows = {
        "name": f"`{name}`",
        "reference": method.reference,
        "cost of inverse dynamics": method.cost,
        "computes": ", ".join(f"`{quantity}`" for quantity in method.computes),
        "exact": "yes" if method.exact else "no: its error is reported and is not a failure",
        "options": ", ".join(f"`{o} = {f.default!r}`" for o, f in registry.options_of(method).items()) or "none",
        "class": f"`{method.__module__}.{method.__qualname__}`",
    }
    return table(("", method.title), rows.items())


def docstring(file: str) -> str:
    text = ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8")))
    assert text, f"{file} has no docstring"
    return f'```text title="{file}"\n{text}\n```'


def methods() -> str:
    from dynbench.methods import registry

    found = registry.available()[0]
    rows = [(f"`{name}`", m.title, m.cost, "yes" if m.exact else "no", m.reference) for name, m in found.items()]
    return table(("name", "formulation", "cost", "exact", "reference"), rows)


def help_of(verb: str = "") -> str:
    from dynbench.benchmarks.cli import parser

    os.environ["COLUMNS"] = "100"
    command = parser()
    if verb:
        (verbs,) = (action for action in command._actions if hasattr(action, "choices") and action.dest == "verb")
        command = verbs.choices[verb]  # type: ignore[index,call-overload]
    return f"```text\n{command.format_help().strip()}\n```"


def tables() -> str:
    from dynbench.benchmarks.results.schema import TABLES

    return "\n\n".join(f"## {one.file}: {one.title}\n\n{columns(name)}" for name, one in TABLES.items())


def columns(name: str) -> str:
    from dynbench.benchmarks.results import schema

    found = getattr(schema, name.upper()).columns
    rows = ([f"`{c.name}`", c.meaning, c.type.name.removeprefix("a "), c.unit, "yes" * c.key] for c in found)
    return table(("column", "meaning", "type", "unit", "key"), rows)


INSERTIONS: dict[str, Callable[..., str]] = {
    "facts": facts,
    "docstring": docstring,
    "methods": methods,
    "help": help_of,
    "tables": tables,
    "columns": columns,
}
