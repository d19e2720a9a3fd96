"""Quantities of robots with loops from one operator, for formulations that solve the equations with constraints.

An operator solves, for a symmetric M that is positive definite where A y = 0,

    M y = f + A^T lambda,   A y = -g                                                                              (1)

for y: ``prepare`` factorises what it needs, ``solve`` does the rest. Both are names here;
`dynbench.methods.constraints` makes a copy of each kernel for each formulation. Forward dynamics is (1) with M of the
spanning tree, f = B tau - h and g = A' v. The others are (1) too, with another M: inertias 1/w_j at the actuated
coordinates alone (w_j are the weights of the actuators), M_B = B w^-1 B^T.

    inverse dynamics    f = M a + h, g = 0      tau = w^-1 B^T y: f = B tau + A^T lambda with tau of least weighted norm
                                                says M_B y = f - A^T lambda and A y = 0
    bias                f = 0, g = A' v         accelerations on the loops, zero at the actuators; then as above
    mass matrix         f = w^-1 e_j, g = 0     the motion W_j per unit of one actuator; then W^T M W

M_B is positive definite where A y = 0 if, and only if, the actuators determine the motion.
"""

from __future__ import annotations

from typing import Any

from dynbench.methods.kernels import pseudo_inverse
from dynbench.methods.kernels.closure import (
    ACTUATED,
    BASIS,
    DEFLATED,
    EQUATIONS,
    FULL,
    INNER,
    JACOBIAN,
    MASSLESS,
    METHOD,
    NA,
    NV,
    OWN,
    RANK,
    RATE,
    SOLVED,
    SPARE,
    WEIGHTS,
    part,
)
from dynbench.methods.kernels.free_motions import SINGULAR
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.mass_metric import applied
from dynbench.methods.kernels.nominal import NEAR, closed, closed_motion
from dynbench.methods.kernels.projection import moving, nan_if_invalid, no_mass, reduced_mass, refuse
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, const, generic, index, load, splat, store

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None
prepare: Any = None  # prepare(tag, model, work, augmented) -> above 1 if (1) has no answer
solve: Any = None  # solve(tag, model, force, rate, out, work, augmented) -> likewise; uses up ``force``


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(1) for the spanning tree; NaN far from the loops, and where the mechanism is singular."""
    nv = index(model, NV)
    own, inner = model[index(model, METHOD) :], part(tag, model, work, INNER)
    full, rate = part(tag, model, work, FULL), part(tag, model, work, RATE)
    augmented = index(model, MASSLESS) == 1
    bad = closed(tag, model, q, work, NEAR)
    tree_mass_matrix(tag, own, q, no_mass(tag, model, work), inner)
    bad = bad + prepare(tag, model, work, augmented)
    bad = bad + moving(tag, model, v, work, NEAR)
    clear(tag, out, 0, nv)
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    applied(tag, model, tau, full)
    bad = bad + solve(tag, model, full, rate, out, work, augmented)
    refuse(tag, out, nv, bad)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    full = part(tag, model, work, FULL)
    bad = closed_motion(tag, model, q, v, a, work)
    actuators_alone(tag, model, work)
    bad = bad + prepare(tag, model, work, True)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    y = part(tag, model, work, SOLVED)
    rate = part(tag, model, work, RATE)
    clear(tag, rate, 0, index(model, EQUATIONS))
    bad = bad + solve(tag, model, full, rate, y, work, True)
    actuator_forces(tag, model, y, out, nan_if_invalid(bad))


@generic
def bias(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Actuator forces when the actuated coordinates do not accelerate; as many actuators as freedoms."""
    full, y = part(tag, model, work, FULL), part(tag, model, work, SOLVED)
    rate = part(tag, model, work, RATE)
    bad = closed(tag, model, q, work, NEAR) + moving(tag, model, v, work, NEAR)
    actuators_alone(tag, model, work)
    bad = bad + prepare(tag, model, work, True)
    clear(tag, full, 0, index(model, NV))
    bad = bad + solve(tag, model, full, rate, y, work, True)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, y, wrench, full, part(tag, model, work, INNER))
    clear(tag, rate, 0, index(model, EQUATIONS))
    bad = bad + solve(tag, model, full, rate, y, work, True)
    actuator_forces(tag, model, y, out, nan_if_invalid(bad))


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """W^T M W, with as many actuators as freedoms."""
    nv, na = index(model, NV), index(model, NA)
    full, y, W = part(tag, model, work, FULL), part(tag, model, work, SOLVED), part(tag, model, work, BASIS)
    rate = part(tag, model, work, RATE)
    bad = closed(tag, model, q, work, NEAR)
    actuators_alone(tag, model, work)
    bad = bad + prepare(tag, model, work, True)
    clear(tag, rate, 0, index(model, EQUATIONS))
    for j in range(na):
        clear(tag, full, 0, nv)
        store(tag, full, index(model, index(model, ACTUATED) + j), splat(tag, inverse_weight(model, j)))
        bad = bad + solve(tag, model, full, rate, y, work, True)
        for i in range(nv):
            store(tag, W, j * nv + i, load(tag, y, i))
    tree_mass_matrix(tag, model[index(model, METHOD) :], q, no_mass(tag, model, work), part(tag, model, work, INNER))
    reduced_mass(tag, model, out, work)
    refuse(tag, out, na * na, bad)


@generic
def inverse_weight(model: Buffer, j: int) -> Scalar:
    """1/w_j"""
    root = const(model, index(model, WEIGHTS) + j)
    return root * root


@generic
def actuators_alone(tag: Tag, model: Buffer, work: Buffer) -> None:
    """M_B in the place of M."""
    nv = index(model, NV)
    M = no_mass(tag, model, work)
    for j in range(index(model, NA)):
        i = index(model, index(model, ACTUATED) + j)
        store(tag, M, i * nv + i, splat(tag, inverse_weight(model, j)))


@generic
def actuator_forces(tag: Tag, model: Buffer, y: Buffer, out: Buffer, zero: Scalar) -> None:
    """tau = w^-1 B^T y"""
    for j in range(index(model, NA)):
        x = load(tag, y, index(model, index(model, ACTUATED) + j))
        store(tag, out, j, x * inverse_weight(model, j) + zero)


@called
def near_singular(tag: Tag, model: Buffer, work: Buffer) -> Scalar:
    """How near a position is to one where the loops lose their rank, above 1: too near. Uses the workspace `OWN`."""
    A, left = part(tag, model, work, JACOBIAN), part(tag, model, work, DEFLATED)
    m, nv, r = index(model, EQUATIONS), index(model, NV), index(model, RANK)
    factor, spare = part(tag, model, work, OWN), part(tag, model, work, SPARE)
    return pseudo_inverse.decompose(tag, A, m, nv, r, factor, left, spare, False) * (SINGULAR * SINGULAR)
