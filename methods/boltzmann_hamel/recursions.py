"""The paper's own form, O(n^2) an arm: partial derivatives (29)-(45) and the A and B recursions (46)-(53).

For a seed x in {V0, omega0, omega_i}, P_a = dV_a/dx and S_a = dOmega_a/dx are 3x3 *transposed* Jacobians (the layout
of all the paper's derivatives), and A, B stand for -D_i^-T dV_a/dtheta_i, -D_i^-T dOmega_a/dtheta_i. One pass outward
over everything that row i carries, for each i:

    seed    start at its own row          a > i, with C = C_{a-1}^a
    V0      P = 1                         P_a = P_{a-1} C^T                                        (30)-(32)
    omega   P = [[R_i]], S = 1            S_a = S_{a-1} C^T                                        (34), (42), (43)
                                          P_a = (P_{a-1} + S_{a-1} [[r_{a-1}]]) C^T + S_a [[R_a]]  (36), (44), (45)
    E_i     B = [[C Omega_{i-1}]]         B_a = B_{a-1} C^T                                        (50), (51)
            A = [[u_i]] + B [[R_i]]       A_a = (A_{a-1} + B_{a-1} [[r_{a-1}]]) C^T + B_a [[R_a]]  (52), (53)

Departures from the print, each shown wrong by a test: (51) has C_{i-1}^a where C_{a-1}^a belongs; (52) lacks the C in
u_i = C (V_{i-1} - [[r_{i-1}]] Omega_{i-1}); (33) adds the scalar Omega' I Omega where S I Omega belongs. A base frame
away from the base's centre of mass only changes the start, to P = [[R_0]], as for a link.
"""

from __future__ import annotations

from dynbench.methods.boltzmann_hamel.elimination import solve
from dynbench.methods.boltzmann_hamel.kinematics import (
    OMEGA,
    OMEGA_DOT,
    ROT,
    U_DOT,
    U,
    at_com,
    outward,
    relative_rate,
    start,
)
from dynbench.methods.boltzmann_hamel.model import (
    body_count,
    com_to_joint,
    first_place,
    last_place,
    velocity_count,
    visited,
)
from dynbench.methods.boltzmann_hamel.partials import (
    I_OMEGA,
    I_OMEGA_DOT,
    M_V,
    M_V_DOT,
    P_DOT,
    S_DOT,
    WORK,
    A,
    B,
    P,
    S,
    fill_mass_matrix,
    skew,
    start_partials,
)
from dynbench.methods.kernels.inertia import times_cross
from dynbench.methods.kernels.linear import clear, subtract_from
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic
from dynbench.methods.kernels.sweeps import external, joint_force
from dynbench.methods.kernels.tree import COM, FREE, I_COM, MASS, ROW, kind, parent
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    add9,
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


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    start(tag, model, work)
    for i in range(1, body_count(model) + 1):
        outward(tag, model, i, q, v, a, work, WORK)
        own_momenta(tag, model, i, wrench, work)
    for i in range(1, body_count(model) + 1):
        momentum, rate = angular_momentum(tag, model, i, v, work)
        omega = relative_rate(tag, model, i, v)
        moment = add(rate, cross(omega, momentum))
        force = zero3(tag)
        if kind(model, i) == FREE:
            linear, linear_rate = linear_momentum(tag, model, i, v, work)
            force = add(linear_rate, cross(omega, linear))  # (19)
            moment = add(moment, cross(load3(tag, work, i * WORK + U), linear))  # (20)
        else:
            moment = add(moment, quasi_coordinate_term(tag, model, i, work))  # (21)
        joint_force(tag, model, i, force, moment, out, 0)  # H_i^T (21): the joint's freedoms only


@generic
def own_momenta(tag: Tag, model: Buffer, i: int, wrench: Buffer, work: Buffer) -> None:
    """m V, I Omega and their rates. An external force F and moment T at the centre of mass count against the rates:
    what they add to a seed's equation is P_a F + S_a T."""
    o = i * WORK
    omega = load3(tag, work, o + OMEGA)
    omega_dot = load3(tag, work, o + OMEGA_DOT)
    m = const(model, i * ROW + MASS)
    inertia = const6(model, i * ROW + I_COM)
    store3(tag, work, o + M_V, scale(m, at_com(model, i, load3(tag, work, o + U), omega)))
    store3(tag, work, o + I_OMEGA, sym(inertia, omega))
    rate = scale(m, at_com(model, i, load3(tag, work, o + U_DOT), omega_dot))
    turning = sym(inertia, omega_dot)
    if wrench is not None:  # given at the joint: T = N - [[R_i]] F
        f, n = external(tag, model, i, wrench, zero3(tag), zero3(tag))
        rate = add(rate, f)
        turning = add(turning, sub(n, cross(const3(model, i * ROW + COM), f)))
    store3(tag, work, o + M_V_DOT, rate)
    store3(tag, work, o + I_OMEGA_DOT, turning)


