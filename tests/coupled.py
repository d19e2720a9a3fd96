"""Robots with joints that follow others, for tests."""

from __future__ import annotations

import numpy as np

from dynbench import robots
from dynbench.robots import Body, Coupling, Free, Prismatic, Revolute, Robot, Spherical

INERTIAL = {"mass": 1.3, "com": [0.2, 0.1, 0.05], "inertia": [[0.03, 0.001, 0], [0.001, 0.04, 0.002], [0, 0.002, 0.05]]}


def _body(name: str, parent: str | None, joint: robots.joints.Joint, place: list[float], **extras: float) -> Body:
    return Body(name=name, parent=parent, joint=joint, placement=(np.eye(3), place), **INERTIAL, **extras)


def bodies(base: bool = False, extras: bool = False) -> list[Body]:
    """A shoulder, an elbow, a slide on it, a wrist on the shoulder, a ball on the wrist; with a free base, if asked."""
    more = {"armature": 0.2, "damping": 0.5, "friction": 0.1} if extras else {}
    root = [_body("base", None, Free(), [0, 0, 0])] if base else []
    return [
        *root,
        _body("shoulder", "base" if base else None, Revolute([0, 0.6, 0.8]), [0, 0, 0.2], **more),
        _body("elbow", "shoulder", Revolute([0, 1, 0]), [0.4, 0, 0.1]),
        _body("slide", "elbow", Prismatic([1, 0, 0]), [0.4, 0, 0.1], **more),
        _body("wrist", "shoulder", Revolute([1, 0, 0]), [0.1, 0.3, 0.1], **more),
        _body("ball", "wrist", Spherical(), [0.2, 0, 0]),
    ]


COUPLINGS = [
    Coupling(joint="slide", follows="wrist", multiplier=-0.7, offset=0.3),
    Coupling(joint="wrist", follows="elbow", multiplier=2.0),
]


def coupled(base: bool = False, extras: bool = False) -> Robot:
    """The slide follows the wrist, which follows the elbow."""
    return Robot.from_bodies("coupled", bodies(base, extras), couplings=COUPLINGS)


def tree(base: bool = False, extras: bool = False) -> Robot:
    """The same without couplings."""
    return Robot.from_bodies("uncoupled", bodies(base, extras))


def reduction(robot: Robot) -> np.ndarray:
    """W, (nv, na): v = W v[actuated], written from the couplings as they are described."""
    at = {name: int(robot.iv[i]) for i, name in enumerate(robot.joint_names)}
    W = np.eye(robot.nv)
    W[at["wrist"], at["elbow"]], W[at["slide"], at["elbow"]] = 2.0, -1.4
    return W[:, [k for k in range(robot.nv) if k not in (at["wrist"], at["slide"])]]
