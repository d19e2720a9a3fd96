"""Functions for the jobs of test_workers.py, named for what they do; a module of its own since workers import it."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from pathlib import Path


def answer(number: float) -> dict[str, float]:
    print("this must not end up among the answers")
    return {"double": 2 * number, "limit": math.inf}


def crash() -> None:
    ctypes.string_at(0)


def hang() -> None:
    print("about to wait", flush=True)
    time.sleep(60)


def fail() -> None:
    print("first\nlast words")
    raise ValueError("no\nsuch\nthing")


def leave() -> None:
    sys.exit(3)


def vanish() -> None:
    os._exit(4)


def allocate() -> int:
    return len(bytearray(10 << 30))


def flood(lines: int) -> int:
    for _ in range(lines):
        print("x" * 99)
    print("the end of the flood")
    return lines


def fork_and_return() -> int:
    os.fork()
    return os.getpid()


def fork_and_hang(note: str) -> None:
    if os.fork() == 0:
        Path(note).write_text(str(os.getpid()))
    time.sleep(60)


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
