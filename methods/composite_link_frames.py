"""Composite rigid bodies in link frames: the textbook's mass matrix at its lowest cost, for serial chains.

R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008, table 6.2, in Denavit-Hartenberg frames: the transform
between neighbouring links is a screw along x followed by one along z, and a screw takes few operations. The authors of
GDAHJ (`gdahj`) compare with this form, and cite appendix A of the book for the screws. Equation numbers are those of
this docstring.

Frame i (Craig's modified parameters) has z along the axis of joint i, x along the common normal to the next axis, and
its origin where the two meet; alpha and a lead from axis i - 1 to axis i, theta and d to the foot of the next normal:

    (1)  T = Rx(alpha) Tx(a) Rz(theta) Tz(d),   theta = q + constant

A composite body (mass m, first moment h, inertia J about the origin) is moved to the origin at distance d along z, then
turned by theta; c, s are cosine and sine, and the same holds with x, alpha and a:

    (2)  h_z' = h_z + m d,   J_xx' = J_xx + d (h_z + h_z'),   J_yy' = J_yy + d (h_z + h_z'),
         J_xz' = J_xz - d h_x,   J_yz' = J_yz - d h_y
    (3)  J_xx' = J_xx + u,   J_yy' = J_yy - u,   J_xy' = (1 - 2 s^2) J_xy - c s (J_yy - J_xx),
         u = s^2 (J_yy - J_xx) - 2 c s J_xy;   h and (J_xz, J_yz) turn like vectors
    (4)  I_(i-1) = its own + the moved I_i

The wrench of a unit acceleration of joint i, (f, n) = (z x h, J z), is moved inward in the same way,

    (5)  n' = n + (d z) x f,   then f and n turn by theta; the same with x, a and alpha
    (6)  M_ii = J_zz,   M_ij = n_z in frame j

Per pair (5) takes 20 multiplications and 12 additions. m is the mass from i on, so that m d and m a are constants.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, sincos, splat, store
from dynbench.methods.kernels.tree import REVOLUTE, UPPER
from dynbench.methods.kernels.vectors import Symmetric, Vector, addsym, const3, const6
from dynbench.robots import kinematics
from dynbench.robots.robot import FloatArray, Robot

# What a row of the packed chain holds, by offset: the screws, the constants m a and m d, the link's first moment and
# inertia about the origin of its frame. TURN is c s, s^2, 2 c s, 1 - 2 s^2 of alpha.
COS, SIN, TURN, A, D, OFFSET, MASS_A, MASS_D, H, J = 0, 1, 2, 6, 7, 8, 9, 10, 11, 14
ROW = 20
WORK = 2  # cosine and sine of theta
PARALLEL = 1e-12  # sine of the angle between two axes below which they are taken as parallel


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    n = model.size // ROW
    for i in range(1, n):
        # (1)
        s, c = sincos(load(tag, q, i) + const(model, i * ROW + OFFSET))
        store(tag, work, WORK * i, c)
        store(tag, work, WORK * i + 1, s)
    h, inertia = const3(model, (n - 1) * ROW + H), const6(model, (n - 1) * ROW + J)
    h = (splat(tag, h[0]), splat(tag, h[1]), splat(tag, h[2]))
    x = inertia
    inertia = (
        splat(tag, x[0]), splat(tag, x[1]), splat(tag, x[2]), splat(tag, x[3]), splat(tag, x[4]), splat(tag, x[5])
    )  # fmt: skip
    for i in range(n - 1, -1, -1):
        fill_row(tag, model, i, n, h, inertia, out, work)
        if i > 0:
            h, inertia = moved(tag, model, i, h, inertia, work)
            # (4)
            own = const3(model, (i - 1) * ROW + H)
            h = (own[0] + h[0], own[1] + h[1], own[2] + h[2])
            inertia = addsym(const6(model, (i - 1) * ROW + J), inertia)


@generic
def moved(
    tag: Tag, model: Buffer, i: int, h: Vector, inertia: Symmetric, work: Buffer
) -> tuple[Vector, Symmetric]:
    """(2) and (3), along z and then along x: a composite body seen from the frame of the link before."""
    o = i * ROW
    xx, xy, xz, yy, yz, zz = inertia
    # (2)
    d = const(model, o + D)
    hz = h[2] + const(model, o + MASS_D)
    more = d * (h[2] + hz)
    xz, yz = xz - d * h[0], yz - d * h[1]
    # (3)
    c, s = load(tag, work, WORK * i), load(tag, work, WORK * i + 1)
    cs, ss = c * s, s * s
    xx, xy, yy = turned((cs, ss, cs + cs, 1.0 - ss - ss), xx + more, xy, yy + more)
    xz, yz = c * xz - s * yz, c * yz + s * xz
    hx, hy = c * h[0] - s * h[1], c * h[1] + s * h[0]
    # (2) and (3) once more, in the order y, z, x
    a = const(model, o + A)
    first = hx
    hx = hx + const(model, o + MASS_A)
    more = a * (first + hx)
    xy, xz = xy - a * hy, xz - a * hz
    c, s = const(model, o + COS), const(model, o + SIN)
    x = const3(model, o + TURN)
    yy, yz, zz = turned((x[0], x[1], x[2], const(model, o + TURN + 3)), yy + more, yz, zz + more)
    xy, xz = c * xy - s * xz, c * xz + s * xy
    return (hx, c * hy - s * hz, c * hz + s * hy), (xx, xy, xz, yy, yz, zz)


@generic
def turned(
    angle: tuple[Scalar, Scalar, Scalar, Scalar], xx: Scalar, xy: Scalar, yy: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """(3): the block xx, xy, yy of a symmetric matrix, turned in its plane; the angle as c s, s^2, 2 c s, 1 - 2 s^2."""
    difference = yy - xx
    u = angle[1] * difference - angle[2] * xy
    return xx + u, angle[3] * xy - angle[0] * difference, yy - u


@generic
def fill_row(
    tag: Tag, model: Buffer, i: int, n: int, h: Vector, inertia: Symmetric, out: Buffer, work: Buffer
) -> None:
    """Row i of M up to the diagonal."""
    nx, ny, nz = inertia[2], inertia[4], inertia[5]
    fx, fy, fz = -h[1], h[0], splat(tag, 0.0)
    # (6)
    store(tag, out, i * n + i, nz)
    for j in range(i, 0, -1):
        o = j * ROW
        # (5)
        d, c, s = const(model, o + D), load(tag, work, WORK * j), load(tag, work, WORK * j + 1)
        x, y = nx - d * fy, ny + d * fx
        nx, ny = c * x - s * y, c * y + s * x
        fx, fy = c * fx - s * fy, c * fy + s * fx
        a, c, s = const(model, o + A), const(model, o + COS), const(model, o + SIN)
        y, z = ny - a * fz, nz + a * fy
        ny, nz = c * y - s * z, c * z + s * y
        fy, fz = c * fy - s * fz, c * fz + s * fy
        # (6)
        store(tag, out, i * n + j - 1, nz)


# ---------------------------------------------------------------------------- frames


def link_frames(robot: Robot) -> tuple[FloatArray, FloatArray]:
    """Return axes (n, 3, 3), columns x y z, and origins (n, 3) of the frames of (1), in world at q = 0."""
    R, p = kinematics.poses(robot, robot.neutral())
    z = np.einsum("nij,nj->ni", R, robot.axis)
    axes, origins = np.zeros((robot.n, 3, 3)), np.array(p)
    foot = p[0]  # on axis i, where the normal before meets it
    for i in range(robot.n):
        x, origins[i], after = _normal(R[i, :, 0], foot, z[i], p[i + 1], z[i + 1]) if i + 1 < robot.n else (
            R[i, :, 0], foot, foot
        )  # fmt: skip
        x = x - z[i] * (z[i] @ x)
        if np.linalg.norm(x) < 0.1:  # of the last link: its own x may be along the axis
            x = np.cross(z[i], R[i, :, 1])
        x = x / np.linalg.norm(x)
        axes[i] = np.column_stack([x, np.cross(z[i], x), z[i]])
        foot = after
    return axes, origins


def _normal(
    x: FloatArray, foot: FloatArray, z: FloatArray, point: FloatArray, z_next: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Direction of the common normal of two axes, and its ends; of many, the one through ``foot`` (along ``x``)."""
    across = np.cross(z, z_next)
    size = np.linalg.norm(across)
    if size <= PARALLEL:
        end = point + z_next * (z_next @ (foot - point))
        apart = end - foot
        if np.linalg.norm(apart) > 1e-12:
            return apart, foot, end
        helper = x if abs(x @ z) < 0.9 else np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        return helper, foot, end
    unit = across / size
    between = point - foot
    on_first = foot + z * (np.cross(between, z_next) @ across / size**2)
    on_next = point + z_next * (np.cross(between, z) @ across / size**2)
    return unit, on_first, on_next


