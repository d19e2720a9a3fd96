"""Parametric robots: textbook ones with closed forms, and seeded random families.

The random ones have twisted axes, full inertias with offset centres of mass and no symmetry, so that no error
cancels. A longer chain or tree of the same seed starts with the bodies of the shorter one, so that scaling is measured
on a growing robot.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import quaternion
from dynbench.robots.arrays import FloatArray, is_count
from dynbench.robots.body import Body
from dynbench.robots.errors import RobotError, UnknownNameError, near
from dynbench.robots.joints import Free, Joint, Prismatic, Revolute, Spherical
from dynbench.robots.robot import Robot

GRAVITY = (0.0, 0.0, -9.81)
KINDS = ("revolute", "prismatic", "spherical", "free")


def pendulum(
    length: float = 1.0,
    mass: float = 1.0,
    inertia: float = 0.0,
    gravity: ArrayLike = GRAVITY,
    name: str = "pendulum",
) -> Robot:
    """Return a pendulum that swings in the x-z plane and hangs down at q = 0, towards +x for q > 0.

    Parameters
    ----------
    length : float
        From the axis to the centre of mass, metres.
    mass : float
        Kilograms.
    inertia : float
        About the centre of mass, same about all axes, kg m^2; zero is a point mass.
    """
    bob = Body(
        name="bob",
        joint=Revolute([0, -1, 0], name="swing"),
        mass=mass,
        com=[0, 0, -length],
        inertia=[inertia] * 3,
    )
    return Robot.from_bodies(name, [bob], gravity=gravity)


def two_link(
    lengths: Sequence[float] = (1.0, 1.0),
    masses: Sequence[float] = (1.0, 1.0),
    coms: Sequence[float] = (0.5, 0.5),
    inertias: Sequence[float] = (1 / 12, 1 / 12),
    gravity: ArrayLike = GRAVITY,
    name: str = "two-link",
) -> Robot:
    """Return the textbook planar arm in the x-z plane: along +x at q = 0, positive angles lift it.

    Parameters
    ----------
    lengths, masses : two floats
        Of the links, metres and kilograms.
    coms : two floats
        Distance of each centre of mass from its joint, along the link.
    inertias : two floats
        About the centre of mass and the y axis, kg m^2; the links are thin rods along x.
    """
    links = [
        Body(
            name=f"link{k + 1}",
            parent=None if k == 0 else "link1",
            joint=Revolute([0, -1, 0], name=f"joint{k + 1}"),
            placement=(np.eye(3), [0.0 if k == 0 else lengths[0], 0, 0]),
            mass=masses[k],
            com=[coms[k], 0, 0],
            inertia=[0, inertias[k], inertias[k]],
        )
        for k in range(2)
    ]
    return Robot.from_bodies(name, links, gravity=gravity)


def chain(n: int, seed: int = 0, gravity: ArrayLike = GRAVITY) -> Robot:
    """Return a serial chain of n revolute joints about random axes."""
    return _family("chain", n, seed, gravity, lambda i: i - 1)


def tree(n: int, branching: int = 2, seed: int = 0, gravity: ArrayLike = GRAVITY) -> Robot:
    """Return a tree of n revolute joints, level by level, each body with up to ``branching`` children."""
    if branching < 1:
        raise RobotError(f"tree: branching is {branching}, expected >= 1")
    return _family("tree", n, seed, gravity, lambda i: (i - 1) // branching)


def random_tree(
    n: int,
    seed: int = 0,
    kinds: Sequence[str] = ("revolute", "prismatic", "spherical"),
    floating: bool = False,
    massless: bool = False,
    gravity: ArrayLike = (0.3, -0.2, -9.7),
) -> Robot:
    """Return a random tree with every kind of joint, for testing formulations.

    Parameters
    ----------
    n : int
        Number of moving bodies.
    seed : int
    kinds : sequence of "revolute", "prismatic", "spherical", "free"
        Joints to draw from. The first bodies take them in turn, so each occurs if n is large enough.
    floating : bool
        Whether the first body is on a free joint and carries all others. Otherwise several bodies
        may be attached to the ground.
    massless : bool
        Whether some bodies in the middle, on 1-DoF joints, have no mass.
    gravity : array_like, shape (3,)
        Oblique by default, so that all components matter.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError(f"no joint kind is named {kind!r}; {near(kind, KINDS)}")
    check_size("random_tree", n)
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(0 if floating and i else -1, i)) if i else -1 for i in range(n)]
    drawn = [kinds[i] if i < len(kinds) else kinds[int(rng.integers(len(kinds)))] for i in range(n)]
    if floating:
        drawn = ["free", *drawn[: n - 1]]
    # A massless body needs a child with mass, on a joint that transmits the motion.
    light: set[int] = set()
    for i in range(n - 1, -1, -1) if massless else ():
        carries = any(parents[c] == i and drawn[c] != "free" and c not in light for c in range(i + 1, n))
        if carries and drawn[i] in KINDS[:2]:
            light.add(i)
    bodies = [
        _random_body(rng, i, parents[i], _joint(drawn[i], random_direction(rng)), heavy=i not in light)
        for i in range(n)
    ]
    return Robot.from_bodies(f"random-tree-{n}-seed{seed}", bodies, gravity=gravity)


