"""Momenta of subtrees and their rates, equations (1), (2) and (9) to (13) of the package's docstring."""

from __future__ import annotations

from dynbench.methods.kernels.inertia import inertia_times
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load, store
from dynbench.methods.kernels.sweeps import joint_force, to_parent
from dynbench.methods.kernels.tree import (
    MASS,
    PRISMATIC,
    REVOLUTE,
    ROW,
    SPHERICAL,
    H,
    J,
    into_packed,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    add3,
    const3,
    const6,
    cross,
    load3,
    load9,
    mulT,
    scale,
    store3,
    store9,
    sub,
)

# What a work row holds, by offset: pose in the parent; twist V; momentum P; Q, or Q - P'; beta; what the children add
# to I^. Vectors are in the row's packed axes, at its origin.
ROT, POS, VL, VW, PF, PN, QF, QN, BF, BN, IA = 0, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36
GRAVITY = BF  # beta is used up when gravity is needed, and not begun when V' (in BF, BN) is
# Once a joint is eliminated, I^ of its body makes room for U (6), 1/D and u of up to six freedoms.
AXES, AXIS = IA, 8
WORK = AXES + 6 * AXIS


@generic
def place(tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer) -> None:
    """Store the pose of body row i in its parent."""
    R, p = pose(tag, model, i, q)
    store9(tag, work, i * WORK + ROT, R)
    store3(tag, work, i * WORK + POS, p)


@generic
def carried(tag: Tag, model: Buffer, i: int, work: Buffer, linear: int, angular: int) -> tuple[Vector, Vector]:
    """X times the parent's motion, which stands at these offsets of its row."""
    u = parent(model, i) * WORK
    R, p = load9(tag, work, i * WORK + ROT), load3(tag, work, i * WORK + POS)
    w = load3(tag, work, u + angular)
    return mulT(R, add(load3(tag, work, u + linear), cross(w, p))), mulT(R, w)


@generic
def move(tag: Tag, model: Buffer, i: int, v: Buffer, work: Buffer) -> None:
    """(8): the twist of body row i."""
    linear, w = carried(tag, model, i, work, VL, VW)
    joint, j = kind(model, i), iv(model, i)
    if joint == REVOLUTE:
        w = (w[0], w[1], w[2] + load(tag, v, j))
    elif joint == PRISMATIC:
        linear = (linear[0], linear[1], linear[2] + load(tag, v, j))
    elif joint == SPHERICAL:
        w = add(w, load3(tag, v, j))
    else:
        linear = add(linear, load3(tag, v, j))
        w = add(w, load3(tag, v, j + 3))
    store3(tag, work, i * WORK + VL, linear)
    store3(tag, work, i * WORK + VW, w)


