"""Which entries of a mass matrix kernels compute: those of the lower triangle that are not always zero.

M is symmetric, and coordinates of different branches do not couple: 369 of Talos' 1444 entries have to be computed. A
kernel writes M(r, c), r >= c, at r n + c; the drivers of `compiled` copy them to the full matrix.
"""

from __future__ import annotations

import numpy as np

from dynbench.robots.robot import IntArray, Robot


def places(robot: Robot, n: int) -> IntArray:
    """Return the index of each entry of an n x n mass matrix, by rows, in a kernel's output; n n for zeros."""
    r, c = np.indices((n, n))
    below = np.maximum(r, c) * n + np.minimum(r, c)
    # modes of elastic links may couple with any coordinate, and so may the actuated ones of a robot with loops
    known = coupled(robot) if robot.is_tree and not robot.is_elastic else np.True_
    return np.where(known, below, n * n).ravel().astype(np.int64)


def coupled(robot: Robot) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return which coordinates of a tree of rigid bodies couple, (nv, nv): those on one path to the ground."""
    carried = np.eye(robot.n, dtype=bool)  # [i, j]: body j carries body i
    for i, parent in enumerate(robot.parent):
        if parent >= 0:
            carried[i] |= carried[parent]
    body = np.repeat(np.arange(robot.n), np.diff(robot.iv, append=robot.nv))
    return np.asarray((carried | carried.T)[np.ix_(body, body)])
