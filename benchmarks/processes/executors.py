"""Where jobs run: on an executor of `concurrent.futures`, local or on a cluster.

`LocalExecutor` runs jobs in isolated processes of this machine. Jobs are submitted as ``submit(run_job, job)``: an
executor for other machines (such as that of a Dask client) calls `workers.run_job` there, with the same isolation.

`stream` submits jobs and yields answers as they come, with a bounded number of jobs in between, so that memory does not
grow with the number of jobs; `in_order` is for lists. Both end running jobs when the caller is interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing
from types import TracebackType

from dynbench.benchmarks.processes.jobs import Answer, Job, one_line
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.processes.workers import Workers, of_this_process, run_job

AHEAD = 64  # jobs submitted before the first answer is awaited
MAX_PROCESSES = 8  # by default


class LocalExecutor(ThreadPoolExecutor):
    """Isolated processes of this machine, with one thread waiting for each.

    Parameters
    ----------
    processes : int, optional
        How many at a time; default: one per processor, at most 8.
    workers : Workers, optional
        Ended together with this executor; default: those `run_job` uses.
    """

    def __init__(self, processes: int | None = None, workers: Workers | None = None) -> None:
        self.processes = processes or min(os.cpu_count() or 1, MAX_PROCESSES)
        super().__init__(self.processes, thread_name_prefix="dynbench")
        self.workers = workers

    def stop(self) -> None:
        """Start no more jobs and end the running ones."""
        self.shutdown(wait=False, cancel_futures=True)
        (self.workers or of_this_process()).stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None:
            self.stop()
        done = super().__exit__(kind, error, trace)
        (self.workers or of_this_process()).stop()
        return done


def executor(scheduler: str | None = None, processes: int | None = None) -> Executor:
    """Return the executor for a run: local processes, or those of the scheduler at an address."""
    if scheduler is None:
        return LocalExecutor(processes)
    from dynbench.benchmarks.processes.dask_cluster import connect  # needs an optional package

    return connect(scheduler, processes)


def stream(
    executor: Executor, jobs: Iterable[Job], run: Callable[[Job], Answer] = run_job, ahead: int = AHEAD
) -> Generator[tuple[int, Job, Answer]]:
    """Yield number, job and answer of each job as they finish; at most ``ahead`` jobs are waiting at any time.

    A job that the executor lost gets an answer with the outcome INTERRUPTED. Close the iterator
    (``contextlib.closing``) to end running jobs when leaving early.
    """
    waiting: dict[Future[Answer], tuple[int, Job]] = {}
    coming = enumerate(jobs)
    more = True
    try:
        while True:
            while more and len(waiting) < ahead:
                found = next(coming, None)
                if found is None:
                    more = False
                else:
                    waiting[executor.submit(run, found[1])] = found
            if not waiting:
                return
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                number, job = waiting.pop(future)
                yield number, job, _answer(future)
    finally:
        if waiting:
            for future in waiting:
                future.cancel()
            if hasattr(executor, "stop"):
                executor.stop()


def _answer(future: Future[Answer]) -> Answer:
    try:
        return future.result()
    except Exception as error:
        return Answer(reason=f"not run: {one_line(error)}", outcome=Outcome.INTERRUPTED)


def in_order(
    executor: Executor,
    jobs: Sequence[Job],
    done: Callable[[Job, Answer], None] | None = None,
    run: Callable[[Job], Answer] = run_job,
) -> list[Answer]:
    """Run jobs and return their answers in the order of the jobs; ``done`` is called as each finishes.

    Jobs of one owner are submitted together, so that few processes have to be started.
    """
    order = sorted(range(len(jobs)), key=lambda number: jobs[number].owner)
    answers: dict[int, Answer] = {}
    with closing(stream(executor, (jobs[number] for number in order), run)) as found:
        for place, job, answer in found:
            answers[order[place]] = answer
            if done is not None:
                done(job, answer)
    return [answers[number] for number in range(len(jobs))]
