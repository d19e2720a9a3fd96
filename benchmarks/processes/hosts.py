"""One machine, several runs: what is timed has the machine to itself, campaigns and cluster jobs share it.

Two locks, as files that every process of the machine finds: in the temporary folder, or in ``$DYNBENCH_LOCKS``. Whoever
works holds the room, shared or, for timing, alone. One enters through the door, which is held for a moment only, except
by those who wait to be alone: while they do, nobody else comes in, so that a stream of ordinary jobs cannot keep them
waiting for ever. The locks are the system's (flock) and end with the process that holds them, however it ends.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "DYNBENCH_LOCKS"  # environment variable
DOOR, ROOM = "dynbench-door.lock", "dynbench-room.lock"
SILENT = 5.0  # seconds of waiting before a word is said


@contextmanager
def place(alone: bool) -> Iterator[None]:
    """Hold this machine, shared or alone, waiting for it as long as it takes; where there is no flock, just go on."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    room, door = _opened(ROOM), _opened(DOOR)
    reminder = threading.Timer(SILENT, _say, (alone,))
    reminder.daemon = True
    reminder.start()
    try:
        try:
            fcntl.flock(door, how)
            fcntl.flock(room, how)
        finally:
            reminder.cancel()
            os.close(door)
        yield
    finally:
        os.close(room)


def _opened(name: str) -> int:
    """A descriptor of a lock file, which may be somebody else's: reading is enough to lock it."""
    path = Path(os.environ.get(FOLDER) or tempfile.gettempdir()) / name
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        return os.open(path, flags | os.O_CREAT, 0o644)


def _say(alone: bool) -> None:
    what = "other runs on this machine, to time alone" if alone else "a run on this machine that is timing"
    print(f"waiting for {what}", file=sys.stderr, flush=True)


def cpu_model() -> str:
    """Return what the processor calls itself."""
    listed = cpu_field("model name", "hardware") or _sysctl("machdep.cpu.brand_string")
    return listed or platform.processor() or "unknown"


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
