"""One leg: its pose, its motion with the platform joint T, and the force at T for its inertia and weight.

Everything is in leg axes, R_leg = [x, u, z] with u along the leg. There u is (0, 1, 0), the projector 1 - u u^T of (22)
removes the second component, and the universal joint's first axis s is (0, s2, c2). Each leg model is a force f at T,
the leg's Lagrange derivative d/dt(dK/dV_T) - dK/dT + dP/dT, so that the legs' part of the platform's wrench is
sum_i [f_i; r_i x f_i].

    massless    f = 0
    lumped      the whole leg as one point mass at its centre of mass, which slides along it: (15) to (37)
    full        two rigid bodies; the universal joint determines the leg's spin about u. The paper has this model only
                as an ADAMS simulation; here it is exact.
"""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, sincos
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    const6,
    const9,
    cross,
    load3,
    sym,
    zero3,
)
from dynbench.methods.lagrange_stewart.model import (
    BODIES,
    C1,
    C2,
    FRAME,
    FULL,
    I_LEG,
    KA,
    KB,
    LUMPED,
    M1,
    M2,
    MODEL,
    M,
    Q,
)

Rates = tuple[Scalar, Scalar, Scalar]  # of the first angle, the second angle, the length


@generic
def leg_frame(tag: Tag, model: Buffer, o: int, q: Buffer) -> tuple[Matrix, Scalar, Scalar, Scalar]:
    """Return R_leg = R0 Rz(first) Rx(second) (30), the length, and sine and cosine of the second angle (32)."""
    s1, c1 = sincos(load(tag, q, index(model, o + Q)))
    s2, c2 = sincos(load(tag, q, index(model, o + Q + 1)))
    e = const9(model, o + FRAME)
    x = (e[0] * c1 + e[1] * s1, e[3] * c1 + e[4] * s1, e[6] * c1 + e[7] * s1)
    y = (e[1] * c1 - e[0] * s1, e[4] * c1 - e[3] * s1, e[7] * c1 - e[6] * s1)
    # (31): u = [-sin first cos second, cos first cos second, sin second] when s = z
    u = (y[0] * c2 + e[2] * s2, y[1] * c2 + e[5] * s2, y[2] * c2 + e[8] * s2)
    z = (e[2] * c2 - y[0] * s2, e[5] * c2 - y[1] * s2, e[8] * c2 - y[2] * s2)
    R = (x[0], u[0], z[0], x[1], u[1], z[1], x[2], u[2], z[2])
    return R, load(tag, q, index(model, o + Q + 2)), s2, c2


@generic
def leg_rates(V: Vector, over_L: Scalar, over_c: Scalar) -> Rates:
    """Return rates of universal joint and length from the velocity V of T, leg axes: V_T = L' u + L u', (22), (23)."""
    return (-V[0] * over_L * over_c, V[2] * over_L, V[1])


@generic
def spin(rates: Rates, s2: Scalar, c2: Scalar) -> Vector:
    """Return the angular velocity of the leg, leg axes: first' s + second' x."""
    return (rates[1], rates[0] * s2, rates[0] * c2)


@generic
def leg_accelerations(
    A: Vector, rates: Rates, L: Scalar, over_L: Scalar, s2: Scalar, c2: Scalar, over_c: Scalar
) -> tuple[Rates, Vector, Vector]:
    """Return the second derivatives of the leg's coordinates, its angular acceleration, and u'', from that of T, A."""
    w = spin(rates, s2, c2)
    twice = 2.0 * rates[2]
    # derivative of (23): u'' = (A - L'' u - 2 L' u') / L, with u' = (-wz, 0, wx)
    wxx = w[0] * w[0] + w[2] * w[2]
    udd = ((A[0] + twice * w[2]) * over_L, -wxx, (A[2] - twice * w[0]) * over_L)
    wd_x = udd[2] - w[1] * w[2]
    wd_z = w[0] * w[1] - udd[0]
    both = rates[0] * rates[1]
    first = (wd_z + both * s2) * over_c
    wd = (wd_x, first * s2 + both * c2, wd_z)
    return (first, wd_x, A[1] + L * wxx), wd, udd


