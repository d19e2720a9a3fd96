"""The page about rivals has every engine, robot and quantity, and README says of the strongest what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def page(page_module):
    return page_module("rivals_page")


def part(page, name: str) -> str:
    text = page.PAGE.read_text(encoding="utf-8")
    return text.partition(f"<!-- begin {name} -->")[2].partition(f"<!-- end {name} -->")[0].strip()


@pytest.mark.parametrize("code", ["traced", "generic"])
@pytest.mark.parametrize("mode", ["call", "batch"])
def test_every_engine_has_a_number_for_every_robot_and_quantity(page, mode, code):
    lines = [line.strip("| ").split(" | ") for line in part(page, f"{mode} {code}").splitlines()]
    assert lines[0][3:] == list(page.ROBOTS)
    names = [quantity.replace("_", " ") for quantity in page.QUANTITIES]
    assert [line[:2] for line in lines[2:]] == [[name, f"`{engine}`"] for name in names for engine in page.ENGINES]
    assert all(re.fullmatch(r"[\d.]+ \([\d.]+ to [\d.]+\)", cell) for line in lines[2:] for cell in line[3:])
    assert not any("wrapper" in line[2] for line in lines[2:])


def test_readme_names_the_strongest(page):
    found = re.findall(r"strongest rival is `([\w-]+)`, ([\d.]+) times", part(page, "strongest"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sentence = " ".join(readme.partition("The strongest rival")[2].partition("docs/rivals.md")[0].split())
    for name, times in found:
        assert name.removesuffix("-c") in sentence
        assert f"{times} times" in sentence


def test_the_rule_takes_the_nearest_engine_and_says_who_is_faster(page):
    def row(peer: str, ratio: float, mode: str = "call") -> dict[str, str]:
        numbers = {"ratio": str(ratio), "low": str(0.9 * ratio), "high": str(1.1 * ratio)}
        head = {"robot": "panda", "quantity": "bias", "mode": mode, "code": "traced", "peer": peer}
        return {**head, **numbers, "outcome": "number", "peer_call": "its own call"}

    rows = [row("exported-c", 0.5), row("dynibo", 4.0), row("drake", 2.0), row("drake", 9.0, "batch")]
    rows += [row("dynibo", 0.7, "batch"), {**row("mujoco", 0.1), "outcome": "disturbed"}]
    said = page.strongest(rows)
    assert "one checked call from Python: the strongest rival is `drake`, 2.0 times" in said
    assert "`dynibo`, 0.7 times" in said
    assert "Faster than `newton-euler`: `exported-c` bias of panda" in said
    assert "mujoco" not in said
