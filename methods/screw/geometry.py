"""Poses, joint screws and inertias now, equations (1), (3), (4) of the package's docstring; and products of twists.

A motion is a pair (linear, angular), a wrench a pair (force, moment): world axes, about the fixed point.
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import about_origin
from dynbench.methods.kernels.inertia import inertia_times as rigid_times
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, sincos, store
from dynbench.methods.kernels.tree import FREE, IQ, PRISMATIC, REVOLUTE
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    column,
    const3,
    const9,
    cross,
    dot,
    from_quaternion,
    identity,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    scale,
    splat3,
    store3,
    store9,
    sub,
    transpose,
    zero3,
)
from dynbench.methods.screw.model import COM, HOME, I_AXES, I_MAX, MASS, ROW, SCREW, kind, parent

Pair = tuple[Vector, Vector]
Inertia = tuple[Scalar, Vector, Symmetric]  # mass, first moment, inertia about the fixed point

# Work rows begin with g (rotation and translation), then J of one axis, or the pose of the body frame
ROT, POS, JOINT = 0, 9, 12
GEOMETRY = 24


@generic
def start(tag: Tag, work: Buffer) -> None:
    """The ground's pose, for work rows whose size does not matter: it is row 0."""
    store9(tag, work, ROT, identity(tag))
    store3(tag, work, POS, zero3(tag))


@generic
def place(tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer, size: int) -> tuple[Matrix, Vector]:
    """Store and return g of body row i, and store what `joint_motion` needs; ``size`` is that of a work row."""
    joint, o, u, m = kind(model, i), i * size, parent(model, i) * size, i * ROW
    R, r = load9(tag, work, u + ROT), load3(tag, work, u + POS)
    at = index(model, m + IQ)
    eta, omega = const3(model, m + SCREW), const3(model, m + SCREW + 3)
    if joint == REVOLUTE:
        # (4) J = Ad(g_p) Y
        w = mul(R, omega)
        store3(tag, work, o + JOINT, add(mul(R, eta), cross(r, w)))
        store3(tag, work, o + JOINT + 3, w)
        # (1), (3)
        s, c = sincos(load(tag, q, at))
        turn, shift = exponential(eta, omega, s, 1.0 - c)
        r = add(mul(R, shift), r)
        R = matmul(R, turn)
    elif joint == PRISMATIC:
        d = mul(R, eta)
        store3(tag, work, o + JOINT, d)
        r = add(r, scale(load(tag, q, at), d))
    else:
        # (3): the body's pose B, b, then back by H^-1
        H, h = const9(model, m + HOME), const3(model, m + HOME + 9)
        moved = splat3(tag, h)
        if joint == FREE:
            if u > 0:
                moved = add(mul(H, load3(tag, q, at)), h)
            at += 3
        x = from_quaternion(load(tag, q, at), load(tag, q, at + 1), load(tag, q, at + 2), load(tag, q, at + 3))
        b = add(mul(R, moved), r)
        B = matmul(matmul(R, H), x)
        store9(tag, work, o + JOINT, B)
        store3(tag, work, o + JOINT + 9, b)
        R = matmul(B, transpose(H))
        r = sub(b, mul(R, h))
    store9(tag, work, o + ROT, R)
    store3(tag, work, o + POS, r)
    return R, r


@generic
def exponential(eta: Vector, omega: Vector, s: Scalar, v: Scalar) -> tuple[Matrix, Vector]:
    """(1): exp(Y q) of a rotation, with s = sin q and v = 1 - cos q."""
    x, y, z = omega
    vx, vy, vz = v * x, v * y, v * z
    sx, sy, sz = s * x, s * y, s * z
    xy, xz, yz = vx * y, vx * z, vy * z
    xx, yy, zz = vx * x, vy * y, vz * z
    turn = (
        1.0 - (yy + zz), xy - sz, xz + sy,
        xy + sz, 1.0 - (xx + zz), yz - sx,
        xz - sy, yz + sx, 1.0 - (xx + yy),
    )  # fmt: skip
    return turn, add(scale(s, eta), cross((vx, vy, vz), eta))


