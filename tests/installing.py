"""What tests of installed packages share: the wheel, built once, and fresh environments with it.

`conftest` makes the fixtures known to all tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("robots", "methods", "benchmarks", "reports")
UV = shutil.which("uv")


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command away from the checkout, and fail with all it printed if it fails."""
    inherited = {name: os.environ[name] for name in os.environ if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    result = subprocess.run(
        command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False
    )
    line = " ".join(str(word) for word in command)
    assert result.returncode == 0, f"{line}: exit {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result


def processor_seconds(*command: str | Path, cwd: Path) -> float:
    """How long a command keeps a processor busy: what it takes on an idle machine, however busy this one is."""
    before = os.times()
    run(*command, cwd=cwd)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


class Built(NamedTuple):
    """The two archives of a release, and the tree they were made from."""

    tree: Path
    sdist: Path
    wheel: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build from a copy: the checkout stays clean, and its leftovers of earlier builds do not help."""
    base = tmp_path_factory.mktemp("build")
    tree, dist = base / "tree", base / "dist"
    junk = shutil.ignore_patterns("__pycache__", "latest", ".*")
    tree.mkdir()
    for name in (*LAYERS, "tests", "docs", "examples"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=junk)
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy2(path, tree)
    (tree / "reports" / "latest").mkdir()
    (tree / "reports" / "latest" / "report.html").write_text("output of a run")

    installer = ["--installer", "uv"] if UV else []
    run(sys.executable, "-m", "build", *installer, "--outdir", dist, tree, cwd=base)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return Built(tree, sdist, wheel)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in a fresh environment, one for each file of tests, and return its folder of commands."""
    base = tmp_path_factory.mktemp("installed")
    python = base / "env" / "bin" / "python"
    if UV:
        run(UV, "venv", "--python", sys.executable, base / "env", cwd=base)
    else:
        run(sys.executable, "-m", "venv", base / "env", cwd=base)
    install(python, built.wheel, cwd=base)
    return python.parent


def install(python: Path, what: str | Path, cwd: Path) -> None:
    """Install something into an environment, with uv if it is there: quicker."""
    if UV:
        run(UV, "pip", "install", "--python", python, what, cwd=cwd)
    else:
        run(python, "-m", "pip", "install", what, cwd=cwd)
