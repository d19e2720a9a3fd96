"""Inverse dynamics: the recursive Newton-Euler algorithm (Featherstone 2008, table 5.1; Luh, Walker, Paul 1980)."""

from __future__ import annotations

from dynbench.methods.kernels.scalar import Buffer, Tag, generic
from dynbench.methods.kernels.sweeps import POS, ROT, WORK, F, N, joint_force, outward, to_parent
from dynbench.methods.kernels.tree import body_count, from_packed, parent
from dynbench.methods.kernels.vectors import add3, load3, load9, store3


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Table 5.1: (1), (2) and (3) by `outward`, then (5) and (4)."""
    outward(tag, model, q, v, a, wrench, work)
    inward(tag, model, work)
    for i in range(1, body_count(model) + 1):
        o = i * WORK
        joint_force(tag, model, i, load3(tag, work, o + F), load3(tag, work, o + N), out, 0)


@generic
def reactions(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Force and moment that each joint passes to its body, at the body's frame origin, body axes."""
    outward(tag, model, q, v, a, wrench, work)
    inward(tag, model, work)
    for i in range(1, body_count(model) + 1):
        o = i * WORK
        store3(tag, out, 6 * i - 6, from_packed(model, i, load3(tag, work, o + F)))
        store3(tag, out, 6 * i - 3, from_packed(model, i, load3(tag, work, o + N)))


@generic
def inward(tag: Tag, model: Buffer, work: Buffer) -> None:
    """From the tips to the ground: the wrench of a joint is that of its body plus those of the joints it carries."""
    for i in range(body_count(model), 0, -1):
        u = parent(model, i) * WORK
        if u > 0:
            o = i * WORK
            R, p = load9(tag, work, o + ROT), load3(tag, work, o + POS)
            # (5) f_p += X^T f
            f, n = to_parent(R, p, load3(tag, work, o + F), load3(tag, work, o + N))
            add3(tag, work, u + F, f)
            add3(tag, work, u + N, n)
