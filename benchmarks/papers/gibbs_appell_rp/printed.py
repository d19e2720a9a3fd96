"""The revolute-prismatic paper written out as it stands: dense 3x3 matrices, its sums and its loops, its errata.

`methods/gibbs_appell_rp` is the paper's algorithm made fast. This is the paper itself, on numpy arrays: slow, and there
for two purposes. The errata: each wrong equation that can be run is a switch, so that a test can say by how much the
printed form is off. And the operation counts: numbers may be counting scalars, so the algorithm is also counted
as printed, with dense products and with every entry of its tables.

Source: Korayem and Shafei, see `gibbs_appell_rp`. Equation numbers are the paper's; indices count from 0 here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from dynbench.methods.kernels.scalar import sincos
from dynbench.robots.robot import FloatArray, Robot

Array = Any  # of floats, or of counting scalars (dtype object)
Table = list[list[Array]]  # [j][k]: a 3x3 matrix or a vector, link j's axes on the left

X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])

# The printed forms that can be run, by the name of their switch
PRINTED = {
    "transposed": "A_i is described as giving frame i-1 seen from frame i",
    "gravity": "(29) has no gravity",
    "limit": "the integrals (9) to (17) start at L - l",
    "tildes": "(16) has x x^T in place of x~ x~^T",
    "dots": "(10) has the velocity in place of the acceleration",
    "gyroscopic": "(7), hence (18) and (47), has no w~ B8 w",
    "swapped": "(18) has w and w' exchanged",
    "factor-38": "the right factor of (38) is jRk",
    "factor-41": "the left factor of (41) is jRk",
    "sum-45": "the second sum of (45) ends at n - 1",
    "xi-start": "U starts with xi in place of xi+",
    "row-n": "gamma has no row n, which U reads",
}


class Chain(NamedTuple):
    """A revolute-prismatic chain in the paper's terms."""

    length: Array  # L (n,)
    density: Array  # mu (n,)
    rotary: Array  # J (n, 3, 3)
    turn: Array  # constant part of A (n, 3, 3)
    upward: Array  # g y_0 (3,)


class State(NamedTuple):
    """Angles and extensions with their rates and accelerations, each (n,); no accelerations: the right-hand side."""

    q: Array
    l: Array
    qd: Array
    ld: Array
    qdd: Array | None = None
    ldd: Array | None = None


class Integrals(NamedTuple):
    """(9) to (17) of one rod; B1 is all of it that has accelerations, B4 and B5 drop out of the derivatives."""

    B0: Array
    B1: Array
    B2: Array
    B3: Array
    B6: Array
    B7: Array
    B8: Array


class Setup(NamedTuple):
    """Steps 1 and 2: what everything else starts from."""

    chain: Chain
    state: State
    printed: Collection[str]
    A: list[Array]
    R: Table  # jRk
    r: Table  # O_k from O_j, link j's axes
    B: list[Integrals]


class Tables(NamedTuple):
    """The auxiliary matrices of section 5; gamma, xi+, lambda and U have no column n."""

    sigma: Table
    psi: Table
    gamma: Table
    xi_plus: Table
    mass: Table  # lambda
    U: Table


def chain_of(robot: Robot) -> Chain:
    """Return the parameters of a robot that `robots.rp_chain` built."""
    length, mass = -2 * robot.com[1::2, 0], robot.mass[1::2]
    spread = (mass * length**2 / 12)[:, None, None] * np.diag([0.0, 1.0, 1.0])
    rotary = (robot.inertia[1::2] - spread) / length[:, None, None]
    return Chain(length, mass / length, rotary, robot.rotation[::2], -robot.gravity)


def state_of(q: FloatArray, v: FloatArray, a: FloatArray | None = None) -> State:
    """Return a state of the robot (order q_1, l_1, q_2, ...) in the paper's order."""
    accelerations = () if a is None else (a[::2], a[1::2])
    return State(q[::2], q[1::2], v[::2], v[1::2], *accelerations)


