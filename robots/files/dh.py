"""Denavit-Hartenberg tables with inertial data: ``from_dh(rows, convention="standard") -> Robot``.

With ``theta`` the turn about z, ``d`` the shift along z, ``a`` the shift along x and ``alpha`` the turn about
x, link frame i in link frame i-1 is

* standard (distal): Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i), joint i moves about z of frame i-1;
* modified (proximal, Craig): Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i), joint i moves about z of frame i.

A row holds the parameters of its factor above: in the modified convention, row i holds Craig's
alpha_{i-1}, a_{i-1}. The joint's coordinate is added to theta (revolute) or d (prismatic), and so is the
constant ``offset``.

``com`` and ``inertia`` of a row are in the axes of its DH link frame. The Robot's body frame is the joint
frame after the motion (see `dynbench.robots.robot`): in the modified convention that is the link frame; in
the standard one it is the proximal frame, and com and inertia are transformed to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray
from dynbench.robots.body import IDENTITY, Body, Placement
from dynbench.robots.errors import RobotError, near
from dynbench.robots.files.reading import finite_numbers
from dynbench.robots.joints import Fixed, Prismatic, Revolute
from dynbench.robots.robot import Robot
from dynbench.robots.rotations import about_x, about_z

Convention = Literal["standard", "modified"]


@dataclass(frozen=True, kw_only=True)
class DHLink:
    """One row of the table: joint, link geometry and link inertia.

    Parameters
    ----------
    a, alpha : float
        Shift along x (m) and turn about x (rad).
    d, theta : float
        Shift along z (m) and turn about z (rad). A revolute row must give ``d``, a prismatic one ``theta``;
        the other one is the joint's coordinate, and a value for it is a constant part, 0 by default.
    type : "revolute" or "prismatic"
    offset : float
        Added to the joint's coordinate (rad or m).
    mass : float
        In kg; 0 is allowed, but must be given.
    com : shape (3,)
        Centre of mass in the DH link frame, m. Must be given when there is mass.
    inertia : shape (3, 3), or (3,) for a diagonal one
        About the centre of mass, DH link axes, kg m^2. Must be given when there is mass.
    name : str, optional
        Of the body; the joint is then called ``<name>_joint``. By default link1, joint1, ...
    """

    a: float
    alpha: float
    mass: float
    d: float | None = None
    theta: float | None = None
    type: Literal["revolute", "prismatic"] = "revolute"
    offset: float = 0.0
    com: ArrayLike | None = None
    inertia: ArrayLike | None = None
    name: str | None = None


_KEYS = tuple(field.name for field in fields(DHLink))
_NUMBERS = ("a", "alpha", "d", "theta", "offset", "mass")


def from_dh(
    rows: Sequence[DHLink | Mapping[str, object]],
    convention: Convention = "standard",
    *,
    name: str = "dh",
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    base: Placement = IDENTITY,
    tool: Placement = IDENTITY,
    strict: bool = True,
) -> Robot:
    """Return the serial robot of a Denavit-Hartenberg table.

    Parameters
    ----------
    rows : sequence of DHLink, or of dicts with the same keys
        From the base outwards.
    convention : "standard" or "modified"
        Which of the two products above the rows mean.
    name : str
        Name of the robot.
    gravity : shape (3,)
        World axes, m/s^2.
    base : (R, p)
        Frame 0 in the world.
    tool : (R, p)
        The frame called ``tool`` of the robot, in the last link frame.
    strict : bool
        Whether an inertia that no rigid body has is an error, or only a RobotWarning.

    Raises
    ------
    RobotError
        If the table is invalid; names the row and the key.
    """
    if convention not in ("standard", "modified"):
        raise RobotError(f"robot '{name}': convention must be 'standard' or 'modified', got {convention!r}")
    links = [_link(row, f"robot '{name}', DH row {i}") for i, row in enumerate(rows, start=1)]
    if not links:
        raise RobotError(f"robot '{name}': expected at least one row in the DH table")
    bodies: list[Body] = []
    parent: str | None = None
    proximal: Placement = base  # the previous link frame, in the parent body's frame
    for i, link in enumerate(links, start=1):
        slide = link.type == "prismatic"
        turn = about_z((link.theta or 0.0) + (0.0 if slide else link.offset))
        shift = np.array([0.0, 0.0, (link.d or 0.0) + (link.offset if slide else 0.0)])
        along_z, along_x = (turn, shift), (about_x(link.alpha), np.array([link.a, 0.0, 0.0]))
        if convention == "modified":
            placement = compose(proximal, compose(along_x, along_z))
            rotation, origin = np.eye(3), np.zeros(3)  # DH link frame in the body frame
        else:
            placement = compose(proximal, IDENTITY)
            rotation, origin = compose(along_z, along_x)
        body = link.name or f"link{i}"
        joint_name = f"{link.name}_joint" if link.name else f"joint{i}"
        z = (0.0, 0.0, 1.0)
        inertia = np.zeros((3, 3)) if link.inertia is None else np.asarray(link.inertia)
        com = np.zeros(3) if link.com is None else np.asarray(link.com)
        bodies.append(
            Body(
                name=body,
                parent=parent,
                joint=Prismatic(z, name=joint_name) if slide else Revolute(z, name=joint_name),
                placement=placement,
                mass=link.mass,
                com=rotation @ com + origin,
                inertia=rotation @ inertia @ rotation.T,
            )
        )
        parent, proximal = body, (rotation, origin)
    bodies.append(Body(name="tool", parent=parent, joint=Fixed(), placement=compose(proximal, tool)))
    return Robot.from_bodies(name, bodies, gravity=gravity, strict=strict)


def compose(first: Placement, second: Placement) -> tuple[FloatArray, FloatArray]:
    """Return the placement `second`, given in the frame `first`, in the frame that `first` is given in."""
    (R1, p1), (R2, p2) = ((np.asarray(R, float), np.asarray(p, float)) for R, p in (first, second))
    return R1 @ R2, R1 @ p2 + p1


def _link(row: DHLink | Mapping[str, object], where: str) -> DHLink:
    """Return the row with checked values and full arrays."""
    if isinstance(row, DHLink):
        values: dict[str, object] = {key: getattr(row, key) for key in _KEYS}
    elif isinstance(row, Mapping):
        values = dict(row)
    else:
        raise RobotError(f"{where} must be a DHLink or a dict, got {type(row).__name__}")
    for key in values:
        if key not in _KEYS:
            raise RobotError(f"{where} has the unknown key {key!r}; {near(str(key), _KEYS)}")
    values = {key: value for key, value in values.items() if value is not None}
    if values.setdefault("type", "revolute") not in ("revolute", "prismatic"):
        raise RobotError(f"{where}: type must be 'revolute' or 'prismatic', got {values['type']!r}")
    for key in ("a", "alpha", "mass", "d" if values["type"] == "revolute" else "theta"):
        if key not in values:
            raise RobotError(f"{where}, of type {values['type']}, lacks the key '{key}'")
    checked: dict[str, object] = {"type": values["type"], "name": values.get("name")}
    for key in _NUMBERS:
        if key in values:
            checked[key] = float(finite_numbers(where, key, values[key], ()))
    for key, shapes in {"com": ((3,),), "inertia": ((3, 3), (3,))}.items():
        if key in values:
            array = finite_numbers(where, key, values[key], *shapes)
            checked[key] = np.diag(array) if key == "inertia" and array.ndim == 1 else array
        elif checked["mass"]:
            raise RobotError(f"{where} has mass {checked['mass']:g} kg but lacks the key '{key}'")
    return DHLink(**checked)  # type: ignore[arg-type]
