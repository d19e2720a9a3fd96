"""DeNOC with closed loops, where it differs from the shared projection (`kernels.projection`).

Elimination: tau = Gamma^T r with Gamma = W, the complement of the loops, formed explicitly.
Multipliers: U D U^T gives I^-1; A I^-1 A^T lambda = -(A' v + A a_free), a = a_free + I^-1 A^T lambda.
"""

from __future__ import annotations

from dynbench.methods.denoc.forward import forward_dynamics, solve
from dynbench.methods.denoc.inverse import inverse_dynamics
from dynbench.methods.kernels.closure import FACTOR, FULL, INNER, JACOBIAN, KEPT, MASS, METHOD, NV, RATE, actuate, part
from dynbench.methods.kernels.linear import add_transposed_product, ldlt, ldlt_solve
from dynbench.methods.kernels.nominal import invertible as invertible
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.projection import basis, close_motion, close_near, nan_if_invalid, project, refuse
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, index, load, store


@generic
def inverse_by_elimination(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(21) projected on W, the motions with c' = K t = 0 (3), c' = A v = 0 (5): W^T A^T = 0."""
    residual = close_motion(tag, model, q, v, a, work)
    full = part(tag, model, work, FULL)
    inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    basis(tag, model, work)
    project(tag, model, full, out, work, nan_if_invalid(residual))


@generic
def forward_by_multipliers(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """[[I, -A^T], [A, 0]] [a; lambda] = [tau - h; -A' v], without forming I."""
    # (21) for all chains: (18), (19) they are branches of one tree; (29) A = dc/dq
    residual = close_near(tag, model, q, v, work)
    own = model[index(model, METHOD) :]
    inner = part(tag, model, work, INNER)
    nv, r = index(model, NV), index(model, KEPT)
    full = part(tag, model, work, FULL)
    actuate(tag, model, tau, full)
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
    add_transposed_product(tag, X, r, nv, x, out)
    refuse(tag, out, nv, residual)
