"""The principle of virtual work for the Gough-Stewart platform: inverse dynamics.

L.-W. Tsai, Solving the inverse dynamics of a Stewart-Gough manipulator by the principle of virtual work, Journal of
Mechanical Design 122(1), 2000, 3-9. The applied and inertia wrenches of all bodies, each times its own link Jacobian
from the platform's twist, balance the work of the actuators: no reactions, no multipliers, no energy. In the source
legs do not spin about themselves; legs on universal joints with full inertias are added here. Equation numbers are
those of this docstring.

The platform has rotation R and position p (its centre of mass), t = (p'; w) its twist in world axes, al its angular
acceleration. Leg i has the base point b and the platform point s = R a_i from p, first universal axis k, length d and
direction u; leg axes are Q = [x u z] with x along u x k and y = (0, 1, 0) in these axes. The centres of mass of its two
parts are c1 from the base joint and c2 back from the platform joint. A dash marks vectors in leg axes.

    d u = p + s - b                                             given by the tree state, and checked             (1)
    a = p'' + al x s + w x (w x s),   a_ = Q^T a                acceleration of the platform joint               (2)
    v_ = J_B t,   J_B = Q^T [1, -s~],   d' = v_y                its velocity                                     (3)
    w_ = K v_,    K = 1/d [0 0 1; -T 0 0; -1 0 0]               T = u.k / z.k (universal), T = 0 (Tsai)          (4)
    J_v1 = -c1 y~ K,   J_v2 = 1 + c2 y~ K                       lower and upper part                             (5)
    w_x' = (a_z - 2 d' w_x)/d - w_y w_z                         derivatives of the components
    w_z' = -(a_x + 2 d' w_z)/d + w_x w_y
    w_y' = T (w_z' + w_x w_y) + w_x w_z  (universal),   0  (Tsai)                                                (6)
    e = w_' x y + w_ x (w_ x y),   a_1 = c1 e,   a_2 = a_ - c2 e                                                 (7)
    J_k = [J_vk; K] J_B                                         link Jacobians; never formed                     (8)
    J_p: rows [u^T, (s x u)^T]                                  d' = J_p t                                       (9)
    F_p = (m (g - p''); -I al - w x I w)                        and external wrenches                            (10)
    F_k = (m_k (g_ - a_k); -I_k w_' - w_ x I_k w_)                                                               (11)
    J_p^T tau + F_p + sum (J_1^T F_1 + J_2^T F_2) = 0           virtual work                                     (12)
    tau = -J_p^-T [F_p + sum (J_1^T F_1 + J_2^T F_2)]                                                            (13)

With (5), J_1^T F_1 + J_2^T F_2 = J_B^T [f_2 + K^T (y x (c1 f_1 - c2 f_2) + n_1 + n_2)]. Packed model, checks of the
state, solution of (13) and the effect of external wrenches on a leg are those of `lagrange_stewart`.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.base import Solver
from dynbench.methods.kernels.orthogonal import factorise
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, splat, store
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    const3,
    const6,
    cross,
    dot,
    load3,
    mul,
    mulT,
    sub,
    sym,
)
from dynbench.methods.lagrange_stewart import model as packed
from dynbench.methods.lagrange_stewart.inverse import (
    FACTOR,
    SPARE,
    add_leg_force,
    distance,
    forces_or_nan,
    joint_motion,
    leg_part,
    leg_pose,
    off_legs,
    off_motion,
    platform,
    platform_acceleration,
    platform_wrench,
    squared,
    store_column,
)
from dynbench.methods.lagrange_stewart.legs import Rates, leg_external, leg_frame
from dynbench.methods.lagrange_stewart.mass import twist_of_lengths
from dynbench.methods.lagrange_stewart.model import C1, C2, GRAVITY, HEAD, I_LEG, IV, LEG, LEGS, M1, M2, MODEL, T
from dynbench.methods.lagrange_stewart.run import StewartMethod
from dynbench.robots.robot import FloatArray, Robot

SPIN_FREE, UNIVERSAL = 0, 1  # in the MODEL slot
ACCELERATION = SPARE + 6  # of the platform, for the bias
WORK = ACCELERATION + 6


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(13) at the given acceleration of the platform."""
    R, _p, _linear, _w = platform(tag, model, q, v)
    acc, wd = platform_acceleration(tag, model, R, v, a)
    balance(tag, model, q, v, a, acc, wd, wrench, out, work)


