"""Experiments as stored curves and motions: plain, finite, complete; one that fails says why."""

from __future__ import annotations

import json
import math
from pathlib import Path

from dynbench.benchmarks import papers
from dynbench.benchmarks.papers import recordings
from dynbench.benchmarks.simulation.recording import curve, magnitude

WITHOUT = {"dynbench-readme", "dynibo-readme", "safeea-gdahj"}  # statements about cost, without a motion


def test_every_paper_has_simulations_and_a_quick_run_has_fewer() -> None:
    whole, quick = (recordings.listed(papers.names(), quick) for quick in (False, True))
    assert {row["paper"] for row in whole} == set(papers.names()) - WITHOUT
    assert [row for row in whole if row in quick] == quick
    assert len(quick) < len(whole)


def test_curves_are_rounded_and_finite() -> None:
    found = curve("q", "m", [0.0, 1.0, 2.0], [1.23456789, math.nan, math.inf])
    assert (found.x, found.y) == ([0.0], [1.23457])


def test_what_is_exactly_zero_has_no_place_on_a_logarithmic_axis() -> None:
    found = magnitude("e", "m", [0.0, 1.0], [0.0, -1e-3])
    assert (found.x, found.y) == ([1.0], [1e-3])


def test_the_platform_has_forces_of_six_legs_by_three_models_and_moves() -> None:
    found = recordings.job("lagrange-stewart", "stewart-platform")
    *forces, errors = found["plots"]
    assert [len(plot["panels"][0]["series"]) for plot in forces] == [3] * 6
    massless, lumped = errors["panels"][1]["series"]
    assert max(map(abs, lumped["y"])) < 0.1 * max(map(abs, massless["y"]))  # the paper's point
    assert len(found["motion"]["points"]) > 100
    json.dumps(found, allow_nan=False)


def test_one_that_fails_is_stored_with_its_reason_and_old_ones_go(tmp_path: Path) -> None:
    (tmp_path / "simulations").mkdir()
    (tmp_path / "simulations" / "old.json").write_text("{}", encoding="utf-8")
    recordings.run(tmp_path, ["no-such"])
    (path,) = (tmp_path / "simulations").glob("*.json")
    assert "no_such" in json.loads(path.read_text(encoding="utf-8"))["reason"]
