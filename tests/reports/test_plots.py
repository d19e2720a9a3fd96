"""Positions that plots are made of."""

from __future__ import annotations

from dynbench.reports import plots
from dynbench.reports.plots import Dot


def points(*pairs: tuple[str, str]) -> list[Dot]:
    return [Dot(category, method, 1.0, 0.9, 1.1) for category, method in pairs]


def test_methods_that_meet_have_lanes_of_their_own_and_others_share() -> None:
    met = points(("panda", "a"), ("panda", "b"), ("stewart", "a"), ("stewart", "c"), ("arm", "d"))
    assert plots.lanes(met, ["a", "b", "c", "d", "absent"]) == {"a": 0, "b": 1, "c": 1, "d": 0}


def test_no_two_dots_of_a_category_are_in_one_lane() -> None:
    names = [f"m{k}" for k in range(9)]
    met = points(*((f"robot{r}", name) for r in range(7) for k, name in enumerate(names) if (r * k) % 3 != 1))
    lane = plots.lanes(met, names)
    places = [(point.category, lane[point.method]) for point in met]
    assert len(set(places)) == len(places)


def test_a_plot_is_as_high_as_its_lanes_and_categories_need() -> None:
    few = points(("panda", "a"))
    many = points(*(("panda", name) for name in "abcdefgh"))
    assert plots.dots_height(few, list("abcdefgh")) < plots.dots_height(many, list("abcdefgh"))
    apart = points(*((name, name) for name in "abcdefgh"))
    assert plots.dots_height(apart, list("abcdefgh")) < 8 * plots.dots_height(many, list("abcdefgh"))
    assert plots.dots_height([], []) > 0.0
