"""Maximal coordinates: all bodies are free, joints and loops are constraints with Lagrange multipliers.

D. Baraff, Linear-time dynamics using Lagrange multipliers, Proceedings of SIGGRAPH 1996, 137-146. Unknowns are the
accelerations of all bodies, six each, and a multiplier for each direction that a joint or a loop holds. In world axes
at one origin (`kernels.spatial`), x_i the acceleration of body i less what it is at a = 0, p its parent, I_i
its inertia, w_i what its motion at a = 0 requires less what acts on it, Phi_i the unit wrenches that joint i can pass
(6 less its freedoms), rows r_k of the loops between bodies 1 and 2,

    I_i x_i + w_i = Phi_i^T lambda_i - sum over children Phi_j^T lambda_j + loops                                   (1)
    Phi_i (x_i - x_p) = 0                                                                                           (2)
    r_k (x_2 - x_1) = -g_k,   g = A' v                                                                              (3)

(1) and (2) are a symmetric matrix with the sparsity of the tree. Eliminated from the leaves to the root, body then
joint, it fills nowhere (P_i begins as I_i), so that the tree takes O(n):

    x_i = P_i^-1 (Phi_i^T lambda_i - w_i)                                                                           (4)
    lambda_i = L_i (Phi_i x_p + Phi_i P_i^-1 w_i),   L_i = (Phi_i P_i^-1 Phi_i^T)^-1                                (5)
    P_p += Phi_i^T L_i Phi_i,   w_p += Phi_i^T L_i Phi_i P_i^-1 w_i                                                 (6)

Loops are Baraff's auxiliary constraints. X_k, the motion of the tree under the unit wrench r_k, takes (4)-(6) each, and

    S_kl = r_k X_l,   S mu = -g - r x_free,   x = x_free + X mu                                                     (7)

S is singular with redundant loops, so that it is solved with S + d 1, d = 1e-10 tr S, four times on the residual. Joint
accelerations and forces are along s_i, the unit wrench of a joint's own axis,

    a_i = s_i (x_i - x_p);   the actuator is the wrench tau_i s_i on body i and its opposite on p                   (8)

A body without inertia about some axis (a thin rod, a massless body) has a singular I_i. Since (2) holds, a multiple of
it may be added,

    P_i + s Phi_i^T Phi_i for P_i,   L_i - s 1 for L_i in (6)                                                       (9)

(q, v) of the tree remain the state: joints do not drift.

Near a singular position the small diagonal of (7) lets the free accelerations act as if the loops were open. While a
motion is followed, the loops are therefore held by the rows Q of A = R Q (`kernels.regular_rows`; A the Jacobian of the
loops, Q Q^T = 1, as many rows as their nominal rank), and only what they demand is damped. Q_k is a force at the
joints, applied as (8) applies those of actuators; X_k is the tree's motion under it, in joint coordinates,

    S_kl = Q_k X_l,   S mu = -R^+ g - Q a_free,   a = a_free + X mu                                                 (10)

S is regular everywhere and needs no diagonal. Equation numbers are those of this docstring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.constraints import ConstraintMethod, States
from dynbench.methods.generic_code import Kernel
from dynbench.methods.kernels import pseudo_inverse, spatial
from dynbench.methods.kernels.closure import (
    BODIES,
    BODY1,
    BODY2,
    CLOSURES,
    COUNT,
    DIRECTIONS,
    EQUATIONS,
    GRAM,
    INNER,
    LINE,
    METHOD,
    NV,
    OWN,
    PATH,
    R1,
    R2,
    RANK,
    RATE,
    RECORD,
    ROWS,
    SPARE,
    STEP,
    TABLE,
    TREE,
    WEIGHTED,
    end,
    fill_rates,
    part,
    place,
    row_wrench,
)
from dynbench.methods.kernels.constrained import near_singular
from dynbench.methods.kernels.linear import clear, ldlt, ldlt_solve
from dynbench.methods.kernels.nominal import NEAR, closed, invertible
from dynbench.methods.kernels.orthogonal import inner_product
from dynbench.methods.kernels.projection import moving, refuse
from dynbench.methods.kernels.regular_rows import demand_of_rows, ratio_found, regular_rows
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, called, generic, index, load, splat, store
from dynbench.methods.kernels.spatial import add_scaled, power, recenter, store_inertia, store_unit_wrench, store_wrench
from dynbench.methods.kernels.tree import axis_count, first_axis, iv, kind, parent
from dynbench.methods.kernels.vectors import store3
from dynbench.robots.robot import FloatArray, Robot

# Blocks of the workspace, one per body and the ground: P, the six unit wrenches at the body (those of Phi first, then
# its axes), P^-1 Phi^T, the factors of Phi P^-1 Phi^T; w, P^-1 w, Phi P^-1 w, x
P, C, Y, L, W, U, T, X = 0, 36, 72, 108, 144, 150, 156, 162
BLOCK = 168
ROUNDS = 4  # of (7)
DAMPING = 1e-10  # of (7), of tr S: with redundant loops rounding makes forces of 1e-16 over it that balance each other

body_wrenches: Any = spatial.body_wrenches


def size(n: int, m: int) -> int:
    """Number of scalars after which the rest of the workspace begins: blocks, rows r, S, multipliers, body wrenches."""
    return BLOCK * (n + 1) + 6 * m + m * m + 2 * m + 6 * n


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    nv, m = index(model, NV), index(model, EQUATIONS)
    bad = splat(tag, 0.0)
    if m > 0:
        bad = closed(tag, model, q, work, NEAR) + near_singular(tag, model, work)
    else:
        place(tag, model, q, work)
    prepare(tag, model, work)
    if m > 0:
        bad = bad + moving(tag, model, v, work, NEAR)
    own = model[index(model, METHOD) :]
    required = part(tag, model, work, OWN)[size_before(model) * len(tag) :]
    body_wrenches(tag, own, q, v, None, wrench, required, part(tag, model, work, INNER))
    free_accelerations(tag, model, tau, required, out, work)
    if m > 0:
        spare, rate = part(tag, model, work, SPARE), part(tag, model, work, RATE)
        openings(tag, model, spare, work)
        for k in range(m):
            store(tag, spare, k, -(load(tag, rate, k) + load(tag, spare, k)))
        multipliers(tag, model, spare, work)
        add_response(tag, model, m, spare, out, work)
        refuse(tag, out, nv, bad)


@generic
def size_before(model: Buffer) -> int:
    """Where the wrenches that bodies require begin, see `size`."""
    m = index(model, EQUATIONS)
    return BLOCK * (index(model, BODIES) + 1) + 6 * m + m * m + 2 * m


@called
def free_accelerations(tag: Tag, model: Buffer, tau: Buffer, required: Buffer, out: Buffer, work: Buffer) -> None:
    """Joint accelerations of the tree under actuators, loops open: w of (1), then x; the tree is eliminated."""
    packed = model[TREE : index(model, CLOSURES)]
    n = index(model, BODIES)
    blocks, drivers = part(tag, model, work, OWN), index(model, TABLE)
    clear(tag, blocks, W, 6)
    for i in range(1, n + 1):
        store_wrench(tag, work, i, required, blocks, i * BLOCK + W)
    for i in range(1, n + 1):  # (8): forces of actuators
        axes = axis_count(kind(packed, i))
        for k in range(axes):
            driver = index(model, drivers + iv(packed, i) + k)
            if driver >= 0:
                drive(tag, packed, i, k, load(tag, tau, driver), blocks)
    sweep(tag, model, work)
    joint_accelerations(tag, model, out, 0, work)


@generic
def drive(tag: Tag, packed: Buffer, i: int, k: int, force: Scalar, blocks: Buffer) -> None:
    """A force along axis ``k`` of joint ``i``, (8): add what acts on its body and on the parent to w."""
    unit = i * BLOCK + C + 6 * (6 - axis_count(kind(packed, i)) + k)
    add_scaled(tag, -force, blocks, unit, blocks, i * BLOCK + W)
    if parent(packed, i) > 0:
        add_scaled(tag, force, blocks, unit, blocks, parent(packed, i) * BLOCK + W)


@generic
def loop_matrix(tag: Tag, model: Buffer, work: Buffer) -> Buffer:
    """S of (7) or of (10)"""
    before = BLOCK * (index(model, BODIES) + 1) + 6 * index(model, EQUATIONS)
    return part(tag, model, work, OWN)[before * len(tag) :]


@called
def eliminate_tree(tag: Tag, model: Buffer, work: Buffer) -> None:
    """(5) and (6) of all bodies, from the leaves to the root."""
    packed = model[TREE : index(model, CLOSURES)]
    n, blocks = index(model, BODIES), part(tag, model, work, OWN)
    thin = index(model, index(model, TABLE) + index(model, NV)) == 1
    recenter(tag, n, work)
    for i in range(1, n + 1):
        store_inertia(tag, packed, work, i, blocks, i * BLOCK + P)
    for i in range(n, 0, -1):
        eliminate(tag, packed, i, thin, blocks, work)


@called
def prepare(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Eliminate the tree; then X and S of (7), factorised with a small diagonal."""
    nv, m = index(model, NV), index(model, EQUATIONS)
    eliminate_tree(tag, model, work)
    if m > 0:
        fill_rows(tag, model, work)
        S, factors = loop_matrix(tag, model, work), part(tag, model, work, GRAM)
        trace = splat(tag, 0.0)
        for k in range(m):
            push(tag, model, k, work)
            sweep(tag, model, work)
            joint_accelerations(tag, model, part(tag, model, work, WEIGHTED), k * nv, work)
            openings(tag, model, S[k * m * len(tag) :], work)
            trace = trace + load(tag, S, k * m + k)
        for k in range(m):
            for j in range(k):
                store(tag, factors, k * m + j, load(tag, S, k * m + j))
            store(tag, factors, k * m + k, load(tag, S, k * m + k) + trace * DAMPING)
        ldlt(tag, factors, 0, m)


