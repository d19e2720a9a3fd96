"""Which tests the session with engines repeats."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import earlier


def plain() -> None:
    """A test that no engine changes."""
    assert earlier.LEAST > 0


def compared() -> None:
    """A test against pinocchio."""
    assert earlier.LEAST > 0


def item(name: str, function: Any) -> Any:
    return SimpleNamespace(nodeid=name, function=function)


def test_what_passed_and_mentions_no_engine_is_left_out():
    passed = frozenset({"a::plain", "a::compared", "a::plain[mujoco]"})
    assert earlier.repeated(item("a::plain", plain), passed)
    assert not earlier.repeated(item("a::plain[other]", plain), passed)  # was skipped there, or is new
    assert not earlier.repeated(item("a::compared", compared), passed)
    assert not earlier.repeated(item("a::plain[mujoco]", plain), passed)


def test_the_record_is_of_these_sources(monkeypatch, tmp_path):
    monkeypatch.setenv("DYNBENCH_EARLIER", str(tmp_path))
    earlier.record.cache_clear()
    first = earlier.record()
    monkeypatch.setattr(earlier, "FOLDERS", ("robots",))
    earlier.record.cache_clear()
    assert first is not None
    assert earlier.record() != first
    earlier.record.cache_clear()
