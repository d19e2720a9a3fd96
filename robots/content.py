"""The content of a robot: read-only copies of what it is built from, and a digest of them."""

import dataclasses
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from dynbench.robots.arrays import frozen
from dynbench.robots.body import EXTRAS, Frame, no_couplings, no_loops, no_modes, no_springs

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

INTEGERS = ("parent", "kind")
NUMBERS = ("axis", "rotation", "translation", "mass", "com", "inertia", "gravity")
PARTS = {"loops": no_loops, "elastic": no_modes, "springs": no_springs, "couplings": no_couplings}


def frozen_content(robot: "Robot") -> dict[str, Any]:
    """Return the fields of a robot as tuples and read-only arrays, empty ones for None."""
    found: dict[str, Any] = {name: tuple(getattr(robot, name)) for name in ("body_names", "joint_names")}
    found |= {name: frozen(getattr(robot, name), np.int64) for name in INTEGERS}
    found |= {name: frozen(getattr(robot, name), np.float64) for name in NUMBERS}
    for name in EXTRAS:
        given = getattr(robot, name)
        found[name] = frozen(np.zeros(len(robot.body_names)) if given is None else given, np.float64)
    for name, none in PARTS.items():
        part: Any = none() if getattr(robot, name) is None else getattr(robot, name)
        found[name] = part._replace(**{k: frozen(x, x.dtype.type) for k, x in part._asdict().items()})
    found["frames"] = tuple(_frozen_frame(frame) for frame in robot.frames)
    weights = np.zeros(0) if robot.force_weights is None else robot.force_weights
    found["force_weights"] = frozen(weights, np.float64)
    return found


def _frozen_frame(frame: Frame) -> Frame:
    return Frame(
        frame.name, int(frame.body), frozen(frame.rotation, np.float64), frozen(frame.translation, np.float64)
    )


def digest(robot: "Robot") -> str:
    """Return the SHA-256 of all fields but ``origin``, in hexadecimal."""
    sha = hashlib.sha256()
    for field in dataclasses.fields(robot):
        if field.name != "origin":
            _feed(sha, field.name)
            _feed(sha, getattr(robot, field.name))
    return sha.hexdigest()


def _feed(sha: "hashlib._Hash", value: Any) -> None:
    """Update the hash with a value; different values, also nested ones, give different bytes."""
    if isinstance(value, np.ndarray):
        sha.update(f"{value.dtype.str}{value.shape}".encode())
        sha.update(value.tobytes())
    elif isinstance(value, tuple):
        sha.update(f"({len(value)}".encode())
        for item in value:
            _feed(sha, item)
    elif isinstance(value, Frame):
        _feed(sha, (value.name, value.body, value.rotation, value.translation))
    else:
        sha.update(f"{len(str(value))}:{value}".encode())
