"""`dynbench compare`: finds what changed beyond noise, and says nothing where nothing did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from noisy import METHODS, write_run

from dynbench.benchmarks.cli import main
from dynbench.benchmarks.results import changes, tables
from dynbench.benchmarks.results.compare import Comparison, compare
from dynbench.benchmarks.results.merge import merge
from dynbench.robots.errors import DynbenchError

SEEDS = range(20)
ROBOTS = ("panda", "chain-30", "rp3")


def pair(folder: Path, seed: int, **second: object) -> Comparison:
    a = write_run(folder / f"a{seed}", 2 * seed, robots=ROBOTS)
    b = write_run(folder / f"b{seed}", 2 * seed + 1, robots=ROBOTS, **second)  # type: ignore[arg-type]
    return compare(a, b)


def slower(found: Comparison) -> set[str]:
    return {change.who for change in found.judgement.slower() if isinstance(change, changes.Change)}


def test_a_method_30_percent_slower_is_found_on_a_machine_that_drifts(tmp_path: Path) -> None:
    """And nobody else is blamed: the drift of 20 % is the machine's."""
    found = [pair(tmp_path, seed, slow={"kane": 1.3}, drift=1.2) for seed in SEEDS]
    assert sum("kane" in slower(one) for one in found) >= 19
    assert not {who for one in found for who in slower(one) if not who.startswith("kane")}


def test_a_method_10_percent_slower_is_found_in_quiet_runs(tmp_path: Path) -> None:
    found = []
    for seed in SEEDS:
        a, b = (write_run(tmp_path / f"{which}{seed}", 2 * seed + k, robots=ROBOTS, quiet=True,
                          slow={"kane": 1.1} if k else None) for k, which in enumerate("ab"))  # fmt: skip
        found.append(slower(compare(a, b)))
    assert sum("kane" in one for one in found) >= 16  # 17 of 20
    assert not {who for one in found for who in one if not who.startswith("kane")}


def test_the_same_quiet_code_twice_is_not_flagged(tmp_path: Path) -> None:
    for seed in SEEDS:
        a, b = (write_run(tmp_path / f"{k}{seed}", 2 * seed + k, robots=ROBOTS, quiet=True) for k in range(2))
        assert not compare(a, b).regressions, seed


def test_the_same_code_twice_is_not_flagged(tmp_path: Path) -> None:
    for seed in SEEDS:
        found = pair(tmp_path, seed, drift=(0.8, 1.0, 1.2)[seed % 3])
        assert not found.regressions, (seed, slower(found), found.judgement.cells)


def test_a_slower_machine_is_said_and_no_regression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(5):
        found = pair(tmp_path, seed, drift=1.4)
        assert found.regressions == 0
        assert found.judgement.drift["single"] == pytest.approx(1.4, abs=0.08)
    assert main(["compare", str(tmp_path / "a0"), str(tmp_path / "b0")]) == 0
    assert "the whole machine was 1.4x slower in B" in capsys.readouterr().out


def test_shared_code_that_slows_all_our_methods_is_told_from_a_slow_machine(tmp_path: Path) -> None:
    """Other engines' own calls, which our sources cannot slow down, did not move."""
    ours = dict.fromkeys(METHODS[:5], 1.3)
    for seed in range(5):
        assert slower(pair(tmp_path, seed, slow=ours)) == {changes.SHARED}


def test_a_method_that_became_faster_is_no_regression(tmp_path: Path) -> None:
    found = pair(tmp_path, 0, slow={"kane": 0.6})
    assert {change.who: change.verdict for change in found.judgement.methods}["kane"] == "faster"
    assert found.regressions == 0