def tilde(a: Array) -> Array:
    """The matrix of the cross product with ``a``."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def setup(chain: Chain, state: State, printed: Collection[str] = ()) -> Setup:
    """Steps 1 and 2, with the printed forms that are named."""
    n = len(chain.length)
    A = []
    for i in range(n):
        s, c = sincos(state.q[i])
        turned = chain.turn[i] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        A.append(turned.T if "transposed" in printed else turned)
    R: Table = [[np.eye(3)] * n for _ in range(n)]
    r: Table = [[np.zeros(3)] * n for _ in range(n)]
    for j in range(n):
        for k in range(j + 1, n):
            R[j][k] = A[k] if k == j + 1 else R[j][k - 1] @ A[k]
            R[k][j] = R[j][k].T
            r[j][k] = r[j][k - 1] + state.l[k - 1] * R[j][k - 1][:, 0]
    return Setup(chain, state, printed, A, R, r, [integrals(chain, i, state, printed) for i in range(n)])


def integrals(chain: Chain, i: int, state: State, printed: Collection[str]) -> Integrals:
    """Step 1, for uniform rods."""
    mu, l = chain.density[i], state.l[i]
    low = chain.length[i] - l if "limit" in printed else l - chain.length[i]
    long = l - low
    xt = tilde(X)
    B0 = mu * long
    B3 = B0 * (l + low) * 0.5 * xt
    square = np.outer(X, X) if "tildes" in printed else xt @ xt.T
    B7 = B0 * (l * l + l * low + low * low) * (1.0 / 3.0) * square
    acceleration = state.ld if "dots" in printed else state.ldd
    B1 = np.zeros(3) if acceleration is None else B0 * acceleration[i] * X
    return Integrals(B0, B1, B0 * state.ld[i] * xt, B3, B3 @ (state.ld[i] * xt.T), B7, long * chain.rotary[i])


def derivatives(on: Setup) -> tuple[list[Array], list[Array], list[Array]]:
    """Step 3: s_i and t_i of (18), (46), (47), and link i's own part of F_i, (19)."""
    state, printed = on.state, on.printed
    s, t, F = [], [], []
    w = wd = np.zeros(3)
    acc = np.zeros(3) if "gravity" in printed else on.chain.upward
    for i, b in enumerate(on.B):
        back = on.A[i].T
        acc = back @ acc
        if i:
            w, wd = back @ w, back @ wd
            wd = wd + tilde(w) @ (state.qd[i] * Z)
        w = w + state.qd[i] * Z
        if state.qdd is not None:
            wd = wd + state.qdd[i] * Z
        u, ud = (wd, w) if "swapped" in printed else (w, wd)
        inertia = b.B7 + b.B8
        gyroscopic = b.B7 if "gyroscopic" in printed else inertia
        s.append(b.B0 * acc - 2.0 * (b.B2 @ u) - b.B3 @ ud - tilde(u) @ (b.B3 @ u))
        t.append(b.B3 @ acc + 2.0 * (b.B6 @ u) + inertia @ ud + tilde(u) @ (gyroscopic @ u))
        F.append(b.B0 * acc[0] - w @ (b.B3 @ (tilde(X).T @ w)))
        l = state.l[i] * X
        moved = tilde(wd) @ l + tilde(w) @ (2.0 * state.ld[i] * X + tilde(w) @ l)
        if state.ldd is not None:
            s[-1] = s[-1] + b.B1
            F[-1] = F[-1] + b.B0 * state.ldd[i]
            moved = moved + state.ldd[i] * X
        acc = acc + moved
    return s, t, F


def generalized_forces(on: Setup) -> FloatArray:
    """(18) to (22), without accelerations (45) and (51), by their sums over the links: tau, then F."""
    n = len(on.A)
    s, t, own = derivatives(on)
    last = n - 1 if "sum-45" in on.printed else n
    tau, F = [], []
    for j in range(n):
        carried = [on.R[j][i] @ s[i] for i in range(j + 1, n)]
        arms = sum((np.cross(Z, on.r[j][i]) @ f for i, f in enumerate(carried, j + 1)), 0.0)
        tau.append(arms + sum(((on.R[j][i] @ t[i])[2] for i in range(j, last)), 0.0))
        F.append(own[j] + sum((f[0] for f in carried), 0.0))
    return np.array(tau + F)


def backward_sweep(on: Setup) -> list[Array]:
    """Step 4: the same forces by the recursions (48) to (52)."""
    n = len(on.A)
    s, t, F = derivatives(on)
    chi, phi = t[n - 1], np.zeros(3)
    tau = [chi[2]]
    for j in range(n - 2, -1, -1):
        turn = on.A[j + 1]
        phi = turn @ (s[j + 1] + phi if j < n - 2 else s[j + 1])
        chi = t[j] + tilde(on.state.l[j] * X) @ phi + turn @ chi
        tau.append(chi[2])
        F[j] = F[j] + phi[0]
    return tau[::-1] + F


def empty(n: int) -> Tables:
    return Tables(*([[np.zeros((3, 3))] * n for _ in range(n)] for _ in range(6)))


def tables_by_sums(on: Setup) -> Tables:
    """(38) to (43) as they are defined: the non-recursive form, O(n^3) products."""
    n, R, r, B = len(on.A), on.R, on.r, on.B
    found, zero = empty(n), np.zeros((3, 3))
    for j in range(n):
        for k in range(n):
            right = [R[j][k] if "factor-38" in on.printed else R[i][k] for i in range(n)]
            left = [R[j][k] if "factor-41" in on.printed else R[j][i] for i in range(n)]
            here, beyond, past = range(max(k, j), n), range(max(k + 1, j), n), range(max(k, j) + 1, n)
            arms = range(max(k, j + 1), n)
            found.sigma[j][k] = sum((R[j][i] @ (B[i].B7 + B[i].B8) @ right[i] for i in here), zero)
            found.psi[j][k] = sum((tilde(r[j][i]) @ R[j][i] @ B[i].B3 @ R[i][k] for i in arms), zero)
            found.gamma[j][k] = sum((B[i].B0 * tilde(r[j][i]) @ left[i] @ R[i][k] for i in past), zero)
            found.xi_plus[j][k] = sum((R[j][i] @ B[i].B3 @ R[i][k] for i in beyond), zero)
            found.mass[j][k] = sum((B[i].B0 * R[j][k] for i in past), zero)
        for k in range(n - 1):
            both = [(found.gamma[j][t] + found.xi_plus[j][t]) @ (on.state.l[t] * tilde(X)) for t in range(n)]
            found.U[j][k] = sum((both[t] @ R[t][k] for t in range(k, n - 1)), zero)
    return found


