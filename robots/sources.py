"""Sources of robots as text: a name or file, with options behind a question mark.

    panda    arm.urdf    arm.urdf?base=floating    panda.urdf?lock=panda_finger_joint1&lock=panda_finger_joint2

A robot travels between processes, and into files, as such a text. `Options.of` reads it, `Options.added_to` writes it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from dynbench.robots.errors import RobotError, near

BASES = ("floating", "fixed")
MIMICS = ("coupled", "independent", "refuse")
KEYS = ("base", "lock", "mimic")


@dataclass(frozen=True)
class Options:
    """How to read a robot.

    Parameters
    ----------
    base : "floating", "fixed" or None
        None: as the file or the zoo says.
    locked : tuple of str
        Joints held at zero; their links are merged with the parent.
    mimic : "coupled", "independent", "refuse" or None
        What is done with joints of URDF and MJCF files that follow others; see `dynbench.robots.from_urdf`. None: as
        usual.
    """

    base: str | None = None
    locked: tuple[str, ...] = ()
    mimic: str | None = None

    def __post_init__(self) -> None:
        for name, value, known in (("base", self.base, BASES), ("mimic", self.mimic, MIMICS)):
            if value is not None and value not in known:
                raise RobotError(f"{name} is {value!r}, expected {' or '.join(map(repr, known))}")
        if isinstance(self.locked, str):
            raise RobotError(f"locked is the string {self.locked!r}, expected a list of joint names")

    @classmethod
    def of(cls, source: str) -> tuple[str, Options]:
        """Return the name or file of a source, and its options. A file whose name has a question mark is a file."""
        bare, mark, text = source.partition("?")
        if not mark or os.path.exists(source):
            return source, cls()
        found: dict[str, list[str]] = {}
        for key, value in parse_qsl(text, keep_blank_values=True):
            if key not in KEYS:
                raise RobotError(f"{source!r}: no option is called {key!r}; {near(key, KEYS)}")
            found.setdefault(key, []).append(value)
        for key in ("base", "mimic"):
            if len(found.get(key, [])) > 1:
                raise RobotError(f"{source!r}: expected one {key}, got {', '.join(found[key])}")
        first = {key: found[key][0] for key in ("base", "mimic") if key in found}
        return bare, cls(locked=tuple(found.get("lock", ())), **first)

    def added_to(self, source: str) -> str:
        """Return the source with these options behind its own; the text of a robot that `load` accepts."""
        bare, own = Options.of(source)
        both = Options(self.base or own.base, (*own.locked, *self.locked), self.mimic or own.mimic)
        pairs = [("base", both.base), *(("lock", name) for name in both.locked), ("mimic", both.mimic)]
        given = [(key, value) for key, value in pairs if value is not None]
        return f"{bare}?{urlencode(given, safe='/')}" if given else bare

    @staticmethod
    def absolute(source: str) -> str:
        """Return the source of a file with its absolute path, for other processes; a name as it is."""
        bare, options = Options.of(source)
        return options.added_to(str(Path(bare).absolute())) if os.path.isfile(bare) else source

    def for_urdf(self) -> dict[str, Any]:
        """Return the arguments of `from_urdf` that were given."""
        given: dict[str, Any] = {} if self.base is None else {"floating_base": self.base == "floating"}
        given |= {"locked": self.locked} if self.locked else {}
        return given | ({} if self.mimic is None else {"mimic": self.mimic})

    def for_mjcf(self) -> dict[str, Any]:
        """Return the arguments of `from_mjcf` that were given."""
        given: dict[str, Any] = {} if self.base is None else {"base": self.base}
        given |= {"locked": self.locked} if self.locked else {}
        return given | ({} if self.mimic is None else {"couplings": self.mimic})
