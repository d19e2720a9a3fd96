"""For integrators: move a state onto the loops, then find its accelerations; (2) and (3) of `nominal`.

Stages of a step are off the loops; moved onto them first, they have smooth derivatives. `dynbench.methods.loops` makes
a copy of these kernels for each method; a formulation may replace `weigh`, `directions`, `sharp`, `acceleration` or
`accelerate` by its own.
"""

from __future__ import annotations

from typing import Any

from dynbench.methods.kernels import closure
from dynbench.methods.kernels.closure import (
    BODIES,
    EQUATIONS,
    FULL,
    INNER,
    JACOBIAN,
    MASS,
    METHOD,
    NQ,
    NV,
    RANK,
    RESIDUAL,
    SOLVED,
    THOROUGH,
    TREE,
    WEIGHTED,
    equations,
    fill_rates,
    part,
    place,
)
from dynbench.methods.kernels.free_motions import directions
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.mass_metric import FOLLOWING, acceleration, sharp, weigh
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.scalar import Buffer, Tag, any_above, called, generic, index, load, sqrt, store
from dynbench.methods.kernels.tree import FREE, SPHERICAL, iq, iv, kind
from dynbench.methods.kernels.vectors import add, cross, from_quaternion, load3, mul, scale, store3

CLOSED, NEARLY = 1e-15, 1e-10  # over the length of the loops: residuals that a further Newton step is taken for
ACCEPTED = 3  # Newton steps at an accepted state, each for residuals above CLOSED
STAGE = 2  # and at a stage, the second for residuals above NEARLY

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None


@generic
def follow(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Move a state onto the loops (3), then find its accelerations (2).

    ``out``: accelerations, velocities, configuration, then the residual as given and as left (root of the
    sum of squares, over the length of the loops), that of A v, and the ratio of the last singular value to the first.
    """
    nv, nq, m = index(model, NV), index(model, NQ), index(model, EQUATIONS)
    moved = out[2 * nv * len(tag) :]
    still = out[nv * len(tag) :]
    numbers = out[(2 * nv + nq) * len(tag) :]
    c = part(tag, model, work, RESIDUAL)
    x = part(tag, model, work, SOLVED)
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    M = part(tag, model, work, MASS)
    thorough = index(model, THOROUGH) == 1
    for i in range(nq):
        store(tag, moved, i, load(tag, q, i))
    for k in range(ACCEPTED + 1):
        place(tag, model, moved, work)
        equations(tag, model, moved, work, c, part(tag, model, work, JACOBIAN))
        clear(tag, M, 0, nv * nv)
        tree_mass_matrix(tag, own, moved, M, inner)
        weigh(tag, model, work, FOLLOWING)
        left = sqrt(inner_product(tag, c, 0, c, 0, m))
        if k == 0:
            store(tag, numbers, 0, left)
        store(tag, numbers, 1, left)
        goal = CLOSED if thorough or k == 0 else NEARLY
        if k == (ACCEPTED if thorough else STAGE) or not any_above(left, goal):
            break
        if index(model, RANK) < m:
            directions(tag, model, WEIGHTED, work)
        sharp(tag, model, c, x, work)
        correct(tag, model, moved, x)
    ratio = directions(tag, model, WEIGHTED, work)
    A = part(tag, model, work, JACOBIAN)
    for k in range(m):
        store(tag, c, k, inner_product(tag, A, k * nv, v, 0, nv))
    store(tag, numbers, 2, sqrt(inner_product(tag, c, 0, c, 0, m)))
    store(tag, numbers, 3, ratio)
    sharp(tag, model, c, x, work)
    for i in range(nv):
        store(tag, still, i, load(tag, v, i) - load(tag, x, i))
    accelerate(tag, model, moved, still, tau, wrench, out, work)


@generic
def accelerate(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(2) at a state on the loops, which `weigh` and `directions` have prepared."""
    full = part(tag, model, work, FULL)
    fill_rates(tag, model, v, work)
    clear(tag, out, 0, index(model, NV))
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    acceleration(tag, model, tau, full, out, work)


@called
def correct(tag: Tag, model: Buffer, q: Buffer, x: Buffer) -> None:
    """q <- q - x, a small change of motion: quaternions to first order, then of unit length."""
    packed = model[TREE : index(model, closure.CLOSURES)]
    for i in range(1, index(model, BODIES) + 1):
        joint = kind(packed, i)
        j, k = iq(packed, i), iv(packed, i)
        if joint in (SPHERICAL, FREE):
            if joint == FREE:
                R = from_quaternion(load(tag, q, j + 3), load(tag, q, j + 4), load(tag, q, j + 5), load(tag, q, j + 6))
                store3(tag, q, j, add(load3(tag, q, j), scale(-1.0, mul(R, load3(tag, x, k)))))
                j += 3
                k += 3
            turn = scale(-0.5, load3(tag, x, k))
            u, w = load3(tag, q, j), load(tag, q, j + 3)
            u1 = add(add(u, scale(w, turn)), cross(u, turn))
            w1 = w - (u[0] * turn[0] + u[1] * turn[1] + u[2] * turn[2])
            size = 1.0 / sqrt(u1[0] * u1[0] + u1[1] * u1[1] + u1[2] * u1[2] + w1 * w1)
            store3(tag, q, j, scale(size, u1))
            store(tag, q, j + 3, w1 * size)
        else:
            store(tag, q, j, load(tag, q, j) - load(tag, x, k))
