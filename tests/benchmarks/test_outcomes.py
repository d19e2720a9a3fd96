"""Every outcome, from where it happens to its cell in the report: a method that segfaults is red."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest
from made_findings import QUANTITY, ROBOT, answer, interrupted, made_findings, pretend

from dynbench.benchmarks.checks.check import refusal_of, refusals
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results import folders, tables
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.runs import bench, outputs, screen
from dynbench.benchmarks.tiers import Variant
from dynbench.benchmarks.timing import startup
from dynbench.reports import html, markdown, rows

# Method: outcome, look and text of its cell
EXPECTED = {
    "segfaults": (Outcome.CRASHED, "bad", "crashed"),
    "exits": (Outcome.CRASHED, "bad", "crashed"),
    "raises": (Outcome.FAILED, "bad", "failed"),
    "returns-nonsense": (Outcome.FAILED, "bad", "failed"),
    "hangs": (Outcome.TIMED_OUT, "bad", "timed out"),
    "allocates": (Outcome.OUT_OF_MEMORY, "bad", "out of memory"),
    "stopped": (Outcome.INTERRUPTED, "part", "interrupted"),
    "differs": (Outcome.DISAGREED, "bad", "disagreed"),
    "refuses": (Outcome.UNSUPPORTED, "none", "no"),
    "slow": (Outcome.LEFT_OUT, "none", "left out"),
    "unlucky": (Outcome.DISTURBED, "part", "disturbed"),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The folder and the findings of a run in which each of these happened, and one method had a time."""
    folder = tmp_path_factory.mktemp("outcomes")
    with pytest.MonkeyPatch.context() as patch:
        pretend(patch, list(EXPECTED))
        functions = {"segfaults": "crash", "exits": "vanish", "raises": "fail", "returns-nonsense": "not_plain"}
        answers = {name: answer(function) for name, function in functions.items()}
        answers["hangs"] = answer("hang", timeout=1.0)
        answers["allocates"] = answer("allocate", memory=512 << 20)
        answers["stopped"] = interrupted(folder / "note")
        missing = {name: found.missing for name, found in answers.items()}
        pair = Row(ROBOT, "differs", QUANTITY, "error", 0.5, "relative", "differs", "tolerance 1e-10", other="kane")
        third = Row(ROBOT, "kane", QUANTITY, "error", 0.0, "relative", "agrees", "tolerance 1e-10", other="null")
        missing["differs"] = refusal_of(refusals([pair, third]), ROBOT, Variant("differs"), QUANTITY)
        (missing["refuses"],) = startup.refusals(["elastic-rp1"], "newton-euler")
        missing["slow"] = too_slow(patch)
        missing["unlucky"] = Missing(Outcome.DISTURBED, "every attempt was disturbed by other load")
        findings = made_findings({"newton-euler": 1e-6}, missing)
        outputs.write(folder, findings)
        html.write_report(folder)
        yield folder, findings


def too_slow(patch):
    """The reason of a method whose state takes longer than the limit."""
    from dynbench.benchmarks.timing import cases

    def slow(cell, *rest, **more):
        cases._worth_it(9.0, 8, 5.0)

    with patch.context() as inner:
        inner.setattr(cases, "timed", slow)
        return startup.try_out(ROBOT, "newton-euler", [QUANTITY], ["call"])[QUANTITY]


def test_every_outcome_is_planted():
    assert {how for how, _, _ in EXPECTED.values()} == set(Outcome) - {Outcome.NUMBER}


@pytest.mark.parametrize("name", EXPECTED)
def test_tables_have_the_outcome(planted, name):
    folder, _ = planted
    for file in ("timing.csv", "results.csv"):
        found = [row for row in tables.read(folder / file) if row["method"] == name]
        assert found
        assert {row["outcome"] for row in found} == {EXPECTED[name][0]}
        assert all(row["reason"] for row in found)
    fine = [row for row in tables.read(folder / "timing.csv") if row["method"] == "newton-euler" and row["seconds"]]
    assert {row["outcome"] for row in fine} == {"number"}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_cell_of_the_page_has_the_colour_of_the_outcome(planted, name):
    folder, _ = planted
    text = (folder / "report.html").read_text(encoding="utf-8")
    coverage = text[text.index("<caption>Methods by robots") :]
    (line,) = re.findall(rf'<tr data-method="{name}"[^>]*>.*?</tr>', coverage[: coverage.index("</table>")], re.DOTALL)
    (look, reason, shown), *rest = re.findall(
        r'<td class="(\w+)"[^>]*><span class="dot" data-tip="([^"]*)">([^<]*)', line
    )
    assert not rest
    assert (look, shown) == EXPECTED[name][1:]
    assert reason  # what the page shows on pointing at it


