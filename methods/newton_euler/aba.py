"""Forward dynamics: the articulated-body algorithm (Featherstone 2008, table 7.1).

A body with all bodies that it carries requires, at its frame origin, the wrench

    f = A acc + B wd + bias_f,     n = B^T acc + C wd + bias_n,

where acc is the acceleration of the origin and wd the angular acceleration. The axes of its joint are eliminated one at
a time, the last first, by rank-one updates; spherical and free joints need no code of their own.
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import congruence2, less_axis, mul2, mul2T, shift_articulated, turned2
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.sweeps import external, to_parent, velocity_terms
from dynbench.methods.kernels.tree import (
    ARMATURE,
    MASS,
    REVOLUTE,
    ROW,
    H,
    J,
    axis_count,
    body_count,
    first_axis,
    ground_acceleration,
    has_rotor,
    is_last_child,
    is_leaf,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    add3,
    add9,
    addsym,
    congruence,
    const3,
    const6,
    cross,
    dot,
    load3,
    load6,
    load9,
    matmul,
    mul,
    mulT,
    scale,
    splat3,
    store3,
    store6,
    store9,
    sym,
    transpose,
    zero3,
)

# Work rows: pose, angular velocity, velocity terms of the accelerations, articulated inertia, bias; accelerations
ROT, POS, W, ZA, ZW = 0, 9, 12, 15, 18
BF, BN, IA = 21, 24, 27  # IA: contributions of the children to A, B and C of the inertia
ACC, WD = ZA, ZW  # accelerations replace the velocity terms, which are no longer needed then
# After a joint is eliminated its body's inertia is no longer needed. Its slots are reused, for each axis, for the axis'
# column of the inertia (6), 1/D, and the remaining force. Small rows matter: they stay in the first-level cache.
AXES, AXIS = IA, 8
WORK = AXES + 6 * AXIS


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    bodies = body_count(model)
    store3(tag, work, W, zero3(tag))
    store3(tag, work, ACC, ground_acceleration(tag, model))
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
    """Outward: pose, angular velocity, velocity terms, and the body's own bias wrench."""
    o = i * WORK
    R, p = pose(tag, model, i, q)
    store9(tag, work, o + ROT, R)
    store3(tag, work, o + POS, p)
    w_parent = load3(tag, work, parent(model, i) * WORK + W)
    # (9) c, as parts of wd and acc
    w, zw, za = velocity_terms(tag, model, i, R, p, w_parent, v)
    store3(tag, work, o + W, w)
    store3(tag, work, o + ZW, zw)
    store3(tag, work, o + ZA, za)
    h = const3(model, i * ROW + H)
    inertia = const6(model, i * ROW + J)
    # (10) p^A
    f, n = external(tag, model, i, wrench, cross(w, cross(w, h)), cross(w, sym(inertia, w)))
    store3(tag, work, o + BF, f)
    store3(tag, work, o + BN, n)


@generic
def rigid(tag: Tag, model: Buffer, i: int) -> tuple[Symmetric, Matrix, Symmetric]:
    """A, B, C of the body alone."""
    m = splat(tag, const(model, i * ROW + MASS))
    h = const3(model, i * ROW + H)
    inertia = const6(model, i * ROW + J)
    (x, y, z), zero = splat3(tag, h), splat(tag, 0.0)
    C = splat3(tag, inertia[:3]) + splat3(tag, inertia[3:])
    return (m, zero, zero, m, zero, m), (zero, z, -y, -z, zero, x, y, -x, zero), C


@generic
def with_children(
    tag: Tag, model: Buffer, i: int, work: Buffer, at: int
) -> tuple[Symmetric, Matrix, Symmetric]:
    """A, B, C of the body with what its children have passed to it, which is in work[at:]."""
    A, B, C = rigid(tag, model, i)
    if not is_leaf(model, i):
        A = addsym(A, load6(tag, work, at))
        B = add9(B, load9(tag, work, at + 6))
        C = addsym(C, load6(tag, work, at + 15))
    return A, B, C


@generic
def pass_inertia(
    tag: Tag, model: Buffer, i: int, A: Symmetric, B: Matrix, C: Symmetric, work: Buffer, at: int
) -> None:
    """Add A, B, C of row ``i`` to what its parent has from others of its children, in work[at:]."""
    if not is_last_child(model, i):
        A = addsym(A, load6(tag, work, at))
        B = add9(B, load9(tag, work, at + 6))
        C = addsym(C, load6(tag, work, at + 15))
    store6(tag, work, at, A)
    store9(tag, work, at + 6, B)
    store6(tag, work, at + 15, C)


