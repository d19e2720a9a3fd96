"""Jobs in other processes: values come back; what crashes, hangs, forks, floods or raises is answered with a reason."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pace import NEVER, Clock, wait_until

from dynbench.benchmarks.processes import workers
from dynbench.benchmarks.processes.executors import LocalExecutor, stream
from dynbench.benchmarks.processes.jobs import Answer, Job, dumps, loads, one_line, size_text
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.processes.workers import Workers, run_jobs

MIB = 1 << 20


def environment() -> dict[str, str]:
    """Lets the workers import `tempers`."""
    folder = os.path.dirname(__file__)
    return {"PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])}


def job(name: str, timeout: float = 120.0, owner: str = "", memory: int = 4096 * MIB, **arguments: object) -> Job:
    return Job(f"tempers:{name}", arguments, timeout, memory, owner)


def ask(*jobs: Job, processes: int = 1) -> list[Answer]:
    return run_jobs(jobs, processes, environment=environment())


def gone(pid: int) -> bool:
    """Whether a process is over (it may still have to be reaped by whoever adopted it)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.fixture
def note(tmp_path, monkeypatch):
    """When this file appears half a minute has passed, for those who wait for jobs."""
    monkeypatch.setattr(workers, "time", Clock(tmp_path / "note", 31.0))
    return tmp_path / "note"


def test_answers_come_in_order_whatever_happens_in_between(note):
    names = ("crash", "fail", "not_plain", "leave", "vanish", "allocate", "unprintable", "read_the_terminal")
    jobs = [job("answer", number=1), *(job(name) for name in names), job("answer", number=2)]
    jobs.insert(-1, job("hang", 30.0, note=str(note)))
    done = []
    answers = run_jobs(jobs, 2, lambda job, answer: done.append(job.function), environment())
    first, *between, last = answers
    assert first.value == {"double": 2, "limit": math.inf}
    assert last.value == {"double": 4, "limit": math.inf}
    assert (first.output, first.reason) == ("", "")
    assert first.host
    reasons = dict(zip((*names, "hang"), between, strict=True))
    assert reasons["crash"].reason == "killed by signal 11 (SIGSEGV)"
    assert reasons["fail"].reason == "raised ValueError: no such thing"
    assert reasons["fail"].why == "raised ValueError: no such thing; it printed: first last words"
    assert reasons["not_plain"].reason.startswith("returned what is not plain data: TypeError")
    assert reasons["leave"].reason == "raised SystemExit: 3"
    assert reasons["vanish"].reason == "exited (exit status 4)"
    assert reasons["allocate"].reason == "ran out of memory (limit 4 GiB)"
    assert reasons["unprintable"].reason == "raised Rude: (which cannot be printed)"
    assert reasons["read_the_terminal"].value == ""
    assert reasons["hang"].reason == "timed out after 30 s"
    assert reasons["hang"].output == "about to wait"
    ended = {name: found.outcome for name, found in reasons.items()}
    assert ended == {
        "crash": Outcome.CRASHED,
        "fail": Outcome.FAILED,
        "not_plain": Outcome.FAILED,
        "leave": Outcome.FAILED,
        "vanish": Outcome.CRASHED,
        "allocate": Outcome.OUT_OF_MEMORY,
        "unprintable": Outcome.FAILED,
        "read_the_terminal": Outcome.NUMBER,
        "hang": Outcome.TIMED_OUT,
    }
    assert {first.outcome, last.outcome} == {Outcome.NUMBER}
    assert sorted(done) == sorted(job.function for job in jobs)


def test_the_limit_of_memory_is_the_jobs_own():
    small, large = ask(job("flood", lines=1, memory=512 * MIB), job("allocate", memory=512 * MIB))
    assert small.value == 1
    assert large.reason == "ran out of memory (limit 512 MiB)"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of processes is known on Linux only")
def test_a_process_that_earlier_jobs_have_filled_is_replaced():
    some, same, much, other = ask(*(job("hold", size=size * MIB) for size in (1, 1, 2500, 2500)))
    assert some.value == same.value == much.value
    assert other.value not in (None, much.value)


def test_of_a_flood_only_the_end_is_kept(note):
    (found,) = ask(job("flood", lines=200_000))
    assert found.value == 200_000
    assert found.output == ""  # nobody asks what a success printed
    late, again = ask(job("flood", 30.0, lines=10**9, note=str(note)), job("answer", number=1))
    assert late.reason == "timed out after 30 s"
    assert 99 <= len(late.output) <= 4096
    assert again.reason == ""


def test_what_forks_is_ended_whole_and_answers_once(note):
    both, late, last = ask(job("fork_and_return"), job("fork_and_hang", 30.0, note=str(note)), job("process"))
    assert both.reason == ""
    assert late.reason == "timed out after 30 s"
    assert last.reason == ""
    wait_until(lambda: gone(int(note.read_text())))


