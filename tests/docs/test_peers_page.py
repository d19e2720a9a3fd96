"""The page of other engines: every engine has its lines, and licences are those of the installed packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

import pytest

from dynbench import methods
from dynbench.benchmarks.results.environment import PACKAGES

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "peers.md"


def table(first: str) -> list[list[str]]:
    """The lines of the table whose head begins with ``first``."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(first)) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


PACKAGE_ROWS = [row for row in table("| method | package") if row[1] != "none"]


def stated(package: str) -> str:
    """The licence that a package states: an expression, a text of one line, or a classifier."""
    about = metadata(package)
    kinds = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or [] if c.startswith("License ::")]
    return about.get("License-Expression") or about.get("License") or kinds[0]


@pytest.mark.parametrize("row", PACKAGE_ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_licences_are_those_of_the_installed_packages(row):
    _, package, tested, _, licence, _ = row
    try:
        installed = version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    if not f"{installed}.".startswith(f"{tested}."):
        pytest.skip(f"{package} {installed} is installed, the page is about {tested}")
    assert stated(package) == licence


def test_every_engine_is_on_the_page_and_its_package_in_the_environment_of_a_run():
    engines = {name for name in methods.names() if methods.get(name).own_calls and _shipped(name)}
    assert engines == {row[0].strip("`") for row in table("| method | package")}
    named = {name.strip(" `") for row in table("| | joints") for name in row[0].split(",")}
    assert engines == named
    assert {row[1] for row in PACKAGE_ROWS} <= set(PACKAGES)


def _shipped(name: str) -> bool:
    return type(methods.get(name)).__module__.startswith("dynbench.")
