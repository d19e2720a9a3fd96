"""The section "Rivals": which rows stand for an engine, and sentences that follow from the numbers."""

from __future__ import annotations

from typing import Any

import jinja2
import pytest

from dynbench.reports import rivals

METHODS: dict[str, dict[str, Any]] = {
    "newton-euler": {"exact": True, "engine": "dynbench"},
    "kane": {"exact": True, "engine": "dynbench"},
    "springs": {"exact": False, "engine": "dynbench"},
    "null": {"exact": True, "floor": True, "engine": "dynbench"},
    "pinocchio": {"exact": True, "peer": True, "engine": "pinocchio"},
    "pinocchio-cpp": {"exact": True, "peer": True, "engine": "pinocchio"},
    "mujoco": {"exact": True, "peer": True, "engine": "mujoco"},
}


def row(method: str, mode: str, seconds: float, rows: str = "1", spread: float = 0.01, **more: str) -> dict[str, str]:
    times = {"seconds": seconds, "low": seconds * (1.0 - spread), "high": seconds * (1.0 + spread), "noise": 0.0}
    made = {"robot": "panda", "method": method, "label": method, "quantity": "inverse_dynamics", "mode": mode}
    known = {"rows": rows, "outcome": "number", "expression": f"{method}, {mode}", "code": ""}
    return {**made, **known, **{name: repr(value) for name, value in times.items()}, **more}


def compare(*rows: dict[str, str]) -> rivals.Rivals:
    return rivals.compare(rows, [], METHODS, "1000")


def test_the_best_of_each_engine_stands_for_it():
    found = compare(
        row("newton-euler", "batch", 2e-7, "1000"),
        row("kane", "batch", 3e-7, "1000"),
        row("springs", "batch", 1e-9, "1000"),
        row("null", "batch", 1e-9, "1000"),
        row("pinocchio", "engine-batch", 9e-7, "1000"),
        row("pinocchio-cpp", "engine-batch", 6e-7, "1000"),
        row("pinocchio", "batch", 1e-9, "1000"),  # our wrapper of it takes no part
    )
    (one,) = found.comparisons
    assert [(e.engine, e.method) for e in one.entries] == [("dynbench", "newton-euler"), ("pinocchio", "pinocchio-cpp")]
    assert one.entries[1].expression == "pinocchio-cpp, engine-batch"
    assert one.entries[1].times_best == pytest.approx(3.0)
    said = "panda, inverse dynamics, throughput, one thread: dynbench is fastest, 3 times as fast as pinocchio."
    assert one.sentence == said


def test_an_interval_that_includes_one_names_no_fastest():
    found = compare(row("newton-euler", "unchecked", 1.0e-6, spread=0.1), row("mujoco", "engine", 1.05e-6, spread=0.1))
    assert found.comparisons[0].sentence == "panda, inverse dynamics, latency: dynbench and mujoco do not differ."
    assert all("fastest in" not in sentence.replace("the fastest in", "") for sentence in found.sentences)


def test_an_engine_that_wins_is_said_to_win():
    found = compare(
        row("newton-euler", "unchecked", 3e-6),
        row("pinocchio", "engine", 2e-6),
        row("newton-euler", "batch", 2e-7, "1000"),
        row("pinocchio", "engine-batch", 6e-7, "1000"),
    )
    assert found.sentences == [
        "dynbench: fastest in 1 of 2 comparisons (throughput, one thread of inverse dynamics on panda); slower in 1: "
        "1.5 times the best time at least (latency of inverse dynamics on panda).",
        "pinocchio: fastest in 1 of 2 comparisons (latency of inverse dynamics on panda); slower in 1: 3 times the "
        "best time at least (throughput, one thread of inverse dynamics on panda).",
    ]


def test_disturbed_times_and_second_measurements_take_no_part():
    found = compare(
        row("newton-euler", "unchecked", 3e-6),
        row("pinocchio", "engine", 1e-6, outcome="disturbed"),
        row("mujoco", "engine", 1e-6, label="mujoco (again)"),
    )
    assert found.comparisons == ()


def test_threads_are_compared_at_the_largest_batch():
    found = compare(
        row("newton-euler", "threads", 1e-7, "1000"),
        row("newton-euler", "threads", 0.5e-7, "100000"),
        row("pinocchio", "engine-threads", 2e-7, "100000"),
    )
    (one,) = found.comparisons
    assert (one.measure, one.rows, one.entries[0].seconds) == ("throughput, all threads", "100000", 0.5e-7)


def test_all_entries_stand_beside_each_tier_of_ours():
    pair = {"robot": "panda", "quantity": "inverse_dynamics", "mode": "batch", "rows": "1000", "outcome": "number"}
    measured = {"ratio": "4.5", "low": "4.4", "high": "4.6"}
    lines = rivals.side_by_side(
        [
            row("newton-euler", "batch", 2e-7, "1000", code="generic"),
            row("kane", "batch", 3e-7, "1000", code="generic"),
            row("newton-euler", "batch", 1e-7, "1000", code="traced"),
            row("pinocchio", "engine-batch", 9e-7, "1000"),
            row("pinocchio-cpp", "engine-batch", 6e-7, "1000"),
            row("pinocchio", "batch", 1e-9, "1000"),  # our wrapper of it takes no part
        ],
        [{**pair, **measured, "method": "newton-euler", "code": "generic", "peer": "pinocchio",
          "peer_call": "its own batch call"}],
        METHODS,
        "1000",
    )
    assert [line.entry for line in lines] == [
        "newton-euler, traced code",
        "newton-euler, generic code",
        "pinocchio-cpp",
        "pinocchio",
    ]
    assert lines[3].over("generic") == "4.5 [4.4, 4.6]"  # measured in turns
    assert lines[3].over("traced") == "9 [8.82, 9.18]"  # bounded by the intervals of both
    assert (lines[1].over("generic"), lines[1].over("traced")) == ("–", "2 [1.96, 2.04]")
    assert lines[2].expression == "pinocchio-cpp, engine-batch"


def test_without_an_engine_there_is_no_line():
    assert rivals.side_by_side([row("newton-euler", "unchecked", 1e-6)], [], METHODS, "1000") == []


def test_the_template_shows_sentences_and_code():
    environment = jinja2.Environment(loader=jinja2.PackageLoader("dynbench.reports", "templates"), autoescape=True)
    macro = environment.get_template("_rivals.html").module.rivals_section
    theirs = row("pinocchio", "engine", 2e-6, expression="<b>")
    text = str(macro(compare(row("newton-euler", "unchecked", 3e-6), theirs)))
    assert "pinocchio: fastest in 1 of 1 comparison" in text
    assert "<code>&lt;b&gt;</code>" in text
    assert "No two engines" in str(macro(compare()))
    every = environment.get_template("_rivals.html").module.every_rival
    lines = rivals.side_by_side([row("newton-euler", "unchecked", 3e-6), theirs], [], METHODS, "1000")
    text = str(every(lines, [""]))
    assert '<th scope="col">times our generic code</th>' in text
    assert "0.667 [0.653, 0.68]" in text
    assert "<code>&lt;b&gt;</code>" in text
