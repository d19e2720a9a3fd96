"""Motions that the loops allow, by the nominal rank of their equations, and what actuators do along them.

The r leading directions of A (or of B, in the metric of the masses) are the first r of a Gram-Schmidt process with
pivots (`pseudo_inverse.leading`); Z completes them. Symbols are those of `nominal`.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import (
    ACTUATED,
    ACTUATION,
    BASIS,
    DEFLATED,
    DIRECTIONS,
    DOF,
    EQUATIONS,
    FREE_MOTIONS,
    JACOBIAN,
    NA,
    NV,
    RANK,
    SPARE,
    WEIGHTS,
    part,
)
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.pseudo_inverse import leading
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, const, index, load, splat, sqrt, store

SINGULAR = 1e-4  # least ratio of singular values at which one state has accelerations of its own: 1e-12 of (4) is left
UNHELD = 1e-12  # squared: 1 / condition of X at which the actuators no longer determine the motion


@called
def directions(tag: Tag, model: Buffer, rows: int, work: Buffer) -> Scalar:
    """Fill the r leading directions of B or A (``rows``), orthonormal; return the last pivot over the first."""
    nv, m, r = index(model, NV), index(model, EQUATIONS), index(model, RANK)
    B, left = part(tag, model, work, rows), part(tag, model, work, DEFLATED)
    for k in range(m * nv):
        store(tag, left, k, load(tag, B, k))
    return leading(tag, left, m, nv, r, part(tag, model, work, DIRECTIONS), part(tag, model, work, SPARE))


@called
def null_space(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Fill Z (dof rows of nv numbers), which completes the directions found to an orthonormal basis."""
    nv = index(model, NV)
    Q = part(tag, model, work, DIRECTIONS)
    left = part(tag, model, work, DEFLATED)
    for j in range(nv):
        for i in range(nv):
            y = splat(tag, 1.0 if i == j else 0.0)
            for k in range(index(model, RANK)):
                y = y - load(tag, Q, k * nv + j) * load(tag, Q, k * nv + i)
            store(tag, left, j * nv + i, y)
    Z = part(tag, model, work, FREE_MOTIONS)
    leading(tag, left, nv, nv, index(model, DOF), Z, part(tag, model, work, SPARE))


@called
def free_motions(tag: Tag, model: Buffer, work: Buffer) -> Scalar:
    """Fill Z of A, and factorise X of the actuators; return how near the state is to a singular one.

    X^T = W^-1/2 Z_act = Q R, columns of Q and rows of R.
    """
    nv, na, dof = index(model, NV), index(model, NA), index(model, DOF)
    ratio = directions(tag, model, JACOBIAN, work)
    null_space(tag, model, work)
    Z = part(tag, model, work, FREE_MOTIONS)
    weights, actuated = index(model, WEIGHTS), index(model, ACTUATED)
    X = part(tag, model, work, ACTUATION)
    R = X[dof * na * len(tag) :]
    bad = splat(tag, 0.0)
    entries = splat(tag, 0.0)
    for k in range(dof):
        for j in range(na):
            x = load(tag, Z, k * nv + index(model, actuated + j)) * const(model, weights + j)
            entries = entries + x * x
            store(tag, X, k * na + j, x)
    for k in range(dof):
        for _ in range(2):
            for i in range(k):
                y = inner_product(tag, X, i * na, X, k * na, na)
                for j in range(na):
                    store(tag, X, k * na + j, load(tag, X, k * na + j) - y * load(tag, X, i * na + j))
        size = inner_product(tag, X, k * na, X, k * na, na)
        bad = bad + entries / size
        inverse = 1.0 / sqrt(size)
        for j in range(na):
            store(tag, X, k * na + j, load(tag, X, k * na + j) * inverse)
        # a row of X^T times the directions so far: R_ik = q_i . x_k, found again from Z, to rounding
        for i in range(k + 1):
            y = splat(tag, 0.0)
            for j in range(na):
                z = load(tag, Z, k * nv + index(model, actuated + j)) * const(model, weights + j)
                y = y + load(tag, X, i * na + j) * z
            store(tag, R, i * dof + k, y)
    return bad * UNHELD + SINGULAR * SINGULAR / (ratio * ratio)


@called
def actuator_forces(tag: Tag, model: Buffer, full: Buffer, out: Buffer, work: Buffer, zero: Scalar) -> None:
    """tau = W^-1/2 Q R^-T Z^T r"""
    nv, na, dof = index(model, NV), index(model, NA), index(model, DOF)
    Z, X = part(tag, model, work, FREE_MOTIONS), part(tag, model, work, ACTUATION)
    R = X[dof * na * len(tag) :]
    y = part(tag, model, work, SPARE)
    for k in range(dof):
        x = inner_product(tag, Z, k * nv, full, 0, nv)
        for i in range(k):
            x = x - load(tag, R, i * dof + k) * load(tag, y, i)
        store(tag, y, k, x / load(tag, R, k * dof + k))
    weights = index(model, WEIGHTS)
    for j in range(na):
        total = splat(tag, 0.0)
        for k in range(dof):
            total = total + load(tag, X, k * na + j) * load(tag, y, k)
        store(tag, out, j, total * const(model, weights + j) + zero)


@called
def complement(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Fill W = Z Z_act^-1, one column after the other; as many actuators as freedoms."""
    nv, na, dof = index(model, NV), index(model, NA), index(model, DOF)
    Z, X = part(tag, model, work, FREE_MOTIONS), part(tag, model, work, ACTUATION)
    R = X[dof * na * len(tag) :]
    W = part(tag, model, work, BASIS)
    y = part(tag, model, work, SPARE)
    weights = index(model, WEIGHTS)
    for j in range(na):
        for k in range(dof - 1, -1, -1):
            x = load(tag, X, k * na + j) * const(model, weights + j)
            for i in range(k + 1, dof):
                x = x - load(tag, R, k * dof + i) * load(tag, y, i)
            store(tag, y, k, x / load(tag, R, k * dof + k))
        for i in range(nv):
            total = splat(tag, 0.0)
            for k in range(dof):
                total = total + load(tag, Z, k * nv + i) * load(tag, y, k)
            store(tag, W, j * nv + i, total)
