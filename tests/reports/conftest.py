"""Folders of made-up runs, with and without their report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_runs import Made

from dynbench.reports import html


@pytest.fixture(scope="session")
def made() -> Callable[..., Made]:
    """Return the maker of runs."""
    return Made


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a complete run with its report written."""
    folder = Made().write(tmp_path_factory.mktemp("complete"))
    html.write_report(folder)
    return folder
