"""The documentation cannot rot: its code runs, snippets are the shipped files, every method and paper has a page."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.results import schema

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    whole = [SNIPPET.sub(lambda match: (ROOT / match[1]).read_text(encoding="utf-8"), code) for _, code in found]
    return [code for (name, _), code in zip(found, whole, strict=True) if name == language]


def with_python(pages: list[Path]) -> list[Path]:
    return [page for page in pages if blocks(page, "python")]


@pytest.mark.parametrize("page", with_python(PAGES), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """Block after block, as a reader would; the first robot file of the page lies there as arm.toml."""
    monkeypatch.chdir(tmp_path)
    for robot in blocks(page, "toml")[:1]:
        Path("arm.toml").write_text(robot, encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    for number, code in enumerate(blocks(page, "python"), 1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), names)


def robot_files(page):
    """The robot files on a page; campaign files are for tests/benchmarks/test_campaign.py to run."""
    return [text for text in blocks(page, "toml") if "campaign" not in tomllib.loads(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if robot_files(page)], ids=lambda page: page.name)
def test_every_robot_file_in_a_page_loads(page, tmp_path):
    from dynbench.robots import load

    for number, text in enumerate(robot_files(page)):
        path = tmp_path / f"block{number}.toml"
        path.write_text(text, encoding="utf-8")
        assert load(path).name == tomllib.loads(text).get("name", load(path).name)


def test_contributing_shows_the_file_of_kane_as_it_ships():
    shipped = (ROOT / "methods" / "kane.py").read_text(encoding="utf-8")
    assert shipped in blocks(ROOT / "CONTRIBUTING.md", "python")
    tutorial = blocks(ROOT / "docs" / "adding-a-method.md", "python")
    assert shipped in [code.rstrip("\n") + "\n" for code in tutorial]


def test_every_method_of_ours_has_a_page():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "methods").glob("*.md"))
    ours = [name for name, method in methods.available()[0].items() if method.__module__.startswith("dynbench.")]
    absent = [name for name in ours if f"<!-- facts {name} -->" not in text]
    assert not absent, f"docs/methods/ says nothing of {', '.join(absent)}"


def test_every_paper_of_ours_has_a_page_and_its_claims():
    with (ROOT / "docs" / "papers" / "claims.csv").open(encoding="utf-8", newline="") as file:
        claimed = {row["paper"] for row in csv.DictReader(file)}
    folder = ROOT / "benchmarks" / "papers"
    files = {path.stem.replace("_", "-") for path in folder.iterdir()}
    ours = [name for name in papers.names() if name in files]
    assert ours
    for name in ours:
        page = ROOT / "docs" / "papers" / f"{name}.md"
        assert page.is_file(), f"{name} has no page in docs/papers"
        assert "<!-- begin statements -->" in page.read_text(encoding="utf-8")
        assert name in claimed, f"docs/papers/claims.csv has nothing of {name}; see docs/papers/index.md"


def test_the_pages_of_papers_are_those_of_the_stored_tables():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import paper_pages
    finally:
        sys.path.remove(str(ROOT / "docs"))
    for page, text in paper_pages.pages().items():
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: run python docs/paper_pages.py DIR"


def hooks():
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_contents_once():
    listed = [page for pages in hooks().CONTENTS.values() for page in pages]
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("*.ipynb")]
    pages = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in files}
    assert sorted([*listed, "index"]) == sorted(pages)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_what_a_page_inserts_exists(page):
    text = hooks().insert(page.read_text(encoding="utf-8"))
    assert "--8<--" not in text


def test_every_column_of_every_table_is_on_the_page_of_result_files():
    page = hooks().insert((ROOT / "docs" / "result-files.md").read_text(encoding="utf-8"))
    for table in schema.TABLES.values():
        section = page.partition(f"## {table.file}: ")[2].partition("\n## ")[0]
        assert re.findall(r"^\| `(\w+)` \| ", section, re.MULTILINE) == list(table.names), table.name