@generic
def bias(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer) -> None:
    """(13) when the legs do not accelerate, d'' = 0: the platform then has the acceleration -J_p^-1 J_p' t."""
    R, _p, linear, w = platform(tag, model, q, v)
    factor = work[len(tag) * FACTOR :]
    for i in range(LEGS):
        leg, d, _s2, _c2 = leg_frame(tag, model, HEAD + i * LEG, q)
        s = mul(R, const3(model, HEAD + i * LEG + T))
        turned = cross(w, s)
        _, w_x, w_z = swing(mulT(leg, add(linear, turned)), 1.0 / d)
        # (9), and d'' of the leg without acceleration of the platform
        store_column(tag, model, factor, i, leg, s)
        along = dot((leg[1], leg[4], leg[7]), cross(w, turned))
        store(tag, work, ACCELERATION + i, -(along + d * (w_x * w_x + w_z * w_z)))
    factorise(tag, factor, 6)
    twist_of_lengths(tag, model, factor, work, ACCELERATION, work[len(tag) * SPARE :])
    wd = mulT(R, load3(tag, work, ACCELERATION + 3))
    balance(tag, model, q, v, None, load3(tag, work, ACCELERATION), wd, wrench, out, work)


@generic
def balance(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, acc: Vector, wd: Vector, wrench: Buffer,
    out: Buffer, work: Buffer,
) -> None:  # fmt: skip
    """Actuator forces for the acceleration ``acc`` (world) and ``wd`` (platform axes); NaN for a bad state."""
    R, P, linear, w = platform(tag, model, q, v)
    # (10), with the opposite sign
    platform_wrench(tag, model, R, v, acc, wd, wrench, work)
    alpha = mul(R, wd)
    k = index(model, IV)
    apart, nearest, slip, slip2 = splat(tag, 0.0), splat(tag, 0.0), splat(tag, 0.0), splat(tag, 0.0)
    speed = squared(tag, v, k) + squared(tag, v, k + 3)
    push = dot(acc, acc) + dot(wd, wd)
    factor = work[len(tag) * FACTOR :]
    for i in range(LEGS):
        o = HEAD + i * LEG
        # (1)
        leg, s, d, s2, _c2, over_d, over_c, opened, near = leg_pose(tag, model, o, q, R, P)
        apart += opened
        nearest += near
        # (2), (3)
        v_, a_ = joint_motion(leg, s, linear, w, acc, alpha)
        rates, seconds = leg_coordinates(a_, v_, d, over_d, s2, over_c)
        given = leg_part(tag, model, o, v)
        slip += distance(rates, given)
        speed += dot(given, given)
        if a is not None:
            given2 = leg_part(tag, model, o, a)
            slip2 += distance(seconds, given2)
            push += dot(given2, given2)
        spin = s2 if index(model, MODEL) == UNIVERSAL else splat(tag, 0.0)
        f = leg_force(tag, model, o, a_, v_, mulT(leg, const3(model, GRAVITY)), over_d, spin * over_c)
        if wrench is not None:
            f = sub(f, leg_external(tag, model, o, wrench, over_d, spin, over_c))
        # (12): J_B^T of (3), summed with the opposite sign; (9)
        add_leg_force(tag, work, leg, s, f)
        store_column(tag, model, factor, i, leg, s)
    # (13)
    bad = off_legs(model, apart, nearest) + off_motion(slip, slip2, speed, push)
    forces_or_nan(tag, model, work, out, bad)


