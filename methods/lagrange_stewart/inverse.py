"""Inverse dynamics: M(q) q'' + C(q, q') q' + G(q) = J^T F, (9) and (10), solved for the actuator forces F.

Pose, velocity and acceleration of the platform in world axes come from its free joint in the tree state. In the angles
of the paper the equations are E^T times those in the angular velocity, (12), with E singular at cos alpha = 0. E^T is a
factor of both sides and is omitted: H^T F = W, with [u_i, r_i x u_i] the row i of H, J = H diag(1, E), and W the wrench
that accelerates platform and legs. Then no attitude is singular.

The legs' own coordinates in the tree state give their frames; their rates and accelerations follow from the platform's
and are compared with the given ones. As for all robots with loops, a state that does not satisfy the loops, or one
without a solution (a singular H, a leg of zero length or along its first universal axis), gives NaN, and
`run.StewartRun` raises the error with the reason.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import SINGULAR
from dynbench.methods.kernels.orthogonal import factorise, solve
from dynbench.methods.kernels.projection import OFF, nan_if_invalid
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    add3,
    const3,
    const6,
    cross,
    dot,
    from_quaternion,
    load3,
    mul,
    mulT,
    scale,
    store3,
    sub,
    sym,
)
from dynbench.methods.lagrange_stewart.legs import (
    Rates,
    leg_accelerations,
    leg_external,
    leg_force,
    leg_frame,
    leg_rates,
    spin,
)
from dynbench.methods.lagrange_stewart.model import (
    BODY,
    GRAVITY,
    HEAD,
    INERTIA,
    IQ,
    IV,
    LEG,
    LEGS,
    MASS,
    REACH,
    SIZE,
    B,
    T,
    V,
)

# Work: the wrench, the factorised H^T, six spare numbers
W = 0
FACTOR = 6
SPARE = FACTOR + 78
WORK = SPARE + 6


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(9), (10): F = H^-T W, the six actuator forces, positive if they push the platform away from the base."""
    R, P, linear, w = platform(tag, model, q, v)
    k = index(model, IV)
    acc, wd_body = platform_acceleration(tag, model, R, v, a)
    wd = mul(R, wd_body)
    platform_wrench(tag, model, R, v, acc, wd_body, wrench, work)
    apart = splat(tag, 0.0)
    nearest = splat(tag, 0.0)
    slip = splat(tag, 0.0)
    slip2 = splat(tag, 0.0)
    speed = squared(tag, v, k) + squared(tag, v, k + 3)
    push = squared(tag, a, k) + squared(tag, a, k + 3)
    factor = work[len(tag) * FACTOR :]
    for i in range(LEGS):
        o = HEAD + i * LEG
        leg, r, L, s2, c2, over_L, over_c, opened, near = leg_pose(tag, model, o, q, R, P)
        apart += opened
        nearest += near
        VT, AT = joint_motion(leg, r, linear, w, acc, wd)
        rates = leg_rates(VT, over_L, over_c)
        second, spin_dot, udd = leg_accelerations(AT, rates, L, over_L, s2, c2, over_c)
        given = leg_part(tag, model, o, v)
        given2 = leg_part(tag, model, o, a)
        slip += distance(rates, given)
        slip2 += distance(second, given2)
        speed += dot(given, given)
        push += dot(given2, given2)
        g = mulT(leg, const3(model, GRAVITY))
        f = leg_force(tag, model, o, AT, g, spin(rates, s2, c2), spin_dot, udd, over_L, s2, over_c)
        if wrench is not None:
            f = sub(f, leg_external(tag, model, o, wrench, over_L, s2, over_c))
        add_leg_force(tag, work, leg, r, f)
        store_column(tag, model, factor, i, leg, r)
    bad = off_legs(model, apart, nearest) + off_motion(slip, slip2, speed, push)
    forces_or_nan(tag, model, work, out, bad)


@generic
def platform(tag: Tag, model: Buffer, q: Buffer, v: Buffer) -> tuple[Matrix, Vector, Vector, Vector]:
    """Rotation R (2), position P, velocity and angular velocity (12) of the platform, world axes."""
    j = index(model, IQ)
    k = index(model, IV)
    R = from_quaternion(load(tag, q, j + 3), load(tag, q, j + 4), load(tag, q, j + 5), load(tag, q, j + 6))
    return R, load3(tag, q, j), mul(R, load3(tag, v, k)), mul(R, load3(tag, v, k + 3))


@generic
def platform_acceleration(tag: Tag, model: Buffer, R: Matrix, v: Buffer, a: Buffer) -> tuple[Vector, Vector]:
    """Classical acceleration of the platform, world axes, and its angular acceleration, platform axes."""
    k = index(model, IV)
    # the tree's acceleration is the derivative of components in rotating axes
    return mul(R, add(load3(tag, a, k), cross(load3(tag, v, k + 3), load3(tag, v, k)))), load3(tag, a, k + 3)


