"""CSV files: nothing in them runs in a spreadsheet, and reading gives back what was written."""

from __future__ import annotations

import csv
import math

import pytest

from dynbench.benchmarks.results import tables


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1 is text", "@SUM(A1)", "\t=1", "\n=1", "'=1", "a\nb", "plain", "it's", "'quoted'", ""]
)
def test_text_is_neutral_in_the_file_and_itself_when_read(tmp_path, text):
    tables.write(tmp_path / "t.csv", ["a", "b"], [{"a": text, "b": "x"}])
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        (_, (stored, _)) = list(csv.reader(file))
    assert not stored.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert tables.read(tmp_path / "t.csv") == [{"a": text, "b": "x"}]


def test_a_carriage_return_cannot_break_a_row(tmp_path):
    tables.write(tmp_path / "t.csv", ["a"], [{"a": "one\r=two"}, {"a": "\r\n=three"}])
    assert tables.read(tmp_path / "t.csv") == [{"a": "one\n=two"}, {"a": "\n=three"}]


def test_numbers_keep_their_sign_and_every_digit(tmp_path):
    value = -1 / 3
    tables.write(tmp_path / "t.csv", ["a", "b", "c", "d"], [{"a": value, "b": -4, "c": math.nan, "d": None}])
    (row,) = tables.read(tmp_path / "t.csv")
    assert float(row["a"]) == value
    assert (row["b"], row["c"], row["d"]) == ("-4", "", "")


def test_a_missing_table_is_empty(tmp_path):
    assert tables.read(tmp_path / "absent.csv") == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 us"), (7.89e-8, "78.9 ns"), (0.0, "0 ns")],
)
def test_times_are_printed_in_a_unit_that_suits_them(seconds, text):
    assert tables.time_text(seconds) == text


def test_columns_are_aligned():
    text = tables.aligned(["name", "value"], [["a", "1"], ["longer", "100"]])
    assert text == "name    value\na           1\nlonger    100"
