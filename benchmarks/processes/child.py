"""Untrusted child processes: killed with all their descendants, limited in memory, their output bounded.

A `Child` leads its own session, so that it can be killed together with what it forks. Its output, and that of its
descendants, goes into a pipe of which only the end is kept, so that unlimited output costs neither memory nor disk. It
also inherits one end of a pipe, the lifeline: when the parent exits for whatever reason, the system kills the child's
whole process group.

A child calls `join` first, which connects the lifeline and sets the memory limit.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence

from dynbench.benchmarks.processes.jobs import MEMORY, size_text
from dynbench.benchmarks.processes.outcomes import Missing, Outcome

SETTINGS = "DYNBENCH_CHILD"  # environment variable: descriptor of the lifeline, and the memory limit
KEPT_BYTES, KEPT_LINES = 4096, 20  # of the output
F_SETSIG = 10  # of Linux, missing in Python's fcntl


class Child:
    """A process that leads its own session.

    Parameters
    ----------
    command : sequence of str
    channels : sequence of int
        File descriptors that it inherits.
    stdin : int
        As `subprocess.Popen` takes it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        channels: Sequence[int] = (),
        stdin: int = subprocess.DEVNULL,
        memory: int = MEMORY,
    ) -> None:
        lifeline, self._life = os.pipe()
        inherited = os.environ if environment is None else environment
        self.process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**inherited, SETTINGS: f"{lifeline} {memory}"},
            pass_fds=(lifeline, *channels),
            start_new_session=True,
        )
        os.close(lifeline)
        assert self.process.stdout is not None
        self._stdout = self.process.stdout.fileno()
        os.set_blocking(self._stdout, False)
        self._tail = b""
        self._lock = threading.Lock()

    def wait(self, channels: Sequence[int] = (), seconds: float = 0.1) -> list[int]:
        """Wait at most so long for output or for data on ``channels``; return the channels that have data.

        Reads at most one piece of output per call, so that a flood of output cannot keep the caller from its deadline.
        """
        ready, _, _ = select.select([self._stdout, *channels], [], [], seconds)
        if self._stdout in ready and not self._read_output() and len(ready) == 1:
            time.sleep(min(seconds, 0.02))  # closed: select returns at once from now on
        return [channel for channel in ready if channel != self._stdout]

    def _read_output(self) -> bool:
        try:
            piece = os.read(self._stdout, 1 << 16)
        except BlockingIOError:
            return True
        self._tail = (self._tail + piece)[-KEPT_BYTES:]
        return bool(piece)

    def output(self) -> str:
        """The last lines that were printed since the previous call."""
        until = time.monotonic() + 1.0
        while time.monotonic() < until and select.select([self._stdout], [], [], 0.0)[0] and self._read_output():
            pass
        text, self._tail = self._tail.decode("utf-8", "replace"), b""
        return "\n".join(text.strip().splitlines()[-KEPT_LINES:])

    def ended(self) -> bool:
        """Whether the process has ended; its descendants may still run."""
        if self.process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        # not reaped before `end`: until then its number, which is also that of its group, cannot be reused
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def size(self) -> int:
        """The address space of the process in bytes, 0 where the system does not tell (Linux does)."""
        try:
            with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            return 0

    def kill(self) -> None:
        """Kill the process and its descendants, from any thread; `end` must still be called."""
        with self._lock, contextlib.suppress(ProcessLookupError, PermissionError):
            if self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill the process and its descendants if they still run; return its exit status."""
        self.kill()
        with self._lock:
            status = self.process.wait()
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
        return status


def crashed(status: int, output: str, memory: int) -> Missing:
    """How a process ended that returned no result, from its exit status and the end of its output."""
    try:
        reason = f"killed by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        reason = f"killed by signal {-status}" if status < 0 else f"exited (exit status {status})"
    if "bad_alloc" in output:  # how C++ engines report it
        return out_of_memory(memory, f", {reason}")
    return Missing(Outcome.CRASHED, reason)


def out_of_memory(memory: int, more: str = "") -> Missing:
    """The outcome of a job that needed more than its limit."""
    return Missing(Outcome.OUT_OF_MEMORY, f"ran out of memory (limit {size_text(memory)}){more}")


def timed_out(seconds: float) -> Missing:
    """The outcome of a job that took longer than its limit."""
    return Missing(Outcome.TIMED_OUT, f"timed out after {seconds:g} s")


def join() -> int:
    """In a child: connect the lifeline and limit memory; return the limit in bytes, 0 if this is no `Child`."""
    settings = os.environ.pop(SETTINGS, "")
    if not settings:
        return 0
    lifeline, memory = map(int, settings.split())
    _watch(lifeline)
    limit_memory(memory)
    return memory


def _watch(lifeline: int) -> None:
    """Have the whole group killed when the other end is closed."""
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":  # the kernel sends the signal, even while our code holds the interpreter's lock
        import fcntl

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        if not select.select([lifeline], [], [], 0.0)[0]:  # else the parent ended while this process started
            return

    def wait() -> None:
        os.read(lifeline, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def limit_memory(size: int) -> None:
    """Limit the data of this process to so many bytes, where the system supports it; 0 is no limit."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = size if size else resource.RLIM_INFINITY
    if hard != resource.RLIM_INFINITY:
        soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
