"""Ctrl-C and SIGTERM: what is running ends, what is finished is kept, and the exit code says so.

Both raise KeyboardInterrupt, but not in the middle of an import. That would leave half of a module behind for the
tables and the page that are still written, and libraries turn it into other errors: numpy into an ImportError,
fontTools into an AssertionError. The interrupt waits for the end of the import. Nor is it lost where Python drops
exceptions, in callbacks of weak references and `__del__`: then it is raised again, a moment later.
"""

from __future__ import annotations

import functools
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LONGEST_IMPORT = 5.0  # seconds that an interrupt waits at most
AGAIN = 0.02  # seconds until it looks again


class _Interrupt:
    """A handler of signals that raises KeyboardInterrupt, after the import that is under way."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._number = signal.SIGINT  # the signal that was last raised

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if _importing(frame) and now - (self._since or now) < LONGEST_IMPORT:
            self._since = self._since or now
            _send_later(number)
            return
        self._since, self._number = None, signal.Signals(number)
        raise KeyboardInterrupt

    def dropped(self, what: sys.UnraisableHookArgs) -> None:
        """Take the place of `sys.unraisablehook`: raise an interrupt that Python has dropped again."""
        if what.exc_type is KeyboardInterrupt:
            _send_later(self._number)
        else:
            sys.__unraisablehook__(what)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _send_later(number: int) -> None:
    later = threading.Timer(AGAIN, functools.partial(_send, number))
    later.daemon = True
    later.start()


def _send(number: int) -> None:
    """Send a signal to the main thread: by then it may wait for something, which only a signal of its own ends."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM raise KeyboardInterrupt after imports; does nothing outside the main thread.

    Ctrl-C keeps another handler than Python's own: a shell has its jobs in the background ignore it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Interrupt()
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, handler) for number in numbers}
    hook = sys.unraisablehook
    sys.unraisablehook = handler.dropped
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, other in before.items():
            if signal.getsignal(number) is handler:  # not ignored meanwhile, see `ignore`
                signal.signal(number, other)


def ignore() -> None:
    """Ignore SIGINT and SIGTERM from now on: the exit code is decided, and the process is about to end."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        # A KeyboardInterrupt that has left an `exec` of text, even one that was caught later, makes Python end itself
        # by SIGINT instead of with the exit code; the next text that it runs takes that back.
        eval("None")
