"""The registry of papers: who is in it, and what becomes of one that fails."""

from __future__ import annotations

import pytest

from dynbench.benchmarks import papers
from dynbench.benchmarks.papers import Paper
from dynbench.benchmarks.processes.workers import Answer
from dynbench.benchmarks.results import tables
from dynbench.robots.errors import UnknownNameError

CLAIM = {
    "paper": "p",
    "statement": "it is 3",
    "printed": "3",
    "measured": 3.01,
    "unit": "s",
    "verdict": "reproduced",
    "reason": "1 %",
    "kind": "statement",
    "place": "section 2",
    "quote": "3 s",
}
CHECK = {**CLAIM, "kind": "check", "place": "", "quote": "", "printed": "", "statement": "energy is balanced"}
DATUM = {"item": "L", "value": "1 m", "status": "given", "note": "Table 1"}
ERRATUM = {"paper": "p", "where": "eq. (1)", "printed": "-x", "correct": "x", "evidence": "off by 2", "test": ""}


def test_every_module_with_claims_is_a_paper():
    assert papers.names()
    for name in papers.names():
        assert papers.checked_names([name.replace("-", "_")]) == (name,)
    assert papers.checked_names([]) == papers.names()
    with pytest.raises(UnknownNameError, match="no paper is called 'nobody'"):
        papers.checked_names(["nobody"])


def test_a_paper_that_fails_has_a_row_that_says_so(monkeypatch):
    answers = [Answer({"claims": [CLAIM], "errata": [ERRATUM]}), Answer(reason="ValueError: no")]
    monkeypatch.setattr("dynbench.benchmarks.processes.workers.run_jobs", lambda jobs, done: answers)
    good, bad = papers.run_papers(["p", "q"])
    assert good == Paper("p", [CLAIM], [ERRATUM])
    assert bad.claims[0]["verdict"] == papers.NOT_RUN
    assert bad.claims[0]["reason"] == "ValueError: no"


def test_claims_and_errata_are_written_and_printed(tmp_path):
    unknown = {**CLAIM, "measured": None, "verdict": "not reproducible"}
    found = [Paper("p", [CLAIM, unknown, CHECK], [ERRATUM], provenance=[DATUM])]
    papers.write(tmp_path, found)
    rows = tables.read(tmp_path / "claims.csv")
    assert [row["measured"] for row in rows] == ["3.01", "", "3.01"]
    assert [row["place"] for row in rows] == ["section 2", "section 2", ""]
    assert tables.read(tmp_path / "provenance.csv") == [{"paper": "p", **DATUM}]
    assert tables.read(tmp_path / "errata.csv") == [ERRATUM]
    text = papers.table(found)
    assert "p: 1 reproduced, 1 not reproducible of its statements; 1 reproduced of our checks; errata: 1" in text
    assert "[reproduced] it is 3 (section 2)\n      printed 3; ours 3.01 s; 1 %" in text
    assert "our own checks:\n  [reproduced] energy is balanced\n      ours 3.01 s; 1 %" in text
