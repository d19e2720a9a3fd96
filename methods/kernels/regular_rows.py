"""Regular rows in the place of the loops' own, for formulations that solve with the rows themselves; for integrators.

Near a singular position some rows of A hardly hold the mechanism. A formulation that divides by them, with a penalty or
a small diagonal on the whole solution, lets the free accelerations act there. With the r leading directions Q of A, r
the nominal rank (`free_motions.directions`),

    A = R Q,   Q Q^T = 1;      A y = x   is   Q y = R^+ x                                                         (1)

The rows Q are regular everywhere, so that nothing they hold moves, however small the last singular value of A is. Only
what the loops demand is damped: R^+ x is (1) of `pseudo_inverse`. Symbols are those of `nominal`.
"""

from __future__ import annotations

from dynbench.methods.kernels.closure import DEFLATED, DIRECTIONS, EQUATIONS, GRAM, JACOBIAN, NV, RANK, part
from dynbench.methods.kernels.free_motions import directions
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.pseudo_inverse import damped_gram, rounds
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, generic, index, load, store


@called
def regular_rows(tag: Tag, model: Buffer, work: Buffer, damping: float) -> None:
    """Fill Q, and R with the ratio of the last singular value to the first behind it; factorise R R^T + mu 1."""
    nv, m, r = index(model, NV), index(model, EQUATIONS), index(model, RANK)
    A, Q, R = part(tag, model, work, JACOBIAN), part(tag, model, work, DIRECTIONS), part(tag, model, work, DEFLATED)
    ratio = directions(tag, model, JACOBIAN, work)  # uses up what is where R will be
    for k in range(m):
        for j in range(r):
            store(tag, R, k * r + j, inner_product(tag, A, k * nv, Q, j * nv, nv))
    store(tag, R, m * r, ratio)
    damped_gram(tag, R, m, r, part(tag, model, work, GRAM), damping)


@generic
def ratio_found(tag: Tag, model: Buffer, rows: int, work: Buffer) -> Scalar:
    """`directions`, which `regular_rows` has found: their ratio."""
    return load(tag, part(tag, model, work, DEFLATED), index(model, EQUATIONS) * index(model, RANK))


@called
def demand_of_rows(tag: Tag, model: Buffer, x: Buffer, w: Buffer, spare: Buffer, work: Buffer) -> None:
    """w (r) = R^+ x of (1), damped; ``spare`` has room for m scalars."""
    m, r = index(model, EQUATIONS), index(model, RANK)
    rounds(tag, part(tag, model, work, DEFLATED), m, r, part(tag, model, work, GRAM), x, w, spare)
