"""The tip of an arm: position and rotation relative to the sleeve, with two derivatives, (E13) to (E17).

The rotation is exp(theta~) with theta the angles of the tip. The paper's is the linear I + theta~, which is not
orthogonal: omega is then not the derivative of R, and energy is not conserved at second order. The model's flag EXACT
selects one of them. The flag RATE includes the change of the slope y'(1)/l with l at constant amplitude, which the
paper omits.
"""

from __future__ import annotations

from math import factorial

from dynbench.methods.gibbs_appell_elastic.model import ANGLE, DIRECTION, MODE, MODES, MOUTH, RATE, SHAPE, TABLE, TIP
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.vectors import Matrix, Vector, add, cross, dot, scale
from dynbench.robots.elastic.modes import TORSION, X, Y

# Power series of a = (1 - cos t)/t^2 and b = (t - sin t)/t^3 in t^2, exact to rounding up to t = pi, no branch at 0
A_SERIES = tuple((-1.0) ** k / factorial(2 * k + 2) for k in range(15))
B_SERIES = tuple((-1.0) ** k / factorial(2 * k + 3) for k in range(15))

# What a tip's part of a work row holds, by offset
PLACE, PLACE_D, PLACE_DD, THETA, THETA_D, THETA_DD, THETA_L = 0, 3, 6, 9, 12, 15, 18
TIP_WORK = 21


@generic
def tip(
    tag: Tag, model: Buffer, row: int, l: Scalar, ld: Scalar, ldd: Scalar, shapes: int, work: Buffer, at: int
) -> None:
    """Fill a tip's part of a work row: r_t (E14b), theta (E14a), their derivatives, and d theta / dl."""
    clear(tag, work, at, TIP_WORK)
    store(tag, work, at + PLACE, const(model, row + MOUTH) + l)
    store(tag, work, at + PLACE_D, ld)
    store(tag, work, at + PLACE_DD, ldd)
    inverse = 1.0 / l
    rate = const(model, RATE)
    table = index(model, row + TABLE)
    for f in range(index(model, row + MODES)):
        o = table + f * MODE
        direction = index(model, o + DIRECTION)
        delta = load(tag, work, shapes + SHAPE * f)
        delta_d = load(tag, work, shapes + SHAPE * f + 1)
        delta_dd = load(tag, work, shapes + SHAPE * f + 3)
        angle = const(model, o + ANGLE)
        if direction == TORSION:
            bump(tag, work, at + THETA, angle * delta)
            bump(tag, work, at + THETA_D, angle * delta_d)
            bump(tag, work, at + THETA_DD, angle * delta_dd)
        else:
            # (E14b): a shape's value at the tip does not depend on l
            value = const(model, o + TIP)
            bump(tag, work, at + PLACE + direction, value * delta)
            bump(tag, work, at + PLACE_D + direction, value * delta_d)
            bump(tag, work, at + PLACE_DD + direction, value * delta_dd)
            if direction != X:
                # (E13), (E14a): theta_f = angle/l, th_l = -angle/l^2, th_ll = 2 angle/l^3
                axis = 2 if direction == Y else 1
                theta = angle * inverse
                theta_l = -(rate * (theta * inverse))
                grown = theta_l * delta
                faster = 2.0 * ld * (theta_l * delta_d) + (ldd - 2.0 * ld * ld * inverse) * grown
                bump(tag, work, at + THETA + axis, theta * delta)
                bump(tag, work, at + THETA_D + axis, theta * delta_d + ld * grown)
                bump(tag, work, at + THETA_DD + axis, theta * delta_dd + faster)
                bump(tag, work, at + THETA_L + axis, grown)


@generic
def bump(tag: Tag, work: Buffer, at: int, x: Scalar) -> None:
    """work[at] += x"""
    store(tag, work, at, load(tag, work, at) + x)


@generic
def series(tag: Tag, coefficients: tuple[float, ...], x: Scalar) -> tuple[Scalar, Scalar]:
    """Return value and derivative of a power series."""
    value = splat(tag, coefficients[14])
    slope = splat(tag, 0.0)
    for k in range(13, -1, -1):
        slope = slope * x + value
        value = value * x + coefficients[k]
    return value, slope


@generic
def rotation(
    tag: Tag, exact: Scalar, th: Vector, thd: Vector, thdd: Vector
) -> tuple[Matrix, Vector, Vector, Scalar, Scalar]:
    """Return E (E15), nu (E16) and nu_dot (E17) of the tip relative to the sleeve, and the a and b of (E16)."""
    x = dot(th, th)
    a, a_x = series(tag, A_SERIES, x)
    b, b_x = series(tag, B_SERIES, x)
    s = 1.0 - exact * (x * b)  # sin t / t
    a = exact * a
    b = exact * b
    # (E15) E = I + s th~ + a th~^2, where th~^2 = th th^T - x I
    u = scale(s, th)
    t = scale(a, th)
    d = 1.0 - a * x
    xy = t[0] * th[1]
    xz = t[0] * th[2]
    yz = t[1] * th[2]
    E = (
        d + t[0] * th[0], xy - u[2], xz + u[1],
        xy + u[2], d + t[1] * th[1], yz - u[0],
        xz - u[1], yz + u[0], d + t[2] * th[2],
    )  # fmt: skip
    # (E16) nu = thd + a c + b th x c, c = th x thd
    c = cross(th, thd)
    tc = cross(th, c)
    nu = add(thd, add(scale(a, c), scale(b, tc)))
    # (E17) nu_dot, with a_dot = 2 (th . thd) da/dx and b_dot likewise
    twice = 2.0 * (exact * dot(th, thd))
    e = cross(th, thdd)
    nud = add(thdd, add(scale(a, e), scale(b, add(cross(thd, c), cross(th, e)))))
    nud = add(nud, add(scale(twice * a_x, c), scale(twice * b_x, tc)))
    return E, nu, nud, a, b


@generic
def virtual(th: Vector, a: Scalar, b: Scalar, moment: Vector) -> Vector:
    """Return D^T times a moment, its work per radian of theta, in (E35) and (E36); D is that of (E16)."""
    c = cross(th, moment)
    return add(moment, add(scale(-a, c), scale(b, cross(th, c))))
