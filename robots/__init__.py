"""Robots: what a machine is (model data, conventions, builders, the zoo), without any dynamics.

`load` gets one by zoo name or file, `Robot.from_bodies` builds one. Conventions: `dynbench.robots.robot`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dynbench.robots.body import Body, Coupling, Couplings, Elastic, Frame, Loop, Loops, Spring, Springs
from dynbench.robots.errors import DynbenchError, RobotError, RobotWarning, StateError, UnknownNameError
from dynbench.robots.families.elastic_rp_chain import elastic_rp_chain, rigid_twin
from dynbench.robots.families.gough_stewart import gough_stewart
from dynbench.robots.families.humanoid import knee_four_bar, parallel_ankle
from dynbench.robots.families.parallel import delta, five_bar, four_bar, planar_3rrr
from dynbench.robots.families.rp_chain import random_rp_chain, rp_chain
from dynbench.robots.families.space_manipulator import ArmLink, random_space_manipulator, space_manipulator
from dynbench.robots.families.trees import chain, pendulum, random_inertia, random_rotation, random_tree, tree, two_link
from dynbench.robots.joints import Fixed, Free, JointKind, Prismatic, Revolute, Spherical
from dynbench.robots.robot import Robot

if TYPE_CHECKING:
    from dynbench.robots.files.dh import from_dh as from_dh
    from dynbench.robots.files.mjcf import from_mjcf as from_mjcf
    from dynbench.robots.files.robotfile import read_robot as read_robot
    from dynbench.robots.files.urdf import from_urdf as from_urdf
    from dynbench.robots.files.xacro import from_xacro as from_xacro
    from dynbench.robots.identifiable import base_parameters as base_parameters
    from dynbench.robots.rotors import Rotor as Rotor
    from dynbench.robots.rotors import as_armature as as_armature
    from dynbench.robots.rotors import with_rotors as with_rotors
    from dynbench.robots.zoo import load as load
    from dynbench.robots.zoo import names as names

# Imported at first use: parsers are not needed to build a robot, and `import dynbench.robots` stays fast.
_LAZY = {
    "Rotor": "rotors",
    "as_armature": "rotors",
    "base_parameters": "identifiable",
    "from_dh": "files.dh",
    "from_mjcf": "files.mjcf",
    "from_urdf": "files.urdf",
    "from_xacro": "files.xacro",
    "load": "zoo",
    "names": "zoo",
    "read_robot": "files.robotfile",
    "with_rotors": "rotors",
}

__all__ = [
    "ArmLink",
    "Body",
    "Coupling",
    "Couplings",
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
    "Rotor",
    "Spherical",
    "Spring",
    "Springs",
    "StateError",
    "UnknownNameError",
    "as_armature",
    "base_parameters",
    "chain",
    "delta",
    "elastic_rp_chain",
    "five_bar",
    "four_bar",
    "from_dh",
    "from_mjcf",
    "from_urdf",
    "from_xacro",
    "gough_stewart",
    "knee_four_bar",
    "load",
    "names",
    "parallel_ankle",
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
    "with_rotors",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