@called
def eliminate(tag: Tag, packed: Buffer, i: int, thin: bool, blocks: Buffer, work: Buffer) -> None:
    """Body row ``i`` and its joint: factors of P_i and of Phi P^-1 Phi^T (5), then (6)."""
    o = i * BLOCK
    joint = kind(packed, i)
    first, axes = first_axis(joint), axis_count(joint)
    c = 6 - axes
    for k in range(6):  # Phi (2), then the joint's axes s
        held = k if k < first else k + axes
        store_unit_wrench(tag, work, i, held if k < c else first + k - c, blocks, o + C + 6 * k)
    s = splat(tag, 0.0)
    if thin:  # (9)
        for k in range(6):
            s = s + load(tag, blocks, o + P + 7 * k)
        s = s * (1.0 / 6.0)
        for k in range(c):
            for row in range(6):
                x = s * load(tag, blocks, o + C + 6 * k + row)
                for col in range(row + 1):
                    at = o + P + 6 * row + col
                    store(tag, blocks, at, load(tag, blocks, at) + x * load(tag, blocks, o + C + 6 * k + col))
    ldlt(tag, blocks, o + P, 6)
    for k in range(c):
        for row in range(6):
            store(tag, blocks, o + Y + 6 * k + row, load(tag, blocks, o + C + 6 * k + row))
        ldlt_solve(tag, blocks, o + P, 6, blocks, o + Y + 6 * k)
        for j in range(k + 1):
            store(tag, blocks, o + L + c * k + j, power(tag, blocks, o + C + 6 * k, blocks, o + Y + 6 * j))
    ldlt(tag, blocks, o + L, c)
    u = parent(packed, i) * BLOCK
    if u > 0:
        for col in range(6):
            for k in range(c):
                store(tag, blocks, o + T + k, load(tag, blocks, o + C + 6 * k + col))
            ldlt_solve(tag, blocks, o + L, c, blocks, o + T)
            if thin:
                for k in range(c):
                    x = load(tag, blocks, o + T + k) - s * load(tag, blocks, o + C + 6 * k + col)
                    store(tag, blocks, o + T + k, x)
            for row in range(col, 6):
                at = u + P + 6 * row + col
                total = load(tag, blocks, at)
                for k in range(c):
                    total = total + load(tag, blocks, o + C + 6 * k + row) * load(tag, blocks, o + T + k)
                store(tag, blocks, at, total)


