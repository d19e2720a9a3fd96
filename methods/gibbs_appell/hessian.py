"""Mass matrix: the second derivative of the acceleration energy by the quasi-accelerations, equation (6).

Numbers in comments are equations of the package's docstring.
"""

from __future__ import annotations

from dynbench.methods.kernels.inertia import shifted_moment, unit_translation
from dynbench.methods.kernels.linear import clear, mirror
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.sweeps import POS, ROT, joint_force, to_parent
from dynbench.methods.kernels.tree import (
    MASS,
    ROW,
    SECOND_MOMENT,
    H,
    axis_count,
    body_count,
    first_axis,
    iv,
    kind,
    parent,
    pose,
    velocity_count,
)
from dynbench.methods.kernels.vectors import (
    Symmetric,
    Vector,
    add3,
    addsym,
    congruence,
    const3,
    const6,
    load3,
    load6,
    load9,
    mul,
    store3,
    store6,
    store9,
)

# Work rows: pose as in the gradient's, then the composite's integrals (6)
LAMBDA, XI, SIGMA = 12, 13, 16
WORK = 22


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    for i in range(1, body_count(model) + 1):
        R, p = pose(tag, model, i, q)
        store9(tag, work, i * WORK + ROT, R)
        store3(tag, work, i * WORK + POS, p)
    second_derivatives(tag, model, out, 0, work, WORK)


@generic
def second_derivatives(tag: Tag, model: Buffer, out: Buffer, at: int, work: Buffer, row: int) -> None:
    """Write M by rows from out[at] on; poses must be in the work rows, of ``row`` scalars each."""
    # with outer joints held, S of all bodies from i on is (1) of one composite body
    bodies = body_count(model)
    nv = velocity_count(model)
    clear(tag, out, at, nv * nv)  # coordinates on different branches do not couple
    for i in range(1, bodies + 1):
        o = i * row
        store(tag, work, o + LAMBDA, const(model, i * ROW + MASS))
        store3(tag, work, o + XI, const3(model, i * ROW + H))
        store6(tag, work, o + SIGMA, const6(model, i * ROW + SECOND_MOMENT))
    for i in range(bodies, 0, -1):
        o = i * row
        mass = load(tag, work, o + LAMBDA)
        xi = load3(tag, work, o + XI)
        Sigma = load6(tag, work, o + SIGMA)
        joint = kind(model, i)
        for k in range(axis_count(joint)):
            phi, chi = unit_gradient(tag, mass, xi, Sigma, first_axis(joint) + k)
            chain_rule(tag, model, i, phi, chi, out, at + nv * (iv(model, i) + k), work, row)
        u = parent(model, i) * row
        if u > 0:
            # (6)
            R = load9(tag, work, o + ROT)
            p = load3(tag, work, o + POS)
            xi = mul(R, xi)
            store(tag, work, u + LAMBDA, load(tag, work, u + LAMBDA) + mass)
            add3(tag, work, u + XI, shifted_moment(mass, xi, p))
            moved = addsym(congruence(R, Sigma), shift(mass, xi, p))
            store6(tag, work, u + SIGMA, addsym(load6(tag, work, u + SIGMA), moved))
    mirror(tag, out, at, nv)


@generic
def shift(mass: Scalar, xi: Vector, p: Vector) -> Symmetric:
    """p xi^T + xi p^T + mass p p^T, with t = xi + mass p: p xi^T + t p^T"""
    t = shifted_moment(mass, xi, p)
    return (
        p[0] * xi[0] + t[0] * p[0],
        p[0] * xi[1] + t[0] * p[1],
        p[0] * xi[2] + t[0] * p[2],
        p[1] * xi[1] + t[1] * p[1],
        p[1] * xi[2] + t[1] * p[2],
        p[2] * xi[2] + t[2] * p[2],
    )


@generic
def unit_gradient(tag: Tag, mass: Scalar, xi: Vector, Sigma: Symmetric, axis: int) -> tuple[Vector, Vector]:
    """(3) of a composite at one unit of a = x, y, z (axis 0 to 2) or w' = x, y, z (3 to 5): W = w'~, no velocities.

    For w' = e_k: phi = e_k x xi, and axial(e_k~ Sigma) is column k of tr(Sigma) - Sigma.
    """
    zero = splat(tag, 0.0)
    if axis == 5:
        return (-xi[1], xi[0], zero), (-Sigma[2], -Sigma[4], Sigma[0] + Sigma[3])
    if axis == 4:
        return (xi[2], zero, -xi[0]), (-Sigma[1], Sigma[0] + Sigma[5], -Sigma[4])
    if axis == 3:
        return (zero, -xi[2], xi[1]), (Sigma[3] + Sigma[5], -Sigma[1], -Sigma[2])
    # for a = e_k: phi = mass e_k, chi = xi x e_k
    return unit_translation(tag, mass, xi, axis)


@generic
def chain_rule(
    tag: Tag, model: Buffer, i: int, phi: Vector, chi: Vector, out: Buffer, column: int, work: Buffer, row: int
) -> None:
    """(5) from body ``i`` to the ground: the derivative by each joint passed is an entry of the column."""
    while i > 0:
        joint_force(tag, model, i, phi, chi, out, column)
        o = i * row
        i = parent(model, i)
        if i > 0:
            phi, chi = to_parent(load9(tag, work, o + ROT), load3(tag, work, o + POS), phi, chi)
