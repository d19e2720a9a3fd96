"""The kernels: inverse dynamics, its time derivative, and the mass matrix, equations (5) to (13)."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, splat, store
from dynbench.methods.kernels.vectors import (
    add,
    addsym,
    const3,
    const9,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    store3,
    store6,
    zero3,
)
from dynbench.methods.screw.geometry import (
    GEOMETRY,
    POS,
    ROT,
    Inertia,
    Pair,
    force_cross,
    inertia_times,
    joint_column,
    joint_force,
    joint_motion,
    load_pair,
    minus,
    motion_cross,
    place,
    plus,
    spatial_inertia,
    start,
    store_pair,
)
from dynbench.methods.screw.model import HOME, ROW, SCREW, body_count, carrier, freedoms, iv, parent, run_start

# What a work row holds behind the geometry, by offset
V, A, F = GEOMETRY, GEOMETRY + 6, GEOMETRY + 12
WORK = GEOMETRY + 18
B, F1 = WORK, WORK + 6
RATE_WORK = WORK + 12
MASS, H, J = GEOMETRY, GEOMETRY + 1, GEOMETRY + 4  # of the body and all bodies beyond it
MATRIX_ROW = GEOMETRY + 10
AXIS = 6  # after the rows, the screw J of every coordinate
MATRIX_WORK = MATRIX_ROW + 6 * AXIS  # a body has six freedoms at most


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Outward (5), (6), (8); inward (10), (11)."""
    rest(tag, model, work)
    bodies = body_count(model)
    for i in range(1, bodies + 1):
        o = i * WORK
        inertia, _x, _y = move(tag, model, i, q, v, a, work, WORK)
        twist = load_pair(tag, work, o + V)
        # (8)
        f = plus(
            inertia_times(inertia, load_pair(tag, work, o + A)), force_cross(twist, inertia_times(inertia, twist))
        )
        if wrench is not None:
            f = minus(f, external(tag, model, i, wrench, work, o))
        store_pair(tag, work, o + F, f)
    for i in range(bodies, 0, -1):
        total = load_pair(tag, work, i * WORK + F)
        # (11)
        joint_force(tag, model, i, total, out, iv(model, i), work, i * WORK)
        give(tag, work, parent(model, i) * WORK, F, total)


