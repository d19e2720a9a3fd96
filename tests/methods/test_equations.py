"""Every equation that a method claims is cited where it is computed, and every equation of a paper is in the docs.

A method's class docstring has a line such as ``Equations: (1)-(12), (20)``. Each of these numbers must be cited, as
``(20)``, in a comment inside a function or in a function's docstring of the method's own files. Module docstrings,
class docstrings (the claim itself) and comments outside functions do not count, and neither do ranges: a reader finds
an equation by searching for its number.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

from dynbench import methods

ROOT = Path(__file__).parent.parent.parent
CLAIM = re.compile(r"\bEquations: (.+)$", re.MULTILINE)
PART = re.compile(r"\((E?)(\d+)([ab]?)\)(?:-\((E?)(\d+)\))?")
NUMBER = re.compile(r"\((E?\d+[ab]?)\)")
ROW = re.compile(r"^\| \((\d+)\) \| (.+) \| (.+) \|$", re.MULTILINE)
FILE = re.compile(r"`(\w+/[\w/]+\.py)`")

FORMULATIONS = [
    name
    for name, method in methods.available()[0].items()
    if method.__module__.startswith("dynbench.methods.") and ".peers." not in method.__module__ and name != "null"
]
# the papers by the name of their method, the number of their last equation, and the methods that implement them
PAPERS = {
    "gibbs-appell-rp": (55, ("gibbs-appell-rp",)),
    "boltzmann-hamel": (53, ("boltzmann-hamel", "boltzmann-hamel-recursions")),
    "virtual-spring-denoc": (32, ("virtual-spring-denoc", "virtual-spring-lagrange", "denoc")),
    "lagrange-stewart": (38, ("lagrange-stewart", "lagrange-stewart-lumped", "lagrange-stewart-massless")),
}


def expand(claim: str) -> list[str]:
    """Return the numbers of a claim: "(1)-(3), (E4)" gives 1, 2, 3, E4."""
    assert not PART.sub("", claim).strip(", "), f"expected numbers and ranges such as (1)-(12), (20), got {claim!r}"
    numbers = []
    for prefix, first, letter, _, last in PART.findall(claim):
        numbers += [f"{prefix}{k}{letter}" for k in range(int(first), int(last or first) + 1)]
    return numbers


def claimed(name: str) -> list[str]:
    """Return the numbers that the class docstring of a method claims."""
    lines = CLAIM.findall(inspect.cleandoc(methods.available()[0][name].__doc__ or ""))
    assert len(lines) == 1, f"{name}: expected one line 'Equations: ...' in the class docstring, got {len(lines)}"
    return expand(lines[0])


def sources(name: str) -> list[Path]:
    """Return the files of a method: its folder, or its one file."""
    file = Path(inspect.getfile(methods.available()[0][name]))
    return sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]


def cited(text: str) -> set[str]:
    """Return the numbers in comments inside functions and in docstrings of functions."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    inside = {line for node in functions for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    found = [ast.get_docstring(node) or "" for node in functions]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found += [token.string for token in tokens if token.type == tokenize.COMMENT and token.start[0] in inside]
    return {number for part in found for number in NUMBER.findall(part)}


@cache
def cited_in(file: Path) -> set[str]:
    return cited(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_method_cites_the_equations_that_it_claims(name):
    found = set().union(*(cited_in(file) for file in sources(name)))
    absent = [number for number in claimed(name) if number not in found]
    assert not absent, f"{name} claims ({'), ('.join(absent)}), which no function of its files cites"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_a_paper_lists_all_its_equations_with_their_files(paper):
    last, implemented_by = PAPERS[paper]
    page = ROOT / "docs" / "methods" / f"{paper}.md"
    rows = ROW.findall(page.read_text(encoding="utf-8"))
    assert [int(number) for number, _, _ in rows] == list(range(1, last + 1))
    listed = set()
    for number, _, place in rows:
        for file in FILE.findall(place):
            assert number in cited_in(ROOT / file), f"{page.name} finds ({number}) in {file}, which does not cite it"
            listed.add(number)
    for name in implemented_by:
        absent = [number for number in claimed(name) if number not in listed]
        assert not absent, f"{name} claims ({'), ('.join(absent)}), for which {page.name} gives no file"


def test_the_page_of_the_elastic_method_lists_all_its_equations():
    found = NUMBER.findall((ROOT / "docs" / "methods" / "gibbs-appell-elastic.md").read_text(encoding="utf-8"))
    split = {12: ["E12a", "E12b"], 14: ["E14a", "E14b"]}
    expected = [number for k in range(1, 48) for number in split.get(k, [f"E{k}"])]
    assert [number for number in expected if number not in found] == []
    assert [number for number in claimed("gibbs-appell-elastic") if number not in expected] == []


def test_a_method_outside_the_papers_states_its_equations():
    """What a method numbers itself is written out in the docstring of its module."""
    of_papers = {name for _, names in PAPERS.values() for name in names} | {"gibbs-appell-elastic"}
    for name in sorted(set(FORMULATIONS) - of_papers):
        module = inspect.getmodule(methods.available()[0][name])
        stated = NUMBER.findall(module.__doc__ or "")
        assert [number for number in claimed(name) if number not in stated] == [], f"{name}: not in the docstring"


def test_only_comments_and_docstrings_of_functions_are_citations():
    text = '''"""Module (1)."""
SIZE = 2  # (2)
class A:
    """Equations: (3)"""
    def f(self, x):
        """By (4)."""
        # and (E5)
        return x(6)  # (12a), (7)-(9)
'''
    assert cited(text) == {"4", "E5", "12a", "7", "9"}
    assert "E5" not in cited(text.replace("# and (E5)", "# and"))


def test_a_claim_is_expanded_and_checked():
    assert expand("(1)-(3), (E9)-(E11), (E12a)") == ["1", "2", "3", "E9", "E10", "E11", "E12a"]
    with pytest.raises(AssertionError, match="expected numbers and ranges"):
        expand("(1) to (3)")
