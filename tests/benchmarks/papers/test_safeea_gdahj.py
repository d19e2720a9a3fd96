"""The claim that GDAHJ beats composite bodies above 13 joints: what is counted, timed and judged."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import robots
from dynbench.benchmarks.papers import safeea_gdahj
from dynbench.benchmarks.papers.claims import Interval
from dynbench.benchmarks.papers.safeea_gdahj import counts, measured, times
from dynbench.methods.composite_link_frames import CompositeLinkFrames, link_frames


def test_poses_from_dh_parameters_are_those_of_the_link_frames():
    robot = robots.load("chain-5")
    model = CompositeLinkFrames().pack(robot)
    axes, origins = link_frames(robot)
    for i, (rotation, origin) in enumerate(counts.dh_poses(model, np.zeros(robot.n))):
        np.testing.assert_allclose(rotation, axes[0].T @ axes[i], atol=1e-13)
        np.testing.assert_allclose(origin, axes[0].T @ (origins[i] - origins[0]), atol=1e-12)


def test_the_printed_count_of_composite_bodies_is_ours():
    found = counts.of_method(CompositeLinkFrames)
    assert found["multiplications"] == counts.PRINTED_MULTIPLICATIONS
    assert found["additions"] == counts.PRINTED_ADDITIONS
    assert all(row.ratio == 1.0 for row in counts.formulas())


def test_where_counts_cross_depends_on_what_is_counted():
    found = list(counts.crossings().values())
    assert found == [11, 15, 18, None]


def test_quick_statements_have_places_and_verdicts():
    found = safeea_gdahj.claims(quick=True)
    stated = [claim for claim in found if claim.kind == "statement"]
    assert len(stated) == 6
    assert len(found) == 8
    by_words = {claim.statement: claim for claim in found}
    assert by_words["above 13 joints GDAHJ takes fewer operations than Featherstone's algorithm"].verdict == "depends"
    assert all(claim.verdict == "reproduced" for claim in found if claim.kind == "check")


def test_the_printed_table_is_the_one_that_is_analysed():
    assert min(n for n, (ours, theirs) in measured.TABLE.items() if ours < theirs) == 13
    assert list(measured.TABLE) == list(range(2, 31))


def series(**values: float) -> times.Series:
    found = {int(n[1:]): Interval(value - 0.05, value, value + 0.05) for n, value in values.items()}
    return times.Series("x", "one call", found)


def test_a_series_says_from_which_size_on_gdahj_is_faster():
    rising = series(n4=0.8, n13=0.97, n14=1.02, n20=1.2, n30=1.3)
    assert rising.faster_from() == 20  # at 14 the interval includes 1
    assert not rising.faster_above(13)
    assert series(n4=0.8, n14=1.1, n30=1.3).faster_above(13)
    assert series(n4=1.2, n14=0.9).faster_from() is None
    assert "20: 1.20" in str(rising)


def test_times_are_of_all_rivals_in_both_kinds_of_call():
    pytest.importorskip("pinocchio")
    found = times.measured(sizes=(4,), seconds=0.05)
    assert {(one.rival, one.mode) for one in found} == {
        (rival, mode) for rival in (*times.RIVALS, "pinocchio") for mode in times.MODES
    }
    for one in found:
        assert one.ratios or "disturbed" in one.disturbed
        assert all(ratio.low <= ratio.middle <= ratio.high for ratio in one.ratios.values())


def test_disturbed_numbers_of_joints_are_left_out(monkeypatch):
    def ratios(robot, quantity, first, others, seconds):
        why = "disturbed: by a test" if robot == "chain-14" else ""
        return [Interval(1.1, 1.2, 1.3)] * len(others), why

    monkeypatch.setattr(times, "ratios", ratios)
    found = times.measured(sizes=(4, 14, 30))
    assert all(list(one.ratios) == [4, 30] and "14 joints" in one.disturbed for one in found)
    claim = measured.less_time()
    assert claim.verdict == "reproduced"
    assert claim.measured == 1.2
    assert "by a test" in claim.reason
    monkeypatch.setattr(times, "ratios", lambda *given: ([Interval(1.1, 1.2, 1.3)] * len(given[3]), "disturbed"))
    assert (measured.less_time().verdict, measured.less_time().measured) == ("not reproducible", None)


def test_without_pinocchio_the_others_are_timed(monkeypatch):
    from dynbench.methods.peers.pinocchio import Pinocchio

    monkeypatch.setattr(Pinocchio, "unavailable", classmethod(lambda cls: "pinocchio is not installed"))
    found = times.measured(sizes=(4, 7), seconds=0.02)
    absent = [one for one in found if "not installed" in one.disturbed]
    assert {one.rival for one in absent} == {"pinocchio"}
    assert not any(one.ratios for one in absent)
    assert {one.rival for one in found if one.rival != "pinocchio"} == set(times.RIVALS)
