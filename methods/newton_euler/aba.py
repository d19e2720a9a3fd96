"""Forward dynamics: the articulated-body algorithm (Featherstone 2008, table 7.1).

A body with everything beyond it needs, at its frame origin, the wrench

    f = A acc + B wd + bias_f,     n = B^T acc + C wd + bias_n,

acc being the origin's acceleration and wd the angular one. The freedoms of its joint are eliminated one at a time, the
last first, each a rank-one update; so a spherical or free joint needs no code of its own.
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import shifted_articulated
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.sweeps import external, velocity_terms
from dynbench.methods.kernels.tree import (
    IV,
    KIND,
    MASS,
    PARENT,
    ROW,
    H,
    J,
    axis_count,
    body_count,
    first_axis,
    gravity,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    add3,
    addsym,
    const3,
    const6,
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
    sym,
    zero3,
)

# Work rows: pose, angular velocity, velocity terms of the accelerations, articulated inertia, bias; accelerations
ROT, POS, W, ZA, ZW = 0, 9, 12, 15, 18
IA, IB, IC, BF, BN = 21, 27, 36, 42, 45
ACC, WD = ZA, ZW  # a body's velocity terms are used up when its acceleration is known
# and for up to six freedoms of its joint: column of the inertia (6), 1/D, force left over
AXES, AXIS = 48, 8
WORK = AXES + 6 * AXIS


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    bodies = body_count(model)
    g = gravity(model)
    store3(tag, work, W, zero3(tag))
    store3(tag, work, ACC, (splat(tag, -g[0]), splat(tag, -g[1]), splat(tag, -g[2])))
    store3(tag, work, WD, zero3(tag))
    for i in range(1, bodies + 1):
        start_body(tag, model, i, q, v, wrench, work)
    for i in range(bodies, 0, -1):
        eliminate_joint(tag, model, i, tau, work)
    for i in range(1, bodies + 1):
        accelerate(tag, model, i, out, work)


@generic
def start_body(
    tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, wrench: Buffer, work: Buffer
) -> None:
    """Outward: pose, angular velocity, velocity terms; the body's own inertia and bias wrench."""
    o = i * WORK
    R, p = pose(tag, model, i, q)
    store9(tag, work, o + ROT, R)
    store3(tag, work, o + POS, p)
    w_parent = load3(tag, work, index(model, i * ROW + PARENT) * WORK + W)
    w, zw, za = velocity_terms(tag, model, i, R, p, w_parent, v)
    store3(tag, work, o + W, w)
    store3(tag, work, o + ZW, zw)
    store3(tag, work, o + ZA, za)
    m = const(model, i * ROW + MASS)
    h = const3(model, i * ROW + H)
    inertia = const6(model, i * ROW + J)
    store6(tag, work, o + IA, (m, 0.0, 0.0, m, 0.0, m))
    store9(tag, work, o + IB, (0.0, h[2], -h[1], -h[2], 0.0, h[0], h[1], -h[0], 0.0))
    store6(tag, work, o + IC, inertia)
    f, n = external(tag, model, i, wrench, cross(w, cross(w, h)), cross(w, sym(inertia, w)))
    store3(tag, work, o + BF, f)
    store3(tag, work, o + BN, n)


@generic
def column(A: Symmetric, B: Matrix, C: Symmetric, axis: int) -> tuple[Vector, Vector, Scalar]:
    """Wrench for a unit acceleration along (0 to 2) or about (3 to 5) an axis, and its own component on that axis."""
    if axis == 5:
        return (B[2], B[5], B[8]), (C[2], C[4], C[5]), C[5]
    if axis == 4:
        return (B[1], B[4], B[7]), (C[1], C[3], C[4]), C[3]
    if axis == 3:
        return (B[0], B[3], B[6]), (C[0], C[1], C[2]), C[0]
    if axis == 2:
        return (A[2], A[4], A[5]), (B[6], B[7], B[8]), A[5]
    if axis == 1:
        return (A[1], A[3], A[4]), (B[3], B[4], B[5]), A[3]
    return (A[0], A[1], A[2]), (B[0], B[1], B[2]), A[0]


@generic
def component(f: Vector, n: Vector, axis: int) -> Scalar:
    if axis == 5:
        return n[2]
    if axis == 4:
        return n[1]
    if axis == 3:
        return n[0]
    if axis == 2:
        return f[2]
    if axis == 1:
        return f[1]
    return f[0]


