"""Jobs on the machines of a Dask cluster: ``--scheduler ADDRESS``, with the extra ``cluster``.

`connect` returns an executor. Dask chooses the machine of a job and sends it again when a worker is lost; there it runs
in an isolated process, as on this machine (`workers.run_job`), so that a crash does not end the cluster's worker. Robot
files are sent with the job. Every answer names its machine. Timed jobs stay on the machine that started the run, where
their times are comparable, and run alone on it; cluster jobs on that machine wait for them (`hosts`).

A cluster must have the same versions and sources of dynbench and its dependencies (`fingerprint`), and the same sources
of the job's method. A worker that differs is rejected before a job is sent, and one that joins later rejects its jobs.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from dynbench.benchmarks.processes import hosts, keys, workers
from dynbench.benchmarks.processes.executors import LocalExecutor
from dynbench.benchmarks.processes.jobs import Answer, Job, here, one_line
from dynbench.robots.errors import DynbenchError

EXTRA = "cluster"
CONNECT_TIMEOUT = 5.0  # seconds to wait for a scheduler, and again for its first worker
FILES = ("robot", "robots")  # arguments that may name files


class DifferentWorker(DynbenchError):
    """A worker of the cluster has different versions or sources than the run that sent it a job."""


@dataclass(frozen=True)
class Parcel:
    """A job with what it needs on another machine."""

    job: Job
    ours: Mapping[str, str]  # fingerprint of the run
    method: str = ""  # digest of the job's method
    files: Mapping[str, bytes] = field(default_factory=dict)  # by their names in the job


class DaskExecutor(Executor):
    """The workers of a Dask cluster, as an executor of `concurrent.futures`.

    Parameters
    ----------
    client : distributed.Client
        Closed with this executor.
    processes : int, optional
        Of this machine, for jobs that are timed.
    """

    def __init__(self, client: Any, address: str, processes: int | None = None) -> None:
        self.client = client
        self.local = LocalExecutor(processes)
        self.address = address
        self._inner = client.get_executor(pure=False)
        self._ours = fingerprint()

    @property
    def slots(self) -> int:
        """How many jobs the cluster can run at a time."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a job: ``submit(run_job, job)``."""
        (job,) = args
        if job.alone or keys.timed(job):
            return self.local.submit(fn, job)
        if self.client.status in ("closing", "closed"):
            raise DynbenchError(f"--scheduler {self.address}: the connection is lost; finished cells are kept")
        method = job.arguments.get("method")
        known = keys.method_digest(method) if isinstance(method, str) else ""
        found: Future[Any] = self._inner.submit(run_there, Parcel(job, self._ours, known, _files(job)))
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect from the cluster, after all jobs or at once."""
        self.local.shutdown(wait=wait, cancel_futures=cancel_futures)
        self._inner.shutdown(wait=wait and not cancel_futures)
        self.client.close()

    def stop(self) -> None:
        """Start no more jobs and end those on this machine; answers of jobs on the cluster are dropped."""
        self.local.stop()
        self._inner.shutdown(wait=False)


def connect(address: str, processes: int | None = None, patience: float = CONNECT_TIMEOUT) -> DaskExecutor:
    """Return an executor for the cluster whose scheduler is at an address, such as ``tcp://10.0.0.5:8786``.

    Raises
    ------
    DynbenchError
        If the extra is not installed, no scheduler answers, there are no workers, or they have different sources.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise DynbenchError(
            f"--scheduler {address}: needs the package 'distributed', which is not installed: "
            f"`pip install 'dynbench[{EXTRA}]'`"
        ) from error
    try:
        who = asyncio.run(_identity(distributed, address, patience))
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # TimeoutError is an OSError
        raise DynbenchError(
            f"--scheduler {address}: no Dask scheduler answered there within {patience:g} s ({one_line(error, 160)}); "
            "expected an address such as tcp://10.0.0.5:8786"
        ) from error
    if who.get("type") != "Scheduler":
        raise DynbenchError(f"--scheduler {address}: expected a Dask scheduler, got a {who.get('type')}")
    client = distributed.Client(address, timeout=patience, set_as_default=False)
    try:
        _require_same(client, address, patience)
    except BaseException:
        client.close()
        raise
    return DaskExecutor(client, address, processes)


