"""Chains of rods that turn about and slide through their joints (Korayem and Shafei's revolute-prismatic robot).

Rod i passes through joint i, turns about the joint's z by q_i and slides along its own x by l_i: it fills
[-(L_i - l_i), l_i] on the x axis, and its tip carries joint i + 1. Each joint is two 1-DoF joints with a massless
sleeve in between, so the chain is an ordinary robot, with coordinates q_1, l_1, q_2, l_2, ...:

    tip of rod i-1  --Revolute z-->  sleeve i (massless)  --Prismatic x-->  rod i, whose frame is at its tip

The rods are uniform, with a mass per length and a rotary inertia per length (a 3x3 matrix, rod axes), which is added
to the inertia of the mass distribution along the rod.
"""

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.arrays import FloatArray, numbers
from dynbench.robots.body import Body
from dynbench.robots.errors import RobotError
from dynbench.robots.families.trees import check_size, random_inertia, random_rotation
from dynbench.robots.joints import Prismatic, Revolute
from dynbench.robots.robot import Robot
from dynbench.robots.rotations import about_x

GRAVITY = (0.0, -9.81, 0.0)  # in the plane of motion of a planar chain, as in the paper
ORIENTATIONS = ("planar", "twisted", "random")
INERTIAS = ("isotropic", "diagonal", "full")


def rp_chain(
    length: ArrayLike,
    density: ArrayLike,
    inertia_density: ArrayLike,
    orientation: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
    name: str = "rp-chain",
) -> Robot:
    """Return a chain of n uniform rods, each on a revolute-prismatic joint.

    Parameters
    ----------
    length : array_like, shape (n,)
        Of the rods, metres.
    density : array_like, shape (n,)
        Mass per length, kg/m.
    inertia_density : array_like, shape (n, 3, 3)
        Rotary inertia per length, rod axes, kg m.
    orientation : array_like, shape (n, 3, 3), optional
        Rotation of joint i's frame in rod i - 1 (in the world for the first) at q_i = 0; default: the identity, a
        planar chain.
    gravity : array_like, shape (3,)
        World axes, m/s^2.

    Raises
    ------
    RobotError
        If a length or density is not positive, or an array does not have n entries.
    """
    owner, n = f"robot {name!r}", np.size(length)
    lengths = numbers(owner, "length", length, (n,))
    densities = numbers(owner, "density", density, (n,))
    rotary = numbers(owner, "inertia_density", inertia_density, (n, 3, 3))
    planar = np.tile(np.eye(3), (n, 1, 1))
    turns = planar if orientation is None else numbers(owner, "orientation", orientation, (n, 3, 3))
    for what, values in (("length", lengths), ("density", densities)):
        for wrong in np.flatnonzero(~(values > 0)):
            raise RobotError(f"robot {name!r}: {what}[{wrong}] is {values[wrong]}, expected a positive number")
    bodies: list[Body] = []
    for i in range(n):
        mass = densities[i] * lengths[i]
        bodies += [
            Body(
                name=f"sleeve{i + 1}",
                parent=f"rod{i}" if i else None,
                joint=Revolute([0, 0, 1], name=f"q{i + 1}"),
                placement=(turns[i], np.zeros(3)),
            ),
            Body(
                name=f"rod{i + 1}",
                parent=f"sleeve{i + 1}",
                joint=Prismatic([1, 0, 0], name=f"l{i + 1}"),
                mass=mass,
                com=[-lengths[i] / 2, 0, 0],
                inertia=mass * lengths[i] ** 2 / 12 * np.diag([0.0, 1.0, 1.0]) + lengths[i] * rotary[i],
            ),
        ]
    return Robot.from_bodies(name, bodies, gravity=gravity)


def rp3() -> Robot:
    """Return the paper's robot: three rods, planar, table 1."""
    return rp_chain(
        length=np.ones(3),
        density=np.full(3, 2.0),
        inertia_density=np.tile(0.0008 * np.eye(3), (3, 1, 1)),
        gravity=(0.0, -10.0, 0.0),
        name="rp3",
    )


def random_rp_chain(n: int, seed: int = 0, orientation: str = "random", inertia: str = "full") -> Robot:
    """Return a random chain of n rods; a longer one of the same seed starts with the rods of the shorter one.

    Parameters
    ----------
    orientation : "planar", "twisted" (each joint turned about the rod before it) or "random"
    inertia : "isotropic", "diagonal" or "full"
        Form of the rotary inertia per length. Isotropic and planar robots hide gyroscopic errors.
    """
    check_size("random_rp_chain", n)
    for value, known in ((orientation, ORIENTATIONS), (inertia, INERTIAS)):
        if value not in known:
            raise RobotError(f"random_rp_chain: got {value!r}, expected one of {', '.join(known)}")
    rng = np.random.default_rng(seed)
    rods = [_random_rod(rng, orientation, inertia) for _ in range(n)]
    length, density, rotary, turn = (np.array(column) for column in zip(*rods, strict=True))
    gravity = GRAVITY if orientation == "planar" else (0.4, -9.7, 0.9)
    name = f"rp-{n}" if seed == 0 else f"rp-{n}-seed{seed}"
    return rp_chain(length, density, rotary, turn, gravity, name)


def _random_rod(
    rng: np.random.Generator, orientation: str, inertia: str
) -> tuple[float, float, FloatArray, FloatArray]:
    length, density, angle = rng.uniform(0.5, 1.5), rng.uniform(1.0, 3.0), rng.uniform(-np.pi, np.pi)
    rotary = random_inertia(rng, density, 0.2)
    rotation = random_rotation(rng)
    if inertia != "full":
        rotary = np.diag(np.diag(rotary)) if inertia == "diagonal" else rotary[0, 0] * np.eye(3)
    turn = {
        "planar": np.eye(3),
        "twisted": about_x(angle),
        "random": rotation,
    }[orientation]
    return length, density, rotary, turn
