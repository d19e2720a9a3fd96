"""One arm's own terms in the equations of motion: S_i, T_i, Q_if and Q'_i, (E30), (E31), (E37), (E38).

The acceleration of a particle is a_O + wd + 2 omega x w + Phi r, (E23), with Phi = omega_dot~ + omega~ omega~ and r, w,
wd its position, velocity and acceleration in the sleeve's frame. All terms are integrals of that acceleration with one
of the weights of `model`, and each integral needs r, w and wd integrated with the weight: these are the paper's B_1 to
B_9, (E29), for each weight. The part without modes is that of a straight rod and is computed in closed form.
"""

from __future__ import annotations

from dynbench.methods.gibbs_appell_elastic.model import (
    DENSITY,
    DIRECTION,
    FLUX,
    LENGTH,
    MODE,
    MODES,
    MOMENT,
    MOUTH,
    PAIR,
    PAIRS,
    ROOT,
    SECTION,
    SHAPE,
    STIFFNESS,
    TABLE,
    WEIGHT,
)
from dynbench.methods.gibbs_appell_elastic.tip import bump
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.vectors import (
    Vector,
    acceleration_field,
    add,
    const6,
    cross,
    dot,
    load3,
    mul,
    scale,
    sym,
    zero3,
)
from dynbench.robots.elastic.modes import TORSION, X, Y, Z

SUMS = 12  # work of `modal`: r, w, wd, each along x, y, z and about x


@generic
def amplitudes(
    tag: Tag, model: Buffer, row: int, on: float, q: Buffer, v: Buffer, a: Buffer, j: int, from_a: int,
    shapes: int, work: Buffer,
) -> tuple[Scalar, Scalar, Scalar]:  # fmt: skip
    """Return l and its rates; store for each mode the factors of shape, (1 - xi) shape', (1 - xi)^2 shape'' in w, wd.

    These are the factors in (E11) and (E12a).
    """
    l = load(tag, q, j + 1)
    ld = on * load(tag, v, j + 1)
    ldd = load(tag, a, from_a + j + 1)
    # (E9) xi_dot = (1 - xi) stretch, (E10) xi_ddot = (1 - xi) surge
    inverse = 1.0 / l
    stretch = ld * inverse
    surge = ldd * inverse - 2.0 * (stretch * stretch)
    for f in range(index(model, row + MODES)):
        delta = load(tag, q, j + 2 + f)
        delta_d = on * load(tag, v, j + 2 + f)
        o = shapes + SHAPE * f
        store(tag, work, o, delta)
        store(tag, work, o + 1, delta_d)
        store(tag, work, o + 2, stretch * delta)
        store(tag, work, o + 3, load(tag, a, from_a + j + 2 + f))
        store(tag, work, o + 4, 2.0 * (stretch * delta_d) + surge * delta)
        store(tag, work, o + 5, stretch * stretch * delta)
    return l, ld, ldd


@generic
def modal(tag: Tag, model: Buffer, pairs: int, table: int, count: int, shapes: int, work: Buffer) -> None:
    """Sum over the modes: their part of r (E3), w (E11) and wd (E12a), integrated over xi with one weight."""
    clear(tag, work, 0, SUMS)
    for g in range(count):
        direction = index(model, table + g * MODE + DIRECTION)
        o = shapes + SHAPE * g
        k = pairs + g * PAIR
        plain = const(model, k)
        once = const(model, k + 1)
        twice = const(model, k + 2)
        bump(tag, work, direction, plain * load(tag, work, o))
        bump(tag, work, 4 + direction, plain * load(tag, work, o + 1) + once * load(tag, work, o + 2))
        rest = once * load(tag, work, o + 4) + twice * load(tag, work, o + 5)
        bump(tag, work, 8 + direction, plain * load(tag, work, o + 3) + rest)


