"""Robots: what a machine is (model data, conventions, builders, the zoo), without any dynamics.

`load` gets one by zoo name or file, `Robot.from_bodies` builds one. Conventions: `dynbench.robots.robot`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .body import Body, Elastic, Frame, Loop, Loops
from .errors import DynbenchError, RobotError, RobotWarning, StateError, UnknownNameError
from .families import chain, pendulum, random_inertia, random_rotation, random_tree, tree, two_link
from .joints import Fixed, Free, JointKind, Prismatic, Revolute, Spherical
from .robot import Robot

if TYPE_CHECKING:
    from .dh import from_dh as from_dh
    from .robotfile import read_robot as read_robot
    from .urdf import from_urdf as from_urdf
    from .zoo import load as load
    from .zoo import names as names

# Imported at first use: parsers are not needed to build a robot, and `import dynbench.robots` stays fast.
_LAZY = {"from_dh": "dh", "from_urdf": "urdf", "load": "zoo", "names": "zoo", "read_robot": "robotfile"}

__all__ = [
    "Body",
    "DynbenchError",
    "Elastic",
    "Fixed",
    "Frame",
    "Free",
    "JointKind",
    "Loop",
    "Loops",
    "Prismatic",
    "Revolute",
    "Robot",
    "RobotError",
    "RobotWarning",
    "Spherical",
    "StateError",
    "UnknownNameError",
    "chain",
    "from_dh",
    "from_urdf",
    "load",
    "names",
    "pendulum",
    "random_inertia",
    "random_rotation",
    "random_tree",
    "read_robot",
    "tree",
    "two_link",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