@generic
def spatial_inertia(model: Buffer, i: int, R: Matrix, r: Vector) -> Inertia:
    """(4): I = Ad(g)^-T I_0 Ad(g)^-1 of body row i."""
    o = i * ROW
    m = const(model, o + MASS)
    c = add(mul(R, const3(model, o + COM)), r)
    h = scale(m, c)
    a = mul(R, const3(model, o + I_AXES))
    b = mul(R, const3(model, o + I_AXES + 3))
    return m, h, about_origin(const(model, o + I_MAX), a, b, c, h)


@generic
def inertia_times(inertia: Inertia, V: Pair) -> Pair:
    """I V"""
    m, h, J = inertia
    return rigid_times(m, h, J, V[0], V[1])


@generic
def joint_motion(tag: Tag, model: Buffer, i: int, x: Buffer, at: int, work: Buffer, o: int) -> Pair:
    """J x, with the coordinates of the joint of body row i in x from index ``at`` on."""
    joint = kind(model, i)
    if joint == REVOLUTE:
        s = load(tag, x, at)
        return scale(s, load3(tag, work, o + JOINT)), scale(s, load3(tag, work, o + JOINT + 3))
    if joint == PRISMATIC:
        return scale(load(tag, x, at), load3(tag, work, o + JOINT)), zero3(tag)
    B, b = load9(tag, work, o + JOINT), load3(tag, work, o + JOINT + 9)
    if joint == FREE:
        w = mul(B, load3(tag, x, at + 3))
        return add(mul(B, load3(tag, x, at)), cross(b, w)), w
    w = mul(B, load3(tag, x, at))
    return cross(b, w), w


@generic
def joint_column(tag: Tag, model: Buffer, i: int, k: int, work: Buffer, o: int) -> Pair:
    """Column k of J."""
    joint = kind(model, i)
    if joint == REVOLUTE:
        return load3(tag, work, o + JOINT), load3(tag, work, o + JOINT + 3)
    if joint == PRISMATIC:
        return load3(tag, work, o + JOINT), zero3(tag)
    axis = column(load9(tag, work, o + JOINT), k % 3)
    if joint == FREE and k < 3:
        return axis, zero3(tag)
    return cross(load3(tag, work, o + JOINT + 9), axis), axis


@generic
def joint_force(tag: Tag, model: Buffer, i: int, F: Pair, out: Buffer, at: int, work: Buffer, o: int) -> None:
    """Write J^T F to out from index ``at`` on."""
    joint = kind(model, i)
    if joint == REVOLUTE:
        force = dot(load3(tag, work, o + JOINT), F[0]) + dot(load3(tag, work, o + JOINT + 3), F[1])
        store(tag, out, at, force)
    elif joint == PRISMATIC:
        store(tag, out, at, dot(load3(tag, work, o + JOINT), F[0]))
    else:
        B, b = load9(tag, work, o + JOINT), load3(tag, work, o + JOINT + 9)
        moment = mulT(B, sub(F[1], cross(b, F[0])))
        if joint == FREE:
            store3(tag, out, at, mulT(B, F[0]))
            store3(tag, out, at + 3, moment)
        else:
            store3(tag, out, at, moment)


@generic
def motion_cross(V: Pair, X: Pair) -> Pair:
    """V x X, of two motions."""
    return add(cross(V[1], X[0]), cross(V[0], X[1])), cross(V[1], X[1])


@generic
def force_cross(V: Pair, F: Pair) -> Pair:
    """V x* F, of a motion and a wrench."""
    return cross(V[1], F[0]), add(cross(V[1], F[1]), cross(V[0], F[0]))


@generic
def plus(X: Pair, Y: Pair) -> Pair:
    return add(X[0], Y[0]), add(X[1], Y[1])


@generic
def minus(X: Pair, Y: Pair) -> Pair:
    return sub(X[0], Y[0]), sub(X[1], Y[1])


@generic
def load_pair(tag: Tag, buffer: Buffer, i: int) -> Pair:
    return load3(tag, buffer, i), load3(tag, buffer, i + 3)


@generic
def store_pair(tag: Tag, buffer: Buffer, i: int, X: Pair) -> None:
    store3(tag, buffer, i, X[0])
    store3(tag, buffer, i + 3, X[1])