def test_a_process_serves_one_owner_and_is_kept_for_it():
    pool = Workers(environment())
    one, other, again, ours = (pool.run(job("process", owner=owner)).value for owner in ("one", "other", "one", ""))
    assert one == again
    assert len({one, other, ours}) == 3
    pool.stop()
    wait_until(lambda: all(map(gone, (one, other, ours))))


def test_idle_processes_are_limited():
    pool = Workers(environment(), idle=1)
    first, second = (pool.run(job("process", owner=owner)).value for owner in ("one", "two"))
    wait_until(lambda: gone(first))
    assert pool.run(job("process", owner="two")).value == second
    pool.stop()


def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path):
    """Also when the worker is deep in a call that holds the interpreter's lock."""
    note = tmp_path / "pid"
    program = (
        f"from dynbench.benchmarks.processes.workers import Job, run_job\n"
        f"run_job(Job('tempers:fork_and_hang', {{'note': {str(note)!r}}}))"
    )
    parent = subprocess.Popen([sys.executable, "-P", "-c", program], env={**os.environ, **environment()})
    wait_until(note.exists)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    wait_until(lambda: gone(int(note.read_text())))


def test_an_unknown_function_is_a_reason():
    (found,) = run_jobs([Job("dynbench.benchmarks.processes.workers:nobody")])
    assert "nobody" in found.reason


def test_no_jobs_need_no_process():
    assert run_jobs([]) == []


def test_an_executor_that_loses_a_job_gives_a_reason():
    def lost(job: Job) -> Answer:
        raise ConnectionError("the machine is gone")

    with LocalExecutor(1) as executor:
        ((number, _, found),) = stream(executor, [Job("a:b")], lost)
    assert (number, found.reason) == (0, "not run: ConnectionError: the machine is gone")
    assert found.outcome is Outcome.INTERRUPTED


def test_a_reason_without_an_outcome_is_a_failure_and_an_outcome_needs_a_reason():
    assert Answer(reason="no").outcome is Outcome.FAILED
    assert Answer(reason="no").missing == (Outcome.FAILED, "no")
    assert Answer(1.0).missing is None
    with pytest.raises(ValueError, match="'timed out' needs a reason"):
        Answer(outcome=Outcome.TIMED_OUT)


def test_stopped_workers_answer_that_they_were_interrupted(tmp_path):
    pool, note, found = Workers(environment()), tmp_path / "note", []
    thread = threading.Thread(target=lambda: found.append(pool.run(job("hang", 600.0, note=str(note)))))
    thread.start()
    wait_until(note.exists)
    pool.stop()
    thread.join()
    assert (found[0].outcome, found[0].reason) == (Outcome.INTERRUPTED, "not run: the run was stopped")


def test_few_jobs_are_handed_out_ahead():
    taken = []

    def jobs():
        for number in range(200):
            taken.append(number)
            yield Job("a:b", {"number": number})

    with LocalExecutor(2) as executor:
        for count, _ in enumerate(stream(executor, jobs(), lambda job: Answer(value=1), ahead=4)):
            assert len(taken) <= count + 5
    assert len(taken) == 200


def test_an_error_fits_on_one_line():
    assert one_line(ValueError("a\n  b")) == "ValueError: a b"
    assert one_line(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert len(one_line(ValueError("x" * 1000))) == 300


def test_sizes_read_well():
    assert [size_text(size) for size in (10, 3 << 20, 4 << 30)] == ["10 B", "3 MiB", "4 GiB"]


@pytest.mark.parametrize("value", [math.inf, -math.inf, "=nan", "==", "nan", [1, {"a": [None, True, "=x"]}], 0.1])
def test_plain_data_comes_back_as_it_was(value):
    assert loads(dumps(value)) == value
    assert "NaN" not in dumps(math.nan)
    assert math.isnan(loads(dumps(math.nan)))


def test_an_interrupt_ends_what_runs_and_begins_nothing_more(monkeypatch, tmp_path):
    """Ctrl-C while jobs run must not leave the user waiting for them."""
    begun, real, note = [], workers.Worker.run, tmp_path / "note"

    def interrupt():
        wait_until(note.exists)
        os.kill(os.getpid(), signal.SIGINT)

    def run(self, job):
        begun.append(job)
        return real(self, job)

    monkeypatch.setattr(workers.Worker, "run", run)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
    start = time.monotonic()
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(job("hang", 600.0, note=str(note)), job("hang", 600.0))
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < NEVER  # half of what the first would take
    assert len(begun) == 1


def test_a_job_that_asks_for_it_has_a_new_process():
    pool = Workers(environment())
    first, again, fresh = (pool.run(Job("os:getpid", fresh=fresh)).value for fresh in (False, False, True))
    pool.stop()
    assert first == again != fresh
