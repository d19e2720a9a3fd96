"""Inverse dynamics: the gradient of the acceleration energy by the quasi-accelerations, equations (3) to (5).

Numbers in comments are equations of the package's docstring. Vectors of a body are in its own packed axes.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load, splat
from dynbench.methods.kernels.sweeps import external, given, joint_force
from dynbench.methods.kernels.tree import (
    MASS,
    PRISMATIC,
    REVOLUTE,
    ROW,
    SPHERICAL,
    H,
    body_count,
    gravity,
    iv,
    kind,
    parent,
    pose,
)
from dynbench.methods.kernels.tree import J as E  # second moments, see GibbsAppell.pack
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
    zero3,
)

# Work rows, one per packed row (row 0 is the ground)
ROT, POS = 0, 9  # pose in the parent (12); the Hessian's rows begin alike
W, WD, ACC = 12, 15, 18  # angular velocity, angular acceleration, acceleration of the origin
PHI, CHI = 21, 24  # derivatives by ACC and WD
WORK = 27


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
    g = gravity(model)
    store3(tag, work, W, zero3(tag))
    store3(tag, work, WD, zero3(tag))
    store3(tag, work, ACC, (splat(tag, -g[0]), splat(tag, -g[1]), splat(tag, -g[2])))
    for i in range(1, body_count(model) + 1):
        R, p = pose(tag, model, i, q)
        o = i * WORK
        store9(tag, work, o + ROT, R)
        store3(tag, work, o + POS, p)
        u = parent(model, i) * WORK
        # (4) the parent's part; its W is made anew, which beats storing and loading it by 8 %
        w = load3(tag, work, u + W)
        wd = load3(tag, work, u + WD)
        acc = mulT(R, add(load3(tag, work, u + ACC), mul(acceleration_field(w, wd), p)))
        w = mulT(R, w)
        wd = mulT(R, wd)
        # and the joint's, with what its axes' own turning adds
        joint = kind(model, i)
        j = iv(model, i)
        if joint == REVOLUTE:
            rate = load(tag, v, j)
            wd = (wd[0] + w[1] * rate, wd[1] - w[0] * rate, wd[2] + given(tag, a, j))
            w = (w[0], w[1], w[2] + rate)
        elif joint == PRISMATIC:
            twice = load(tag, v, j) * 2.0
            acc = (acc[0] + w[1] * twice, acc[1] - w[0] * twice, acc[2] + given(tag, a, j))
        else:
            first = j if joint == SPHERICAL else j + 3
            rates = load3(tag, v, first)
            if joint != SPHERICAL:
                # w x v twice for the parent's turning, once for the axes' in which v' is taken
                carried = cross(add(w, add(w, rates)), load3(tag, v, j))
                acc = add(acc, add(carried, given3(tag, a, j)))
            wd = add(wd, add(cross(w, rates), given3(tag, a, first)))
            w = add(w, rates)
        spin = acceleration_field(w, wd)
        store3(tag, work, o + W, w)
        store3(tag, work, o + WD, wd)
        store3(tag, work, o + ACC, acc)
        h = const3(model, i * ROW + H)
        # (3)
        S = add(scale(const(model, i * ROW + MASS), acc), mul(spin, h))
        T = add(cross(h, acc), axial_product(spin, const6(model, i * ROW + E)))
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
            R = load9(tag, work, o + ROT)
            phi = mul(R, phi)
            chi = add(mul(R, chi), cross(load3(tag, work, o + POS), phi))
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


@generic
def given3(tag: Tag, a: Buffer, j: int) -> Vector:
    return (given(tag, a, j), given(tag, a, j + 1), given(tag, a, j + 2))
