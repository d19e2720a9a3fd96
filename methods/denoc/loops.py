"""DeNOC with closed loops, where it differs from the shared projection (`kernels.projection`).

Elimination: tau = Gamma^T r with Gamma = W, the complement of the loops, formed explicitly.
Multipliers: U D U^T gives I^-1; A I^-1 A^T lambda = -(A' v + A a_free), a = a_free + I^-1 A^T lambda.
"""

from __future__ import annotations

from dynbench.methods.denoc.forward import forward_dynamics, solve
from dynbench.methods.denoc.inverse import inverse_dynamics
from dynbench.methods.kernels.closure import (
    ACTUATED,
    BASIS,
    FACTOR,
    FULL,
    INNER,
    JACOBIAN,
    KEPT,
    MASS,
    METHOD,
    NA,
    NEAR,
    NV,
    RATE,
    part,
)
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.nominal import invertible as invertible
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.projection import basis, close, close_motion, moving, nan_if_invalid
from dynbench.methods.kernels.scalar import Buffer, Tag, const, generic, index, load, store


@generic
def inverse_by_elimination(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(21) projected on W, the motions with c' = K t = 0 (3), c' = A v = 0 (5): W^T A^T = 0."""
    residual = close_motion(tag, model, q, v, a, work)
    full = part(tag, model, work, FULL)
    inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    basis(tag, model, work)
    W = part(tag, model, work, BASIS)
    nv = index(model, NV)
    zero = nan_if_invalid(residual)
    for j in range(index(model, NA)):
        store(tag, out, j, zero + inner_product(tag, W, j * nv, full, 0, nv))


@generic
def forward_by_multipliers(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """[[I, -A^T], [A, 0]] [a; lambda] = [tau - h; -A' v], without forming I."""
    # (21) for all chains: (18), (19) they are branches of one tree; (29) A = dc/dq
    off = const(model, NEAR)
    residual = close(tag, model, q, work, off) + moving(tag, model, v, work, off)
    own = model[index(model, METHOD) :]
    inner = part(tag, model, work, INNER)
    nv, r, actuated = index(model, NV), index(model, KEPT), index(model, ACTUATED)
    full = part(tag, model, work, FULL)
    clear(tag, full, 0, nv)
    for j in range(index(model, NA)):
        store(tag, full, index(model, actuated + j), load(tag, tau, j))
    forward_dynamics(tag, own, q, v, full, wrench, out, inner)
    A = part(tag, model, work, JACOBIAN)
    X = part(tag, model, work, MASS)  # I^-1 A^T, a column after the other
    S = part(tag, model, work, FACTOR)  # A I^-1 A^T
    x = part(tag, model, work, RATE)
    for k in range(r * nv):
        store(tag, X, k, load(tag, A, k))
    for k in range(r):
        solve(tag, own, X, k * nv, inner)
    for k in range(r):
        store(tag, x, k, -(load(tag, x, k) + inner_product(tag, A, k * nv, out, 0, nv)))
        for c in range(k + 1):
            store(tag, S, k * r + c, inner_product(tag, A, k * nv, X, c * nv, nv))
    ldlt(tag, S, 0, r)
    ldlt_solve(tag, S, 0, r, x, 0)
    zero = nan_if_invalid(residual)
    for i in range(nv):
        total = load(tag, out, i) + zero
        for k in range(r):
            total = total + load(tag, X, k * nv + i) * load(tag, x, k)
        store(tag, out, i, total)
