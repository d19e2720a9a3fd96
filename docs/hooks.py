"""What the documentation takes from the sources when the site is built (`conf`), and its contents.

A comment in a page, alone on its line, is replaced:

    <!-- facts NAME -->             properties of a method, from its class
    <!-- docstring FILE -->         the docstring of a module
    <!-- source FILE NAME... -->    functions or classes of a file, as they are
    <!-- functions FILE -->         a table of the functions of a module, with what they do
    <!-- counts NAME -->            operation counts of a method on chains, as polynomials
    <!-- methods -->                a table of all methods
    <!-- help VERB -->              the output of `dynbench VERB --help`
    <!-- tables -->                 the tables of a run, column by column, from its schema
    <!-- columns TABLE -->          the columns of one of them
    <!-- api MODULE NAME... -->     signatures and docstrings, of all or of some names of a module
    <!-- sample -->                 which run the sample report is of, and the link to it

A line ``--8<-- "FILE"`` in a block of code is replaced by that file. The pages of the papers hold their tables
themselves, see `paper_pages`; building the site runs no simulation.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # loaded by its path
import sample_report
from paper_pages import table

ROOT = Path(__file__).parent.parent
COMMENT = re.compile(r"^<!-- (?!begin |end )(\w+)((?: \S+)*) -->$", re.MULTILINE)  # those two are of `paper_pages`
SNIPPET = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)
TITLE = re.compile(r'^```(\w+) title="(.+)"$', re.MULTILINE)

CONTENTS: dict[str, list[str]] = {  # heading -> pages, in order
    "Start": [
        "report", "sample-report", "default-run", "running", "comparing-runs", "which-formulation", "rivals",
        "conventions", "glossary",
    ],
    "Guides": [
        "control-engineers", "lecturers", "five-derivations", "derivatives", "identification", "problems",
        "adding-a-method", "kernel-reference", "engine-authors", "adding-a-scenario",
    ],
    "Reference": [
        "command-line", "result-files", "robot-files", "campaigns", "tracing", "security", "api",
    ],
    "Methods": [
        f"methods/{name}"
        for name in (
            "index", "newton-euler", "hollerbach", "kane", "lagrange-euler", "gibbs-appell", "gibbs-appell-rp",
            "boltzmann-hamel", "canonical-momenta", "screw", "gdahj", "denoc", "virtual-spring-denoc", "maggi",
            "udwadia-kalaba", "augmented-lagrangian", "maximal-coordinates", "constraint-embedding",
            "lagrange-stewart", "virtual-work-stewart", "gibbs-appell-elastic", "lagrange-elastic", "null", "peers",
        )
    ],
    "Papers": [
        f"papers/{name}"
        for name in (
            "index", "gibbs-appell-rp", "gibbs-appell-elastic", "virtual-spring-denoc", "boltzmann-hamel",
            "lagrange-stewart", "safeea-gdahj", "dynibo-readme", "dynbench-readme",
        )
    ],
}  # fmt: skip


def page(name: str, text: str) -> str:
    """Return a page as Sphinx gets it; the first one has the contents of the site."""
    text = insert(text)
    return text + contents() if name == "index" else text


def insert(text: str) -> str:
    """Replace the comments and snippets of a page."""
    text = COMMENT.sub(lambda found: INSERTIONS[found[1]](*found[2].split()), text)
    text = SNIPPET.sub(lambda found: (ROOT / found[1]).read_text(encoding="utf-8").rstrip(), text)
    return TITLE.sub(r"`\2`:\n\n```\1", text)


def contents() -> str:
    """The tables of contents of the site, which Sphinx shows at the side."""
    trees = [
        f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n" + "\n".join(pages) + "\n```"
        for heading, pages in CONTENTS.items()
    ]
    return "\n\n" + "\n\n".join(trees) + "\n"


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


def source(file: str, *names: str) -> str:
    text = (ROOT / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    found = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    absent = [name for name in names if name not in found]
    assert not absent, f"{file} has no {', '.join(absent)}"
    parts = ["\n".join(lines[_first_line(found[name]) - 1 : found[name].end_lineno]) for name in names]
    return f'```python title="{file}"\n' + "\n\n\n".join(parts) + "\n```"


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def functions(file: str) -> str:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    rows = []
    for node in tree.body:
        text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and text:
            arguments = ", ".join(argument.arg for argument in node.args.args)
            rows.append((f"`{node.name}({arguments})`", " ".join(text.partition("\n\n")[0].split())))
    assert rows, f"{file} has no function with a docstring"
    summary = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    return f"`{file}`: {' '.join(summary.split())}\n\n" + table(("function", "does"), rows)


def counts(name: str, family: str = "chain") -> str:
    from dynbench.benchmarks.timing.counts import polynomials
    from dynbench.methods import registry

    computed = registry.get(name).computes
    quantities = [one for one in ("inverse_dynamics", "forward_dynamics", "mass_matrix") if one in computed]
    found = {quantity: polynomials(name, family, quantity) for quantity in quantities}
    rows = [
        (f"`{quantity}`", kinds["additions"], kinds["multiplications"], kinds["divisions"], kinds["sincos"])
        if "additions" in kinds
        else (f"`{quantity}`", kinds["reason"], "", "", "")
        for quantity, kinds in found.items()
    ]
    kinds = ("additions", "multiplications", "divisions", "sines, each with its cosine")
    return table((f"`{family}-N`, counted in the timed source", *kinds), rows)


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


def api(module: str, *names: str) -> str:
    members = f"   :members: {', '.join(names)}\n" if names else "   :members:\n"
    text = "" if names else docstring(module.removeprefix("dynbench.").replace(".", "/") + ".py") + "\n\n"
    return f"{text}```{{eval-rst}}\n.. automodule:: {module}\n{members}```"


INSERTIONS: dict[str, Callable[..., str]] = {
    "facts": facts,
    "docstring": docstring,
    "source": source,
    "functions": functions,
    "counts": counts,
    "api": api,
    "methods": methods,
    "help": help_of,
    "tables": tables,
    "columns": columns,
    "sample": sample_report.described,
}
