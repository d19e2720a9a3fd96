"""Functions for the jobs of test_workers.py, named for what they do; a module of its own since workers import it."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import sys
import time
from pathlib import Path


def noted(note: str, text: str = "") -> None:
    """Make a file, whole at once; after a moment, in which the parent hears that the job was begun."""
    if note != os.devnull:
        time.sleep(0.5)
        part = Path(f"{note}.{os.getpid()}")
        part.write_text(text)
        part.rename(note)


def answer(number: float) -> dict[str, float]:
    print("this must not end up among the answers")
    return {"double": 2 * number, "limit": math.inf}


def crash() -> None:
    ctypes.string_at(0)


def hang(note: str = os.devnull) -> None:
    print("about to wait", flush=True)
    noted(note)
    time.sleep(600)


def fail() -> None:
    print("first\nlast words")
    raise ValueError("no\nsuch\nthing")


def leave() -> None:
    sys.exit(3)


def vanish() -> None:
    os._exit(4)


def allocate() -> int:
    return len(bytearray(10 << 30))


held: list[mmap.mmap] = []


def hold(size: int) -> int:
    """Keep memory after the job, as compiled code does, without writing to it; return the number of the process."""
    held.append(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    return os.getpid()


def flood(lines: int, note: str = os.devnull) -> int:
    for number in range(lines):
        print("x" * 99)
        if number == 10_000:
            noted(note)
    print("the end of the flood")
    return lines


def fork_and_return() -> int:
    os.fork()
    return os.getpid()


def fork_and_hang(note: str) -> None:
    if os.fork() == 0:
        noted(note, str(os.getpid()))
    time.sleep(600)


def read_the_terminal() -> str:
    return sys.stdin.readline()


def not_plain() -> object:
    return {"value": object()}


def unprintable() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    raise Rude


def process() -> int:
    return os.getpid()
