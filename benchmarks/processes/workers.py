"""Jobs in separate processes: a job that crashes, hangs, forks or uses up memory loses its own answer only.

A `Worker` is one process that runs jobs one after the other, so that numba is imported once. It serves one owner: a job
of another plugin gets another process, so that the state, threads and leaks of one plugin cannot affect another.
`Workers` keeps idle processes, by owner, for the next job. A worker that was killed or crashed is replaced when the
next job comes.

Executors call `run_job`, here or on another machine; `run_jobs` runs a list on this machine.
"""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from dynbench.benchmarks.processes import child, hosts
from dynbench.benchmarks.processes.child import Child
from dynbench.benchmarks.processes.jobs import Answer, Job, dumps, here, loads, one_line, size_text
from dynbench.benchmarks.processes.outcomes import Missing, Outcome

__all__ = ["Answer", "Job", "Worker", "Workers", "ask_all", "one_line", "run_job", "run_jobs"]

IDLE = 16  # processes kept for the next job; about 150 MB each once numba is imported
MAX_ANSWER = 1 << 28  # bytes
OWN_MEMORY = 1 << 30  # bytes; a process that has more than this, and half of the limit, does not get another job
START_TIMEOUT = 60.0  # seconds a process may take to start, not counted as the job's
READY = b"ready\n"


