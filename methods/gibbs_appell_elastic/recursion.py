"""The recursion, (E18) to (E23) outward and (E32) to (E36) inward, and the kernels that use it.

Inverse dynamics is one pass. A column of the mass matrix is a pass at rest, without gravity and strain energy, with one
unit acceleration (E39). Arms before the accelerated one do not move, so the pass starts there and gives half of the
matrix. Forward dynamics computes those columns and the bias (a pass without acceleration), and solves.
"""

from __future__ import annotations

from dynbench.methods.gibbs_appell_elastic.arm import SUMS, amplitudes, own_terms
from dynbench.methods.gibbs_appell_elastic.model import (
    ANGLE,
    ARMS,
    AT,
    DIRECTION,
    EXACT,
    GRAVITY,
    HEAD,
    MODE,
    MODES,
    NV,
    OWNERS,
    ROW,
    SHAPE,
    TABLE,
    TIP,
    TURN,
)
from dynbench.methods.gibbs_appell_elastic.tip import (
    PLACE,
    PLACE_D,
    PLACE_DD,
    THETA,
    THETA_D,
    THETA_DD,
    THETA_L,
    TIP_WORK,
    rotation,
    tip,
    virtual,
)
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve, mirror
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, sincos, splat, store
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    const3,
    const9,
    cross,
    dot,
    identity,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    rotate_z,
    scale,
    splat3,
    store3,
    store9,
    sub,
    zero3,
)
from dynbench.robots.elastic.modes import TORSION, X, Y

# Work: sums of `modal`, then a row per arm, then the modes of the current arm
ROT, BEND, S, T, PUSH, A, B, INVERSE, END = 0, 9, 18, 21, 24, 25, 26, 27, 28
ARM = END + TIP_WORK


def work_size(arms: int, nv: int, quantity: str) -> int:
    """Return the number of scalars of workspace; no arm has more modes than there are coordinates."""
    size = SUMS + ARM * arms + SHAPE * nv
    return size + {"inverse_dynamics": 0, "mass_matrix": nv, "forward_dynamics": (nv + 2) * nv}[quantity]


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    run(tag, model, 0, 1.0, q, v, a, 0, wrench, out, 0, 1, work)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """M of (E39): column k is inverse dynamics at rest with unit acceleration k."""
    nv = index(model, NV)
    unit = SUMS + ARM * index(model, ARMS) + SHAPE * nv
    for k in range(nv):
        clear(tag, work, unit, nv)
        store(tag, work, unit + k, splat(tag, 1.0))
        first = index(model, index(model, OWNERS) + k)
        run(tag, model, first, 0.0, q, q, work, unit, None, out, k, nv, work)
    mirror(tag, out, 0, nv)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(E39): M u_ddot = Q - c."""
    nv = index(model, NV)
    unit = SUMS + ARM * index(model, ARMS) + SHAPE * nv
    bias = unit + nv
    M = bias + nv
    # one call for all passes, the last one for the bias: numba would compile each call separately
    for k in range(nv + 1):
        clear(tag, work, unit, nv)
        first = index(model, index(model, OWNERS) + k)
        on, at, step = 1.0, bias, 1
        if k < nv:
            store(tag, work, unit + k, splat(tag, 1.0))
            on, at, step = 0.0, M + k, nv
        run(tag, model, first, on, q, v, work, unit, wrench, work, at, step, work)
    for k in range(nv):
        store(tag, out, k, load(tag, tau, k) - load(tag, work, bias + k))
    ldlt(tag, work, M, nv)
    ldlt_solve(tag, work, M, nv, out, 0)


@generic
def run(
    tag: Tag, model: Buffer, first: int, on: float, q: Buffer, v: Buffer, a: Buffer, from_a: int, wrench: Buffer,
    out: Buffer, at: int, step: int, work: Buffer,
) -> None:  # fmt: skip
    """Write the forces of arm ``first`` and later to out[at + step k], the two passes of the recursion.

    ``on`` = 0 sets velocities, gravity, strain energy and external wrenches to zero.
    """
    outward(tag, model, first, on, q, v, a, from_a, wrench, out, at, step, work)
    inward(tag, model, first, on, wrench, out, at, step, work)


@generic
def outward(
    tag: Tag, model: Buffer, first: int, on: float, q: Buffer, v: Buffer, a: Buffer, from_a: int, wrench: Buffer,
    out: Buffer, at: int, step: int, work: Buffer,
) -> None:  # fmt: skip
    """From the base to the last tip: motion, and each arm's own terms."""
    arms = index(model, ARMS)
    shapes = SUMS + ARM * arms
    exact = const(model, EXACT)
    # previous tip: rotation, angular velocity and acceleration, acceleration; (E22) gravity is base acceleration -g
    E = identity(tag)
    w_tip = zero3(tag)
    wd_tip = zero3(tag)
    acc_tip = splat3(tag, scale(-on, const3(model, GRAVITY)))
    for i in range(first, arms):
        row = HEAD + i * ROW
        o = SUMS + i * ARM
        j = index(model, row + AT)
        R = matmul(E, turn(tag, model, row, load(tag, q, j)))  # (E18)
        store9(tag, work, o + ROT, R)
        # (E20) omega_i, (E21) omega_dot_i: the previous tip's, then z q_dot and z q_ddot; (E22) a_Oi
        rate = on * load(tag, v, j)
        w = mulT(R, w_tip)
        wd = mulT(R, wd_tip)
        wd = (wd[0] + w[1] * rate, wd[1] - w[0] * rate, wd[2] + load(tag, a, from_a + j))
        w = (w[0], w[1], w[2] + rate)
        acc = mulT(R, acc_tip)
        l, ld, ldd = amplitudes(tag, model, row, on, q, v, a, j, from_a, shapes, work)
        s, t, push = own_terms(tag, model, row, on, l, ld, ldd, w, wd, acc, shapes, work, out, at + j * step, step)
        store3(tag, work, o + S, s)
        store3(tag, work, o + T, t)
        store(tag, work, o + PUSH, push)
        store(tag, work, o + INVERSE, 1.0 / l)
        if loaded(i, arms, wrench):
            # motion of the tip, for the next arm: the sums in (E20), (E21) and (E22)
            p = o + END
            tip(tag, model, row, l, ld, ldd, shapes, work, p)
            th = load3(tag, work, p + THETA)
            E, nu, nud, ca, cb = rotation(tag, exact, th, load3(tag, work, p + THETA_D), load3(tag, work, p + THETA_DD))
            store9(tag, work, o + BEND, E)
            store(tag, work, o + A, ca)
            store(tag, work, o + B, cb)
            place = load3(tag, work, p + PLACE)
            # (E22) r_t_ddot + 2 omega x r_t_dot + omega_dot x r_t + omega x (omega x r_t)
            coriolis = scale(2.0, cross(w, load3(tag, work, p + PLACE_D)))
            carried = add(cross(wd, place), cross(w, cross(w, place)))
            acc_tip = add(add(acc, load3(tag, work, p + PLACE_DD)), add(coriolis, carried))
            wd_tip = add(add(wd, nud), cross(w, nu))
            w_tip = add(w, nu)


