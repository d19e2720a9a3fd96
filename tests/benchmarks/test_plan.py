"""The matrix: every cell is wanted or has its reason, and what is asked for wrongly is named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dynbench import robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.processes.plugins import owner
from dynbench.benchmarks.runs.plan import Matrix, choose
from dynbench.benchmarks.tiers import GENERIC, TIERS, TRACED, Variant
from dynbench.methods.base import QUANTITIES
from dynbench.robots.errors import DynbenchError, UnknownNameError

KANE = Variant("kane", GENERIC)
MODELS = Path(robots.__file__).parent / "models"


def test_no_cell_is_blank():
    plan = choose(["panda", "rp3", "3rrr"], None, None, quick=True)
    wanted, refused = Matrix(plan).cells()
    seen = {(c.robot, c.variant, c.quantity, c.mode) for c in [*wanted, *refused]}
    for robot in plan.sources.values():
        for variant in plan.variants:
            for quantity in plan.quantities:
                for mode, _ in plan.modes:
                    assert (robot, variant, quantity, mode) in seen
    assert all(refused.values())
    assert not set(wanted) & set(refused)


def test_each_group_has_an_aa_pair_next_to_its_twin():
    plan = choose(["two-link"], ["kane", "newton-euler", "null"], ["inverse_dynamics"], quick=True)
    wanted, _ = Matrix(plan).cells()
    for k, cell in enumerate(wanted):
        if cell.again:
            assert wanted[k - 1] == replace(cell, again=False)
            assert cell.method == "newton-euler"
    assert sum(cell.again for cell in wanted) == len(plan.modes) * len(TIERS)


def test_methods_alternate_within_a_group():
    wanted, _ = Matrix(
        choose(["two-link", "pendulum"], ["kane", "newton-euler"], ["inverse_dynamics"], quick=True)
    ).cells()
    groups = [cell.group for cell in wanted]
    assert groups == sorted(groups, key=groups.index)


def test_a_refused_cell_keeps_its_first_reason():
    matrix = Matrix(choose(["two-link"], ["kane"], ["inverse_dynamics"], quick=True))
    matrix.refuse("two-link", KANE, "inverse_dynamics", None)
    assert matrix.able("two-link", KANE) == ["inverse_dynamics"]
    matrix.refuse("two-link", KANE, "inverse_dynamics", Missing(Outcome.CRASHED, "first"))
    matrix.refuse("two-link", KANE, "inverse_dynamics", Missing(Outcome.DISAGREED, "second"))
    assert matrix.missing["two-link", KANE, "inverse_dynamics"] == (Outcome.CRASHED, "first")
    assert ("two-link", KANE) not in matrix.pairs()
    assert ("two-link", Variant("kane", TRACED)) in matrix.pairs()  # the other tier is a cell of its own


def test_a_missing_quantity_has_a_sentence():
    matrix = Matrix(choose(["two-link"], ["kane"], ["reactions"]))
    assert matrix.missing["two-link", KANE, "reactions"] == (Outcome.UNSUPPORTED, "kane does not compute reactions")


@pytest.mark.parametrize(
    ("robot", "method", "quantity", "near"),
    [("pandas", None, None, "panda"), (None, "kanes", None, "kane"), (None, None, "bais", "bias")],
)
def test_unknown_names_are_answered_with_near_ones(robot, method, quantity, near):
    with pytest.raises(UnknownNameError, match=near):
        choose([robot or "two-link"], [method or "kane"], [quantity or "bias"])


def test_files_are_welcome_and_two_of_one_name_are_not(tmp_path):
    copy = tmp_path / "copy.toml"
    shutil.copy(MODELS / "panda.toml", copy)
    plan = choose([str(copy)], ["kane"], None, quick=True)
    assert plan.sources == {"panda": str(copy)}
    with pytest.raises(DynbenchError, match="both hold a robot 'panda'"):
        choose(["panda", str(copy)], ["kane"], None)


def test_the_full_run_has_every_quantity_and_batch_size():
    plan = choose(["two-link"], ["kane"], None)
    assert plan.quantities == tuple(QUANTITIES)
    assert [rows for mode, rows in plan.modes if mode == "batch"] == [1, 10, 100, 1000, 10_000, 100_000]


def test_our_methods_share_processes_and_engines_have_their_own():
    assert {owner(name) for name in ("newton-euler", "denoc", "lagrange-elastic", "null")} == {""}
    assert [owner(name) for name in ("pinocchio", "mujoco", "drake", "exudyn")] == [
        "pinocchio", "mujoco", "drake", "exudyn",
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["lagrange-euler", "gibbs-appell", "denoc", "newton-euler"])
def test_a_quick_run_compiles_the_shared_projection_of_loops_once(method):
    """Others that reach closed loops by it are left to the full run, which has them all."""
    chosen = ["forward_dynamics"]
    quick, full = (Matrix(choose(["3rrr"], None, chosen, quick=quick)) for quick in (True, False))
    asked = Matrix(choose(["3rrr"], [method], chosen, quick=True))
    left = method != "denoc"
    generic = Variant(method, GENERIC)
    found = quick.not_run.get(("3rrr", generic))
    assert (found is not None and found.outcome is Outcome.LEFT_OUT) == left
    assert ("3rrr", generic) in full.run()
    assert ("3rrr", generic) in asked.run()