class Worker:
    """One process that runs jobs, started when first needed and again after it died."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = {**os.environ, **(environment or {})}
        self.owner: str | None = None  # of the last job
        self._child: Child | None = None
        self._answers = -1  # descriptor on which the process writes answers
        self._ready = False  # whether it has written READY
        self.stopped = False

    def run(self, job: Job) -> Answer:
        """Run a job until it ends, crashes or reaches its time limit."""
        start = time.monotonic()
        self.owner = job.owner
        process = self._started(job.memory)
        line = self._exchange(process, job)
        value = None
        if line.endswith(b"\n"):
            answer, output = loads(line.decode()), process.output()
            value, missing = answer["value"], Missing(Outcome(answer["outcome"]), answer["reason"])
            output = output if missing.reason else ""
        else:
            late = not process.ended()
            process.kill()
            output, status = process.output(), process.end()
            self.close()
            if self.stopped:
                missing = Missing(Outcome.INTERRUPTED, "not run: the run was stopped")
            elif late and len(line) > MAX_ANSWER:
                missing = Missing(Outcome.FAILED, f"returned more than {size_text(MAX_ANSWER)}")
            else:
                missing = child.timed_out(job.timeout) if late else child.crashed(status, output, job.memory)
        return Answer(value, missing.reason, output, here(), time.monotonic() - start, missing.outcome)

    def _exchange(self, process: Child, job: Job) -> bytes:
        """Send a job; return its answer, or the part of it that came before the process or its time ended."""
        sent = {"function": job.function, "arguments": dict(job.arguments), "memory": job.memory}
        assert process.process.stdin is not None
        try:
            process.process.stdin.write(dumps(sent).encode() + b"\n")
            process.process.stdin.flush()
        except BrokenPipeError:
            return b""
        found = bytearray()
        deadline = time.monotonic() + job.timeout + (0.0 if self._ready else START_TIMEOUT)
        while (left := deadline - time.monotonic()) > 0.0 and len(found) <= MAX_ANSWER and not self.stopped:
            if process.wait([self._answers], min(left, 0.1)):
                piece = os.read(self._answers, 1 << 16)
                found += piece
                if not self._ready and found.startswith(READY):
                    self._ready = True
                    deadline = time.monotonic() + job.timeout
                    del found[: len(READY)]
                if found.endswith(b"\n"):
                    break
                if not piece:  # closed: it is about to end; wait a little for its exit status
                    if process.ended():
                        break
                    deadline = min(deadline, time.monotonic() + 10.0)
                    time.sleep(0.01)
            if process.ended() and not process.wait([self._answers], 0.0):
                break
        return bytes(found)

    def kill(self) -> None:
        """End the running job, if any, from another thread; its outcome is INTERRUPTED."""
        self.stopped = True
        if self._child is not None:
            self._child.kill()

    def close(self) -> None:
        """Kill the process and its descendants."""
        process, self._child = self._child, None
        if process is not None:
            process.end()
            os.close(self._answers)

    def _started(self, memory: int) -> Child:
        """The process; a new one if compiled code of earlier jobs takes up much of the memory that a job may use."""
        if self._child is not None:
            crowded = memory > 0 and self._child.size() > max(memory / 2, OWN_MEMORY)
            if crowded or self._child.ended():
                self.close()
        if self._child is None:
            self._ready = False
            self._answers, theirs = os.pipe()
            command = [sys.executable, "-P", "-m", __name__, str(theirs)]
            self._child = Child(command, self.environment, [theirs], subprocess.PIPE)
            os.close(theirs)
        return self._child


class Workers:
    """Processes that wait for the next job of their owner; of too many, those idle longest are ended."""

    def __init__(self, environment: Mapping[str, str] | None = None, idle: int = IDLE) -> None:
        self.environment = environment
        self.most = idle
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._lock = threading.Lock()

    def run(self, job: Job) -> Answer:
        """Run a job in a process that served its owner before, or in a new one."""
        with self._lock:
            fitting = [worker for worker in self._idle if worker.owner == job.owner and not job.fresh]
            worker = fitting[-1] if fitting else Worker(self.environment)
            if fitting:
                self._idle.remove(worker)
            self._busy.append(worker)
        try:
            return worker.run(job)
        finally:
            with self._lock:
                self._busy.remove(worker)
                self._idle.append(worker)
                spare = [worker] if worker.stopped else self._idle[: -self.most]
                self._idle = [kept for kept in self._idle if kept not in spare]
            for old in spare:
                old.close()

    def stop(self) -> None:
        """End running jobs, whose outcome is then INTERRUPTED, and idle processes."""
        with self._lock:
            for worker in self._busy:
                worker.kill()
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()


@functools.cache
def of_this_process() -> Workers:
    """The workers that `run_job` uses, ended with this process."""
    workers = Workers()
    atexit.register(workers.stop)
    return workers


def run_job(job: Job) -> Answer:
    """Run one job in an isolated process of this machine."""
    with hosts.machine_lock(alone=True) if job.alone else nullcontext():
        return of_this_process().run(job)


def run_jobs(
    jobs: Sequence[Job],
    processes: int | None = None,
    done: Callable[[Job, Answer], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[Answer]:
    """Run ``jobs`` in so many processes (default: one per processor, at most 8); answers in their order.

    ``done`` is called after each job, one call at a time. The processes are this call's own.
    """
    from dynbench.benchmarks.processes.executors import LocalExecutor, in_order

    workers = Workers(environment)
    with LocalExecutor(processes, workers) as executor:
        return in_order(executor, jobs, done, workers.run)


def ask_all(stage: str, jobs: Sequence[Job]) -> list[Answer]:
    """Run the jobs of a stage with progress, without a journal."""
    from dynbench.benchmarks.processes.progress import Progress

    with Progress(stage, len(jobs)) as progress:

        def done(job: Job, answer: Answer) -> None:
            progress.step(str(job.arguments.get("name", "")), answer.outcome)

        return run_jobs(jobs, done=done)


def main() -> None:
    """Run the jobs on standard input, a line each, until it is closed; write answers to the descriptor given."""
    memory = child.join()
    channel, me = int(sys.argv[1]), os.getpid()
    os.set_inheritable(channel, False)
    with os.fdopen(os.dup(0), "rb") as jobs, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # a job that reads standard input must not get the next job
        os.write(channel, READY)
        for line in jobs:
            job = loads(line.decode())
            if job["memory"] != memory:
                memory = job["memory"]
                child.limit_memory(memory)
            text = _answered(job["function"], job["arguments"], memory).encode() + b"\n"
            if os.getpid() != me:  # the child of a job that forked and returned in both processes
                os._exit(0)
            _flush()
            while text:
                text = text[os.write(channel, text) :]


def _answered(function: str, arguments: Mapping[str, Any], memory: int) -> str:
    module, _, name = function.partition(":")
    value, ended = None, Missing(Outcome.NUMBER, "")
    try:
        value = getattr(import_module(module), name)(**arguments)
    except MemoryError:
        ended = child.out_of_memory(memory)
    except BaseException as error:  # SystemExit too: it concerns this job only
        ended = Missing(Outcome.FAILED, f"raised {one_line(error)}")
    try:
        return dumps({"value": value, **ended._asdict()})
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"returned what is not plain data: {one_line(error)}"
        return dumps({"value": None, **Missing(Outcome.FAILED, reason)._asdict()})


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # a job may have closed or replaced it
            continue


if __name__ == "__main__":
    main()
