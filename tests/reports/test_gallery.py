"""Figures drawn by several processes are those drawn by one, whatever becomes of the processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from dynbench.reports import gallery, rows
from dynbench.reports.figure import Rendered


@pytest.fixture(scope="module")
def run(made: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> rows.StoredRun:
    return rows.read(made(robots=("panda",)).write(tmp_path_factory.mktemp("gallery")))


def forms(drawn: dict[str, list[Rendered]]) -> dict[str, list[tuple[str, str, str, bytes, str]]]:
    return {key: [(r.figure.name, r.inline, r.svg, r.pdf, r.csv) for r in group] for key, group in drawn.items()}


@pytest.fixture(scope="module")
def alone(run: rows.StoredRun) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: 1)
        return forms(gallery.draw(run))


def test_processes_draw_what_one_draws(
    run: rows.StoredRun, alone: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[str] = []

    def seen(command: list[str]) -> list[gallery.Forms]:
        parts.append(command[-1])
        return share(command)

    share = gallery._share
    monkeypatch.setattr(gallery, "_share", seen)
    monkeypatch.setattr(gallery, "render", None)  # of this process: nothing may be left to it
    monkeypatch.setattr(gallery, "FEW", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert forms(gallery.draw(run)) == alone
    assert sorted(parts) == ["0", "1", "2"]


@pytest.mark.parametrize("program", ["import os; os.kill(os.getpid(), 9)", "print('[]')", "print('no JSON')"])
def test_what_a_process_does_not_return_is_drawn_here(
    run: rows.StoredRun, alone: dict[str, Any], monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(gallery, "FEW", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    share = gallery._share
    broken = [sys.executable, "-c", program]
    monkeypatch.setattr(gallery, "_share", lambda command: share(broken if command[-1] == "0" else command))
    assert forms(gallery.draw(run)) == alone


def test_few_figures_start_no_process(run: rows.StoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "FEW", 10_000)
    monkeypatch.setattr(gallery, "_share", None)
    assert sum(map(len, gallery.draw(run).values())) > 3
