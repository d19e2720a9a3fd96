"""Processes that run other people's code: ended whole, limited, heard but not believed.

A `Child` is the leader of a session of its own, so that what it forks can be ended with it. What it and its children
print goes into a pipe of which the end alone is kept: a flood costs neither memory nor disk. It holds one end of a
pipe, the lifeline; when its parent is gone, however that came about, the system ends the child's whole group.

The child calls `join` first thing, which ties the lifeline and sets the limit of memory.
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

from dynbench.benchmarks.processes.jobs import MEMORY

TOLD = "DYNBENCH_CHILD"  # environment variable by which a child learns of its lifeline and its limit
KEPT = 4096  # bytes of what was printed
LINES = 20
SET_SIGNAL = 10  # F_SETSIG of Linux, which Python does not name


class Child:
    """A process in a session of its own.

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
        told = {**(os.environ if environment is None else environment), TOLD: f"{lifeline} {memory}"}
        self.process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=told,
            pass_fds=(lifeline, *channels),
            start_new_session=True,
        )
        os.close(lifeline)
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)
        self._tail = b""
        self._lock = threading.Lock()

    def hear(self, channels: Sequence[int] = (), seconds: float = 0.1) -> list[int]:
        """Wait so long for output or something on ``channels``; keep the end of the one, return which of the others.

        Output is taken a piece at a time, so that whoever floods cannot keep the caller from the clock.
        """
        ready, _, _ = select.select([self.output, *channels], [], [], seconds)
        if self.output in ready and not self._take() and len(ready) == 1:
            time.sleep(min(seconds, 0.02))  # closed: always ready from now on
        return [channel for channel in ready if channel != self.output]

    def _take(self) -> bool:
        try:
            piece = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        self._tail = (self._tail + piece)[-KEPT:]
        return bool(piece)

    def said(self) -> str:
        """The last lines that were printed since it was last asked for."""
        until = time.monotonic() + 1.0
        while time.monotonic() < until and select.select([self.output], [], [], 0.0)[0] and self._take():
            pass
        text, self._tail = self._tail.decode("utf-8", "replace"), b""
        return "\n".join(text.strip().splitlines()[-LINES:])

    def ended(self) -> bool:
        """Whether the process is over; its children may not be."""
        if self.process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        # left to be reaped by `end`: until then nobody else can have its number, which is that of its group
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self) -> None:
        """End the process and all it has started, from any thread; `end` must still be called."""
        with self._lock, contextlib.suppress(ProcessLookupError, PermissionError):
            if self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> int:
        """End the process and all it has started, if they are still there; return its exit status."""
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


def how(status: int) -> str:
    """What an exit status says, as the beginning of a reason."""
    if status >= 0:
        return f"ended by itself (exit status {status})"
    try:
        name = f" ({signal.Signals(-status).name})"
    except ValueError:
        name = ""
    return f"killed by signal {-status}{name}"


def join() -> int:
    """In a child: tie the lifeline and limit memory; return that limit in bytes, 0 in a process that is no `Child`."""
    told = os.environ.pop(TOLD, "")
    if not told:
        return 0
    lifeline, memory = map(int, told.split())
    _tie(lifeline)
    limit_memory(memory)
    return memory


def _tie(lifeline: int) -> None:
    """Be ended, with the whole group, when the other end is closed."""
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":  # the system does it, whatever our own code is busy with
        import fcntl

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, SET_SIGNAL, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        if not select.select([lifeline], [], [], 0.0)[0]:  # else the parent went while we started
            return

    def watch() -> None:
        os.read(lifeline, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def limit_memory(size: int) -> None:
    """Let this process have so many bytes of data, where the system can limit them; 0 is no limit."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = size if size else resource.RLIM_INFINITY
    if hard != resource.RLIM_INFINITY:
        wanted = hard if wanted == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
