"""The kernels: momenta, the canonical equations, and forward dynamics; numbers are those of the package's docstring."""

from __future__ import annotations

from dynbench.methods.canonical_momenta.elimination import eliminate, substitute
from dynbench.methods.canonical_momenta.momenta import (
    BF,
    BN,
    GRAVITY,
    VL,
    VW,
    move,
    place,
    rate_at_rest,
    start_momentum,
    sum_momenta,
    weigh,
)
from dynbench.methods.kernels.scalar import Buffer, Tag, generic
from dynbench.methods.kernels.tree import body_count, ground_acceleration, velocity_count
from dynbench.methods.kernels.vectors import store3, zero3


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(14): M q'' = p' - M' q'. Only the difference Q - P' of (9) and (13) is needed, and summed at once."""
    bodies = body_count(model)
    store3(tag, work, VL, zero3(tag))
    store3(tag, work, VW, zero3(tag))
    # V' - (g; 0) instead of V': the weight is then part of the sum
    store3(tag, work, BF, ground_acceleration(tag, model))
    store3(tag, work, BN, zero3(tag))
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work)
        move(tag, model, i, v, work)
        start_momentum(tag, model, i, work)
        rate_at_rest(tag, model, i, v, wrench, work)
    for i in range(bodies, 0, -1):
        sum_momenta(tag, model, i, v, tau, out, 0, work)
        eliminate(tag, model, i, out, work)
    store3(tag, work, VL, zero3(tag))
    store3(tag, work, VW, zero3(tag))
    for i in range(1, bodies + 1):
        substitute(tag, model, i, out, work)


@generic
def hamilton(
    tag: Tag, model: Buffer, q: Buffer, p: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """q' from p by (4) to (8), then p' by (11): the two rows of out."""
    bodies = body_count(model)
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work)
    for i in range(bodies, 0, -1):
        eliminate(tag, model, i, p, work)
    store3(tag, work, VL, zero3(tag))
    store3(tag, work, VW, zero3(tag))
    g = ground_acceleration(tag, model)
    store3(tag, work, GRAVITY, (-g[0], -g[1], -g[2]))
    for i in range(1, bodies + 1):
        substitute(tag, model, i, out, work)
        start_momentum(tag, model, i, work)
        weigh(tag, model, i, wrench, work)
    for i in range(bodies, 0, -1):
        sum_momenta(tag, model, i, None, tau, out, velocity_count(model), work)


@generic
def momenta(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """p = M v by (1), (2); a and wrench are not used."""
    bodies = body_count(model)
    store3(tag, work, VL, zero3(tag))
    store3(tag, work, VW, zero3(tag))
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work)
        move(tag, model, i, v, work)
        start_momentum(tag, model, i, work)
    for i in range(bodies, 0, -1):
        sum_momenta(tag, model, i, None, None, out, 0, work)
