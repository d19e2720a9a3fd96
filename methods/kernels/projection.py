"""Closed loops for any tree formulation, by projection: kernels around a method's own kernels.

With the loop equations A a + A' v = 0 and the actuated coordinates chosen as independent ones, A = [A_a A_d],

    v = W v_a,   a = W a_a + a_0,   W = [1; -A_d^-1 A_a],   a_0 = [0; -A_d^-1 A' v],

and what a tree method computes for the spanning tree, r = M a + h, balances actuators and loop forces:
r = [tau; 0] + A^T lambda. Hence

    inverse dynamics    A_d^T lambda = r_d,   tau = r_a - A_a^T lambda         (tau = W^T r, with one solve)
    forward dynamics    W^T M W a_a = tau - W^T (M a_0 + h)
    reactions           those of the tree under the loop forces as external wrenches
    regressor           W^T Y, Y that of the tree: tau = W^T r, and r = Y theta

Minimal order, no drift term, and M itself may be singular (massless legs). The names ``tree_...`` below stand for the
method's kernels: `dynbench.methods.loops` makes a copy of each kernel for each method.

Forward dynamics, mass matrix and bias are smooth functions of states near the loops too, as integrators need: the
equations above hold there, with A and A' v as they are (index 1). Inverse dynamics, reactions and multipliers are of
states on the loops.

A state that violates the loops, or a singular one, must give NaN: every kernel adds guard(1 - x) to its results, where
x is the sum of squared residuals over squared tolerances. That is 0 or NaN in each lane, without a comparison.
"""

from __future__ import annotations

from typing import Any

from dynbench.methods.kernels.closure import (
    ACTUATED,
    BASIS,
    BODIES,
    DEPENDENT,
    EQUATIONS,
    FACTOR,
    FORCES,
    FULL,
    HELD,
    INNER,
    JACOBIAN,
    KEPT,
    MASS,
    METHOD,
    NA,
    NEAR,
    NV,
    RANK,
    RATE,
    REDUCED,
    RESIDUAL,
    SOLVED,
    SPARE,
    add_wrenches,
    external_wrenches,
    fill_equations,
    fill_rates,
    part,
)
from dynbench.methods.kernels.linear import add_transposed_product, clear, ldlt, ldlt_solve, mirror
from dynbench.methods.kernels.orthogonal import factorise, inner_product, solve, solve_transposed
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, guard, index, load, splat, store

# Tolerance, squared, of residuals (m, rad), and of their derivatives relative to 1 + |v|, 1 + |a| + |v|^2
OFF = 1e12  # 1 / 1e-6^2, of states on the loops; closure.NEAR for states near them

tree_inverse_dynamics: Any = None
tree_mass_matrix: Any = None
tree_reactions: Any = None
tree_regressor: Any = None

PARAMETERS = 10  # of a body, see `dynbench.robots.inertial`


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    residual = balance(tag, model, q, v, a, wrench, work)
    actuator_forces(tag, model, part(tag, model, work, FULL), out, work, nan_if_invalid(residual))


