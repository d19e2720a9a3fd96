"""The Moore-Penrose inverse of given rank against numpy's, full and deficient."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.methods.kernels import pseudo_inverse
from dynbench.methods.kernels.scalar import ONE


def inverse(B: np.ndarray, r: int, careful: bool, damping: float | None = None) -> np.ndarray:
    """B^+, column by column."""
    m, n = B.shape
    factor, left, spare = np.full(pseudo_inverse.size(m, n, r), np.nan), np.empty(max(m, n) * n), np.empty(n + m)
    pseudo_inverse.decompose(ONE, B.ravel(), m, n, r, factor, left, spare, careful)
    Q, columns = factor[: r * n].reshape(r, n), []
    for x in np.eye(m):
        w = np.empty(r)
        if damping is None:
            pseudo_inverse.solve(ONE, m, n, r, factor, x, w)
        else:
            pseudo_inverse.solve_damped(ONE, m, n, r, factor, x, w, damping, np.empty(m * m), np.empty(m))
        columns.append(Q.T @ w)
    return np.array(columns).T


@pytest.mark.parametrize(("m", "n", "r"), [(3, 5, 3), (5, 5, 5), (5, 4, 3), (6, 9, 4), (4, 3, 1)])
@pytest.mark.parametrize("careful", [False, True])
def test_it_is_numpys(m, n, r, careful):
    rng = np.random.default_rng(m)
    B = rng.standard_normal((m, r)) @ rng.standard_normal((r, n))
    right = np.linalg.pinv(B, rcond=1e-10)
    assert np.abs(inverse(B, r, careful) - right).max() < 1e-12 * np.abs(right).max()
    if careful:  # for demands that can be met; rounding of others is divided by mu
        assert np.abs((inverse(B, r, True, 1e-8) - right) @ B).max() < 1e-7


def test_damping_fades_small_singular_values():
    """1 - (mu / (mu + s^2))^3 on each."""
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.standard_normal((3, 3)))[0], np.linalg.qr(rng.standard_normal((5, 5)))[0][:3]
    s = np.array([1.0, 1e-1, 1e-4])
    mu = 1e-6 * (s**2).sum()
    right = V.T @ np.diag((1.0 - (mu / (mu + s**2)) ** 3) / s) @ U.T
    assert np.abs(inverse(U @ np.diag(s) @ V, 3, True, 1e-6) - right).max() < 1e-9 * np.abs(right).max()


@pytest.mark.parametrize("careful", [False, True])
def test_it_says_how_near_to_singular_a_matrix_is(careful):
    for small in (1e-2, 1e-5):
        B = np.diag([1.0, 1.0, small])
        factor, left, spare = np.empty(pseudo_inverse.size(3, 3, 3)), np.empty(9), np.empty(6)
        near = pseudo_inverse.decompose(ONE, B.ravel(), 3, 3, 3, factor, left, spare, careful)
        assert 0.1 < near * small**2 < 10.0
