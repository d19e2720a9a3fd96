"""Fixtures shared by the tests of robots."""

from __future__ import annotations

from pathlib import Path

import pytest
from urdf_text import Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """URDF files of this test."""
    return Files(tmp_path)