@called
def sweep(tag: Tag, model: Buffer, work: Buffer) -> None:
    """x of all bodies from w of all: inward (6), outward (5) and (4). What is left of w has no further use."""
    packed = model[TREE : index(model, CLOSURES)]
    n, blocks = index(model, BODIES), part(tag, model, work, OWN)
    clear(tag, blocks, X, 6)
    for i in range(n, 0, -1):
        o = i * BLOCK
        c = 6 - axis_count(kind(packed, i))
        for k in range(6):
            store(tag, blocks, o + U + k, load(tag, blocks, o + W + k))
        ldlt_solve(tag, blocks, o + P, 6, blocks, o + U)
        for k in range(c):
            store(tag, blocks, o + T + k, power(tag, blocks, o + C + 6 * k, blocks, o + U))
        ldlt_solve(tag, blocks, o + L, c, blocks, o + T)
        u = parent(packed, i) * BLOCK
        if u > 0:
            for k in range(c):
                add_scaled(tag, load(tag, blocks, o + T + k), blocks, o + C + 6 * k, blocks, u + W)
    for i in range(1, n + 1):
        o = i * BLOCK
        c = 6 - axis_count(kind(packed, i))
        u = parent(packed, i) * BLOCK
        for k in range(6):
            store(tag, blocks, o + X + k, -load(tag, blocks, o + U + k))
        if u > 0:
            for k in range(c):  # W is free now
                store(tag, blocks, o + W + k, power(tag, blocks, o + C + 6 * k, blocks, u + X))
            ldlt_solve(tag, blocks, o + L, c, blocks, o + W)
            for k in range(c):
                store(tag, blocks, o + T + k, load(tag, blocks, o + T + k) + load(tag, blocks, o + W + k))
        for k in range(c):
            add_scaled(tag, load(tag, blocks, o + T + k), blocks, o + Y + 6 * k, blocks, o + X)


