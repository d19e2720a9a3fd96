"""The momentum form, O(n): equations (19)-(21) with E_i summed in closed form instead of over pairs of links.

By induction over (50)-(53), B(a, i) = [[g_i]] S_a and A(a, i) = [[u_i]] S_a + [[g_i]] P_a, with P, S the partial
derivatives (42)-(45) by omega_i. Hence (47) is E_i = [[u_i]] L_i + [[g_i]] Pi_i, and (21) becomes the moment equation
of everything beyond joint i about that moving joint:

    (d/dt + [[Omega_i]]) Pi_i + [[u_i]] L_i = M_i

    Pi_i = dK/domega_i   angular momentum of link i and its subtree about joint i (41)
    L_i                  their linear momentum; at the base dK/dV0 (29)

One sweep outward (`kinematics`), one inward that adds up L, Pi and their rates.
"""

from __future__ import annotations

from dynbench.methods.boltzmann_hamel.composite import fill_mass_matrix
from dynbench.methods.boltzmann_hamel.elimination import solve
from dynbench.methods.boltzmann_hamel.kinematics import (
    KINEMATICS,
    OMEGA,
    OMEGA_DOT,
    ROT,
    U_DOT,
    U,
    at_com,
    outward,
    start,
)
from dynbench.methods.boltzmann_hamel.model import body_count, velocity_count
from dynbench.methods.kernels.linear import clear, subtract_from
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, load, store
from dynbench.methods.kernels.sweeps import external
from dynbench.methods.kernels.tree import COM, FREE, I_COM, MASS, REVOLUTE, ROW, P, iv, kind, parent
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    add3,
    const3,
    const6,
    cross,
    load3,
    load9,
    mul,
    scale,
    store3,
    sym,
)

# Work rows: kinematics, then momenta and their rates
L, L_DOT, PI, PI_DOT = KINEMATICS, KINEMATICS + 3, KINEMATICS + 6, KINEMATICS + 9
WORK = KINEMATICS + 12


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    start(tag, model, work)
    for i in range(1, body_count(model) + 1):
        outward(tag, model, i, q, v, a, work, WORK)
        own_momenta(tag, model, i, wrench, work)
    for i in range(body_count(model), 0, -1):
        equation_of_motion(tag, model, i, out, work)
        if parent(model, i) > 0:
            pass_inward(tag, model, i, v, work)


@generic
def own_momenta(tag: Tag, model: Buffer, i: int, wrench: Buffer, work: Buffer) -> None:
    """Momenta of body ``i`` alone about its joint; external forces count against their rates."""
    # the body's term in the sums (29) of L and (41) of Pi
    o = i * WORK
    omega = load3(tag, work, o + OMEGA)
    omega_dot = load3(tag, work, o + OMEGA_DOT)
    m = const(model, i * ROW + MASS)
    com = const3(model, i * ROW + COM)
    inertia = const6(model, i * ROW + I_COM)
    linear = scale(m, at_com(model, i, load3(tag, work, o + U), omega))
    rate = scale(m, at_com(model, i, load3(tag, work, o + U_DOT), omega_dot))
    store3(tag, work, o + L, linear)
    store3(tag, work, o + PI, add(sym(inertia, omega), cross(com, linear)))
    rate, turning = external(tag, model, i, wrench, rate, add(sym(inertia, omega_dot), cross(com, rate)))
    store3(tag, work, o + L_DOT, rate)
    store3(tag, work, o + PI_DOT, turning)


@generic
def equation_of_motion(tag: Tag, model: Buffer, i: int, out: Buffer, work: Buffer) -> None:
    """(19), (20) for the base; (21) projected on the joint's freedoms, H_i^T, for a link."""
    o = i * WORK
    u = load3(tag, work, o + U)
    omega = load3(tag, work, o + OMEGA)
    linear = load3(tag, work, o + L)
    angular = load3(tag, work, o + PI)
    turning = load3(tag, work, o + PI_DOT)
    joint = kind(model, i)
    j = iv(model, i)
    if joint == REVOLUTE:  # H_i is +z: one component is enough
        spin = omega[0] * angular[1] - omega[1] * angular[0]
        slip = u[0] * linear[1] - u[1] * linear[0]
        store(tag, out, j, turning[2] + spin + slip)
    else:
        M = add(turning, add(cross(omega, angular), cross(u, linear)))
        if joint == FREE:
            store3(tag, out, j, add(load3(tag, work, o + L_DOT), cross(omega, linear)))
            store3(tag, out, j + 3, M)
        else:
            store3(tag, out, j, M)


@generic
def pass_inward(tag: Tag, model: Buffer, i: int, v: Buffer, work: Buffer) -> None:
    """Add the momenta of row ``i`` and their rates to its parent's: d/dt (C^T L) = C^T (L' + [[omega_i]] L)."""
    # (13) C' = -[[omega_i]] C; L and Pi are the sums (29) and (41), without the partial derivatives
    o = i * WORK
    parent_row = parent(model, i) * WORK
    R = load9(tag, work, o + ROT)
    s = const3(model, i * ROW + P)
    linear = load3(tag, work, o + L)
    angular = load3(tag, work, o + PI)
    rate = load3(tag, work, o + L_DOT)
    turning = load3(tag, work, o + PI_DOT)
    j = iv(model, i)
    if kind(model, i) == REVOLUTE:
        w = load(tag, v, j)
        rate = (rate[0] - w * linear[1], rate[1] + w * linear[0], rate[2])
        turning = (turning[0] - w * angular[1], turning[1] + w * angular[0], turning[2])
    else:
        rates = load3(tag, v, j)
        rate = add(rate, cross(rates, linear))
        turning = add(turning, cross(rates, angular))
    carry(tag, work, parent_row + L, parent_row + PI, s, mul(R, linear), mul(R, angular))
    carry(tag, work, parent_row + L_DOT, parent_row + PI_DOT, s, mul(R, rate), mul(R, turning))


@generic
def carry(tag: Tag, work: Buffer, at_linear: int, at_angular: int, s: Vector, linear: Vector, angular: Vector) -> None:
    """Add a momentum at the end of ``s`` to one at its beginning."""
    add3(tag, work, at_linear, linear)
    add3(tag, work, at_angular, add(angular, cross(s, linear)))


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    nv = velocity_count(model)
    clear(tag, out, 0, nv)
    inverse_dynamics(tag, model, q, v, out, wrench, out, work)  # the bias: accelerations are read before it is written
    subtract_from(tag, tau, out, nv)
    matrix = (body_count(model) + 1) * WORK
    fill_mass_matrix(tag, model, work, matrix, work, WORK)
    solve(tag, model, work, matrix, out)
