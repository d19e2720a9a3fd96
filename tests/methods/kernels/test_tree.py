"""The packed tree: what is prepared in its rows."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.methods.kernels.tree import principal

RNG = np.random.default_rng(0)
TURN = np.linalg.qr(RNG.standard_normal((3, 3)))[0]


@pytest.mark.parametrize(
    "moments",
    [(0, 0, 0), (1, 1, 1), (1, 1, 2), (1, 2, 2), (1, 2, 3), (1e-9, 1, 1), (0.0, 1.0, 1.0)],
    ids=lambda moments: "-".join(map(str, moments)),
)
@pytest.mark.parametrize("turn", [np.eye(3), np.eye(3)[[2, 0, 1]], TURN], ids=["straight", "permuted", "turned"])
def test_an_inertia_is_its_largest_moment_less_two_squares(moments, turn):
    inertia = turn @ np.diag(moments) @ turn.T
    most, a, b = principal((inertia + inertia.T) / 2)
    assert b[2] == 0.0
    assert most == pytest.approx(max(moments), abs=1e-15)
    again = most * np.eye(3) - np.outer(a, a) - np.outer(b, b)
    np.testing.assert_allclose(again, inertia, rtol=0, atol=1e-15 * max(1, *moments))