@generic
def joint_accelerations(tag: Tag, model: Buffer, out: Buffer, at: int, work: Buffer) -> None:
    """(8)"""
    packed = model[TREE : index(model, CLOSURES)]
    blocks = part(tag, model, work, OWN)
    for i in range(1, index(model, BODIES) + 1):
        o, u = i * BLOCK, parent(packed, i) * BLOCK
        axes = axis_count(kind(packed, i))
        for k in range(axes):
            unit = o + C + 6 * (6 - axes + k)
            x = power(tag, blocks, unit, blocks, o + X)
            if u > 0:
                x = x - power(tag, blocks, unit, blocks, u + X)
            store(tag, out, at + iv(packed, i) + k, x)


@generic
def fill_rows(tag: Tag, model: Buffer, work: Buffer) -> None:
    """r_k of (3), the unit wrenches of the loops on their second bodies."""
    rows = part(tag, model, work, OWN)[BLOCK * (index(model, BODIES) + 1) * len(tag) :]
    at, k = index(model, CLOSURES), 0
    for _ in range(index(model, COUNT)):
        U_frame, _p1 = end(tag, model, at + R1, work, index(model, at + BODY1))
        W_frame, p2 = end(tag, model, at + R2, work, index(model, at + BODY2))
        lines = index(model, at + ROWS)
        for line in range(lines):
            f, n = row_wrench(tag, model, at + RECORD + line * LINE, U_frame, W_frame, p2)
            store3(tag, rows, 6 * k, f)
            store3(tag, rows, 6 * k + 3, n)
            k += 1
        at += RECORD + lines * LINE + index(model, at + PATH) * STEP


