"""CITATION.cff is valid where it can be checked without its schema, and names the version of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def value(key: str) -> str:
    """Return the value of a top-level key; a key that is absent or repeated is an error."""
    (found,) = re.findall(rf"^{key}: (.+)$", CITATION, re.MULTILINE)
    return str(found).strip('"')


def test_the_version_is_that_of_the_package() -> None:
    assert value("version") == PROJECT["version"]


def test_the_licence_is_that_of_the_package() -> None:
    assert value("license") == PROJECT["license"]


def test_required_keys_are_present() -> None:
    assert value("cff-version") == "1.2.0"
    assert value("title").startswith(f"{PROJECT['name']}:")
    assert value("message")
    assert re.search(r'^authors:\n  - name: "dynbench developers"$', CITATION, re.MULTILINE)


def test_the_readme_cites_the_same_version() -> None:
    assert f"version {PROJECT['version']}," in (ROOT / "README.md").read_text(encoding="utf-8")
