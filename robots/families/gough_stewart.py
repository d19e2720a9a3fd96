"""The Gough-Stewart platform: six legs U-P-S between the ground and a moving plate.

Each leg is a universal joint on the ground, a lower part, an actuated slide, an upper part, and a ball joint on the
platform. As a Robot it is the spanning tree

    ground -- leg i first (revolute about s_i) -- cross i, massless -- leg i second (revolute about x) -- lower i
           -- leg i length (prismatic along y, actuated) -- upper i                                     (i = 1..6)
    ground -- free joint -- platform

closed by six ball joints: the origin of upper i lies on the platform point i. All six legs are alike, and q and v
contain the platform's pose and twist. The slide's coordinate is the leg's length (from base joint to platform joint),
and the two angles are those of the leg frame

    R_leg = R0_i Rz(first) Rx(second) = [x, u, z],    R0_i turns z to s_i (the identity for s = z),

whose y axis is the leg's direction u (base to platform), x = (u x s) / |u x s| for |second| < pi/2, z = x cross u.
The body frame of the lower part has its origin at the base joint, that of the upper part at the platform joint, that
of the platform at its centre of mass. A positive actuator force pushes the platform away from the base.

The default robot is that of S. N. Mostashiri and A. Akbarzadeh Tootoonchi (Ferdowsi University of Mashhad), on the
effect of leg mass in the inverse dynamics of a 6-DoF Gough-Stewart platform. Its figures with the coordinates
are lost: the points are inferred from its Table 1, after Lebret, Liu and Lewis (1993). It gives no inertias: those of a
thin plate and of slender rods are used.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import quaternion
from dynbench.robots.arrays import FloatArray, numbers, repeated
from dynbench.robots.body import Body, Loop
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import Free, Prismatic, Revolute
from dynbench.robots.robot import Robot

LEGS = 6
Z = (0.0, 0.0, 1.0)
COLLINEAR = 1e-9  # second singular value of six points, relative to the first
DEGENERATE = 1e-6  # minimum leg length (base radii) and minimum sine of the angle between a leg and its first axis


def hexagon(long_side: float = 0.4, short_side: float = 0.1) -> FloatArray:
    """Return the paper's six base points: a hexagon with alternating sides, legs 1-2, 3-4, 5-6 on its long ones."""
    b, d, k = long_side, short_side, np.sqrt(3.0) / 6.0
    half = [[k * (2 * b + d), d / 2, 0.0], [-k * (b - d), (b + d) / 2, 0.0], [-k * (b + 2 * d), b / 2, 0.0]]
    return np.array(half + [[x, -y, z] for x, y, z in reversed(half)])


def triangle(side: float = 0.2) -> FloatArray:
    """Return the paper's platform points, legs 1-2, 3-4 and 5-6 on the three vertices: a 6-3 layout, shape (6, 3)."""
    a = side
    vertices = [[a / (2 * np.sqrt(3.0)), a / 2, 0.0], [-a / np.sqrt(3.0), 0.0, 0.0]]
    vertices.append([vertices[0][0], -a / 2, 0.0])
    return np.repeat(np.array(vertices), 2, axis=0)


