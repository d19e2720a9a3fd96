"""Untrusted files stay data: no source evaluates a file as code or follows references out of its folder."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dynbench import robots
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.results import folders, tables
from dynbench.robots.errors import DynbenchError, RobotError

ROOT = Path(__file__).parent.parent
LAYERS = ("robots", "methods", "benchmarks", "reports")
SOURCES = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "xml.sax", "xml.dom",
           "xml.dom.minidom", "lxml", "code"}  # fmt: skip
CALLS = {"eval", "exec", "compile", "__import__"}
BUILDS_ONLY = {"Element", "TreeBuilder"}  # of xml.etree: they parse nothing


def dangers(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of calls that could execute a file or fetch what it refers to."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
                found = [name for name in names if name in MODULES or name.startswith("xml.")]
            case ast.ImportFrom(module=str(module)):
                bad = module in MODULES or module.split(".")[0] in MODULES
                names = [alias.name for alias in node.names]
                found = [f"{module}.{name}" for name in names if bad or f"{module}.{name}" in MODULES]
                found += [f"{module}.{name}" for name in names if module.startswith("xml.") and name not in BUILDS_ONLY]
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                found = [name]
            case ast.Call(func=ast.Attribute(attr="system" | "popen", value=ast.Name(id="os"))):
                found = ["os.system"]
            case ast.keyword(arg="allow_pickle" | "shell", value=ast.Constant(value=value)) if value:
                found = [str(node.arg)]
            case ast.Call(func=ast.Attribute(attr="read_pickle" | "to_pickle" | "read_hdf" as name)):
                found = [name]
            case _:
                found = []
        yield from ((getattr(node, "lineno", 0), name) for name in found)


ALLOWED = {  # neither reads a file
    ("methods/own_calls.py", "exec"),  # code that the class of a method holds, which is code already
    ("methods/own_calls.py", "compile"),
    ("benchmarks/processes/interrupts.py", "eval"),  # of the text "None"
    ("methods/peers/casadi_c.py", "pickle"),  # through a pipe, to a process that it starts itself
}


def test_no_source_can_turn_a_file_into_code() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in SOURCES
        for line, name in dangers(path.read_text(encoding="utf-8"))
        if (path.relative_to(ROOT).as_posix(), name) not in ALLOWED
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from pickle import loads", "import yaml", "eval('1')", "exec(x)", "load(f, allow_pickle=True)",
     "subprocess.run(x, shell=True)", "os.system(x)", "from xml.etree.ElementTree import parse", "pd.read_pickle(x)",
     "import xml.etree.ElementTree as ET", "__import__(x)"],
)  # fmt: skip
def test_the_search_finds(source: str) -> None:
    assert list(dangers(source))


@pytest.mark.parametrize(
    "source",
    ["np.load(f, allow_pickle=False)", "re.compile(x)", "from xml.etree.ElementTree import Element", "model.eval()"],
)
def test_the_search_lets_through(source: str) -> None:
    assert not list(dangers(source))


@pytest.mark.parametrize("name", ["os:system", "dynbench.robots.families.trees:chain", "../chain", "chain-N", ""])
def test_a_family_is_a_registered_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "r.toml").write_text(f'family = "{name}"\n[arguments]\nn = 3\n')
    with pytest.raises(RobotError, match="no family is called"):
        robots.load(tmp_path / "r.toml")


@pytest.mark.parametrize("family", ["chain", "tree", "random_tree"])
def test_a_file_cannot_ask_for_a_robot_that_fills_the_memory(tmp_path: Path, family: str) -> None:
    (tmp_path / "r.toml").write_text(f'family = "{family}"\n[arguments]\nn = 1000000000\n')
    with pytest.raises(RobotError, match="n is 1000000000, expected at most 2000"):
        robots.load(tmp_path / "r.toml")


@pytest.mark.parametrize("name", ["r.toml", "r.urdf"])
def test_huge_files_and_pipes_are_not_read(tmp_path: Path, name: str) -> None:
    with open(tmp_path / name, "wb") as file:
        file.truncate(30_000_000_000)  # takes no room on disk
    with pytest.raises(RobotError, match="has 30000000000 bytes"):
        robots.load(tmp_path / name)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(RobotError, match="a device or a pipe"):
        robots.load(tmp_path / name)


def test_dotted_keys_take_no_quadratic_time(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text("a." * 100_000 + "b = 1")
    with pytest.raises(RobotError, match="a key of more than 20 parts"):
        robots.load(tmp_path / "r.toml")


def run(folder: Path) -> Path:
    folder.mkdir()
    row = {"robot": "panda", "method": "kane", "label": "kane", "quantity": "bias", "mode": "call", "rows": 1}
    tables.write(folder / "timing.csv", [*row, "reason"], [{**row, "reason": "<script>alert(1)</script>"}])
    return folder


@pytest.mark.parametrize("name", ["timing.csv", "environment.json", "report.html", "summary.md", "figures", "tables"])
def test_links_are_not_followed(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither to show what is behind them, nor to write over it, nor to clear a folder of figures."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "photo.svg").write_text("a picture")
    (tmp_path / "home" / "secret").write_text("a secret")
    folder = run(tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "home" / ("secret" if "." in name else ""))
    assert main(["report", str(folder)]) == 2
    assert "symbolic link" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in (tmp_path / "home").iterdir()} == {
        "photo.svg": "a picture",
        "secret": "a secret",
    }


def test_the_page_escapes_what_rows_say(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    assert main(["report", str(folder)]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert len(re.findall(r"<script\b", page)) == 3  # two of ours, and our data


def test_numbers_that_are_none_are_named_with_file_and_line(tmp_path: Path) -> None:
    folder = run(tmp_path / "run")
    text = (folder / "timing.csv").read_text()
    (folder / "timing.csv").write_text(text.replace(",1,", ",many,"))
    with pytest.raises(DynbenchError, match=r"timing\.csv:2: 'rows': expected a whole number, got 'many'"):
        folders.read(folder)


def test_an_error_is_one_printable_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="a"/><joint name="&#10;b\x7f"/></robot>')
    assert main(["check", "-r", str(tmp_path / "r.urdf"), "-m", "newton-euler"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.strip().isprintable()