@generic
def own_terms(
    tag: Tag, model: Buffer, row: int, on: float, l: Scalar, ld: Scalar, ldd: Scalar, w: Vector, wd: Vector,
    acc: Vector, shapes: int, work: Buffer, out: Buffer, at: int, step: int,
) -> tuple[Vector, Vector, Scalar]:  # fmt: skip
    """Return S_i, T_i and Q'_i, and write each Q_if to out[at + (2 + f) step]; ``on`` = 0 omits the strain energy.

    The derivatives (E28) of the Gibbs function (E24) of one arm, with its strain energy (E25).
    """
    count = index(model, row + MODES)
    table = index(model, row + TABLE)
    rows = table + count * MODE
    wide = PAIRS + PAIR * count
    h = const(model, row + MOUTH)
    L = const(model, row + LENGTH)
    mu = const(model, row + DENSITY)
    J = const6(model, row + SECTION)
    Jx = (J[0], J[1], J[2])
    Phi = acceleration_field(w, wd)
    bend = (Phi[0], Phi[3], Phi[6])  # Phi x
    # (E23) of a straight rod: acceleration at distance zero and per unit distance, integrated over [h + l - L, h + l]
    twice = 2.0 * ld
    base = (acc[0] + ldd, acc[1] + twice * w[2], acc[2] - twice * w[1])
    centre = (h - 0.5 * L) + l
    first = L * centre
    second = L * (centre * centre + L * L / 12.0)
    S = scale(mu, add(scale(L, base), scale(first, bend)))  # (E30) B0 a_O + B1 - 2 B2 omega - B3 omega_dot - ...
    lever = add(scale(first, base), scale(second, bend))  # int (h + s) a: its cross product with x is part of (E31)
    T = scale(L, add(sym(J, wd), cross(w, sym(J, w))))  # (E31), terms with B8
    pushed = splat(tag, 0.0)
    Jwd = dot(Jx, wd)
    mul_l = mu * l
    inverse = 1.0 / l
    for k in range(2 + 2 * count):
        o = rows + k * wide
        # (E29) the integrals B1 to B9 of the modes for weight k; (E12b) the last weights are those of Gamma
        modal(tag, model, o + PAIRS, table, count, shapes, work)
        swing = scale(2.0, cross(w, load3(tag, work, 4)))
        a = add(add(mul(Phi, load3(tag, work, 0)), swing), load3(tag, work, 8))
        spin = load(tag, work, 11)
        if k == 0:
            S = add(S, scale(mul_l, a))  # (E30)
            lever = add(lever, scale(h * l, a))
            T = add(T, scale(l, add(scale(spin, Jx), cross(w, scale(load(tag, work, 7), Jx)))))
        elif k == 1:
            lever = add(lever, scale(l * l, a))
        else:
            c = const(model, o + WEIGHT)
            a = add(a, add(scale(c, base), scale(h * c + l * const(model, o + MOMENT), bend)))
            f = k - 2 if k < 2 + count else k - 2 - count
            direction = index(model, table + f * MODE + DIRECTION)
            delta = load(tag, work, shapes + SHAPE * f)
            along = along_mode(direction, a, mu, c * Jwd + J[0] * spin)
            if k < 2 + count:
                T = add(T, scale(mul_l * delta, across_mode(tag, direction, a)))  # (E31)
                # (E25) K = K_3 / l^3 (bending) or K_1 / l (longitudinal, torsion)
                stiffness = inverse * const(model, table + f * MODE + STIFFNESS)
                if direction in (Y, Z):
                    stiffness = inverse * (inverse * stiffness)
                    share = 1.5
                else:
                    share = 0.5
                strain = on * (stiffness * delta)
                store(tag, out, at + (2 + f) * step, l * along + strain)  # (E37)
                pushed = pushed - share * (inverse * (strain * delta))  # (E26) dV/dl
            else:
                pushed = pushed + delta * along  # (E38), the modal part of Gamma
    T = (T[0], T[1] - mu * lever[2], T[2] + mu * lever[1])
    # (E27): the velocity of a particle jumps at the mouth if a shape has a slope there
    thrust, twist = mouth_slopes(tag, model, table, count, shapes, work)
    stretch = ld * inverse
    flux = const(model, FLUX) * (stretch * stretch)
    S = (S[0] + flux * (mul_l * thrust), S[1], S[2])
    T = add(T, scale(flux * (l * twist), Jx))
    pushed = pushed + 0.5 * flux * (mu * thrust * thrust + J[0] * (twist * twist))
    return S, T, pushed + S[0]  # (E38): int mu x . a over the whole arm is S_x


@generic
def along_mode(direction: int, a: Vector, mu: Scalar, turned: Scalar) -> Scalar:
    """The inertia force on a mode: mass times acceleration along it, or the moment about x for torsion."""
    if direction == X:
        return mu * a[0]
    if direction == Y:
        return mu * a[1]
    if direction == Z:
        return mu * a[2]
    return turned


@generic
def across_mode(tag: Tag, direction: int, a: Vector) -> Vector:
    """Return the cross product of a mode's unit vector with a."""
    zero = splat(tag, 0.0)
    if direction == X:
        return (zero, -a[2], a[1])
    if direction == Y:
        return (a[2], zero, -a[0])
    if direction == Z:
        return (-a[1], a[0], zero)
    return zero3(tag)


@generic
def mouth_slopes(tag: Tag, model: Buffer, table: int, count: int, shapes: int, work: Buffer) -> tuple[Scalar, Scalar]:
    """Sums of amplitude times slope at the mouth, of longitudinal and of torsion modes; bending has none."""
    thrust = splat(tag, 0.0)
    twist = splat(tag, 0.0)
    for f in range(count):
        direction = index(model, table + f * MODE + DIRECTION)
        slope = const(model, table + f * MODE + ROOT) * load(tag, work, shapes + SHAPE * f)
        if direction == X:
            thrust = thrust + slope
        elif direction == TORSION:
            twist = twist + slope
    return thrust, twist
