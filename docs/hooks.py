"""mkdocs hooks that insert content from the sources when the site is built. A comment in a page is replaced:

    <!-- facts NAME -->         properties of a method, from its class
    <!-- docstring FILE -->     the docstring of a module
    <!-- methods -->            a table of all methods
    <!-- claims PAPER -->       the claims, from docs/papers/claims.csv
    <!-- errata PAPER -->       the errata, from docs/papers/errata.csv
    <!-- papers -->             a table of all papers, with the number of claims by verdict
    <!-- help VERB -->          the output of `dynbench VERB --help`
    <!-- tables -->             the tables of a run, column by column, from its schema
    <!-- columns TABLE -->      the columns of one of them

The two tables are output of ``dynbench papers --output DIR``; building the site runs no simulation.
"""

from __future__ import annotations

import ast
import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
COMMENT = re.compile(r"^<!-- (\w+)(?: (\S+))? -->$", re.MULTILINE)


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


def claims(paper: str) -> str:
    columns = ("statement", "printed", "measured", "verdict", "reason")
    found = [row for row in read("claims.csv") if row["paper"] == paper]
    assert found, f"docs/papers/claims.csv has no claim of {paper}"
    return table(columns, ([number(row) if c == "measured" else row[c] for c in columns] for row in found))


def number(row: dict[str, str]) -> str:
    return f"{float(row['measured']):.4g} {row['unit']}".strip() if row["measured"] else ""


def errata(paper: str) -> str:
    columns = ("where", "printed", "correct", "evidence", "test")
    found = [row for row in read("errata.csv") if row["paper"] == paper]
    return table(columns, ([row[c] for c in columns] for row in found)) if found else "None was found."


def papers() -> str:
    verdicts: dict[str, Counter[str]] = {}
    for row in read("claims.csv"):
        verdicts.setdefault(row["paper"], Counter())[row["verdict"]] += 1
    found = Counter(row["paper"] for row in read("errata.csv"))
    words = ("reproduced", "differs", "not reproducible")
    rows = [(f"[{p}]({p}.md)", *(count[word] or "" for word in words), found[p]) for p, count in verdicts.items()]
    return table(("paper", *words, "errata"), rows)


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


def read(file: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "papers" / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a Markdown table with escaped cells."""
    lines = [list(head), *([escaped(cell) for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(cell: object) -> str:
    text = " ".join(str(cell).removeprefix("'").split())  # an apostrophe stops spreadsheet formulas
    if not text.startswith("["):  # text between backticks is shown unchanged
        text = re.sub(r"(`[^`]*`)|([*_<>\[\]])", lambda found: found[1] or f"\\{found[2]}", text)
    return text.replace("|", "\\|")


INSERTIONS: dict[str, Callable[..., str]] = {
    "facts": facts,
    "docstring": docstring,
    "methods": methods,
    "claims": claims,
    "errata": errata,
    "papers": papers,
    "help": help_of,
    "tables": tables,
    "columns": columns,
}
