"""The revolute-prismatic chain in the form of the paper's algorithm: one row of numbers per link.

A robot is such a chain if its bodies alternate between massless sleeves (revolute about z, at the origin of the
previous rod) and uniform rods (prismatic along x, frame at the tip). `why_not` returns what differs.

Row 0 holds the acceleration of the ground that stands for gravity, row i + 1 is link i (counted from 0 here). The
paper orders coordinates q_1 .. q_n, l_1 .. l_n, the robot q_1, l_1, q_2, l_2, ...: `angle` and `extension` convert
between them.
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat
from dynbench.methods.kernels.vectors import Matrix, Symmetric, Vector, const3, const9, rotate_z, splat3
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

# What a row holds, by offset
C = 0  # constant rotation of joint i in link i - 1 at q_i = 0 (9); in row 0 the acceleration of the ground (3)
MASS = 9  # mu L
HALF = 10  # L / 2
SPREAD = 11  # mu L^3 / 12
B8 = 12  # J L (6: xx xy xz yy yz zz)
LINK = 18

ROUNDING = 1e-12


def why_not(robot: Robot) -> str | None:
    """Return, in a sentence, why ``robot`` is not a chain of revolute-prismatic links, or None if it is one."""
    for i in range(robot.n):
        sleeve, whose = i % 2 == 0, f"body {robot.body_names[i]!r}"
        kind, axis = (JointKind.REVOLUTE, 2) if sleeve else (JointKind.PRISMATIC, 0)
        joint = f"{kind.name.lower()} {'about z' if sleeve else 'along x'}"
        if robot.parent[i] != i - 1:
            return f"not a revolute-prismatic chain: {whose} does not follow the body before it"
        if robot.kind[i] != kind or differ(robot.axis[i], np.eye(3)[axis]):
            return f"not a revolute-prismatic chain: the joint of {whose} is not {joint}"
        if i and differ(robot.translation[i], np.zeros(3)):
            return f"not a revolute-prismatic chain: {whose} is not placed at the origin of the body before it"
        if sleeve and (robot.mass[i] or robot.inertia[i].any()):
            return f"not a revolute-prismatic chain: the sleeve, {whose}, has mass or inertia"
        reason = None if sleeve else _why_no_rod(robot, i)
        if reason:
            return f"not a revolute-prismatic chain: {whose} {reason}"
    return "not a revolute-prismatic chain: the last sleeve has no rod" if robot.n % 2 else None


def differ(a: FloatArray, b: FloatArray) -> bool:
    return bool(np.abs(a - b).max() > ROUNDING)


def _why_no_rod(robot: Robot, i: int) -> str | None:
    if differ(robot.rotation[i], np.eye(3)):
        return "is turned against its sleeve"
    com, size = robot.com[i], np.abs(robot.com[i]).max()
    if robot.mass[i] <= 0 or com[0] >= 0 or np.abs(com[1:]).max() > ROUNDING * size:
        return "is not a rod: it has no mass, or its centre of mass is not on x behind the tip"
    rotary = robot.inertia[i] - robot.mass[i] * com[0] ** 2 / 3 * np.diag([0.0, 1.0, 1.0])
    if np.linalg.eigvalsh(rotary)[0] < -ROUNDING * np.trace(robot.inertia[i]):
        return "is not a uniform rod: its inertia is less than that of one of its mass and length"
    return None


def pack(robot: Robot) -> FloatArray:
    """Return the chain as a flat array of (n + 1) rows of `LINK` doubles."""
    n = robot.n // 2
    rows = np.zeros((n + 1, LINK))
    rows[0, :3] = -robot.gravity
    for i in range(n):
        sleeve, rod, row = 2 * i, 2 * i + 1, rows[i + 1]
        half, mass = -robot.com[rod, 0], robot.mass[rod]
        row[C : C + 9] = robot.rotation[sleeve].ravel()
        row[MASS], row[HALF], row[SPREAD] = mass, half, mass * half**2 / 3
        rotary = robot.inertia[rod] - row[SPREAD] * np.diag([0.0, 1.0, 1.0])
        row[B8 : B8 + 6] = rotary[np.triu_indices(3)]
    return rows.ravel()


def native_order(n: int) -> IntArray:
    """Return where the paper's coordinates (q_1 .. q_n, l_1 .. l_n) are among the robot's: ``M[np.ix_(o, o)]``."""
    # (24), (25) order of Theta and Re
    return np.concatenate([np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)]).astype(np.int64)


@generic
def link_count(model: Buffer) -> int:
    return int(model.size // LINK) - 1


@generic
def angle(i: int) -> int:
    """Where q_i is among the robot's coordinates."""
    return 2 * i


@generic
def extension(i: int) -> int:
    """Where l_i is among the robot's coordinates."""
    return 2 * i + 1


@generic
def ground_acceleration(tag: Tag, model: Buffer) -> Vector:
    """The paper's g y_0: gravity as acceleration -g of the ground."""
    return splat3(tag, const3(model, 0))


@generic
def rotation(tag: Tag, model: Buffer, i: int, s: Scalar, c: Scalar) -> Matrix:
    """(2) A_i = C_i Rz(q_i), link i's axes in link i - 1's; erratum: the text describes its transpose."""
    return rotate_z(tag, const9(model, (i + 1) * LINK + C), s, c)


@generic
def integrals(tag: Tag, model: Buffer, i: int, q: Buffer) -> tuple[Scalar, Scalar, Symmetric]:
    """(9), (12), (16), (17) Integrals over the rod from -(L - l) to l: B0, b3 of B3 = b3 x~, and B7 + B8.

    Erratum: the lower limit is printed without its minus sign. The others follow by products: B1 = B0 l'' x,
    B2 = B0 l' x~, B5 = b3 l'' diag(0, 1, 1), B6 = b3 l' diag(0, 1, 1).
    """
    # (10) B1, (11) B2 and (15) B6 are products; (13) B4 and (14) B5 enter the force (19) only, as x . S_i
    o = (i + 1) * LINK
    m = const(model, o + MASS)
    c = load(tag, q, extension(i)) - const(model, o + HALF)
    b3 = m * c
    b7 = b3 * c + const(model, o + SPREAD)  # of diag(0, 1, 1)
    xx = splat(tag, const(model, o + B8))
    xy = splat(tag, const(model, o + B8 + 1))
    xz = splat(tag, const(model, o + B8 + 2))
    yz = splat(tag, const(model, o + B8 + 4))
    return m, b3, (xx, xy, xz, b7 + const(model, o + B8 + 3), yz, b7 + const(model, o + B8 + 5))
