"""The exceptions that dynbench raises.

    DynbenchError
    ├── RobotError           (ValueError)      a robot description is wrong: names robot, body and value
    ├── StateError           (ValueError)      q, v, a, tau or wrench is wrong: names argument, expected, got
    ├── UnknownNameError     (KeyError)        no robot, method, joint ... of that name: suggests similar ones
    └── MethodError                            a formulation or its plugin is broken or misused
        ├── UnsupportedError (ValueError)      `prepare` on a robot for which `supports` gives a reason
        └── NotComputedError (AttributeError)  access to a quantity the method does not compute

A message states what was expected, what was given and where. It has at most `dynbench.robots.text.LONGEST` characters,
and characters that a terminal would obey are written out. The builtin in brackets is a second parent
class, so that ``except ValueError`` and ``hasattr`` work as usual in Python. `RobotWarning` (a UserWarning)
is issued when a robot is accepted although its data is not physical.
"""

from collections.abc import Iterable
from difflib import get_close_matches

from dynbench.robots.text import LONGEST_NAME, message, short

LONGEST_HINT = 240  # characters of `near`, which leave room for the rest of a message


class DynbenchError(Exception):
    """Parent of all errors raised by dynbench."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(message(one) if isinstance(one, str) else one for one in arguments))


class RobotError(DynbenchError, ValueError):
    """A robot description is inconsistent or not physical."""


class RobotWarning(UserWarning):
    """A robot was accepted although one of its bodies is not physical."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(message(one) if isinstance(one, str) else one for one in arguments))


class StateError(DynbenchError, ValueError):
    """A state, force or wrench has the wrong shape, type or value."""


class UnknownNameError(DynbenchError, KeyError):
    """No robot, method, joint, ... has the given name."""

    def __str__(self) -> str:
        # KeyError prints the repr of its argument; print the message itself.
        return str(self.args[0]) if self.args else ""


class MethodError(DynbenchError):
    """A formulation or its plugin is broken or misused."""


class UnsupportedError(MethodError, ValueError):
    """A method was prepared for a robot that it does not support."""


class NotComputedError(MethodError, AttributeError):
    """The method does not compute the requested quantity."""


def near(name: str, names: Iterable[str], shown: int = 12) -> str:
    """Return the hint that ends an "unknown name" message.

    Close matches give "did you mean 'panda'?"; without any, the names that exist are listed.
    """
    known = [str(other) for other in names]
    folded = {other.lower(): other for other in known}
    typed = str(name)[:LONGEST_NAME].lower()
    close = [folded[match] for match in get_close_matches(typed, list(folded), n=3, cutoff=0.6)]
    if close:
        return short("did you mean " + " or ".join(map(repr, close)) + "?", LONGEST_HINT)
    if not known:
        return "there are none"
    more = f" and {len(known) - shown} more" if len(known) > shown else ""
    return short("known: " + ", ".join(known[:shown]) + more, LONGEST_HINT)
