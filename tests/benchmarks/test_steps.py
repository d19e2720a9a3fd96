"""What is kept of a run's steps: all, or evenly every so many, and always the first and the last."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.benchmarks.simulation.integrators import collected, keep


@pytest.mark.parametrize("steps", [1, 7, 8, 9, 100, 1000])
def test_of_a_long_run_every_so_many_steps_are_kept(steps):
    room = 8

    def run(t, y, counts):
        t[0], y[0] = 0.0, 0.0
        rows, stride = 1, 1
        for number in range(1, steps + 1):
            state = np.full(2, 10.0 * number)
            rows, stride = keep(float(number), state, number, number == steps, rows, stride, t, y)
        counts[:] = rows, 5 * steps, 1

    found = collected(run, 2, room)
    assert (found.evaluations, found.finished) == (5 * steps, True)
    assert min(steps + 1, room // 2) <= len(found.t) <= room
    assert (found.t[0], found.t[-1]) == (0.0, steps)
    np.testing.assert_array_equal(found.y, 10.0 * found.t[:, None] * np.ones(2))
    gaps = np.diff(found.t)
    stride = gaps[0]
    assert stride == 2.0 ** np.round(np.log2(stride))
    assert set(gaps[:-1]) <= {stride}
    assert 0.0 < gaps[-1] <= stride
