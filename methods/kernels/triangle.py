"""Mass matrices from what kernels compute of them: each number once, and none of the zeros.

M is symmetric, and coordinates of different branches do not couple: of Talos' 1444 entries 369 have to be computed. A
kernel writes M(r, c), r >= c, at r n + c; the drivers of `compiled` put every number wherever it belongs.
"""

from __future__ import annotations

import numpy as np

from dynbench.robots.robot import IntArray, Robot


def places(robot: Robot, n: int) -> IntArray:
    """Return where each entry of an n x n mass matrix, by rows, is to be found; n n, one behind them, for zeros."""
    r, c = np.indices((n, n))
    below = np.maximum(r, c) * n + np.minimum(r, c)
    # modes of elastic links couple as they like, and so do the actuated coordinates of a robot with loops
    known = coupled(robot) if robot.is_tree and not robot.is_elastic else np.True_
    return np.where(known, below, n * n).ravel().astype(np.int64)


def coupled(robot: Robot) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return which coordinates of a tree of rigid bodies couple, (nv, nv): one must carry the other."""
    carried = np.eye(robot.n, dtype=bool)  # row: by these bodies
    for i, parent in enumerate(robot.parent):
        if parent >= 0:
            carried[i] |= carried[parent]
    body = np.repeat(np.arange(robot.n), np.diff(robot.iv, append=robot.nv))
    return np.asarray((carried | carried.T)[np.ix_(body, body)])