@generic
def platform_wrench(
    tag: Tag, model: Buffer, R: Matrix, v: Buffer, acc: Vector, wd: Vector, wrench: Buffer, work: Buffer
) -> None:
    """Start W with the platform: m (a - g) and I w' + w x I w, from (11) and (14), less the external wrench.

    The angular velocity w and acceleration wd are in platform axes, as in (13).
    """
    w = load3(tag, v, index(model, IV) + 3)
    inertia = const6(model, INERTIA)
    f = scale(const(model, MASS), sub(acc, const3(model, GRAVITY)))
    n = add(sym(inertia, wd), cross(w, sym(inertia, w)))
    if wrench is not None:
        body = 6 * index(model, BODY)
        f = sub(f, mul(R, load3(tag, wrench, body)))
        n = sub(n, load3(tag, wrench, body + 3))
    store3(tag, work, W, f)
    store3(tag, work, W + 3, mul(R, n))


@generic
def gap(tag: Tag, model: Buffer, o: int, P: Vector, r: Vector, leg: Matrix, L: Scalar) -> Scalar:
    """Return the squared distance between the leg's tip B + L u and its platform point P + R T: (3), (4), (20), (21).

    Erratum: (3), (25) and (26) are printed with T_j in place of R T_j.
    """
    tip = sub(add(P, r), const3(model, o + B))
    off = (tip[0] - L * leg[1], tip[1] - L * leg[4], tip[2] - L * leg[7])
    return dot(off, off)


@generic
def leg_pose(
    tag: Tag, model: Buffer, o: int, q: Buffer, R: Matrix, P: Vector
) -> tuple[Matrix, Vector, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]:
    """Return a leg's frame, the arm r = R T of its platform joint, its length L, sine and cosine of the second angle.

    Then 1/L, 1/cosine, its `gap`, and 1 over the squared distance of the platform joint from the first universal axis.
    """
    leg, L, s2, c2 = leg_frame(tag, model, o, q)
    over_L = 1.0 / L
    over_c = 1.0 / c2
    r = mul(R, const3(model, o + T))
    return leg, r, L, s2, c2, over_L, over_c, gap(tag, model, o, P, r, leg, L), over_L * over_L * over_c * over_c


@generic
def joint_motion(
    leg: Matrix, r: Vector, linear: Vector, w: Vector, acc: Vector, wd: Vector
) -> tuple[Vector, Vector]:
    """Return velocity and acceleration of the platform joint, leg axes: V_T = V + w x r (26), OT = P + R T (25)."""
    turned = cross(w, r)
    return mulT(leg, add(linear, turned)), mulT(leg, add(acc, add(cross(wd, r), cross(w, turned))))


@generic
def add_leg_force(tag: Tag, work: Buffer, leg: Matrix, r: Vector, f: Vector) -> None:
    """Add a force at the platform joint, leg axes, to W.

    (29), (37) K and P are sums over platform and legs, (28), (36): so is W.
    """
    f = mul(leg, f)
    add3(tag, work, W, f)
    add3(tag, work, W + 3, cross(r, f))


@generic
def off_motion(slip: Scalar, slip2: Scalar, speed: Scalar, push: Scalar) -> Scalar:
    """Return a measure of the squared residuals of the legs' rates and accelerations; valid motions are below 1."""
    return OFF * (slip / (1.0 + speed) + slip2 / (1.0 + push + speed * speed))


@generic
def off_legs(model: Buffer, apart: Scalar, nearest: Scalar) -> Scalar:
    """Return a measure of the loops' residuals and of the legs' distance from singularity; valid states are below 1.

    ``nearest`` sums 1 / distance^2 of the platform joints from their first universal axes.
    """
    size = const(model, REACH)
    return OFF * apart + SINGULAR * size * size * nearest


@generic
def leg_part(tag: Tag, model: Buffer, o: int, x: Buffer) -> Rates:
    """Return a leg's three numbers of v or a."""
    return (
        load(tag, x, index(model, o + V)),
        load(tag, x, index(model, o + V + 1)),
        load(tag, x, index(model, o + V + 2)),
    )


@generic
def squared(tag: Tag, x: Buffer, i: int) -> Scalar:
    y = load3(tag, x, i)
    return dot(y, y)


@generic
def distance(x: Rates, y: Rates) -> Scalar:
    d = sub(x, y)
    return dot(d, d)


@generic
def store_column(tag: Tag, model: Buffer, factor: Buffer, i: int, leg: Matrix, r: Vector) -> None:
    """Store column i of H^T, with moments divided by the platform's size; H diag(1, E) is J of (7), (8)."""
    u = (leg[1], leg[4], leg[7])
    store3(tag, factor, 6 * i, u)
    store3(tag, factor, 6 * i + 3, scale(1.0 / const(model, SIZE), cross(r, u)))


@generic
def forces_or_nan(tag: Tag, model: Buffer, work: Buffer, out: Buffer, bad: Scalar) -> None:
    """Factorise H^T, then F = H^-T W, or NaN where ``bad`` is above 1 or H is singular."""
    factor = work[len(tag) * FACTOR :]
    zero = nan_if_invalid(bad + factorise(tag, factor, 6) * SINGULAR)
    leg_forces(tag, model, work, out, factor, work[len(tag) * SPARE :], zero)


@generic
def leg_forces(tag: Tag, model: Buffer, work: Buffer, out: Buffer, factor: Buffer, spare: Buffer, zero: Scalar) -> None:
    """F = H^-T W with H^T factorised."""
    store3(tag, out, 0, load3(tag, work, W))
    store3(tag, out, 3, scale(1.0 / const(model, SIZE), load3(tag, work, W + 3)))
    solve(tag, factor, 6, out, 0, spare)
    for i in range(LEGS):
        store(tag, out, i, load(tag, out, i) + zero)