class CompositeLinkFrames(KernelMethod):
    """Mass matrix of a serial chain of revolute joints in O(n^2). Equations: (1)-(6)"""

    name: ClassVar[str] = "composite-link-frames"
    title: ClassVar[str] = "Composite bodies in link frames"
    reference: ClassVar[str] = "Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.2, in link frames"
    cost: ClassVar[str] = "O(n^2), mass matrix"
    kernels: ClassVar = {"mass_matrix": mass_matrix}

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        serial = np.array_equal(robot.parent, np.arange(robot.n) - 1)
        if reason is None and not (serial and (robot.kind == REVOLUTE).all()):
            reason = f"{self.name} is for serial chains of revolute joints"
        return reason

    def work_size(self, robot: Robot, quantity: str) -> int:
        return WORK * robot.n

    def pack(self, robot: Robot) -> FloatArray:
        """Return one row for each link."""
        R, p = kinematics.poses(robot, robot.neutral())
        axes, origins = link_frames(robot)
        mass = np.cumsum(robot.mass[::-1])[::-1]  # from each link on
        rows = np.zeros((robot.n, ROW))
        for i, row in enumerate(rows):
            com = axes[i].T @ (p[i] + R[i] @ robot.com[i] - origins[i])
            turn = axes[i].T @ R[i]
            inertia = turn @ robot.inertia[i] @ turn.T + robot.mass[i] * (com @ com * np.eye(3) - np.outer(com, com))
            row[H : H + 3], row[J : J + 6] = robot.mass[i] * com, inertia[UPPER]
            if i > 0:
                # (1): the angles and distances between the frames at q = 0
                turn, apart = axes[i - 1].T @ axes[i], axes[i - 1].T @ (origins[i] - origins[i - 1])
                c, s = turn[2, 2], -turn[1, 2]
                row[COS], row[SIN] = c, s
                row[TURN : TURN + 4] = c * s, s * s, 2.0 * c * s, 1.0 - 2.0 * s * s
                row[A], row[D] = apart[0], -s * apart[1] + c * apart[2]
                row[OFFSET] = np.arctan2(-turn[0, 1], turn[0, 0])
                row[MASS_A], row[MASS_D] = mass[i] * row[A], mass[i] * row[D]
        return rows.ravel()
