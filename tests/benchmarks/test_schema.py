"""The tables of a run: declared once, written, read again and checked by the declaration."""

from __future__ import annotations

import dataclasses

import pytest

from dynbench.benchmarks.campaigns.kinds import KINDS
from dynbench.benchmarks.problems.sweep import Run
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import schema, tables
from dynbench.benchmarks.results.schema import CAMPAIGN, TABLES, TIMING
from dynbench.benchmarks.simulation.work_precision import Point
from dynbench.methods.kernels.count import Operations
from dynbench.robots.errors import DynbenchError

ROW = {"robot": "panda", "method": "kane", "label": "kane", "quantity": "bias", "mode": "batch", "rows": 8}
EVERY = [*TABLES.values(), CAMPAIGN]


@pytest.mark.parametrize("table", EVERY, ids=lambda table: table.name)
def test_a_table_has_keys_each_column_once_and_a_sentence_for_each(table):
    assert table.keys
    assert len(set(table.names)) == len(table.names)
    assert set(table.numbers) <= set(table.names)
    assert ("outcome" in table.names) == ("reason" in table.names)
    for column in table.columns:
        assert column.meaning.endswith((".", "...")), column


def test_whoever_fills_a_table_has_its_columns():
    assert {field.name for field in dataclasses.fields(Point)} | {"outcome"} == set(schema.WORK_PRECISION.names)
    assert {field.name for field in dataclasses.fields(Run)} == set(schema.PROBLEMS.names)
    assert (*(field.name for field in dataclasses.fields(Operations)), "flops") == schema.OPERATIONS
    for kind in KINDS.values():
        assert {*kind.columns, *kind.common, *kind.axes, *kind.measured} <= set(CAMPAIGN.names)


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"seconds": 1e-6}, "number"),
        ({"seconds": float("nan"), "reason": "timed out after 60 s"}, "timed out"),
        ({"seconds": float("nan"), "reason": "it is no chain"}, "unsupported"),
        ({"reason": "it is no chain", "outcome": Outcome.UNSUPPORTED}, "unsupported"),
    ],
)
def test_a_row_has_an_outcome(tmp_path, more, outcome):
    TIMING.write(tmp_path, [{**ROW, **more}])
    (row,) = TIMING.read(tmp_path)
    assert row["outcome"] == outcome
    assert tuple(row) == TIMING.names


def test_a_run_that_was_written_before_a_column_existed_is_read(tmp_path):
    row = {**ROW, "seconds": "1e-06", "of my own": "kept"}
    tables.write(tmp_path / "timing.csv", list(row), [row])
    (found,) = TIMING.read(tmp_path)
    assert (found["host"], found["outcome"], found["of my own"]) == ("", "number", "kept")


@pytest.mark.parametrize(
    ("column", "cell", "error"),
    [
        ("rows", "many", "'rows': expected a whole number, got 'many'"),
        ("rows", "", "'rows': expected a whole number, got ''"),
        ("noise", "1e", "'noise': expected a number, got '1e'"),
        ("seconds", "0", "'seconds': expected a number above zero, got '0'"),
        ("seconds", "inf", "'seconds': expected a number above zero, got 'inf'"),
        ("outcome", "well", "'outcome': expected one of number, unsupported, .*, got 'well'"),
        ("robot", "x" * 301, "'robot': expected at most 300 characters, got 301"),
        ("of my own", "x" * 20_001, "'of my own': expected at most 20000 characters, got 20001"),
    ],
)
def test_a_cell_of_another_type_is_refused_with_its_place(tmp_path, column, cell, error):
    row = {**ROW, column: cell}
    tables.write(tmp_path / "timing.csv", list(row), [row])
    with pytest.raises(DynbenchError, match=rf"timing\.csv:2: {error}"):
        TIMING.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("robot,method\n", r"expected a column 'label', which identifies rows"),
        ("robot,robot\n", r"expected each column once, got 'robot' twice"),
        (",".join(ROW) + "\n1,2\n", r"timing.csv:2: expected 6 cells, got 2"),
        (",".join(ROW) + "\n\xff\n", r"not a CSV table in UTF-8"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(tmp_path, text, error):
    (tmp_path / "timing.csv").write_text(text, encoding="latin1")
    with pytest.raises(DynbenchError, match=error):
        TIMING.read(tmp_path)
