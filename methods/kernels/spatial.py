"""Six-dimensional motions and wrenches of bodies in world axes, at one origin for all, over the generic scalar.

A motion is (velocity of the body's point at the origin, angular velocity), a wrench (force, moment about the origin);
their scalar product is a power. Nothing is transformed on the way from a body to its parent. Poses are those of
`closure.place`; the origin is the first body's, after `recenter`, so that no digits are lost far from the world's.
Matrices are 6 x 6 by rows in flat buffers, symmetric ones lower triangle alone.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import POS, ROT, WORK
from dynbench.methods.kernels.inertia import parallel_axis
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, store
from dynbench.methods.kernels.sweeps import WORK as SWEPT
from dynbench.methods.kernels.sweeps import F, N, outward
from dynbench.methods.kernels.tree import MASS, ROW, H, J, body_count
from dynbench.methods.kernels.vectors import (
    add,
    column,
    congruence,
    const3,
    const6,
    cross,
    load3,
    load9,
    mul,
    scale,
    store3,
    sub,
    zero3,
)


@generic
def recenter(tag: Tag, bodies: int, work: Buffer) -> None:
    """Move the origin of all poses, the ground's too, to the first body. Loops see differences alone."""
    c = load3(tag, work, WORK + POS)
    store3(tag, work, POS, (-c[0], -c[1], -c[2]))
    store3(tag, work, WORK + POS, zero3(tag))
    for i in range(2, bodies + 1):
        store3(tag, work, i * WORK + POS, sub(load3(tag, work, i * WORK + POS), c))


@generic
def body_wrenches(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Force and moment that the motion of each body requires, less external ones: packed axes, at its origin.

    A kernel on the packed tree like any other, so that springs act on it as on others.
    """
    outward(tag, model, q, v, a, wrench, work)
    for i in range(1, body_count(model) + 1):
        store3(tag, out, 6 * i - 6, load3(tag, work, i * SWEPT + F))
        store3(tag, out, 6 * i - 3, load3(tag, work, i * SWEPT + N))


@generic
def store_wrench(tag: Tag, work: Buffer, i: int, wrench: Buffer, z: Buffer, at: int) -> None:
    """One of `body_wrenches` seen from the world, to z[at]."""
    R, p = load9(tag, work, i * WORK + ROT), load3(tag, work, i * WORK + POS)
    f = mul(R, load3(tag, wrench, 6 * i - 6))
    store3(tag, z, at, f)
    store3(tag, z, at + 3, add(mul(R, load3(tag, wrench, 6 * i - 3)), cross(p, f)))


@generic
def store_inertia(tag: Tag, packed: Buffer, work: Buffer, i: int, P: Buffer, at: int) -> None:
    """f = m v - h x w, n = h x v + J w: the lower triangle of a body's inertia to P[at]."""
    R, p = load9(tag, work, i * WORK + ROT), load3(tag, work, i * WORK + POS)
    m = const(packed, i * ROW + MASS)
    there = mul(R, const3(packed, i * ROW + H))
    inertia = parallel_axis(congruence(R, const6(packed, i * ROW + J)), m, there, p)
    h = add(there, scale(m, p))
    zero = zero3(tag)
    for k in range(3):
        store3(tag, P, at + 6 * k, zero)
        store(tag, P, at + 7 * k, m + zero[0])
    store3(tag, P, at + 18, (zero[0], -h[2], h[1]))
    store3(tag, P, at + 24, (h[2], zero[0], -h[0]))
    store3(tag, P, at + 30, (-h[1], h[0], zero[0]))
    store(tag, P, at + 21, inertia[0])
    store(tag, P, at + 27, inertia[1])
    store(tag, P, at + 28, inertia[3])
    store3(tag, P, at + 33, (inertia[2], inertia[4], inertia[5]))


@generic
def store_unit_wrench(tag: Tag, work: Buffer, i: int, axis: int, z: Buffer, at: int) -> None:
    """Unit force along (axis 0 to 2) or moment about (3 to 5) an axis of body row ``i``, at its origin."""
    R = load9(tag, work, i * WORK + ROT)
    if axis < 3:
        e = column(R, axis)
        store3(tag, z, at, e)
        store3(tag, z, at + 3, cross(load3(tag, work, i * WORK + POS), e))
    else:
        store3(tag, z, at, zero3(tag))
        store3(tag, z, at + 3, column(R, axis - 3))


@generic
def store_unit_motion(tag: Tag, work: Buffer, i: int, axis: int, z: Buffer, at: int) -> None:
    """Unit motion along (axis 0 to 2) or about (3 to 5) an axis of body row ``i`` through its origin."""
    R = load9(tag, work, i * WORK + ROT)
    if axis < 3:
        store3(tag, z, at, column(R, axis))
        store3(tag, z, at + 3, zero3(tag))
    else:
        e = column(R, axis - 3)
        store3(tag, z, at, cross(load3(tag, work, i * WORK + POS), e))
        store3(tag, z, at + 3, e)


@generic
def power(tag: Tag, x: Buffer, at: int, y: Buffer, to: int) -> Scalar:
    """Scalar product of six numbers each."""
    return inner_product(tag, x, at, y, to, 6)


@generic
def add_scaled(tag: Tag, s: Scalar, x: Buffer, at: int, y: Buffer, to: int) -> None:
    """y += s x, six numbers."""
    for k in range(6):
        store(tag, y, to + k, load(tag, y, to + k) + s * load(tag, x, at + k))
