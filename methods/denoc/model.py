"""Twists of a tree, resolved in one inertial frame at the centres of mass (Saha's DeNOC matrices, block by block).

    t_i = [omega_i; v_i],  v_i of the centre of mass c_i          t_i = B_{i,p} t_p + p_i qd_i
    B_{i,p} = [[1, 0], [-[a]x, 1]],  a = c_i - c_p                  block of N_l; B composes along the tree
    p_i = [e; e x d] about an axis e, [0; e] along it               block of N_d; d = c_i - o_i, o_i the joint's origin
    B'_{i,p} = [[0, 0], [-[v_i - v_p]x, 0]],  p_i' = omega_i x p_i  both parts of p_i turn with the link

A joint with several degrees of freedom has several columns p_i, about or along the axes of its own link.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load
from dynbench.methods.kernels.sweeps import joint_force
from dynbench.methods.kernels.tree import (
    COM,
    FREE,
    I_COM,
    MASS,
    PRISMATIC,
    REVOLUTE,
    ROW,
    body_count,
    ground_acceleration,
    into_packed,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    add3,
    column,
    congruence,
    const3,
    const6,
    cross,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    scale,
    store3,
    store9,
    sub,
    sym,
    zero3,
)

# Work rows: link axes in the inertial frame, centre of mass, d, then twist, its rate, and the wrench [n; f]
ROT, C, D, W, V, WD, VD, N, F = 0, 9, 12, 15, 18, 21, 24, 27, 30
WORK = 33


@generic
def freedom(tag: Tag, R: Matrix, d: Vector, axis: int) -> tuple[Vector, Vector]:
    """A column p of N_d, angular and linear part; axis 0 to 2 along, 3 to 5 about the link's axes."""
    # (23) p = [e; e x d] about an axis e, [0; e] along it; (26) a block of N_d
    if axis < 3:
        return zero3(tag), column(R, axis)
    e = column(R, axis - 3)
    return e, cross(e, d)


@generic
def joint_twist(tag: Tag, model: Buffer, i: int, R: Matrix, d: Vector, x: Buffer) -> tuple[Vector, Vector]:
    """p_i x: all columns of one joint times its numbers in x (v or a)."""
    joint = kind(model, i)
    j = iv(model, i)
    if joint == REVOLUTE:
        turn = scale(load(tag, x, j), (R[2], R[5], R[8]))
        return turn, cross(turn, d)
    if joint == PRISMATIC:
        return zero3(tag), scale(load(tag, x, j), (R[2], R[5], R[8]))
    if joint == FREE:
        turn = mul(R, load3(tag, x, j + 3))
        return turn, add(cross(turn, d), mul(R, load3(tag, x, j)))
    turn = mul(R, load3(tag, x, j))
    return turn, cross(turn, d)


@generic
def place(
    tag: Tag, model: Buffer, i: int, q: Buffer, work: Buffer, stride: int
) -> tuple[Matrix, Vector, Vector]:
    """Link axes, centre of mass and d of one body in the inertial frame, from those of its parent."""
    R, p = pose(tag, model, i, q)
    u = parent(model, i) * stride
    if u > 0:
        outer = load9(tag, work, u + ROT)
        origin = sub(load3(tag, work, u + C), load3(tag, work, u + D))
        R = matmul(outer, R)
        p = add(origin, mul(outer, p))
    d = mul(R, const3(model, i * ROW + COM))
    c = add(p, d)
    o = i * stride
    store9(tag, work, o + ROT, R)
    store3(tag, work, o + C, c)
    store3(tag, work, o + D, d)
    return R, c, d


@generic
def outward(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer, stride: int
) -> None:
    """Twists, their rates, and the wrench M t' + Omega M t - w that each body requires; ``a`` may be None for zero."""
    store3(tag, work, C, zero3(tag))
    store3(tag, work, W, zero3(tag))
    store3(tag, work, V, zero3(tag))
    store3(tag, work, WD, zero3(tag))
    store3(tag, work, VD, ground_acceleration(tag, model))
    for i in range(1, body_count(model) + 1):
        R, c, d = place(tag, model, i, q, work, stride)
        o = i * stride
        u = parent(model, i) * stride
        arm = sub(c, load3(tag, work, u + C))
        w_parent = load3(tag, work, u + W)
        wd_parent = load3(tag, work, u + WD)
        turn, slide = joint_twist(tag, model, i, R, d, v)
        # (1) t = [omega; v]; (4), (6) t = T v = N_l N_d v by (23), body by body; (26) B is a block of N_l
        # t = B t_p + p qd
        w = add(w_parent, turn)
        apart = add(cross(w_parent, arm), slide)  # v_i - v_p
        store3(tag, work, o + V, add(load3(tag, work, u + V), apart))
        # (7) erratum: printed as the derivative of a sum
        # t' = B t_p' + B' t_p + p qdd + p' qd
        wd = add(wd_parent, cross(w, turn))
        vd = add(load3(tag, work, u + VD), add(cross(wd_parent, arm), add(cross(w_parent, apart), cross(w, slide))))
        if a is not None:
            turn2, slide2 = joint_twist(tag, model, i, R, d, a)
            wd = add(wd, turn2)
            vd = add(vd, slide2)
        store3(tag, work, o + W, w)
        store3(tag, work, o + WD, wd)
        store3(tag, work, o + VD, vd)
        # (2) M t' + Omega M t - w, a wrench [n; f]; (1) erratum: printed [f; tau], (2) erratum: printed -M t
        inertia = congruence(R, const6(model, i * ROW + I_COM))
        n = add(sym(inertia, wd), cross(w, sym(inertia, w)))
        f = scale(const(model, i * ROW + MASS), vd)
        if wrench is not None:
            outer_f = mul(R, into_packed(model, i, load3(tag, wrench, 6 * i - 6)))
            outer_n = mul(R, into_packed(model, i, load3(tag, wrench, 6 * i - 3)))
            f = sub(f, outer_f)
            n = sub(n, sub(outer_n, cross(d, outer_f)))
        store3(tag, work, o + N, n)
        store3(tag, work, o + F, f)


@generic
def inward(tag: Tag, model: Buffer, work: Buffer, stride: int) -> None:
    """N_l^T w: the wrench of each body is added to that of its parent, w_p += B^T w_i."""
    for i in range(body_count(model), 0, -1):
        u = parent(model, i) * stride
        if u > 0:
            o = i * stride
            f = load3(tag, work, o + F)
            arm = sub(load3(tag, work, o + C), load3(tag, work, u + C))
            add3(tag, work, u + F, f)
            add3(tag, work, u + N, add(load3(tag, work, o + N), cross(arm, f)))


@generic
def project(
    tag: Tag, model: Buffer, i: int, n: Vector, f: Vector, out: Buffer, at: int, work: Buffer, stride: int
) -> None:
    """p_i^T w for all freedoms of joint i: the wrench at the joint's origin, in link axes, along them."""
    R = load9(tag, work, i * stride + ROT)
    at_joint = add(n, cross(load3(tag, work, i * stride + D), f))
    joint_force(tag, model, i, mulT(R, f), mulT(R, at_joint), out, at)
