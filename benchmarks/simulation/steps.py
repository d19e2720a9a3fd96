"""What is kept of a run's steps: all of them, or of a long run every other one, then every fourth, ...

Integrators in machine code (`runge_kutta`, `dormand_prince`) write down each accepted step by `keep`, into arrays that
`collected` gives them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dynbench.robots.robot import FloatArray

ROWS = 200_000  # steps that are kept at the most


class Steps(NamedTuple):
    """Accepted steps of a run."""

    t: FloatArray  # (K,)
    y: FloatArray  # (K, n)
    evaluations: int
    finished: bool  # False: the limit was reached, the step became too small or a number overflowed, at t[-1]


def collected(run: Callable[..., None], n: int, most: int) -> Steps:
    """Call ``run(t, y, counts)`` with room for ``most`` steps of n numbers, and return those it kept.

    It fills ``counts`` with the number of rows, the evaluations, and whether it came to its end.
    """
    rows = min(most, ROWS)
    t, y, counts = np.empty(rows), np.empty((rows, n)), np.zeros(3, dtype=np.int64)
    run(t, y, counts)
    kept = int(counts[0])
    return Steps(t[:kept].copy(), y[:kept].copy(), int(counts[1]), bool(counts[2]))


def keep(t: float, y: Any, number: int, last: bool, rows: int, stride: int, t_out: Any, y_out: Any) -> tuple[int, int]:
    """Write down a step unless it is left out; return how many rows there are now, and of how many steps one is kept.

    A template: `equations.driver` makes machine code of it.
    """
    if number % stride != 0 and not last:
        return rows, stride
    if rows == t_out.size:  # full: keep every other row from now on
        rows //= 2
        stride *= 2
        for k in range(rows):
            t_out[k], y_out[k] = t_out[2 * k], y_out[2 * k]
    t_out[rows], y_out[rows] = t, y
    return rows + 1, stride
