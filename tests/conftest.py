"""What all tests share: a header that says which code and which compiled kernels are being tested.

The cache folder of the compiled kernels is not set here. ``dynbench.methods.kernels.cache`` keys it on a
digest of the sources, below $NUMBA_CACHE_DIR when that is set, so that an edited callee is never stale under
plain pytest either.
"""

from __future__ import annotations

from installing import built, installed  # noqa: F401  (fixtures of the packaging tests)

import dynbench.methods
import dynbench.robots
from dynbench.methods.kernels import cache


def pytest_report_header() -> list[str]:
    """Name the folders: a clone called dynbench in the current folder would shadow the installed package."""
    kernels = cache.base() / f"kernels-{cache.digest('dynbench')}"
    return [
        f"dynbench: {dynbench.robots.__path__[0]}, {dynbench.methods.__path__[0]}",
        f"compiled kernels: {kernels}",
    ]
