"""Robots: what a machine is (model data, conventions, builders, the zoo), without any dynamics.

`load` gets one by zoo name or file, `Robot.from_bodies` builds one. Conventions: `dynbench.robots.robot`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .body import Body, Elastic, Frame, Loop, Loops
from .elastic_rp_chain import elastic_rp_chain, rigid_twin
from .errors import DynbenchError, RobotError, RobotWarning, StateError, UnknownNameError
from .families import chain, pendulum, random_inertia, random_rotation, random_tree, tree, two_link
from .gough_stewart import gough_stewart
from .joints import Fixed, Free, JointKind, Prismatic, Revolute, Spherical
from .parallel import delta, five_bar, four_bar, planar_3rrr
from .robot import Robot
from .rp_chain import random_rp_chain, rp_chain
from .space_manipulator import ArmLink, random_space_manipulator, space_manipulator

if TYPE_CHECKING:
    from .dh import from_dh as from_dh
    from .robotfile import read_robot as read_robot
    from .urdf import from_urdf as from_urdf
    from .zoo import load as load
    from .zoo import names as names

# Imported at first use: parsers are not needed to build a robot, and `import dynbench.robots` stays fast.
_LAZY = {"from_dh": "dh", "from_urdf": "urdf", "load": "zoo", "names": "zoo", "read_robot": "robotfile"}

__all__ = [
    "ArmLink",
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
    "delta",
    "elastic_rp_chain",
    "five_bar",
    "four_bar",
    "from_dh",
    "from_urdf",
    "gough_stewart",
    "load",
    "names",
    "pendulum",
    "planar_3rrr",
    "random_inertia",
    "random_rotation",
    "random_rp_chain",
    "random_space_manipulator",
    "random_tree",
    "read_robot",
    "rigid_twin",
    "rp_chain",
    "space_manipulator",
    "tree",
    "two_link",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