@pytest.mark.parametrize("name", EXPECTED)
def test_every_view_of_the_page_has_the_outcome_and_its_reason(planted, name):
    folder, _ = planted
    text = (folder / "report.html").read_text(encoding="utf-8")
    coded = re.search(r'id="data">([^<]*)', text)[1]
    views = json.loads(gzip.decompress(base64.b64decode(coded)))["views"].values()
    found = [entry for view in views for entry in view["entries"] if entry["method"] == name]
    assert found
    assert {entry["outcome"] for entry in found} == {EXPECTED[name][0]}
    assert all(entry["reason"] for entry in found)
    assert not [view for view in views if name in view["fastest"]]


def test_failures_are_named_on_the_screen_and_in_the_exit_code(planted):
    _, findings = planted
    assert not bench.agreed(findings)
    shown = screen.wrong(findings)
    assert "two-link|allocates|inverse_dynamics|batch|1000: out of memory: ran out of memory (limit 512 MiB)" in shown
    for name, (how, _, _) in EXPECTED.items():
        given_up = how in (Outcome.LEFT_OUT, Outcome.DISTURBED)  # listed apart
        assert not re.search(rf"\|{name}\|", shown) or how.failure or given_up


@pytest.mark.parametrize(("how", "well"), [(how, not how.failure) for how in Outcome if how is not Outcome.NUMBER])
def test_a_run_is_well_if_nothing_failed_or_was_lost(how, well, monkeypatch):
    pretend(monkeypatch, ["planted"])
    findings = made_findings({"newton-euler": 1e-6}, {"planted": Missing(how, "a reason")})
    assert bench.agreed(findings) == (well and how is not Outcome.INTERRUPTED)


def test_reports_of_older_folders_derive_the_outcome(tmp_path):
    """Without the column, from the value, the status and the sentences that earlier versions wrote."""
    old = {
        "killed by signal 11 (SIGSEGV)": Outcome.CRASHED,
        "ended by itself (exit status 4)": Outcome.CRASHED,
        "raised ValueError: no": Outcome.FAILED,
        "failed: ValueError: no": Outcome.FAILED,
        "gave back what is not plain data": Outcome.FAILED,
        "timed out after 60 s": Outcome.TIMED_OUT,
        "ran out of memory (limit 4 GiB)": Outcome.OUT_OF_MEMORY,
        "not run: the run was interrupted": Outcome.INTERRUPTED,
        "disagreed with kane: error 0.5": Outcome.DISAGREED,
        "violates 'M symmetric': 0.1": Outcome.DISAGREED,
        "check: did not finish: timed out after 60 s": Outcome.TIMED_OUT,
        "left to the full run: plain Python": Outcome.LEFT_OUT,
        "elastic links are not supported": Outcome.UNSUPPORTED,
    }
    head = ("robot", "method", "label", "quantity", "mode", "rows", "seconds", "reason")
    content = [dict(zip(head, ("panda", f"m{k}", f"m{k}", "bias", "batch", 1, "", why), strict=True))
               for k, why in enumerate(old)]  # fmt: skip
    content.append({**content[0], "method": "fine", "label": "fine", "seconds": 1.0, "reason": ""})
    tables.write(tmp_path / "timing.csv", head, content)
    checks = [{"robot": "panda", "quantity": "bias", "measure": "error", "method": "a", "other": "b", "status": status}
              for status in ("agrees", "differs", "failed", "unsupported", "reported")]  # fmt: skip
    tables.write(tmp_path / "agreement.csv", tuple(checks[0]), checks)
    found = folders.read(tmp_path).tables
    assert [row["outcome"] for row in found["timing"]] == [*old.values(), Outcome.NUMBER]
    expected = [Outcome.NUMBER, Outcome.DISAGREED, Outcome.FAILED, Outcome.UNSUPPORTED, Outcome.NUMBER]
    assert [row["outcome"] for row in found["agreement"]] == expected
    assert "fine" in markdown.summary(rows.read(tmp_path))
