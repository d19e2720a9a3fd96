"""Derivatives of inverse and forward dynamics: an analytic recursion, O(n d).

J. Carpentier, N. Mansard, Analytical derivatives of rigid body dynamics algorithms, Robotics: Science and Systems 2018;
S. Singh, R. Russell, P. Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra,
IEEE Robotics and Automation Letters 2022 (joints with several freedoms, and the composites used here). The derivatives
by q are along the tangent of `Robot.integrate`: for spherical and free joints a small turn and shift in child axes.

Everything is expressed in the frame of the root, the body attached to the ground, as in `crba`: sums over subtrees and
products with unit motions then need no transforms. Coordinates of different branches do not influence each other. The
equations, (20) to (37), are listed in the docstring of the package.
"""

from __future__ import annotations

from dynbench.methods.kernels.branches import factorise, solve_columns
from dynbench.methods.kernels.inertia import inertia_times
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.sweeps import joint_force
from dynbench.methods.kernels.tree import (
    ARMATURE,
    MASS,
    ROW,
    SUBTREE_MASS,
    axis_count,
    body_count,
    first_axis,
    ground_acceleration,
    has_rotor,
    into_packed,
    iv,
    kind,
    parent,
    pose,
    root,
    segment_parent,
    segment_start,
    velocity_count,
    velocity_end,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    add3,
    addsym,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    mulT,
    scale,
    store3,
    store6,
    store9,
    sub,
    zero3,
)
from dynbench.methods.newton_euler import aba, crba
from dynbench.methods.newton_euler.crba import POS, ROT, about_root, place, turns

# The workspace: the rows and unit motions of `crba`, then rows of bodies with V, A, and the sums over the subtree of
# h, I, l, N and F; then for each axis s', s'' and c, linear part first.
LINEAR, ANGULAR, ACC_LINEAR, ACC_ANGULAR = 0, 3, 6, 9
FIRST, INERTIA, MOMENTUM, TURNING, FORCE, MOMENT = 12, 15, 21, 24, 33, 36
GROUND, BODY = 39, 42  # of roots: the acceleration of the ground
RATE, SECOND, BOTH, MOTION = 0, 6, 12, 18
WORK = crba.WORK + BODY + 6 * MOTION  # a body has six freedoms at most


