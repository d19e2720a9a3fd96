"""What is built is what is in the tree, and it works where there is no checkout.

An editable install finds every file whether or not pyproject.toml lists its package, so only a wheel can show
that one was forgotten. The wheel is built from the sdist, which checks both at once.
"""

from __future__ import annotations

import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from installing import LAYERS, ROOT, processor_seconds, run
from pace import pace

pytestmark = pytest.mark.packaging

LIST_SECONDS = 0.5


def sources(tree: Path) -> set[str]:
    """Return every file of the four folders that is not output."""
    files = (path for layer in LAYERS for path in (tree / layer).rglob("*") if path.is_file())
    return {path.relative_to(tree).as_posix() for path in files} - {"reports/latest/report.html"}


def methods() -> list[str]:
    """Return the names under which pyproject.toml registers methods."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["entry-points"]["dynbench.methods"])


def assert_same(archive: Path, held: Sequence[str], wanted: set[str]) -> None:
    """Compare what an archive holds of the four folders with the tree, and say what to mend."""
    missing, extra = sorted(wanted - set(held)), sorted(set(held) - wanted)
    hint = "list its package in [tool.setuptools] packages, or its pattern in package-data"
    assert not missing, f"{archive.name} lacks {', '.join(missing)}: {hint}"
    assert not extra, f"{archive.name} holds {', '.join(extra)}, which is no source"


def test_wheel_holds_every_source_file_and_nothing_else(built):
    names = zipfile.ZipFile(built.wheel).namelist()
    outside = [name for name in names if not name.startswith(("dynbench/", "dynbench-"))]
    assert not outside, f"{built.wheel.name} installs {outside} beside dynbench"
    held = [name.removeprefix("dynbench/") for name in names if name.startswith("dynbench/")]
    assert_same(built.wheel, held, sources(built.tree))


def test_every_package_is_marked_as_typed(built):
    assert {f"{layer}/py.typed" for layer in LAYERS} <= sources(built.tree)


def test_sdist_holds_the_sources_the_tests_and_the_project_files(built):
    with tarfile.open(built.sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames() if archive.getmember(name).isfile()]
    assert_same(built.sdist, [name for name in names if name.startswith(LAYERS)], sources(built.tree))
    wanted = {path.relative_to(built.tree).as_posix() for path in (built.tree / "tests").rglob("*.py")}
    wanted |= {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml", "noxfile.py"}
    assert wanted <= set(names)


def test_installed_package_is_the_one_that_runs(installed, tmp_path):
    program = "import dynbench.methods, dynbench.robots as r; print(r.__file__)"
    where = run(installed / "python", "-c", program, cwd=tmp_path).stdout.strip()
    assert Path(where).is_relative_to(installed.parent)


def test_installed_list_names_every_method_and_the_shipped_robots(installed, tmp_path):
    text = run(installed / "dynbench", "list", cwd=tmp_path).stdout
    absent = [name for name in (*methods(), "panda", "ur5", "two-link") if name not in text]
    assert not absent, f"dynbench list does not name {', '.join(absent)}:\n{text}"


def test_installed_list_is_instant(installed, tmp_path):
    seconds = [processor_seconds(installed / "dynbench", "list", cwd=tmp_path) for _ in range(3)]
    assert min(seconds) < LIST_SECONDS * pace(), f"dynbench list took {seconds} s"


def test_installed_list_does_not_import_the_compiler(installed, tmp_path):
    command = (installed / "python", "-X", "importtime", installed / "dynbench", "list")
    log = run(*command, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path)).stderr  # so that the listing is not remembered
    lines = [line for line in log.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert "dynbench.robots" in imported, "the log of imports could not be read"
    heavy = imported & {"numba", "llvmlite", "pandas", "scipy", "matplotlib"}
    assert not heavy


def test_installed_check_agrees(installed, tmp_path):
    """Also loads a shipped robot file. A few methods: what is compiled for all of them is compiled in other tests."""
    chosen = [word for name in ("newton-euler", "kane", "denoc") for word in ("-m", name)]
    run(installed / "dynbench", "check", "-r", "two-link", "-r", "panda", "--states", "5", *chosen, cwd=tmp_path)


TORQUE = """
from dynbench import methods, robots
robot = robots.load("two-link")
print(methods.get("newton-euler").prepare(robot).inverse_dynamics(*(x[0] for x in robot.sample(1))))
"""


def test_the_same_sources_in_two_places_are_compiled_once(installed, tmp_path):
    """In the checkout, into a cache folder that did not exist, then where the wheel is."""
    cache = tmp_path / "numba"
    here = run(sys.executable, "-c", TORQUE, cwd=tmp_path, NUMBA_CACHE_DIR=str(cache)).stdout
    compiled = sorted(cache.rglob("*.nbc"))
    assert compiled, "nothing was compiled into NUMBA_CACHE_DIR"
    there = run(installed / "python", "-c", TORQUE, cwd=tmp_path, NUMBA_CACHE_DIR=str(cache)).stdout
    assert (there, sorted(cache.rglob("*.nbc"))) == (here, compiled)
