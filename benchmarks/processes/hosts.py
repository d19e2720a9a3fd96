"""A readers-writer lock with writer preference for one machine; what its processor and its packages are.

Jobs that are timed hold the machine exclusively (writers), jobs of campaigns and clusters share it (readers). There are
two lock files, in the temporary folder or in ``$DYNBENCH_LOCKS``: ``machine`` is held while a job runs, ``queue`` while
it waits for ``machine``. A writer holds the queue exclusively, so that no new reader can start before it and a stream
of readers cannot delay it forever. The locks are the system's (flock), which releases them when the process ends.
"""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dynbench.benchmarks.terminal import tell

FOLDER = "DYNBENCH_LOCKS"  # environment variable
QUEUE, MACHINE = "dynbench-queue.lock", "dynbench-machine.lock"
MESSAGE_AFTER = 5.0  # seconds of waiting


@contextmanager
def machine_lock(alone: bool) -> Iterator[None]:
    """Hold this machine, shared or alone, waiting as long as necessary; does nothing where there is no flock."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    machine, queue = _open(MACHINE), _open(QUEUE)
    message = threading.Timer(MESSAGE_AFTER, _print_waiting, (alone,))
    message.daemon = True
    message.start()
    try:
        try:
            fcntl.flock(queue, how)
            fcntl.flock(machine, how)
        finally:
            message.cancel()
            os.close(queue)
        yield
    finally:
        os.close(machine)


def _open(name: str) -> int:
    """A descriptor of a lock file, read-only: it may belong to another user, and reading is enough to lock it."""
    path = Path(os.environ.get(FOLDER) or tempfile.gettempdir()) / name
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        return os.open(path, flags | os.O_CREAT, 0o644)


def _print_waiting(alone: bool) -> None:
    what = "other runs on this machine, to time alone" if alone else "a run on this machine that is timing"
    tell(f"waiting for {what}")


@functools.cache  # asked for in the key of every group that is timed
def cpu_model() -> str:
    """Return the name of the processor's model and its numbers: machines in a cloud may hide all but "AMD EPYC".

    Multiply-add units of that name may have 256 or 512 bits, and batches take other times on each.
    """
    name = cpu_field("model name", "hardware") or _sysctl("machdep.cpu.brand_string")
    numbers = [f"{field} {value}" for field in ("family", "model") if (value := cpu_field(f"cpu {field}", field))]
    return (f"{name} ({', '.join(numbers)})" if name and numbers else name) or platform.processor() or "unknown"


def cpu_field(*names: str) -> str:
    """Return a field of /proc/cpuinfo, "" where there is none."""
    for line in read_text("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() in names:
            return value.strip()
    return ""


def read_text(path: str) -> str:
    """Return a file's text without surrounding white space, "" if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    if sys.platform != "darwin":
        return ""
    try:
        command = ["sysctl", "-n", name]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


@functools.cache
def package_version(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