@generic
def inverse_dynamics_derivatives(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """d tau/dq, then d tau/dv, each nv x nv by rows."""
    derivatives(tag, model, q, v, a, wrench, out, None, work)


@generic
def forward_dynamics_derivatives(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """d a/dq, then d a/dv, each nv x nv by rows."""
    nv = velocity_count(model)
    M = work[nv * len(tag) :]
    inner = work[nv * (nv + 1) * len(tag) :]
    a = work[: nv * len(tag)]
    aba.forward_dynamics(tag, model, q, v, tau, wrench, a, inner)
    derivatives(tag, model, q, v, a, wrench, out, M, inner)
    for i in range(1, body_count(model) + 1):
        if has_rotor(model, i):
            for k in range(iv(model, i), velocity_end(model, i)):
                store(tag, M, k * (nv + 1), load(tag, M, k * (nv + 1)) + const(model, i * ROW + ARMATURE))
    # (37)
    factorise(tag, model, M)
    solve_columns(tag, model, M, out, 2, inner)


@generic
def derivatives(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, mass: Buffer, work: Buffer
) -> None:
    """Fill the derivatives of inverse dynamics, and the lower triangle of M unless ``mass`` is None."""
    bodies, nv = body_count(model), velocity_count(model)
    axes = work[(bodies + 1) * crba.BODY * len(tag) :]
    rows = work[(bodies + 1) * crba.WORK * len(tag) :]
    motions = work[(bodies + 1) * (crba.WORK + BODY) * len(tag) :]
    grounds(tag, model, q, rows)
    turns(tag, model, q, work)
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work, axes)
        if parent(model, i) == 0:
            move_root(tag, model, i, v, a, rows)
        else:
            move(tag, model, i, v, a, axes, rows, motions)
        start_sums(tag, model, i, wrench, work, rows)
    for i in range(bodies, 0, -1):
        for row in range(iv(model, i), velocity_end(model, i)):
            fill(tag, model, i, row, nv, axes, rows, motions, out, mass)
        add_to_parent(tag, model, i, rows)


@generic
def grounds(tag: Tag, model: Buffer, q: Buffer, rows: Buffer) -> None:
    """Write what the ground accelerates by, gravity being an acceleration, in the frame of each root.

    A loop of its own: in that of `move` the libm fallback of `sincos` would spill registers.
    """
    for i in range(1, body_count(model) + 1):
        if parent(model, i) == 0:
            R, _p = pose(tag, model, i, q)
            store3(tag, rows, i * BODY + GROUND, mulT(R, ground_acceleration(tag, model)))


@generic
def move_root(tag: Tag, model: Buffer, i: int, v: Buffer, a: Buffer, rows: Buffer) -> None:
    """(22), (23) of a root, whose axes are those of the frame and are carried by nothing that moves."""
    o = i * BODY
    store3(tag, rows, o + LINEAR, zero3(tag))
    store3(tag, rows, o + ANGULAR, zero3(tag))
    store3(tag, rows, o + ACC_LINEAR, load3(tag, rows, o + GROUND))
    store3(tag, rows, o + ACC_ANGULAR, zero3(tag))
    joint = kind(model, i)
    for k in range(axis_count(joint)):
        axis = first_axis(joint) + k
        store(tag, rows, o + LINEAR + axis, load(tag, v, iv(model, i) + k))
        at = o + ACC_LINEAR + axis
        store(tag, rows, at, load(tag, rows, at) + load(tag, a, iv(model, i) + k))


@generic
def move(
    tag: Tag, model: Buffer, i: int, v: Buffer, a: Buffer, axes: Buffer, rows: Buffer, motions: Buffer
) -> None:
    """Outward: the rates of the axes of a joint, then velocity and acceleration of its body."""
    o = i * BODY
    u = parent(model, i) * BODY
    vl, vw, al, aw = load_motion(tag, rows, u)
    store3(tag, rows, o + LINEAR, vl)
    store3(tag, rows, o + ANGULAR, vw)
    store3(tag, rows, o + ACC_LINEAR, al)
    store3(tag, rows, o + ACC_ANGULAR, aw)
    first, end = iv(model, i), velocity_end(model, i)
    for k in range(first, end):
        e = load3(tag, axes, k * crba.AXIS)
        l = load3(tag, axes, k * crba.AXIS + 3)
        rate, acc = load(tag, v, k), load(tag, a, k)
        at = k * MOTION
        # (20)
        rw = cross(vw, e)
        rl = add(cross(vw, l), cross(vl, e))
        store3(tag, motions, at + RATE, rl)
        store3(tag, motions, at + RATE + 3, rw)
        # (21)
        store3(tag, motions, at + SECOND, add(add(cross(aw, l), cross(al, e)), add(cross(vw, rl), cross(vl, rw))))
        store3(tag, motions, at + SECOND + 3, add(cross(aw, e), cross(vw, rw)))
        # (22), (23)
        add3(tag, rows, o + LINEAR, scale(rate, l))
        add3(tag, rows, o + ANGULAR, scale(rate, e))
        add3(tag, rows, o + ACC_LINEAR, add(scale(acc, l), scale(rate, rl)))
        add3(tag, rows, o + ACC_ANGULAR, add(scale(acc, e), scale(rate, rw)))
        if end - first == 1:
            # (24)
            store3(tag, motions, at + BOTH, add(rl, rl))
            store3(tag, motions, at + BOTH + 3, add(rw, rw))
    if end - first > 1:
        vl = load3(tag, rows, o + LINEAR)
        vw = load3(tag, rows, o + ANGULAR)
        for k in range(first, end):
            e = load3(tag, axes, k * crba.AXIS)
            l = load3(tag, axes, k * crba.AXIS + 3)
            rl = load3(tag, motions, k * MOTION + RATE)
            rw = load3(tag, motions, k * MOTION + RATE + 3)
            # (24)
            store3(tag, motions, k * MOTION + BOTH, add(rl, add(cross(vw, l), cross(vl, e))))
            store3(tag, motions, k * MOTION + BOTH + 3, add(rw, cross(vw, e)))


@generic
def load_motion(tag: Tag, rows: Buffer, o: int) -> tuple[Vector, Vector, Vector, Vector]:
    """V and A of the body whose row begins at ``o``: linear, angular, then the accelerations."""
    return (
        load3(tag, rows, o + LINEAR),
        load3(tag, rows, o + ANGULAR),
        load3(tag, rows, o + ACC_LINEAR),
        load3(tag, rows, o + ACC_ANGULAR),
    )


@generic
def start_sums(tag: Tag, model: Buffer, i: int, wrench: Buffer, work: Buffer, rows: Buffer) -> None:
    """What the body itself contributes to the sums over subtrees."""
    o = i * BODY
    m = const(model, i * ROW + MASS)
    h, inertia = about_root(tag, model, i, work)
    vl, vw, al, aw = load_motion(tag, rows, o)
    store3(tag, rows, o + FIRST, h)
    store6(tag, rows, o + INERTIA, inertia)
    # (26)
    l, angular = inertia_times(m, h, inertia, vl, vw)
    store3(tag, rows, o + MOMENTUM, l)
    store9(tag, rows, o + TURNING, turning(vw, inertia, h, vl))
    # (25)
    f, n = inertia_times(m, h, inertia, al, aw)
    f = add(f, cross(vw, l))
    n = add(n, add(cross(vw, angular), cross(vl, l)))
    if wrench is not None:
        R = load9(tag, work, i * crba.BODY + ROT)
        push = mul(R, into_packed(model, i, load3(tag, wrench, 6 * i - 6)))
        turn = mul(R, into_packed(model, i, load3(tag, wrench, 6 * i - 3)))
        f = sub(f, push)
        n = sub(n, add(turn, cross(load3(tag, work, i * crba.BODY + POS), push)))
    store3(tag, rows, o + FORCE, f)
    store3(tag, rows, o + MOMENT, n)


@generic
def turning(w: Vector, J: Symmetric, h: Vector, v: Vector) -> Matrix:
    """N = w~ E + h~ v~, with E = tr(J)/2 1 - J and h~ v~ = v h^T - (h . v) 1."""
    half = (J[0] + J[3] + J[5]) * 0.5
    xx, yy, zz = half - J[0], half - J[3], half - J[5]
    xy, xz, yz = J[1], J[2], J[4]  # of E with the opposite sign
    both = dot(h, v)
    return (
        w[2] * xy - w[1] * xz + v[0] * h[0] - both,
        v[0] * h[1] - w[2] * yy - w[1] * yz,
        w[2] * yz + w[1] * zz + v[0] * h[2],
        w[2] * xx + w[0] * xz + v[1] * h[0],
        w[0] * yz - w[2] * xy + v[1] * h[1] - both,
        v[1] * h[2] - w[2] * xz - w[0] * zz,
        v[2] * h[0] - w[1] * xx - w[0] * xy,
        w[1] * xy + w[0] * yy + v[2] * h[1],
        w[1] * xz - w[0] * yz + v[2] * h[2] - both,
    )


@generic
def load_sums(
    tag: Tag, model: Buffer, i: int, rows: Buffer
) -> tuple[Scalar, Vector, Symmetric, Vector, Matrix]:
    """Mass, h, I, l and N of the subtree of row ``i``."""
    o = i * BODY
    return (
        const(model, i * ROW + SUBTREE_MASS),
        load3(tag, rows, o + FIRST),
        load6(tag, rows, o + INERTIA),
        load3(tag, rows, o + MOMENTUM),
        load9(tag, rows, o + TURNING),
    )


@generic
def add_to_parent(tag: Tag, model: Buffer, i: int, rows: Buffer) -> None:
    """Add the sums of a subtree to those of the parent's."""
    u, o = parent(model, i) * BODY, i * BODY
    if u > 0:
        add3(tag, rows, u + FIRST, load3(tag, rows, o + FIRST))
        store6(tag, rows, u + INERTIA, addsym(load6(tag, rows, u + INERTIA), load6(tag, rows, o + INERTIA)))
        for k in range(MOMENTUM, GROUND, 3):
            add3(tag, rows, u + k, load3(tag, rows, o + k))


@generic
def fill(
    tag: Tag,
    model: Buffer,
    i: int,
    row: int,
    nv: int,
    axes: Buffer,
    rows: Buffer,
    motions: Buffer,
    out: Buffer,
    mass: Buffer,
) -> None:
    """The rows and columns of one coordinate, for all coordinates of its joint and of those on the path to the ground.

    As in `crba.fill_row` the loop is over segments. What is between two of them belongs to other branches: zeros.
    """
    m, h, inertia, momentum, N = load_sums(tag, model, i, rows)
    e = load3(tag, axes, row * crba.AXIS)
    l = load3(tag, axes, row * crba.AXIS + 3)
    # (28)
    f1, n1 = inertia_times(m, h, inertia, l, e)
    # (29), of which the force is zero
    n2 = sub(cross(momentum, l), mulT(N, e))
    n2 = add(n2, n2)
    base = root(model, i)
    line_of_root(tag, model, base, row * nv, nv * nv, f1, n1, n2, rows, out, mass)
    apart(tag, 0, iv(model, base), row, nv, out)
    if i != base:
        fill_path(tag, model, i, base, row, nv, f1, n1, n2, axes, rows, motions, out, mass)


@generic
def fill_path(
    tag: Tag,
    model: Buffer,
    i: int,
    base: int,
    row: int,
    nv: int,
    f1: Vector,
    n1: Vector,
    n2: Vector,
    axes: Buffer,
    rows: Buffer,
    motions: Buffer,
    out: Buffer,
    mass: Buffer,
) -> None:
    """The rest of `fill` for a body that is carried by others: columns, and rows but for the root's coordinates."""
    o = i * BODY
    second = nv * nv
    m, h, inertia, momentum, N = load_sums(tag, model, i, rows)
    e = load3(tag, axes, row * crba.AXIS)
    l = load3(tag, axes, row * crba.AXIS + 3)
    # (30), D by (27)
    rw = load3(tag, motions, row * MOTION + RATE + 3)
    sl = load3(tag, motions, row * MOTION + SECOND)
    sw = load3(tag, motions, row * MOTION + SECOND + 3)
    force = load3(tag, rows, o + FORCE)
    moment = load3(tag, rows, o + MOMENT)
    df = cross(rw, momentum)
    dn = mul(N, rw)
    f, n = inertia_times(m, h, inertia, sl, sw)
    f3 = add(add(add(df, df), cross(e, force)), f)
    n3 = add(add(cross(e, moment), cross(l, force)), n)
    n3 = sub(n3, add(dn, dn))
    # (31)
    cl = load3(tag, motions, row * MOTION + BOTH)
    cw = load3(tag, motions, row * MOTION + BOTH + 3)
    df = cross(e, momentum)
    dn = mul(N, e)
    f, n = inertia_times(m, h, inertia, cl, cw)
    f4 = add(add(df, df), f)
    n4 = sub(n, add(dn, dn))
    for c in range(iv(model, i), velocity_end(model, i)):
        line(tag, c, row * nv + c, second, f1, n1, n2, axes, motions, out, mass)
    end = iv(model, i)
    at = i
    while at > 0:
        begin = segment_start(model, at)
        for c in range(begin, end):
            line(tag, c, row * nv + c, second, f1, n1, n2, axes, motions, out, mass)
            column(tag, c, c * nv + row, second, f3, n3, f4, n4, axes, out)
        at = segment_parent(model, at)
        end = velocity_end(model, at) if at > 0 else velocity_end(model, base)
        apart(tag, end, begin, row, nv, out)
    # (33), (35): in the frame of the root the components of a wrench are the forces of its joint
    joint = kind(model, base)
    for k in range(axis_count(joint)):
        axis, c = first_axis(joint) + k, (iv(model, base) + k) * nv + row
        store(tag, out, c, aba.component(f3, n3, axis))
        store(tag, out, second + c, aba.component(f4, n4, axis))


@generic
def line_of_root(
    tag: Tag,
    model: Buffer,
    base: int,
    at: int,
    second: int,
    f1: Vector,
    n1: Vector,
    n2: Vector,
    rows: Buffer,
    out: Buffer,
    mass: Buffer,
) -> None:
    """(32), (34), (36) for the coordinates of the root, whose r are unit vectors: r' = 0, r'' = A_p x r, c = V x r."""
    joint_force(tag, model, base, zero3(tag), cross(f1, load3(tag, rows, base * BODY + GROUND)), out, at)
    if axis_count(kind(model, base)) == 1:
        joint_force(tag, model, base, zero3(tag), n2, out, second + at)
    else:
        v = load3(tag, rows, base * BODY + LINEAR)
        w = load3(tag, rows, base * BODY + ANGULAR)
        n = add(n2, add(cross(f1, v), cross(n1, w)))
        joint_force(tag, model, base, cross(f1, w), n, out, second + at)
    if mass is not None:
        joint_force(tag, model, base, f1, n1, mass, at)


@generic
def line(
    tag: Tag,
    c: int,
    at: int,
    second: int,
    f1: Vector,
    n1: Vector,
    n2: Vector,
    axes: Buffer,
    motions: Buffer,
    out: Buffer,
    mass: Buffer,
) -> None:
    """(32), (34), (36): entry ``at`` of the row of a coordinate, by coordinate c."""
    e = load3(tag, axes, c * crba.AXIS)
    k = c * MOTION
    x = dot(n2, load3(tag, motions, k + RATE + 3)) + dot(f1, load3(tag, motions, k + SECOND))
    store(tag, out, at, x + dot(n1, load3(tag, motions, k + SECOND + 3)))
    y = dot(n2, e) + dot(f1, load3(tag, motions, k + BOTH)) + dot(n1, load3(tag, motions, k + BOTH + 3))
    store(tag, out, second + at, y)
    if mass is not None:
        store(tag, mass, at, dot(n1, e) + dot(f1, load3(tag, axes, c * crba.AXIS + 3)))


@generic
def column(
    tag: Tag, c: int, at: int, second: int, f3: Vector, n3: Vector, f4: Vector, n4: Vector, axes: Buffer, out: Buffer
) -> None:
    """(33), (35): entry ``at`` of the column of a coordinate, in the row of c."""
    e = load3(tag, axes, c * crba.AXIS)
    l = load3(tag, axes, c * crba.AXIS + 3)
    store(tag, out, at, dot(n3, e) + dot(f3, l))
    store(tag, out, second + at, dot(n4, e) + dot(f4, l))


@generic
def apart(tag: Tag, begin: int, end: int, row: int, nv: int, out: Buffer) -> None:
    """Zeros for coordinates from ``begin`` to ``end``, which are on other branches than ``row``."""
    zero = splat(tag, 0.0)
    for c in range(begin, end):
        for at in (row * nv + c, c * nv + row):
            store(tag, out, at, zero)
            store(tag, out, nv * nv + at, zero)
