"""Inverse dynamics and joint reactions: tau = N_d^T N_l^T (M t' + Omega M t - w), two sweeps, O(n)."""

from __future__ import annotations

from dynbench.methods.denoc.model import ROT, WORK, D, F, N, inward, outward, project
from dynbench.methods.kernels.scalar import Buffer, Tag, generic
from dynbench.methods.kernels.tree import body_count, from_packed
from dynbench.methods.kernels.vectors import add, cross, load3, load9, mulT, store3


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(14), (15) projected on T = N_l N_d: constraint wrenches vanish, T^T w_C = 0 (10)."""
    outward(tag, model, q, v, a, wrench, work, WORK)
    inward(tag, model, work, WORK)
    for i in range(1, body_count(model) + 1):
        n = load3(tag, work, i * WORK + N)
        project(tag, model, i, n, load3(tag, work, i * WORK + F), out, 0, work, WORK)


@generic
def reactions(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Force and moment that each joint passes to its body, at the body's frame origin, body axes."""
    outward(tag, model, q, v, a, wrench, work, WORK)
    inward(tag, model, work, WORK)
    for i in range(1, body_count(model) + 1):
        o = i * WORK
        R = load9(tag, work, o + ROT)
        f = load3(tag, work, o + F)
        n = add(load3(tag, work, o + N), cross(load3(tag, work, o + D), f))
        store3(tag, out, 6 * i - 6, from_packed(model, i, mulT(R, f)))
        store3(tag, out, 6 * i - 3, from_packed(model, i, mulT(R, n)))
