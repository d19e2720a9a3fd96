"""Mass matrix of the momentum form, from composite bodies: M v are the momenta, so a column is those of one unit rate.

    M v = (dK/dV0, dK/domega0, H_i^T dK/domega_i)

When only joint k moves, everything beyond it moves as one body, whose momenta about joint k are a column of its
inertia; carried inward, they are those of every joint on the way. O(n d) for trees of depth d.
"""

from __future__ import annotations

from dynbench.methods.boltzmann_hamel.kinematics import ROT, rotations
from dynbench.methods.boltzmann_hamel.model import body_count, velocity_count
from dynbench.methods.kernels.inertia import parallel_axis, shifted_moment, unit_translation
from dynbench.methods.kernels.linear import clear, mirror
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.sweeps import joint_force, to_parent
from dynbench.methods.kernels.tree import COM, I_COM, MASS, ROW, P, axis_count, first_axis, iv, kind, parent
from dynbench.methods.kernels.vectors import (
    Symmetric,
    Vector,
    add3,
    addsym,
    congruence,
    const3,
    const6,
    dot,
    load3,
    load6,
    load9,
    mul,
    scale,
    store3,
    store6,
)

# Work rows: rotation, as in `kinematics`; then the composite body's mass, first moment and inertia about its joint
C_MASS, C_H, C_J, WORK = 9, 10, 13, 19


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    rotations(tag, model, q, work, WORK)
    fill_mass_matrix(tag, model, out, 0, work, WORK)


@generic
def fill_mass_matrix(tag: Tag, model: Buffer, out: Buffer, at: int, work: Buffer, stride: int) -> None:
    """M v = (dK/dV0, dK/domega0, H^T dK/domega_i): column k is the momenta when v is the k-th unit vector."""
    nv = velocity_count(model)
    clear(tag, out, at, nv * nv)  # one arm's rates give another no momentum, (40)
    for i in range(1, body_count(model) + 1):
        start_composite(tag, model, i, work, stride)
    for i in range(body_count(model), 0, -1):
        o = i * stride
        m = load(tag, work, o + C_MASS)
        h = load3(tag, work, o + C_H)
        inertia = load6(tag, work, o + C_J)
        joint = kind(model, i)
        for k in range(axis_count(joint)):
            linear, angular = unit_momentum(tag, m, h, inertia, first_axis(joint) + k)
            row = at + nv * (iv(model, i) + k)
            column_of_momenta(tag, model, i, linear, angular, out, row, work, stride)
        parent_row = parent(model, i) * stride
        if parent_row > 0:
            R = load9(tag, work, o + ROT)
            s = const3(model, i * ROW + P)
            h = mul(R, h)
            store(tag, work, parent_row + C_MASS, load(tag, work, parent_row + C_MASS) + m)
            add3(tag, work, parent_row + C_H, shifted_moment(m, h, s))
            moved = parallel_axis(congruence(R, inertia), m, h, s)
            store6(tag, work, parent_row + C_J, addsym(load6(tag, work, parent_row + C_J), moved))
    mirror(tag, out, at, nv)


@generic
def start_composite(tag: Tag, model: Buffer, i: int, work: Buffer, stride: int) -> None:
    """Mass, first moment and inertia about its joint of body ``i``: all it carries will be added."""
    o = i * stride
    m = const(model, i * ROW + MASS)
    c = const3(model, i * ROW + COM)
    h = scale(m, c)
    J = const6(model, i * ROW + I_COM)
    t = dot(h, c)
    store(tag, work, o + C_MASS, m)
    store3(tag, work, o + C_H, h)
    store3(tag, work, o + C_J, (J[0] + t - h[0] * c[0], J[1] - h[0] * c[1], J[2] - h[0] * c[2]))
    store3(tag, work, o + C_J + 3, (J[3] + t - h[1] * c[1], J[4] - h[1] * c[2], J[5] + t - h[2] * c[2]))


@generic
def unit_momentum(tag: Tag, m: Scalar, h: Vector, inertia: Symmetric, axis: int) -> tuple[Vector, Vector]:
    """Linear and angular momentum of a body moving at unit rate along x, y, z (axis 0 to 2) or about them (3 to 5)."""
    zero = splat(tag, 0.0)
    if axis == 5:
        return (-h[1], h[0], zero), (inertia[2], inertia[4], inertia[5])
    if axis == 4:
        return (h[2], zero, -h[0]), (inertia[1], inertia[3], inertia[4])
    if axis == 3:
        return (zero, -h[2], h[1]), (inertia[0], inertia[1], inertia[2])
    return unit_translation(tag, m, h, axis)


@generic
def column_of_momenta(
    tag: Tag,
    model: Buffer,
    i: int,
    linear: Vector,
    angular: Vector,
    out: Buffer,
    row: int,
    work: Buffer,
    stride: int,
) -> None:
    """Carry a momentum from row ``i`` to the base; every joint on the way sees its moment, an entry of M."""
    while i > 0:
        joint_force(tag, model, i, linear, angular, out, row)
        R = load9(tag, work, i * stride + ROT)
        s = const3(model, i * ROW + P)
        i = parent(model, i)
        if i > 0:
            linear, angular = to_parent(R, s, linear, angular)
