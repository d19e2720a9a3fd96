"""Armature, damping and friction of joints, for any formulation: kernels around a method's own kernels.

    inverse dynamics    tau = tau_rigid + armature a + damping v + friction sign(v)
    mass matrix         M = M_rigid + armature on the diagonal
    forward dynamics    that of the rigid bodies, with tau - damping v - friction sign(v) for the force. A kernel that
                        eliminates joint after joint adds the armature to each joint's inertia (`tree.has_rotor`);
                        for the others, (M_rigid + armature) a = tau - h is solved here.

    derivatives         damping on the diagonal of d tau/dv. Friction has none: it is constant away from v = 0, and
                        there its derivative, which does not exist, is taken to be zero too.

Reactions and regressor are those of the rigid bodies. The names ``rigid_...`` below stand for the method's kernels:
`dynbench.methods.extras` makes a copy of each kernel for each method. What is packed is a header, then a pair
(coordinate, value) for each number that is not zero, then the method's own model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.methods.kernels.branches import factorise, solve_columns
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, sqrt, store
from dynbench.robots.robot import FloatArray, Robot

# Header: how many coordinates have armature, damping, friction; where the method's own model begins; nv
ARMATURES, DAMPINGS, FRICTIONS, OWN, NV = 0, 1, 2, 3, 4
PAIRS = 5

TINY = 1e-300  # below the square of any velocity: what makes sign(0) zero

rigid_inverse_dynamics: Any = None
rigid_forward_dynamics: Any = None
rigid_mass_matrix: Any = None
rigid_inverse_dynamics_derivatives: Any = None
rigid_kernel: Any = None


def pack(robot: Robot, own: FloatArray) -> FloatArray:
    """Return header, pairs and the method's own model as one flat array."""
    lists = [[(k, x) for k, x in enumerate(values) if x] for values in robot.extras]
    pairs = np.array([pair for one in lists for pair in one], dtype=np.float64).ravel()
    return np.concatenate([[*map(len, lists), PAIRS + pairs.size, robot.nv], pairs, own])


def begin(model: FloatArray) -> int:
    """Return where the method's own model begins."""
    return int(model[OWN])


@generic
def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1: the square root of a square is exact."""
    return x / sqrt(x * x + TINY)


@generic
def add_rotors(tag: Tag, model: Buffer, a: Buffer, out: Buffer) -> None:
    """out += armature a"""
    for k in range(index(model, ARMATURES)):
        j = index(model, PAIRS + 2 * k)
        store(tag, out, j, load(tag, out, j) + load(tag, a, j) * const(model, PAIRS + 2 * k + 1))


@generic
def add_losses(tag: Tag, model: Buffer, v: Buffer, out: Buffer, scale: float) -> None:
    """out += scale (damping v + friction sign(v)), scale 1 or -1"""
    first = PAIRS + 2 * index(model, ARMATURES)
    dampings = index(model, DAMPINGS)
    for k in range(dampings):
        j = index(model, first + 2 * k)
        loss = load(tag, v, j) * const(model, first + 2 * k + 1)
        store(tag, out, j, load(tag, out, j) + loss if scale > 0.0 else load(tag, out, j) - loss)
    first += 2 * dampings
    for k in range(index(model, FRICTIONS)):
        j = index(model, first + 2 * k)
        loss = sign(load(tag, v, j)) * const(model, first + 2 * k + 1)
        store(tag, out, j, load(tag, out, j) + loss if scale > 0.0 else load(tag, out, j) - loss)


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    rigid_inverse_dynamics(tag, model[index(model, OWN) :], q, v, a, wrench, out, work)
    add_rotors(tag, model, a, out)
    add_losses(tag, model, v, out, 1.0)


@generic
def rigid_state(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """A quantity that the extras do not change: reactions, Coriolis matrix, regressor."""
    rigid_kernel(tag, model[index(model, OWN) :], q, v, a, wrench, out, work)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    rigid_mass_matrix(tag, model[index(model, OWN) :], q, out, work)
    add_diagonal(tag, model, out, 0)


@generic
def add_diagonal(tag: Tag, model: Buffer, M: Buffer, at: int) -> None:
    """Add the armature to the diagonal of the matrix that begins at M[at]."""
    nv = index(model, NV)
    for k in range(index(model, ARMATURES)):
        j = at + index(model, PAIRS + 2 * k) * (nv + 1)
        store(tag, M, j, load(tag, M, j) + const(model, PAIRS + 2 * k + 1))


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """For kernels that take care of the armature themselves, and robots without any."""
    nv = index(model, NV)
    for k in range(nv):
        store(tag, work, k, load(tag, tau, k))
    add_losses(tag, model, v, work, -1.0)
    inner = work[nv * len(tag) :]
    rigid_forward_dynamics(tag, model[index(model, OWN) :], q, v, work[: nv * len(tag)], wrench, out, inner)


@generic
def solved_forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(M_rigid + armature) a = tau - h, by L D L^T."""
    nv, own = index(model, NV), model[index(model, OWN) :]
    M = work[nv * len(tag) :]
    inner = work[nv * (nv + 1) * len(tag) :]
    clear(tag, out, 0, nv)
    rigid_inverse_dynamics(tag, own, q, v, out, wrench, work[: nv * len(tag)], inner)
    add_losses(tag, model, v, work, 1.0)
    clear(tag, M, 0, nv * nv)
    rigid_mass_matrix(tag, own, q, M, inner)
    add_diagonal(tag, model, M, 0)
    for k in range(nv):
        store(tag, out, k, load(tag, tau, k) - load(tag, work, k))
    ldlt(tag, M, 0, nv)
    ldlt_solve(tag, M, 0, nv, out, 0)


@generic
def add_dampings(tag: Tag, model: Buffer, out: Buffer, nv: int) -> None:
    """Add the damping to the diagonal of d tau/dv, the second of the two matrices."""
    first = PAIRS + 2 * index(model, ARMATURES)
    for k in range(index(model, DAMPINGS)):
        at = nv * nv + index(model, first + 2 * k) * (nv + 1)
        store(tag, out, at, load(tag, out, at) + const(model, first + 2 * k + 1))


@generic
def inverse_dynamics_derivatives(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    rigid_inverse_dynamics_derivatives(tag, model[index(model, OWN) :], q, v, a, wrench, out, work)
    add_dampings(tag, model, out, index(model, NV))


@generic
def forward_dynamics_derivatives(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """-M^-1 times the derivatives of inverse dynamics at the accelerations of tau; for models of packed trees."""
    nv, own = index(model, NV), model[index(model, OWN) :]
    a = work[nv * len(tag) : 2 * nv * len(tag)]
    M = work[2 * nv * len(tag) :]
    inner = work[nv * (nv + 2) * len(tag) :]
    for k in range(nv):
        store(tag, work, k, load(tag, tau, k))
    add_losses(tag, model, v, work, -1.0)
    rigid_forward_dynamics(tag, own, q, v, work[: nv * len(tag)], wrench, a, inner)
    rigid_inverse_dynamics_derivatives(tag, own, q, v, a, wrench, out, inner)
    add_dampings(tag, model, out, nv)
    rigid_mass_matrix(tag, own, q, M, inner)
    add_diagonal(tag, model, M, 0)
    factorise(tag, own, M)
    solve_columns(tag, own, M, out, 2, inner)
