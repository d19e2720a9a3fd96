"""DeNOC of minimal order as a right-hand side: only the actuated coordinates are integrated.

Each evaluation closes the loops first (forward kinematics by Newton's method, warm-started with the dependent
coordinates of a state nearby), then finds the dependent rates, then the accelerations. Nothing can drift.

Newton's method may converge to another solution than the one the mechanism moves to: from far away it finds another
assembly mode, or angles that differ by full turns. To evaluate at a distant state, go there in steps with `follow`.
"""

from __future__ import annotations

from dynbench.methods.denoc.inertia import mass_matrix
from dynbench.methods.denoc.inverse import inverse_dynamics
from dynbench.methods.kernels import projection
from dynbench.methods.kernels.closure import ACTUATED, DEPENDENT, FACTOR, JACOBIAN, KEPT, NA, NV, RESIDUAL, SPARE, part
from dynbench.methods.kernels.orthogonal import solve_transposed
from dynbench.methods.kernels.projection import OFF, close, refuse
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, generic, index, load, splat, store
from dynbench.methods.loops import around

NEWTON_STEPS = 4  # closes a warm start that is off by 0.03 rad up to rounding

forward_dynamics = around(
    projection.forward_dynamics,
    "dynbench.methods.denoc.minimal",
    tree_inverse_dynamics=inverse_dynamics,
    tree_mass_matrix=mass_matrix,
)


@generic
def follow(tag: Tag, model: Buffer, q: Buffer, work: Buffer) -> Scalar:
    """Close the loops by changing the dependent coordinates of ``q``; return the residual, see `projection.close`."""
    r, dependent = index(model, KEPT), index(model, DEPENDENT)
    factor = part(tag, model, work, FACTOR)
    spare = part(tag, model, work, SPARE)
    c = part(tag, model, work, RESIDUAL)
    for _ in range(NEWTON_STEPS):
        close(tag, model, q, work, OFF)
        solve_transposed(tag, factor, r, c, 0, spare)
        for k in range(r):
            i = index(model, dependent + k)
            store(tag, q, i, load(tag, q, i) - load(tag, c, k))
    return close(tag, model, q, work, OFF)


@generic
def right_hand_side(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Fill ``out`` with accelerations, configuration and velocity (nv numbers each) on the loops.

    The actuated coordinates of ``q`` are kept, the others are the warm start; of ``v`` only the actuated ones are read.
    For robots with one-axis joints and without redundant closures.
    """
    nv, r = index(model, NV), index(model, KEPT)
    dependent, actuated = index(model, DEPENDENT), index(model, ACTUATED)
    closed = out[nv * len(tag) :]
    moving = out[2 * nv * len(tag) :]
    for i in range(nv):
        store(tag, closed, i, load(tag, q, i))
    factor = part(tag, model, work, FACTOR)
    spare = part(tag, model, work, SPARE)
    c = part(tag, model, work, RESIDUAL)
    residual = follow(tag, model, closed, work)
    A = part(tag, model, work, JACOBIAN)
    for k in range(r):
        x = splat(tag, 0.0)
        for j in range(index(model, NA)):
            i = index(model, actuated + j)
            x = x - load(tag, A, k * nv + i) * load(tag, v, i)
        store(tag, c, k, x)
    solve_transposed(tag, factor, r, c, 0, spare)
    for j in range(index(model, NA)):
        i = index(model, actuated + j)
        store(tag, moving, i, load(tag, v, i))
    for k in range(r):
        store(tag, moving, index(model, dependent + k), load(tag, c, k))
    forward_dynamics(tag, model, closed, moving, tau, wrench, out, work)
    refuse(tag, out, nv, residual)