@generic
def swing(v: Vector, over_d: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """(4): d' and the components x and z of the leg's angular velocity, the same for both kinds of legs."""
    return v[1], v[2] * over_d, -(v[0] * over_d)


@generic
def leg_coordinates(
    a: Vector, v: Vector, d: Scalar, over_d: Scalar, s2: Scalar, over_c: Scalar
) -> tuple[Rates, Rates]:
    """First and second derivatives of the leg's coordinates in the tree: both angles, the length."""
    rate, w_x, w_z = swing(v, over_d)
    first = w_z * over_c
    along = w_x * first * s2
    u_x, u_z = (a[0] + 2.0 * rate * w_z) * over_d, (a[2] - 2.0 * rate * w_x) * over_d  # of u''
    second = (along + along - u_x) * over_c
    return (first, w_x, rate), (second, u_z - first * s2 * w_z, a[1] + d * (w_x * w_x + w_z * w_z))


@generic
def leg_force(
    tag: Tag, model: Buffer, o: int, a: Vector, v: Vector, g: Vector, over_d: Scalar, tangent: Scalar
) -> Vector:
    """Minus the leg's part of (12) as a force at the platform joint, in leg axes."""
    rate, w_x, w_z = swing(v, over_d)
    w = (w_x, tangent * w_z, w_z)
    twice = 2.0 * rate
    # (6)
    x = (a[2] - twice * w_x) * over_d - w[1] * w_z
    z = w_x * w[1] - (a[0] + twice * w_z) * over_d
    y = splat(tag, 0.0)
    if index(model, MODEL) == UNIVERSAL:
        y = tangent * (z + w_x * w[1]) + w_x * w_z
    # (7): e = w_' x y + w_ x (w_ x y)
    e = (w_x * w[1] - z, -(w_x * w_x + w_z * w_z), x + w[1] * w_z)
    c1, c2, m1, m2 = const(model, o + C1), const(model, o + C2), const(model, o + M1), const(model, o + M2)
    # (11), with the opposite sign; both parts turn alike, so their inertias are added
    f1 = (m1 * (c1 * e[0] - g[0]), m1 * (c1 * e[2] - g[2]))
    f2 = (m2 * (a[0] - c2 * e[0] - g[0]), m2 * (a[1] - c2 * e[1] - g[1]), m2 * (a[2] - c2 * e[2] - g[2]))
    inertia = const6(model, o + I_LEG)
    n = add(sym(inertia, (x, y, z)), cross(w, sym(inertia, w)))
    # (5), (8): f_2 + K^T (y x (c1 f_1 - c2 f_2) + n)
    m_x = c1 * f1[1] - c2 * f2[2] + n[0]
    m_z = c2 * f2[0] - c1 * f1[0] + n[2]
    return f2[0] - (tangent * n[1] + m_z) * over_d, f2[1], f2[2] + m_x * over_d


class VirtualWorkStewart(StewartMethod):
    """Legs on universal joints, with full inertias; exact. Equations: (1)-(13)"""

    name: ClassVar[str] = "virtual-work-stewart"
    title: ClassVar[str] = "Virtual work, Gough-Stewart"
    reference: ClassVar[str] = "Tsai, J. Mech. Design 122(1) (2000) 3-9, with universal joints"
    legs: ClassVar[int] = UNIVERSAL
    kernels: ClassVar = {"inverse_dynamics": inverse_dynamics, "bias": bias}

    def pack(self, robot: Robot) -> FloatArray:
        data = packed.pack(robot, packed.FULL)
        data[MODEL] = self.legs
        return data

    def work_size(self, robot: Robot, quantity: str) -> int:
        return WORK

    def build(self, robot: Robot) -> Solver:
        model = self.pack(robot)
        return Solver(self, robot, *self.calls(robot, model), model)


class VirtualWorkStewartSpinFree(VirtualWorkStewart):
    """Tsai's legs, which do not spin: exact for slender rods, an approximation otherwise. Equations: (1)-(13)"""

    name: ClassVar[str] = "virtual-work-stewart-spin-free"
    title: ClassVar[str] = "Virtual work, Gough-Stewart, spin-free legs"
    reference: ClassVar[str] = "Tsai, J. Mech. Design 122(1) (2000) 3-9"
    exact: ClassVar[bool] = False
    legs: ClassVar[int] = SPIN_FREE
