"""Everything that the command prints: text from outside is made visible, and a stream that is closed or full is no
reason for a traceback.

`say` prints to stdout, `tell` prints progress and messages to stderr. Nothing else in this package prints, except
`processes.progress`. An error of stdout is raised as `NoOutput`, which `cli.main` turns into an exit code; what cannot
be written to stderr is dropped.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

LONGEST = 500  # characters of an error; `dynbench.robots.text` has the same, and cannot be imported without numpy
KEPT = "\n\t"
_PLAIN = dict.fromkeys(map(ord, KEPT))


class NoOutput(Exception):
    """stdout cannot be written."""

    def __init__(self, error: Exception) -> None:
        super().__init__(getattr(error, "strerror", None) or str(error) or "it is closed")
        # a reader that has seen enough, as in `dynbench list | head -1`, is no error
        self.expected = isinstance(error, BrokenPipeError) or getattr(error, "errno", None) == errno.EPIPE


def say(text: str = "", end: str = "\n", flush: bool = False) -> None:
    """Print to stdout.

    Raises
    ------
    NoOutput
        If stdout is full, or its reader has ended.
    """
    if sys.stdout is None:  # closed by who started this process, as by `>&-`: nothing is to be printed
        return
    try:
        _write(sys.stdout, _shown(text) + end)
        if flush:
            sys.stdout.flush()
    except (OSError, ValueError) as error:  # ValueError: closed by this process
        raise NoOutput(error) from error


def flush() -> None:
    """Write what is still in the buffer of stdout; raises `NoOutput`."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        raise NoOutput(error) from error


def tell(text: str) -> None:
    """Print lines to stderr, at once; if that cannot be written, it is dropped."""
    try:
        _write(sys.stderr, _shown(text) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        abandon(sys.stderr)


def complain(verb: str, text: str) -> None:
    """Print an error of a verb to stderr: one line of at most `LONGEST` characters."""
    head = f"dynbench {verb}: " if verb else "dynbench: "
    line = " ".join(_shown(text).split())
    if len(head) + len(line) > LONGEST:
        from dynbench.robots.text import short

        line = short(line, LONGEST - len(head))
    tell(head + line)


def abandon(stream: TextIO | None) -> None:
    """Give up a stream: what is left in its buffer goes nowhere, so that the interpreter does not fail at its end."""
    try:
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # it has no descriptor
        pass


def _shown(text: str) -> str:
    """Return a text with what a terminal would obey written out; imports nothing for what is plain, see `cli`."""
    if text.translate(_PLAIN).isprintable():
        return text
    from dynbench.robots.text import visible

    return visible(text, KEPT)


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:  # a terminal of another encoding
        stream.write(text.encode("ascii", "backslashreplace").decode("ascii"))
