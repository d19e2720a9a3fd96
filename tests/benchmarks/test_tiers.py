"""Generic and traced code in the comparison: both checked, counted and timed; no table, ratio or verdict mixes them."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from made_rounds import made_timings
from made_runs import Made

from dynbench import methods, robots
from dynbench.benchmarks.checks import agreement, evaluate
from dynbench.benchmarks.checks.check import CheckSettings, Comparison, check, refusal_of, refusals
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import folders, orders, schema, tables
from dynbench.benchmarks.results.compare import compare
from dynbench.benchmarks.results.merge import merge
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.results.verdicts import grouped, with_verdicts
from dynbench.benchmarks.runs.plan import Matrix, choose
from dynbench.benchmarks.tiers import GENERIC, TRACED, Variant, variants
from dynbench.benchmarks.timing import counts, startup
from dynbench.benchmarks.timing.cases import Cell, NotTimed, timed
from dynbench.benchmarks.timing.ratios import headline, ratios
from dynbench.methods.kernel_run import KernelRun
from dynbench.reports import figures, html, ratio_tables, rows, time_tables

QUANTITIES = ["inverse_dynamics", "bias"]
SETTINGS = CheckSettings(QUANTITIES, states=8, brief=True)
NE, KANE = (Variant(name, GENERIC) for name in ("newton-euler", "kane"))
NE_TRACED, KANE_TRACED = (Variant(name, TRACED) for name in ("newton-euler", "kane"))
FOUR = (NE, KANE, NE_TRACED, KANE_TRACED)


def pairs(found: list[Row], quantity: str) -> set[tuple[Variant, Variant]]:
    """What was compared."""
    errors = [row for row in found if row.other and row.quantity == quantity]
    return {(Variant(row.method, row.code), Variant(row.other, row.other_code)) for row in errors}


def test_only_methods_made_of_kernels_have_tiers():
    found = variants(["newton-euler", "lagrange-elastic"])
    assert found == (NE, Variant("lagrange-elastic"), NE_TRACED)
    assert variants(["newton-euler"], [TRACED]) == (NE_TRACED,)


def test_traced_code_is_compared_with_its_generic_code_and_the_reference():
    found = check([Comparison("two-link", FOUR)], SETTINGS)
    assert all(row.ok for row in found)
    assert pairs(found, "inverse_dynamics") == {
        (NE, KANE), (NE, NE_TRACED), (KANE, KANE_TRACED), (NE, KANE_TRACED),
    }  # fmt: skip
    assert all(0.0 <= row.value < 1e-12 for row in found if row.other)


def test_without_generic_code_beside_it_traced_code_is_compared_with_all():
    for robot, first in (("two-link", NE), ("four-bar", NE_TRACED)):
        found = check([Comparison(robot, [first, KANE_TRACED, Variant("gibbs-appell", TRACED)])], SETTINGS)
        assert all(row.ok for row in found)
        assert len(pairs(found, "bias")) == 3


def wrong_when_traced(monkeypatch, kernel_of: str) -> None:
    """Let traced code of one method be off by a thousandth; its generic code is right."""
    right = KernelRun.general

    def general(self, *given):
        found = right(self, *given)
        mine = self.tier == TRACED and self.method is not None and self.method.name == kernel_of
        return found * 1.001 if mine else found

    monkeypatch.setattr(KernelRun, "general", general)


def test_traced_code_that_is_wrong_is_refused_and_nothing_else(monkeypatch):
    wrong_when_traced(monkeypatch, "kane")
    found = check([Comparison("two-link", FOUR)], SETTINGS)
    refused = refusals(found)
    assert {variant for _, variant, _ in refused} == {KANE_TRACED}
    missing = refusal_of(refused, "two-link", KANE_TRACED, "bias")
    assert missing.outcome is Outcome.DISAGREED
    assert missing.reason.startswith("disagreed with its own generic code, newton-euler: error 0.001")


def test_many_wrong_traced_methods_do_not_outvote_the_reference(monkeypatch):
    names = ["newton-euler", "kane", "gibbs-appell"]
    for name in names:
        wrong_when_traced(monkeypatch, name)
    refused = refusals(check([Comparison("two-link", variants(names))], SETTINGS))
    assert {variant.code for _, variant, _ in refused} == {TRACED}


def test_a_refused_traced_cell_is_not_timed(monkeypatch):
    wrong_when_traced(monkeypatch, "kane")
    matrix = Matrix(choose(["two-link"], ["newton-euler", "kane"], QUANTITIES, quick=True))
    refused = refusals(check([Comparison("two-link", FOUR)], SETTINGS))
    for robot, variant, quantity in matrix.missing:
        matrix.refuse(robot, variant, quantity, refusal_of(refused, robot, variant, quantity))
    wanted, missing = matrix.cells()
    assert KANE_TRACED not in {cell.variant for cell in wanted}
    assert {cell.variant for cell in wanted} == {NE, KANE, NE_TRACED}
    assert all(why.outcome is Outcome.DISAGREED for why in missing.values())


def test_traced_code_of_a_refused_method_is_refused_with_it():
    rows = [
        Row("r", "kane", "bias", "M symmetric", 1.0, "relative", "differs", "tolerance", code=GENERIC),
        Row("r", "kane", "bias", "error", 0.0, "relative", "agrees", "t", "kane", code=GENERIC, other_code=TRACED),
    ]
    missing = refusal_of(refusals(rows), "r", KANE_TRACED, "bias")
    assert missing.reason.startswith("its generic code violates 'M symmetric'")


def test_what_is_checked_timed_and_counted_is_traced_code_itself(monkeypatch):
    """With generic code forbidden, all of it still works."""
    solver = methods.get("kane").prepare(robots.load("two-link"), code="traced")
    monkeypatch.setattr(type(solver.runs["bias"].generic), "batch", forbidden)
    monkeypatch.setattr(type(solver.runs["bias"].generic), "single", forbidden)
    (found,) = evaluate.evaluate(["two-link"], "kane", QUANTITIES, 4, 0, [None], [0.0], code=TRACED)
    assert (found["code"], found["failures"], found["rows"]) == (TRACED, {}, [])
    assert set(found["values"]) == set(QUANTITIES)
    for mode, count in (("call", 1), ("unchecked", 1), ("batch", 100)):
        timed(Cell("two-link", "kane", "bias", mode, count, code=TRACED)).call()
    (generic,) = evaluate.evaluate(["two-link"], "kane", QUANTITIES, 4, 0, [None], [0.0], brief=True)
    assert set(generic["failures"]) == set(QUANTITIES)


def forbidden(self, wrench):
    raise AssertionError("generic code")


def test_what_cannot_be_traced_has_its_reason_everywhere():
    untraced = "is not traced: forces inside the robot are left to generic code"
    (missing,) = startup.try_out("two-link", "newton-euler", ["reactions"], ["call"], TRACED).values()
    assert missing.outcome is Outcome.UNSUPPORTED
    assert missing.reason.startswith(untraced)
    (counted,) = counts.count("two-link", "newton-euler", ["reactions"], code=TRACED).values()
    assert counted["reason"].startswith(untraced)
    with pytest.raises(NotTimed, match="is not traced"):
        timed(Cell("two-link", "newton-euler", "reactions", "call", code=TRACED))


def test_counts_before_and_after_tracing():
    before, after = (counts.count("panda", "newton-euler", ["inverse_dynamics"], code=code) for code in ("", TRACED))
    found = methods.get("newton-euler").prepare(robots.load("panda"), code="traced").runs["inverse_dynamics"].traced
    assert after["inverse_dynamics"]["flops"] == min(one.flops for one in found.trace.counts.values())
    assert 0.3 < after["inverse_dynamics"]["flops"] / before["inverse_dynamics"]["flops"] < 0.6


def counted(method: str, generic: float, traced: float, robot: str = "panda") -> list[dict[str, object]]:
    head = {"robot": robot, "method": method, "quantity": "inverse_dynamics"}
    return [{**head, "code": GENERIC, "flops": generic}, {**head, "code": TRACED, "flops": str(traced)}]


def test_the_sentence_on_counts_follows_from_the_numbers():
    same = [*counted("a", 100, 50), *counted("b", 200, 60)]
    assert "leaves 39% of the operations" in orders.sentence(same, {})
    assert "for none of 1 pairs" in orders.sentence(same, {})
    swapped = [*counted("a", 100, 50), *counted("b", 200, 40)]
    assert "for 1 of 1 pairs" in orders.sentence(swapped, {})
    assert "inverse dynamics of panda (a before, b after)." in orders.sentence(swapped, {})
    behind = [*counted("best", 10, 5), *swapped]
    assert "nowhere which of them takes the fewest" in orders.sentence(behind, {})
    assert "for none" in orders.sentence([*same, *counted("rough", 300, 1)], {"rough": {"exact": False}})
    assert orders.sentence(counted("a", 100, math.nan), {}) == ""
    polynomial = {"robot": "chain-N", "method": "a", "quantity": "bias", "code": GENERIC, "flops": "12 n"}
    assert orders.sentence([polynomial], {}) == ""


def cell(method: str, mode: str = "batch", code: str = "") -> Cell:
    return Cell("panda", method, "inverse_dynamics", mode, 1000, code=code)


def test_tiers_are_measured_in_the_same_rounds_with_the_engines():
    cells = [cell("kane", code=GENERIC), cell("kane", code=TRACED), cell("pinocchio", "engine-batch")]
    assert len({one.group for one in cells}) == 1
    assert len({one.key for one in cells}) == 3


def test_each_tier_has_its_ratio_to_an_engine():
    ours, theirs = cell("newton-euler", code=GENERIC), cell("pinocchio", "engine-batch")
    times = made_timings({ours: 1.0, replace(ours, code=TRACED): 0.25, theirs: 10.0})
    found = {ratio.code: ratio for ratio in ratios(times, ["pinocchio"], "AVX2")}
    assert found[GENERIC].ratio == pytest.approx(10.0, rel=0.01)
    assert found[TRACED].ratio == pytest.approx(40.0, rel=0.01)
    assert (found[GENERIC].target, found[TRACED].target) == (10.0, 30.0)
    assert [ratio.code for ratio in headline([*found.values()])] == [GENERIC, TRACED]


def timing_row(method: str, code: str, seconds: float, mode: str = "batch") -> dict[str, object]:
    head = {"robot": "panda", "method": method, "label": method, "quantity": "bias", "mode": mode, "rows": 1000}
    numbers = {"low": 0.999 * seconds, "high": 1.001 * seconds, "noise": 0.001}
    return {**head, "code": code, "seconds": seconds, **numbers, "outcome": "number"}


TWO_TIERS = [
    timing_row("a", GENERIC, 1.0),
    timing_row("b", GENERIC, 2.0),
    timing_row("a", TRACED, 0.5),
    timing_row("b", TRACED, 0.1),
    timing_row("engine", "", 0.7, "engine-batch"),
]


def test_each_tier_has_its_fastest_and_no_ratio_crosses():
    found = {(row["method"], row["code"]): row for row in with_verdicts(TWO_TIERS, {})}
    assert found["engine", ""]["verdict"] == "fastest"  # beside generic code; it stands beside traced code too
    assert found["b", TRACED]["verdict"] == "fastest"
    assert found["a", GENERIC]["times_best"] == pytest.approx(1.0 / 0.7)
    assert found["a", TRACED]["times_best"] == pytest.approx(5.0)
    for (*_, tier), group in grouped(TWO_TIERS).items():
        assert {row["code"] for row in group} <= {tier, ""}


def both_tiers(folder):
    """A made-up run of two tiers: traced code takes a quarter of the time and half of the operations."""
    made = Made()
    made.write(folder)
    for table in (schema.TIMING, schema.RATIOS, schema.COUNTS, schema.SCALING):
        found = []
        for row in table.read(folder):
            if row["method"] in ("pinocchio", "lagrange-elastic"):
                found.append(row)
                continue
            scale = {"seconds": 0.25, "low": 0.25, "high": 0.25, "flops": 0.5, "ratio": 4.0}
            less = {key: str(factor * float(row[key])) for key, factor in scale.items() if rows.known(row.get(key))}
            found += [{**row, "code": GENERIC}, {**row, **less, "code": TRACED}]
        table.write(folder, found)
    return folder


def test_no_table_or_figure_of_a_report_has_both_tiers(tmp_path):
    folder = both_tiers(tmp_path / "run")
    html.write_report(folder)
    run = rows.read(folder)
    assert run.tiers == [GENERIC, TRACED]
    for made in (time_tables.times(run), ratio_tables.ratios(run), figures.speed(run), figures.ratios(run)):
        names = [one.name for one in made]
        assert len(set(names)) == len(names)
        assert sum(name.endswith("-traced") for name in names) == len(names) // 2
        assert all(("traced code" in one.title) == one.name.endswith("-traced") for one in made)
    stems = {path.stem for path in (folder / "tables").glob("times-*.tex")}
    assert {f"{stem}-traced" for stem in stems if not stem.endswith("-traced")} < stems
    summary = (folder / "summary.md").read_text()
    assert "Fastest exact method per state, generic code" in summary
    assert "Fastest exact method per state, traced code" in summary
    assert "Tracing leaves 50% of the operations" in summary
    assert "In traced code, batches of 1000" in summary
    (beside,) = [grid for grid in html.tables(run)["counts"] if grid.name == "traced-counts"]
    assert [cell.text for cell in beside.lines[0].cells[3:6]] == ["1866", "933", "50 %"]


def test_runs_of_one_tier_are_read_merged_and_compared_with_those_of_two(tmp_path):
    old, new = Made().write(tmp_path / "old"), both_tiers(tmp_path / "new")
    for file in ("timing", "agreement", "counts", "ratios", "scaling"):  # as older versions wrote them
        found = tables.read(old / f"{file}.csv")
        names = [name for name in found[0] if name not in ("code", "other_code")]
        tables.write(old / f"{file}.csv", names, found)
    facts = (old / "environment.json").read_text().replace('"floor": false', '"floor": false, "looped": false')
    (old / "environment.json").write_text(facts)
    read = folders.read(old)
    assert {row["code"] for row in read.tables["timing"] if row["method"] == "gibbs-appell"} == {GENERIC}
    found = compare(old, new)
    assert found.cells > 0
    merge(tmp_path / "both", [old, new])
    assert {row["code"] for row in folders.read(tmp_path / "both").tables["timing"]} >= {GENERIC, TRACED}


def test_traced_code_that_became_slower_is_told_apart(tmp_path):
    a, b = both_tiers(tmp_path / "a"), both_tiers(tmp_path / "b")
    found = schema.TIMING.read(b)
    slow = {"seconds", "low", "high"}
    found = [
        {**row, **{key: str(3.0 * float(row[key])) for key in slow if row[key]}}
        if (row["method"], row["code"]) == ("gibbs-appell", TRACED)
        else row
        for row in found
    ]
    schema.TIMING.write(b, found)
    judged = compare(a, b).judgement
    assert [change.who for change in judged.methods if change.verdict == "slower"] == ["gibbs-appell, traced"]


def test_one_cell_can_be_timed_in_a_tier(capsys):
    arguments = ["time", "-r", "two-link", "-m", "kane", "--seconds", "0.05"]
    assert main([*arguments, "--code", "traced"]) == 0
    shown = capsys.readouterr().out
    assert "kane, traced, batch: solver.inverse_dynamics(q, v, a, out=out)" in shown
    assert main([*arguments, "--code", "traced", "--quantity", "reactions", "-m", "newton-euler"]) == 2


def test_a_check_of_traced_code(capsys, tmp_path):
    file = tmp_path / "rows.json"
    assert main(["check", "-r", "two-link", "-m", "kane", "--states", "4", "--code", "both", "--json", str(file)]) == 0
    assert "all agree" in capsys.readouterr().out
    found = json.loads(file.read_text())["rows"]
    assert {row["other_code"] for row in found if row["other"]} == {GENERIC, TRACED}


def test_the_plan_follows_the_option():
    both, traced = (choose(["two-link"], ["kane", "null"], None, code=code) for code in ("both", TRACED))
    assert both.variants == variants(["kane", "null"])
    assert {one.code for one in traced.variants} == {TRACED}
    assert agreement.TRACED == TRACED
