"""``dynbench new-method``: what it writes, and the names it refuses."""

from __future__ import annotations

import ast
import tomllib

import pytest

from dynbench.benchmarks.cli import main
from dynbench.methods import CONTRACT


@pytest.mark.parametrize("words", [["my_method"], ["my-method", "--wrap"]])
def test_a_package_is_written_and_the_next_steps_are_said(tmp_path, capsys, words):
    assert main(["new-method", *words, "--output", str(tmp_path)]) == 0
    folder = tmp_path / "my-method"
    assert f"pip install -e {folder}" in capsys.readouterr().out
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {"pyproject.toml", "README.md", "dynbench_my_method.py", "tests/test_my_method.py"}
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["dynbench.methods"] == {"my-method": "dynbench_my_method:MyMethod"}
    assert f"contract = \"my-method\", \"My method\", \"{'O(n d)' if '--wrap' in words else 'O(n)'}\", {CONTRACT}" in (
        folder / "dynbench_my_method.py"
    ).read_text(encoding="utf-8")
    for path in folder.rglob("*"):
        assert path.is_dir() or "$" not in path.read_text(encoding="utf-8"), f"{path.name} has a word left to fill in"


@pytest.mark.parametrize("wrap", [[], ["--wrap"]])
@pytest.mark.parametrize("name", ["none", "method", "tree-method", "generic", "f", "a1-b2"])
def test_the_class_shadows_nothing(tmp_path, name, wrap):
    assert main(["new-method", name, "--output", str(tmp_path), *wrap]) == 0
    source = next((tmp_path / name).glob("*.py")).read_text(encoding="utf-8")
    tree = ast.parse(source)
    (made,) = (node.name for node in tree.body if isinstance(node, ast.ClassDef))
    taken = {alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names}
    taken |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert made not in taken


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Mine", "'Mine' cannot name a method: use small letters, digits and dashes"),
        ("2fast", "cannot name a method"),
        ("a--b", "cannot name a method"),
        ("../out", "cannot name a method"),
        ("kane", "there is a method called 'kane' already"),
        ("newton_euler", "there is a method called 'newton-euler' already"),
    ],
)
def test_a_name_that_will_not_do_is_refused(tmp_path, capsys, name, said):
    assert main(["new-method", name, "--output", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_not_written_over(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    assert main(["new-method", "mine", "--output", str(tmp_path)]) == 2
    assert "exists already; choose another name or another --output" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["new-method", "mine", "--output", str(tmp_path / "file")]) == 2
    assert "cannot be written" in capsys.readouterr().err