def gough_stewart(
    base_points: ArrayLike | None = None,
    platform_points: ArrayLike | None = None,
    platform_mass: float = 1.36,
    platform_inertia: ArrayLike | None = None,
    lower_mass: ArrayLike = 0.4279,
    upper_mass: ArrayLike = 0.1228,
    lower_com: ArrayLike = 0.11,
    upper_com: ArrayLike = 0.025,
    lower_inertia: ArrayLike | None = None,
    upper_inertia: ArrayLike | None = None,
    universal_axis: ArrayLike = Z,
    gravity: ArrayLike = (0.0, 0.0, -9.8066),
    home: tuple[ArrayLike, ArrayLike] | None = None,
    name: str = "gough-stewart",
) -> Robot:
    """Return a Gough-Stewart platform; without arguments, the paper's.

    Parameters
    ----------
    base_points, platform_points : array_like, shape (6, 3)
        Base joints in the world, platform joints in the platform's frame (origin at its centre of mass), metres. Legs
        may share points (6-3, 3-6 and 3-3 layouts), but no two legs may share both.
    platform_mass : float
    platform_inertia : array_like, shape (3, 3)
        About the centre of mass, platform axes, kg m^2. Default: a thin plate of side 0.2 m.
    lower_mass, upper_mass : float or array_like, shape (6,)
        Masses of the two parts of each leg.
    lower_com, upper_com : float or array_like, shape (6,)
        Distance of the centre of mass from the base joint, and back from the platform joint, along the leg.
    lower_inertia, upper_inertia : array_like, shape (3, 3) or (6, 3, 3)
        About each part's own centre of mass, leg axes x = u x s, y = u, z = x x y. Default: slender rods of twice the
        com's distance.
    universal_axis : array_like, shape (3,) or (6, 3)
        First axis s of each universal joint, fixed in the world; any length but zero.
    gravity : array_like, shape (3,)
    home : (R, p), shapes (3, 3) and (3,)
        Pose of the platform at `Robot.home`. Default: parallel to the base, above its centre.

    Raises
    ------
    RobotError
        If an argument is invalid, two legs coincide, or a leg is singular at home; names the argument or the leg.
    """
    array = partial(numbers, f"robot {name!r}", finite=True)
    per_leg = partial(repeated, f"robot {name!r}", n=LEGS, finite=True)
    base = array("base_points", hexagon() if base_points is None else base_points, (LEGS, 3))
    plate = array("platform_points", triangle() if platform_points is None else platform_points, (LEGS, 3))
    _check_points(name, base, plate)
    m1, m2 = per_leg("lower_mass", lower_mass), per_leg("upper_mass", upper_mass)
    c1, c2 = per_leg("lower_com", lower_com), per_leg("upper_com", upper_com)
    I1 = _rods(m1, 2 * c1) if lower_inertia is None else per_leg("lower_inertia", lower_inertia, shape=(3, 3))
    I2 = _rods(m2, 2 * c2) if upper_inertia is None else per_leg("upper_inertia", upper_inertia, shape=(3, 3))
    axes = per_leg("universal_axis", universal_axis, shape=(3,))
    if platform_inertia is None:
        platform_inertia = platform_mass * 0.2**2 / 24.0 * np.diag([1.0, 1.0, 2.0])

    frames = np.stack([frame_to_axis(name, f"leg{i + 1}", axis) for i, axis in enumerate(axes)])
    rotation, position = _above(base, plate) if home is None else home
    rotation = array("home rotation", rotation, (3, 3))
    position = array("home position", position, (3,))

    bodies: list[Body] = []
    loops: list[Loop] = []
    for i in range(LEGS):
        leg = f"leg{i + 1}"
        bodies += [
            Body(name=f"{leg}_cross", joint=Revolute(Z, name=f"{leg}_first"), placement=(frames[i], base[i])),
            Body(
                name=f"{leg}_lower",
                parent=f"{leg}_cross",
                joint=Revolute((1.0, 0.0, 0.0), name=f"{leg}_second"),
                mass=m1[i],
                com=[0.0, c1[i], 0.0],
                inertia=I1[i],
            ),
            Body(
                name=f"{leg}_upper",
                parent=f"{leg}_lower",
                joint=Prismatic((0.0, 1.0, 0.0), name=f"{leg}_length"),
                mass=m2[i],
                com=[0.0, -c2[i], 0.0],
                inertia=I2[i],
            ),
        ]
        loops.append(Loop(body1=f"{leg}_upper", body2="platform", placement2=(np.eye(3), plate[i])))
    bodies.append(Body(name="platform", joint=Free(), mass=platform_mass, inertia=platform_inertia))
    actuated = [f"leg{i + 1}_length" for i in range(LEGS)]
    legs = position + plate @ rotation.T - base
    for i, reason in singular_legs(frames, legs, spread(base)):
        raise RobotError(f"robot {name!r}: at home, leg {i + 1} {reason}; expected another home or universal_axis")
    angles = np.stack(leg_coordinates(frames, legs), axis=-1)
    q = np.concatenate([angles.ravel(), position, quaternion.from_matrix(rotation)])
    return Robot.from_bodies(name, bodies, gravity=gravity, loops=loops, actuated=actuated, platform="platform", home=q)


