"""The scripts that write pages of the documentation."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def page_module() -> Callable[[str], ModuleType]:
    """Import a script of docs by its name; they import each other."""

    def load(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(Path(__file__).parents[2] / "docs")
            return importlib.import_module(name)

    return load