def aligned_tree(n: int, seed: int = 0) -> Robot:
    """Return a `random_tree` of revolute and prismatic joints in turn, whose axes are exactly x, -x, y, -y, z, -z.

    Formulations and engines often treat such axes apart; random ones do not show mistakes there. With twelve bodies
    every axis has a joint of both kinds.
    """
    turned = random_tree(n, seed, [KINDS[i % 2] for i in range(max(n, 1))])
    axes = [(1 - 2 * (i // 2 % 2)) * np.eye(3)[i // 4 % 3] for i in range(turned.n)]
    return replace(turned, name=f"aligned-tree-{n}-seed{seed}", axis=np.array(axes))


def random_rotation(rng: np.random.Generator) -> FloatArray:
    """Return a rotation matrix, uniform over all rotations, shape (3, 3)."""
    return quaternion.matrix(random_direction(rng, 4))


def random_direction(rng: np.random.Generator, dimension: int = 3) -> FloatArray:
    """Return a unit vector, uniform over the sphere."""
    x = rng.standard_normal(dimension)
    return np.asarray(x / np.linalg.norm(x))


def random_inertia(rng: np.random.Generator, mass: float = 1.0, size: float = 0.2) -> FloatArray:
    """Return the inertia of a random solid of about ``size`` metres about its com, random axes, shape (3, 3).

    It is computed from positive second moments of mass, so it satisfies the triangle inequality.
    """
    R = random_rotation(rng)
    second = R @ np.diag(mass * (size * rng.uniform(0.3, 1.0, 3)) ** 2) @ R.T
    second = 0.5 * (second + second.T)
    return np.asarray(np.trace(second) * np.eye(3) - second)


def _family(family: str, n: int, seed: int, gravity: ArrayLike, parent: Callable[[int], int]) -> Robot:
    check_size(family, n)
    rng = np.random.default_rng(seed)
    bodies = [_random_body(rng, i, parent(i), Revolute(random_direction(rng))) for i in range(n)]
    name = f"{family}-{n}" if seed == 0 else f"{family}-{n}-seed{seed}"
    return Robot.from_bodies(name, bodies, gravity=gravity)


def _random_body(rng: np.random.Generator, i: int, parent: int, joint: Joint, heavy: bool = True) -> Body:
    placement = (random_rotation(rng), 0.3 * random_direction(rng))
    mass = rng.uniform(0.5, 2.0)
    com, inertia = 0.15 * random_direction(rng), random_inertia(rng, mass)
    return Body(
        name=f"body{i + 1}",
        parent=None if parent < 0 else f"body{parent + 1}",
        joint=joint,
        placement=placement,
        mass=mass if heavy else 0.0,
        com=com if heavy else np.zeros(3),
        inertia=inertia if heavy else np.zeros((3, 3)),
    )


def _joint(kind: str, axis: FloatArray) -> Joint:
    if kind == "spherical":
        return Spherical()
    if kind == "free":
        return Free()
    return Revolute(axis) if kind == "revolute" else Prismatic(axis)


def check_size(family: str, n: int) -> None:
    """Raise a RobotError unless ``n`` is a positive whole number."""
    if not is_count(n):
        raise RobotError(f"{family}: n is {n!r}, expected a whole number >= 1")