@generic
def less_outer(S: Symmetric, a: Vector, b: Vector) -> Symmetric:
    """S - a b^T, for parallel a and b"""
    return (
        S[0] - a[0] * b[0],
        S[1] - a[0] * b[1],
        S[2] - a[0] * b[2],
        S[3] - a[1] * b[1],
        S[4] - a[1] * b[2],
        S[5] - a[2] * b[2],
    )


@generic
def eliminate_joint(tag: Tag, model: Buffer, i: int, tau: Buffer, work: Buffer) -> None:
    """Inward: solve for the joint's accelerations in terms of the parent's, and pass the rest to the parent."""
    o = i * WORK
    A = load6(tag, work, o + IA)
    B = load9(tag, work, o + IB)
    C = load6(tag, work, o + IC)
    f = load3(tag, work, o + BF)
    n = load3(tag, work, o + BN)
    kind = index(model, i * ROW + KIND)
    j = index(model, i * ROW + IV)
    for k in range(axis_count(kind) - 1, -1, -1):
        axis = first_axis(kind) + k
        uf, un, d = column(A, B, C, axis)
        inverse = 1.0 / d
        left = load(tag, tau, j + k) - component(f, n, axis)
        x = o + AXES + k * AXIS
        store3(tag, work, x, uf)
        store3(tag, work, x + 3, un)
        store(tag, work, x + 6, inverse)
        store(tag, work, x + 7, left)
        sf = scale(inverse, uf)
        sn = scale(inverse, un)
        A = less_outer(A, sf, uf)
        C = less_outer(C, sn, un)
        B = (
            B[0] - sf[0] * un[0],
            B[1] - sf[0] * un[1],
            B[2] - sf[0] * un[2],
            B[3] - sf[1] * un[0],
            B[4] - sf[1] * un[1],
            B[5] - sf[1] * un[2],
            B[6] - sf[2] * un[0],
            B[7] - sf[2] * un[1],
            B[8] - sf[2] * un[2],
        )
        f = add(f, scale(left, sf))
        n = add(n, scale(left, sn))
    u = index(model, i * ROW + PARENT) * WORK
    if u > 0:
        za = load3(tag, work, o + ZA)
        zw = load3(tag, work, o + ZW)
        f = add(f, add(sym(A, za), mul(B, zw)))
        n = add(n, add(mulT(B, za), sym(C, zw)))
        R = load9(tag, work, o + ROT)
        p = load3(tag, work, o + POS)
        A, B, C = shifted_articulated(R, p, A, B, C)
        f = mul(R, f)
        n = add(mul(R, n), cross(p, f))
        store6(tag, work, u + IA, addsym(load6(tag, work, u + IA), A))
        D = load9(tag, work, u + IB)
        store3(tag, work, u + IB, add((D[0], D[1], D[2]), (B[0], B[1], B[2])))
        store3(tag, work, u + IB + 3, add((D[3], D[4], D[5]), (B[3], B[4], B[5])))
        store3(tag, work, u + IB + 6, add((D[6], D[7], D[8]), (B[6], B[7], B[8])))
        store6(tag, work, u + IC, addsym(load6(tag, work, u + IC), C))
        add3(tag, work, u + BF, f)
        add3(tag, work, u + BN, n)


@generic
def accelerate(tag: Tag, model: Buffer, i: int, out: Buffer, work: Buffer) -> None:
    """Outward: the joint's accelerations from the parent's, then the body's."""
    o = i * WORK
    u = index(model, i * ROW + PARENT) * WORK
    R = load9(tag, work, o + ROT)
    p = load3(tag, work, o + POS)
    wd_parent = load3(tag, work, u + WD)
    acc = add(mulT(R, add(load3(tag, work, u + ACC), cross(wd_parent, p))), load3(tag, work, o + ZA))
    wd = add(mulT(R, wd_parent), load3(tag, work, o + ZW))
    store3(tag, work, o + ACC, acc)
    store3(tag, work, o + WD, wd)
    kind = index(model, i * ROW + KIND)
    for k in range(axis_count(kind)):
        x = o + AXES + k * AXIS
        acc = load3(tag, work, o + ACC)
        wd = load3(tag, work, o + WD)
        known = dot(load3(tag, work, x), acc) + dot(load3(tag, work, x + 3), wd)
        a = (load(tag, work, x + 7) - known) * load(tag, work, x + 6)
        store(tag, out, index(model, i * ROW + IV) + k, a)
        # acc and wd lie side by side, in the order of the axes
        at = o + ACC + first_axis(kind) + k
        store(tag, work, at, load(tag, work, at) + a)