def leg_coordinates(frame: FloatArray, leg: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return first angle, second angle and length, shapes (..., 6), of legs (..., 6, 3) from base to platform joint."""
    length = np.linalg.norm(leg, axis=-1)
    along = np.einsum("kji,...kj->...ki", frame, leg)
    first = np.arctan2(-along[..., 0], along[..., 1])
    return first, np.arctan2(along[..., 2], np.hypot(along[..., 0], along[..., 1])), length


def singular_legs(frame: FloatArray, leg: FloatArray, size: float) -> list[tuple[int, str]]:
    """Return index and reason for each of the legs (6, 3) that has no length or lies along its first universal axis."""
    found = []
    for i, vector in enumerate(leg):
        length, axis = float(np.linalg.norm(vector)), frame[i, :, 2]
        if length <= DEGENERATE * size:
            found.append((i, f"has length {length:.3g} m, its platform joint is on its base joint"))
        elif np.linalg.norm(np.cross(vector, axis)) <= DEGENERATE * length:
            found.append((i, f"lies along the first axis {axis.tolist()} of its universal joint"))
    return found


def spread(points: FloatArray) -> float:
    """Return the largest distance of a point from the centroid."""
    return float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())


def _above(base: FloatArray, plate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a pose with the platform parallel to the base, two and a half base radii above it."""
    normals = [np.linalg.svd(points - points.mean(axis=0))[2][2] for points in (base, plate)]
    up, own = (n if n @ np.array(Z) >= 0.0 else -n for n in normals)
    v = np.cross(own, up)
    cross = np.cross(np.eye(3), -v)  # cross @ x = v cross x
    R = np.eye(3) + cross + cross @ cross / (1.0 + own @ up)  # the least rotation that turns own to up
    return R, base.mean(axis=0) + 2.5 * spread(base) * up - R @ plate.mean(axis=0)


def frame_to_axis(name: str, leg: str, axis: FloatArray) -> FloatArray:
    """Return the least rotation that turns z to ``axis``: the universal joint's frame at zero."""
    length = float(np.linalg.norm(axis))
    if not np.isfinite(length) or length < 1e-12:
        raise RobotError(f"robot {name!r}: universal_axis of {leg} is {axis.tolist()}, expected a direction")
    s = axis / length
    if s[2] < -0.5:  # the least rotation is ill-defined near -z: first half a turn about x, then the least rotation
        half_turn = np.diag([1.0, -1.0, -1.0])
        return np.asarray(half_turn @ frame_to_axis(name, leg, half_turn @ s))
    x, y, z = s
    k = 1.0 / (1.0 + z)
    return np.array([[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]])


def _rods(mass: FloatArray, length: FloatArray) -> FloatArray:
    """Return the inertias of slender rods along y, shape (6, 3, 3)."""
    return np.asarray((mass * length**2 / 12.0)[:, None, None] * np.diag([1.0, 0.0, 1.0]))


def _check_points(name: str, base: FloatArray, plate: FloatArray) -> None:
    """Raise a RobotError for points with which every pose is singular."""
    for argument, points in (("base_points", base), ("platform_points", plate)):
        extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if extents[1] <= COLLINEAR * extents[0]:
            what = "coincide" if extents[0] == 0.0 else "lie on one line"
            raise RobotError(f"robot {name!r}: {argument} all {what}, the platform would not be held in any pose")
    for i in range(LEGS):
        for j in range(i):
            if np.array_equal(base[i], base[j]) and np.array_equal(plate[i], plate[j]):
                raise RobotError(
                    f"robot {name!r}: leg{j + 1} and leg{i + 1} have the same base point {base[i].tolist()} and the "
                    f"same platform point {plate[i].tolist()}, expected six different legs"
                )
