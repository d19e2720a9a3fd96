"""From an empty folder to a report: a method of one's own, and a package that adds a method, robots and a scenario.

Everything runs in a fresh environment with the built wheel, as it would for somebody who has no checkout.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from installing import ROOT, install, run

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def workshop(installed, tmp_path_factory):
    """An empty folder, and a function that runs a dynbench command in it."""
    folder = tmp_path_factory.mktemp("workshop")

    def dynbench(*words):
        return run(installed / "dynbench", *words, cwd=folder).stdout

    return folder, dynbench


@pytest.fixture(scope="module")
def mine(installed, workshop):
    folder, dynbench = workshop
    dynbench("new-method", "mine")
    install(installed / "python", folder / "mine", cwd=folder)
    return dynbench


@pytest.fixture(scope="module")
def caterpillar(installed, workshop):
    folder, dynbench = workshop
    install(installed / "python", ROOT / "examples" / "caterpillar", cwd=folder)
    return dynbench


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_new_method_is_tested_and_benchmarked_in_a_row(mine, workshop):
    folder, _ = workshop
    assert " kept; next: dynbench check -m mine" in mine("test-method", "mine")
    mine("bench", "-m", "mine", "-m", "newton-euler", "-r", "panda", "--quick", "--output", "out")
    timed = [row for row in rows(folder / "out" / "timing.csv") if row["method"] == "mine" and row["robot"] == "panda"]
    assert any(float(row["seconds"] or 0.0) > 0.0 for row in timed)
    assert "mine" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_the_test_of_a_new_method_passes(installed, mine, workshop):
    folder, _ = workshop
    source = next((folder / "mine" / "tests").glob("test_*.py")).read_text(encoding="utf-8")
    names = [line.split("(")[0].removeprefix("def ") for line in source.splitlines() if line.startswith("def test_")]
    program = source + "\n" + "\n".join(f"{name}()" for name in names)
    assert names
    run(installed / "python", "-c", program, cwd=folder)


def test_another_package_adds_a_method_robots_and_a_scenario(caterpillar, workshop):
    listed = json.loads(caterpillar("list", "--json"))
    for section, name in {
        "methods": "dalembert",
        "robots": "caterpillar-N",
        "scenarios": "caterpillar-weight",
        "papers": "caterpillar-weight",
    }.items():
        assert name in [entry["name"] for entry in listed[section]], section


def test_what_another_package_adds_is_checked(caterpillar):
    text = caterpillar("check", "-m", "dalembert", "-m", "newton-euler", "-r", "caterpillar-3", "--states", "5")
    assert "caterpillar-3" in text
    assert "2 reproduced" in caterpillar("papers", "caterpillar-weight")


def test_what_another_package_adds_is_in_the_report(caterpillar, workshop):
    folder, _ = workshop
    words = ("-m", "dalembert", "-m", "newton-euler", "-r", "caterpillar-3", "--quick", "--output", "third")
    caterpillar("bench", *words, "--quantity", "inverse_dynamics")
    timed = [row for row in rows(folder / "third" / "timing.csv") if row["method"] == "dalembert"]
    assert any(float(row["seconds"] or 0.0) > 0.0 for row in timed)
    page = (folder / "third" / "report.html").read_text(encoding="utf-8")
    assert "dalembert" in page
    assert "plain Python, batches loop over states" in page
    assert "caterpillar-3" in page


def test_a_package_that_breaks_stops_nothing(installed, caterpillar, workshop):
    """Import failure, a taken name, a newer contract: a sentence each, and the rest is there."""
    folder, _ = workshop
    package = folder / "broken"
    package.mkdir()
    (package / "pyproject.toml").write_text(
        '[project]\nname = "broken"\nversion = "1"\n[tool.setuptools]\npy-modules = ["broken_method", "newer_method"]\n'
        '[project.entry-points."dynbench.methods"]\nbroken = "broken_method:Method"\nkane = "newer_method:Newer"\n'
        'newer = "newer_method:Newer"\n',
        encoding="utf-8",
    )
    (package / "broken_method.py").write_text("import a_module_that_is_not_there\n", encoding="utf-8")
    (package / "newer_method.py").write_text(
        "from dynbench.methods import Method\n\n\nclass Newer(Method):\n"
        '    name, title, reference, contract = "newer", "Newer", "a test", 2\n\n'
        "    def prepare(self, robot):\n        raise NotImplementedError\n",
        encoding="utf-8",
    )
    install(installed / "python", package, cwd=folder)
    text = caterpillar("list", "methods")
    for sentence in (
        "No module named 'a_module_that_is_not_there'",
        "the name 'kane' is taken by the package 'dynbench'",
        "Newer was written for version 2 of the contract of methods, this dynbench has version 1",
        "newton-euler",
        "dalembert",
    ):
        assert sentence in text