@generic
def store_axis(tag: Tag, work: Buffer, at: int, uf: Vector, un: Vector, inverse: Scalar, left: Scalar) -> None:
    """What the outward sweep needs of an eliminated axis: U, 1/D, and the remaining force."""
    store3(tag, work, at, uf)
    store3(tag, work, at + 3, un)
    store(tag, work, at + 6, inverse)
    store(tag, work, at + 7, left)


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
def eliminate_joint(tag: Tag, model: Buffer, i: int, tau: Buffer, work: Buffer) -> None:
    """Inward: solve for the joint's accelerations in terms of the parent's, and pass the rest to the parent."""
    o = i * WORK
    A, B, C = with_children(tag, model, i, work, o + IA)
    f = load3(tag, work, o + BF)
    n = load3(tag, work, o + BN)
    joint = kind(model, i)
    j = iv(model, i)
    for k in range(axis_count(joint) - 1, -1, -1):
        axis = first_axis(joint) + k
        # (11) U = I^A S, (12) D = S^T U
        uf, un, d = column(A, B, C, axis)
        if has_rotor(model, i):
            d = d + const(model, i * ROW + ARMATURE)
        inverse = 1.0 / d
        # (13) u = tau - S^T p^A
        left = load(tag, tau, j + k) - component(f, n, axis)
        store_axis(tag, work, o + AXES + k * AXIS, uf, un, inverse, left)
        # (14) I^a = I^A - U D^-1 U^T, and U D^-1 u of (15)
        sf = scale(inverse, uf)
        sn = scale(inverse, un)
        A, B, C = less_axis(A, B, C, uf, un, sf, sn)
        f = add(f, scale(left, sf))
        n = add(n, scale(left, sn))
    u = parent(model, i) * WORK
    if u > 0:
        # (15) p^a, with I^a c; (16) I^a and p^a to the parent
        za = load3(tag, work, o + ZA)
        zw = load3(tag, work, o + ZW)
        R = load9(tag, work, o + ROT)
        p = load3(tag, work, o + POS)
        if joint == REVOLUTE and not has_rotor(model, i):
            # the eliminated axis has no inertia left: the last column of B and row and column of C are zero
            f = add(f, add(sym(A, za), mul2(B, zw)))
            t = mul2T(B, za)
            n = (n[0] + t[0] + C[0] * zw[0] + C[1] * zw[1], n[1] + t[1] + C[1] * zw[0] + C[3] * zw[1], n[2])
            A, B, C = shift_articulated(p, congruence(R, A), turned2(R, B), congruence2(R, C))
        else:
            f = add(f, add(sym(A, za), mul(B, zw)))
            n = add(n, add(mulT(B, za), sym(C, zw)))
            B = matmul(matmul(R, B), transpose(R))
            A, B, C = shift_articulated(p, congruence(R, A), B, congruence(R, C))
        f, n = to_parent(R, p, f, n)
        pass_inertia(tag, model, i, A, B, C, work, u + IA)
        add3(tag, work, u + BF, f)
        add3(tag, work, u + BN, n)


@generic
def accelerate(tag: Tag, model: Buffer, i: int, out: Buffer, work: Buffer) -> None:
    """Outward: the joint's accelerations from the parent's, then the body's."""
    o = i * WORK
    u = parent(model, i) * WORK
    R = load9(tag, work, o + ROT)
    p = load3(tag, work, o + POS)
    # (17) a' = X a_p + c
    wd_parent = load3(tag, work, u + WD)
    acc = add(mulT(R, add(load3(tag, work, u + ACC), cross(wd_parent, p))), load3(tag, work, o + ZA))
    wd = add(mulT(R, wd_parent), load3(tag, work, o + ZW))
    store3(tag, work, o + ACC, acc)
    store3(tag, work, o + WD, wd)
    joint = kind(model, i)
    for k in range(axis_count(joint)):
        x = o + AXES + k * AXIS
        acc = load3(tag, work, o + ACC)
        wd = load3(tag, work, o + WD)
        # (18) q'' = D^-1 (u - U^T a')
        known = dot(load3(tag, work, x), acc) + dot(load3(tag, work, x + 3), wd)
        a = (load(tag, work, x + 7) - known) * load(tag, work, x + 6)
        store(tag, out, iv(model, i) + k, a)
        # acc and wd lie side by side, in the order of the axes
        # (19) a = a' + S q''
        at = o + ACC + first_axis(joint) + k
        store(tag, work, at, load(tag, work, at) + a)
