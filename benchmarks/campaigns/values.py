"""Values of a campaign file: small parsers, each of which says what it wants.

A parser takes what TOML gave and returns what is meant, or raises `Wanted` with what should have been there, or a
`DynbenchError` that says more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from dynbench.robots.errors import DynbenchError, near

Parser = Callable[[Any], Any]


class Wanted(Exception):
    """What was wanted in place of a value; `File` adds the file, the key and what came."""


def shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Wanted("a text")
    return value


def one_of(known: Sequence[str], what: str) -> Callable[[Any], str]:
    """Parse one of some names, of which - and _ are the same; ``what`` they are has an article."""

    def parse(value: Any) -> str:
        for name in (value, str(value).replace("-", "_"), str(value).replace("_", "-")):
            if isinstance(value, str) and name in known:
                return str(name)
        raise Wanted(f"{what} ({near(str(value), known)})")

    return parse


def whole(least: int, most: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Wanted(f"a whole number from {least} to {most}")
        return value

    return parse


def number(least: float, most: float) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise Wanted(f"a number from {least:g} to {most:g}")
        return float(value)

    return parse


def some(parse: Parser, what: str) -> Callable[[Any], tuple[Any, ...]]:
    """Parse a list that is not empty and has nothing twice, or one value alone."""

    def parse_all(value: Any) -> tuple[Any, ...]:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise Wanted(f"at least one {what}")
        found = tuple(map(parse, values))
        once(found)
        return found

    return parse_all


def once(values: Sequence[Hashable]) -> None:
    """Refuse what is there twice."""
    if len(set(values)) < len(values):
        value, count = Counter(values).most_common(1)[0]
        raise DynbenchError(f"{shown(value)} is there {'twice' if count == 2 else f'{count} times'}")
