"""Jobs in other processes: what crashes, hangs or prints there costs its own answer and nothing else.

A job names a function ("module:function") and its arguments; both these and what it returns must be plain data (JSON).
`run_jobs` hands jobs to a few long-lived processes, so that numba is imported once in each and two kernels compile at
the same time. Every job gets an `Answer`: a value, or the reason why there is none.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Job:
    """A function by name, its arguments, and how many seconds it may take."""

    function: str  # "module:function"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 120.0


@dataclass(frozen=True)
class Answer:
    """What a job returned; ``reason`` is "" exactly when there is a value."""

    value: Any = None
    reason: str = ""


class Worker:
    """One process that runs jobs, started when first needed and again after it died."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = {**os.environ, **(environment or {})}
        self.process: subprocess.Popen[str] | None = None

    def run(self, job: Job) -> Answer:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(job.timeout, expire)
        timer.start()
        try:
            process.stdin.write(json.dumps({"function": job.function, "arguments": dict(job.arguments)}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return Answer(**json.loads(line))
        status = process.wait()
        self.close()
        if expired.is_set():
            return Answer(reason=f"timed out after {job.timeout:g} s")
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return Answer(reason=f"the process died ({how})")

    def kill(self) -> None:
        """End the job that is running, if any."""
        if self.process is not None:
            self.process.kill()

    def close(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _started(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-P", "-m", "dynbench.benchmarks.runs.workers"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment
            )
        return self.process


def run_jobs(
    jobs: Sequence[Job],
    processes: int | None = None,
    done: Callable[[Job, Answer], None] | None = None,
    environment: Mapping[str, str] | None = None,
    pool: list[Worker] | None = None,
) -> list[Answer]:
    """Run ``jobs``, in order, in so many processes (default: one per processor, at most 8); answers in that order.

    ``done`` is called after each job, one call at a time. Workers are taken from ``pool``, and left alive there for the
    next time; without one they are closed.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(jobs)):
        waiting.put(number)
    answers = [Answer(reason="was not run")] * len(jobs)
    lock = threading.Lock()

    def work(worker: Worker) -> None:
        try:
            while True:
                try:
                    number = waiting.get_nowait()
                except queue.Empty:
                    return
                answers[number] = worker.run(jobs[number])
                if done is not None:
                    with lock:
                        done(jobs[number], answers[number])
        finally:
            if pool is None:
                worker.close()

    count = min(processes or min(os.cpu_count() or 1, 8), len(jobs))
    alive = pool if pool is not None else []
    alive.extend(Worker(environment) for _ in range(count - len(alive)))
    workers = alive[:count]
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C: nothing more is begun, and what runs is ended
        while not waiting.empty():
            waiting.get()
        for worker in workers:
            worker.kill()
        raise
    return answers


def main() -> None:
    """Answer the jobs on standard input, a line each, until it is closed."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what engines print must not end up among the answers
    for line in sys.stdin:
        job = json.loads(line)
        module, _, name = job["function"].partition(":")
        try:
            answer = {"value": getattr(import_module(module), name)(**job["arguments"]), "reason": ""}
            text = json.dumps(answer)
        except Exception as error:
            text = json.dumps({"value": None, "reason": one_line(error)})
        channel.write(text + "\n")
        channel.flush()


def one_line(error: BaseException, longest: int = 300) -> str:
    """An exception as one line of text."""
    text = " ".join(str(error).split())
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= longest else text[: longest - 3] + "..."


if __name__ == "__main__":
    main()