async def _identity(distributed: Any, address: str, patience: float) -> dict[str, Any]:
    """What answers at an address. A `Client` without a scheduler would need ten seconds to give up."""
    arguments = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, timeout=patience, connection_args=arguments) as there:
        found: dict[str, Any] = await asyncio.wait_for(there.identity(), patience)
        return found


def _require_same(client: Any, address: str, patience: float) -> None:
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise DynbenchError(f"--scheduler {address}: the scheduler has no workers (after {patience:g} s)") from None
    ours = fingerprint()
    for worker, theirs in client.run(fingerprint, on_error="return").items():
        if isinstance(theirs, BaseException):
            difference = f"cannot import this dynbench: {one_line(theirs, 160)}"
        else:
            difference = _difference(ours, theirs)
        if difference:
            raise DifferentWorker(f"--scheduler {address}: the worker {worker} {difference}; install the same there")


@functools.cache
def fingerprint() -> dict[str, str]:
    """What results depend on besides job and method: versions, and the sources of dynbench itself."""
    return {"python": platform.python_version(), **keys.versions(), "sources of dynbench": keys.source_digest()}


def _difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """How another fingerprint differs, "" if it is equal."""
    wrong = [
        f"{name} {theirs.get(name, 'none')[:12]} (expected {value[:12]})"
        for name, value in ours.items()
        if theirs.get(name) != value
    ]
    return "has " + ", ".join(wrong) if wrong else ""


def run_there(parcel: Parcel) -> Answer:
    """On a worker: run the job of a parcel in an isolated process, if versions and sources are the same."""
    job = _unpacked(parcel)
    difference = _difference(parcel.ours, fingerprint())
    method = job.arguments.get("method")
    if not difference and parcel.method and _method_here(method, job.owner) != parcel.method:
        difference = f"has different sources of the method {method!r}"
    if difference:
        raise DifferentWorker(f"the worker on {here()} {difference}; install the same there")
    with hosts.machine_lock(alone=False):
        return workers.run_job(job)


@functools.cache
def _method_here(method: str, owner: str) -> str:
    """The digest of a method on this machine, computed in a process of its owner: importing it runs its code."""
    answer = workers.run_job(Job(f"{keys.__name__}:method_digest", {"name": method}, owner=owner))
    return answer.reason or str(answer.value)


def _files(job: Job) -> dict[str, bytes]:
    """The robot files a job names, with their content."""
    named = [job.arguments.get(name, ()) for name in FILES]
    paths = [name for names in named for name in ([names] if isinstance(names, str) else names)]
    return {path: Path(path).read_bytes() for path in paths if os.path.isabs(path) and os.path.isfile(path)}


def _unpacked(parcel: Parcel) -> Job:
    """The job of a parcel, with its files written to this machine."""
    if not parcel.files:
        return parcel.job
    places = {path: _kept(Path(path).name, content) for path, content in parcel.files.items()}

    def placed(value: Any) -> Any:
        return places.get(value, value) if isinstance(value, str) else [places.get(item, item) for item in value]

    arguments = {name: placed(x) if name in FILES else x for name, x in parcel.job.arguments.items()}
    return replace(parcel.job, arguments=arguments)


@functools.lru_cache(maxsize=256)
def _kept(name: str, content: bytes) -> str:
    """Write a file into a folder of this process and return its path."""
    folder = Path(_folder().name) / hashlib.sha256(content).hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    draft = folder / f".{name}-{os.urandom(4).hex()}"
    draft.write_bytes(content)
    os.replace(draft, folder / name)
    return str(folder / name)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="dynbench-")
