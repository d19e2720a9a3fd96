"""examples/swing_up.py: its derivatives are right, and it finds a motion with far less torque than a straight one."""

from __future__ import annotations

import numpy as np
import pytest


def test_the_jacobian_is_that_of_the_torques(example):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(2 * (example.STEPS - 1))
    way, step = rng.standard_normal(x.size), 1e-6
    right = (example.torques(x + step * way) - example.torques(x - step * way)) / (2 * step)
    assert np.abs(example.jacobian(x) @ way - right).max() <= 1e-7 * np.abs(right).max()


def test_it_swings_up_with_little_torque(example):
    found = example.swing_up()
    assert found.success
    assert 2 * found.cost == pytest.approx(68.80, abs=0.01)
    q, _, _ = example.motion(found.x)
    assert q[0] == pytest.approx(example.HANGING)
    assert q[-1] == pytest.approx(example.UPRIGHT)
    assert found.njev < 60