@generic
def push(tag: Tag, model: Buffer, k: int, work: Buffer) -> None:
    """w of all bodies for the unit wrench r_k between its two bodies, (7)."""
    n = index(model, BODIES)
    blocks = part(tag, model, work, OWN)
    rows = blocks[BLOCK * (n + 1) * len(tag) :]
    for i in range(n + 1):
        clear(tag, blocks, i * BLOCK + W, 6)
    at, row = index(model, CLOSURES), 0
    for _ in range(index(model, COUNT)):
        lines = index(model, at + ROWS)
        if row <= k < row + lines:
            for j in range(6):
                x = load(tag, rows, 6 * k + j)
                store(tag, blocks, index(model, at + BODY1) * BLOCK + W + j, x)
                store(tag, blocks, index(model, at + BODY2) * BLOCK + W + j, -x)
        row += lines
        at += RECORD + lines * LINE + index(model, at + PATH) * STEP


@generic
def openings(tag: Tag, model: Buffer, out: Buffer, work: Buffer) -> None:
    """r_k (x_2 - x_1) of all rows, the left side of (3)."""
    blocks = part(tag, model, work, OWN)
    rows = blocks[BLOCK * (index(model, BODIES) + 1) * len(tag) :]
    at, k = index(model, CLOSURES), 0
    for _ in range(index(model, COUNT)):
        lines = index(model, at + ROWS)
        one, two = index(model, at + BODY1) * BLOCK + X, index(model, at + BODY2) * BLOCK + X
        for _line in range(lines):
            x = splat(tag, 0.0)
            if two > X:
                x = power(tag, rows, 6 * k, blocks, two)
            if one > X:
                x = x - power(tag, rows, 6 * k, blocks, one)
            store(tag, out, k, x)
            k += 1
        at += RECORD + lines * LINE + index(model, at + PATH) * STEP


@generic
def multipliers(tag: Tag, model: Buffer, x: Buffer, work: Buffer) -> None:
    """mu of (7) in the place of x, the right side."""
    m, factors = index(model, EQUATIONS), part(tag, model, work, GRAM)
    S = loop_matrix(tag, model, work)
    mu, y = S[m * m * len(tag) :], S[(m * m + m) * len(tag) :]
    for round in range(ROUNDS):
        for k in range(m):
            left = load(tag, x, k)
            if round > 0:
                left = left - inner_product(tag, S, k * m, mu, 0, m)
            store(tag, y, k, left)
        ldlt_solve(tag, factors, 0, m, y, 0)
        for k in range(m):
            more = load(tag, y, k)
            store(tag, mu, k, load(tag, mu, k) + more if round > 0 else more)
    for k in range(m):
        store(tag, x, k, load(tag, mu, k))


@generic
def add_response(tag: Tag, model: Buffer, count: int, mu: Buffer, out: Buffer, work: Buffer) -> None:
    """out += X mu, in joint coordinates, (7) and (10)"""
    nv, responses = index(model, NV), part(tag, model, work, WEIGHTED)
    for k in range(count):
        for i in range(nv):
            store(tag, out, i, load(tag, out, i) + load(tag, responses, k * nv + i) * load(tag, mu, k))


# ---------------------------------------------------------------------- for integrators


@called
def weigh(tag: Tag, model: Buffer, work: Buffer, damping: float) -> None:
    """Eliminate the tree and find the rows Q; then X and S of (10), factorised. A is there."""
    packed = model[TREE : index(model, CLOSURES)]
    n, nv, r = index(model, BODIES), index(model, NV), index(model, RANK)
    blocks, Q = part(tag, model, work, OWN), part(tag, model, work, DIRECTIONS)
    responses, S = part(tag, model, work, WEIGHTED), loop_matrix(tag, model, work)
    eliminate_tree(tag, model, work)
    regular_rows(tag, model, work, damping)
    for l in range(r):
        for i in range(n + 1):
            clear(tag, blocks, i * BLOCK + W, 6)
        for i in range(1, n + 1):
            for k in range(axis_count(kind(packed, i))):
                drive(tag, packed, i, k, load(tag, Q, l * nv + iv(packed, i) + k), blocks)
        sweep(tag, model, work)
        joint_accelerations(tag, model, responses, l * nv, work)
        for k in range(l + 1):
            store(tag, S, l * r + k, inner_product(tag, Q, k * nv, responses, l * nv, nv))
        # at exactly singular positions a row may be zero: it holds nothing, and its mu is 0 / tiny
        store(tag, S, l * r + l, load(tag, S, l * r + l) + 1e-200)
    ldlt(tag, S, 0, r)


