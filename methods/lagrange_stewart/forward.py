"""Forward dynamics, M(q) q'' = J^T F - C(q, q') q' - G(q) from (10), and the bias.

Both need the mass matrix, and the wrench W at zero acceleration of the platform.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import SINGULAR
from dynbench.methods.kernels.linear import ldlt, ldlt_solve
from dynbench.methods.kernels.orthogonal import factorise, inner_product
from dynbench.methods.kernels.projection import OFF, nan_if_invalid
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, index, load, splat, store
from dynbench.methods.kernels.vectors import (
    add,
    add3,
    congruence,
    const3,
    cross,
    dot,
    load3,
    load9,
    mulT,
    store3,
    store9,
    sub,
    zero3,
)
from dynbench.methods.lagrange_stewart.inverse import (
    W,
    add_leg_force,
    distance,
    leg_forces,
    leg_part,
    leg_pose,
    off_legs,
    platform,
    platform_wrench,
    squared,
    store_column,
)
from dynbench.methods.lagrange_stewart.legs import (
    leg_accelerations,
    leg_external,
    leg_force,
    leg_mass,
    leg_rates,
    spin,
)
from dynbench.methods.lagrange_stewart.mass import add_leg_mass, by_rows, start_mass, twist_of_lengths
from dynbench.methods.lagrange_stewart.model import GRAVITY, HEAD, IV, LEG, LEGS, V

# Work: the wrench, the blocks of M, M by rows, a row per leg, and for the bias the factorised H^T and spare numbers
MASS = 6
BY_ROWS = MASS + 21
ROWS = BY_ROWS + 36
FRAME, ARM, ACC, RATES, LENGTH, SINE, COSINE, EXTENDING, ROW = 0, 9, 12, 15, 18, 19, 20, 21, 22
FACTOR = ROWS + LEGS * ROW
SPARE = FACTOR + 78
WORK = SPARE + 6


@generic
def unaccelerated(tag: Tag, model: Buffer, q: Buffer, v: Buffer, wrench: Buffer, work: Buffer) -> Scalar:
    """Fill W at zero platform acceleration, M, and the leg rows; return a measure that is below 1 for valid states."""
    R, P, linear, w = platform(tag, model, q, v)
    mass = work[len(tag) * MASS :]
    platform_wrench(tag, model, R, v, zero3(tag), zero3(tag), wrench, work)
    start_mass(tag, model, R, mass)
    apart = splat(tag, 0.0)
    nearest = splat(tag, 0.0)
    slip = splat(tag, 0.0)
    k = index(model, IV)
    speed = squared(tag, v, k) + squared(tag, v, k + 3)
    for i in range(LEGS):
        o = HEAD + i * LEG
        leg, r, L, s2, c2, over_L, over_c, opened, near = leg_pose(tag, model, o, q, R, P)
        apart += opened
        nearest += near
        turned = cross(w, r)
        AT = mulT(leg, cross(w, turned))
        rates = leg_rates(mulT(leg, add(linear, turned)), over_L, over_c)
        given = leg_part(tag, model, o, v)
        slip += distance(rates, given)
        speed += dot(given, given)
        second, spin_dot, udd = leg_accelerations(AT, rates, L, over_L, s2, c2, over_c)
        g = mulT(leg, const3(model, GRAVITY))
        f = leg_force(tag, model, o, AT, g, spin(rates, s2, c2), spin_dot, udd, over_L, s2, over_c)
        if wrench is not None:
            f = sub(f, leg_external(tag, model, o, wrench, over_L, s2, over_c))
        add_leg_force(tag, work, leg, r, f)
        add_leg_mass(tag, congruence(leg, leg_mass(tag, model, o, over_L, s2, over_c)), r, mass)
        x = ROWS + i * ROW
        store9(tag, work, x + FRAME, leg)
        store3(tag, work, x + ARM, r)
        store3(tag, work, x + ACC, AT)
        store3(tag, work, x + RATES, rates)
        store(tag, work, x + LENGTH, L)
        store(tag, work, x + SINE, s2)
        store(tag, work, x + COSINE, c2)
        store(tag, work, x + EXTENDING, second[2])
    by_rows(tag, mass, work, BY_ROWS)
    return off_legs(model, apart, nearest) + OFF * slip / (1.0 + speed)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(10) solved for the tree's accelerations, legs included. A singular H is allowed: M is always invertible."""
    zero = nan_if_invalid(unaccelerated(tag, model, q, v, wrench, work))
    for i in range(LEGS):
        x = ROWS + i * ROW
        force = load(tag, tau, i)
        leg = load9(tag, work, x + FRAME)
        f = (-(leg[1] * force), -(leg[4] * force), -(leg[7] * force))
        add3(tag, work, W, f)
        add3(tag, work, W + 3, cross(load3(tag, work, x + ARM), f))
    ldlt(tag, work, BY_ROWS, 6)
    ldlt_solve(tag, work, BY_ROWS, 6, work, W)
    acc = sub((zero, zero, zero), load3(tag, work, W))
    wd = sub((zero, zero, zero), load3(tag, work, W + 3))
    R, _, _, _ = platform(tag, model, q, v)
    k = index(model, IV)
    store3(tag, out, k, sub(mulT(R, acc), cross(load3(tag, v, k + 3), load3(tag, v, k))))
    store3(tag, out, k + 3, mulT(R, wd))
    for i in range(LEGS):
        x = ROWS + i * ROW
        leg = load9(tag, work, x + FRAME)
        L = load(tag, work, x + LENGTH)
        s2 = load(tag, work, x + SINE)
        c2 = load(tag, work, x + COSINE)
        AT = add(load3(tag, work, x + ACC), mulT(leg, add(acc, cross(wd, load3(tag, work, x + ARM)))))
        second, _, _ = leg_accelerations(AT, load3(tag, work, x + RATES), L, 1.0 / L, s2, c2, 1.0 / c2)
        o = HEAD + i * LEG
        store(tag, out, index(model, o + V), second[0])
        store(tag, out, index(model, o + V + 1), second[1])
        store(tag, out, index(model, o + V + 2), second[2])


@generic
def bias(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer) -> None:
    """Actuator forces at L'' = 0. The platform's acceleration, from the derivative of (7), is then not zero."""
    bad = unaccelerated(tag, model, q, v, wrench, work)
    factor = work[len(tag) * FACTOR :]
    spare = work[len(tag) * SPARE :]
    for i in range(LEGS):
        x = ROWS + i * ROW
        store_column(tag, model, factor, i, load9(tag, work, x + FRAME), load3(tag, work, x + ARM))
        store(tag, out, i, -load(tag, work, x + EXTENDING))
    zero = nan_if_invalid(bad + factorise(tag, factor, 6) * SINGULAR)
    twist_of_lengths(tag, model, factor, out, 0, spare)
    for k in range(6):
        store(tag, work, W + k, load(tag, work, W + k) + inner_product(tag, work, BY_ROWS + 6 * k, out, 0, 6))
    leg_forces(tag, model, work, out, factor, spare, zero)
