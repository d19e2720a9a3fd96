"""Generalized inertia I = N_d^T N_l^T M N_l N_d, and the convective matrix C.

    C = N_d^T N_l^T (M N_l' N_d + M N_l N_d' + Omega M N_l N_d),   Omega_i = diag([omega_i]x, 0)

erratum: printed with M' in place of Omega M (eq. 17). With M'_i = [omega]x I_i - I_i [omega]x the product C v is the
same, but dI/dt - 2 C is then not skew-symmetric in space; with Omega M it is.
"""

from __future__ import annotations

from dynbench.methods.denoc.model import ROT, WORK, C, D, F, N, V, W, freedom, outward, place, project
from dynbench.methods.kernels.inertia import parallel_axis, shifted_moment
from dynbench.methods.kernels.linear import clear, mirror
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.tree import (
    I_COM,
    MASS,
    ROW,
    axis_count,
    body_count,
    first_axis,
    iv,
    kind,
    parent,
    velocity_count,
)
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    add3,
    addsym,
    congruence,
    const6,
    cross,
    load3,
    load6,
    load9,
    scale,
    store3,
    store6,
    sub,
    sym,
    zero3,
)

# Composite bodies: mass, first moment and inertia about the centre of mass of the body they hang on
C_MASS, C_H, C_J, COMPOSITE = 15, 16, 19, 25


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """(17): I = N_d^T N_l^T M N_l N_d."""
    bodies = body_count(model)
    nv = velocity_count(model)
    clear(tag, out, 0, nv * nv)
    for i in range(1, bodies + 1):
        R, _c, _d = place(tag, model, i, q, work, COMPOSITE)
        o = i * COMPOSITE
        store(tag, work, o + C_MASS, splat(tag, const(model, i * ROW + MASS)))
        store3(tag, work, o + C_H, zero3(tag))
        store6(tag, work, o + C_J, congruence(R, const6(model, i * ROW + I_COM)))
    # inward: N_l^T M N_l is block by block B^T of a composite, I_ji = p_j^T B_{i,j}^T M_i p_i
    for i in range(bodies, 0, -1):
        o = i * COMPOSITE
        m = load(tag, work, o + C_MASS)
        h = load3(tag, work, o + C_H)
        inertia = load6(tag, work, o + C_J)
        R = load9(tag, work, o + ROT)
        d = load3(tag, work, o + D)
        joint = kind(model, i)
        for k in range(axis_count(joint)):
            turn, slide = freedom(tag, R, d, first_axis(joint) + k)
            n = add(sym(inertia, turn), cross(h, slide))
            f = add(scale(m, slide), cross(turn, h))
            carry(tag, model, i, n, f, out, nv * (iv(model, i) + k), work)
        u = parent(model, i) * COMPOSITE
        if u > 0:
            arm = sub(load3(tag, work, o + C), load3(tag, work, u + C))
            store(tag, work, u + C_MASS, load(tag, work, u + C_MASS) + m)
            store6(tag, work, u + C_J, addsym(load6(tag, work, u + C_J), parallel_axis(inertia, m, h, arm)))
            add3(tag, work, u + C_H, shifted_moment(m, h, arm))
    mirror(tag, out, 0, nv)


@generic
def carry(tag: Tag, model: Buffer, i: int, n: Vector, f: Vector, out: Buffer, row: int, work: Buffer) -> None:
    """Carry a wrench from body i to the ground, by B^T; its part along each joint passed is an entry of that row."""
    while i > 0:
        project(tag, model, i, n, f, out, row, work, COMPOSITE)
        o = i * COMPOSITE
        i = parent(model, i)
        if i > 0:
            arm = sub(load3(tag, work, o + C), load3(tag, work, i * COMPOSITE + C))
            n = add(n, cross(arm, f))


@generic
def coriolis_matrix(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """C column by column, O(n^2): the wrenches M T' + Omega M T of one freedom, summed inward and projected."""
    # (17), with Omega M in place of the printed M'
    bodies = body_count(model)
    nv = velocity_count(model)
    clear(tag, out, 0, nv * nv)
    outward(tag, model, q, v, None, wrench, work, WORK)
    spare = work[(bodies + 1) * WORK * len(tag) :]
    for b in range(1, bodies + 1):
        joint = kind(model, b)
        R = load9(tag, work, b * WORK + ROT)
        d = load3(tag, work, b * WORK + D)
        w = load3(tag, work, b * WORK + W)
        for k in range(axis_count(joint)):
            turn, slide = freedom(tag, R, d, first_axis(joint) + k)
            turn_rate = cross(w, turn)
            slide_rate = cross(w, slide)
            for i in range(1, bodies + 1):
                store3(tag, work, i * WORK + N, zero3(tag))
                store3(tag, work, i * WORK + F, zero3(tag))
                if descends(model, i, b):
                    # T = B p and T' = B' p + B p', B from body b to body i
                    arm = sub(load3(tag, work, i * WORK + C), load3(tag, work, b * WORK + C))
                    apart = sub(load3(tag, work, i * WORK + V), load3(tag, work, b * WORK + V))
                    linear_rate = add(slide_rate, add(cross(turn_rate, arm), cross(turn, apart)))
                    inertia = congruence(load9(tag, work, i * WORK + ROT), const6(model, i * ROW + I_COM))
                    spin = cross(load3(tag, work, i * WORK + W), sym(inertia, turn))
                    store3(tag, work, i * WORK + N, add(sym(inertia, turn_rate), spin))
                    store3(tag, work, i * WORK + F, scale(const(model, i * ROW + MASS), linear_rate))
            for i in range(bodies, 0, -1):
                n = load3(tag, work, i * WORK + N)
                f = load3(tag, work, i * WORK + F)
                project(tag, model, i, n, f, spare, 0, work, WORK)
                u = parent(model, i) * WORK
                if u > 0:
                    arm = sub(load3(tag, work, i * WORK + C), load3(tag, work, u + C))
                    add3(tag, work, u + F, f)
                    add3(tag, work, u + N, add(n, cross(arm, f)))
            j = iv(model, b) + k
            for r in range(nv):
                store(tag, out, r * nv + j, load(tag, spare, r))


@generic
def descends(model: Buffer, i: int, b: int) -> bool:
    """Whether body row i is b or a descendant of b."""
    while i > b:
        i = parent(model, i)
    return i == b
