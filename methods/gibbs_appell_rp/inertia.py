"""Steps 5 and 6: the inertia matrix through the paper's 3x3 matrices sigma, psi, U, gamma, xi and lambda.

For row j (joint) and column k each is a matrix in link j's axes on the left and link k's on the right:

    sigma_k  (38)   second moments B7 + B8 of the links from max(k, j) on
    xi_k     (42)   first moments B3 of the same; xi_k+ those from k + 1 on
    lambda_k (43)   mass beyond link k, times jRk
    psi_k    (39)   first moments, times the arm from O_j
    gamma_k  (41)   mass beyond link k, times the arm from O_j
    U_k      (40)   what gamma and xi+ do through the lengths of the links from k to j

The paper fills n x n tables of them by recursions over j (from the left) and over k (from the right). Here rows are
done one at a time, j = n .. 1: what recurs over j (jRk, r, sigma, xi) is kept for each k, what recurs over k
(psi, gamma, U, xi+) is carried along the row. The same products, in storage that grows with n and not n^2, and only
entries that the assembly reads. Below the diagonal xi_k+ comes from its definition, jxi_k+ = jxi_(k+1)+ A_{k+1}^T.
"""

from __future__ import annotations

from dynbench.methods.gibbs_appell_rp.model import LINK, MASS, angle, extension, integrals, link_count, rotation
from dynbench.methods.gibbs_appell_rp.sweeps import SWEEPS, A
from dynbench.methods.kernels.inertia import full
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, sincos, splat, store
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add9,
    identity,
    load3,
    load9,
    matmul,
    mul,
    scale,
    store3,
    store9,
    transpose,
)

# Work rows go on after those of the sweeps: for each column k
R = SWEEPS  # jRk (9)
P = R + 9  # O_k from O_j, link j's axes (3)
SIGMA = P + 3  # (9)
XI = SIGMA + 9  # (9)
BEYOND = XI + 9  # mass beyond link k, that of lambda
WORK = BEYOND + 1


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    for i in range(link_count(model)):
        s, c = sincos(load(tag, q, angle(i)))
        store9(tag, work, i * WORK + A, rotation(tag, model, i, s, c))
    inertia_matrix(tag, model, q, out, 0, work)


@generic
def inertia_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, at: int, work: Buffer) -> None:
    """Write the matrix, by rows and in the robot's order, from out[at] on; A must be in the work rows."""
    n = link_count(model)
    for j in range(n - 1, -1, -1):
        next_row(tag, model, j, q, work)
        right_of_diagonal(tag, model, j, q, out, at, work)


@generic
def next_row(tag: Tag, model: Buffer, j: int, q: Buffer, work: Buffer) -> None:
    """Step 5 over j: take jRk, the arms, sigma and xi from row j + 1 to row j, and start column j."""
    # (38) sigma. Erratum: the right factor is printed jRk, must be iRk
    n = link_count(model)
    for k in range(j + 1, n):
        o = k * WORK
        turn = load9(tag, work, (j + 1) * WORK + A)  # jR(j+1)
        if k > j + 1:
            store9(tag, work, o + R, matmul(turn, load9(tag, work, o + R)))
            arm = mul(turn, load3(tag, work, o + P))
            store3(tag, work, o + P, (arm[0] + load(tag, q, extension(j)), arm[1], arm[2]))
        else:
            store9(tag, work, o + R, turn)
            store3(tag, work, o + P, (load(tag, q, extension(j)), splat(tag, 0.0), splat(tag, 0.0)))
        store9(tag, work, o + SIGMA, matmul(turn, load9(tag, work, o + SIGMA)))
        store9(tag, work, o + XI, matmul(turn, load9(tag, work, o + XI)))
    o = j * WORK
    zero = splat(tag, 0.0)
    store9(tag, work, o + R, identity(tag))
    _, b3, B78 = integrals(tag, model, j, q)
    sigma = full(B78)
    xi = (zero, zero, zero, zero, zero, -b3, zero, b3, zero)  # B3 = b3 x~
    beyond = zero
    if j < n - 1:
        u = (j + 1) * WORK
        back = transpose(load9(tag, work, u + A))
        sigma = add9(sigma, matmul(load9(tag, work, u + SIGMA), back))
        X = matmul(load9(tag, work, u + XI), back)
        xi = (X[0], X[1], X[2], X[3], X[4], X[5] - b3, X[6], X[7] + b3, X[8])
        beyond = load(tag, work, u + BEYOND) + const(model, (j + 2) * LINK + MASS)
    store9(tag, work, o + SIGMA, sigma)
    store9(tag, work, o + XI, xi)
    store(tag, work, o + BEYOND, beyond)


