"""Inverse dynamics: the gradient of the acceleration energy by the quasi-accelerations, equations (3) to (5).

Numbers in comments are equations of the package's docstring. Vectors of a body are in its own packed axes.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic
from dynbench.methods.kernels.sweeps import (
    ACC,
    POS,
    ROT,
    WD,
    WORK,
    F,
    N,
    W,
    add_joint_motion,
    external,
    joint_force,
    start,
    to_parent,
)
from dynbench.methods.kernels.tree import MASS, ROW, SECOND_MOMENT, H, body_count, parent, pose
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    acceleration_field,
    add,
    add3,
    const3,
    const6,
    cross,
    load3,
    load9,
    mul,
    mulT,
    scale,
    store3,
    store9,
)

# Work rows are those of `kernels.sweeps`, with the derivatives by ACC and WD in the slots of force and moment. The
# Hessian's rows begin with ROT and POS too.
PHI, CHI = F, N


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(2): tau = dS/dv'."""
    outward(tag, model, q, v, a, wrench, work)
    inward(tag, model, out, work)


@generic
def outward(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer) -> None:
    """From the ground to the tips: the acceleration field of each body, and its own S_i and T_i."""
    start(tag, model, work)
    for i in range(1, body_count(model) + 1):
        R, p = pose(tag, model, i, q)
        o = i * WORK
        store9(tag, work, o + ROT, R)
        store3(tag, work, o + POS, p)
        u = parent(model, i) * WORK
        # (4) the parent's part; its W is recomputed, 8 % faster than storing and loading it
        w = load3(tag, work, u + W)
        wd = load3(tag, work, u + WD)
        acc = mulT(R, add(load3(tag, work, u + ACC), mul(acceleration_field(w, wd), p)))
        w = mulT(R, w)
        wd = mulT(R, wd)
        # and the joint's, with what its axes' own turning adds
        w, wd, acc = add_joint_motion(tag, model, i, v, a, w, wd, acc)
        spin = acceleration_field(w, wd)
        store3(tag, work, o + W, w)
        store3(tag, work, o + WD, wd)
        store3(tag, work, o + ACC, acc)
        h = const3(model, i * ROW + H)
        # (3)
        S = add(scale(const(model, i * ROW + MASS), acc), mul(spin, h))
        T = add(cross(h, acc), axial_product(spin, const6(model, i * ROW + SECOND_MOMENT)))
        S, T = external(tag, model, i, wrench, S, T)
        store3(tag, work, o + PHI, S)
        store3(tag, work, o + CHI, T)


@generic
def inward(tag: Tag, model: Buffer, out: Buffer, work: Buffer) -> None:
    """From the tips to the ground: the derivatives (5) by each body's accelerations, and by its joint's."""
    for i in range(body_count(model), 0, -1):
        o = i * WORK
        phi = load3(tag, work, o + PHI)
        chi = load3(tag, work, o + CHI)
        joint_force(tag, model, i, phi, chi, out, 0)
        u = parent(model, i) * WORK
        if u > 0:
            phi, chi = to_parent(load9(tag, work, o + ROT), load3(tag, work, o + POS), phi, chi)
            add3(tag, work, u + PHI, phi)
            add3(tag, work, u + CHI, chi)


@generic
def axial_product(M: Matrix, E: Symmetric) -> Vector:
    """axial(M E) for a symmetric E: twice the skew part of the product, as a vector"""
    zy = M[6] * E[1] + M[7] * E[3] + M[8] * E[4]
    yz = M[3] * E[2] + M[4] * E[4] + M[5] * E[5]
    xz = M[0] * E[2] + M[1] * E[4] + M[2] * E[5]
    zx = M[6] * E[0] + M[7] * E[1] + M[8] * E[2]
    yx = M[3] * E[0] + M[4] * E[1] + M[5] * E[2]
    xy = M[0] * E[1] + M[1] * E[3] + M[2] * E[4]
    return (zy - yz, xz - zx, yx - xy)
