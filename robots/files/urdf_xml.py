"""XML with line numbers, for messages such as ``arm.urdf:29: joint 'elbow' has no <child>``.

Parsed by `defusedxml`, so document types, entities and external references are rejected.
Numbers are read with :func:`float`, which does not depend on the locale, and must be finite.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

from dynbench.robots.errors import RobotError
from dynbench.robots.files.reading import read_bytes

# Limits on untrusted files: far above any robot, and low enough to read or reject in seconds
MAX_BYTES = 20_000_000
MAX_BODIES = 2000


@dataclass(frozen=True)
class Document:
    """A parsed file; its methods raise errors that name the file and the line."""

    path: str
    root: Element
    lines: dict[Element, int] = field(repr=False)
    namespace: str = ""

    def error(self, element: Element, message: str) -> RobotError:
        return RobotError(f"{self.path}:{self.lines[element]}: {message}")

    def children(self, element: Element, tag: str) -> list[Element]:
        return element.findall(self.namespace + tag)

    def child(self, element: Element, tag: str, owner: str) -> Element | None:
        """Return the only child called `tag`, None when there is none."""
        found = self.children(element, tag)
        if len(found) > 1:
            raise self.error(found[1], f"{owner}: expected one <{tag}> element, got {len(found)}")
        return found[0] if found else None

    def required_child(self, element: Element, tag: str, owner: str) -> Element:
        found = self.child(element, tag, owner)
        if found is None:
            raise self.error(element, f"{owner} has no <{tag}>")
        return found

    def text(self, element: Element, attribute: str, owner: str) -> str:
        """Return a non-empty attribute."""
        value = element.get(attribute)
        if not value:
            raise self.error(element, f"{owner} has no attribute '{attribute}'")
        return value

    def numbers(
        self,
        element: Element,
        attribute: str,
        count: int,
        owner: str,
        default: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:
        """Return `count` finite numbers, separated by white space; `default` if the attribute is absent."""
        text = element.get(attribute)
        if text is None and default is not None:
            return default
        parts = self.text(element, attribute, owner).split()
        try:
            # float() also accepts "1_000" and digits of other scripts, which are not valid in URDF.
            values = tuple(float(part) for part in parts if "_" not in part and part.isascii())
        except ValueError:
            values = ()
        if len(values) != count or len(parts) != count or not all(math.isfinite(value) for value in values):
            expected = "a finite number" if count == 1 else f"{count} finite numbers"
            raise self.error(element, f"{owner}, attribute '{attribute}' must be {expected}, got '{(text or '')[:80]}'")
        return values


def read_xml(path: str | os.PathLike[str], data: bytes | None = None) -> Document:
    """Parse the file, or ``data`` in its name, and record the line of each element.

    Raises
    ------
    RobotError
        If it is invalid; names the line.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser, ParseError

    name = os.fspath(path)
    lines: dict[Element, int] = {}

    class Builder(TreeBuilder):
        def start(self, tag: str, attrs: dict[Any, Any], /) -> Element:
            element = super().start(tag, attrs)
            lines[element] = parser.parser.CurrentLineNumber
            return element

    parser = DefusedXMLParser(target=Builder(), forbid_dtd=True)
    try:
        parser.feed(read_bytes(path, MAX_BYTES) if data is None else data)
        root: Element = parser.close()
    except RobotError:
        raise
    except DefusedXmlException as error:
        line = parser.parser.CurrentLineNumber
        raise RobotError(
            f"{name}:{line}: document types and entities are not allowed ({type(error).__name__})"
        ) from error
    except (ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        xacro = "unbound prefix" in str(error)
        hint = "; if these are xacro macros, expand them: `xacro FILE > robot.urdf`" if xacro else ""
        raise RobotError(f"{name}: not well-formed XML: {error}{hint}") from error
    namespace = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""
    return Document(name, root, lines, namespace)