@generic
def loaded(i: int, arms: int, wrench: Buffer) -> bool:
    """Return whether anything acts on the tip of arm i: the next arm, or external wrenches."""
    return wrench is not None or i + 1 < arms


@generic
def turn(tag: Tag, model: Buffer, row: int, angle: Scalar) -> Matrix:
    """Return A_i, (E1): the mounting, then the joint's rotation about z."""
    s, c = sincos(angle)
    return rotate_z(tag, const9(model, row + TURN), s, c)


@generic
def inward(
    tag: Tag, model: Buffer, first: int, on: float, wrench: Buffer, out: Buffer, at: int, step: int, work: Buffer
) -> None:
    """From the last tip to the base: phi and chi of all outer arms, and the generalized forces."""
    arms = index(model, ARMS)
    phi = zero3(tag)
    chi_plus = zero3(tag)
    for i in range(arms - 1, first - 1, -1):
        row = HEAD + i * ROW
        o = SUMS + i * ARM
        k = at + index(model, row + AT) * step
        s = load3(tag, work, o + S)
        chi = load3(tag, work, o + T)
        push = load(tag, work, o + PUSH)
        if wrench is not None:
            # a wrench on the arm acts at its tip, in tip axes; one on the sleeve at its origin
            E = load9(tag, work, o + BEND)
            phi = sub(phi, scale(on, mul(E, load3(tag, wrench, 12 * i + 6))))
            chi_plus = sub(chi_plus, scale(on, mul(E, load3(tag, wrench, 12 * i + 9))))
            s = sub(s, scale(on, load3(tag, wrench, 12 * i)))
            chi = sub(chi, scale(on, load3(tag, wrench, 12 * i + 3)))
        if loaded(i, arms, wrench):
            p = o + END
            bent = virtual(load3(tag, work, p + THETA), load(tag, work, o + A), load(tag, work, o + B), chi_plus)
            chi = add(chi, add(cross(load3(tag, work, p + PLACE), phi), chi_plus))  # (E32), paper (65)
            # (E36), paper (68) with the term of the slope's change with l
            push = push + phi[0] + dot(load3(tag, work, p + THETA_L), bent)
            modal_forces(tag, model, row, phi, bent, load(tag, work, o + INVERSE), out, k + 2 * step, step)
        store(tag, out, k, chi[2])  # (E34), paper (64)
        store(tag, out, k + step, push)
        if i > first:
            R = load9(tag, work, o + ROT)
            phi = mul(R, add(s, phi))  # (E33), paper (66)
            chi_plus = mul(R, chi)


@generic
def modal_forces(
    tag: Tag, model: Buffer, row: int, phi: Vector, bent: Vector, inverse: Scalar, out: Buffer, at: int, step: int
) -> None:
    """(E35), paper (67): add the forces of the outer arms on each mode; ``out`` holds the arm's own terms Q_jf."""
    table = index(model, row + TABLE)
    for f in range(index(model, row + MODES)):
        o = table + f * MODE
        k = at + f * step
        direction = index(model, o + DIRECTION)
        value = const(model, o + TIP)
        angle = const(model, o + ANGLE)
        if direction == TORSION:
            more = angle * bent[0]
        elif direction == X:
            more = value * phi[0]
        elif direction == Y:
            more = value * phi[1] + angle * (inverse * bent[2])
        else:
            more = value * phi[2] + angle * (inverse * bent[1])
        store(tag, out, k, load(tag, out, k) + more)
