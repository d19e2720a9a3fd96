"""Text that came from outside: names in files, messages of plugins and engines, cells of results folders.

A terminal obeys control characters, a browser turns text around at bidirectional marks, and a message of a megabyte
hides all others. `visible` writes such characters out, as Python does in ``repr``; `short` leaves out the middle of
what is too long. Errors (`dynbench.robots.errors`), everything printed (`dynbench.benchmarks.terminal`) and everything
read from a results folder go through them. Names of robots, bodies and joints are refused instead (`name_error`): they
must be the same in every table.
"""

from __future__ import annotations

import unicodedata

LONGEST = 500  # characters of a message
LONGEST_NAME = 200  # of a robot, body, joint or frame; 300 fit into a table
_MIDDLE = " ... "
# directional marks, embeddings, overrides, isolates: they turn text around
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# control characters (C0, DEL, C1), surrogates, line and paragraph separators
_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def is_unsafe(character: str) -> bool:
    """Whether a terminal or a browser would obey a character instead of showing it."""
    return character in _DIRECTIONS or unicodedata.category(character) in _CATEGORIES


def visible(text: str, keep: str = "") -> str:
    """Return a text with unsafe characters written out, such as ``\\x1b``; those in ``keep`` stay as they are."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep or not is_unsafe(c) else _written_out(c) for c in text)


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text of at most ``longest`` characters: the beginning and the end of one that is longer."""
    if len(text) <= longest:
        return text
    head = (longest - len(_MIDDLE)) * 3 // 5
    return text[:head] + _MIDDLE + text[head + len(_MIDDLE) - longest :]


def clipped(text: str, longest: int) -> str:
    """Return the beginning of a text, at most ``longest`` characters, with three dots in place of the rest."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def message(text: str, longest: int = LONGEST) -> str:
    """Return a text as a message: nothing in it is obeyed, lines stay, and it is short."""
    return short(visible(short(text, 4 * longest), keep="\n"), longest)


def name_error(what: str, name: object) -> str | None:
    """Return why a name is refused, in a sentence that begins with ``what``; None if it is accepted."""
    if not isinstance(name, str) or not name:
        return f"{what} is {name!r:.80}, expected a non-empty string"
    if len(name) > LONGEST_NAME:
        return f"{what} has {len(name)} characters, expected at most {LONGEST_NAME}: '{visible(name[:40])}...'"
    bad = next((c for c in name if is_unsafe(c)), None)
    if bad is not None:
        return f"{what} is '{visible(name)}', expected no control characters or direction marks, got {_code(bad)}"
    return None


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"