@generic
def right_of_diagonal(tag: Tag, model: Buffer, j: int, q: Buffer, out: Buffer, at: int, work: Buffer) -> None:
    """Step 5 over k and step 6: psi, gamma, xi+ and U along row j, and the entries they give."""
    n = link_count(model)
    psi = zero9(tag)
    gamma = zero9(tag)
    xi_plus = zero9(tag)
    U = zero9(tag)
    for k in range(n - 1, j - 1, -1):
        o = k * WORK
        B0, b3, _ = integrals(tag, model, k, q)
        jRk = load9(tag, work, o + R)
        beyond = load(tag, work, o + BEYOND)
        if k < n - 1:
            u = o + WORK
            back = transpose(load9(tag, work, u + A))  # (k+1)Rk
            psi = matmul(psi, back)
            # (41). Erratum: the left factor is printed jRk, must be jRi
            lever = tilde(scale(const(model, (k + 2) * LINK + MASS), load3(tag, work, u + P)), jRk)
            gamma = add9(matmul(gamma, back), lever)
            xi_plus = matmul(load9(tag, work, u + XI), back)  # (42)
            # (40). Erratum: the first of these is printed with xi in place of xi+
            U = plus_x(matmul(U, back), load(tag, q, extension(k)), add9(gamma, xi_plus))
        sliding = gamma[6] + xi_plus[6]
        mass = beyond + B0
        if k > j:
            arm = load3(tag, work, o + P)
            psi = plus_x(psi, b3, tilde(arm, jRk))  # (39)
            sliding = sliding + B0 * (arm[0] * jRk[3] - arm[1] * jRk[0])
            mass = mass * jRk[0]
        sigma = load9(tag, work, o + SIGMA)
        put(tag, n, angle(j), angle(k), sigma[8] - psi[8] - U[8], out, at)  # (I)
        put(tag, n, angle(j), extension(k), sliding, out, at)
        put(tag, n, extension(j), extension(k), mass, out, at)  # (II), lambda by (43)
    # left of the diagonal gamma_k and xi_k+ recur alike, and only their sum is read
    both = add9(load9(tag, work, j * WORK + XI), gamma)
    for k in range(j - 1, -1, -1):
        both = matmul(both, transpose(load9(tag, work, (k + 1) * WORK + A)))
        put(tag, n, angle(j), extension(k), both[6], out, at)


@generic
def put(tag: Tag, n: int, row: int, column: int, x: Scalar, out: Buffer, at: int) -> None:
    """Write an entry and its mirror image."""
    # (44) the matrix is symmetric
    store(tag, out, at + row * 2 * n + column, x)
    store(tag, out, at + column * 2 * n + row, x)


@generic
def zero9(tag: Tag) -> Matrix:
    z = splat(tag, 0.0)
    return (z, z, z, z, z, z, z, z, z)


@generic
def tilde(r: Vector, M: Matrix) -> Matrix:
    """r~ M"""
    return (
        r[1] * M[6] - r[2] * M[3],
        r[1] * M[7] - r[2] * M[4],
        r[1] * M[8] - r[2] * M[5],
        r[2] * M[0] - r[0] * M[6],
        r[2] * M[1] - r[0] * M[7],
        r[2] * M[2] - r[0] * M[8],
        r[0] * M[3] - r[1] * M[0],
        r[0] * M[4] - r[1] * M[1],
        r[0] * M[5] - r[1] * M[2],
    )


@generic
def plus_x(M: Matrix, s: Scalar, N: Matrix) -> Matrix:
    """M + s N x~; N x~ has no first column, and the other two of N exchanged"""
    return (
        M[0],
        M[1] + s * N[2],
        M[2] - s * N[1],
        M[3],
        M[4] + s * N[5],
        M[5] - s * N[4],
        M[6],
        M[7] + s * N[8],
        M[8] - s * N[7],
    )
