"""The quantities: forward dynamics by the recursion over the nodes, the others by (10)."""

from __future__ import annotations

from typing import Any

from dynbench.methods.constraint_embedding.motions import all_motions, opening
from dynbench.methods.constraint_embedding.nodes import (
    A0,
    COORDINATES,
    COUNT,
    FREEDOMS,
    MOTIONS,
    ROWS,
    WRENCHES,
    actuator,
    coordinate,
    inside,
    record,
)
from dynbench.methods.constraint_embedding.recursion import recursion
from dynbench.methods.kernels import spatial
from dynbench.methods.kernels.closure import (
    BASIS,
    EQUATIONS,
    FULL,
    INNER,
    METHOD,
    NA,
    NV,
    OWN,
    RATE,
    SOLVED,
    TABLE,
    fill_rates,
    part,
)
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.nominal import NEAR, closed, closed_motion
from dynbench.methods.kernels.projection import moving, nan_if_invalid, no_mass, reduced_mass, refuse
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, index, load, splat, store

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None
body_wrenches: Any = spatial.body_wrenches


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    bad = closed(tag, model, q, work, NEAR) + opening(tag, model, v, work) * NEAR
    bad = bad + accelerations(tag, model, q, v, tau, wrench, out, work)
    refuse(tag, out, index(model, NV), bad)


@generic
def accelerate(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """For integrators: a state on the loops."""
    accelerations(tag, model, q, v, tau, wrench, out, work)


@generic
def accelerations(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> Scalar:
    """The recursion with g = A' v and the wrenches that the bodies require at a = 0; bodies must have been placed."""
    fill_rates(tag, model, v, work)
    wrenches = part(tag, model, work, OWN)[index(model, index(model, TABLE) + WRENCHES) * len(tag) :]
    body_wrenches(tag, model[index(model, METHOD) :], q, v, None, wrench, wrenches, part(tag, model, work, INNER))
    return recursion(tag, model, tau, wrenches, out, work)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """tau = W^T (M a + h), (10)"""
    own, inner, full = model[index(model, METHOD) :], part(tag, model, work, INNER), part(tag, model, work, FULL)
    bad = closed_motion(tag, model, q, v, a, work) + all_motions(tag, model, work)
    tree_inverse_dynamics(tag, own, q, v, a, wrench, full, inner)
    project(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def bias(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(10) at u' = 0, where a is a_0."""
    own, inner, full = model[index(model, METHOD) :], part(tag, model, work, INNER), part(tag, model, work, FULL)
    bad = closed(tag, model, q, work, NEAR) + moving(tag, model, v, work, NEAR)
    bad = bad + all_motions(tag, model, work)
    start = part(tag, model, work, SOLVED)
    clear(tag, start, 0, index(model, NV))
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        if index(model, at + ROWS) > 0:
            a0 = inside(tag, model, at, A0, work)
            for i in range(index(model, at + COORDINATES)):
                store(tag, start, coordinate(model, at, i), load(tag, a0, i))
    tree_inverse_dynamics(tag, own, q, v, start, wrench, full, inner)
    project(tag, model, full, out, work, nan_if_invalid(bad))


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """W^T M W, (10)"""
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    nv, na = index(model, NV), index(model, NA)
    bad = closed(tag, model, q, work, NEAR)
    clear(tag, part(tag, model, work, RATE), 0, index(model, EQUATIONS))
    bad = bad + all_motions(tag, model, work)
    basis = part(tag, model, work, BASIS)
    clear(tag, basis, 0, na * nv)
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        W, n = inside(tag, model, at, MOTIONS, work), index(model, at + COORDINATES)
        for c in range(index(model, at + FREEDOMS)):
            row = actuator(model, at, c, 1) * nv
            if index(model, at + ROWS) > 0:
                for i in range(n):
                    store(tag, basis, row + coordinate(model, at, i), load(tag, W, c * n + i))
            else:
                store(tag, basis, row + coordinate(model, at, c), splat(tag, 1.0))
    tree_mass_matrix(tag, own, q, no_mass(tag, model, work), inner)
    reduced_mass(tag, model, out, work)
    refuse(tag, out, na * na, bad)


@generic
def project(tag: Tag, model: Buffer, full: Buffer, out: Buffer, work: Buffer, zero: Scalar) -> None:
    """W^T r, node by node, (10)"""
    for k in range(index(model, index(model, TABLE) + COUNT)):
        at = record(model, k)
        W, n = inside(tag, model, at, MOTIONS, work), index(model, at + COORDINATES)
        for c in range(index(model, at + FREEDOMS)):
            total = zero
            if index(model, at + ROWS) > 0:
                for i in range(n):
                    total = total + load(tag, W, c * n + i) * load(tag, full, coordinate(model, at, i))
            else:
                total = total + load(tag, full, coordinate(model, at, c))
            store(tag, out, actuator(model, at, c, 1), total)