@called
def sharp(tag: Tag, model: Buffer, demand: Buffer, out: Buffer, work: Buffer) -> None:
    """The smallest motion in the metric of the masses that the loops see as ``demand``: (10) with a_free = 0."""
    r, mu = index(model, RANK), part(tag, model, work, SPARE)
    demand_of_rows(tag, model, demand, mu, mu[r * len(tag) :], work)
    ldlt_solve(tag, loop_matrix(tag, model, work), 0, r, mu, 0)
    clear(tag, out, 0, index(model, NV))
    add_response(tag, model, r, mu, out, work)


@generic
def accelerate(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(10), a state on the loops"""
    nv, r = index(model, NV), index(model, RANK)
    Q, mu = part(tag, model, work, DIRECTIONS), part(tag, model, work, SPARE)
    fill_rates(tag, model, v, work)
    own = model[index(model, METHOD) :]
    required = part(tag, model, work, OWN)[size_before(model) * len(tag) :]
    body_wrenches(tag, own, q, v, None, wrench, required, part(tag, model, work, INNER))
    free_accelerations(tag, model, tau, required, out, work)
    demand_of_rows(tag, model, part(tag, model, work, RATE), mu, mu[r * len(tag) :], work)
    for k in range(r):
        store(tag, mu, k, -(load(tag, mu, k) + inner_product(tag, Q, k * nv, out, 0, nv)))
    ldlt_solve(tag, loop_matrix(tag, model, work), 0, r, mu, 0)
    add_response(tag, model, r, mu, out, work)


@generic
def no_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """In the place of the tree's mass matrix, of which there is no need."""


class MaximalCoordinates(ConstraintMethod):
    """Forward dynamics by multipliers of joints and loops. Equations: (1)-(10)"""

    name: ClassVar[str] = "maximal-coordinates"
    title: ClassVar[str] = "Maximal coordinates (sparse, with multipliers)"
    reference: ClassVar[str] = "Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH (1996)"
    cost: ClassVar[str] = "O(n + m n + m^3), forward dynamics, m loop equations"
    extras: ClassVar[bool] = False
    couplings: ClassVar[bool] = False
    trees: ClassVar[bool] = True
    kernels: ClassVar[Mapping[str, Kernel]] = {"forward_dynamics": forward_dynamics}
    following: ClassVar[Mapping[str, Kernel]] = {
        "weigh": weigh, "sharp": sharp, "directions": ratio_found, "accelerate": accelerate,
        "tree_mass_matrix": no_matrix,
    }  # fmt: skip

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is None and not invertible(robot):
            return "the inertia matrix of its spanning tree is singular"
        return reason

    def own_size(self, robot: Robot) -> int:
        m = len(robot.loop_rows.closure)
        return max(size(robot.n, m), pseudo_inverse.size(m, robot.nv, robot.loop_analysis.rank))

    def table(self, robot: Robot, states: States = "regular") -> FloatArray:
        """Which force drives a coordinate, -1 for none; then whether (9) is needed."""
        drivers = np.full(robot.nv, -1.0)
        drivers[robot.actuated] = np.arange(len(robot.actuated))
        return np.append(drivers, thin(robot))


def thin(robot: Robot) -> bool:
    """Whether the inertia of some body is singular: no mass, or all of it on a line."""
    moments = np.linalg.eigvalsh(robot.inertia)
    least = np.minimum(moments[:, 0], robot.mass)
    return bool((least <= 1e-9 * np.maximum(moments[:, 2], robot.mass)).any())