@generic
def linear_momentum(tag: Tag, model: Buffer, i: int, v: Buffer, work: Buffer) -> tuple[Vector, Vector]:
    """dK/dV0 (29) and its rate, for the base in row ``i``."""
    start_partials(tag, model, i, 0, work, P)
    store9(tag, work, i * WORK + P_DOT, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    momentum = load3(tag, work, i * WORK + M_V)
    rate = load3(tag, work, i * WORK + M_V_DOT)
    for k in range(first_place(model, i) + 1, last_place(model, i) + 1):
        a = visited(model, k)
        o = a * WORK
        parent_row = parent(model, a) * WORK
        R = load9(tag, work, o + ROT)
        p = matmul(load9(tag, work, parent_row + P), R)  # (30)
        p_dot = add9(
            matmul(load9(tag, work, parent_row + P_DOT), R), times_cross(p, relative_rate(tag, model, a, v))
        )
        store9(tag, work, o + P, p)
        store9(tag, work, o + P_DOT, p_dot)
        m_v = load3(tag, work, o + M_V)
        momentum = add(momentum, mul(p, m_v))
        rate = add(rate, add(mul(p_dot, m_v), mul(p, load3(tag, work, o + M_V_DOT))))
    return momentum, rate


@generic
def angular_momentum(tag: Tag, model: Buffer, i: int, v: Buffer, work: Buffer) -> tuple[Vector, Vector]:
    """dK/domega_i (33), (41) and its rate: P m V + S I Omega over everything that row ``i`` carries."""
    start_partials(tag, model, i, 1, work, P)
    store9(tag, work, i * WORK + P_DOT, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store9(tag, work, i * WORK + S_DOT, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    com = const3(model, i * ROW + COM)
    momentum = add(cross(com, load3(tag, work, i * WORK + M_V)), load3(tag, work, i * WORK + I_OMEGA))
    rate = add(cross(com, load3(tag, work, i * WORK + M_V_DOT)), load3(tag, work, i * WORK + I_OMEGA_DOT))
    for k in range(first_place(model, i) + 1, last_place(model, i) + 1):
        a = visited(model, k)
        o = a * WORK
        parent_row = parent(model, a) * WORK
        R = load9(tag, work, o + ROT)
        r = com_to_joint(model, a)
        com = const3(model, a * ROW + COM)
        omega = relative_rate(tag, model, a, v)
        s_parent = load9(tag, work, parent_row + S)
        s_dot_parent = load9(tag, work, parent_row + S_DOT)
        s = matmul(s_parent, R)  # (34), (43)
        joint = matmul(add9(load9(tag, work, parent_row + P), times_cross(s_parent, r)), R)
        p = add9(joint, times_cross(s, com))  # (36), (45)
        # differentiated, with d(C^T)/dt = C^T [[omega_a]]
        s_dot = add9(matmul(s_dot_parent, R), times_cross(s, omega))
        joint_dot = matmul(add9(load9(tag, work, parent_row + P_DOT), times_cross(s_dot_parent, r)), R)
        p_dot = add9(add9(joint_dot, times_cross(joint, omega)), times_cross(s_dot, com))
        store9(tag, work, o + P, p)
        store9(tag, work, o + S, s)
        store9(tag, work, o + P_DOT, p_dot)
        store9(tag, work, o + S_DOT, s_dot)
        m_v = load3(tag, work, o + M_V)
        i_omega = load3(tag, work, o + I_OMEGA)
        momentum = add(momentum, add(mul(p, m_v), mul(s, i_omega)))
        rate = add(rate, add(mul(p_dot, m_v), mul(p, load3(tag, work, o + M_V_DOT))))
        rate = add(rate, add(mul(s_dot, i_omega), mul(s, load3(tag, work, o + I_OMEGA_DOT))))
    return momentum, rate


@generic
def quasi_coordinate_term(tag: Tag, model: Buffer, i: int, work: Buffer) -> Vector:
    """E_i = -D_i^-T dK/dtheta_i (22), (47): what K changes when only the attitude of joint ``i`` does."""
    # (46) dK/dtheta_i; (48) A = -D_i^-T dV_a/dtheta_i, (49) B = -D_i^-T dOmega_a/dtheta_i
    o = i * WORK
    R = load9(tag, work, o + ROT)
    com = const3(model, i * ROW + COM)
    b = skew(tag, mulT(R, load3(tag, work, parent(model, i) * WORK + OMEGA)))  # (50)
    a = add9(skew(tag, load3(tag, work, o + U)), times_cross(b, com))  # (52)
    store9(tag, work, o + A, a)
    store9(tag, work, o + B, b)
    E = add(mul(a, load3(tag, work, o + M_V)), mul(b, load3(tag, work, o + I_OMEGA)))
    for k in range(first_place(model, i) + 1, last_place(model, i) + 1):
        link = visited(model, k)
        o = link * WORK
        parent_row = parent(model, link) * WORK
        R = load9(tag, work, o + ROT)
        b_parent = load9(tag, work, parent_row + B)
        b = matmul(b_parent, R)  # (51)
        joint = matmul(add9(load9(tag, work, parent_row + A), times_cross(b_parent, com_to_joint(model, link))), R)
        a = add9(joint, times_cross(b, const3(model, link * ROW + COM)))  # (53)
        store9(tag, work, o + A, a)
        store9(tag, work, o + B, b)
        E = add(E, add(mul(a, load3(tag, work, o + M_V)), mul(b, load3(tag, work, o + I_OMEGA))))
    return E


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    nv = velocity_count(model)
    clear(tag, out, 0, nv)
    inverse_dynamics(tag, model, q, v, out, wrench, out, work)  # the bias: accelerations are read before it is written
    subtract_from(tag, tau, out, nv)
    matrix = (body_count(model) + 1) * WORK
    fill_mass_matrix(tag, model, work, matrix, work)
    solve(tag, model, work, matrix, out)
