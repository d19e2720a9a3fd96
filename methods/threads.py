"""Rows of states in threads: machine code that releases the global lock runs in parts, one per thread."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from dynbench.methods.kernels.scalar import LANES
from dynbench.robots.robot import FloatArray

Rows = FloatArray | None


def in_threads(run: Callable[..., int], arrays: Sequence[Rows], N: int, count: int) -> int:
    """Run a batch in contiguous parts of whole blocks and return the largest status.

    An array of one row serves all states (external wrenches) and goes to every part as it is.
    """
    blocks = -(-N // LANES)
    parts = max(1, min(count, blocks))
    if parts == 1:
        return run(*arrays)
    edges = [LANES * (blocks * k // parts) for k in range(parts)] + [N]
    slices = [slice(*pair) for pair in pairwise(edges)]
    return max(pool(count).map(lambda s: run(*(x if x is None or len(x) != N else x[s] for x in arrays)), slices))


@functools.cache
def pool(count: int) -> ThreadPoolExecutor:
    """Return the threads, started once and kept."""
    return ThreadPoolExecutor(count, thread_name_prefix="dynbench")


# A child of fork has the pools of its parent without their threads, and would wait for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
