"""Jobs in other processes: values come back, and what crashes, hangs or raises is answered with a reason."""

from __future__ import annotations

import os
import threading
import time

import pytest

from dynbench.benchmarks.runs.workers import Job, one_line, run_jobs


def environment() -> dict[str, str]:
    """Lets the workers import this file."""
    folder = os.path.dirname(__file__)
    return {"PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])}


def answer(number: float) -> dict[str, float]:
    print("this must not end up among the answers")
    return {"double": 2 * number}


def crash() -> None:
    os.abort()


def hang() -> None:
    time.sleep(60)


def fail() -> None:
    raise ValueError("no\nsuch\nthing")


def not_plain() -> object:
    return object()


def job(name: str, timeout: float = 60.0, **arguments: float) -> Job:
    return Job(f"test_workers:{name}", arguments, timeout)


def test_answers_come_in_order_whatever_happens_in_between():
    jobs = [
        job("answer", number=1),
        job("crash"),
        job("fail"),
        job("hang", 1.0),
        job("not_plain"),
        job("answer", number=2),
    ]
    done = []
    answers = run_jobs(jobs, 2, lambda job, answer: done.append(job.function), environment())
    assert answers[0].value == {"double": 2}
    assert answers[1].reason.startswith("the process died (signal")
    assert answers[2].reason == "ValueError: no such thing"
    assert answers[3].reason == "timed out after 1 s"
    assert "not JSON serializable" in answers[4].reason
    assert answers[5].value == {"double": 4}
    assert sorted(done) == sorted(job.function for job in jobs)


def test_an_unknown_function_is_a_reason():
    (found,) = run_jobs([Job("dynbench.benchmarks.runs.workers:nobody")])
    assert "nobody" in found.reason


def test_no_jobs_need_no_process():
    assert run_jobs([]) == []


def test_an_error_fits_on_one_line():
    assert one_line(ValueError("a\n  b")) == "ValueError: a b"
    assert one_line(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert len(one_line(ValueError("x" * 1000))) == 300


def test_an_interrupt_ends_what_runs_and_begins_nothing_more(monkeypatch):
    """Ctrl-C while jobs run must not leave the user waiting for them."""
    real = threading.Thread.join

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        monkeypatch.setattr(threading.Thread, "join", real)
        time.sleep(1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    before = threading.active_count()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_jobs([job("hang"), job("hang")], 1, environment=environment())
    while threading.active_count() > before and time.monotonic() - start < 30.0:
        time.sleep(0.1)
    assert threading.active_count() == before