@generic
def bias(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Actuator forces when the actuated coordinates do not accelerate: the other coordinates may have to."""
    residual = close_near(tag, model, q, v, work)
    start = part(tag, model, work, BASIS)
    particular(tag, model, start, work)
    full = part(tag, model, work, FULL)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, start, wrench, full, part(tag, model, work, INNER))
    loop_forces(tag, model, full, work)
    actuator_forces(tag, model, full, out, work, nan_if_invalid(residual))


@generic
def multipliers(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Force or moment along each row of the closures, on body 2."""
    zero = nan_if_invalid(balance(tag, model, q, v, a, wrench, work))
    solved = part(tag, model, work, SOLVED)
    for k in range(index(model, RANK)):
        store(tag, out, k, load(tag, solved, k) + zero)


@generic
def reactions(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Force and moment that each joint of the tree passes to its body, loop forces taken into account."""
    residual = balance(tag, model, q, v, a, wrench, work)
    outer = external_wrenches(tag, model, wrench, work)
    add_wrenches(tag, model, work, part(tag, model, work, SOLVED), outer)
    tree_reactions(tag, model[index(model, METHOD) :], q, v, a, outer, out, part(tag, model, work, INNER))
    refuse(tag, out, 6 * index(model, BODIES), residual)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """W^T M W: the inertia of the whole robot seen by the actuators."""
    residual = close(tag, model, q, work, const(model, NEAR))
    basis(tag, model, work)
    tree_mass_matrix(tag, model[index(model, METHOD) :], q, no_mass(tag, model, work), part(tag, model, work, INNER))
    reduced_mass(tag, model, out, work)
    refuse(tag, out, index(model, NA) * index(model, NA), residual)


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    residual = close_near(tag, model, q, v, work)
    inner = part(tag, model, work, INNER)
    own = model[index(model, METHOD) :]
    basis(tag, model, work)
    particular(tag, model, out, work)
    full = part(tag, model, work, FULL)
    tree_inverse_dynamics(tag, own, q, v, out, wrench, full, inner)
    nv, na = index(model, NV), index(model, NA)
    tree_mass_matrix(tag, own, q, no_mass(tag, model, work), inner)
    reduced = part(tag, model, work, REDUCED)
    reduced_mass(tag, model, reduced, work)
    W = part(tag, model, work, BASIS)
    x = part(tag, model, work, FORCES)
    for j in range(na):
        store(tag, x, j, load(tag, tau, j) - inner_product(tag, W, j * nv, full, 0, nv))
    ldlt(tag, reduced, 0, na)
    ldlt_solve(tag, reduced, 0, na, x, 0)
    add_transposed_product(tag, W, na, nv, x, out)
    refuse(tag, out, nv, residual)


@generic
def lift(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, out: Buffer, work: Buffer) -> None:
    """Velocities, then accelerations, of the whole tree, from those of the actuated coordinates in v and a.

    It is how a state depends on the actuated coordinates, which derivatives of robots with loops are of. The workspace
    is left with W (`basis`).
    """
    close(tag, model, q, work, const(model, NEAR))
    basis(tag, model, work)
    nv, na, actuated = index(model, NV), index(model, NA), index(model, ACTUATED)
    W = part(tag, model, work, BASIS)
    for i in range(nv):
        speed = load(tag, W, i) * load(tag, v, index(model, actuated))
        for j in range(1, na):
            speed = speed + load(tag, W, j * nv + i) * load(tag, v, index(model, actuated + j))
        store(tag, out, i, speed)
    moving(tag, model, out[: nv * len(tag)], work, const(model, NEAR))
    rest = out[nv * len(tag) :]
    particular(tag, model, rest, work)
    for i in range(nv):
        total = load(tag, rest, i)
        for j in range(na):
            total = total + load(tag, W, j * nv + i) * load(tag, a, index(model, actuated + j))
        store(tag, rest, i, total)


@generic
def regressor(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """W^T Y; the inner workspace begins with Y, as long as `loops.ROOM` says."""
    residual = close_motion(tag, model, q, v, a, work)
    basis(tag, model, work)
    nv, width = index(model, NV), PARAMETERS * index(model, BODIES)
    Y = part(tag, model, work, INNER)
    tree_regressor(tag, model[index(model, METHOD) :], q, v, a, None, Y, Y[nv * width * len(tag) :])
    W = part(tag, model, work, BASIS)
    zero = nan_if_invalid(residual)
    for j in range(index(model, NA)):
        for c in range(width):
            total = zero
            for i in range(nv):
                total = total + load(tag, W, j * nv + i) * load(tag, Y, i * width + c)
            store(tag, out, j * width + c, total)


@generic
def balance(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, work: Buffer) -> Scalar:
    """Fill r = M a + h of the tree and lambda, for a state on the loops; return the residual of the state."""
    residual = close_motion(tag, model, q, v, a, work)
    full = part(tag, model, work, FULL)
    tree_inverse_dynamics(tag, model[index(model, METHOD) :], q, v, a, wrench, full, part(tag, model, work, INNER))
    loop_forces(tag, model, full, work)
    return residual


@generic
def close_near(tag: Tag, model: Buffer, q: Buffer, v: Buffer, work: Buffer) -> Scalar:
    """`close` and `moving` for a state near the loops."""
    off = const(model, NEAR)
    return close(tag, model, q, work, off) + moving(tag, model, v, work, off)


@generic
def close_motion(tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, work: Buffer) -> Scalar:
    """`close`, `moving` and `accelerating`: fill residual, A, A' v and the factors of A_d^T; return the residual."""
    return close(tag, model, q, work, OFF) + moving(tag, model, v, work, OFF) + accelerating(tag, model, v, a, work)


@generic
def close(tag: Tag, model: Buffer, q: Buffer, work: Buffer, off: Scalar) -> Scalar:
    """Place the bodies, fill c and A, factorise A_d^T; return the residual, below one for a valid configuration."""
    fill_equations(tag, model, q, work)
    c = part(tag, model, work, RESIDUAL)
    A = part(tag, model, work, JACOBIAN)
    residual = splat(tag, 0.0)
    for k in range(index(model, EQUATIONS)):
        x = load(tag, c, k)
        residual = residual + x * x * off
    r, nv = index(model, RANK), index(model, NV)
    dependent = index(model, DEPENDENT)
    factor = part(tag, model, work, FACTOR)
    for k in range(r):
        for j in range(r):
            store(tag, factor, k * r + j, load(tag, A, k * nv + index(model, dependent + j)))
    return residual + factorise(tag, factor, r) * const(model, HELD)


@generic
def moving(tag: Tag, model: Buffer, v: Buffer, work: Buffer, off: Scalar) -> Scalar:
    """Fill A' v; return the residual of the velocities."""
    fill_rates(tag, model, v, work)
    nv = index(model, NV)
    A = part(tag, model, work, JACOBIAN)
    residual = splat(tag, 0.0)
    for k in range(index(model, KEPT)):
        x = inner_product(tag, A, k * nv, v, 0, nv)
        residual = residual + x * x
    return residual * off / (1.0 + inner_product(tag, v, 0, v, 0, nv))


@generic
def accelerating(tag: Tag, model: Buffer, v: Buffer, a: Buffer, work: Buffer) -> Scalar:
    """Return the residual of the accelerations."""
    nv = index(model, NV)
    A = part(tag, model, work, JACOBIAN)
    rate = part(tag, model, work, RATE)
    residual = splat(tag, 0.0)
    for k in range(index(model, KEPT)):
        x = load(tag, rate, k) + inner_product(tag, A, k * nv, a, 0, nv)
        residual = residual + x * x
    speed = inner_product(tag, v, 0, v, 0, nv)
    return residual * OFF / (1.0 + inner_product(tag, a, 0, a, 0, nv) + speed * speed)


@generic
def nan_if_invalid(residual: Scalar) -> Scalar:
    """0, or NaN if ``residual`` is above one or NaN."""
    return guard(1.0 - residual)


@generic
def refuse(tag: Tag, out: Buffer, count: int, residual: Scalar) -> None:
    """Make all results NaN if ``residual`` is above one or NaN."""
    zero = nan_if_invalid(residual)
    for k in range(count):
        store(tag, out, k, load(tag, out, k) + zero)


@generic
def no_mass(tag: Tag, model: Buffer, work: Buffer) -> Buffer:
    """The place of M, set to zero: kernels of trees write only the entries that are not zero."""
    M = part(tag, model, work, MASS)
    clear(tag, M, 0, index(model, NV) * index(model, NV))
    return M


@generic
def loop_forces(tag: Tag, model: Buffer, full: Buffer, work: Buffer) -> None:
    """Fill the multipliers: A_d^T lambda = r_d."""
    r, dependent = index(model, RANK), index(model, DEPENDENT)
    solved = part(tag, model, work, SOLVED)
    for k in range(r):
        store(tag, solved, k, load(tag, full, index(model, dependent + k)))
    solve(tag, part(tag, model, work, FACTOR), r, solved, 0, part(tag, model, work, SPARE))


@generic
def actuator_forces(tag: Tag, model: Buffer, full: Buffer, out: Buffer, work: Buffer, zero: Scalar) -> None:
    """tau = r_a - A_a^T lambda"""
    nv, actuated = index(model, NV), index(model, ACTUATED)
    A = part(tag, model, work, JACOBIAN)
    solved = part(tag, model, work, SOLVED)
    for j in range(index(model, NA)):
        i = index(model, actuated + j)
        total = load(tag, full, i) + zero
        for k in range(index(model, RANK)):
            total = total - load(tag, A, k * nv + i) * load(tag, solved, k)
        store(tag, out, j, total)


@generic
def project(tag: Tag, model: Buffer, full: Buffer, out: Buffer, work: Buffer, zero: Scalar) -> None:
    """tau = W^T r"""
    W, nv = part(tag, model, work, BASIS), index(model, NV)
    for j in range(index(model, NA)):
        store(tag, out, j, zero + inner_product(tag, W, j * nv, full, 0, nv))


@generic
def particular(tag: Tag, model: Buffer, start: Buffer, work: Buffer) -> None:
    """Fill a_0: accelerations on the loops with actuated ones zero."""
    r, dependent, actuated = index(model, RANK), index(model, DEPENDENT), index(model, ACTUATED)
    rate = part(tag, model, work, RATE)
    solve_transposed(tag, part(tag, model, work, FACTOR), r, rate, 0, part(tag, model, work, SPARE))
    for j in range(index(model, NA)):
        store(tag, start, index(model, actuated + j), splat(tag, 0.0))
    for k in range(r):
        store(tag, start, index(model, dependent + k), -load(tag, rate, k))


@generic
def basis(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Fill W, one column (nv numbers) after the other."""
    r, nv, na = index(model, RANK), index(model, NV), index(model, NA)
    dependent, actuated = index(model, DEPENDENT), index(model, ACTUATED)
    A = part(tag, model, work, JACOBIAN)
    W = part(tag, model, work, BASIS)
    x = part(tag, model, work, SOLVED)
    clear(tag, W, 0, na * nv)
    for j in range(na):
        i = index(model, actuated + j)
        for k in range(r):
            store(tag, x, k, -load(tag, A, k * nv + i))
        solve_transposed(tag, part(tag, model, work, FACTOR), r, x, 0, part(tag, model, work, SPARE))
        store(tag, W, j * nv + i, splat(tag, 1.0))
        for k in range(r):
            store(tag, W, j * nv + index(model, dependent + k), load(tag, x, k))


@generic
def reduced_mass(tag: Tag, model: Buffer, reduced: Buffer, work: Buffer) -> None:
    """W^T M W, all na x na entries; of M the tree's kernel need have written no more than the lower triangle."""
    nv, na = index(model, NV), index(model, NA)
    M = part(tag, model, work, MASS)
    mirror(tag, M, 0, nv)
    W = part(tag, model, work, BASIS)
    clear(tag, reduced, 0, na * na)
    for c in range(na):
        for i in range(nv):
            y = inner_product(tag, M, i * nv, W, c * nv, nv)
            for r in range(c, na):
                at = r * na + c
                store(tag, reduced, at, load(tag, reduced, at) + load(tag, W, r * nv + i) * y)
    mirror(tag, reduced, 0, na)
