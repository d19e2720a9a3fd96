"""URDF files in a few words: what tests of URDF share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dynbench.robots import Robot, RobotError, from_urdf

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="{rpy}"/><mass value="2"/>'
    '<inertia ixx="0.4" ixy="0.01" ixz="0.02" iyy="0.5" iyz="0.03" izz="0.6"/></inertial>'
)
SOLID = INERTIAL.format(rpy="0 0 0")


def link(name: str, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


class Files:
    """Writes URDF text to a file and loads it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "arm.urdf"

    def write(self, text: str | bytes) -> Path:
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.path

    def load(self, *elements: str, **options: Any) -> Robot:
        return from_urdf(self.write(f'<robot name="arm">\n{"".join(elements)}</robot>'), **options)

    def refusal(self, *elements: str, **options: Any) -> str:
        with pytest.raises(RobotError) as caught:
            self.load(*elements, **options)
        assert str(caught.value).startswith(str(self.path))
        return str(caught.value).removeprefix(str(self.path))


def two_links(kind: str = "revolute", inside: str = "") -> tuple[str, str, str]:
    """A base and a tip, with a joint between them."""
    return link("base"), link("tip"), joint("j", "base", "tip", kind, inside)


ONE = (link("base"), link("tip"), joint("hinge", "base", "tip"))
