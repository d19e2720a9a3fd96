"""Bodies and robots of them, to be spoilt by one change."""

from __future__ import annotations

from typing import Any

from dynbench.robots import Body, Revolute, Robot


def link(name: str = "link", parent: str | None = None, **changes: Any) -> Body:
    """A sound body, with changes."""
    given: dict[str, Any] = {"joint": Revolute([0, 0, 1]), "mass": 1.0, "com": [0.1, 0, 0], "inertia": [1.0, 1.0, 1.0]}
    return Body(name=name, parent=parent, **(given | changes))


def build(*bodies: Body, **options: Any) -> Robot:
    return Robot.from_bodies("arm", bodies, **options)
