"""Steps 3 and 4: the forward sweep to S and T, the backward sweep through phi and chi; with it, inverse dynamics.

With accelerations the sweeps give the generalized force, equations (18) to (22); without (``a`` None) what velocities
and gravity alone need, (45) to (52): tau less the right-hand side. All vectors of link i are in its own axes, about
O_i. Comments give the paper's equation numbers; x~ is the cross-product matrix of the rod's axis.
"""

from __future__ import annotations

from dynbench.methods.gibbs_appell_rp.model import (
    angle,
    extension,
    ground_acceleration,
    integrals,
    link_count,
    rotation,
)
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, load, sincos, store
from dynbench.methods.kernels.sweeps import given
from dynbench.methods.kernels.vectors import (
    Vector,
    add,
    cross,
    load3,
    load9,
    mul,
    mulT,
    store3,
    store9,
    sub,
    sym,
    zero3,
)

# Work rows, one per link; step 5 (`inertia`) uses what follows
A, S, T = 0, 9, 12
SWEEPS = 15


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(18), (19) dS/dq_j'' = tau_j (21) and dS/dl_j'' = F_j (22)."""
    forward_sweep(tag, model, q, v, a, wrench, work, SWEEPS)
    backward_sweep(tag, model, q, wrench, out, work, SWEEPS)


@generic
def forward_sweep(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer, row: int
) -> None:
    """From the ground to the tip: angular velocity and acceleration, acceleration of O_i; then S_i and T_i."""
    # (26), (27) with ``a``, r'' = r''_s + r''_v and w' = w'_s + w'_v; without it r''_v and w'_v
    w = zero3(tag)
    wd = zero3(tag)
    acc = ground_acceleration(tag, model)
    for i in range(link_count(model)):
        o = i * row
        s, c = sincos(load(tag, q, angle(i)))
        R = rotation(tag, model, i, s, c)
        store9(tag, work, o + A, R)
        rate = load(tag, v, angle(i))
        # (30), (31) as recursions: w = A^T w + z q', w' = A^T w' + z q'' + (A^T w) x z q'
        w = mulT(R, w)
        wd = mulT(R, wd)
        wd = (wd[0] + w[1] * rate, wd[1] - w[0] * rate, wd[2] + given(tag, a, angle(i)))
        w = (w[0], w[1], w[2] + rate)
        # (28), (29): acceleration of O_i. Erratum: (29) is printed without gravity, which the first acc holds
        acc = mulT(R, acc)
        l = load(tag, q, extension(i))
        ld = load(tag, v, extension(i))
        ldd = given(tag, a, extension(i))
        s_i, t_i = gibbs_derivatives(tag, model, i, q, w, wd, acc, ld, ldd)
        if wrench is not None:
            f = load3(tag, wrench, 12 * i + 6)  # on the rod, at its tip
            s_i = sub(s_i, f)
            moment = add(load3(tag, wrench, 12 * i + 3), load3(tag, wrench, 12 * i + 9))
            t_i = sub(t_i, (moment[0], moment[1] - l * f[2], moment[2] + l * f[1]))
        store3(tag, work, o + S, s_i)
        store3(tag, work, o + T, t_i)
        # (4) at the tip, eta = l: (32) r = l x, (33) its rate l' x, (34) its acceleration l'' x
        # acceleration of O_{i+1}: + l'' x + w' x l x + w x (2 l' x + w x l x)
        ld2 = ld + ld
        lw = (l * w[1], l * w[2])
        acc = (
            acc[0] + ldd - (w[1] * lw[0] + w[2] * lw[1]),
            acc[1] + l * wd[2] + w[2] * ld2 + w[0] * lw[0],
            acc[2] - l * wd[1] - w[1] * ld2 + w[0] * lw[1],
        )


@generic
def gibbs_derivatives(
    tag: Tag, model: Buffer, i: int, q: Buffer, w: Vector, wd: Vector, acc: Vector, ld: Scalar, ldd: Scalar
) -> tuple[Vector, Vector]:
    """(18), (46), (47) Derivatives of link i's Gibbs function (8) by the acceleration of O_i and by w'."""
    # S is (7), written with the integrals in (8)
    B0, b3, B78 = integrals(tag, model, i, q)
    B2 = B0 * (ld + ld)  # 2 B2 = B2 here times x~
    B6 = b3 * (ld + ld)  # 2 B6 likewise, times diag(0, 1, 1)
    # S = B0 r'' + B1 - 2 B2 w - B3 w' - w~ B3 w
    s = (
        B0 * (acc[0] + ldd) - b3 * (w[1] * w[1] + w[2] * w[2]),
        B0 * acc[1] + B2 * w[2] + b3 * (wd[2] + w[0] * w[1]),
        B0 * acc[2] - B2 * w[1] - b3 * (wd[1] - w[0] * w[2]),
    )
    # T = B3 r'' + 2 B6 w + (B7 + B8) w' + w~ (B7 + B8) w. Erratum: the gyroscopic w~ B8 w is missing from (7) on
    t = add(sym(B78, wd), cross(w, sym(B78, w)))
    t = (t[0], t[1] + B6 * w[1] - b3 * acc[2], t[2] + B6 * w[2] + b3 * acc[1])
    return s, t


@generic
def backward_sweep(tag: Tag, model: Buffer, q: Buffer, wrench: Buffer, out: Buffer, work: Buffer, row: int) -> None:
    """From the tip to the ground: phi and chi, and with them the generalized forces."""
    # (35), (36), (37): the derivatives of w' and r'' of outer links, applied link by link
    phi = zero3(tag)
    chi = zero3(tag)
    # Erratum: the second sum of (45) is printed up to n - 1; it starts with T_n
    for i in range(link_count(model) - 1, -1, -1):
        o = i * row
        l = load(tag, q, extension(i))
        s = load3(tag, work, o + S)
        # (49) chi_i = T_i + l x~ phi_i + A_{i+1} chi_{i+1}
        chi = add(chi, load3(tag, work, o + T))
        chi = (chi[0], chi[1] - l * phi[2], chi[2] + l * phi[1])
        # (48) and (52): z . chi, and x . phi plus x . S, which holds B0 (r'' + l'') and -w^T B3 x~^T w
        store(tag, out, angle(i), chi[2])
        store(tag, out, extension(i), phi[0] + s[0])
        if wrench is not None:
            phi = sub(phi, load3(tag, wrench, 12 * i))  # on the sleeve: does not act on the rod along its axis
        if i > 0:
            # (50) phi_{i-1} = A_i (S_i + phi_i)
            R = load9(tag, work, o + A)
            phi = mul(R, add(s, phi))
            chi = mul(R, chi)
