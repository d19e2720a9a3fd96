"""The small dense solver against numpy, in every reading."""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels.linear import add_product, clear, ldlt, ldlt_solve, mirror
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store

n = 6
# In q: a vector x, then a matrix A. In out: A x, A mirrored, its factors, and the solution of A y = x
A_AT, FACTORS, SOLUTION, END = n, n + n * n, n + 2 * n * n, 2 * n + 2 * n * n


@generic
def linear_algebra(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    for k in range(n * n):
        store(tag, out, A_AT + k, load(tag, q, n + k))
        store(tag, out, FACTORS + k, load(tag, q, n + k))
    for k in range(n):
        store(tag, out, SOLUTION + k, load(tag, q, k))
    mirror(tag, out, A_AT, n)
    clear(tag, out, 0, n)
    add_product(tag, out, A_AT, n, q, out)
    ldlt(tag, out, FACTORS, n)
    ldlt_solve(tag, out, FACTORS, n, out, SOLUTION)


def test_products_factors_and_solutions_come_from_the_lower_triangle(evaluate):
    rng = np.random.default_rng(3)
    roots = rng.standard_normal((11, n, n))
    A = roots @ roots.transpose(0, 2, 1) + np.eye(n)
    x = rng.standard_normal((11, n))
    junk = np.tril(A) + np.triu(np.full((n, n), 1e9), 1)
    out = evaluate(linear_algebra, np.hstack([x, junk.reshape(11, -1)]))

    np.testing.assert_allclose(out[:, :n], np.einsum("kij,kj->ki", A, x), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(out[:, A_AT:FACTORS].reshape(-1, n, n), np.tril(A) + np.tril(A, -1).swapaxes(1, 2))
    factors = out[:, FACTORS:SOLUTION].reshape(-1, n, n)
    L, D = np.tril(factors, -1) + np.eye(n), 1.0 / np.diagonal(factors, axis1=1, axis2=2)
    np.testing.assert_allclose(np.einsum("kij,kj,klj->kil", L, D, L), A, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(out[:, SOLUTION:END], np.linalg.solve(A, x[..., None])[..., 0], rtol=1e-11, atol=1e-12)