@generic
def leg_force(
    tag: Tag, model: Buffer, o: int, A: Vector, g: Vector, w: Vector, wd: Vector, udd: Vector,
    over_L: Scalar, s2: Scalar, over_c: Scalar,
) -> Vector:  # fmt: skip
    """Return the force at T for the leg's inertia and weight; A, g, w, wd, udd and the result in leg axes."""
    kind = index(model, MODEL)
    if kind == LUMPED:
        m = const(model, o + M)
        ka = const(model, o + KA)
        kb = const(model, o + KB)
        # (16), (17), (19): V_G = d(BG)/dt = k_a u' + k_b dL/dt, where dL/dt = V_T by (18)
        # (24): V_G = J_G V_T, J_G = k_b 1 + (k_a / L)(1 - u u^T), and a_G = k_b A_T + k_a u''
        # f = J_G^T M (a_G - g): K_i = M V_G . V_G / 2, (27), and P_i = M g Z_G, (34), (35)
        side = m * (kb + ka * over_L)
        return (
            side * (kb * A[0] + ka * udd[0] - g[0]),
            m * kb * (kb * A[1] + ka * udd[1] - g[1]),
            side * (kb * A[2] + ka * udd[2] - g[2]),
        )
    if kind == FULL:
        c1 = const(model, o + C1)
        c2 = const(model, o + C2)
        m2 = const(model, o + M2)
        # lower part: a1 = c1 u'', J1 = (c1/L)(1 - u u^T); upper part: a2 = A_T - c2 u'', J2 = 1 - (c2/L)(1 - u u^T)
        side1 = const(model, o + M1) * c1 * over_L
        side2 = m2 * (1.0 - c2 * over_L)
        inertia = const6(model, o + I_LEG)
        moment = add(sym(inertia, wd), cross(w, sym(inertia, w)))
        turn = spin_force(moment, over_L, s2, over_c)
        return (
            side1 * (c1 * udd[0] - g[0]) + side2 * (A[0] - c2 * udd[0] - g[0]) + turn[0],
            m2 * (A[1] - c2 * udd[1] - g[1]),
            side1 * (c1 * udd[2] - g[2]) + side2 * (A[2] - c2 * udd[2] - g[2]) + turn[1],
        )
    return zero3(tag)


@generic
def spin_force(moment: Vector, over_L: Scalar, s2: Scalar, over_c: Scalar) -> tuple[Scalar, Scalar]:
    """Return the force at T, along x and z, equivalent to a moment on the leg: J_spin^T moment.

    The moment's component along s acts on the first angle, that along x on the second. (s . moment) / c2 is written so
    that a moment about z is not divided.
    """
    return -(moment[2] + moment[1] * s2 * over_c) * over_L, moment[0] * over_L


@generic
def leg_external(tag: Tag, model: Buffer, o: int, wrench: Buffer, over_L: Scalar, s2: Scalar, over_c: Scalar) -> Vector:
    """Return the force at T equivalent to the external wrenches on the leg's three bodies; leg axes.

    The lower part's origin does not move. The upper part's origin is T. The cross of the universal joint rotates about
    s only.
    """
    cross_body = 6 * index(model, o + BODIES)
    lower = 6 * index(model, o + BODIES + 1)
    upper = 6 * index(model, o + BODIES + 2)
    moment = add(load3(tag, wrench, lower + 3), load3(tag, wrench, upper + 3))
    turn = spin_force(moment, over_L, s2, over_c)
    about_s = load(tag, wrench, cross_body + 5)
    f = load3(tag, wrench, upper)
    return (f[0] + turn[0] - about_s * over_L * over_c, f[1], f[2] + turn[1])


@generic
def leg_mass(tag: Tag, model: Buffer, o: int, over_L: Scalar, s2: Scalar, over_c: Scalar) -> Symmetric:
    """Return the leg's inertia reduced to T, K with kinetic energy V_T^T K V_T / 2; six numbers, leg axes."""
    zero = over_L * 0.0
    kind = index(model, MODEL)
    if kind == LUMPED:
        m = const(model, o + M)
        kb = const(model, o + KB)
        side = kb + const(model, o + KA) * over_L
        mass = m * side * side  # (27): K = M J_G^T J_G
        return (mass, zero, zero, zero + m * kb * kb, zero, mass)
    if kind == FULL:
        m2 = const(model, o + M2)
        lower = const(model, o + C1) * over_L
        upper = 1.0 - const(model, o + C2) * over_L
        inertia = const6(model, o + I_LEG)
        mass = const(model, o + M1) * lower * lower + m2 * upper * upper
        # J_spin in leg axes: the first angle is about s / c2 = (0, t, 1), the second about x
        t = s2 * over_c
        about_s = inertia[5] + t * (2.0 * inertia[4] + t * inertia[3])
        both = inertia[2] + t * inertia[1]
        over = over_L * over_L
        return (mass + about_s * over, zero, -both * over, zero + m2, zero, mass + inertia[0] * over)
    return (zero, zero, zero, zero, zero, zero)
