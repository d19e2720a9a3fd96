"""docs/result-files.md names every file's columns, no more and no fewer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynbench.benchmarks import papers
from dynbench.benchmarks.runs import outputs
from dynbench.benchmarks.simulation import work_precision

PAGE = Path(__file__).parents[2] / "docs" / "result-files.md"
COLUMNS = {
    **{file: columns for file, (_, columns) in outputs.FILES.items()},
    "claims.csv": papers.CLAIM_COLUMNS,
    "errata.csv": papers.ERRATUM_COLUMNS,
    "provenance.csv": papers.PROVENANCE_COLUMNS,
    "paper_counts.csv": papers.FORMULA_COLUMNS,
    "work_precision.csv": work_precision.COLUMNS,
}


@pytest.mark.parametrize("file", COLUMNS)
def test_columns_are_documented(file: str) -> None:
    section = re.search(
        rf"^## {re.escape(file)}.*?(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert section is not None
    rows = re.findall(r"^\| (`.*?) \|", section[0], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(COLUMNS[file])