def tables_by_recursion(on: Setup) -> Tables:
    """Step 5: the same by the paper's loops, O(n^2) products, all entries whether the assembly reads them or not."""
    n, A, R, r, B = len(on.A), on.A, on.R, on.r, on.B
    found, xi = empty(n), empty(n).sigma
    sigma, psi, gamma, xi_plus, mass, U = found
    for k in range(n - 1, -1, -1):
        sigma[k][k], xi[k][k] = B[k].B7 + B[k].B8, B[k].B3
        if k < n - 1:
            sigma[k][k] = sigma[k][k] + A[k + 1] @ sigma[k + 1][k + 1] @ A[k + 1].T
            xi[k][k] = xi[k][k] + A[k + 1] @ xi[k + 1][k + 1] @ A[k + 1].T
            one = B[k + 1].B0 * np.eye(3)
            mass[k][k] = one if k == n - 2 else one + mass[k + 1][k + 1]
        for j in range(k - 1, -1, -1):
            sigma[j][k], xi[j][k] = A[j + 1] @ sigma[j + 1][k], A[j + 1] @ xi[j + 1][k]
            sigma[k][j], xi[k][j] = sigma[j][k].T, -xi[j][k].T  # B3 is skew
            if k < n - 1:
                mass[j][k] = A[j + 1] @ mass[j + 1][k]
                mass[k][j] = mass[j][k].T
    for j in range(n - 1):
        psi[j][n - 1] = tilde(r[j][n - 1]) @ xi[j][n - 1]
        for k in range(n - 2, -1, -1):
            psi[j][k] = psi[j][k + 1] @ A[k + 1].T
            if k > j:
                psi[j][k] = psi[j][k] + tilde(r[j][k]) @ (R[j][k] @ B[k].B3)
        gamma[j][n - 2] = tilde(r[j][n - 1]) @ mass[j][n - 2]
        for k in range(n - 3, -1, -1):
            gamma[j][k] = gamma[j][k + 1] @ A[k + 1].T
            if k >= j:
                gamma[j][k] = gamma[j][k] + B[k + 1].B0 * (tilde(r[j][k + 1]) @ R[j][k])
    if "row-n" in on.printed:
        gamma[n - 1] = [np.full((3, 3), np.nan)] * n  # never set
    for j in range(n):
        for k in range(n - 2, -1, -1):
            xi_plus[j][k] = xi[j][k + 1] @ A[k + 1].T
            first = xi[j][k] if "xi-start" in on.printed and k == n - 2 else xi_plus[j][k]
            U[j][k] = (gamma[j][k] + first) * on.state.l[k] @ tilde(X)
            if k < n - 2:
                U[j][k] = U[j][k] + U[j][k + 1] @ A[k + 1].T
    return found


def inertia_matrix(on: Setup, tables: Tables, mirrored: bool = True) -> Array:
    """Step 6, in the paper's order; ``mirrored=False`` evaluates (I) below the diagonal as well."""
    n = len(on.A)
    sigma, psi, gamma, xi_plus, mass, U = tables
    I = np.zeros((2 * n, 2 * n), dtype=np.asarray(on.state.l).dtype)
    for j in range(n):
        for k in range(j if mirrored else 0, n):
            I[j, k] = sigma[j][k][2, 2]  # (I)
            for part in (psi,) if k == n - 1 else (psi, U):
                I[j, k] = I[j, k] - part[j][k][2, 2] if j < n - 1 or not mirrored else I[j, k]
            I[k, j] = I[j, k] if mirrored else I[k, j]
        for k in range(n):
            slide = xi_plus[j][k][2, 0] + gamma[j][k][2, 0] if j < n - 1 else xi_plus[j][k][2, 0]
            if k > j:
                arm = on.B[k].B0 * (on.r[j][k][0] * on.R[j][k][1, 0] - on.r[j][k][1] * on.R[j][k][0, 0])
                slide = slide + arm if k < n - 1 else arm
            I[j, n + k] = I[n + k, j] = slide
            if k >= j:  # (II)
                own = on.B[k].B0 * on.R[j][k][0, 0] if k > j else on.B[k].B0
                I[n + j, n + k] = I[n + k, n + j] = own + mass[j][k][0, 0] if k < n - 1 else own
    return I


def equations_of_motion(on: Setup) -> tuple[Array, list[Array]]:
    """Steps 3 to 6 for a state without accelerations: the inertia matrix, and tau less the right-hand side."""
    return inertia_matrix(on, tables_by_recursion(on)), backward_sweep(on)
