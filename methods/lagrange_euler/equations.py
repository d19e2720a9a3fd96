"""The terms of the equations of motion, summed over the bodies, and the quantities computed from them."""

from __future__ import annotations

from dynbench.methods.kernels.linear import add_product, clear, ldlt, ldlt_solve, mirror, subtract_from
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, splat
from dynbench.methods.kernels.tree import (
    COM,
    I_COM,
    MASS,
    ROW,
    axis_count,
    body_count,
    first_axis,
    gravity,
    into_packed,
    iv,
    kind,
    parent,
    velocity_count,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    congruence,
    const3,
    const6,
    cross,
    load3,
    load9,
    mul,
    scale,
    sub,
    sym,
    zero3,
)
from dynbench.methods.lagrange_euler.jacobians import (
    AXIS,
    BODY,
    RATE,
    ROT,
    XD,
    V,
    W,
    X,
    freedom_row,
    jacobian,
    place,
    project,
)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(1): M a + C v + g."""
    nv, M = terms(tag, model, q, v, wrench, out, work)
    add_product(tag, work, M, nv, a, out)
    add_product(tag, work, M + nv * nv, nv, v, out)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(1) solved for a."""
    nv, M = terms(tag, model, q, v, wrench, out, work)
    add_product(tag, work, M + nv * nv, nv, v, out)
    subtract_from(tag, tau, out, nv)
    ldlt(tag, work, M, nv)
    ldlt_solve(tag, work, M, nv, out, 0)


@generic
def terms(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, wrench: Buffer, g: Buffer, work: Buffer
) -> tuple[int, int]:
    """Fill g, and M and after it C in the workspace; return nv and where M begins."""
    nv = velocity_count(model)
    M = freedom_row(model, nv)
    place(tag, model, q, v, work)
    fill(tag, model, wrench, work, work, M, work, M + nv * nv, g)
    return nv, M


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    place(tag, model, q, None, work)
    fill(tag, model, None, work, out, 0, None, 0, None)


@generic
def coriolis_matrix(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    place(tag, model, q, v, work)
    fill(tag, model, None, work, None, 0, out, 0, None)


@generic
def fill(
    tag: Tag, model: Buffer, wrench: Buffer, work: Buffer, M: Buffer, M_at: int, C: Buffer, C_at: int, g: Buffer
) -> None:
    """Sum M, C and g over the bodies; any of them may be None."""
    nv = velocity_count(model)
    if M is not None:
        clear(tag, M, M_at, nv * nv)
    if C is not None:
        clear(tag, C, C_at, nv * nv)
    if g is not None:
        clear(tag, g, 0, nv)
    for i in range(1, body_count(model) + 1):
        m = const(model, i * ROW + MASS)
        R = load9(tag, work, i * BODY + ROT)
        inertia = congruence(R, const6(model, i * ROW + I_COM))
        arm = mul(R, const3(model, i * ROW + COM))
        jacobian(tag, model, i, add(load3(tag, work, i * BODY + X), arm), work)
        if g is not None:
            # (4) g
            f, n = weight(tag, model, i, m, R, arm, wrench)
            project(tag, model, i, f, n, work, g, 0, 1)
        # inward along the path to the ground: the body's part of column s of M and C
        j = i
        while j > 0:
            joint = kind(model, j)
            for k in range(axis_count(joint)):
                s = iv(model, j) + k
                about = first_axis(joint) + k > 2
                if M is not None:
                    # (3) M
                    f, n = inertia_force(tag, model, s, about, m, inertia, work)
                    project(tag, model, j, f, n, work, M, M_at + s * nv, 1)
                if C is not None:
                    # C of (6) in the form (7), in place of the symbols (5)
                    f, n = coriolis_force(tag, model, i, j, s, about, m, inertia, arm, work)
                    project(tag, model, i, f, n, work, C, C_at + s, nv)
            j = parent(model, j)
    if M is not None:
        mirror(tag, M, M_at, nv)


@generic
def weight(tag: Tag, model: Buffer, i: int, m: Scalar, R: Matrix, arm: Vector, wrench: Buffer) -> tuple[Vector, Vector]:
    """Force and moment about the centre of mass that hold a body at rest against gravity and external wrenches."""
    g = gravity(model)
    f = (splat(tag, -m * g[0]), splat(tag, -m * g[1]), splat(tag, -m * g[2]))
    n = zero3(tag)
    if wrench is not None:
        push = mul(R, into_packed(model, i, load3(tag, wrench, 6 * i - 6)))
        f = sub(f, push)
        n = sub(cross(arm, push), mul(R, into_packed(model, i, load3(tag, wrench, 6 * i - 3))))
    return f, n


@generic
def inertia_force(
    tag: Tag, model: Buffer, s: int, about: bool, m: Scalar, inertia: Symmetric, work: Buffer
) -> tuple[Vector, Vector]:
    """m V_s and I e_s"""
    o = freedom_row(model, s)
    n = zero3(tag)
    if about:
        n = sym(inertia, load3(tag, work, o + AXIS))
    return scale(m, load3(tag, work, o + V)), n


@generic
def coriolis_force(
    tag: Tag,
    model: Buffer,
    i: int,
    j: int,
    s: int,
    about: bool,
    m: Scalar,
    inertia: Symmetric,
    arm: Vector,
    work: Buffer,
) -> tuple[Vector, Vector]:
    """m Vdot_s and I edot_s + (S e_s) x w, of body ``i`` for freedom ``s`` of joint ``j``"""
    o = freedom_row(model, s)
    rate = load3(tag, work, o + RATE)
    vd = rate
    n = zero3(tag)
    if about:
        e = load3(tag, work, o + AXIS)
        w = load3(tag, work, i * BODY + W)
        r = add(sub(load3(tag, work, i * BODY + X), load3(tag, work, j * BODY + X)), arm)
        rd = add(sub(load3(tag, work, i * BODY + XD), load3(tag, work, j * BODY + XD)), cross(w, arm))
        vd = add(cross(rate, r), cross(e, rd))
        half_trace = 0.5 * (inertia[0] + inertia[3] + inertia[5])
        second_moment = sub(scale(half_trace, e), sym(inertia, e))
        n = add(sym(inertia, rate), cross(second_moment, w))
    return scale(m, vd), n
