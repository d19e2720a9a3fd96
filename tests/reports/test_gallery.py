"""Figures drawn by several processes are those drawn by one, whatever becomes of the processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.reports import gallery, rows
from dynbench.reports.figure import Rendered


@pytest.fixture(scope="module")
def run(made: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> rows.Run:
    return rows.read(made(robots=("panda",)).write(tmp_path_factory.mktemp("gallery")))


def forms(drawn: dict[str, list[Rendered]]) -> dict[str, list[tuple[str, str, str, bytes, str]]]:
    return {key: [(r.figure.name, r.inline, r.svg, r.pdf, r.csv) for r in group] for key, group in drawn.items()}


@pytest.fixture(scope="module")
def alone(run: rows.Run) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "cpu_count", lambda: 1)
        return forms(gallery.draw(run))


def test_processes_draw_what_one_draws(run: rows.Run, alone: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Job] = []

    def seen(jobs: Sequence[Job], processes: int) -> list[Answer]:
        asked.extend(jobs)
        return workers(jobs, processes)

    workers = gallery.run_jobs
    monkeypatch.setattr(gallery, "run_jobs", seen)
    monkeypatch.setattr(gallery, "render", None)  # of this process: nothing may be left to it
    monkeypatch.setattr(gallery, "FEW", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert forms(gallery.draw(run)) == alone
    assert [job.arguments["part"] for job in asked] == [0, 1, 2]


@pytest.mark.parametrize("value", [None, []], ids=["crashed", "nothing"])
def test_what_a_process_does_not_give_is_drawn_here(
    run: rows.Run, alone: dict[str, Any], monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    monkeypatch.setattr(gallery, "FEW", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    answers = [
        Answer(value, "" if value is not None else "killed by SIGKILL"),
        Answer(gallery.share(str(run.folder), 1, 2)),
    ]
    monkeypatch.setattr(gallery, "run_jobs", lambda jobs, processes: answers)
    assert forms(gallery.draw(run)) == alone


def test_few_figures_start_no_process(run: rows.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "FEW", 10_000)
    monkeypatch.setattr(gallery, "run_jobs", None)
    assert sum(map(len, gallery.draw(run).values())) > 3
