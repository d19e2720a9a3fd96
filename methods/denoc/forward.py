"""Forward dynamics by the factorisation I = U D U^T, O(n): Saha 1997; recursion over freedoms from the tips.

    psi^ = M^_i p_i,  D_i = p_i^T psi^,  psi_i = psi^ / D_i,  M^_p += B^T (M^_i - psi^ psi^^T / D_i) B,
    U_ji = p_j^T B_{i,j}^T psi_i  (j < i),  U_ii = 1.

With phi = tau - (C v - gravity) from inverse dynamics at zero acceleration, U D U^T a = phi is solved by one sweep
inward (U, D) and one outward (U^T), without forming U. A joint with several freedoms counts as several joints.
"""

from __future__ import annotations

from dynbench.methods.denoc.model import ROT, C, D, F, N, freedom, inward, outward, project
from dynbench.methods.kernels.inertia import less_axis, shift_articulated
from dynbench.methods.kernels.linear import subtract_from
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, store
from dynbench.methods.kernels.tree import (
    ARMATURE,
    I_COM,
    MASS,
    ROW,
    axis_count,
    body_count,
    first_axis,
    has_rotor,
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
    sym,
    zero3,
)

# Work rows, behind those of `model`: M^ as f = A v' + B w', n = B^T v' + G w'; eta (then mu);
# per freedom psi^, 1/D, phi^ / D
MA, MB, MG, ETA_N, ETA_F = 33, 39, 48, 54, 57
AXES, AXIS = 60, 8
WORK = AXES + 6 * AXIS


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(16) solved for the accelerations, I = U D U^T."""
    outward(tag, model, q, v, None, wrench, work, WORK)
    inward(tag, model, work, WORK)
    bodies = body_count(model)
    for i in range(1, bodies + 1):
        o = i * WORK
        project(tag, model, i, load3(tag, work, o + N), load3(tag, work, o + F), out, 0, work, WORK)
    subtract_from(tag, tau, out, velocity_count(model))
    factorise(tag, model, work)
    solve(tag, model, out, 0, work)


@generic
def factorise(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Inward: psi^ and 1/D of every freedom; poses must be in the work rows."""
    bodies = body_count(model)
    for i in range(1, bodies + 1):
        o = i * WORK
        m = const(model, i * ROW + MASS)
        store6(tag, work, o + MA, (m, 0.0, 0.0, m, 0.0, m))
        store9(tag, work, o + MB, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        store6(tag, work, o + MG, congruence(load9(tag, work, o + ROT), const6(model, i * ROW + I_COM)))
    for i in range(bodies, 0, -1):
        eliminate(tag, model, i, work)


@generic
def eliminate(tag: Tag, model: Buffer, i: int, work: Buffer) -> None:
    o = i * WORK
    A = load6(tag, work, o + MA)
    B = load9(tag, work, o + MB)
    G = load6(tag, work, o + MG)
    R = load9(tag, work, o + ROT)
    d = load3(tag, work, o + D)
    joint = kind(model, i)
    for k in range(axis_count(joint) - 1, -1, -1):
        turn, slide = freedom(tag, R, d, first_axis(joint) + k)
        f = add(sym(A, slide), mul(B, turn))
        n = add(mulT(B, slide), sym(G, turn))
        pivot = dot(turn, n) + dot(slide, f)
        if has_rotor(model, i):
            pivot = pivot + const(model, i * ROW + ARMATURE)
        inverse = 1.0 / pivot
        x = o + AXES + k * AXIS
        store3(tag, work, x, n)
        store3(tag, work, x + 3, f)
        store(tag, work, x + 6, inverse)
        A, B, G = less_axis(A, B, G, f, n, scale(inverse, f), scale(inverse, n))
    u = parent(model, i) * WORK
    if u > 0:
        # B_{i,p}^T M^ B_{i,p}
        A, B, G = shift_articulated(sub(load3(tag, work, o + C), load3(tag, work, u + C)), A, B, G)
        store6(tag, work, u + MA, addsym(load6(tag, work, u + MA), A))
        add3(tag, work, u + MB, (B[0], B[1], B[2]))
        add3(tag, work, u + MB + 3, (B[3], B[4], B[5]))
        add3(tag, work, u + MB + 6, (B[6], B[7], B[8]))
        store6(tag, work, u + MG, addsym(load6(tag, work, u + MG), G))


@generic
def solve(tag: Tag, model: Buffer, x: Buffer, at: int, work: Buffer) -> None:
    """Solve U D U^T y = x with the factors in the work rows; y replaces the nv numbers of x from ``at`` on."""
    bodies = body_count(model)
    for i in range(bodies + 1):
        store3(tag, work, i * WORK + ETA_N, zero3(tag))
        store3(tag, work, i * WORK + ETA_F, zero3(tag))
    # inward: phi^_i = phi_i - p_i^T eta, eta += psi_i phi^_i, and B^T takes eta to the parent
    for i in range(bodies, 0, -1):
        o = i * WORK
        R = load9(tag, work, o + ROT)
        d = load3(tag, work, o + D)
        n = load3(tag, work, o + ETA_N)
        f = load3(tag, work, o + ETA_F)
        joint = kind(model, i)
        j = at + iv(model, i)
        for k in range(axis_count(joint) - 1, -1, -1):
            turn, slide = freedom(tag, R, d, first_axis(joint) + k)
            z = o + AXES + k * AXIS
            s = left_over(tag, x, j + k, turn, slide, n, f) * load(tag, work, z + 6)
            store(tag, work, z + 7, s)
            n = add(n, scale(s, load3(tag, work, z)))
            f = add(f, scale(s, load3(tag, work, z + 3)))
        u = parent(model, i) * WORK
        if u > 0:
            arm = sub(load3(tag, work, o + C), load3(tag, work, u + C))
            add3(tag, work, u + ETA_F, f)
            add3(tag, work, u + ETA_N, add(n, cross(arm, f)))
    # outward: y_i = phi^_i / D_i - psi_i^T mu, mu += p_i y_i
    for i in range(1, bodies + 1):
        o = i * WORK
        u = parent(model, i) * WORK
        R = load9(tag, work, o + ROT)
        d = load3(tag, work, o + D)
        wd, vd = zero3(tag), zero3(tag)
        if u > 0:
            wd = load3(tag, work, u + ETA_N)
            arm = sub(load3(tag, work, o + C), load3(tag, work, u + C))
            vd = add(load3(tag, work, u + ETA_F), cross(wd, arm))
        joint = kind(model, i)
        j = at + iv(model, i)
        for k in range(axis_count(joint)):
            turn, slide = freedom(tag, R, d, first_axis(joint) + k)
            z = o + AXES + k * AXIS
            known = dot(load3(tag, work, z), wd) + dot(load3(tag, work, z + 3), vd)
            y = load(tag, work, z + 7) - known * load(tag, work, z + 6)
            store(tag, x, j + k, y)
            wd = add(wd, scale(y, turn))
            vd = add(vd, scale(y, slide))
        store3(tag, work, o + ETA_N, wd)
        store3(tag, work, o + ETA_F, vd)


@generic
def left_over(tag: Tag, x: Buffer, j: int, turn: Vector, slide: Vector, n: Vector, f: Vector) -> Scalar:
    return load(tag, x, j) - dot(turn, n) - dot(slide, f)
