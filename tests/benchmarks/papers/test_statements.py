"""The list of statements: every printed value has a place, every verdict comes from a rule, every figure is there."""

from __future__ import annotations

import ast
import csv
from collections import Counter
from pathlib import Path

import pytest

from dynbench.benchmarks.papers import plugins
from dynbench.benchmarks.papers.claims import (
    VERDICTS,
    Interval,
    Source,
    across,
    decided,
    missing,
    order_interval,
    paired_ratio,
    when,
)

ROOT = Path(__file__).parents[3]
PAPERS = ROOT / "benchmarks" / "papers"
SOURCES = sorted(path for path in PAPERS.rglob("*.py") if path.name != "claims.py")
OURS = sorted(path.parent.name.replace("_", "-") for path in PAPERS.glob("[!_]*/__init__.py"))
FIGURES = {  # result figures of the papers, by number
    "gibbs-appell-rp": range(3, 7),
    "gibbs-appell-elastic": range(3, 9),
    "boltzmann-hamel": range(3, 12),
    "virtual-spring-denoc": range(4, 7),
    "lagrange-stewart": range(7, 13),
}


def stored(file: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "papers" / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_no_printed_value_lacks_a_place() -> None:
    rows = stored("claims.csv")
    assert {row["paper"] for row in rows} >= set(OURS)
    for row in rows:
        assert row["kind"] in ("statement", "check"), row
        assert (row["kind"] == "statement") == bool(row["place"]) == bool(row["quote"]), row
        assert (row["kind"] == "statement") == bool(row["printed"]), row
        assert row["verdict"] in VERDICTS, row
        assert row["reason"], row
        assert row["measured"] or row["verdict"] == "not reproducible", row


def test_the_same_kind_of_claim_has_the_same_verdict() -> None:
    """Printed seconds are never a verdict: the machines are gone."""
    times = [row for row in stored("claims.csv") if row["unit"] == "s" and row["printed"].endswith(" s")]
    assert len(times) >= 11
    assert {row["verdict"] for row in times} == {"not reproducible"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PAPERS)))
def test_no_verdict_and_no_measured_value_is_a_literal(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert node.value not in VERDICTS, f"{path.name}:{node.lineno} writes the verdict {node.value!r}"
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("statement", "check"):
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            if "verdict" not in given:
                continue
            assert isinstance(given["verdict"], ast.Call | ast.Name | ast.IfExp), f"{path.name}:{node.lineno}"
            literal = given["measured"]
            assert not (isinstance(literal, ast.Constant) and literal.value is not None), f"{path.name}:{node.lineno}"
            assert not any(isinstance(part, ast.Constant) for part in _arguments(given["verdict"])), path.name


def _arguments(verdict: ast.expr) -> list[ast.expr]:
    """What a rule is asked about: `missing` says in words what is missing, the others take what was measured."""
    calls = [node for node in ast.walk(verdict) if isinstance(node, ast.Call)]
    rules = [call for call in calls if getattr(call.func, "id", "") in ("when", "across", "decided")]
    return [call.args[0] for call in rules]


@pytest.mark.parametrize("paper", [name for name in OURS if not name.endswith("-readme")])
def test_every_datum_has_a_provenance_and_every_erratum_a_test_or_is_typographic(paper: str) -> None:
    module = plugins.load(paper)
    data = module.provenance()
    items = [datum.item for datum in data]
    assert len(set(items)) == len(items) >= 10
    assert {datum.status for datum in data} == {"given", "inferred", "chosen"}
    assert all(datum.note for datum in data)
    for row in stored("errata.csv"):
        if row["paper"] == paper and row["test"]:
            file, _, name = row["test"].partition("::")
            function = name.partition("[")[0]
            assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), row["test"]


def test_all_28_result_figures_have_a_picture_on_their_page() -> None:
    assert sum(map(len, FIGURES.values())) == 28
    for paper, numbers in FIGURES.items():
        page = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
        for number in numbers:
            assert f"**Fig. {number}: " in page, f"{paper} has no Fig. {number}"
            assert f"-fig-{number}.svg)" in page
            assert list((ROOT / "docs" / "papers" / "figures").glob(f"*-fig-{number}.svg"))


# ---------------------------------------------------------------------------- the rules


def test_rules() -> None:
    assert [when(True), when(False)] == ["reproduced", "differs"]
    assert across({"a": True, "b": True}) == "reproduced"
    assert across({"a": True, "b": False}) == "depends"
    assert across({"a": False}) == "differs"
    with pytest.raises(ValueError, match="at least one"):
        across({})
    assert decided(Interval(1.1, 1.2, 1.3), 1.0) == "reproduced"
    assert decided(Interval(0.7, 0.8, 0.9), 1.0) == "differs"
    assert decided(Interval(0.9, 1.0, 1.1), 1.0) == "not reproducible"
    assert missing("the machine") == "not reproducible"
    with pytest.raises(ValueError, match="what is missing"):
        missing()


def test_a_statement_needs_a_place_and_a_check_has_nothing_printed() -> None:
    of = Source("p")
    with pytest.raises(ValueError, match="no place or no quotation"):
        of.statement("s", place="", quote="q", printed="1", measured=1.0, verdict=when(True), reason="r")
    assert not of.check("s", measured=1.0, verdict=when(True), reason="r").printed


def test_paired_ratios_have_an_interval_of_order_statistics() -> None:
    found = order_interval([float(k) for k in range(1, 16)])
    assert found == (4.0, 8.0, 12.0)  # ranks 4 and 12 of 15 hold the median with 96 %
    turns: Counter[str] = Counter()

    def spent(name: str, seconds: float) -> float:
        turns[name] += 1
        return seconds

    ratio = paired_ratio(lambda: spent("a", 3.0), lambda: spent("b", 2.0), rounds=7)
    assert ratio == (1.5, 1.5, 1.5)
    assert turns == {"a": 8, "b": 8}
    with pytest.raises(ValueError, match="too few"):
        order_interval([1.0, 2.0])