@generic
def inverse_dynamics_rate(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, both: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """tau and tau', the two rows of out; ``both`` has the nv numbers of a, then those of the jerk."""
    rest(tag, model, work)
    store_pair(tag, work, B, (zero3(tag), zero3(tag)))
    bodies, nv = body_count(model), v.size // len(tag)
    for i in range(1, bodies + 1):
        o, u = i * RATE_WORK, parent(model, i) * RATE_WORK
        inertia, x, y = move(tag, model, i, q, v, both, work, RATE_WORK)
        z = joint_motion(tag, model, i, both, nv + iv(model, i), work, o)
        twist, acc = load_pair(tag, work, o + V), load_pair(tag, work, o + A)
        # (7), as B_p + z + V x (2 y + V x x) + A x x
        inner = motion_cross(twist, plus(plus(y, y), motion_cross(twist, x)))
        jerk = plus(plus(load_pair(tag, work, u + B), z), plus(inner, motion_cross(acc, x)))
        store_pair(tag, work, o + B, jerk)
        momentum, pushed = inertia_times(inertia, twist), inertia_times(inertia, acc)
        gyro = force_cross(twist, momentum)
        # (8), (9)
        f = plus(pushed, gyro)
        f1 = plus(
            inertia_times(inertia, minus(jerk, motion_cross(twist, acc))),
            plus(force_cross(twist, plus(plus(pushed, pushed), gyro)), force_cross(acc, momentum)),
        )
        if wrench is not None:
            outer = external(tag, model, i, wrench, work, o)
            f, f1 = minus(f, outer), minus(f1, force_cross(twist, outer))
        store_pair(tag, work, o + F, f)
        store_pair(tag, work, o + F1, f1)
    for i in range(bodies, 0, -1):
        o, u = i * RATE_WORK, parent(model, i) * RATE_WORK
        total, rate = load_pair(tag, work, o + F), load_pair(tag, work, o + F1)
        joint_force(tag, model, i, total, out, iv(model, i), work, o)
        # (12)
        turned = minus(rate, force_cross(load_pair(tag, work, o + V), total))
        joint_force(tag, model, i, turned, out, nv + iv(model, i), work, o)
        give(tag, work, u, F, total)
        give(tag, work, u, F1, rate)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """(13), the lower triangle.

    Columns are visited run by run (`model.RUN`). From parent to parent each step would wait for the one before, with 45
    instructions for indices at each entry of 11 operations: 1.5 times the time on a chain of 30 bodies.
    """
    start(tag, work)
    bodies = body_count(model)
    nv = iv(model, bodies) + freedoms(model, bodies)
    axes = work[(bodies + 1) * MATRIX_ROW * len(tag) :]
    for i in range(1, bodies + 1):
        o = i * MATRIX_ROW
        R, r = place(tag, model, i, q, work, MATRIX_ROW)
        m, h, inertia = spatial_inertia(model, i, R, r)
        store(tag, work, o + MASS, m)
        store3(tag, work, o + H, h)
        store6(tag, work, o + J, inertia)
        for k in range(freedoms(model, i)):
            store_pair(tag, axes, (iv(model, i) + k) * AXIS, joint_column(tag, model, i, k, work, o))
    for i in range(bodies, 0, -1):
        composite = load_inertia(tag, work, i * MATRIX_ROW)
        for k in range(freedoms(model, i)):
            row = iv(model, i) + k
            load_of = inertia_times(composite, load_pair(tag, axes, row * AXIS))
            at, end = i, row + 1
            while at > 0:
                for c in range(run_start(model, at), end):
                    s = load_pair(tag, axes, c * AXIS)
                    store(tag, out, row * nv + c, dot(s[0], load_of[0]) + dot(s[1], load_of[1]))
                at = carrier(model, at)
                end = iv(model, at) + freedoms(model, at)
        u = parent(model, i) * MATRIX_ROW
        if u > 0:
            m, h, inertia = load_inertia(tag, work, u)
            store(tag, work, u + MASS, m + composite[0])
            store3(tag, work, u + H, add(h, composite[1]))
            store6(tag, work, u + J, addsym(inertia, composite[2]))


@generic
def load_inertia(tag: Tag, work: Buffer, o: int) -> Inertia:
    return load(tag, work, o + MASS), load3(tag, work, o + H), load6(tag, work, o + J)


@generic
def rest(tag: Tag, model: Buffer, work: Buffer) -> None:
    """The ground: pose, V = 0, A = (-g; 0)."""
    start(tag, work)
    store_pair(tag, work, V, (zero3(tag), zero3(tag)))
    g = const3(model, SCREW)
    store_pair(tag, work, A, ((splat(tag, -g[0]), splat(tag, -g[1]), splat(tag, -g[2])), zero3(tag)))


@generic
def move(
    tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, a: Buffer, work: Buffer, size: int
) -> tuple[Inertia, Pair, Pair]:
    """Store pose, V and A of body row i; return its inertia, x and y."""
    o, u = i * size, parent(model, i) * size
    R, r = place(tag, model, i, q, work, size)
    x = joint_motion(tag, model, i, v, iv(model, i), work, o)
    y = joint_motion(tag, model, i, a, iv(model, i), work, o)
    # (5), (6)
    twist = plus(load_pair(tag, work, u + V), x)
    store_pair(tag, work, o + V, twist)
    store_pair(tag, work, o + A, plus(plus(load_pair(tag, work, u + A), y), motion_cross(twist, x)))
    return spatial_inertia(model, i, R, r), x, y


@generic
def external(tag: Tag, model: Buffer, i: int, wrench: Buffer, work: Buffer, o: int) -> Pair:
    """The external wrench on body row i, given in body axes at the body's origin."""
    R, r, home = load9(tag, work, o + ROT), load3(tag, work, o + POS), const9(model, i * ROW + HOME)
    f = mul(R, mul(home, load3(tag, wrench, 6 * i - 6)))
    n = mul(R, mul(home, load3(tag, wrench, 6 * i - 3)))
    at = add(mul(R, const3(model, i * ROW + HOME + 9)), r)
    return f, add(n, cross(at, f))


@generic
def give(tag: Tag, work: Buffer, u: int, at: int, total: Pair) -> None:
    """(10): add to the parent's sum; the ground has none."""
    if u > 0:
        store_pair(tag, work, u + at, plus(load_pair(tag, work, u + at), total))