def test_a_cell_alone_counts_when_it_is_far_out(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", 0), write_run(tmp_path / "b", 1)
    edit(b, "timing.csv", lambda row: {k: str(8.0 * float(row[k])) for k in ("seconds", "median", "low", "high")},
         robot="talos", label="denoc", quantity="inverse_dynamics", mode="batch")  # fmt: skip
    (cell,) = compare(a, b).judgement.cells
    assert cell.cell == ("talos", "denoc", "inverse_dynamics", "batch", "1000")
    assert cell.verdict == "slower"
    assert cell.factor == pytest.approx(8.0, rel=0.5)


@pytest.mark.parametrize(("factor", "verdicts"), [(1.2, []), (1.5, ["slower"])])
def test_a_cell_alone_changes_with_its_process(tmp_path: Path, factor: float, verdicts: list[str]) -> None:
    """Quiet runs, in which all other cells stay as they are."""
    a, b = (write_run(tmp_path / name, seed, quiet=True) for seed, name in enumerate("ab"))
    edit(b, "timing.csv", lambda row: {k: str(factor * float(row[k])) for k in ("seconds", "median", "low", "high")},
         robot="talos", label="denoc", quantity="inverse_dynamics", mode="batch")  # fmt: skip
    assert [cell.verdict for cell in compare(a, b).judgement.cells] == verdicts


def edit(folder: Path, table: str, new: Callable[[dict[str, str]], dict[str, str] | None], **where: str) -> None:
    """Change rows of a table; None drops them."""
    rows = tables.read(folder / table)
    kept = []
    for row in rows:
        meant = all(row[key] == value for key, value in where.items())
        changed = new(row) if meant else {}
        if changed is not None:
            kept.append({**row, **changed})
    tables.write(folder / table, list(rows[0]), kept)


def test_lost_coverage_is_a_regression_with_its_reason(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", 0), write_run(tmp_path / "b", 0)
    empty = dict.fromkeys(("seconds", "median", "low", "high"), "")
    edit(b, "timing.csv", lambda row: {**empty, "reason": "killed by signal 11"}, robot="panda", label="kane")
    found = compare(a, b)
    (lost,) = found.lost
    assert lost.what == "kane on panda, time: 8 numbers"
    assert lost.b == "killed by signal 11"
    assert found.regressions == 1
    (gained,) = compare(b, a).gained
    assert gained.a == "killed by signal 11"
    assert compare(b, a).regressions == 0


def test_what_was_not_asked_for_is_lost_unless_only_the_common_part_is_wanted(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", 0)
    b = write_run(tmp_path / "b", 0, robots=("panda", "rp3"), methods=[name for name in METHODS if name != "kane"])
    assert compare(a, b).regressions
    assert any("was not asked for" in note and "--common" in note for note in compare(a, b).notes)
    assert not any("--common" in note for note in compare(a, b, common=True).notes)
    assert compare(a, b, common=True).lost == []
    assert compare(b, a, common=True).gained == []
    assert compare(b, a, common=True).cells == compare(b, a).cells


def test_machines_may_differ_unless_a_run_was_spread_over_several(tmp_path: Path) -> None:
    """Two machines are compared; a cell that a cluster ran elsewhere is not."""
    a, b = write_run(tmp_path / "a", 0), write_run(tmp_path / "b", 1)
    for folder, hosts in ((a, ("x", "x")), (b, ("y", "y"))):
        mark(folder, hosts)
    assert compare(a, b).cells == len(tables.read(a / "timing.csv"))
    mark(b, ("x", "y"))
    found = compare(a, b)
    assert found.cells == len(tables.read(a / "timing.csv")) / 2
    assert found.lost == []


def mark(folder: Path, hosts: tuple[str, str]) -> None:
    rows = tables.read(folder / "timing.csv")
    marked = [{**row, "host": hosts[k % 2]} for k, row in enumerate(rows)]
    tables.write(folder / "timing.csv", list(marked[0]), marked)


def test_merged_folders_are_compared_machine_by_machine(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / name, seed, facts={"host": name}) for seed, name in enumerate("ab"))
    slow = write_run(tmp_path / "slow", 2, slow={"kane": 1.5}, facts={"host": "b"})
    merge(tmp_path / "before", [a, b])
    merge(tmp_path / "after", [a, slow])
    assert "kane" in slower(compare(tmp_path / "before", tmp_path / "after"))
    alone = compare(b, tmp_path / "before")
    assert alone.lost == []
    assert alone.cells == len(tables.read(b / "timing.csv"))


def agreement(folder: Path, value: str, status: str, **more: str) -> None:
    row = {"robot": "panda", "quantity": "mass_matrix", "measure": "error", "method": "kane", "other": "denoc",
           "value": value, "status": status, "noise": "1e-15", "reason": "tolerance 1e-10"}  # fmt: skip
    tables.write(folder / "agreement.csv", list(row), [{**row, **more}])


@pytest.mark.parametrize(
    ("before", "now", "regressions", "said"),
    [
        (("1e-14", "agrees"), ("1e-3", "differs"), 1, "differs (1e-3)"),
        (("1e-3", "differs"), ("1e-14", "agrees"), 0, "agrees (1e-14)"),
        (("1e-14", "agrees"), ("2e-13", "agrees"), 0, "agrees (2e-13)"),
        (("1e-17", "agrees"), ("5e-15", "agrees"), 0, ""),  # grown, but noise
        (("1e-14", "agrees"), ("9e-14", "agrees"), 0, ""),  # less than tenfold
        (("1e-14", "agrees"), ("", "failed"), 1, ""),  # coverage, below
    ],
)
def test_agreement(
    tmp_path: Path, before: tuple[str, str], now: tuple[str, str], regressions: int, said: str
) -> None:
    a, b = write_run(tmp_path / "a", 0), write_run(tmp_path / "b", 0)
    agreement(a, *before)
    agreement(b, *now, method="denoc", other="kane")  # a pair is the same in either order
    found = compare(a, b)
    assert [one.b for one in found.agreement] == ([said] if said else [])
    assert found.regressions == regressions
    assert len(found.lost) == (now[1] == "failed")


def test_other_operation_counts_are_named(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", 0), write_run(tmp_path / "b", 0)
    for folder, additions in ((a, "700"), (b, "710")):
        row = {"robot": "panda", "method": "kane", "quantity": "bias", "additions": additions, "flops": "1866"}
        tables.write(folder / "counts.csv", list(row), [row])
    (difference,) = compare(a, b).counts
    assert (difference.a, difference.b) == ("700 additions", "710 additions")


def test_a_claim_that_no_longer_holds_is_a_regression(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", 0), write_run(tmp_path / "b", 0)
    for folder, verdict in ((a, "reproduced"), (b, "differs")):
        row = {"paper": "p", "statement": "it is fast", "verdict": verdict}
        tables.write(folder / "claims.csv", list(row), [row])
    assert compare(a, b).regressions == 1
    assert compare(b, a).regressions == 0


def test_the_command_prints_both_bands_and_writes_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write_run(tmp_path / "a", 0, facts={"commit": "abc", "versions": {"numpy": "2.0"}})
    b = write_run(tmp_path / "b", 1, slow={"kane": 1.5}, facts={"commit": "def", "versions": {"numpy": "2.1"}})
    assert main(["compare", str(a), str(b), "--json", str(tmp_path / "c.json"), "--threshold", "10%"]) == 1
    out = capsys.readouterr().out
    assert "commit: abc -> def" in out
    assert "version of numpy: 2.0 -> 2.1" in out
    assert "95 % interval" in out
    assert "below 10% counts as none" in out
    stored = json.loads((tmp_path / "c.json").read_text())
    (kane,) = [change for change in stored["judgement"]["methods"] if change["who"] == "kane"]
    assert kane["verdict"] == "slower"
    assert kane["low"] < 1.5 < kane["high"]


@pytest.mark.parametrize("wrong", ["absent", "file", "empty"])
def test_what_is_no_results_folder_is_misuse(tmp_path: Path, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    a = write_run(tmp_path / "a", 0)
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    assert main(["compare", str(a), str(tmp_path / wrong)]) == 2
    err = capsys.readouterr().err
    assert wrong in err
    assert err.count("\n") == 1


def test_runs_without_a_row_in_common_are_misuse(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", 0, robots=("panda",))
    b = write_run(tmp_path / "b", 0, robots=("rp3",))
    with pytest.raises(DynbenchError, match="no row in common"):
        compare(a, b)


def test_the_location_stands_wild_cells() -> None:
    values = np.array([0.0] * 8 + [9.0, 9.0])
    assert changes.location(values) == 0.0
    assert changes.location(np.arange(5.0)) == 2.0