@generic
def body_times(model: Buffer, i: int, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
    """I (v; w) of body row i"""
    m, h, inertia = const(model, i * ROW + MASS), const3(model, i * ROW + H), const6(model, i * ROW + J)
    return inertia_times(m, h, inertia, linear, angular)


@generic
def start_momentum(tag: Tag, model: Buffer, i: int, work: Buffer) -> None:
    """(1): the body's own momentum."""
    o = i * WORK
    f, n = body_times(model, i, load3(tag, work, o + VL), load3(tag, work, o + VW))
    store3(tag, work, o + PF, f)
    store3(tag, work, o + PN, n)


@generic
def weigh(tag: Tag, model: Buffer, i: int, wrench: Buffer, work: Buffer) -> None:
    """(9): the body's own weight and external wrench."""
    o = i * WORK
    g = mulT(load9(tag, work, o + ROT), load3(tag, work, parent(model, i) * WORK + GRAVITY))
    store3(tag, work, o + GRAVITY, g)
    store3(tag, work, o + QF, scale(const(model, i * ROW + MASS), g))
    store3(tag, work, o + QN, cross(const3(model, i * ROW + H), g))
    push(tag, model, i, wrench, work)


@generic
def rate_at_rest(tag: Tag, model: Buffer, i: int, v: Buffer, wrench: Buffer, work: Buffer) -> None:
    """(12) V', which includes -g here; then the body's own part of Q - P', (9) less (13)."""
    o = i * WORK
    linear, w = load3(tag, work, o + VL), load3(tag, work, o + VW)
    a, wd = carried(tag, model, i, work, BF, BN)
    joint, j = kind(model, i), iv(model, i)
    if joint == REVOLUTE:
        rate = load(tag, v, j)
        a = (a[0] + linear[1] * rate, a[1] - linear[0] * rate, a[2])
        wd = (wd[0] + w[1] * rate, wd[1] - w[0] * rate, wd[2])
    elif joint == PRISMATIC:
        rate = load(tag, v, j)
        a = (a[0] + w[1] * rate, a[1] - w[0] * rate, a[2])
    elif joint == SPHERICAL:
        x = load3(tag, v, j)
        a, wd = add(a, cross(linear, x)), add(wd, cross(w, x))
    else:
        x = load3(tag, v, j + 3)
        a = add(a, add(cross(w, load3(tag, v, j)), cross(linear, x)))
        wd = add(wd, cross(w, x))
    store3(tag, work, o + BF, a)
    store3(tag, work, o + BN, wd)
    f, n = body_times(model, i, a, wd)
    store3(tag, work, o + QF, (-f[0], -f[1], -f[2]))
    store3(tag, work, o + QN, (-n[0], -n[1], -n[2]))
    push(tag, model, i, wrench, work)


@generic
def push(tag: Tag, model: Buffer, i: int, wrench: Buffer, work: Buffer) -> None:
    """Add the external wrench on body row i."""
    if wrench is not None:
        add3(tag, work, i * WORK + QF, into_packed(model, i, load3(tag, wrench, 6 * i - 6)))
        add3(tag, work, i * WORK + QN, into_packed(model, i, load3(tag, wrench, 6 * i - 3)))


@generic
def sum_momenta(
    tag: Tag, model: Buffer, i: int, v: Buffer, tau: Buffer, out: Buffer, at: int, work: Buffer
) -> None:
    """Write what body row i gives to out, from index ``at`` on, and add its sums to the parent's.

    Without tau that is p, (2); with tau it is p', (11), and if v is given too, p' - M' q' of (14).
    """
    o, u = i * WORK, parent(model, i) * WORK
    Pf, Pn = load3(tag, work, o + PF), load3(tag, work, o + PN)
    if tau is None:
        joint_force(tag, model, i, Pf, Pn, out, at)
    else:
        rates(tag, model, i, tau, out, at, work)
    if u > 0:
        R, p = load9(tag, work, o + ROT), load3(tag, work, o + POS)
        if tau is not None:
            Qf, Qn = load3(tag, work, o + QF), load3(tag, work, o + QN)
            if v is not None:
                Qf, Qn = less_turned(tag, model, i, v, Pf, Pn, Qf, Qn)
            Qf, Qn = to_parent(R, p, Qf, Qn)
            add3(tag, work, u + QF, Qf)
            add3(tag, work, u + QN, Qn)
        Pf, Pn = to_parent(R, p, Pf, Pn)
        add3(tag, work, u + PF, Pf)
        add3(tag, work, u + PN, Pn)


@generic
def rates(tag: Tag, model: Buffer, i: int, tau: Buffer, out: Buffer, at: int, work: Buffer) -> None:
    """(11): p' = tau + S^T (Q - V x* P), with only the components (10) that the joint needs."""
    o, j = i * WORK, iv(model, i)
    v, w = load3(tag, work, o + VL), load3(tag, work, o + VW)
    f, n = load3(tag, work, o + PF), load3(tag, work, o + PN)
    joint = kind(model, i)
    if joint == REVOLUTE:
        turned = w[0] * n[1] - w[1] * n[0] + (v[0] * f[1] - v[1] * f[0])
        store(tag, out, at + j, load(tag, tau, j) + (load(tag, work, o + QN + 2) - turned))
    elif joint == PRISMATIC:
        turned = w[0] * f[1] - w[1] * f[0]
        store(tag, out, at + j, load(tag, tau, j) + (load(tag, work, o + QF + 2) - turned))
    else:
        moment = sub(load3(tag, work, o + QN), add(cross(w, n), cross(v, f)))
        if joint == SPHERICAL:
            store3(tag, out, at + j, add(load3(tag, tau, j), moment))
        else:
            store3(tag, out, at + j, add(load3(tag, tau, j), sub(load3(tag, work, o + QF), cross(w, f))))
            store3(tag, out, at + j + 3, add(load3(tag, tau, j + 3), moment))


@generic
def less_turned(
    tag: Tag, model: Buffer, i: int, v: Buffer, Pf: Vector, Pn: Vector, Qf: Vector, Qn: Vector
) -> tuple[Vector, Vector]:
    """(13): Q - P' - x x* P, which goes to the parent."""
    joint, j = kind(model, i), iv(model, i)
    if joint == REVOLUTE:
        rate = load(tag, v, j)
        Qf = (Qf[0] + rate * Pf[1], Qf[1] - rate * Pf[0], Qf[2])
        Qn = (Qn[0] + rate * Pn[1], Qn[1] - rate * Pn[0], Qn[2])
    elif joint == PRISMATIC:
        rate = load(tag, v, j)
        Qn = (Qn[0] + rate * Pf[1], Qn[1] - rate * Pf[0], Qn[2])
    elif joint == SPHERICAL:
        x = load3(tag, v, j)
        Qf, Qn = sub(Qf, cross(x, Pf)), sub(Qn, cross(x, Pn))
    else:
        x = load3(tag, v, j + 3)
        Qf, Qn = sub(Qf, cross(x, Pf)), sub(Qn, add(cross(x, Pn), cross(load3(tag, v, j), Pf)))
    return Qf, Qn
