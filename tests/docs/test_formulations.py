"""The page that compares formulations has all of them, and a reason for every time that operations do not explain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "which-formulation.md"


@pytest.fixture(scope="module")
def page(page_module):
    return page_module("formulation_page")


def part(name: str) -> str:
    return PAGE.read_text(encoding="utf-8").partition(f"<!-- begin {name} -->")[2].partition(f"<!-- end {name} -->")[0]


def test_every_formulation_has_a_row(page):
    listed = re.findall(r"^\| \[`([\w-]+)`\]", part("gives"), re.MULTILINE)
    assert listed == list(page.registered())
    costs = set(re.findall(r"^\| \[`([\w-]+)`\]", part("costs"), re.MULTILINE))
    assert costs == set(page.formulations())


def test_what_each_gives_is_what_the_classes_say(page):
    assert part("gives").strip() == page.gives().strip()


def test_a_time_that_operations_do_not_explain_has_its_instructions(page):
    robot, outside = "", set()
    for line in part("costs").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| [`"):
            low, high = page.EXPECTED
            name = cells[0].partition("`")[2].partition("`")[0]
            for robot, cell in zip((page.ROBOT, page.LONG), cells[-2:], strict=True):
                if cell != "–" and not low - 0.005 <= float(cell) <= high + 0.005:
                    outside.add((robot, name))
    explained = set()
    for line in part("instructions").splitlines():
        if line.startswith("| ") and "`" in line:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            explained.add((cells[0].partition(",")[0], cells[1].strip("`")))
    assert outside <= explained
